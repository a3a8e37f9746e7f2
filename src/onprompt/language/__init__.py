"""From a prompt to a Scene, from an instruction to edits; modules in the order in which a prompt goes through them.

tokens              text normalized, the marks of image generators read; sentences and clauses, spelling corrected
image_properties    what is said of the image as a whole taken out: medium, style, artist
chunker             phrases made one token each; with quantities
dependency_parser   tags, labels and heads by a small network
tree                the tree of each clause, with common errors fixed
scene               noun phrases to objects; which object is named again
interpreter         who is meant, and what is said of whom
parser              all of these steps in turn

words, spelling and ontology know English words, their forms and what things are; lexicon reads the word lists. edits
parses instructions with the same modules. Word lists are in lexicon.txt, facts about names in ontology.txt. parser.npz,
wordnet.txt and words.txt are made by training/ and not edited by hand.
"""

from collections.abc import Iterable, Iterator

from onprompt.errors import PromptError
from onprompt.language.ontology import OTHER, canonical, distance, is_concrete, name_of
from onprompt.language.parser import parse, parse_many
from onprompt.language.spelling import correct_spelling
from onprompt.language.words import is_common_word, progressive
from onprompt.settings import Settings
from onprompt.types import Edit

__all__ = ["OTHER", "canonical", "correct_spelling", "distance", "is_common_word", "is_concrete", "name_of"]
__all__ += ["parse", "parse_edit", "parse_edits", "parse_many", "progressive"]


def parse_edits(instructions: Iterable[str], settings: Settings) -> Iterator[tuple[Edit, ...] | PromptError]:
    """The edits of each instruction, or why it can't be read."""
    for instruction in instructions:
        try:
            yield parse_edit(instruction, settings)
        except PromptError as error:
            yield error


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """The edits that an instruction asks for, in its order; the patterns are loaded at the first."""
    from onprompt.language import edits

    return edits.parse_edit(instruction, settings)
