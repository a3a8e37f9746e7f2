"""A verdict, scene or edit as JSON, with the seed's keys and spelling. The format is described in docs/json.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onprompt.types import Answer, Attribute, Box, Check, Edit, Factor, Picture, Scene, Sighting, Thing, Verdict, View

VERSION, PARSED, SEEN = 4, "onprompt.parse/1", "onprompt.see/1"


def document(verdict: Verdict) -> dict[str, Any]:
    """The whole verdict."""
    picture = verdict.picture
    sure = float(verdict.provenance["settings"].get("low_confidence", 0.0))
    return {
        "format": f"onprompt.{verdict.rubric}/{VERSION}",
        "image": picture.name,
        "image_size": list(picture.size),
        "prompt": verdict.scene.prompt,
        "score": verdict.score,
        "value": round(verdict.value, 4),
        "overall_presence_score": rounded(verdict.presence),
        "attribute_accuracy": rounded(verdict.attribute_accuracy),
        "coverage": rounded(verdict.coverage),
        "guessed": rounded(verdict.guessed),
        **{f"{name}_shown": rounded(share) for name, share in verdict.shares.items()},
        "factors": {name: factor_entry(each) for name, each in verdict.factors.items()},
        "yes": rounded(verdict.yes),
        "flags": list(verdict.flags),
        "summary": verdict.summary,
        "prompt_objects": scene_objects(verdict.scene),
        "prompt_global": by_kind(verdict.scene.properties),
        "image_objects": [sighting_entry(each, picture, sure) for each in verdict.sightings],
        "pairs": [list(pair) for pair in verdict.pairs],
        "differences": [list(pair) for pair in verdict.differences],
        "extras": [sighting_entry(each, picture, sure) for each in verdict.extras],
        "checks": [check_entry(each, verdict) for each in verdict.checks],
        "guesses": [guess_entry(each) for each in verdict.guesses],
        "answers": [answer_entry(each) for each in verdict.answers],
        "provenance": dict(verdict.provenance),
    }


def rounded(number: float | None) -> float | None:
    """Four digits are enough."""
    return None if number is None else round(number, 4)


def factor_entry(factor: Factor) -> dict[str, Any]:
    """One score of a model's."""
    return {
        "score": factor.score,
        "justification": factor.why,
        "expected": rounded(factor.expected),
        "scores": list(factor.all),
        "spread": rounded(factor.spread),
    }


def answer_entry(answer: Answer) -> dict[str, Any]:
    """What a model said, raw, and what it took."""
    return {
        "text": answer.text,
        "stop": answer.stop,
        "model": answer.model,
        "key": answer.key,
        "cached": answer.cached,
        "structured": answer.structured,
        "refused_options": list(answer.refused),
        "tokens_in": answer.usage.tokens_in,
        "tokens_out": answer.usage.tokens_out,
        "seconds": answer.usage.seconds,
        "cost": answer.usage.cost,
    }


def view_document(view: View, sure: float) -> dict[str, Any]:
    """What a picture holds; what is less sure than `sure` is of low confidence."""
    return {
        "format": SEEN,
        "image": view.picture.name,
        "image_size": list(view.picture.size),
        "global": {trait.kind: [{"value": trait.value, "confidence": trait.confidence}] for trait in view.properties},
        "objects": [sighting_entry(each, view.picture, sure) for each in view.sightings],
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
    """What an instruction wants done."""
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
    """One object of the prompt (seed 000, step 1)."""
    return {
        "object": thing.phrase,
        "canonical": thing.canonical,
        "count": thing.count.exact,
        "count_range": None if thing.count.high is None else [thing.count.low, thing.count.high],
        "count_min": thing.count.low,
        "count_confidence": "high" if thing.count.confidence == 1 else "low",
        "attributes": by_kind(thing.attributes),
        "relations": [{"relation": each.name, "target": each.target} for each in thing.relations],
        "absent": thing.absent,
        "importance": thing.importance,
        "part_of": thing.part_of,
        "flags": list(thing.flags),
        "confidence": thing.confidence,
    }


def by_kind(attributes: Iterable[Attribute]) -> dict[str, list[str]]:
    """Kind → words."""
    found: dict[str, list[str]] = {}
    for attribute in attributes:
        found.setdefault(attribute.kind, []).append(attribute.value)
    return found


def sighting_entry(sighting: Sighting, picture: Picture, sure: float) -> dict[str, Any]:
    """One object of the image (seed 000, step 2)."""
    words: dict[str, list[str]] = {}
    chances: dict[str, list[float]] = {}
    for trait in sighting.traits:
        words.setdefault(trait.kind, []).append(trait.value)
        chances.setdefault(trait.kind, []).append(round(trait.confidence, 4))
    if sighting.text:
        words["text"], chances["text"] = [sighting.text], [round(sighting.confidence, 4)]
    x, y = sighting.box.centre
    return {
        "object": sighting.word,
        "canonical": sighting.label,
        "count": sighting.count[0] if sighting.count[0] == sighting.count[1] else list(sighting.count),
        "bbox": pixels(sighting.box, picture),
        "center": [round(x, 4), round(y, 4)],
        "area": round(sighting.box.area, 4),
        "confidence": round(sighting.confidence, 4),
        "low_confidence": sighting.confidence < sure,
        "attributes": words,
        "attribute_confidence": chances,
        "detector": sighting.source,
    }


def check_entry(check: Check, verdict: Verdict) -> dict[str, Any]:
    """One claim and what became of it."""
    picture = verdict.picture
    return {
        "kind": check.kind,
        "object": check.thing if check.thing >= 0 else None,
        "asked": check.asked,
        "found": check.found,
        "outcome": check.outcome.value,
        "score": round(check.score, 4),
        "confidence": round(check.confidence, 4),
        "source": check.source,
        "bbox": pixels(check.box, picture) if check.box else None,
        "sentence": verdict.sentence(check),
        "candidates": [
            {"bbox": pixels(each.box, picture), "confidence": round(each.confidence, 4), "chosen": each in check.chosen}
            for each in check.candidates
        ],
    }


def guess_entry(guess: Check) -> dict[str, Any]:
    """What the matcher makes of one claim."""
    return {
        "kind": guess.kind,
        "object": guess.thing if guess.thing >= 0 else None,
        "asked": guess.asked,
        "found": guess.found,
        "chance": round(guess.score, 4),
    }


def pixels(box: Box, picture: Picture) -> list[float]:
    """x, y, width and height in pixels of the image as it came, upright."""
    width, height = picture.size
    return [
        round(box.left * width, 1),
        round(box.top * height, 1),
        round(box.width * width, 1),
        round(box.height * height, 1),
    ]
