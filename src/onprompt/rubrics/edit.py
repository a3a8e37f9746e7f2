"""`edit` (seed 002): does the edited image carry out the instruction? Three factors, each 1 to 7."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import json_integer, one_line, strict_json
from onprompt.rubrics import text
from onprompt.types import Part, Picture, Reading, Rubric, Sample, Shown

SCALE = range(1, 8)
FACTORS = ("alignment", "completeness", "plausibility")
RESULTS = "online_factor_results"
WORDS = range(15, 31)  # of a justification
PLACES = ("[input image]", "[edited image]", "[text instruction]")


def ask(sample: Sample, show: Callable[[Picture], Shown]) -> tuple[Part, ...]:
    """The seed's text with both images and the instruction at the places that it names, and the id at its end."""
    if sample.before is None:
        raise ValueError("an edit needs the picture before it")
    head, between, then, rest = cut(RUBRIC.text)
    return (
        head,
        show(sample.before),
        between,
        show(sample.picture),
        f'{then} "{sample.prompt}"{rest}\nimage_id: {json.dumps(sample.id, ensure_ascii=False)}',
    )


def cut(words: str) -> tuple[str, str, str, str]:
    """The text in parts that each end with a place."""
    parts = []
    for place in PLACES:
        head, found, words = words.partition(place)
        parts.append(head + found)
    return parts[0], parts[1], parts[2], words


def read(answer: str, sample: Sample) -> Reading:
    """One strict JSON block with all three factors and the sample's id."""
    found = strict_json(answer)
    results = found.get(RESULTS) if isinstance(found, dict) else None
    if not isinstance(results, dict):
        raise UnreadableAnswer("wrong_fields", f"the JSON has no {RESULTS}")
    if found.get("image_id") != sample.id:
        raise UnreadableAnswer("wrong_id", f"image_id is not {json.dumps(sample.id, ensure_ascii=False)}")
    scores, whys = {}, {}
    for factor in FACTORS:
        given = results.get(factor)
        if not isinstance(given, dict) or "score" not in given:
            raise UnreadableAnswer("wrong_fields", f"the factor {factor} has no score")
        scores[factor] = json_integer(given["score"], f"the score of {factor}", SCALE)
        if not isinstance(given.get("justification"), str):
            raise UnreadableAnswer("wrong_fields", f"the factor {factor} has no justification")
        whys[factor] = one_line(given["justification"])
    flags = [f"{factor}_justification_length" for factor, why in whys.items() if len(why.split()) not in WORDS]
    fields = ((found, {"image_id", RESULTS}), (results, set(FACTORS)))
    factors = tuple((results[factor], {"score", "justification"}) for factor in FACTORS)
    if any(given.keys() - asked for given, asked in (*fields, *factors)):
        flags.append("more_fields_than_asked_for")
    summary = " ".join(f"{factor.capitalize()} {scores[factor]}: {whys[factor]}" for factor in FACTORS)
    return Reading(scores, starts(answer), whys, summary, flags=tuple(flags))


def starts(answer: str) -> dict[str, int]:
    """Where the score of each factor stands, if that is plain."""
    found = {}
    for factor in FACTORS:
        places = [each.start(1) for each in re.finditer(rf'"{factor}"\s*:\s*\{{\s*"score"\s*:\s*(\d)', answer)]
        if len(places) == 1:
            found[factor] = places[0]
    return found


FACTOR = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": list(SCALE)}, "justification": {"type": "string"}},
    "required": ["score", "justification"],
    "additionalProperties": False,
}
# The seed's output format; the same for all samples, since servers take their time over a new one.
SCHEMA = {
    "type": "object",
    "properties": {
        "image_id": {"type": "string"},
        RESULTS: {
            "type": "object",
            "properties": dict.fromkeys(FACTORS, FACTOR),
            "required": list(FACTORS),
            "additionalProperties": False,
        },
    },
    "required": ["image_id", RESULTS],
    "additionalProperties": False,
}
RUBRIC = Rubric("edit", "1", SCALE, text("edit-1"), ask, read, json.dumps(SCHEMA))
