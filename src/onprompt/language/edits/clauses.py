"""An instruction as edits: split into operations, each without its politeness and with what its pronouns stand for."""

import re
from dataclasses import replace
from difflib import get_close_matches

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import rules, things
from onprompt.language.edits.phrases import COMMANDS, DESCRIPTIONS, LONGEST, QUOTED, Phrase, is_command, matches
from onprompt.language.edits.things import Operation, definite_phrase
from onprompt.language.tokens import Token, normalize_prompt, sentences
from onprompt.language.words import is_known_word, is_noun, singular
from onprompt.settings import Settings
from onprompt.types import Edit

CLOSE = 0.8  # difflib's ratio: rmove, repalce, delte
LOOK_AHEAD = 20  # words that decide whether a new operation begins
ENDINGS = re.compile(f"(?: ,| (?:{'|'.join(map(re.escape, sorted(ed.ENDINGS)))}))+$")
JOINTS = frozenset((*ed.JOINTS, ","))
REMOVING = tuple(f"{verb} " for verb in ed.CLASSES["REMOVE"] | {"keep", "leave"})


def parse_edit(instruction: str, settings: Settings) -> tuple[Edit, ...]:
    """The edits that an instruction asks for, in its order."""
    cleaned = normalize_prompt(instruction, settings)
    edits: list[Edit] = []
    antecedent = ""
    for units in sentences(cleaned):
        wish = False
        for clause in split_clauses(Phrase(cleaned.text, tuple(units))):
            if clause.words[0] in ed.SPARING and edits and edits[-1].target:
                antecedent = definite_phrase(edits[-1].target)  # turn all apples into pears except the big one
            command, opened = strip_politeness(clause)
            wish |= opened
            command, pronouns = with_referents(command, antecedent)
            confidence = things.WISH if wish else things.COMMAND
            new = rules.interpret(Operation(settings, clause.text, command, confidence, ("pronoun",) * pronouns))
            antecedent = next(filter(None, map(mentioned, reversed(new))), antecedent)
            edits += new
    keep = tuple(thing for edit in edits for thing in edit.keep)
    edits = [edit for edit in edits if edit.operation != "keep"]
    edits = [edit for edit in edits if things.NOTHING_TO_DO not in edit.flags] or edits
    nothing = Edit("other", cleaned.text, confidence=things.UNCLEAR, flags=(things.NOTHING_TO_DO,))
    return tuple(replace(edit, keep=keep) for edit in edits or [nothing])


def mentioned(edit: Edit) -> str:
    """What "it" refers to after an edit: what it brought or changed."""
    new = edit.result.things[:1] if edit.operation in {"add", "replace"} else ()
    thing = new[0] if new else edit.target
    return definite_phrase(thing) if thing else ""


def strip_politeness(clause: Phrase) -> tuple[Phrase, bool]:
    """A clause without its politeness, and whether it is a wish for what should be seen ("what if", "I want")."""
    clause, wish = clause.part(0, ENDINGS.sub("", clause.line).count(" ") + 1), False
    if clause.words[0] in {"i", "we"} and ed.plain_verb(clause.word_at(1)) != clause.word_at(1):
        clause = clause.part(1)  # I removed the dog
    while clause:
        polite, wishing = (ed.OPENINGS[name].at(clause.words, 0) for name in ("polite", "wishes"))
        opening = max(polite, wishing, key=len)
        if not opening:
            break
        clause = clause.part(len(opening.split()))
        wish |= opening == wishing and not (polite and is_command(with_plain_verb(clause)))  # how about adding a dog
    clause = with_plain_verb(clause)
    rest = clause.part(1)
    only = clause.word_at(0) == "only" and is_command(rest) and not rest.line.startswith(ed.KEEPING)
    return rest if only else clause, wish


def with_plain_verb(clause: Phrase) -> Phrase:
    """`adding a dog`, `what if we removed the dog`, `rmove the tree`: the verb of editing in its plain form."""
    if len(clause) < 2 or not clause.words[0].isalpha():
        return clause
    first, second = clause.words[:2]
    verb = ed.plain_verb(first) if second in ed.DETERMINERS | ed.EVERY | ed.PARTICLES | {"away", QUOTED} else first
    misspelt = verb not in ed.FIRST_WORDS and not is_known_word(first)
    near = get_close_matches(first, sorted(ed.FIRST_WORDS), 1, CLOSE) if misspelt else []
    unit = replace(clause.units[0], word=(near or [verb])[0], misspelt=clause.units[0].misspelt or bool(near))
    return Phrase(clause.instruction, (unit, *clause.units[1:]))


