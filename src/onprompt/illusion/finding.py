"""Finds what a re-implementation offers, by the names of functions and parameters and by trying them."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice, product
from typing import Any, NamedTuple

from PIL import Image

from onprompt.illusion.cases import DATA, Case
from onprompt.illusion.protocol import QUESTIONS, SPLITS, spelling
from onprompt.illusion.theirs import Doc, Found, Function

PROBES, TRIES = 16, 120  # cases that a function is tried on, and ways to pass arguments to it
# Agreement that makes a name needless, that is needed where no name tells what a function is for, and too little.
SURE, ALIKE, NONE = 0.75, 0.25, 0.05
CLOSE = 0.0006  # of two recalls, one with three digits or a percentage with one
NEAR = 0.9  # likeness of a question whose split the sample tells
LISTS_ALIKE = 0.6  # share of options that two lists have in common
LONGEST_LABEL = 60  # characters
SAMPLES = ("doc", "docs")  # a sample as harnesses hand it over, and a list of one
ASPECTS = ((SPLITS, {"split", "subset", "paper"}), (QUESTIONS, {"question", "asked_part"}))  # and what tells a function


class Use(NamedTuple):
    """A function, what it is given, and where in its result the answer stands."""

    function: str
    words: tuple[str, ...] = ()
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        if not self.function.replace(".", "").isidentifier():
            return self.function  # an expression, with what it is given
        return f"{self.function}({', '.join(self.words)}){''.join(f'[{key}]' for key in self.path)}"


def values(functions: Mapping[str, Function], use: Use, cases: Sequence[Case]) -> list[Found]:
    """What one function makes of cases; where it never works, how it is called is not described."""
    function = functions[use.function]
    found = [read(use, function.call(arguments(use.words, case)), case) for case in cases]
    if all(each.error for each in found):
        return [Found(None, f"{use.function} {each.error}", tried=False) for each in found]
    return found


def arguments(words: Sequence[str], case: Case) -> Iterator[Any]:
    """The values of what a function is given: lists, samples and pictures of its own, which it may change."""
    for word in words:
        value = case.known.get(word)
        if word == "doc":
            value = Doc(case.known)
        elif word == "docs":
            value = [Doc(each) for each in value or [case.known]]
        elif word == "image":
            value = Image.open(io.BytesIO(case.known[word]))
        yield list(value) if isinstance(value, list | tuple) else value


def read(use: Use, reply: Found, case: Case) -> Found:
    """What a reply says of a case."""
    value = reply.value
    with suppress(KeyError, IndexError, TypeError):
        for key in use.path:
            value = value[key]
        if not reply.error and (meant := reading(value, case)) is not None:
            return Found(meant)
        if not reply.error and value is None and case.table == "scoring":
            return Found(False)  # as where it has said nothing of a shape or scene
    return reply if reply.error else Found(None, f"returns {repr(reply.value)[:60]}, which is not understood")


def reading(value: Any, case: Case) -> Any:
    """A value as the table of a case has it; None if it has another type."""
    match case.table, value:
        case "questions", str():
            return None if re.search(r"\{\w*\}", value) else value  # a template is not a question yet
        case "scoring", str():
            known = [kind for kind, names in DATA["outcomes"].items() if value.lower() in names]
            return case.question in known if known else None
        case "scoring", 0 | 1 | 100:
            return bool(value)
        case "options", [str(), *_] if all(isinstance(each, str) for each in value):
            return value
        case "labels", str() if len(value) <= LONGEST_LABEL:
            return value
        case "totals", int() | float() if not isinstance(value, bool) and value == value:
            return value
        case "images", str():
            return value
    return None


@cache
def tokens(name: str) -> frozenset[str]:
    """The words of a name, without plural endings."""
    return frozenset(word.lower().rstrip("s") for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name))


def has_words(name: str, words: str) -> bool:
    """Whether a name has one of some words."""
    return not tokens(name).isdisjoint(tokens(words))


@cache
def told(name: str) -> frozenset[str]:
    """The splits and the questions that a name tells."""
    found = {what for what, words in DATA["names"].items() if has_words(name, words)}
    last = re.findall("[a-z]+", name.lower())[-2:]
    if not found & set(SPLITS) and "in" in last:
        found.add("sin")
    return frozenset(found - {"sin"} if "old_sin" in found else found)


def given_for(parameter: str, case: Case) -> list[str]:
    """What a parameter may be given, by its name; by a name that tells nothing, all that is usual."""
    there = {*case.known, *(SAMPLES if "split" in case.known else ())}  # a sum or a picture is of no sample
    lines = [given for words, given in DATA["parameters"].items() if has_words(parameter, words)]
    known = ([each for each in given if each in there] for given in lines or [DATA["parameters"][""]])
    return next(filter(None, known), [])


def ways(function: Function, case: Case) -> Iterator[tuple[str, ...]]:
    """The ways to call a function: a parameter with a default is left alone unless its name is known."""
    choices = []
    for each in function.parameters:
        if each.default is not each.empty and not any(has_words(each.name, words) for words in DATA["parameters"]):
            break
        choices.append(given_for(each.name, case))
    for given in islice(product(*choices), TRIES):
        fits = all(set(words.split()) & set(given) for words in DATA["needed"].get(case.table, ()))
        if fits and len(set(given)) == len(given) and not (case.table == "options" and given):
            yield given


def find(
    functions: Mapping[str, Function], cases: Mapping[str, Sequence[Case]]
) -> tuple[dict[str, Use], dict[str, str]]:
    """The best use for each slot, and by table why a function that is named for it can't be used."""
    tables: dict[str, list[Case]] = {}
    for own in cases.values():
        tables.setdefault(own[0].table, []).extend(own[:: 1 + len(own) // PROBES])
    best: dict[str, tuple[tuple[Any, ...], Use]] = {}
    failed: dict[str, tuple[str, str]] = {}
    for (table, probes), (name, function) in product(tables.items(), functions.items()):
        shares: dict[tuple[Use, str], float] = {}
        for words in ways(function, probes[0]):
            replies = [function.call(arguments(words, case)) for case in probes]
            shares |= likenesses(name, words, probes, replies)
            if all(reply.error for reply in replies) and has_words(name, DATA["functions"].get(table, "")):
                failed.setdefault(table, (name, replies[0].error))
        sure = max(shares.values(), default=0.0) >= SURE  # then it is what the table compares, whatever its name
        for (use, slot), vague in spoken_for(shares).items():
            rank = rank_of(use, slot, shares[use, slot], vague, sure)
            if rank and (slot not in best or rank < best[slot][0]):
                best[slot] = rank, use
    used = {use.function for _, use in best.values()}
    why = {table: f"{name} {error}" for table, (name, error) in failed.items() if name not in used}
    return {slot: use for slot, (_, use) in best.items()}, why


def likenesses(
    name: str, words: tuple[str, ...], probes: Sequence[Case], replies: Sequence[Found]
) -> dict[tuple[Use, str], float]:
    """How close replies are to the original, by where in the result and by slot."""
    shares: dict[tuple[Use, str], float] = {}
    for path in {path for case, reply in zip(probes, replies, strict=True) for path in leaves(reply.value, case)}:
        use = Use(name, words, path)
        for case, reply in zip(probes, replies, strict=True):
            if not (found := read(use, reply, case)).error:
                share = likeness(case.wanted, found.value) / sum(other.slot == case.slot for other in probes)
                shares[use, case.slot] = shares.get((use, case.slot), 0.0) + share
    return shares


def likeness(wanted: Any, found: Any) -> float:
    """How close a value is to the original's: texts by their words, lists by their options."""
    if isinstance(wanted, str):
        return 1.0 if wanted == found else word_ratio(wanted.lower(), found.lower())
    if isinstance(wanted, list):
        own, others = ({spelling(option) for option in options} for options in (wanted, found))
        return len(own & others) / len(own | others)
    return float(agree(wanted, found))


def agree(wanted: Any, found: Any) -> bool:
    """Whether both make the same of a case."""
    if isinstance(wanted, float):
        return bool(abs(wanted - (found / 100 if found > 1 else found)) < CLOSE)
    return bool(wanted == found)


@cache
def word_ratio(one: str, other: str) -> float:
    """How alike two texts are, by their words."""
    return difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def leaves(value: Any, case: Case, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where in a value something stands that may be the answer."""
    if reading(value, case) is not None:
        yield path
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, case, (*path, key))


def spoken_for(shares: Mapping[tuple[Use, str], float]) -> dict[tuple[Use, str], int]:
    """The slots that a function may serve, and how vaguely names tell so: by the path (1) or not at all (2)."""
    allowed: dict[tuple[Use, str], tuple[int, Hashable]] = {}
    for use, slot in shares:
        vague, decided = 0, list[str]()
        for names, words in ASPECTS:
            wanted, given = set(slot.split(".")) & set(names), words & set(use.words)
            named = told(f"{use.function} {use.path}") & set(names)
            if wanted and named and not given and not named & wanted:
                break
            vague += 0 if given or told(use.function) & wanted or not wanted else 1 if named else 2
            decided += wanted if given or named else []
        else:
            allowed[use, slot] = vague, (use.path, *decided)
    top: dict[Hashable, float] = {}
    for key, (_, rivals) in allowed.items():
        top[rivals] = max(shares[key], top.get(rivals, 0.0))
    # A text or label whose split or question no name tells is only what it is closest to.
    return {
        (use, slot): vague
        for (use, slot), (vague, rivals) in allowed.items()
        if not slot.startswith(("questions", "labels"))
        or shares[use, slot] >= (min(NEAR, top[rivals]) if "doc" in use.words else top[rivals])
    }


def rank_of(use: Use, slot: str, share: float, vague: int, sure: bool) -> tuple[Any, ...] | None:
    """How good a use is for a slot, the best first; None if it is none."""
    table = slot.partition(".")[0]
    kind, _, method = use.function.rpartition(".")
    name = kind if method.startswith("__") else method
    fits = share > LISTS_ALIKE if table == "options" else has_words(name, DATA["functions"][table])
    if not (fits or sure) or share < (ALIKE if not fits or (table == "questions" and vague) else 0.0):
        return None
    short = len(tokens(use.function)), use.function
    return share < NONE, not fits, vague, name.startswith("_"), -round(share, 1), short, -share, str(use.path)
