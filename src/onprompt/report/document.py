"""A verdict, scene or edit as JSON, with the protocol's keys and spelling. The format is described in docs/json.md."""

from collections.abc import Iterable
from typing import Any

from onprompt import serial, wording
from onprompt.errors import UserError
from onprompt.types import (
    Attribute,
    Box,
    Check,
    Edit,
    EditEvidence,
    ObjectChange,
    Picture,
    Scene,
    Sighting,
    Thing,
    Trait,
    Verdict,
    View,
)

PARSED, SEEN = "onprompt.parse/1", "onprompt.see/1"


def document(verdict: Verdict) -> dict[str, Any]:
    """A verdict as `serial` stores it, with the protocol's lists and everything in words."""
    picture, evidence = verdict.sample.picture, verdict.prompt_evidence
    threshold = float(verdict.provenance.get("settings", {}).get("low_confidence", 0.0))
    stored = serial.dump(verdict)
    scene = evidence.scene if evidence else Scene(verdict.sample.prompt)
    return {
        **stored,
        "image": picture.name,
        "image_size": image_size(picture),
        "prompt": verdict.sample.prompt,
        "overall_presence_score": verdict.measures.get("presence"),
        "attribute_accuracy": verdict.measures.get("attribute_accuracy"),
        "coverage": verdict.coverage,
        "prompt_objects": scene_objects(scene),
        "prompt_global": by_kind(scene.properties),
        "image_objects": [sighting_entry(s, picture, threshold) for s in (evidence.sightings if evidence else ())],
        "extras": [sighting_entry(s, picture, threshold) for s in (evidence.extras if evidence else ())],
        "pairs": [list(pair) for pair in wording.pairs(verdict)],
        "differences": [list(pair) for pair in wording.differences(verdict)],
        **(edit_sections(evidence_of_edit, verdict) if (evidence_of_edit := verdict.edit_evidence) else {}),
        "checks": [
            {**entry, **check_words(check, picture)}
            for entry, check in zip(stored.get("checks", ()), verdict.checks, strict=True)
        ],
    }


def edit_sections(evidence: EditEvidence, verdict: Verdict) -> dict[str, Any]:
    """What an instruction asks for, and what changed; boxes are in pixels of the image before the edit."""
    before = verdict.sample.pictures.get("before", verdict.sample.picture)
    return {
        "edits": [edit_entry(edit) for edit in evidence.edits],
        "objects": [object_entry(change, before) for change in evidence.objects],
        "regions": [pixels(box, before) for box in evidence.regions],
        "adjustments": list(evidence.adjustments),
        "failure": evidence.failure or None,
    }


def object_entry(change: ObjectChange, before: Picture) -> dict[str, Any]:
    """What became of one object."""
    versions = {"before": change.before, "after": change.after}
    return {
        "change": change.kind,
        "asked": change.asked,
        **{
            name: {"object": s.word, "bbox": pixels(s.box, before), "confidence": round(s.confidence, 4)} if s else None
            for name, s in versions.items()
        },
    }


def check_words(check: Check, picture: Picture) -> dict[str, Any]:
    """A check in words, and its box in pixels."""
    return {
        "kind": check.claim.kind,
        "asked": wording.claim_words(check.claim),
        "found": wording.finding_words(check),
        "sentence": wording.sentence(check),
        "bbox": pixels(check.box, picture) if check.box else None,
    }


def view_document(view: View, threshold: float) -> dict[str, Any]:
    """What an image shows; sightings below `threshold` are of low confidence."""
    return {
        "format": SEEN,
        "image": view.picture.name,
        "image_size": list(view.picture.size),
        "global": {trait.kind: [{"value": trait.value, "confidence": trait.confidence}] for trait in view.properties},
        "objects": [sighting_entry(sighting, view.picture, threshold) for sighting in view.sightings],
        "unknown": list(view.unknown),
        "text": [
            {"text": line.text, "bbox": pixels(line.box, view.picture), "confidence": round(line.confidence, 4)}
            for line in view.lines
        ],
    }


