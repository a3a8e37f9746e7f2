"""The shortest answers that still show a difference: words are left out for as long as it stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onprompt.illusion.audit.scorings import Told
from onprompt.illusion.audit.test_answers import Case

Tell = Callable[[Sequence[Case]], Sequence[Told]]
WORD = re.compile(r"\s*\S+|\s+$")
TRIED = 6  # of a family's cases: what is short to begin with ends shortest
NATURAL = 50  # characters of an answer that is short enough as it is
PIECES = 64  # of an answer, at most, of which each is left out in turn
ROUNDS = 60


@dataclass(slots=True)
class Cutting:
    """A case on its way: stretches of `size` words are left out next."""

    told: Told
    words: list[str]
    size: int

    def shorter(self) -> list[Case]:
        """The case without one stretch, for each stretch."""
        starts = range(0, len(self.words), self.size)
        return [self.told.case._replace(answer="".join(self.without(start))) for start in starts]

    def without(self, start: int) -> list[str]:
        """The words without a stretch; what is then the first begins without a space."""
        left = self.words[:start] + self.words[start + self.size :]
        return [left[0].lstrip(" "), *left[1:]] if left else []

    def take(self, tried: Sequence[Told]) -> None:
        """Go on with the first that shows the same difference, or else with shorter stretches."""
        for place, told in enumerate(tried):
            if told.differs and (told.mine, told.theirs) == (self.told.mine, self.told.theirs):
                self.words = self.without(place * self.size)
                self.told, self.size = told, max(1, min(self.size, len(self.words) // 2))
                return
        self.size = 0 if len(self.words) > PIECES * self.size else self.size // 2


def shortest(families: Sequence[Sequence[Told]], tell: Tell) -> list[Told | None]:
    """For each family of differing cases the shortest that differs in the same way; all are cut at the same time."""
    started = [[begun(each) for each in sorted(family, key=length)[:TRIED]] for family in families]
    # What ends the function's process would do so over and over, so it stays as it is.
    going = [each for family in started for each in family if not each.told.theirs.trouble]
    for _ in range(ROUNDS):
        going = [each for each in going if each.size and len(each.told.case.answer) > NATURAL]
        if not going:
            break
        tried = [each.shorter() for each in going]
        told = iter(tell([case for cases in tried for case in cases]))
        for each, cases in zip(going, tried, strict=True):
            each.take([next(told) for _ in cases])
    return [min((each.told for each in family), key=length, default=None) for family in started]


def begun(told: Told) -> Cutting:
    """A case before anything is left out."""
    words = WORD.findall(told.case.answer)
    return Cutting(told, words, len(words) // 2)


def length(told: Told) -> tuple[int, int]:
    """Short answers first, then short labels."""
    return len(told.case.answer), len(told.case.shape) + len(told.case.scene)
