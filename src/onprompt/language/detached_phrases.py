"""Phrases that the dependency parser need not see: said of the object just named, or of the image as a whole."""

from collections.abc import Container, Sequence
from typing import Any

from onprompt.language import lexicon as lex
from onprompt.language.credits import DETERMINERS, STYLE_INTRODUCERS, is_artist, is_name, split_names
from onprompt.language.ontology import broader, canonical, singular
from onprompt.language.segmentation import Token, is_ing_verb, lower_words
from onprompt.language.spelling import verb_lemmas
from onprompt.language.wordnet import is_noun
from onprompt.settings import Settings
from onprompt.types import Attribute

POSITIONS, RELATIONS = lex.Phrases(lex.POSITIONS), lex.Phrases(lex.RELATIONS)
FACING, STATE_PHRASES = lex.Phrases(lex.FACING), lex.Phrases(lex.STATE_PHRASES)
TIMES_OF_DAY = lex.Phrases(lex.TIMES_OF_DAY)
QUOTE_INTRODUCERS, TEXT_INTRODUCERS = lex.Phrases(lex.QUOTE_INTRODUCERS), lex.Phrases(lex.TEXT_INTRODUCERS)
DIRECTIONS = lex.Phrases(lex.DIRECTIONS)
SUBSTANCES = {"made of": "material", "in the shape of": "shape"}
PARTICIPLES = ("ed", "wn", "en")
AFTER_ARTIST = frozenset((",", "and", "in", "at", "on", "with", "for", "from", "of"))
MAX_SUBSTANCE_WORDS, MAX_CONTENT_WORDS = 5, 4

# Plain words that the dependency parser reads in place of a phrase.
AN_ADVERB, AN_ADJECTIVE, A_THING = "outside", "old", "bottle"

Match = tuple[Token, int] | None  # a token, and how many it replaces


