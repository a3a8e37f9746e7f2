"""An instruction split into its operations, each without its politeness, and with what its pronouns stand for."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits.patterns import COMMANDS, matches
from onprompt.language.edits.phrase import QUOTED, Phrase
from onprompt.language.tokens import Token
from onprompt.language.words import is_known_word, is_noun, singular

LONGEST = 200  # words of an operation; what is longer is a text, not an instruction
CLOSE = 0.8  # difflib's ratio: rmove, repalce, delte
LOOK_AHEAD = 20  # words that decide whether a new operation begins
ENDINGS = re.compile(f"(?: ,| (?:{'|'.join(map(re.escape, sorted(ed.ENDINGS)))}))+$")
JOINTS = frozenset((*ed.JOINTS, ","))
KEEPING = tuple(f"{verb} " for verb in ed.CLASSES["KEEP"])
PHRASAL_VERBS = tuple(f"{verb} " for verb in ed.VERBS if " " in verb)
REMOVING = tuple(f"{verb} " for verb in ed.CLASSES["REMOVE"] | {"keep", "leave"})
WHOLE_VERBS = lex.Phrases(ed.VERBS)


def strip_politeness(clause: Phrase) -> tuple[Phrase, bool]:
    """A clause without its politeness, and whether it is a wish for what should be seen ("what if", "I want")."""
    kept, wish = ENDINGS.sub("", clause.line), False
    clause = clause.part(0, kept.count(" ") + 1)
    if len(clause) > 2 and clause.words[0] in ed.MODALS and clause.words[1] in ed.DETERMINERS:
        clause, wish = clause.part(1), True  # can the boy hold a ball?
    if len(clause) > 2 and clause.words[0] in {"i", "we"} and ed.plain_verb(clause.words[1]) != clause.words[1]:
        clause = clause.part(1)  # I removed the dog
    while clause:
        polite, wishing = (ed.OPENINGS[name].at(clause.words, 0) for name in ("polite", "wishes"))
        opening = max(polite, wishing, key=lambda phrase: len(phrase.split()))
        if not opening:
            break
        clause = clause.part(len(opening.split()))
        wish |= opening == wishing and not (polite == wishing and is_command(with_plain_verb(clause)))
    clause = with_plain_verb(clause)
    only = clause.words[:1] == ("only",) and clause.words[1:2] not in {("keep",), ("leave",)}
    return clause.part(1) if only and is_command(clause.part(1)) else clause, wish


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


def is_command(clause: Phrase) -> bool:
    """Whether a clause begins with a verb of editing, and not with a noun of the same spelling."""
    if len(clause) < 2 or clause.words[0] not in ed.FIRST_WORDS:
        return False
    if clause.words[0] in ed.EXCEPTING:
        return clause.line.startswith(KEEPING)
    second = clause.words[1]
    if clause.line.startswith(PHRASAL_VERBS) or second in {"on", "off", "in", "out"}:
        return len(clause) > 2 or clause.words[0] == "zoom"
    return second not in lex.RELATIONS and second not in {"and", ",", "or", "'s", "is", "are"}


def split_clauses(sentence: Phrase) -> list[Phrase]:
    """The operations of a sentence: a new one begins where a verb of editing follows "and", "then" or a comma."""
    cuts, words = [0], sentence.words
    for at in range(1, len(words)):
        new = words[at] in ed.EXCEPTING
        if new or (words[at - 1] in JOINTS and words[at] not in JOINTS):
            before, rest = sentence.part(max(cuts[-1], at - LOOK_AHEAD), at), sentence.part(at, at + LOOK_AHEAD)
            said, _ = strip_politeness(strip_joints(before))
            cuts += [at] * (len(said) > 0 and is_new_operation(before, rest))
    parts = [strip_joints(sentence.part(start, end)) for start, end in zip(cuts, [*cuts[1:], None], strict=True)]
    return [clause for part in parts if part for clause in split_objects(part)]


def is_new_operation(before: Phrase, rest: Phrase) -> bool:
    """Whether a new operation begins with `rest`."""
    if rest.words[0] in ed.SPARING and strip_politeness(before)[0].line.startswith(REMOVING):
        return False  # remove all cups except the red one
    rest, wish = strip_politeness(rest)
    if wish or is_command(rest):
        return True
    if rest.words[:1] == ("there",):
        return len(rest) > 2 and rest.words[1] in lex.BE | ed.MODALS | {"'s"}
    definite = lex.DEFINITE | {"it", "they", "he", "she", "all"}
    return len(rest) > 0 and rest.words[0] in definite and has_finite_verb(rest) and has_finite_verb(before)


def has_finite_verb(clause: Phrase) -> bool:
    """Whether a clause says what is or should be."""
    end = next((at for at, word in enumerate(clause.words) if word in {",", "and"}), len(clause))
    return bool(set(clause.words[:end]) & (lex.BE - {"'s"} | ed.MODALS | {"has", "had"}))


def strip_joints(clause: Phrase) -> Phrase:
    """A clause without the conjunctions at its ends."""
    inner = [at for at, word in enumerate(clause.words) if word not in JOINTS]
    return clause.part(inner[0], inner[-1] + 1) if inner else clause.part(0, 0)


def split_objects(clause: Phrase) -> list[Phrase]:
    """`change the dog to a cat and the sky to red`: one verb with two objects."""
    command, _ = strip_politeness(clause)
    if not is_command(command) or len(command) > LONGEST:
        return [clause]
    size = len(WHOLE_VERBS.at(command.words[:-1], 0).split()) or 1
    for at in range(size + 2, len(command) - 1):
        if command.words[at] not in {"and", ","} or command.words[at + 1] not in ed.DETERMINERS | {"and"}:
            continue
        rest = strip_joints(command.part(at + 1))
        start = rest.units[0].start if rest else 0
        verb = tuple(replace(unit, start=start, end=start) for unit in command.units[:size])  # not written here
        again = Phrase(command.instruction, (*verb, *rest.units))
        first, second = (next(matches(phrase, COMMANDS), None) for phrase in (command.part(0, at), again))
        if not first or not second or len(first.captures) < 2:
            continue
        # also "the color of the shirt to red and the pants to black"
        if first.pattern == second.pattern or (first.rule, second.rule) == ("recolor", "become"):
            return [command.part(0, at), *split_objects(again)]
    return [clause]


def describes(word: str) -> bool:
    """Whether a word says which one of a kind is meant."""
    return ed.is_adjective(word) or lex.kind_of(word) is not None or word in ed.MORE


def with_referents(clause: Phrase, antecedent: str) -> tuple[Phrase, bool]:
    """A clause with "the dog" in place of "it", "the red cup" of "the red one"; and whether it has such pronouns."""
    units: list[Token] = []
    nouns, found, words = [antecedent.rpartition(" ")[2]], False, (*clause.words, "")
    for at, unit in enumerate(clause.units):
        word, after = unit.lower, words[at + 1]
        owned = word == "her" and after and after not in lex.ARTICLES and after not in lex.RELATIONS
        meant = ""
        if word in ed.OBJECTS and not owned and words[at - 1] not in {"that", "so", "as"}:
            person = ed.DATA["persons"].get(word, "")
            meant = antecedent if antecedent.endswith(person) else f"the {person}"
            found = True
        elif word in ed.ONES and after != "of" and words[at - 1] not in ed.ONLY and describes(words[at - 1]):
            noun = nouns[:2][-1]  # the first of the clause, else the antecedent
            meant, found = singular(noun) if word == "one" else noun, found or len(nouns) == 1
        elif at and is_noun(singular(word)) and not describes(word) and word not in ed.DETERMINERS | ed.PARTICLES:
            nouns.append(word)
        if meant:
            units += [Token(part, unit.start, unit.end, name=part) for part in meant.split()]
        else:
            units.append(unit)
    return Phrase(clause.instruction, tuple(units)), found
