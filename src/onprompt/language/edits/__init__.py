"""From an instruction to edits of a picture: operations with target, scope and expected result.

clauses     an instruction split into operations, without politeness, and with what pronouns stand for
phrases     some words: what they describe, which pattern of lexicon.toml they match, where a phrase ends
rules       what the pattern names: a sentence for the prompt parser, or things that are there, gone, counted, elsewhere
things      what a phrase refers to, in scenes of the prompt parser
lexicon     the lists of lexicon.toml, and forms of verbs
"""

from onprompt.language.edits.clauses import parse_edit

__all__ = ["parse_edit"]
