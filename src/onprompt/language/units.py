"""The first half of step 1: a prompt cut into sentences, pieces and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.ontology import singular
from onprompt.language.prompt import Prompt
from onprompt.language.spelling import repaired
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

PIECE = re.compile(
    r"""
    "[^"]*"                                                 # quoted text
    | \d+(?:[.,:/]\d+)*(?:[-–]\d+)?(?:-[^\W\d_]+)*[^\W_]*   # 1,000  16:9  2-3  3-seater  35mm
    | no\.\s?(?=\d)                                         # No. 2
    | (?:[^\W\d_]\.){2,}                                    # H.R.  U.S.A.
    | n't\b | '(?:s|re|ve|ll|d|m)\b                         # it|'s
    | [^\W_]+?(?=n't\b)                                     # is|n't
    | [^\W_]+(?:[-&][^\W_]+)*                               # t-shirt, AT&T
    | '                                                     # the dogs' bowl
    | [.;:!?]+ | [,/|+]
    """,
    re.VERBOSE | re.IGNORECASE,
)
COUNTED_TAG = re.compile(r"(\d{1,2})([a-z]{3,})", re.IGNORECASE)  # 2girls
ABBREVIATIONS = lex.words("mr mrs ms dr st mt ft vs jr sr no etc approx")
STOPS, PAUSES = frozenset(".;:!?"), frozenset(",/|+")
LONGEST = 120  # words that a tree is made of at once
SOUP_WORDS = 4.5  # in a piece, on average; captions have more between their commas


@dataclass(frozen=True, slots=True)
class Unit:
    """A word or phrase: `word` is for the tree, `start` and `end` say where it stands, the rest what it means."""

    word: str
    start: int
    end: int
    relation: str = ""
    count: Count | None = None
    attributes: tuple[Attribute, ...] = ()
    text: str | None = None
    name: str = ""  # a proper name, in lower case
    one: bool = False  # "the other one": a thing of a kind named before
    aside: bool = False  # left out of the tree, which it only blurs
    whole: bool = False  # said of the picture as a whole
    misspelt: bool = False

    @property
    def lower(self) -> str:
        return self.word.lower()


def sentences(prompt: Prompt) -> Iterator[list[Unit]]:
    """The words of each sentence, with its pauses; then, each with its "no", what `--no` lists."""
    yield from cut(prompt, prompt.body, 0)
    for start, end in prompt.unwanted:
        for part in (part for units in cut(prompt, prompt.text[start:end], start) for part in pieces(units)):
            yield [Unit("no", part[0].start, part[0].start), *part]


def cut(prompt: Prompt, body: str, offset: int) -> Iterator[list[Unit]]:
    """The sentences of a part of a prompt; misspelt words are repaired."""
    current: list[Unit] = []
    for found in PIECE.finditer(body):
        piece, start, end = found[0], found.start() + offset, found.end() + offset
        if piece[0] in STOPS:
            if current and not is_abbreviation(current[-1].word):
                yield current
                current = []
        elif piece[0] == '"':
            if inner := prompt.text[start + 1 : end - 1].strip():
                current.append(Unit("Text", start, end, text=inner))
        elif piece in PAUSES:
            current.append(Unit(",", start, end))
        elif piece == "'s" and current and current[-1].lower in links.PRONOUNS | {"there", "what"}:
            current.append(Unit("is", start, end))
        elif piece.lower().startswith("no."):
            continue
        elif (tagged := COUNTED_TAG.fullmatch(piece)) and is_noun(singular(tagged[2].lower())):
            at = start + len(tagged[1])
            current += [Unit(tagged[1], start, at), Unit(tagged[2], at, end)]
        else:
            meant = repaired(piece, maybe_name=bool(current))
            current.append(Unit(meant or piece, start, end, misspelt=meant is not None))
    if current:
        yield current


def is_abbreviation(word: str) -> bool:
    """Whether a full stop belongs to the word before it: Mr., J. Smith."""
    return word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isupper() and word not in "AI")


def pieces(units: Sequence[Unit]) -> list[list[Unit]]:
    """A sentence cut at its pauses."""
    found: list[list[Unit]] = [[]]
    for unit in units:
        if unit.word == ",":
            found.append([])
        else:
            found[-1].append(unit)
    return [piece for piece in found if piece]


def is_tag_soup(parts: Sequence[Sequence[Unit]]) -> bool:
    """Whether a sentence is a list of tags: three or more short pieces, no verb that asserts, no "and" before one."""
    if len(parts) < 3 or sum(map(len, parts)) > SOUP_WORDS * len(parts):
        return False
    said = {unit.lower for part in parts for unit in part}
    return not said & (links.BE | {"has", "have"}) and not any(
        part[0].lower in links.JOINERS - {"no"} for part in parts
    )


def clauses(units: Sequence[Unit]) -> list[list[Unit]]:
    """`two dogs, the larger one is black`, `knees bent, head is up`: clauses that stand for themselves."""
    found: list[list[Unit]] = []
    for part in (part for piece in pieces(units) for half in halves(piece) for part in poses(half)):
        if found and not stands_alone(part, found[-1]):
            found[-1] += [Unit(",", part[0].start, part[0].start), *part]
        else:
            found.append(list(part))
    return found


def halves(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """`the statue is golden and the bench is wooden`: two sentences that "and" joins."""
    words = [unit.lower for unit in units]
    for at, word in enumerate(words):
        if word in {"and", "while", "but"} and 0 < at < len(words) - 2 and words[at + 1] in links.STARTERS:
            said = words[0] in links.SUBJECTS or links.FINITE & set(words[:at])
            if said and links.FINITE & set(words[at + 1 :]) and not links.RELATIVE & set(words[at - 3 : at]):
                yield list(units[:at])
                yield from halves(units[at + 1 :])
                return
    yield list(units)


def bounded(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """A sentence without end, cut at its pauses: what is said of a thing stands near it, and time stays linear."""
    rest = list(units)
    while len(rest) > LONGEST:
        pauses = [at for at in range(LONGEST // 2, LONGEST) if rest[at].lower in {",", "and"}]
        cut = pauses[-1] if pauses else LONGEST
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


def poses(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """`knees together feet apart right arm up`: a new part of the body begins a new clause."""
    words, start = [unit.lower for unit in units], 0
    for at in range(1, len(words)):
        sided = words[at] in {"left", "right", "both"} and words[at + 1 : at + 2] and words[at + 1] in links.POSES
        if (
            (sided or words[at] in links.POSES)
            and words[at - 1] in links.HELD | links.LIMBS
            and words[at] not in links.HELD
        ):
            yield list(units[start:at])
            start = at
    yield list(units[start:])


def stands_alone(part: Sequence[Unit], before: Sequence[Unit]) -> bool:
    """Whether a piece is a clause of its own, not an item of a list or an addition."""
    if part[0].lower in {"and", "but"} and len(part) > 2:
        part = part[1:]
    said, first = {unit.lower for unit in part}, part[0].lower
    asserts, asserted = bool(said & links.FINITE), bool({unit.lower for unit in before} & links.FINITE)
    if first in links.JOINERS or first in links.RELATIONS or first in {"who", "which", "that", "where", "one", "ones"}:
        return first == "one" and asserts
    if first.endswith("ing") and first not in links.ING_NOUNS:
        return False
    asserted = asserted or before[0].lower in links.SUBJECTS
    resumes = first in links.RESUMING or [unit.lower for unit in part[1:3]] == ["of", "them"]
    if asserts and (asserted or (resumes and before[0].lower not in lex.DEFINITE)):
        return True
    posed = links.POSES & {unit.lower for unit in part[:2]} and links.POSES & {unit.lower for unit in before[:3]}
    return bool(posed) and len(part) > 1


SEEING = re.compile(
    r"\b(?:(?:i|we|you) (?:can |could )(?:also |clearly )*(?:see|observe|notice|find)|there (?:is|are|'s))\b"
    r"(?: also)?(?: that)?"
)


def tags(parts: Sequence[list[Unit]]) -> list[list[Unit]]:
    """The items of a list of tags; "sitting on a chair" goes on about the first."""
    found: list[list[Unit]] = []
    for part in parts:
        first = part[0].lower
        goes_on = (
            len(part) > 1
            and first.endswith("ing")
            and first not in links.ING_NOUNS
            and (part[1].lower in links.RELATIONS or part[1].lower in lex.ARTICLES)
        )
        if found and (goes_on or first == "wearing" or (first in links.RELATIONS and len(part) > 1)):
            found[0] = [*found[0], Unit(",", part[0].start, part[0].start), *part]
        else:
            found.append(list(part))
    return found


def sights(units: Sequence[Unit]) -> list[list[Unit]]:
    """`a car, and in the background we can see trees`: what is seen next stands for itself."""
    words = [unit.lower for unit in units]
    text = " ".join(words)
    for found in SEEING.finditer(text):
        seen = len(text[: found.start()].split())
        cut = max((at for at in range(seen) if words[at] in {",", "and"}), default=-1)
        if cut > 0 and seen - cut <= 6:
            after = [*units[cut + 1 : seen], *units[seen + len(found[0].split()) :]]
            return [part for part in [list(units[:cut]), *sights(after)] if part]
    return [list(units)]
