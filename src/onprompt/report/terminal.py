"""A verdict for the terminal: the protocol's lists in readable form. The last line is `(n)` and nothing else."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from onprompt import wording
from onprompt.types import (
    Attribute,
    Edit,
    EditEvidence,
    FactorScore,
    Line,
    Outcome,
    PromptEvidence,
    Scene,
    Sighting,
    Thing,
    Verdict,
    View,
)
from onprompt.wording.edits import object_changes

WEAK = 0.25  # confidence from which a sighting is shown
ALSO = 12  # further objects that are listed
NAMES = {"attribute_accuracy": "attributes"}  # of measures, where people see another one
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


def lines(verdict: Verdict) -> Iterator[Line]:
    """The report, line by line."""
    evidence, pairs = verdict.prompt_evidence, wording.pairs(verdict)
    if evidence:
        yield from section("Prompt asks for", scene_lines(evidence.scene))
        yield from section("Image shows", image_lines(evidence) if evidence.looked else ())
    for name, title in (("prompt", "Prompt asks for"), ("image", "Image shows")):
        yield from section(f"{title} (according to the model)", verdict.stated.get(name, ()))
    yield from section("Asked → found", map(str, pairs), [STYLES[worst(verdict, index)] for index in range(len(pairs))])
    if evidence and evidence.extras:
        yield from section("Also detected (no penalty)", [extra_words(evidence)])
    yield from section("Summary", [verdict.summary, figures(verdict)])
    yield f"({verdict.score})", "bold"


def section(title: str, found: Iterable[str], styles: Sequence[str] = ()) -> Iterator[Line]:
    """A title, and the lines under it, each in its style; nothing without a line."""
    for place, line in enumerate(found):
        if not place:
            yield title, "bold"
        yield f"  {line}", styles[place] if styles else ""


def voice_lines(verdict: Verdict) -> Iterator[Line]:
    """What each member of a jury says."""
    styles = ["yellow" if voice.value is None else "" for voice in verdict.voices]
    yield from section("Jury", map(wording.voice_words, verdict.voices), styles)


def extra_words(evidence: PromptEvidence) -> str:
    """What else an image shows, without effect on the score: `2 × spoon, 1 × chair`."""
    counts = Counter(sighting.word for sighting in evidence.extras)
    listed = [f"{number} × {word}" for word, number in counts.items()]
    return ", ".join([*listed[:ALSO], *(["…"] if len(listed) > ALSO else [])])


def view_lines(view: View, low_confidence: float) -> Iterator[str]:
    """What an image shows: objects, text, and properties of the whole."""
    shown = [sighting for sighting in view.sightings if sighting.confidence >= WEAK]
    for sighting in shown:
        yield sighting_line(sighting) + (" [uncertain]" if sighting.confidence < low_confidence else "")
    if not shown:
        yield "no objects detected"
    yield from (f"{name}: unknown to the detector" for name in view.unknown)
    yield from (f'text "{line.text}" ({line.confidence:.2f})' for line in view.lines)
    yield "the image: " + ", ".join(f"{trait.value} ({trait.confidence:.2f})" for trait in view.properties)


def figures(verdict: Verdict) -> str:
    """The numbers behind the score, and the flags."""
    spreads = [words for factor in verdict.factors.values() if (words := spread_words(factor))]
    shown = ("presence", "attribute_accuracy", "value", "spread", "yes", "coverage")
    return ", ".join(numbers(verdict, shown, spreads))


def numbers(verdict: Verdict, names: Sequence[str], more: Sequence[str] = ()) -> Iterator[str]:
    """Those of the named measures that are known, more words, what it cost, and the flags."""
    known = {**verdict.measures, "value": verdict.value, "coverage": verdict.coverage}
    estimated = known.get("estimated")
    for name in names:
        if (number := known.get(name)) is not None:
            note = f" ({estimated:.2f} by estimate)" if estimated and name == names[-1] else ""
            yield f"{NAMES.get(name, name)} {number:.2f}{note}"
    yield from (*more, *cost_words(verdict))
    if verdict.flags:
        yield f"flags: {', '.join(verdict.flags).replace('_', ' ')}"


def edit_lines(verdict: Verdict) -> Iterator[Line]:
    """What an instruction asks for and what was done, then the factors."""
    if evidence := verdict.edit_evidence:
        yield from section("Instruction asks for", map(edit_line, evidence.edits))
        yield from section("What changed", change_lines(evidence))
        styles = [STYLES[check.outcome] for check in verdict.checks]
        yield from section("Asked → found", map(str, wording.pairs(verdict)), styles)
        yield from section("Summary", [verdict.summary])
    yield from factor_lines(verdict)


def change_lines(evidence: EditEvidence) -> Iterator[str]:
    """What became of the objects and of the image as a whole."""
    yield from object_changes(evidence.objects)
    kept = sum(change.kind == "unchanged" for change in evidence.objects)
    yield f"{wording.plural(kept, 'object')} unchanged, {len(evidence.objects)} detected in all"
    if evidence.adjustments:
        yield f"the image as a whole: {', '.join(evidence.adjustments)}"


def factor_lines(verdict: Verdict) -> Iterator[Line]:
    """Each factor with its score and reason, the summary if no factor has a reason, then value, cost and flags."""
    for name, factor in verdict.factors.items():
        spread = spread_words(factor)
        score = f"{name}: {factor.score}{f' ({spread})' if spread else ''}"
        yield f"{score}. {factor.reason}" if factor.reason else score, ""
    if verdict.summary and not any(factor.reason for factor in verdict.factors.values()):
        yield verdict.summary, ""
    yield ", ".join(numbers(verdict, ("value", "preservation", "spread"))), ""


def spread_words(factor: FactorScore) -> str:
    """`expected 3.82, scores 4 4 3`: how certain a score is."""
    expected = [] if factor.expected is None else [f"expected {factor.expected:.2f}"]
    spread = "" if factor.spread is None else f" (spread {factor.spread:.2f})"
    several = [f"scores {' '.join(map(str, factor.scores))}{spread}"] if len(factor.scores) > 1 else []
    return ", ".join([*expected, *several])


def cost_words(verdict: Verdict) -> list[str]:
    """What the model's answers cost."""
    if not verdict.answers:
        return []
    if all(answer.cached for answer in verdict.answers):
        return ["answers cached, no cost"]
    usage = verdict.usage
    money = "" if usage.cost is None else f", ${usage.cost:.4f}"
    return [f"{usage.tokens_in:,} input and {usage.tokens_out:,} output tokens{money}"]


