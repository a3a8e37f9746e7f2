"""A verdict for the terminal: the seed's step 6 in readable form. The last line is `(n)` and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onprompt.types import Outcome, Scene, Sighting, Thing, Verdict

STYLES = {
    Outcome.MATCHED: "green",
    Outcome.PARTIAL: "yellow",
    Outcome.MISMATCH: "red",
    Outcome.MISSING: "red",
    Outcome.LOW_CONFIDENCE: "yellow",
    Outcome.UNVERIFIABLE: "bright_black",
}
WORST_FIRST = (
    *(Outcome.MISSING, Outcome.MISMATCH, Outcome.LOW_CONFIDENCE, Outcome.PARTIAL),
    *(Outcome.MATCHED, Outcome.UNVERIFIABLE),
)
Line = tuple[str, str]  # text, style


def lines(verdict: Verdict) -> Iterator[Line]:
    """The report, line by line."""
    yield "Prompt asks for", "bold"
    yield from ((f"  {thing_line(thing, verdict.scene)}", "") for thing in verdict.scene.things)
    yield "Image shows", "bold"
    yield from ((f"  {line}", "") for line in image_lines(verdict))
    yield "Asked → found", "bold"
    for index, (asked, found) in enumerate(verdict.pairs):
        yield f"  ({asked!r}, {found!r})", STYLES[worst(verdict, index)]
    if verdict.extras:
        count = Counter(each.word for each in verdict.extras)
        yield "Also in the image (costs nothing)", "bold"
        yield "  " + ", ".join(f"{number} × {word}" for word, number in count.items()), ""
    yield "Summary", "bold"
    yield f"  {verdict.summary}", ""
    yield f"  {figures(verdict)}", ""
    yield f"({verdict.score})", "bold"


def figures(verdict: Verdict) -> str:
    """The numbers behind the score, and the flags."""
    numbers = {"presence": verdict.presence, "attributes": verdict.attribute_accuracy, "coverage": verdict.coverage}
    parts = [f"{name} {number:.2f}" for name, number in numbers.items()]
    return ", ".join([*parts, *([f"flags: {' '.join(verdict.flags)}"] if verdict.flags else [])])


def thing_line(thing: Thing, scene: Scene) -> str:
    """`2 × dog (color red) on table`."""
    low, high = thing.count.low, thing.count.high
    number = "no" if thing.absent else f"{low} ×" if low == high else f"{low}+ ×" if high is None else f"{low}–{high} ×"
    attributes = ", ".join(f"{each.kind} {each.value}" for each in thing.attributes)
    relations = ", ".join(f"{each.name} {scene.things[each.target].canonical}" for each in thing.relations)
    return " ".join(filter(None, [number, thing.canonical, f"({attributes})" if attributes else "", relations]))


def image_lines(verdict: Verdict) -> Iterator[str]:
    """Each sighting of something asked for, and each line of text."""
    asked = {thing.canonical for thing in verdict.scene.things} | {"text"}
    shown = [each for each in verdict.sightings if each.label in asked]
    yield from (sighting_line(each) for each in shown)
    if not shown:
        yield "nothing of what was asked for"


def sighting_line(sighting: Sighting) -> str:
    """`dog 0.93: brown, large, left`."""
    colours = "/".join(swatch.name for swatch in sighting.colours)
    details = filter(None, [colours, sighting.size, sighting.position, f'"{sighting.text}"' if sighting.text else ""])
    return f"{sighting.word} {sighting.confidence:.2f}: {', '.join(details)}"


def worst(verdict: Verdict, index: int) -> Outcome:
    """The outcome that gives an object's line its colour; grey is left for what could not be checked at all."""
    outcomes = {check.outcome for check in verdict.checks if check.thing == index}
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.UNVERIFIABLE)
