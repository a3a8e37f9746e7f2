"""What the matcher guesses: how well the image fits the prompt as a whole, and phrases that nothing else can check.

A guess never enters the seed's grade. It is shown as a guess, and has a weight in `value`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onprompt.evidence.explain import measured
from onprompt.evidence.grade import Grade
from onprompt.evidence.match import Match
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Scene, Trait

SOURCE = "matcher"
WHOLE, ESTIMATE = "whole", "estimate"
NOBODY = -1  # the place of a check that is about no object of the prompt
# What the prompt may say of the picture that is no claim about what it shows.
NOT_SHOWN = frozenset({"parameter", "quality"})
Chances = Callable[[Sequence[str]], list[float]]


def guess(kind: str, asked: str, found: str, chance: float, index: int = NOBODY) -> Check:
    """A claim that only the matcher has an opinion on: always of low confidence."""
    return Check(kind, asked, found, Outcome.LOW_CONFIDENCE, chance, max(chance, 1 - chance), SOURCE, index)


def whole_check(prompt: str, chance: float) -> Check:
    """The image as a whole: how likely the prompt describes it, and not another one."""
    return guess(WHOLE, prompt, f"the image as a whole fits the prompt: {chance:.2f}", chance)


def estimates(scene: Scene, matches: Sequence[Match], whole: Sequence[Trait], chances: Chances) -> tuple[Check, ...]:
    """A guess for each claim that could not be checked; what was measured of the whole picture needs none."""
    claims = [
        (index, phrase)
        for index, match in enumerate(matches)
        for check in match.checks
        if check.outcome is Outcome.UNVERIFIABLE and (phrase := phrase_of(check, match))
    ]
    open_ones = (each for each in scene.properties if each.kind not in NOT_SHOWN and measured(each, whole) is None)
    claims += [(NOBODY, each.value) for each in open_ones]
    claims = list(dict.fromkeys(claims))
    guesses = chances([phrase for _, phrase in claims])
    return tuple(
        guess(ESTIMATE, phrase, f"fits the image or a part of it: {chance:.2f}", chance, index)
        for (index, phrase), chance in zip(claims, guesses, strict=True)
    )


def phrase_of(check: Check, match: Match) -> str:
    """A claim that could not be checked, in words that may stand alone; an absence or a number has none."""
    thing = match.thing
    if thing.absent or check.kind in ("count", "text") or check.asked.startswith("not "):
        return ""
    if check.kind == "object":
        return thing.phrase
    if check.kind in ("relation", "action"):
        return f"{thing.canonical} {check.asked}"
    unknown = match.outcome is Outcome.UNVERIFIABLE  # then its whole phrase is guessed at, attributes and all
    return "" if unknown else f"{check.asked} {thing.canonical}"


def blended(graded: Grade, whole: float | None, settings: Settings) -> float:
    """`value`: the evidence as far as it reaches, and for the rest the matcher's guess at the whole."""
    if whole is None:
        return graded.value
    if not graded.verifiable:
        return whole  # the evidence is a mere prior
    evidence = (1 - settings.matcher_weight) * graded.coverage
    return evidence * graded.value + (1 - evidence) * whole


def disagrees(graded: Grade, whole: float | None, settings: Settings) -> bool:
    """Whether the guess at the whole is far from the evidence."""
    return whole is not None and graded.verifiable and abs(whole - graded.value) >= settings.matcher_disagrees
