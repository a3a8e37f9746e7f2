"""What the matcher guesses: how likely a phrase is true of the picture, and how well the picture fits as a whole.

A guess stands in where nothing else can check a claim, helps a weak sighting, and is always marked as a guess. The
guess at the whole never enters the seed's grade; it has a weight in `value`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from onprompt.evidence.whole import SURELY, measured
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Scene, Thing, Trait

SOURCE = "matcher"
WHOLE, ESTIMATE = "whole", "estimate"
NOBODY = -1  # the place of a check that is about no object of the prompt
NEAREST = 0.02  # how near to impossible or certain a chance is taken to be at most
# What the prompt may say of the picture that is no claim about what it shows.
NOT_SHOWN = frozenset({"parameter", "quality"})
# What the matcher has no eye for: numbers, letters, sizes, and where things are to each other.
NOT_GUESSED = frozenset({"count", "text", "size", "position", "shape"})
PLACES = ("left of", "right of", "above", "below", "in front of", "behind", "between", "facing")
Guess = Callable[[str], float | None]  # how likely a phrase is true of the picture; None where nobody guesses


def nobody(_: str) -> None:
    """Where there is no matcher, or it does not know the language."""


def log_odds(chance: float) -> float:
    """0 for even chances."""
    bounded = min(max(chance, NEAREST), 1 - NEAREST)
    return math.log(bounded / (1 - bounded))


def likely(seen: float | None, guess: float | None, settings: Settings) -> float | None:
    """How likely a thing is there, by a detector (None: it does not know the name) and by the matcher's guess.

    Their log-odds are added with fitted weights. A guess never makes a sure sighting less sure.
    """
    if guess is None:
        return seen
    if seen is None:
        return round(chance_of(log_odds(guess) + settings.guess_shift), 4)
    odds = settings.fuse_detector * log_odds(seen) + settings.fuse_matcher * log_odds(guess) + settings.fuse_shift
    return max(seen, round(chance_of(odds), 4)) if seen >= settings.low_confidence else round(chance_of(odds), 4)


def chance_of(odds: float) -> float:
    """The chance that log-odds stand for."""
    return 1 / (1 + math.exp(-odds))


def phrase_of(check: Check, thing: Thing) -> str:
    """A claim about an object in words that may stand alone; empty where the matcher could not tell."""
    if check.kind in NOT_GUESSED or check.kind.startswith("not ") or check.asked.startswith(PLACES):
        return ""
    return check.about(thing.canonical)


def guessed(check: Check, thing: Thing, guess: Guess, settings: Settings) -> Check:
    """A claim about an object that could not be checked, by its looks. A guess may speak for it, never against it."""
    phrase = phrase_of(check, thing) if check.outcome is Outcome.UNVERIFIABLE else ""
    chance = likely(None, guess(phrase), settings) if phrase else None
    if chance is None or chance < settings.low_confidence:
        return check
    return replace(check, found=looks(chance), outcome=Outcome.MATCHED, score=1.0, confidence=chance, source=SOURCE)


def contested(check: Check, thing: Thing, guess: Guess, settings: Settings) -> Check:
    """A claim that was measured to be wrong and looks right: measures that disagree are of low confidence.

    Colours are measured far better than they are guessed.
    """
    phrase = phrase_of(check, thing) if check.outcome is Outcome.MISMATCH and check.kind != "color" else ""
    chance = likely(None, guess(phrase), settings) if phrase else None
    if chance is None or chance < SURELY:
        return check
    found = f"{check.found}, but {looks(chance)}"
    return replace(check, found=found, outcome=Outcome.LOW_CONFIDENCE, confidence=1 - chance)


def by_looks(check: Check, chance: float, settings: Settings) -> Check:
    """An object that nobody located and that is this likely there, by the thresholds that sightings have."""
    check = replace(check, source=SOURCE, found=looks(chance), confidence=chance, score=1.0)
    if chance < settings.missing_below:
        return replace(check, outcome=Outcome.MISSING, score=0.0, confidence=round(1 - chance, 4))
    return replace(check, outcome=Outcome.MATCHED if chance >= settings.low_confidence else Outcome.LOW_CONFIDENCE)


def looks(chance: float) -> str:
    """A guess in words, and that it is one."""
    return f"{'by its looks yes' if chance >= 0.5 else 'by its looks hardly'} ({chance:.2f}, a guess)"


def whole_check(prompt: str, chance: float) -> Check:
    """The image as a whole: how likely the prompt describes it, and not another one."""
    return beside(WHOLE, prompt, f"the image as a whole fits the prompt: {chance:.2f}", chance)


def of_the_picture(scene: Scene, whole: Sequence[Trait], guess: Guess) -> tuple[Check, ...]:
    """A guess at each thing that the prompt says of the picture as a whole and that nothing measures."""
    asked = (each for each in scene.properties if each.kind not in NOT_SHOWN and measured(each, whole) is None)
    chances = [(value, guess(value)) for value in dict.fromkeys(each.value for each in asked)]
    return tuple(
        beside(ESTIMATE, value, f"fits the image or a part of it: {chance:.2f}", chance)
        for value, chance in chances
        if chance is not None
    )


def beside(kind: str, asked: str, found: str, chance: float) -> Check:
    """A claim about the picture as a whole that only the matcher has an opinion on: always of low confidence."""
    return Check(kind, asked, found, Outcome.LOW_CONFIDENCE, chance, max(chance, 1 - chance), SOURCE, NOBODY)


def disagrees(evidence: float, whole: float | None, settings: Settings) -> bool:
    """Whether the guess at the whole is far from the evidence."""
    return whole is not None and abs(whole - evidence) >= settings.matcher_disagrees