def scene_lines(scene: Scene) -> Iterator[str]:
    """What a prompt asks for: objects, then properties of the whole image."""
    yield from (thing_line(thing, scene) for thing in scene.things)
    if scene.properties:
        yield "the image: " + attribute_words(scene.properties)
    if scene.flags:
        yield "flags: " + ", ".join(scene.flags)


def thing_line(thing: Thing, scene: Scene) -> str:
    """`2 × dog (color red) on table`."""
    low, high = thing.count.low, thing.count.high
    number = "no" if thing.absent else f"{low} ×" if low == high else f"{low}+ ×" if high is None else f"{low}–{high} ×"
    relations = ", ".join(
        f"{'not ' * each.negated}{each.name} {scene.things[each.target].canonical}" for each in thing.relations
    )
    group = "" if thing.part_of is None else f"one of the {scene.things[thing.part_of].phrase.removeprefix('the ')}"
    weight = "" if thing.importance == 1 else f"weight {thing.importance:g}"
    notes = ", ".join(filter(None, [attribute_words(thing.attributes), group, weight, *thing.flags]))
    return " ".join(filter(None, [number, thing.canonical, f"({notes})" if notes else "", relations]))


def attribute_words(attributes: Iterable[Attribute]) -> str:
    """`color red, size small, text "HELLO"`."""
    words = ((each, f'"{each.value}"' if each.kind == "text" else each.value) for each in attributes)
    return ", ".join(f"{each.kind} {'not ' * each.negated}{value}" for each, value in words)


def edit_line(edit: Edit) -> str:
    """`recolor (all) 2+ × flower: yellow → 2+ × flower (color yellow)`."""
    target = thing_line(edit.target, edit.source) if edit.target else ""
    operation = " ".join(filter(None, [edit.operation, f"({edit.scope})" if edit.scope else "", target]))
    value = f": {edit.value}" if edit.value else ""
    wanted = [thing_line(thing, edit.result) for thing in edit.result.things]
    wanted += [attribute_words([attribute]) for attribute in edit.result.properties]
    result = f" → {', '.join(wanted)}" if wanted else ""
    confidence = [f"confidence {edit.confidence:g}"] if edit.confidence < 1 else []
    notes = ", ".join([*(f"keep {thing.canonical}" for thing in edit.keep), *confidence, *edit.flags])
    return f"{operation}{value}{result}{f' [{notes}]' if notes else ''}"


def image_lines(evidence: PromptEvidence) -> Iterator[str]:
    """The sightings of requested objects, and the lines of text."""
    asked = {thing.canonical for thing in evidence.scene.things} | {"text"}
    shown = [sighting for sighting in evidence.sightings if sighting.label in asked]
    yield from (sighting_line(sighting) for sighting in shown)
    if not shown:
        yield "none of the requested objects"


def sighting_line(sighting: Sighting) -> str:
    """`dog 0.93: brown, large, left`."""
    details = [f'"{sighting.text}"'] if sighting.text else [trait.value for trait in sighting.traits]
    return f"{sighting.word} {sighting.confidence:.2f}: {', '.join(details)}"


def worst(verdict: Verdict, index: int) -> Outcome:
    """The worst outcome of an object's checks, which colors its line."""
    own = [check for check in verdict.checks if check.thing == index]
    outcomes = {check.outcome for check in own or verdict.checks[index : index + 1]}
    return next((outcome for outcome in WORST_FIRST if outcome in outcomes), Outcome.UNVERIFIABLE)
