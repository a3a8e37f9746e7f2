"""The shortest answers that still show a difference: pieces are cut out for as long as it stays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from onprompt.audit.battery import Case

Signs = Callable[[Sequence[Case]], Sequence[Hashable]]  # what both sides make of each case
TRIED = 6  # of a family's cases: what is short to begin with ends shortest
ROUNDS = 60


@dataclass(slots=True)
class Cutting:
    """A case on its way: pieces of `size` characters are tried next."""

    case: Case
    sign: Hashable
    size: int

    def shorter(self) -> list[Case]:
        """The case without one piece, for each piece."""
        answer, size = self.case.answer, self.size
        return [
            self.case._replace(answer=answer[:start] + answer[start + size :]) for start in range(0, len(answer), size)
        ]


def shortest(families: Sequence[Sequence[Case]], signs: Signs) -> list[Case | None]:
    """For each family of differing cases the shortest that differs in the same way; all are cut at the same time."""
    started = [
        [Cutting(case, None, max(1, len(case.answer) // 2)) for case in sorted(family, key=length)[:TRIED]]
        for family in families
    ]
    every = [each for family in started for each in family]
    for each, sign in zip(every, signs([each.case for each in every]), strict=True):
        each.sign = sign
    going = [each for each in every if each.case.answer]
    for _ in range(ROUNDS):
        if not going:
            break
        cut(going, signs)
        going = [each for each in going if each.size and each.case.answer]
    return [min((each.case for each in family), key=length, default=None) for family in started]


def cut(going: Sequence[Cutting], signs: Signs) -> None:
    """One round: the first shorter case that shows the same takes the place of each, or else pieces get smaller."""
    tried = [each.shorter() for each in going]
    found = iter(signs([case for family in tried for case in family]))
    for each, family in zip(going, tried, strict=True):
        same = [case for case, sign in zip(family, [next(found) for _ in family], strict=True) if sign == each.sign]
        if same:
            each.case = same[0]
            each.size = min(each.size, max(1, len(same[0].answer) // 2))
        else:
            each.size //= 2


def length(case: Case) -> tuple[int, int]:
    """Short answers first, then short labels."""
    return len(case.answer), len(case.shape) + len(case.scene)
