"""An instruction split into its operations, each without its politeness."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from onprompt.language import lexicon as lex
from onprompt.language.edits.lexicon import CLASSES, DATA, DETERMINERS, FIRST_WORDS, VERBS, WORDS, longest_at
from onprompt.language.edits.pattern_matching import COMMANDS, matches
from onprompt.language.edits.phrase import Phrase
from onprompt.language.words import is_known_word, verb_lemmas

LONGEST = 200  # words of an operation; what is longer is a text, not an instruction
CLOSE = 0.8  # difflib's ratio: rmove, repalce, delte
LOOK_AHEAD = 20  # words that decide whether a new operation begins
JOINTS = WORDS["joints"] | {","}
KEEPING = tuple(f"{verb} " for verb in CLASSES["KEEP"])
PARTICLE_VERBS = tuple(
    f"{verb} " for name in ("REMOVE", "ADD", "GROW", "SHRINK") for verb in CLASSES[name] if " " in verb
)


def strip_politeness(clause: Phrase) -> tuple[Phrase, bool]:
    """A clause without its politeness, and whether it is a wish for what should be seen ("what if", "I want")."""
    clause, wish = strip_ending(clause), False
    if len(clause) > 2 and clause.words[0] in WORDS["modals"] and clause.words[1] in DETERMINERS:
        clause, wish = clause.part(1), True  # can the boy hold a ball?
    if len(clause) > 2 and clause.words[0] in {"i", "we"} and is_past(clause.words[1]):
        clause = clause.part(1)  # I removed the dog
    while clause:
        polite, wishing = (longest_at(clause.words, 0, WORDS[name]) for name in ("polite", "wishes"))
        opening = max(polite, wishing, key=lambda phrase: len(phrase.split()))
        if not opening:
            break
        clause = clause.part(len(opening.split()))
        wish |= opening == wishing and not (polite == wishing and is_command(with_plain_verb(clause)))
    clause = with_corrected_verb(with_plain_verb(clause))
    only = clause.words[:1] == ("only",) and clause.words[1:2] not in {("keep",), ("leave",)}
    return clause.part(1) if only and is_command(clause.part(1)) else clause, wish


def is_past(word: str) -> bool:
    """Whether a verb says what was done."""
    return word in DATA["irregular"] or (word.endswith("ed") and word not in WORDS["modals"])


def strip_ending(clause: Phrase) -> Phrase:
    """A clause without thanks, and without "in the picture", which goes without saying."""
    for ending in WORDS["endings"]:
        size = len(clause) - len(ending.split())
        if size > 1 and clause.line.endswith(f" {ending}"):
            return strip_ending(clause.part(0, size))
    return clause


def with_plain_verb(clause: Phrase) -> Phrase:
    """`adding a dog`, `what if we removed the dog`: the verb in its plain form."""
    if len(clause) < 2 or clause.words[1] not in DETERMINERS:
        return clause
    first = clause.words[0]
    forms = [DATA["irregular"].get(first, ""), *(verb_lemmas(first) if first.endswith(("ing", "ed")) else ())]
    verb = next((form for form in forms if form in FIRST_WORDS), first)
    return Phrase(clause.instruction, (replace(clause.units[0], word=verb), *clause.units[1:]))


def with_corrected_verb(clause: Phrase) -> Phrase:
    """`rmove the tree`: an unknown first word that is nearly a verb of editing."""
    if len(clause) < 2 or not clause.words[0].isalpha() or is_known_word(clause.words[0]):
        return clause
    for verb in get_close_matches(clause.words[0], sorted(FIRST_WORDS), 1, CLOSE):
        return Phrase(clause.instruction, (replace(clause.units[0], word=verb, misspelt=True), *clause.units[1:]))
    return clause


def is_command(clause: Phrase) -> bool:
    """Whether a clause begins with a verb of editing, and not with a noun of the same spelling."""
    if len(clause) < 2 or clause.words[0] not in FIRST_WORDS:
        return False
    if clause.words[0] in WORDS["excepting"]:
        return clause.line.startswith(KEEPING)
    second = clause.words[1]
    if clause.line.startswith(PARTICLE_VERBS) or second in {"on", "off", "in", "out"}:
        return len(clause) > 2 or clause.words[0] == "zoom"
    return second not in lex.RELATIONS and second not in {"and", ",", "or", "'s", "is", "are"}


def split_clauses(sentence: Phrase) -> list[Phrase]:
    """The operations of a sentence: a new one begins where a verb of editing follows "and", "then" or a comma."""
    cuts, words = [0], sentence.words
    for at in range(1, len(words)):
        new = words[at] in WORDS["excepting"]
        if new or (words[at - 1] in JOINTS and words[at] not in JOINTS):
            before, rest = sentence.part(max(cuts[-1], at - LOOK_AHEAD), at), sentence.part(at, at + LOOK_AHEAD)
            cuts += [at] * (len(strip_joints(before)) > 0 and is_new_operation(before, rest))
    parts = [strip_joints(sentence.part(start, end)) for start, end in zip(cuts, [*cuts[1:], None], strict=True)]
    return [clause for part in parts if part for clause in split_objects(part)]


def is_new_operation(before: Phrase, rest: Phrase) -> bool:
    """Whether a new operation begins with `rest`."""
    rest, wish = strip_politeness(rest)
    if wish or is_command(rest):
        return True
    if rest.words[:1] == ("there",):
        return len(rest) > 2 and rest.words[1] in lex.BE | WORDS["modals"] | {"'s"}
    definite = lex.DEFINITE | {"it", "they", "he", "she", "all"}
    return len(rest) > 0 and rest.words[0] in definite and has_finite_verb(rest) and has_finite_verb(before)


def has_finite_verb(clause: Phrase) -> bool:
    """Whether a clause says what is or should be."""
    end = next((at for at, word in enumerate(clause.words) if word in {",", "and"}), len(clause))
    return bool(set(clause.words[:end]) & (lex.BE - {"'s"} | WORDS["modals"] | {"has", "had"}))


def strip_joints(clause: Phrase) -> Phrase:
    """A clause without the conjunctions at its ends."""
    inner = [at for at, word in enumerate(clause.words) if word not in JOINTS]
    return clause.part(inner[0], inner[-1] + 1) if inner else clause.part(0, 0)


def split_objects(clause: Phrase) -> list[Phrase]:
    """`change the dog to a cat and the sky to red`: one verb with two objects."""
    command, _ = strip_politeness(clause)
    if not is_command(command) or len(command) > LONGEST:
        return [clause]
    size = len(longest_at(command.words[:-1], 0, VERBS).split()) or 1
    for at in range(size + 2, len(command) - 1):
        if command.words[at] not in {"and", ","} or command.words[at + 1] not in DETERMINERS | {"and"}:
            continue
        again = borrow_verb(command.part(0, size), strip_joints(command.part(at + 1)))
        first, second = (next(matches(phrase, COMMANDS), None) for phrase in (command.part(0, at), again))
        if not first or not second or len(first.captures) < 2:
            continue
        # also "the color of the shirt to red and the pants to black"
        if first.pattern == second.pattern or (first.rule, second.rule) == ("recolour", "become"):
            return [command.part(0, at), *split_objects(again)]
    return [clause]


def borrow_verb(verb: Phrase, rest: Phrase) -> Phrase:
    """A clause with the verb of another, which is not written here."""
    start = rest.units[0].start if rest else 0
    return Phrase(verb.instruction, tuple(replace(unit, start=start, end=start) for unit in verb.units)).plus(rest)