def scene_document(scene: Scene) -> dict[str, Any]:
    """What a prompt asks for."""
    return {
        "format": PARSED,
        "prompt": scene.prompt,
        "objects": scene_objects(scene),
        "global": by_kind(scene.properties),
        "text": list(scene.texts),
        "flags": list(scene.flags),
    }


def edits_document(instruction: str, edits: Iterable[Edit]) -> dict[str, Any]:
    """What an edit instruction asks for."""
    return {"format": PARSED, "instruction": instruction, "edits": [edit_entry(edit) for edit in edits]}


def edit_entry(edit: Edit) -> dict[str, Any]:
    """One operation; the relations of its target point into `source`."""
    return {
        "operation": edit.operation,
        "phrase": edit.phrase,
        "target": thing_entry(edit.target) if edit.target else None,
        "source": scene_objects(edit.source),
        "scope": edit.scope,
        "value": edit.value,
        "result": scene_document(edit.result),
        "keep": [thing_entry(thing) for thing in edit.keep],
        "confidence": edit.confidence,
        "flags": list(edit.flags),
    }


def scene_objects(scene: Scene) -> list[dict[str, Any]]:
    """The prompt list; a relation's target is an index into it."""
    return [thing_entry(thing) for thing in scene.things]


def thing_entry(thing: Thing) -> dict[str, Any]:
    """One object of the prompt."""
    return {
        "object": thing.phrase,
        "canonical": thing.canonical,
        "count": thing.count.exact,
        "count_range": None if thing.count.high is None else [thing.count.low, thing.count.high],
        "count_min": thing.count.low,
        "count_confidence": "high" if thing.count.confidence == 1 else "low",
        "attributes": by_kind(each for each in thing.attributes if not each.negated),
        "excluded": by_kind(each for each in thing.attributes if each.negated),
        "relations": [
            {"relation": each.name, "target": each.target, **({"negated": True} if each.negated else {})}
            for each in thing.relations
        ],
        "absent": thing.absent,
        "importance": thing.importance,
        "part_of": thing.part_of,
        "flags": list(thing.flags),
        "confidence": thing.confidence,
    }


def by_kind(attributes: Iterable[Attribute]) -> dict[str, list[str]]:
    """The values of each kind of attribute."""
    values: dict[str, list[str]] = {}
    for attribute in attributes:
        values.setdefault(attribute.kind, []).append(attribute.value)
    return values


def sighting_entry(sighting: Sighting, picture: Picture, threshold: float) -> dict[str, Any]:
    """One object of the image."""
    text = [Trait("text", sighting.text, sighting.confidence)] if sighting.text else []
    values: dict[str, list[str]] = {}
    confidences: dict[str, list[float]] = {}
    for trait in (*sighting.traits, *text):
        values.setdefault(trait.kind, []).append(trait.value)
        confidences.setdefault(trait.kind, []).append(round(trait.confidence, 4))
    x, y = sighting.box.centre
    return {
        "object": sighting.word,
        "canonical": sighting.label,
        "count": 1,
        "bbox": pixels(sighting.box, picture),
        "center": [round(x, 4), round(y, 4)],
        "area": round(sighting.box.area, 4),
        "confidence": round(sighting.confidence, 4),
        "low_confidence": sighting.confidence < threshold,
        "attributes": values,
        "attribute_confidence": confidences,
        "detector": sighting.source,
    }


def image_size(picture: Picture) -> list[int] | None:
    """Width and height; None for a stored verdict whose image can't be opened any more, or was never a file."""
    try:
        return list(picture.size)
    except UserError:
        return None


def pixels(box: Box, picture: Picture) -> list[float] | None:
    """x, y, width and height in pixels of the original image, upright; None where its size is not known."""
    size = image_size(picture)
    if size is None:
        return None
    width, height = size
    return [round(side, 1) for side in (box.left * width, box.top * height, box.width * width, box.height * height)]
