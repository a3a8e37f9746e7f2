"""Phrases made one token each, before the dependency parser sees the sentence.

The parser only blurs phrases such as "to the left of", "a herd of" or "made of wood". Each becomes one token that knows
what it means and shows the parser a plain word, or is detached and not shown at all.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language.image_properties import DETERMINERS
from onprompt.language.ontology import canonical, is_a
from onprompt.language.quantities import collapse_quantifier, figure, ordinal, quantity
from onprompt.language.tokens import Token, lower_words
from onprompt.language.words import attribute_of, comparison, is_ing_verb, is_noun, singular
from onprompt.settings import Settings
from onprompt.types import Attribute, Count

POSITIONS, RELATIONS = lex.Phrases(lex.POSITIONS), lex.Phrases(lex.RELATIONS)
STATES = {**dict.fromkeys(lex.STATE_PHRASES, "state"), **dict.fromkeys(lex.FACING, "orientation")}
STATE_PHRASES, TIMES_OF_DAY = lex.Phrases(STATES), lex.Phrases(lex.TIMES_OF_DAY)
QUOTE_INTRODUCERS, TEXT_INTRODUCERS = lex.Phrases(lex.QUOTE_INTRODUCERS), lex.Phrases(lex.TEXT_INTRODUCERS)
COMPOUND_ATTRIBUTES = lex.Phrases(lex.COMPOUND_ATTRIBUTES)
SUBSTANCES = {"made of": "material", "in the shape of": "shape"}
QUANTIFYING_NOUNS = lex.CONTAINERS | lex.GROUP_NOUNS | lex.MEASURE_NOUNS | lex.SORT_NOUNS
AFTER_TEXT = lex.WRITING_PARTICIPLES | {","}
YEARS = range(1800, 2101)
MAX_SUBSTANCE_WORDS, MAX_CONTENT_WORDS = 5, 4

# Plain words that the dependency parser reads in place of a phrase.
AN_ADVERB, AN_ADJECTIVE, A_THING, A_NAME, A_TEXT, A_SUBSTANCE = "outside", "old", "bottle", "Batman", "sign", "water"

Match = tuple[Token, int] | None  # a token, and how many it replaces


class Chunker:
    """One sentence, read from left to right; `done` are the tokens that have been read so far."""

    def __init__(self, tokens: Sequence[Token], settings: Settings) -> None:
        self.tokens, self.settings = list(tokens), settings
        self.words = lower_words(tokens)
        self.done: list[Token] = []

    def chunk(self) -> list[Token]:
        """The tokens of the sentence."""
        readers = (
            *(self.text, self.pose, self.position, self.substance, self.vessel, self.dressed),
            *(self.time_of_day, self.filler, self.state, self.quoted, self.relation),
            *(self.negation, self.one, self.described, self.count, self.proper_name, self.compound),
        )
        at = 0
        while at < len(self.tokens):
            plain = self.tokens[at].text is None and self.words[at] != ","
            matches = (match for reader in readers if plain and (match := reader(at)))
            token, size = next(matches, (self.tokens[at], 1))
            self.done.append(token)
            at += size
            collapse_quantifier(self.done, self.word(at), self.settings)
        return self.done

    # -- the words around

    def word(self, at: int) -> str:
        """The word at a place, or nothing beyond the ends."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def end(self, at: int, goes_on: Callable[[int], object]) -> int:
        """The first place from here on where something does not go on."""
        while self.word(at) and goes_on(at):
            at += 1
        return at

    def follows(self, words: Container[str]) -> bool:
        """Whether the token before is one of these words."""
        return bool(self.done) and self.done[-1].lower in words

    def is_opened(self) -> bool:
        """Whether a determiner or number stands right before."""
        return bool(self.done) and (self.done[-1].count is not None or self.follows(lex.DEFINITE))

    def is_quote(self, at: int) -> bool:
        """Whether a token is quoted text."""
        return at < len(self.tokens) and self.tokens[at].text is not None

    def ends_phrase(self, at: int) -> bool:
        """Whether no noun follows here: the sentence ends, pauses, or goes on with a verb or preposition."""
        word = self.word(at)
        return (
            not word
            or word in lex.PHRASE_ENDS
            or word in lex.RELATIONS
            or word in lex.BE
            or is_ing_verb(word)
            or (word.endswith("ed") and word not in lex.COLORS)
            or bool(POSITIONS.at(self.words, at))
        )

    # -- matches

    def replaced(self, at: int, size: int, word: str, **meaning: Any) -> tuple[Token, int]:
        """Several tokens as one, with a word for the dependency parser and what they mean."""
        taken = self.tokens[at : at + size]
        misspelt = any(token.misspelt for token in taken)
        return Token(word, taken[0].start, taken[-1].end, misspelt=misspelt, **meaning), size

    def detached(self, at: int, size: int, *attributes: Attribute, **meaning: Any) -> tuple[Token, int]:
        """A phrase that describes the object before it, or the image."""
        return self.replaced(at, size, AN_ADVERB, attributes=attributes, detached=True, **meaning)

    def predicate(self, at: int, size: int, *attributes: Attribute) -> tuple[Token, int]:
        """A phrase that is an adjective after "is", and detached elsewhere."""
        detached = not self.follows(lex.BE)
        return self.replaced(at, size, AN_ADJECTIVE, attributes=attributes, detached=detached)

    # -- phrases that describe the object just named

    def position(self, at: int) -> Match:
        """`on the left`, also `on the left of the image`; but not `on the left of the dog`."""
        phrase = POSITIONS.at(self.words, at)
        size = len(phrase.split())
        if phrase and self.word(at + size) == "of":
            if self.word(at + size + 1) not in lex.DEFINITE or self.word(at + size + 2) not in lex.CANVAS_NOUNS:
                return None
            size += 3
        if not phrase or (phrase in lex.AMBIGUOUS_POSITIONS and not self.ends_phrase(at + size)):
            return None
        return self.detached(at, size, Attribute(lex.POSITION_KINDS.get(phrase, "position"), lex.POSITIONS[phrase]))

    def pose(self, at: int) -> Match:
        """`bent forward` in "knees bent forward", "arms are slightly bent forward": how a part of the body is held."""
        before = lower_words(self.done[-2:])
        part = before[-2:-1] if before and before[-1] in lex.BE else before[-1:]
        if not part or part[0] not in lex.POSE_PARTS or self.word(at) == "and":
            return None
        end = self.end(at, lambda place: self.word(place) in lex.POSE_STATES | lex.POSE_ADVERBS | {"and"})
        while end > at and self.word(end - 1) not in lex.POSE_STATES:
            end -= 1
        return self.predicate(at, end - at, Attribute("state", " ".join(self.words[at:end]))) if end > at else None

    def substance(self, at: int) -> Match:
        """`made of wood and glass`: what an object is made of is no object."""
        phrase = RELATIONS.at(self.words, at)
        kind = SUBSTANCES.get(lex.RELATIONS.get(phrase, ""))
        if kind is None or any(token.text is not None for token in self.tokens[at : at + 7]):
            return None

        def goes_on(place: int) -> bool:
            if self.word(place) == "and":
                return self.word(place + 1) in lex.MATERIALS
            return not self.ends_phrase(place)

        start = at + len(phrase.split())
        end = min(self.end(start + 1, goes_on), start + MAX_SUBSTANCE_WORDS, len(self.words))
        words = [word for word in self.words[start:end] if word not in DETERMINERS | {"and"}]
        values = [lex.MATERIALS.get(word, word) for word in words]
        if not lex.MATERIALS.keys() >= set(words):
            values = [" ".join(values)]
        return self.predicate(at, end - at, *(Attribute(kind, value) for value in values)) if words else None

    def vessel(self, at: int) -> Match:
        """`cup of coffee`: a drink or a soup takes the shape of its vessel and is no object of its own."""
        word, start = self.word(at), at + 2
        name = lex.COUNTED_NAMES.get(canonical(word)) or singular(word)
        if name not in lex.CONTAINERS or self.word(at + 1) != "of" or self.word(start) in DETERMINERS:
            return None
        end = min(self.end(start, lambda place: not self.ends_phrase(place)), start + MAX_CONTENT_WORDS)
        while end > start and not is_a(self.word(end - 1), *lex.SHAPELESS, *lex.SHAPELESS_KINDS):
            end -= 1
        if end == start or is_noun(self.word(end)):  # "a plate of coffee cake" is left to the dependency parser
            return None
        content = Attribute("content", " ".join(self.words[start:end]))
        stand_in = A_THING + "s" * (name != word)  # since it may take "can" for a verb, and "glasses" for eyeglasses
        return self.replaced(at, end - at, stand_in, name=name, attributes=(content,))

    def dressed(self, at: int) -> Match:
        """`in red`, `dressed in black and gold`, `painted in pale yellow`, `wearing white`."""
        lead = next((n for n in (2, 1) if " ".join(self.words[at : at + n]) in lex.BEFORE_COLORS), 0)
        end, colors = at + lead, list[str]()
        while lead:
            tone = self.word(end) in lex.TONES and self.word(end + 1) in lex.COLORS
            if self.word(end + tone) not in lex.COLORS:
                break
            colors.append(" ".join(self.words[end : end + 1 + tone]))
            end += 1 + tone
            if self.word(end) in {"and", ","} and self.word(end + 1) in lex.COLORS | lex.TONES:
                end += 1
        if not colors or not self.ends_phrase(end):
            return None
        style = " and ".join(colors)
        if style in lex.PROPERTIES and self.word(at) == "in" and not self.word(end):  # in black and white
            return self.detached(at, end - at, Attribute(lex.PROPERTIES[style], style), of_image=True)
        return self.predicate(at, end - at, *(Attribute("color", color) for color in colors))

    def state(self, at: int) -> Match:
        """`on fire`, `in motion`, `looking at the camera`."""
        phrase = STATE_PHRASES.at(self.words, at)
        return self.predicate(at, len(phrase.split()), Attribute(STATES[phrase], phrase)) if phrase else None

    def text(self, at: int) -> Match:
        """`titled "Dune"`, `a sign that says keep out`: text on the object just named."""
        start = at + len(QUOTE_INTRODUCERS.at(self.words, at).split())
        if start > at and self.done and not self.follows(lex.NEGATIONS) and self.is_quote(start):
            return self.detached(at, start + 1 - at, Attribute("text", self.tokens[start].text or ""))
        if len(self.word(start)) < 2 or not self.tokens[start].word.isupper():
            start = at + len(TEXT_INTRODUCERS.at(self.words, at).split())
        if start == at or not self.done or any(token.text is not None for token in self.tokens[start:]):
            return None
        capitals = [token.word.isupper() for token in self.tokens]  # "OPEN in a window"
        shouted = any(capitals[start : start + 1])
        end = self.end(start, lambda place: capitals[place] if shouted else self.word(place) not in AFTER_TEXT)
        text = " ".join(token.word for token in self.tokens[start:end])
        return self.detached(at, end - at, Attribute("text", text)) if text else None

    # -- phrases that describe the image, or nothing

    def filler(self, at: int) -> Match:
        """Phrases that say nothing: `in color`, `in the picture`, `for a photo`, `the color of`."""
        first, second, third = (self.word(at + n) for n in range(3))
        if first == "in" and second in {"color", "colour"}:
            return self.detached(at, 2)
        shown = (first in {"in", "on"} and second in lex.DEFINITE) or (first == "for" and second in DETERMINERS)
        named = first == "the" and second in {"color", "colour"} and third == "of"
        return self.detached(at, 3) if (shown and third in lex.IMAGE_NOUNS) or named else None

    def time_of_day(self, at: int) -> Match:
        """`at night`, `at sunset`; but "at night clubs" names objects."""
        start = at + 1 + (self.word(at + 1) in DETERMINERS)
        phrase = TIMES_OF_DAY.at(self.words, start) if self.word(at) in {"at", "during", "by", "in"} else ""
        end = start + len(phrase.split())
        if not phrase or not (self.ends_phrase(end) or self.word(end) == "with"):
            return None
        return self.detached(at, end - at, Attribute("lighting", phrase), of_image=True)

    # -- relations, negations, quotes

    def relation(self, at: int) -> Match:
        """A relation of several words, with a plain preposition in its place."""
        if self.word(at + 1) == "than" and (compared := lex.COMPARATIVES.get(self.word(at))):
            return self.replaced(at, 2, "near", relation=f"{compared} than")
        if self.word(at) == self.word(at + 2) == "as":
            return self.replaced(at, 3, "near", relation=" ".join(self.words[at : at + 3]))
        phrase = RELATIONS.at(self.words, at)
        if " " not in phrase:
            return None
        name = lex.RELATIONS[phrase]
        return self.replaced(at, len(phrase.split()), lex.STAND_INS.get(name, "near"), relation=name)

    def quoted(self, at: int) -> Match:
        """`the words "Happy Birthday"`, `the number 42`: the text is an object, and this is how it reads."""
        end = at + 1
        while self.is_quote(end) or (self.word(end) in {"and", ","} and self.is_quote(end + 1)):
            end += 1
        numbered = self.word(at) == "number" and self.word(at + 1)[:1].isdigit()
        end += numbered and end == at + 1
        if (self.word(at) not in lex.TEXT_NOUNS and not numbered) or end == at + 1:
            return None
        quotes = [token for token in self.tokens[at + 1 : end] if token.text or numbered]
        texts = tuple(Attribute("text", token.text or token.word) for token in quotes)
        return replace(self.tokens[at], word=A_TEXT, name="text", attributes=texts), end - at

    def negation(self, at: int) -> Match:
        """`not a`, `neither`, `no one`, `without any`, each with one plain word in its place."""
        word, following = self.word(at), self.word(at + 1)
        if word in {"nobody", "noone"} or (word, following) == ("no", "one"):
            return self.replaced(at, 1 + (word == "no"), "nobody", name="nobody")
        if word in {"neither", "nor"} and following in lex.DEFINITE:  # there is a cat, but what it does is denied
            return self.replaced(at, 1, "and") if word == "nor" else self.detached(at, 1, name="neither")
        if word in {"neither", "nor"}:
            return self.replaced(at, 2 if following in {"a", "an", "any", "of"} else 1, "no")
        if word not in {"not", "n't"}:
            return None
        describing = following in lex.KIND_OF_ATTRIBUTE or following in lex.NUMBERS or following in lex.ARTICLES
        if word == "not" and self.word(at - 1) in {",", ""} and is_noun(singular(following)) and not describing:
            return self.replaced(at, 1, "no")  # "apples, not oranges"
        if following in {"a", "an", "any", "even"}:
            return self.replaced(at, 3 if self.word(at + 2) == "single" else 2, "no")
        return None

    # -- quantities and adjectives

    def one(self, at: int) -> Match:
        """`one`, `another one`, `the other`, `the first`, `a white one`: an object of a kind named before."""
        word, following, third = (self.word(at + n) for n in range(3))
        number, nth = figure(word), word == "the" and (following == "other" or ordinal(following))
        groups = [token.count.low for token in self.done if token.count]
        several = number and 1 < number < max(groups, default=0)  # "four cups, two red and two blue"
        adjective = following in lex.KIND_OF_ATTRIBUTE and following not in lex.COLOUR_NOUNS
        several = several and adjective and self.ends_phrase(at + 2)
        if several or (word == "one" and self.one_stands_alone(at + 1)):
            size = 1
        elif number and following == "of" and third in {"them", "which", "whom"}:
            size = 3
        elif word == "another" and (following == "one" or self.one_stands_alone(at + 1)):
            size = 1 + (following == "one")
        elif nth and third == "one":
            size = 3
        elif nth and (self.one_stands_alone(at + 2) or third.startswith("from")):
            size = 2
        else:
            return None
        attributes = [Attribute("position", ordinal(each)) for each in self.words[at : at + size] if ordinal(each)]
        after = self.word(at + size)
        if after in lex.KIND_OF_ATTRIBUTE and (attribute := attribute_of(after)):
            attributes.append(attribute)  # "one black and one white"
            size += 1
        count = Count(number, number, word, explicit=True) if number else None
        return self.replaced(at, size, "one", one=True, attributes=tuple(attributes), count=count)

    def one_stands_alone(self, after: int) -> bool:
        """Whether no noun follows "one": it ends, or goes on with a verb, a preposition, or an adjective alone."""
        word = self.word(after)
        if word == "of" or (word == "or" and self.word(after + 1) in {*lex.NUMBERS, "more"}):
            return False
        if self.ends_phrase(after):
            return True
        return word in lex.KIND_OF_ATTRIBUTE and word not in lex.COLOUR_NOUNS and self.ends_phrase(after + 1)

    def described(self, at: int) -> Match:
        """`dark blue`, `polka dot`: an adjective of two words; `the tallest`, which taggers take for a noun."""
        word, following = self.word(at), self.word(at + 1)
        phrase, compared = COMPOUND_ATTRIBUTES.at(self.words, at), comparison(word) if self.is_opened() else None
        if word in lex.TONES and following in lex.COLORS:
            return self.replaced(at, 2, AN_ADJECTIVE, attributes=(Attribute("color", f"{word} {following}"),))
        if word in lex.COLORS and following in lex.COLOR_WORDS:
            size, attribute = 2, Attribute("color", word)
        elif compared and following != "than":
            size, attribute = 1, compared
        elif phrase:
            size, attribute = len(phrase.split()), Attribute(lex.COMPOUND_ATTRIBUTES[phrase], phrase)
        else:
            return None
        return None if self.ends_phrase(at + size) else self.replaced(at, size, AN_ADJECTIVE, attributes=(attribute,))

    def count(self, at: int) -> Match:
        """A quantity: not the year of "a 1957 car", and "over" only where it can't be a place."""
        count = quantity(self.words, at, self.settings)
        if count is None:
            return None
        word, last, size = self.word(at), self.done[-1] if self.done else None, len(count.words.split())
        after = at + size
        counts = any(singular(each) != each for each in self.words[after : after + 3])  # a plural follows
        if self.words[after - 1] in lex.PAIRS and (self.ends_phrase(after) or not counts):  # "a couple" is two people
            return (replace(self.tokens[at], count=Count(1, 1, word)), 1) if word in lex.ARTICLES else None
        if word in {"over", "under", "around", "about"} and last and not self.follows(lex.BEFORE_COMPARISONS):
            return None
        named = at > 1 and self.tokens[at - 1].word != self.words[at - 1]  # iPhone 15 Pro
        if self.word(after) in lex.UNITS or (word.isdigit() and (named or (count.low in YEARS and not counts))):
            return None
        plain = (size == 1 and not count.explicit) or word == "one"
        stand_in = "a" if count.exact == 1 else "many" if count.high is None else "two"
        return self.replaced(at, size, self.tokens[at].word if plain else stand_in, count=count)

    # -- names

    def proper_name(self, at: int) -> Match:
        """`Mount Fuji`, `the Statue of Liberty`: words with capitals, where these mean something; `body of water`."""
        name = " ".join(self.words[at : at + 3])
        if self.word(at + 1) == "of" and singular(self.word(at)) not in QUANTIFYING_NOUNS and is_noun(name):
            return self.replaced(at, 3, A_SUBSTANCE, name=name)
        if not self.is_capitalized(at):
            return None
        words = [token.word for token in self.tokens if token.word[0].isalpha()]
        if sum(word[0].isupper() for word in words) > 0.6 * len(words) and len(words) > 3:
            return None

        def goes_on(place: int) -> bool:
            particle = self.word(place) in lex.NAME_PARTICLES and self.is_capitalized(place + 1)
            return self.is_capitalized(place) or particle

        end = self.end(at, goes_on)
        return self.replaced(at, end - at, A_NAME, name=" ".join(self.words[at:end])) if end - at > 1 else None

    def is_capitalized(self, at: int) -> bool:
        """Whether a word begins like a name; the first of a sentence only if it can't be a common word there."""
        if at >= len(self.tokens) or self.is_quote(at):
            return False
        word = self.words[at]
        common = word in lex.SENTENCE_OPENERS or word in lex.KIND_OF_ATTRIBUTE
        opens = at == 0 and common and word not in lex.NAME_OPENERS  # but New York
        return self.tokens[at].word[0].isupper() and not opens and word not in lex.NEVER_NAMES

    def compound(self, at: int) -> Match:
        """`stop sign`, `polar bear`: a known noun of several words, which the parser may tear apart."""
        first = self.word(at)
        verbal = first.endswith(("ing", "ed")) and not self.is_opened()  # "man riding horse"
        plain = lex.kind_of(first) in {None, "style", "shape"} or first in lex.MATERIAL_NOUNS  # no color
        may_start = first not in lex.RELATIONS and not verbal and plain
        for size in (3, 2):
            words = self.words[at : at + size]
            if len(words) == size and "of" not in words:
                forms = {" ".join(words), " ".join([*words[:-1], singular(words[-1])])}
                if forms & lex.COMPOUNDS or (may_start and any(map(is_noun, forms))):
                    name = " ".join(words).replace(" '", "'")  # Rubik's cube
                    return self.replaced(at, size, self.tokens[at + size - 1].word, name=name)
        return None
