"""Some words of an instruction: what they describe, which pattern of lexicon.toml they match, where a phrase ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.image_properties import image_properties
from onprompt.language.tokens import Token
from onprompt.language.words import attribute_of, is_ing_verb, is_noun, singular, vocabulary
from onprompt.types import Attribute

LONGEST = 200  # words of an operation; what is longer is a text, not an instruction
QUOTED = '"'  # stands for a quoted text
CLOCK_TIME = re.compile(r"\d{1,2}:\d\d( ?[ap]\.?m\.?)?")
CAPTURES = {"X": "target", "Y": "value", "P": "value"}  # P begins with the word of a place
CLEAR, ARTICLE_OR_VERB, ADJECTIVES, GERUND = range(1, 5)  # signs of a predicate, the clearest first


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words of an instruction."""

    instruction: str
    units: tuple[Token, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Each word in lower case, spelling corrected, with a mark for quoted text."""
        return tuple(QUOTED if unit.text is not None else unit.lower for unit in self.units)

    @property
    def text(self) -> str:
        """The words as written; what stands for a pronoun has a name."""
        parts, end = [], self.units[0].start if self.units else 0
        for unit in self.units:
            written = f" {unit.name} " if unit.name else self.instruction[unit.start : unit.end]
            parts += [self.instruction[end : unit.start], written]
            end = unit.end
        return " ".join("".join(parts).split())

    @property
    def line(self) -> str:
        """The words in lower case, joined by blanks."""
        return " ".join(self.words)

    def __len__(self) -> int:
        return len(self.units)

    def part(self, start: int, end: int | None = None) -> Phrase:
        """Some of the words, without commas at the ends."""
        return Phrase(self.instruction, self.units[start:end]).without({","})

    def without(self, words: Container[str]) -> Phrase:
        """What is left without some words at the ends."""
        inner = [at for at, word in enumerate(self.words) if word not in words]
        return Phrase(self.instruction, self.units[inner[0] : inner[-1] + 1] if inner else ())

    def word_at(self, index: int) -> str:
        """A word, or nothing past the end."""
        return self.words[index] if index < len(self) else ""

    def without_hedges(self) -> Phrase:
        """Without "all", "much", "look" in front; but "look at the camera", "turned on", "turn to the left" stay."""
        words, at = self.words, 0
        while at < len(self) - 1 and ed.is_hedge(words, at):
            if words[at] in ed.COPULAS - {"be"} and words[at + 1] in ed.PLACE_ADVERBS | ed.PARTICLES:
                break
            at += 1
        return self.part(at)

    @property
    def is_definite(self) -> bool:
        """Whether words name something that is in the picture already: `the dog`, `all dogs`, `it`."""
        return self.words[0] in lex.DEFINITE | ed.EVERY | ed.PERSONAL

    @property
    def described(self) -> dict[str, list[Attribute]]:
        """The operations that adjectives ask for, with their attributes: `dark blue and bigger`; else nothing."""
        words = [word for word in self.words if word not in ed.CONJUNCTIONS]
        if ed.COLOR_NOUNS.intersection(words):  # the color red, a different color
            words = [word for word in words if word not in ed.COLOR_NOUNS | {"a", "an", "the", "in", "of"}]
            if len(words) == 1 and words[0] in ed.ANY_COLOR:
                return {"recolor": [Attribute("color", "other")]}
        negated = words[:1] == ["not"]
        words = words[2:] if words[1:2] == ["years"] else words[negated or words[:1] == ["in"] :]
        if not words or is_ing_verb(words[0]) or not all(word in lex.TONES or ed.is_adjective(word) for word in words):
            return {}
        operations, tone = dict[str, list[Attribute]](), ""
        for word, after in zip(words, [*words[1:], ""], strict=True):
            if word in lex.TONES and lex.kind_of(after) == "color":
                tone = f"{word} "  # dark blue
            elif named := attribute_of(tone + word):
                operation, tone = ed.LOOKS.get(word) or ed.KINDS.get(named.kind, "action"), ""
                named = Attribute("color", word) if ed.LOOKS.get(word) == "recolor" else named
                operations.setdefault(operation, []).append(replace(named, negated=negated))
        return operations

    @property
    def picture_properties(self) -> tuple[Attribute, ...]:
        """What words say of the picture as a whole: a style, a season, a time of day, the weather."""
        bare = [word for word in self.words if word not in ed.DEFINITE_OR_ARTICLE | ed.TIME_WORDS]
        for kind, words in (("season", ed.SEASONS), ("weather", ed.WEATHER)):
            if bare and words.issuperset(bare):
                return (Attribute(kind, " ".join(bare)),)
        units = [unit for unit in self.units if unit.lower not in {"as", "like", "time"}]  # night time
        return tuple(image_properties(units))

    @property
    def style(self) -> tuple[Attribute, ...]:
        """What words say of the picture, also by adjectives that may describe a thing."""
        effect = self.words[-1] in ed.EFFECTS and len(self) > 1
        described = [attribute for attributes in self.described.values() for attribute in attributes]
        looks = effect or any(attribute.kind not in {"other", "state"} for attribute in described)
        style = (Attribute("style" if looks else "mood", self.line),) if effect or described else ()
        return self.picture_properties or style

    def is_action(self, plain: bool = True) -> bool:
        """Whether words say what something does: `running`, `turned on`; with `plain` verbs also `hold a cup`."""
        first = self.words[0]
        done = first.endswith("ed") and not first.endswith("eed")
        return is_ing_verb(first) or done or (plain and first in vocabulary().verbs)

    @property
    def wording(self) -> str:
        """The words to write: in quotes, else all after "the words"."""
        quoted = next((unit.text for unit in self.units if unit.text is not None), "")
        start = next((at + 1 for at, word in enumerate(self.words[:-1]) if word in {"word", "words", "text"}), 0)
        return quoted or self.part(start).text


class Match(NamedTuple):
    """A pattern that matches: its rule, and the words that it captures."""

    rule: str
    captures: dict[str, Phrase]


def compile_term(term: str) -> str:
    """One term of a pattern, as a regular expression over words with a blank before each."""
    name, _, listed = term.partition("=")
    words = compile_words(listed) if listed else r"(?: \S+)+?"
    if name == "P":
        words = rf"(?:{compile_words('RELATION')}(?: \S+)+|{compile_words('PLACE')}(?: \S+)*)"
    if name in CAPTURES:
        return f"(?P<{CAPTURES[name]}>{words})"
    return words if name == "_" else compile_words(term)


def compile_words(term: str) -> str:
    """The words of a term: those of classes, alternatives, a blank written as `_`; optional with `?`."""
    names = term.removesuffix("?").split("/")
    phrases = {re.escape(phrase) for name in names for phrase in ed.CLASSES.get(name, (name.replace("_", " "),))}
    longest_first = sorted(phrases, key=lambda phrase: (-phrase.count(" "), phrase))
    return f"(?: (?:{'|'.join(longest_first)})(?= |$)){'?' * term.endswith('?')}"


# Each pattern as a regular expression, with its rule.
COMMANDS, DESCRIPTIONS, VALUES, SHARES = (
    [(re.compile("".join(map(compile_term, pattern.split()))), rule) for pattern, rule in ed.DATA[name].items()]
    for name in ("commands", "descriptions", "values", "shares")
)


def matches(phrase: Phrase, patterns: Sequence[tuple[re.Pattern[str], str]]) -> Iterator[Match]:
    """The patterns that match some words, in their order."""
    line = "".join(f" {word}" for word in phrase.words)
    for pattern, rule in patterns:
        if not (found := pattern.fullmatch(line)):
            continue
        named = (name for name in found.groupdict() if found[name])
        spans = {name: [line.count(" ", 0, end) for end in found.span(name)] for name in named}
        boundary, ends = BOUNDARIES.get(rule), sorted(spans.values())
        if boundary and len(spans) > 1 and ends[0][1] == ends[1][0]:  # no word separates the phrases
            start, end = ends[0][0], ends[1][1]
            if not (cut := boundary(phrase.part(start, end))):
                continue
            spans = {"target": [start, start + cut], "value": [start + cut, end]}
        yield Match(rule, {name: phrase.part(*span) for name, span in spans.items()})


def is_command(clause: Phrase) -> bool:
    """Whether a clause begins with a verb of editing, and not with a noun of the same spelling."""
    if len(clause) < 2 or clause.words[0] not in ed.FIRST_WORDS:
        return False
    if clause.words[0] in ed.EXCEPTING:
        return clause.line.startswith(ed.KEEPING)
    return clause.words[1] not in (lex.RELATIONS.keys() - ed.PARTICLES) | {"and", ",", "or", "'s", "is", "are"}


def recipient_end(phrase: Phrase) -> int:
    """Where what is given begins: `her | a cap`, `the old man | long white hair`; 0 if that can't be told."""
    words = phrase.words
    nouns = (at for at in range(1, len(words)) if may_be_noun(words, at - 1) and not lex.kind_of(words[at - 1]))
    ends = (at for at in nouns if words[at] not in lex.RELATIONS.keys() | {"'s", "and"})
    return next((at for at in ends if not ed.is_compound(*words[at - 1 : at + 1])), int(words[0] == "her"))


def predicate_start(phrase: Phrase) -> int:
    """Where what a thing should be or do begins: `all the flowers | yellow`, `the woman | hold a cup`; or 0."""
    words = phrase.words
    said = words[1:2] and (words[1] in ed.SURE_VERBS | ed.COPULAS | lex.ARTICLES or all(map(qualifies, words[1:])))
    if len(words) > 1 and (words[0] in ed.PERSONAL or (said and words[0] in ed.DEMONSTRATIVE | {"her"})):
        return 1  # this | red, but: this red car | black
    signs = ((predicate_sign(phrase, at), at) for at in range(1, len(words)))
    return min((sign for sign in signs if sign[0]), default=(0, 0))[1]


def predicate_sign(phrase: Phrase, at: int) -> int:
    """By what a predicate begins at a word, or 0."""
    words, rest = phrase.words, phrase.words[at:]
    before, word, following = words[at - 1], words[at], phrase.word_at(at + 1)
    pattern = "," not in {before, word} and next(matches(phrase.part(at), VALUES), None)
    infinitive = word == "be" or (word == "to" and following in vocabulary().verbs)  # the car | to be red
    if pattern or (word == "not" and before != ",") or infinitive or CLOCK_TIME.fullmatch(word):
        return CLEAR
    if not may_be_noun(words, at - 1) or ed.is_compound(before, word):
        return 0
    described = rest[1:] if word == "in" else rest  # the car | in red
    if described and all(map(qualifies, described)):
        return ADJECTIVES
    if word in lex.ARTICLES | ed.CLASSES["MORE"] | {"some"} and not (is_ing_verb(before) or before in lex.WEARING):
        return ARTICLE_OR_VERB
    if is_ing_verb(word) and word not in vocabulary().verbs:
        return GERUND
    described_noun = lex.kind_of(before) in {"size", "color"} and is_noun(word)  # the small dog
    sure = not following or following in ed.DETERMINERS | lex.RELATIONS.keys() or word in ed.SURE_VERBS | ed.COPULAS
    return ARTICLE_OR_VERB if word in vocabulary().verbs and sure and not described_noun else 0


def qualifies(word: str) -> bool:
    """Whether a word is an adjective, or stands with one: `much`, `and`, `light blue`, `20 years older`."""
    joins = word in ed.CONJUNCTIONS | lex.TONES | ed.CLASSES["PLEASANT"] | {"years", "not"} or ed.is_hedge([word], 0)
    return joins or ed.is_adjective(word) or (ed.numeral([word]) or 0) > 1


def may_be_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word may be a noun here."""
    word = words[at]
    if word in ed.DETERMINERS or word in lex.RELATIONS or word in {"'s", "and", ",", "of"}:
        return word == "one"
    return is_noun(singular(word)) or word not in vocabulary().adjectives


BOUNDARIES: Mapping[str, Callable[[Phrase], int]] = {
    **dict.fromkeys(("become acting", "recolor otherwise"), predicate_start),
    "add": recipient_end,
}
PLACE = re.compile(compile_term("P"))
