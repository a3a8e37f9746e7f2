"""Phrases that the tree need not see: said of the thing just named, or of the picture as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language import lexicon_pictures as pics
from onprompt.language.phrases import Phrases, phrase_at
from onprompt.language.units import Unit
from onprompt.settings import Settings
from onprompt.types import Attribute

BEARING, CONDITIONS, FACING = Phrases(links.BEARING), Phrases(links.CONDITIONS), Phrases(links.FACING)
IN_STYLE, POSITIONS, RELATIONS = Phrases(pics.IN_STYLE), Phrases(links.POSITIONS), Phrases(links.RELATIONS)
SAYS, SEEN_FROM, TIMES = Phrases(links.SAYS), Phrases(pics.SEEN_FROM), Phrases(pics.TIMES)
Found = tuple[Unit, int] | None  # a unit and how many words it takes


class Asides:
    """A sentence, and what has been gathered of it so far."""

    def __init__(self, units: Sequence[Unit], settings: Settings) -> None:
        self.units, self.settings = units, settings
        self.words = [unit.lower for unit in units]
        self.done: list[Unit] = []

    # -- the words around

    def word(self, at: int) -> str:
        """The word at a place, or none."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def joined(self, at: int, size: int, word: str) -> Unit:
        """Several words as one unit."""
        taken = self.units[at : at + size]
        return Unit(word, taken[0].start, taken[-1].end, misspelt=any(unit.misspelt for unit in taken))

    def ends_phrase(self, at: int) -> bool:
        """Whether no noun follows here: the sentence ends, pauses, or goes on with a verb or preposition."""
        word = self.word(at)
        return (
            not word
            or word in links.AFTER_PHRASE
            or word in links.RELATIONS
            or word in links.BE
            or (word.endswith("ing") and word not in links.ING_NOUNS)
            or (word.endswith("ed") and word not in lex.COLOURS)
            or bool(phrase_at(self.words, at, POSITIONS))
        )

    # -- asides: said of the thing just named

    def place(self, at: int) -> Found:
        """`on the left`, also `on the left of the image`; but not `on the left of the dog`."""
        phrase = phrase_at(self.words, at, POSITIONS)
        if not phrase:
            return None
        size = len(phrase.split())
        if self.word(at + size) == "of":
            if self.word(at + size + 1) not in lex.DEFINITE or self.word(at + size + 2) not in links.PICTURES:
                return None
            size += 3
        if phrase in links.ALSO_THINGS and not self.ends_phrase(at + size):
            return None
        found = Attribute(links.NOT_PLACES.get(phrase, "position"), links.POSITIONS[phrase])
        if found.kind == "orientation" and not self.ends_phrase(at + size):
            return replace(self.joined(at, size, "old"), attributes=(found,)), size
        return replace(self.joined(at, size, "outside"), attributes=(found,), aside=True), size

    def pose(self, at: int) -> Found:
        """`bent forward` in "knees bent forward", "arms are slightly bent forward": how a part of the body is held."""
        before = [unit.lower for unit in self.done[-2:]]
        held = (before and before[-1] in links.POSES) or (
            len(before) > 1 and before[0] in links.POSES and before[1] in links.BE
        )
        end = at
        while held and self.word(end) in links.HELD | links.HOW | {"and"}:
            end += 1
        while end > at and self.word(end - 1) not in links.HELD:
            end -= 1
        if end == at or (self.word(at) == "and"):
            return None
        return self.said(at, end - at, [Attribute("state", " ".join(self.words[at:end]))])

    def stuff(self, at: int) -> Found:
        """`made of wood and glass`: the stuff is no thing of its own."""
        made = phrase_at(self.words, at, RELATIONS)
        kind = {"made of": "material", "in the shape of": "shape"}.get(links.RELATIONS.get(made, ""))
        if kind is None or any(unit.text is not None for unit in self.units[at : at + 7]):
            return None
        start = end = at + len(made.split())
        values: list[str] = []
        while self.word(end) and (end == start or self.goes_on(end)) and end - start < 5:
            if self.word(end) == "and":
                if self.word(end + 1) not in lex.MATERIALS:
                    break
            elif self.word(end) not in lex.ARTICLES | lex.DEFINITE:
                values.append(self.word(end))
            end += 1
        if not values:
            return None
        stuffs = [lex.MATERIALS.get(value, value) for value in values]
        named = stuffs if all(value in lex.MATERIALS for value in values) else [" ".join(stuffs)]
        return self.said(at, end - at, [Attribute(kind, value) for value in named])

    def goes_on(self, at: int) -> bool:
        """Whether the naming of a stuff goes on: with more of its words, or with "and" another stuff."""
        return self.word(at + 1) in lex.MATERIALS if self.word(at) == "and" else not self.ends_phrase(at)

    def dressed(self, at: int) -> Found:
        """`in red`, `dressed in black and gold`, `painted in pale yellow`, `wearing white`."""
        lead = next((n for n in (2, 1) if " ".join(self.words[at : at + n]) in links.DRESSED), 0)
        if not lead:
            return None
        end, colours = at + lead, []
        while True:
            tone = self.word(end) in lex.TONES and self.word(end + 1) in lex.COLOURS
            colour = " ".join(self.words[end : end + 1 + tone])
            if self.word(end + tone) not in lex.COLOURS:
                break
            colours.append(colour)
            end += 1 + tone
            if self.word(end) in {"and", ","} and self.word(end + 1) in lex.COLOURS | lex.TONES:
                end += 1
        if not colours or not self.ends_phrase(end):
            return None
        if colours == ["black", "white"] and self.word(at) == "in" and not self.word(end):
            return replace(
                self.joined(at, end - at, "outside"),
                attributes=(Attribute("style", "black and white"),),
                aside=True,
                whole=True,
            ), end - at
        return self.said(at, end - at, [Attribute("color", colour) for colour in colours])

    def condition(self, at: int) -> Found:
        """`on fire`, `in motion`; "in color" says nothing more than the colour before it."""
        if self.word(at) == "in" and self.word(at + 1) in {"color", "colour"}:
            return replace(self.joined(at, 2, "outside"), aside=True), 2
        if self.word(at) in {"in", "on"} and self.word(at + 1) in lex.DEFINITE and self.word(at + 2) in links.SHOWN:
            return replace(self.joined(at, 3, "outside"), aside=True), 3  # "no people in the picture"
        if (
            self.word(at) == "for"
            and self.word(at + 1) in lex.ARTICLES | lex.DEFINITE
            and self.word(at + 2) in links.SHOWN
        ):
            return replace(self.joined(at, 3, "outside"), aside=True), 3  # "posing for a picture"
        if self.word(at) == "the" and self.word(at + 1) in {"color", "colour"} and self.word(at + 2) == "of":
            return replace(self.joined(at, 3, "outside"), aside=True), 3
        if (
            self.word(at) == "can"
            and (not self.word(at + 1) or self.word(at + 1) in links.RELATIONS)
            and self.word(at + 1) != "of"
        ):
            return replace(self.joined(at, 1, "bottle"), name="can"), 1
        if facing := phrase_at(self.words, at, FACING):
            return self.said(at, len(facing.split()), [Attribute("orientation", facing)])
        phrase = phrase_at(self.words, at, CONDITIONS)
        return self.said(at, len(phrase.split()), [Attribute("state", phrase)]) if phrase else None

    def said(self, at: int, size: int, attributes: Sequence[Attribute]) -> Found:
        """After "is" an adjective, elsewhere an aside."""
        after_is = bool(self.done) and self.done[-1].lower in links.BE
        return replace(self.joined(at, size, "old"), attributes=tuple(attributes), aside=not after_is), size

    # -- asides: said of the picture

    def time(self, at: int) -> Found:
        """`at night`, `at sunset`: only what stands alone is light; "at night clubs" are things."""
        if self.word(at) not in {"at", "during", "in", "by"}:
            return None
        size = 2 if self.word(at + 1) not in lex.ARTICLES | lex.DEFINITE else 3
        phrase = phrase_at(self.words, at + size - 1, TIMES)
        end = at + size - 1 + len(phrase.split())
        if not phrase or not (self.ends_phrase(end) or self.word(end) == "with"):
            return None
        return self.about_picture(at, end - at, "lighting", phrase)

    def artist(self, at: int) -> Found:
        """`by Claude Monet`: a name, with a capital or of a painter we know, at the end of a piece."""
        if self.word(at) != "by":
            return None
        end = at + 1
        while self.word(end) and self.word(end) not in {",", "and", "in", "at", "on", "with", "for", "from", "of"}:
            end += 1
        name = " ".join(self.words[at + 1 : end])
        capital = all(unit.word[0].isupper() for unit in self.units[at + 1 : end]) and not self.done_verb()
        if not name or not (name in pics.ARTISTS or (capital and end - at > 2)):
            return None
        return self.about_picture(at, end - at, "artist", name)

    def done_verb(self) -> bool:
        """Whether the word before may be a deed done by somebody."""
        return (
            bool(self.done)
            and self.done[-1].lower.endswith(("ed", "wn", "en"))
            and self.done[-1].lower not in pics.MADE_BY
        )

    def style(self, at: int) -> Found:
        """`in the style of Van Gogh`, to the end of the piece; `seen from above`."""
        view = phrase_at(self.words, at, SEEN_FROM)
        if view and self.ends_phrase(at + len(view.split())):
            seen = view.removeprefix("seen ").removeprefix("viewed ")
            return self.about_picture(at, len(view.split()), "viewpoint", seen)
        phrase = phrase_at(self.words, at, IN_STYLE)
        if not phrase:
            return None
        end = at + len(phrase.split())
        while self.word(end) and self.word(end) != ",":
            end += 1
        return self.about_picture(at, end - at, "style", " ".join(self.words[at:end]))

    def about_picture(self, at: int, size: int, kind: str, value: str) -> Found:
        """Something said of the picture as a whole."""
        unit = self.joined(at, size, "outside")
        return replace(unit, attributes=(Attribute(kind, value),), aside=True, whole=True), size

    def said_text(self, at: int) -> Found:
        """`titled "Dune"`, `a sign that says keep out`: the words are told to the thing just named."""
        quoting = phrase_at(self.words, at, BEARING)
        end = start = at + len(quoting.split())
        if quoting and self.done and self.done[-1].lower not in links.NEGATIONS and self.is_quote(start):
            found = [Attribute("text", self.units[start].text or "")]
            return replace(
                self.joined(at, start + 1 - at, "outside"), attributes=tuple(found), aside=True
            ), start + 1 - at
        mark = phrase_at(self.words, at, SAYS)
        end = start = at + len(mark.split())
        if not mark or not self.done or not self.word(start) or any(map(self.is_quote, range(start, len(self.units)))):
            return None
        shouted = self.units[start].word.isupper()
        while self.word(end) and not self.ends_text(end, shouted):
            end += 1
        if end == start:
            return None
        spelled = " ".join(each.word for each in self.units[start:end])
        return replace(
            self.joined(at, end - at, "outside"), attributes=(Attribute("text", spelled),), aside=True
        ), end - at

    def ends_text(self, at: int, shouted: bool) -> bool:
        """Whether words to be read end here: at a pause, at a place, or where capitals end that they began with."""
        placed = self.word(at) in links.RELATIONS and self.word(at + 1) in {
            *lex.ARTICLES,
            *lex.DEFINITE,
            "it",
            "top",
            "front",
        }
        return (
            self.word(at) == ","
            or placed
            or (shouted and not self.units[at].word.isupper() and self.word(at).isalpha())
        )

    def is_quote(self, at: int) -> bool:
        """Whether quoted text stands here."""
        return at < len(self.units) and self.units[at].text is not None
