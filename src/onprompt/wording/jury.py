"""What the members of a jury say, and what contradicts them, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from onprompt.types import Box, Check, Voice
from onprompt.wording.claims import sentence

LISTED = 8  # places that are listed
NOTHING_CHECKED = "nothing could be checked"  # why the evidence, or a model asked by claim, has no say in a jury


def voice_words(voice: Voice) -> str:
    """`openai/gpt-5.2: score 3, value 0.75, weight 0.28. The image …`; or why there is no score."""
    if voice.value is None:
        return f"{voice.name}: no score: {voice.error}"
    if voice.first:
        which = " (second answer, which counts)"
    else:
        which = f" (first answer, which counts; no second: {voice.error})" if voice.error else ""
    flags = f" [{' '.join(voice.flags)}]" if voice.flags else ""
    return f"{voice.name}: {score_words(voice)}, weight {voice.weight:.2f}{which}. {voice.summary}{flags}"


def score_words(voice: Voice) -> str:
    """`score 3, value 0.75`."""
    scores = ", ".join(f"{name} {factor.score}" for name, factor in voice.factors.items())
    return f"{scores}, value {voice.value or 0.0:.2f}"


def disputes(voice: Voice, checks: Sequence[Check]) -> Iterator[tuple[str, Check | None]]:
    """What contradicts a voice, and what it said before it was asked to look again, line by line."""
    first = voice.first
    if first:
        yield f"first answer: {score_words(first)}. {first.summary}", None
        yield from ((f"contradicted: {located(checks[place])}", checks[place]) for place in first.disputed)
    word = "still contradicted" if first else "contradicted"
    yield from ((f"{word}: {located(checks[place])}", checks[place]) for place in voice.disputed)


def objections(checks: Iterable[Check]) -> str:
    """The checks that contradict a model, as a list for it."""
    return "\n".join(f"- {located(check)}" for check in checks)


def located(check: Check) -> str:
    """A check in one sentence, with the places: `… (at 12–40 % across, 30–71 % down)`."""
    boxes = [sighting.box for sighting in check.chosen] or ([check.box] if check.box else [])
    if not boxes:
        return sentence(check)
    more = "; …" if len(boxes) > LISTED else ""
    return f"{sentence(check)} (at {'; '.join(map(box_words, boxes[:LISTED]))}{more})"


def box_words(box: Box) -> str:
    """`12–40 % across, 30–71 % down`."""
    across, down = ((round(100 * low), round(100 * high)) for low, high in box_sides(box))
    return f"{across[0]}–{across[1]} % across, {down[0]}–{down[1]} % down"


def box_sides(box: Box) -> tuple[tuple[float, float], tuple[float, float]]:
    """A box as its extents from left to right and from top to bottom."""
    return (box.left, box.right), (box.top, box.bottom)


def jury_failed(errors: Mapping[str, str]) -> str:
    """Why a jury has no verdict."""
    return "no model of the jury gave a score: " + "; ".join(f"{name}: {error}" for name, error in errors.items())
