"""A verdict for the terminal: the seed's step 6 in readable form. The last line is `(n)` and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onprompt.types import Check, Edit, Factor, Outcome, Scene, Sighting, Thing, Verdict, View

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
    if verdict.presence is not None:
        yield "Prompt asks for", "bold"
        yield from ((f"  {line}", "") for line in scene_lines(verdict.scene))
        yield "Image shows", "bold"
        yield from ((f"  {line}", "") for line in image_lines(verdict))
    if verdict.pairs:
        yield "Asked → found", "bold"
    for index, (asked, found) in enumerate(verdict.pairs):
        yield f"  ({asked!r}, {found!r})", STYLES[worst(verdict, index)]
    if verdict.guesses:
        yield "As a whole (a guess, beside the evidence)", "bold"
        yield from ((f"  {guess_words(check)}", "") for check in verdict.guesses)
    if verdict.extras:
        count = Counter(each.word for each in verdict.extras)
        yield "Also in the image (costs nothing)", "bold"
        yield "  " + ", ".join(f"{number} × {word}" for word, number in count.items()), ""
    yield "Summary", "bold"
    yield f"  {verdict.summary}", ""
    yield f"  {figures(verdict)}", ""
    yield f"({verdict.score})", "bold"


def guess_words(check: Check) -> str:
    """The whole in its own words; a phrase with its chance."""
    return check.found if check.kind == "whole" else f"{check.asked!r} {check.found}"


def view_lines(view: View, sure: float, faint: float) -> Iterator[str]:
    """What a picture holds: its sure objects, those that may be there, its text, and what is true of it as a whole."""
    shown = [each for each in view.sightings if each.confidence >= faint]
    for each in shown:
        yield sighting_line(each) + (" [LOW_CONFIDENCE]" if each.confidence < sure else "")
    if not shown:
        yield "no object that was looked for"
    yield from (f"{name}: no detector here knows the word" for name in view.unknown)
    yield from (f'text "{line.text}" ({line.confidence:.2f})' for line in view.lines)
    yield "the picture: " + ", ".join(f"{each.value} ({each.confidence:.2f})" for each in view.properties)


def figures(verdict: Verdict) -> str:
    """The numbers behind the score, and the flags."""
    numbers = {
        "presence": verdict.presence,
        "attributes": verdict.attribute_accuracy,
        "value": verdict.value,
        "yes": verdict.yes,
        "coverage": verdict.coverage,
    }
    parts = [f"{name} {number:.2f}" for name, number in numbers.items() if number is not None]
    parts[-1] += f" ({verdict.guessed:.2f} guessed)" if verdict.guessed else ""
    parts += [finer for each in verdict.factors.values() if (finer := finer_words(each))]
    return ", ".join([*parts, *bill(verdict), *([f"flags: {' '.join(verdict.flags)}"] if verdict.flags else [])])


def factor_lines(verdict: Verdict) -> Iterator[str]:
    """Each factor with its score and its reason, then what lies behind them."""
    for name, factor in verdict.factors.items():
        finer = finer_words(factor)
        yield f"{name}: {factor.score}{f' ({finer})' if finer else ''}. {factor.why}"
    flags = [f"flags: {' '.join(verdict.flags)}"] if verdict.flags else []
    yield ", ".join([f"value {verdict.value:.2f}", *bill(verdict), *flags])


def finer_words(factor: Factor) -> str:
    """`expected 3.82, scores 4 4 3`: what is known beyond the score."""
    expected = [] if factor.expected is None else [f"expected {factor.expected:.2f}"]
    spread = "" if factor.spread is None else f" (spread {factor.spread:.2f})"
    several = [f"scores {' '.join(map(str, factor.all))}{spread}"] if len(factor.all) > 1 else []
    return ", ".join([*expected, *several])


def bill(verdict: Verdict) -> list[str]:
    """What the model's answers took."""
    if not verdict.answers:
        return []
    if all(answer.cached for answer in verdict.answers):
        return ["asked before, nothing paid"]
    usage = verdict.usage
    money = "" if usage.cost is None else f", {usage.cost:.4f} US dollars"
    return [f"{usage.tokens_in:,} tokens in and {usage.tokens_out:,} out{money}"]


def scene_lines(scene: Scene) -> Iterator[str]:
    """What a prompt asks for: its things, then what it says of the picture."""
    yield from (thing_line(thing, scene) for thing in scene.things)
    if scene.properties:
        yield "the picture: " + ", ".join(f"{each.kind} {each.value}" for each in scene.properties)
    if scene.flags:
        yield "flags: " + ", ".join(scene.flags)


def thing_line(thing: Thing, scene: Scene) -> str:
    """`2 × dog (color red) on table`."""
    low, high = thing.count.low, thing.count.high
    number = "no" if thing.absent else f"{low} ×" if low == high else f"{low}+ ×" if high is None else f"{low}–{high} ×"
    attributes = ", ".join(f"{each.kind} {each.value}" for each in thing.attributes)
    relations = ", ".join(f"{each.name} {scene.things[each.target].canonical}" for each in thing.relations)
    group = "" if thing.part_of is None else f"one of the {scene.things[thing.part_of].phrase.removeprefix('the ')}"
    weight = "" if thing.importance == 1 else f"weight {thing.importance:g}"
    notes = ", ".join(filter(None, [attributes, group, weight, *thing.flags]))
    return " ".join(filter(None, [number, thing.canonical, f"({notes})" if notes else "", relations]))


def edit_line(edit: Edit) -> str:
    """`recolour (all) 2+ × flower: yellow → 2+ × flower (color yellow)`."""
    target = thing_line(edit.target, edit.source) if edit.target else ""
    done = " ".join(filter(None, [edit.operation, f"({edit.scope})" if edit.scope else "", target]))
    wanted = [thing_line(thing, edit.result) for thing in edit.result.things]
    wanted += [f"{each.kind} {each.value}" for each in edit.result.properties]
    sure = [f"confidence {edit.confidence:g}"] if edit.confidence < 1 else []
    told = ", ".join([*(f"keep {thing.canonical}" for thing in edit.keep), *sure, *edit.flags])
    result = f" → {', '.join(wanted)}" if wanted else ""
    return f"{done}{': ' if edit.value else ''}{edit.value}{result}{f' [{told}]' if told else ''}"


def image_lines(verdict: Verdict) -> Iterator[str]:
    """Each sighting of something asked for, and each line of text."""
    asked = {thing.canonical for thing in verdict.scene.things} | {"text"}
    shown = [each for each in verdict.sightings if each.label in asked]
    yield from (sighting_line(each) for each in shown)
    if not shown:
        yield "nothing of what was asked for"


def sighting_line(sighting: Sighting) -> str:
    """`dog 0.93: brown, large, left`; a crowd with its range."""
    number = "" if sighting.count == (1, 1) else f"{sighting.count[0]} to {sighting.count[1]} × "
    details = [f'"{sighting.text}"'] if sighting.text else [each.value for each in sighting.traits]
    return f"{number}{sighting.word} {sighting.confidence:.2f}: {', '.join(details)}"


def worst(verdict: Verdict, index: int) -> Outcome:
    """The outcome that gives an object's line its colour; grey is left for what could not be checked at all."""
    mine = [check for check in verdict.checks if check.thing == index]
    outcomes = {check.outcome for check in mine or verdict.checks[index : index + 1]}
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.UNVERIFIABLE)
