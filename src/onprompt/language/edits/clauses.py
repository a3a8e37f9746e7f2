"""An instruction cut into its operations, each without its politeness."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cache

from onprompt.language import lexicon as lex
from onprompt.language.edits import patterns as lists
from onprompt.language.edits.rules import Reading, readings
from onprompt.language.edits.words import DETERMINERS, Words, longest_at
from onprompt.language.spelling import is_known_word, verb_lemmas

OPENING = lex.longest((*lists.POLITE, *lists.WISHES))
LONGEST = 200  # words of an operation; what is longer is a text, not an instruction
CLOSE = 0.8  # difflib's ratio: rmove, repalce, delte
JOINTS = frozenset((",", "and", "then", "but", "while", "plus", "also", "so"))
NEAR = 20  # words that are looked at to tell whether a new operation begins


def unopened(clause: Words) -> tuple[Words, bool]:
    """A clause without its politeness, and whether it tells what should be seen ("what if", "I want")."""
    clause, wished = closed(clause), False
    if len(clause) > 2 and clause.all[0] in lists.MODALS and clause.all[1] in DETERMINERS:
        clause, wished = clause.part(1), True  # can the boy hold a ball?
    while clause:
        polite = longest_at(clause.all, 0, lists.POLITE, OPENING)
        wish = longest_at(clause.all, 0, lists.WISHES, OPENING)
        opening = max(polite, wish, key=lambda phrase: len(phrase.split()))
        rest = clause.part(len(opening.split()))
        if not opening:
            break
        is_wish = opening == wish and not (polite == wish and begins(plain_verb(rest)))
        clause, wished = rest, wished or is_wish
    clause = mended(plain_verb(clause))
    only = clause.all[:1] == ("only",) and clause.all[1:2] not in {("keep",), ("leave",)} and begins(clause.part(1))
    return clause.part(1) if only else clause, wished


def closed(clause: Words) -> Words:
    """A clause without thanks, and without "in the picture", which goes without saying."""
    for ending in (*lists.FAREWELLS, *lists.IN_PICTURE):
        size = len(clause) - len(ending.split())
        if size > 1 and clause.line.endswith(f" {ending}"):
            return closed(clause.part(0, size))
    return clause


def plain_verb(clause: Words) -> Words:
    """`adding a dog`, `what if we removed the dog`: the verb in its plain form."""
    if len(clause) < 2 or clause.all[1] not in DETERMINERS:
        return clause
    first = clause.all[0]
    forms = [lists.IRREGULAR.get(first, ""), *(verb_lemmas(first) if first.endswith(("ing", "ed")) else ())]
    verb = next((form for form in forms if form in first_words()), first)
    return Words(clause.text, (replace(clause.units[0], word=verb), *clause.units[1:]))


def mended(clause: Words) -> Words:
    """`rmove the tree`: an unknown first word that is nearly a verb of editing."""
    if len(clause) < 2 or not clause.all[0].isalpha() or is_known_word(clause.all[0]):
        return clause
    for near in get_close_matches(clause.all[0], sorted(first_words()), 1, CLOSE):
        return Words(clause.text, (replace(clause.units[0], word=near, misspelt=True), *clause.units[1:]))
    return clause


@cache
def first_words() -> frozenset[str]:
    """The verbs that an instruction may begin with."""
    verbs = {way.split()[0] for name in lists.BEGINNING for way in lists.VERBS[name]}
    return frozenset(verbs | {"give", "take", "dress", "apply", "resize", "scale", "zoom"})


def begins(clause: Words) -> bool:
    """Whether a clause begins with a verb of editing, and not with a noun of the same spelling."""
    if len(clause) < 2 or clause.all[0] not in first_words():
        return False
    after = clause.all[1]
    if clause.all[0] in {"without", "keeping", "leaving"}:
        return any(clause.line.startswith(each + " ") for each in lists.VERBS["KEEP"])
    pairs = {way for name in ("REMOVE", "ADD", "GROW", "SHRINK") for way in lists.VERBS[name] if " " in way}
    if any(clause.line.startswith(each + " ") for each in pairs) or after in {"on", "off", "in", "out"}:
        return len(clause) > 2 or clause.all[0] == "zoom"
    return after not in lex.RELATIONS and after not in {"and", ",", "or", "'s", "is", "are"}


def clauses(sentence: Words) -> list[Words]:
    """The operations of a sentence: a new one begins where a verb of editing follows "and", "then" or a comma."""
    cuts, words = [0], sentence.all
    for at in range(1, len(words)):
        if words[at] in JOINTS - lists.BUT or not (words[at - 1] in JOINTS or words[at] in lists.BUT):
            continue
        before, rest = sentence.part(max(cuts[-1], at - NEAR), at), sentence.part(at, at + NEAR)
        if trimmed(before) and stands_alone(before, rest):
            cuts.append(at)
    parts = [trimmed(sentence.part(start, end)) for start, end in zip(cuts, [*cuts[1:], None], strict=True)]
    return [each for part in parts if part for each in repeated(part)]


def stands_alone(before: Words, rest: Words) -> bool:
    """Whether a new operation begins with `rest`."""
    inner, wished = unopened(rest)
    if wished or begins(inner):
        return True
    if inner.all[:1] == ("there",):
        return len(inner) > 2 and inner.all[1] in lex.BE | lists.MODALS | {"'s"}
    definite = bool(inner) and inner.all[0] in lex.DEFINITE | {"it", "they", "he", "she", "all"}
    return definite and asserts(inner) and asserts(before)


def asserts(clause: Words) -> bool:
    """Whether a clause says what is or should be."""
    head = clause.all[: next((at for at, word in enumerate(clause.all) if word in {",", "and"}), len(clause))]
    return bool(set(head) & (lex.BE - {"'s"} | lists.MODALS | {"has", "had"}))


def trimmed(clause: Words) -> Words:
    """A clause without the joints at its ends."""
    start, end = 0, len(clause)
    while start < end and clause.all[start] in JOINTS:
        start += 1
    while end > start and clause.all[end - 1] in JOINTS:
        end -= 1
    return clause.part(start, end)


def repeated(clause: Words) -> list[Words]:
    """`change the dog to a cat and the sky to red`: the verb is said once and meant twice."""
    inner, _ = unopened(clause)
    if not begins(inner) or len(inner) > LONGEST:
        return [clause]
    size = next((n for n in (3, 2, 1) if inner.line.startswith(tuple(f"{v} " for v in verbs_of(n)))), 1)
    verb = inner.part(0, size)
    for at in range(size + 2, len(inner) - 1):
        if inner.all[at] not in {"and", ","} or (inner.all[at + 1] not in DETERMINERS | {"and"}):
            continue
        rest = trimmed(inner.part(at + 1))
        again = borrowed(verb, rest)
        first = next(readings(inner.part(0, at), lists.RULES), None)
        second = next(readings(again, lists.RULES), None)
        if first and second and alike(first, second) and len(first.parts) > 1:
            return [inner.part(0, at), *repeated(again)]
    return [clause]


def alike(first: Reading, second: Reading) -> bool:
    """Whether one verb may stand for both: also `the color of the shirt to red`, `the pants to black`."""
    return first.rule == second.rule or (first.act, second.act) == ("colour", "become")


def borrowed(verb: Words, rest: Words) -> Words:
    """A clause with the verb of another, of which nothing is written here."""
    start = rest.units[0].start if rest else 0
    return Words(verb.text, tuple(replace(unit, start=start, end=start) for unit in verb.units)).plus(rest)


@cache
def verbs_of(size: int) -> frozenset[str]:
    """The verbs of so many words."""
    return frozenset(way for ways in lists.VERBS.values() for way in ways if len(way.split()) == size)