def split_clauses(sentence: Phrase) -> list[Phrase]:
    """The operations of a sentence: a new one begins where a verb of editing follows "and", "then" or a comma."""
    cuts, words = [0], sentence.words
    for at in range(1, len(words)):
        if words[at] in ed.EXCEPTING or (words[at - 1] in JOINTS and words[at] not in JOINTS):
            before, rest = sentence.part(max(cuts[-1], at - LOOK_AHEAD), at), sentence.part(at, at + LOOK_AHEAD)
            cuts += [at] * is_new_operation(before.without(JOINTS), rest)
    parts = (sentence.part(start, end).without(JOINTS) for start, end in zip(cuts, [*cuts[1:], None], strict=True))
    return [clause for part in parts if part for clause in split_objects(part)]


def is_new_operation(before: Phrase, rest: Phrase) -> bool:
    """Whether a new operation begins with `rest`."""
    said = strip_politeness(before)[0] if before else before
    if not said or (rest.words[0] in ed.SPARING and said.line.startswith(REMOVING)):
        return False  # remove all cups except the red one
    rest, wish = strip_politeness(rest)
    if wish or is_command(rest):
        return True
    subject = rest.word_at(0) in lex.DEFINITE | {"it", "they", "he", "she", "all"}
    described = (next(matches(each, DESCRIPTIONS), None) for each in (before, rest))
    return rest.word_at(0) == "there" or (subject and all(described))


def split_objects(clause: Phrase) -> list[Phrase]:
    """`change the dog to a cat and the sky to red`: one verb with two objects."""
    command, _ = strip_politeness(clause)
    for at in range(3, len(command) - 1) if len(command) <= LONGEST else ():
        rest = command.part(at).without(JOINTS)
        if command.words[at] not in {"and", ","} or rest.word_at(0) not in ed.DETERMINERS:
            continue
        verb = replace(command.units[0], start=rest.units[0].start, end=rest.units[0].start)  # not written here
        again = Phrase(command.instruction, (verb, *rest.units))
        first, second = (next(matches(phrase, COMMANDS), None) for phrase in (command.part(0, at), again))
        # also "the color of the shirt to red and the pants to black"
        alike = first and second and (first.rule == second.rule or (first.rule, second.rule) == ("recolor", "become"))
        if first and alike and len(first.captures) > 1:
            return [command.part(0, at), *split_objects(again)]
    return [clause]


def with_referents(clause: Phrase, antecedent: str) -> tuple[Phrase, bool]:
    """A clause with "the dog" in place of "it", "the red cup" of "the red one"; and whether it has such pronouns."""
    units: list[Token] = []
    nouns, found, words = [antecedent.rpartition(" ")[2]], False, (*clause.words, "")
    for at, unit in enumerate(clause.units):
        word, before, after, meant = words[at], words[at - 1], words[at + 1], ""
        owned = word == "her" and after and after not in lex.ARTICLES and after not in lex.RELATIONS
        described = ed.is_adjective(before) or lex.kind_of(before) or before in ed.CLASSES["MORE"]
        if word in ed.OBJECTS and not owned and before not in {"that", "so", "as"}:
            person = ed.DATA["persons"].get(word, "")
            meant = antecedent if antecedent.endswith(person) else f"the {person}"
            found = True
        elif word in ed.ONES and described and after != "of" and before not in ed.ONLY:
            noun = nouns[:2][-1]  # the first of the clause, else the antecedent
            meant, found = singular(noun) if word == "one" else noun, found or len(nouns) == 1
        elif at and is_noun(singular(word)) and not ed.is_adjective(word) and lex.kind_of(word) is None:
            nouns += [word] * (word not in ed.DETERMINERS | ed.PARTICLES | ed.CLASSES["MORE"])
        units += [Token(part, unit.start, unit.end, name=part) for part in meant.split()] if meant else [unit]
    return Phrase(clause.instruction, tuple(units)), found