class DetachedPhrases:
    """A sentence, and the tokens that have been read so far."""

    def __init__(self, tokens: Sequence[Token], settings: Settings) -> None:
        self.tokens, self.settings = tokens, settings
        self.words = lower_words(tokens)
        self.done: list[Token] = []

    # -- the words around

    def word(self, at: int) -> str:
        """The word at a place, or nothing beyond the ends."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def follows(self, words: Container[str]) -> bool:
        """Whether the token before is one of these words."""
        return bool(self.done) and self.done[-1].lower in words

    def is_quote(self, at: int) -> bool:
        """Whether a token is quoted text."""
        return at < len(self.tokens) and self.tokens[at].text is not None

    def is_shouted(self, at: int) -> bool:
        """Whether a word is in capitals."""
        return bool(self.word(at)) and len(self.words[at]) > 1 and self.tokens[at].word.isupper()

    def ends_phrase(self, at: int) -> bool:
        """Whether no noun follows here: the sentence ends, pauses, or goes on with a verb or preposition."""
        word = self.word(at)
        return (
            not word
            or word in lex.PHRASE_ENDS
            or word in lex.RELATIONS
            or word in lex.BE
            or is_ing_verb(word)
            or (word.endswith("ed") and word not in lex.COLOURS)
            or bool(POSITIONS.at(self.words, at))
        )

    # -- matches

    def replaced(self, at: int, size: int, word: str, **meaning: Any) -> tuple[Token, int]:
        """Several tokens as one, with a word for the dependency parser and what they mean."""
        taken = self.tokens[at : at + size]
        misspelt = any(token.misspelt for token in taken)
        return Token(word, taken[0].start, taken[-1].end, misspelt=misspelt, **meaning), size

    def adjective(self, at: int, size: int, *attributes: Attribute) -> tuple[Token, int]:
        """A phrase that describes the noun after it."""
        return self.replaced(at, size, AN_ADJECTIVE, attributes=attributes)

    def detached(self, at: int, size: int, *attributes: Attribute, of_image: bool = False) -> tuple[Token, int]:
        """A phrase that describes the object before it, or the image."""
        return self.replaced(at, size, AN_ADVERB, attributes=attributes, detached=True, of_image=of_image)

    def predicate(self, at: int, size: int, *attributes: Attribute) -> tuple[Token, int]:
        """A phrase that is an adjective after "is", and detached elsewhere."""
        detached = not self.follows(lex.BE)
        return self.replaced(at, size, AN_ADJECTIVE, attributes=attributes, detached=detached)

    # -- phrases that describe the object just named

    def direction(self, at: int) -> Match:
        """`straight down` in "going straight down": where a motion goes, not "down the road", and no position."""
        phrase = DIRECTIONS.at(self.words, at)
        size = len(phrase.split())
        moves = bool(self.done) and any(verb in lex.MOTION_VERBS for verb in verb_lemmas(self.done[-1].lower))
        if not phrase or not moves or not self.ends_phrase(at + size):
            return None
        return self.replaced(at, size, "away", attributes=(Attribute("direction", phrase),))

    def position(self, at: int) -> Match:
        """`on the left`, also `on the left of the image`; but not `on the left of the dog`."""
        phrase = POSITIONS.at(self.words, at)
        if not phrase:
            return None
        size = len(phrase.split())
        if self.word(at + size) == "of":
            if self.word(at + size + 1) not in lex.DEFINITE or self.word(at + size + 2) not in lex.CANVAS_NOUNS:
                return None
            size += 3
        ends = self.ends_phrase(at + size)
        if phrase in lex.AMBIGUOUS_POSITIONS and not ends:
            return None
        attribute = Attribute(lex.POSITION_KINDS.get(phrase, "position"), lex.POSITIONS[phrase])
        return self.detached(at, size, attribute)

    def pose(self, at: int) -> Match:
        """`bent forward` in "knees bent forward", "arms are slightly bent forward": how a part of the body is held."""
        before = lower_words(self.done[-2:])
        if before and before[-1] in lex.BE:
            del before[-1]
        elif len(before) > 1:
            del before[0]
        if not before or before[0] not in lex.POSE_PARTS or self.word(at) == "and":
            return None
        end = at
        while self.word(end) in lex.POSE_STATES | lex.POSE_ADVERBS | {"and"}:
            end += 1
        while end > at and self.word(end - 1) not in lex.POSE_STATES:
            end -= 1
        return self.predicate(at, end - at, Attribute("state", " ".join(self.words[at:end]))) if end > at else None

    def substance(self, at: int) -> Match:
        """`made of wood and glass`: what an object is made of is no object."""
        phrase = RELATIONS.at(self.words, at)
        kind = SUBSTANCES.get(lex.RELATIONS.get(phrase, ""))
        if kind is None or any(token.text is not None for token in self.tokens[at : at + 7]):
            return None
        start = end = at + len(phrase.split())
        while self.word(end) and end - start < MAX_SUBSTANCE_WORDS and (end == start or self.is_substance(end)):
            end += 1
        words = [word for word in self.words[start:end] if word not in DETERMINERS | {"and"}]
        if not words:
            return None
        values = [lex.MATERIALS.get(word, word) for word in words]
        if not all(word in lex.MATERIALS for word in words):
            values = [" ".join(values)]
        return self.predicate(at, end - at, *(Attribute(kind, value) for value in values))

    def is_substance(self, at: int) -> bool:
        """Whether the name of a substance goes on: with another word, or with "and" and another material."""
        return self.word(at + 1) in lex.MATERIALS if self.word(at) == "and" else not self.ends_phrase(at)

    def vessel(self, at: int) -> Match:
        """`cup of coffee`: a drink or a soup takes the shape of its vessel and is no object of its own."""
        word, start = self.word(at), at + 2
        name = lex.COUNTED_NAMES.get(canonical(word)) or singular(word)
        if name not in lex.CONTAINERS or self.word(at + 1) != "of" or self.word(start) in DETERMINERS:
            return None
        end = start
        while not self.ends_phrase(end) and end - start < MAX_CONTENT_WORDS:
            end += 1
        while end > start and not is_shapeless(self.word(end - 1)):
            end -= 1
        if end == start or is_noun(self.word(end)):  # "a plate of coffee cake" is left to the dependency parser
            return None
        content = Attribute("content", " ".join(self.words[start:end]))
        stand_in = A_THING + "s" * (name != word)  # since it may take "can" for a verb, and "glasses" for eyeglasses
        return self.replaced(at, end - at, stand_in, name=name, attributes=(content,))

    def dressed(self, at: int) -> Match:
        """`in red`, `dressed in black and gold`, `painted in pale yellow`, `wearing white`."""
        lead = next((n for n in (2, 1) if " ".join(self.words[at : at + n]) in lex.BEFORE_COLOURS), 0)
        end, colours = at + lead, list[str]()
        while lead:
            tone = self.word(end) in lex.TONES and self.word(end + 1) in lex.COLOURS
            if self.word(end + tone) not in lex.COLOURS:
                break
            colours.append(" ".join(self.words[end : end + 1 + tone]))
            end += 1 + tone
            if self.word(end) in {"and", ","} and self.word(end + 1) in lex.COLOURS | lex.TONES:
                end += 1
        if not colours or not self.ends_phrase(end):
            return None
        style = " and ".join(colours)
        if style in lex.IMAGE_PROPERTIES and self.word(at) == "in" and not self.word(end):  # in black and white
            return self.detached(at, end - at, Attribute(lex.IMAGE_PROPERTIES[style], style), of_image=True)
        return self.predicate(at, end - at, *(Attribute("color", colour) for colour in colours))

    def state(self, at: int) -> Match:
        """`on fire`, `in motion`, `looking at the camera`."""
        for phrases, kind in ((FACING, "orientation"), (STATE_PHRASES, "state")):
            if phrase := phrases.at(self.words, at):
                return self.predicate(at, len(phrase.split()), Attribute(kind, phrase))
        return None

    def filler(self, at: int) -> Match:
        """Phrases that say nothing: `in color`, `in the picture`, `for a photo`, `the color of`."""
        first, second, third = (self.word(at + n) for n in range(3))
        if first == "in" and second in {"color", "colour"}:
            return self.detached(at, 2)
        shown = third in lex.IMAGE_NOUNS and (
            (first in {"in", "on"} and second in lex.DEFINITE) or (first == "for" and second in DETERMINERS)
        )
        named = first == "the" and second in {"color", "colour"} and third == "of"
        return self.detached(at, 3) if shown or named else None

    def text(self, at: int) -> Match:
        """`titled "Dune"`, `a sign that says keep out`: text on the object just named."""
        start = at + len(QUOTE_INTRODUCERS.at(self.words, at).split())
        if start > at and self.done and not self.follows(lex.NEGATIONS) and self.is_quote(start):
            return self.detached(at, start + 1 - at, Attribute("text", self.tokens[start].text or ""))
        if not self.is_shouted(start):
            start = at + len(TEXT_INTRODUCERS.at(self.words, at).split())
        quotes = any(map(self.is_quote, range(start, len(self.tokens))))
        if start == at or not self.done or not self.word(start) or quotes:
            return None
        end, shouted = start, self.tokens[start].word.isupper()
        while self.word(end) and not self.ends_text(end, shouted):
            end += 1
        text = " ".join(token.word for token in self.tokens[start:end])
        return self.detached(at, end - at, Attribute("text", text)) if text else None

    def ends_text(self, at: int, shouted: bool) -> bool:
        """Whether a text ends here: at a comma, a place, "written", or where the capitals end that it began with."""
        placed = self.word(at) in lex.RELATIONS and self.word(at + 1) in DETERMINERS | {"it", "top", "front"}
        lowered = shouted and not self.tokens[at].word.isupper() and self.word(at).isalpha()
        return self.word(at) in {",", *lex.WRITING_PARTICIPLES} or placed or lowered

    # -- phrases that describe the image

    def time_of_day(self, at: int) -> Match:
        """`at night`, `at sunset`; but "at night clubs" names objects."""
        if self.word(at) not in {"at", "during"}:
            return None
        start = at + 1 + (self.word(at + 1) in DETERMINERS)
        phrase = TIMES_OF_DAY.at(self.words, start)
        end = start + len(phrase.split())
        if not phrase or not (self.ends_phrase(end) or self.word(end) == "with"):
            return None
        return self.detached(at, end - at, Attribute("lighting", phrase), of_image=True)

    def artist(self, at: int) -> Match:
        """`by Claude Monet, Artgerm and loish`: capitalized names, known artists', or such as are no English words."""
        made = self.word(at) in lex.AUTHORSHIP and self.word(at).endswith(PARTICIPLES)  # "drawn by"
        start = at + 1 + made
        if self.word(start - 1) != "by":
            return None
        end = self.name_end(start)
        words = self.words[start:end]
        capitals = all(token.word[0].isupper() for token in self.tokens[start:end])
        if not words or not (is_artist(words) or (len(words) > 1 and (capitals or is_name(words)))):
            return None
        end = self.more_names(end)
        artists = [Attribute("artist", name) for name in split_names(self.words[start:end])]
        return self.detached(at, end - at, *artists, of_image=True)

    def name_end(self, at: int) -> int:
        """Where a name ends that begins at a word."""
        while self.word(at) and self.word(at) not in AFTER_ARTIST:
            at += 1
        return at

    def more_names(self, end: int) -> int:
        """Where a list of names ends that goes on after the first."""
        start = end
        while self.word(start) in {",", "and"}:
            start += 1
        after = self.name_end(start)
        goes_on = end < start < after and is_name(self.words[start:after])
        return self.more_names(after) if goes_on else end

    def style(self, at: int) -> Match:
        """`in the style of Van Gogh`, up to the next comma that no further name follows."""
        phrase = STYLE_INTRODUCERS.at(self.words, at)
        if not phrase:
            return None
        end = self.more_names(self.pause(at))
        return self.detached(at, end - at, Attribute("style", " ".join(self.words[at:end])), of_image=True)

    def pause(self, at: int) -> int:
        """Where the next comma is, or the end."""
        return self.words.index(",", at) if "," in self.words[at:] else len(self.words)


def is_shapeless(noun: str) -> bool:
    """Whether a noun names what can only be seen in a vessel: coffee, soup."""
    return noun in lex.SHAPELESS or not lex.SHAPELESS_KINDS.isdisjoint(broader(noun))
