"""Phrases made one unit, before a tree is made of the sentence.

What a tree only blurs ("to the left of", "a herd of", "in the top left corner", "made of wood") becomes one unit, with
what it means beside it and a plain word in its place that the tree can read; or it is an aside, which the tree need not
see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.attributes import attribute, comparison
from onprompt.language.detached_phrases import POSITIONS, RELATIONS, Asides, Found
from onprompt.language.ontology import singular
from onprompt.language.phrases import Phrases, phrase_at
from onprompt.language.quantities import figure, quantity
from onprompt.language.units import Unit
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

LONG_ADJECTIVES = Phrases(lex.LONG_ADJECTIVES)
BEFORE_COMPARISON = lex.words("are is with of and has have contains containing")


class Gatherer(Asides):
    """One sentence, read from left to right."""

    def gather(self) -> list[Unit]:
        """The units of the sentence."""
        self.turn_neither()
        self.fill_in()
        at = 0
        while at < len(self.units):
            unit, size = self.unit_at(at)
            self.done.append(unit)
            at += size
            self.collapse(at)
        return self.done

    def fill_in(self) -> None:
        """`a black and a white cat` → a black cat and a white cat."""
        words, kinds = self.words, lex.KIND_OF_ATTRIBUTE
        for at in range(len(words) - 5):
            one, and_, other = words[at : at + 2], words[at + 2], words[at + 3 : at + 5]
            alike = all(pair[0] in lex.ARTICLES and pair[1] in kinds for pair in (one, other))
            noun = words[at + 5]
            if alike and and_ == "and" and is_noun(singular(noun)) and noun not in kinds:
                end = self.units[at + 1].end
                self.units = [*self.units[: at + 2], Unit(self.units[at + 5].word, end, end), *self.units[at + 2 :]]
                self.words = [unit.lower for unit in self.units]

    def turn_neither(self) -> None:
        """`neither the cat nor the dog is wearing a hat` → the cat and the dog is not wearing a hat."""
        if self.word(0) != "neither" or self.word(1) not in lex.DEFINITE or "nor" not in self.words:
            return
        units = [replace(unit, word="and") if unit.lower == "nor" else unit for unit in self.units[1:]]
        verb = next((at for at, unit in enumerate(units) if unit.lower in links.BE), None)
        if verb is not None:
            units.insert(verb + 1, Unit("not", units[verb].end, units[verb].end))
        self.units, self.words = units, [unit.lower for unit in units]

    def unit_at(self, at: int) -> tuple[Unit, int]:
        """The unit that begins at a word, and how many words it takes."""
        if self.units[at].text is not None or self.words[at] == ",":
            return self.units[at], 1
        for reader in (
            *(self.said_text, self.pose, self.place, self.stuff, self.dressed, self.time, self.artist, self.style),
            *(self.condition, self.quoted, self.relation, self.negation, self.one, self.ordinal, self.described),
            *(self.measure, self.count, self.proper_name, self.compound),
        ):
            if found := reader(at):
                return found
        return self.units[at], 1

    # -- units for the tree

    def relation(self, at: int) -> Found:
        """A relation of several words, with a plain preposition in its place."""
        if self.word(at + 1) == "than" and (name := lex.COMPARATIVES.get(self.word(at))):
            return replace(self.joined(at, 2, "near"), relation=name), 2
        if self.word(at) == self.word(at + 2) == "as":
            return replace(self.joined(at, 3, "near"), relation=" ".join(self.words[at : at + 3])), 3
        phrase = phrase_at(self.words, at, RELATIONS)
        if " " not in phrase:
            return None
        name, size = links.RELATIONS[phrase], len(phrase.split())
        return replace(self.joined(at, size, links.STAND_IN.get(name, "near")), relation=name), size

    def quoted(self, at: int) -> Found:
        """`the words "Happy Birthday"`: words that are named are a thing, and the quotes say what is to be read."""
        end = at + 1
        while self.is_quote(end) or (self.word(end) in {"and", ","} and self.is_quote(end + 1)):
            end += 1
        numbered = self.word(at) == "number" and self.word(at + 1)[:1].isdigit()  # "the number 42"
        end += numbered and end == at + 1
        if (self.word(at) not in links.TEXT_NOUNS and not numbered) or end == at + 1:
            return None
        read = [Attribute("text", unit.text or unit.word) for unit in self.units[at + 1 : end] if unit.text or numbered]
        unit = replace(self.units[at], word="sign", name="text", attributes=tuple(read))
        return unit, end - at

    def negation(self, at: int) -> Found:
        """`not a`, `neither`, `no one`; "not only" says nothing."""
        word, following = self.word(at), self.word(at + 1)
        if word in {"nobody", "noone"} or (word, following) == ("no", "one"):
            size = 1 + (word == "no")
            return replace(self.joined(at, size, "nobody"), name="nobody"), size
        if word == "missing" and following in lex.ARTICLES | lex.DEFINITE and self.done:
            return replace(self.joined(at, 1, "without"), relation="without"), 1
        adding = {*lex.KIND_OF_ATTRIBUTE, *lex.NUMBERS, *lex.ARTICLES}
        named = is_noun(singular(following)) and following not in adding
        if word == "not" and self.word(at - 1) in {",", ""} and named:
            return self.joined(at, 1, "no"), 1  # "apples, not oranges"
        if word in {"not", "n't"} and following in {"a", "an", "any", "even"}:
            size = 3 if self.word(at + 2) == "single" else 2
        elif word == "without" and following == "any":
            return self.joined(at, 2, "without"), 2
        elif word in {"neither", "nor"} and following not in lex.DEFINITE:  # "neither the cat" is there all the same
            size = 2 if following in {"a", "an", "any", "of"} else 1
        else:
            return None
        return self.joined(at, size, "no"), size

    def one(self, at: int) -> Found:
        """`one`, `another one`, `the other`, `the first`, `a white one`: a thing of a kind named before."""
        size = self.one_size(at)
        if not size:
            return None
        words = self.words[at : at + size]
        found = [Attribute("position", ordinal(word)) for word in words if ordinal(word)]
        after = self.word(at + size)
        if after in lex.KIND_OF_ATTRIBUTE and not self.is_prepositional(at + size):  # "one black and one white"
            found += [each for each in [attribute(after)] if each]
            unit = replace(self.joined(at, size, "one"), count=self.number_of(words[0]))
            return replace(unit, one=True, attributes=tuple(found)), size + 1
        count = self.number_of(words[0])
        return replace(self.joined(at, size, "one"), one=True, attributes=tuple(found), count=count), size

    def number_of(self, word: str) -> Count | None:
        """The number that a word is."""
        number = figure(word)
        return Count(number, number, word, explicit=True) if number else None

    def is_prepositional(self, at: int) -> bool:
        """Whether a word belongs to a phrase of place or relation."""
        return bool(phrase_at(self.words, at, RELATIONS) or phrase_at(self.words, at, POSITIONS))

    def one_size(self, at: int) -> int:
        """How many words such a phrase takes; 0 where it is none."""
        word, following = self.word(at), self.word(at + 1)
        if word == "one" and self.one_stands_alone(at + 1):
            return 1
        if figure(word) and following == "of" and self.word(at + 2) in {"them", "which", "whom"}:
            return 3
        if word not in {"the", "another"}:
            return 0
        if word == "another":
            return 2 if following == "one" else int(self.one_stands_alone(at + 1))
        if following == "other" or ordinal(following):
            if self.word(at + 2) == "one":
                return 3
            return 2 if self.one_stands_alone(at + 2) or self.word(at + 2).startswith("from") else 0
        return 2 if following == "one" else 0

    def one_stands_alone(self, after: int) -> bool:
        """Whether no noun follows "one": it ends, or goes on with a verb, a preposition, or an adjective alone."""
        word = self.word(after)
        if word == "of" or (word == "or" and self.word(after + 1) in {*lex.NUMBERS, "more"}):
            return False
        if not word or self.ends_phrase(after):
            return True
        return word in lex.KIND_OF_ATTRIBUTE and word not in lex.ALSO_NOUNS and self.ends_phrase(after + 1)

    def ordinal(self, at: int) -> Found:
        """`the second car`; `from the left` after it is told to the car."""
        if self.words[at : at + 2] != ["from", "the"] or self.word(at + 2) not in links.SIDES:
            return None
        if not any(ordinal(unit.lower) or any(a.kind == "position" for a in unit.attributes) for unit in self.done):
            return None
        unit = self.joined(at, 3, "outside")
        return replace(unit, attributes=(Attribute("position", " ".join(self.words[at : at + 3])),), aside=True), 3

    def described(self, at: int) -> Found:
        """`polka dot`, `stainless steel`: an adjective of two words; `the tallest`, which taggers take for a noun."""
        last = self.done[-1] if self.done else None
        opened = last is not None and (last.count is not None or last.lower in lex.DEFINITE)
        hued = self.word(at) in lex.COLOURS and self.word(at + 1) in {"colored", "coloured", "color", "colour"}
        if hued and not self.ends_phrase(at + 2):
            return replace(self.joined(at, 2, "old"), attributes=(Attribute("color", self.word(at)),)), 2
        compared = comparison(self.word(at))
        if compared and opened and self.word(at + 1) != "than" and not self.ends_phrase(at + 1):
            return replace(self.joined(at, 1, "old"), attributes=(compared,)), 1
        phrase = phrase_at(self.words, at, LONG_ADJECTIVES)
        if not phrase or self.ends_phrase(at + len(phrase.split())):
            return None
        value = Attribute(lex.LONG_ADJECTIVES[phrase], phrase)
        return replace(self.joined(at, len(phrase.split()), "old"), attributes=(value,)), len(phrase.split())

    def count(self, at: int) -> Found:
        """A quantity: not the year of "a 1957 car", and "over" only where it can't be a place."""
        count = quantity(self.words, at, self.settings)
        last = self.done[-1] if self.done else None
        if count is not None and self.is_no_count(at, count):
            return (
                (replace(self.units[at], count=Count(1, 1, self.word(at))), 1)
                if self.word(at) in lex.ARTICLES
                else None
            )
        if count is None or (last is not None and last.count is not None and last.count.words in lex.ARTICLES):
            return None
        place = self.word(at) in {"over", "under", "around", "about"}
        if place and last is not None and last.lower not in BEFORE_COMPARISON:
            return None
        size = len(count.words.split())
        if size == 1 and self.word(at).isdigit() and 1800 <= count.low <= 2100 and not self.plural_follows(at + 1):
            return None  # "the 1957 car", "2012"
        plain = (size == 1 and not count.explicit) or self.word(at) == "one"
        word = self.units[at].word if plain else "a" if count.exact == 1 else "many" if count.high is None else "two"
        return replace(self.joined(at, size, word), count=count), size

    def is_no_count(self, at: int, count: Count) -> bool:
        """A couple that nothing follows is two people; the number after a name or a size is part of it."""
        words = count.words.split()
        if words[-1] in lex.PAIRS:
            return self.ends_phrase(at + len(words))
        before = self.units[at - 1].word if at else ""
        named = before != before.lower() and at > 1
        return self.word(at).isdigit() and (named or before.lower() in lex.NUMBERED)

    def measure(self, at: int) -> Found:
        """`25 year old`, `8 foot tall`, `12 inch`: how old or large, not how many."""
        words = self.words[at : at + 3]
        if len(words) < 2 or figure(words[0]) is None or words[1] not in lex.UNITS or self.word(at - 1) == "of":
            return None
        size = 3 if len(words) > 2 and words[2] in lex.MEASURED else 2
        kind = "state" if words[-1] == "old" else "size"
        value = Attribute(kind, " ".join(words[:size]))
        if self.ends_phrase(at + size):
            return self.said(at, size, [value]) if size == 3 else None
        return replace(self.joined(at, size, "old"), attributes=(value,)), size

    def plural_follows(self, at: int) -> bool:
        """Whether a plural comes soon enough to be what is counted."""
        return any(singular(word) != word for word in self.words[at : at + 3])

    def proper_name(self, at: int) -> Found:
        """`Mount Fuji`, `the Statue of Liberty`: words with capitals, where these mean something; `body of water`."""
        measures = singular(self.word(at)) in lex.CONTAINERS | lex.GROUPS | lex.MEASURES | lex.SORTS
        whole = " ".join(self.words[at : at + 3])
        if self.word(at + 1) == "of" and not measures and is_noun(whole):
            return replace(self.joined(at, 3, "water"), name=whole), 3
        if not self.capitals_tell() or not self.capital(at) or self.word(at) in lex.NUMBERS:
            return None
        end = at + 1
        while self.capital(end) or (self.word(end) in links.IN_NAMES and self.capital(end + 1)):
            end += 1
        if end - at < 2:
            return None
        plural = singular(self.word(end - 1)) != self.word(end - 1) and not self.word(end - 1).endswith("ss")
        unit = self.joined(at, end - at, "Cats" if plural and self.done and self.done[-1].count else "Batman")
        return replace(unit, name=" ".join(self.words[at:end])), end - at

    def compound(self, at: int) -> Found:
        """`stop sign`, `polar bear`: a known noun of several words, which a tree may tear apart."""
        for size in (3, 2):
            words = self.words[at : at + size]
            if len(words) < size or "of" in words:
                continue
            forms = {" ".join(words), " ".join([*words[:-1], singular(words[-1])])}
            if forms & lex.COMPOUNDS or (any(map(is_noun, forms)) and self.may_join(at)):
                return replace(self.joined(at, size, self.units[at + size - 1].word), name=" ".join(words)), size
        return None

    def may_join(self, at: int) -> bool:
        """Whether a word can be the first of such a noun: not a colour, nor the riding of "man riding horse"."""
        word, last = self.word(at), self.done[-1] if self.done else None
        opened = last is not None and (last.count is not None or last.lower in lex.DEFINITE)
        if word.endswith(("ing", "ed")) and not opened:
            return False
        return word not in links.RELATIONS and (
            lex.kind_of(word) in {None, "style", "shape"} or word in lex.STUFF_FIRST
        )

    def capital(self, at: int) -> bool:
        """Whether a word begins like a name; the first of a sentence only if it can't be a common word there."""
        if not 0 <= at < len(self.units) or self.units[at].text is not None:
            return False
        word = self.units[at].word
        common = word.lower() in links.OPENERS or word.lower() in lex.KIND_OF_ATTRIBUTE
        common = common and word.lower() not in links.FIRST_OF_NAMES  # New York
        return word[0].isupper() and not (at == 0 and common) and word.lower() not in links.NEVER_NAMES

    def capitals_tell(self) -> bool:
        """Whether most words have no capital, so that one means something."""
        letters = [unit.word for unit in self.units if unit.word[0].isalpha() and unit.text is None]
        return sum(word[0].isupper() for word in letters) <= 0.6 * len(letters) or len(letters) <= 3

    # -- nouns that only count or measure

    def collapse(self, at: int) -> None:
        """`a herd of` counts, `slice of` describes, `type of` says nothing: each becomes one unit."""
        done = self.done
        if len(done) > 1 and done[-1].count is not None and done[-2].count is not None and done[-2].lower == "many":
            self.count_group()
        if len(done) < 2 or done[-1].lower != "of" or done[-1].relation or not self.word(at):
            return
        noun = singular(done[-2].lower)
        start, end = done[-2].start, done[-1].end
        if noun in lex.GROUPS and done[-2].count is None:
            self.gather_group(noun)
        elif noun in lex.MEASURES and self.word(at) not in lex.DEFINITE:
            done[-2:] = [Unit("old", start, end, attributes=(Attribute("shape", noun),))]
        elif noun == "pair" and len(done) > 2 and self.word(at) not in lex.PAIRED:
            done[-3:] = [times(done[-3], self.settings.pair, end)]
        elif noun in lex.SORTS and len(done) > 2:
            done[-2:] = [Unit("old", start, end, attributes=(Attribute("", ""),))]

    def gather_group(self, noun: str) -> None:
        """`two rows of`: so many, and nobody knows how many each has; `a trio of` are three."""
        done = self.done
        first = phrase_start(done, len(done) - 2)
        said = " ".join(unit.lower for unit in done[first:])
        exact = lex.GROUP_SIZES.get(noun)
        least = max(2, (done[first].count or Count(1, 1)).low)
        count = Count(exact, exact, said, explicit=True) if exact else Count(least, None, said, confidence=0.5)
        done[first:] = [Unit("many", done[first].start, done[-1].end, count=count)]

    def count_group(self) -> None:
        """`a group of three boys` are three, `two rows of four chairs` eight."""
        group, number = self.done[-2:]
        if group.count is None or " of" not in group.count.words or number.count is None:
            return
        if number.count.words not in lex.ARTICLES:
            several = figure(group.count.words.split()[0]) or 1
            self.done[-2:] = [times(replace(number, start=group.start), several, number.end)]


def times(unit: Unit, factor: int, end: int) -> Unit:
    """A counting unit, so many times over."""
    if unit.count is None or not unit.count.explicit:
        return replace(unit, end=end)
    high = unit.count.high
    count = replace(unit.count, low=unit.count.low * factor, high=high if high is None else high * factor)
    return replace(unit, count=count, end=end)


def phrase_start(found: Sequence[Unit], noun: int) -> int:
    """Where the noun phrase begins that a noun ends: its adjectives and its determiner or number."""
    at = noun
    while at > 0 and (found[at - 1].lower in lex.KIND_OF_ATTRIBUTE or found[at - 1].lower in lex.NOT_DESCRIBING):
        at -= 1
    before = found[at - 1] if at else None
    if before is not None and (before.count is not None or before.lower in lex.DEFINITE):
        at -= 1
    return at


def ordinal(word: str) -> str:
    """`second`, also for `2nd`; nothing for other words."""
    if word[:-2].isdigit() and word[-2:] in {"st", "nd", "rd", "th"} and 0 < int(word[:-2]) <= len(lex.NTH):
        return lex.NTH[int(word[:-2]) - 1]
    return word if word in lex.ORDINALS else ""
