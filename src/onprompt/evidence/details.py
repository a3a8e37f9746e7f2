"""Step 3: the attributes and relations of an object, each as a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.evidence.attributes import Measured, measure, measure_text
from onprompt.evidence.candidates import ITSELF
from onprompt.settings import Settings
from onprompt.types import Attribute, Check, Outcome, Relation, Scene, Sighting, Thing
from onprompt.vision import relations

SOURCES = {"color": "pixels", "shape": "outline", "action": "joints", "expression": "face"}


def attribute_check(
    blank: Check, attribute: Attribute, chosen: Sequence[Sighting], lines: Sequence[Sighting], settings: Settings
) -> Check:
    """One attribute over all chosen sightings."""
    check = replace(blank, kind=attribute.kind, asked=attribute.value)
    if attribute.kind == "text":
        return graded(replace(check, source="pp-ocr"), [measure_text(attribute.value, lines, settings)], settings)
    if not chosen:
        return not_there(check)
    measured = [m for each in chosen if (m := measure(attribute, each, settings))]
    if not measured:
        return replace(check, found=f"{attribute.kind} can't be measured here")
    source = SOURCES.get(attribute.kind, "box")
    return graded(replace(check, source=source, box=chosen[0].box), measured, settings)


def not_there(check: Check) -> Check:
    """A claim about an object that is missing, or can't be looked for at all."""
    if check.outcome is Outcome.MISSING:
        return replace(check, found="not there to be looked at", confidence=1.0)
    return replace(check, found="the object itself can't be located")


def graded(check: Check, measured: Sequence[Measured], settings: Settings) -> Check:
    """A check with the mean of what was measured."""
    score = sum(each.score for each in measured) / len(measured)
    confidence = min(each.confidence for each in measured)
    if confidence < settings.low_confidence:
        outcome = Outcome.LOW_CONFIDENCE
    elif score >= (1 + settings.minor_score) / 2:
        outcome = Outcome.MATCHED
    else:
        outcome = Outcome.PARTIAL if score >= settings.minor_score / 2 else Outcome.MISMATCH
    found = "; ".join(dict.fromkeys(each.found for each in measured))
    return replace(check, found=f"found {found}", outcome=outcome, score=score, confidence=confidence)


def relation_check(
    blank: Check,
    scene: Scene,
    relation: Relation,
    chosen: Sequence[Sequence[Sighting]],
    gone: Sequence[Outcome | None],
    settings: Settings,
) -> Check:
    """A relation holds for a subject if it holds for the target that suits it best; `gone` says who is not there."""
    target = scene.things[relation.target]
    check = replace(blank, kind="relation", asked=f"{relation.name} {target.phrase}")
    subjects, targets = chosen[blank.thing], chosen[relation.target]
    if gone[blank.thing] is Outcome.MISSING:
        return not_there(check)
    if relation.name not in relations.RELATIONS and relation.name != "between":
        return replace(check, found=f"nothing here measures {relation.name!r}", outcome=Outcome.UNVERIFIABLE)
    if gone[relation.target] is Outcome.UNVERIFIABLE:
        return replace(check, found=f"{target.canonical} can't be located", outcome=Outcome.UNVERIFIABLE)
    if not subjects:
        return not_there(check)
    if not targets:
        return replace(check, found=f"{target.canonical} is missing", outcome=Outcome.MISMATCH, confidence=1.0)
    others = [[b for b in targets if a.box.iou(b.box) < ITSELF] for a in subjects]
    if not any(others):
        return replace(check, found="one object would have to be both", outcome=Outcome.MISMATCH, confidence=1.0)
    if relation.name == "between":
        ends = between_ends(scene.things[blank.thing], chosen)
        if not all(ends) or (len(ends) == 1 and len(ends[0]) == 1):
            return replace(check, found="there are no two to be between", outcome=Outcome.MISMATCH, confidence=1.0)
        told = [likely_between(subject, ends) for subject in subjects]
    else:
        holds = relations.RELATIONS[relation.name]
        told = [likeliest(holds, *pair) for pair in zip(subjects, others, strict=True)]
    likely = [each for each in told if each is not None]
    if not likely:
        return replace(check, found="one picture can't tell", outcome=Outcome.UNVERIFIABLE)
    return judged(replace(check, source="boxes", box=subjects[0].box), sum(likely) / len(likely), settings)


def likeliest(holds: relations.RelationMeasure, subject: Sighting, targets: Sequence[Sighting]) -> float | None:
    """How likely a relation holds with the target that suits best; None where it can be told with none."""
    told = [likely for target in targets if (likely := holds(subject, target)) is not None]
    return max(told) if told else None if targets else 0.0


def between_ends(thing: Thing, chosen: Sequence[Sequence[Sighting]]) -> list[Sequence[Sighting]]:
    """The sightings that something is to be between: of each thing that is named, so one list or two."""
    return [chosen[each.target] for each in thing.relations if each.name == "between"]


def likely_between(subject: Sighting, ends: Sequence[Sequence[Sighting]]) -> float | None:
    """Between one of the first and one of the second; of "two chairs", between any two. None where there is no two."""
    first, second = ends[0], ends[-1]
    pairs = [(a, b) for a in first for b in second if a is not b and subject is not a and subject is not b]
    return max((relations.between(subject, a, b) for a, b in pairs), default=None)


def judged(check: Check, likely: float, settings: Settings) -> Check:
    """A relation that is this likely to hold."""
    check = replace(check, confidence=max(likely, 1 - likely))
    if likely >= settings.relation_sure:
        return replace(check, found=f"it is ({likely:.2f})", outcome=Outcome.MATCHED, score=1.0)
    if likely >= settings.relation_unsure:
        return replace(check, found=f"hard to tell ({likely:.2f})", outcome=Outcome.LOW_CONFIDENCE, score=likely)
    return replace(check, found=f"it is not ({likely:.2f})", outcome=Outcome.MISMATCH)


def is_text(thing: Thing) -> bool:
    """Whether the prompt asks for words and names nothing that bears them: the words are the object then."""
    return thing.canonical == "text" and any(attribute.kind == "text" for attribute in thing.attributes)
