"""A run of words of an instruction."""

from __future__ import annotations

from dataclasses import dataclass

from onprompt.language.units import Unit

QUOTED = '"'  # stands for a quoted text


@dataclass(frozen=True, slots=True)
class Span:
    """Some words of an instruction."""

    instruction: str
    units: tuple[Unit, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Each word in lower case, spelling corrected, with a mark for quoted text."""
        return tuple(QUOTED if unit.text is not None else unit.lower for unit in self.units)

    @property
    def text(self) -> str:
        """The words as written."""
        return self.instruction[self.units[0].start : self.units[-1].end] if self.units else ""

    @property
    def line(self) -> str:
        """The words in lower case, joined by blanks."""
        return " ".join(self.words)

    @property
    def quoted(self) -> str:
        """The first quoted text, if any."""
        return next((unit.text for unit in self.units if unit.text is not None), "")

    def __len__(self) -> int:
        return len(self.units)

    def part(self, start: int, end: int | None = None) -> Span:
        """Some of the words, without commas at the ends."""
        units = list(self.units[start:end])
        while units and units[0].word == ",":
            del units[0]
        while units and units[-1].word == ",":
            del units[-1]
        return Span(self.instruction, tuple(units))

    def plus(self, other: Span) -> Span:
        """These words and others."""
        return Span(self.instruction, (*self.units, *other.units))

    def after(self, other: Span) -> Span:
        """The words that follow those of another span."""
        return Span(self.instruction, tuple(unit for unit in self.units if unit.start >= other.units[-1].end))

    def word_at(self, index: int) -> str:
        """A word, or nothing past the end."""
        return self.words[index] if index < len(self) else ""
