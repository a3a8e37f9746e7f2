"""Step 3: the attributes and relations of an object, each as a check."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.evidence.attributes import Measured, measure, measure_text
from onprompt.evidence.candidates import SAME_OBJECT
from onprompt.settings import Settings
from onprompt.types import Attribute, Check, Claim, Finding, Found, Outcome, Relation, Scene, Sighting, Thing
from onprompt.vision import RELATIONS, RelationMeasure, between

SIDES = ("left of", "right of", "above", "below", "in front of", "behind", "next to", "near")
SOURCES = {"color": "pixels", "shape": "outline", "action": "joints", "expression": "face"}


def attribute_claim(attribute: Attribute, thing: Thing) -> Claim:
    """The claim that an object has an attribute, or does not have it."""
    return Claim(attribute.kind, attribute.value, thing.canonical, negated=attribute.negated)


def relation_claim(relation: Relation, thing: Thing, scene: Scene) -> Claim:
    """The claim that an object relates to another one."""
    target = scene.things[relation.target].phrase
    return Claim("relation", relation.name, thing.canonical, target=target, negated=relation.negated)


def attribute_check(
    blank: Check, attribute: Attribute, chosen: Sequence[Sighting], lines: Sequence[Sighting], settings: Settings
) -> Check:
    """The check of an attribute, over all chosen sightings."""
    if attribute.kind == "text" and not attribute.negated:
        return summarize(replace(blank, source="pp-ocr"), [measure_text(attribute.value, lines, settings)], settings)
    if not chosen:
        return without_object(blank)
    measured = [result for sighting in chosen if (result := measure(attribute, sighting, settings))]
    if not measured:
        return replace(blank, finding=Finding(Found.NOT_MEASURABLE))
    source = SOURCES.get(attribute.kind, "box")
    return summarize(replace(blank, source=source, box=chosen[0].box), measured, settings)


def without_object(check: Check) -> Check:
    """The check of a detail of an object that is missing or not located."""
    if check.outcome is Outcome.MISSING:
        return replace(check, finding=Finding(Found.OBJECT_MISSING), confidence=1.0)
    return replace(check, finding=Finding(Found.NOT_LOCATED))


def summarize(check: Check, measured: Sequence[Measured], settings: Settings) -> Check:
    """A check with the mean of the measurements."""
    score = sum(result.score for result in measured) / len(measured)
    confidence = min(result.confidence for result in measured)
    if confidence < settings.low_confidence:
        outcome = Outcome.LOW_CONFIDENCE
    elif score >= (1 + settings.minor_score) / 2:
        outcome = Outcome.MATCHED
    else:
        outcome = Outcome.PARTIAL if score >= settings.minor_score / 2 else Outcome.MISMATCH
    values = "; ".join(dict.fromkeys(result.value for result in measured))
    finding = Finding(Found.MEASURED, values)
    return replace(check, finding=finding, outcome=outcome, score=score, confidence=confidence)


def relation_check(
    blank: Check,
    scene: Scene,
    relation: Relation,
    chosen: Sequence[Sequence[Sighting]],
    gone: Sequence[Outcome | None],
    settings: Settings,
) -> Check:
    """The check of a relation, for each subject with the target that suits it best; `gone` says which are not there."""
    index = blank.thing or 0
    subjects, targets, name = chosen[index], chosen[relation.target], scene.things[relation.target].canonical
    unverifiable = replace(blank, outcome=Outcome.UNVERIFIABLE)
    mismatch = replace(blank, outcome=Outcome.MISMATCH, confidence=1.0)
    if gone[index] is Outcome.MISSING:
        return without_object(blank)
    if relation.negated or (relation.name not in RELATIONS and relation.name != "between"):
        return replace(unverifiable, finding=Finding(Found.NOT_MEASURABLE))
    if gone[relation.target] is Outcome.UNVERIFIABLE:
        return replace(unverifiable, finding=Finding(Found.TARGET_NOT_LOCATED, name))
    if not subjects:
        return without_object(blank)
    if not targets:  # which is charged once, as a missing object
        return replace(unverifiable, finding=Finding(Found.TARGET_MISSING, name))
    others = [[b for b in targets if a.box.iou(b.box) < SAME_OBJECT] for a in subjects]
    if not any(others):
        return replace(mismatch, finding=Finding(Found.SAME_OBJECT))
    if relation.name == "between":
        ends = between_ends(scene.things[index], chosen)
        if not all(ends):  # the other end is missing, which is charged there
            return replace(unverifiable, finding=Finding(Found.UNDECIDABLE))
        if len(ends) == 1 and len(ends[0]) == 1:
            return replace(mismatch, finding=Finding(Found.NO_PAIR))
        likelihoods = [best_between(subject, ends) for subject in subjects]
    else:
        holds = RELATIONS[relation.name]
        likelihoods = [best_target(holds, *pair) for pair in zip(subjects, others, strict=True)]
    known = [likelihood for likelihood in likelihoods if likelihood is not None]
    if not known:
        return replace(unverifiable, finding=Finding(Found.UNDECIDABLE))
    return judge_relation(replace(blank, source="boxes", box=subjects[0].box), sum(known) / len(known), settings)


def best_target(holds: RelationMeasure, subject: Sighting, targets: Sequence[Sighting]) -> float | None:
    """How likely a relation holds with the target that suits best; None where it can't be determined for any."""
    known = [likelihood for target in targets if (likelihood := holds(subject, target)) is not None]
    return max(known) if known else None if targets else 0.0


def between_ends(thing: Thing, chosen: Sequence[Sequence[Sighting]]) -> list[Sequence[Sighting]]:
    """The sightings that something should be between, by thing: one list or two."""
    return [chosen[relation.target] for relation in thing.relations if relation.name == "between"]


def best_between(subject: Sighting, ends: Sequence[Sequence[Sighting]]) -> float | None:
    """How likely it is between a sighting of each end, or between two of the same; None if there are no two."""
    first, second = ends[0], ends[-1]
    pairs = [(a, b) for a in first for b in second if a is not b and subject is not a and subject is not b]
    return max((between(subject, a, b) for a, b in pairs), default=None)


def judge_relation(check: Check, likelihood: float, settings: Settings) -> Check:
    """The check of a relation of this likelihood."""
    check = replace(
        check, confidence=max(likelihood, 1 - likelihood), finding=Finding(Found.RELATED, probability=likelihood)
    )
    if likelihood >= settings.relation_sure:
        return replace(check, outcome=Outcome.MATCHED, score=1.0)
    if likelihood >= settings.relation_unsure:
        return replace(check, outcome=Outcome.LOW_CONFIDENCE, score=likelihood)
    if check.claim.value.startswith(SIDES):  # a swapped position changes little
        return replace(check, outcome=Outcome.PARTIAL, score=settings.minor_score)
    return replace(check, outcome=Outcome.MISMATCH)


def is_text(thing: Thing) -> bool:
    """Whether the object is text itself: words without anything that bears them."""
    return thing.canonical == "text" and any(each.kind == "text" and not each.negated for each in thing.attributes)
