"""`edit`: does the edited image carry out the instruction? Three factors, each 1 to 7."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import is_refusal, json_block, json_integer, one_line
from onprompt.report import terminal
from onprompt.rubrics import object_schema, text
from onprompt.types import (
    IMAGE,
    TEXT,
    FactorScore,
    Graded,
    Input,
    Part,
    Picture,
    Reading,
    Rubric,
    Sample,
    SentImage,
    Verdict,
)

if TYPE_CHECKING:
    from onprompt.evidence.edits.grade import JudgedEdit
    from onprompt.settings import Settings

SCALE = range(1, 8)
FACTORS = ("alignment", "completeness", "plausibility")
RESULTS = "online_factor_results"
WORDS = range(15, 31)  # of a justification
MASK_TEXT = "Mask: the edit should change the image only where the following picture is white."
# Words around the JSON that may take it back or correct it.
OTHER_SCORES = re.compile(
    r"(?:alignment|completeness|plausibility|scores?|ratings?|factors?)\b[^.\n]{0,80}\d"
    r"|\d[^.\n]{0,40}\b(?:alignment|completeness|plausibility|score)"
    r"|\b(?:correct(?:ion|ed)|revis\w+|instead|actually|wait|mistaken?|on reflection|should be|should have|"
    r"ignore|disregard|example|sample (?:answer|response|output)|template|hypothetical\w*|guess\w*|would|not my|wrong|"
    r"draft|too (?:generous|high|low|harsh|strict|lenient))\b|[{}]",
    re.IGNORECASE,
)
PLACES = re.compile(r"\[(?:input image|edited image|text instruction)\]")


def ask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The rubric's text with both images and the instruction at the places that it names, and the id at its end."""
    head, between, then, rest = PLACES.split(RUBRIC.text)
    return (
        f"{head}[input image]",
        show(sample.pictures["before"]),
        f"{between}[edited image]",
        show(sample.picture),
        f'{then}[text instruction] "{sample.prompt}"{rest}\nimage_id: {json.dumps(sample.id, ensure_ascii=False)}',
    )


def ask_with_mask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The same, followed by the mask if there is one."""
    *parts, last = ask(sample, show)
    mask = sample.pictures.get("mask")
    return (*parts, last) if mask is None else (*parts, f"{last}\n\n{MASK_TEXT}", show(mask))


def configure(rubric: Rubric, settings: Settings) -> Rubric:
    """With or without the mask."""
    return replace(rubric, ask=ask_with_mask) if settings.send_mask else rubric


def read(answer: str, sample: Sample) -> Reading:
    """One strict JSON block with all three factors and the sample's id; words around it may not speak of scores."""
    document, around = json_block(answer)
    if OTHER_SCORES.search(around):
        raise UnreadableAnswer("two_scores", "the words around the JSON speak of other scores")
    results = document.get(RESULTS) if isinstance(document, dict) else None
    if not isinstance(results, dict):
        raise UnreadableAnswer("wrong_fields", f"the JSON has no {RESULTS}")
    if document.get("image_id") != sample.id:
        raise UnreadableAnswer("wrong_id", f"image_id is not {json.dumps(sample.id, ensure_ascii=False)}")
    scores, reasons = {}, {}
    for factor in FACTORS:
        given = results.get(factor)
        if not isinstance(given, dict) or "score" not in given:
            raise UnreadableAnswer("wrong_fields", f"the factor {factor} has no score")
        scores[factor] = json_integer(given["score"], f"the score of {factor}", SCALE)
        if not isinstance(given.get("justification"), str):
            raise UnreadableAnswer("wrong_fields", f"the factor {factor} has no justification")
        reasons[factor] = one_line(given["justification"])
        if is_refusal(reasons[factor]):
            raise UnreadableAnswer("refusal", f"the justification of {factor} says that the model can't judge")
    flags = [f"{factor}_justification_length" for factor, reason in reasons.items() if len(reason.split()) not in WORDS]
    fields = ((document, {"image_id", RESULTS}), (results, set(FACTORS)))
    factors = tuple((results[factor], {"score", "justification"}) for factor in FACTORS)
    if any(given.keys() - asked for given, asked in (*fields, *factors)):
        flags.append("more_fields_than_asked_for")
    summary = " ".join(f"{factor.capitalize()} {scores[factor]}: {reasons[factor]}" for factor in FACTORS)
    return Reading(scores, starts(answer), reasons, summary, flags=tuple(flags))


def starts(answer: str) -> dict[str, int]:
    """Where the score of each factor is in the text, if that is unambiguous."""
    places = {
        factor: [score.start(1) for score in re.finditer(rf'"{factor}"\s*:\s*\{{\s*"score"\s*:\s*(\d)', answer)]
        for factor in FACTORS
    }
    return {factor: found[0] for factor, found in places.items() if len(found) == 1}


def observe(sample: Sample, settings: Settings) -> JudgedEdit:
    """The edit as the evidence judge sees it."""
    from onprompt.evidence.edits.grade import judge_edit

    return judge_edit(sample, settings)


def grade(judged: JudgedEdit, settings: Settings) -> Graded:  # noqa: ARG001 the settings have had their say
    """Three scores with their justifications; the value is finer than they are."""
    from onprompt.wording import edits as wording

    shares = {factor: getattr(judged, factor) for factor in FACTORS}
    factors = {}
    for factor, share in shares.items():
        expected = SCALE[0] + share * (SCALE[-1] - SCALE[0])
        reason = getattr(wording, factor)(judged, round(expected))
        factors[factor] = FactorScore(round(expected), reason, expected=round(expected, 2))
    value = round(RUBRIC.value(shares), 4)
    return Graded(factors, value, wording.summary(judged), interval=judged.interval)


def explain(verdict: Verdict, settings: Settings) -> Iterable[str]:  # noqa: ARG001 the same for all settings
    """How the scores are computed, line by line."""
    from onprompt.report import arithmetic

    return arithmetic.edit_lines(verdict, SCALE)


FACTOR = object_schema({"score": {"type": "integer", "enum": list(SCALE)}, "justification": {"type": "string"}})
# The protocol's output format; the same for all samples, since servers are slow with a new one.
SCHEMA = object_schema({"image_id": {"type": "string"}, RESULTS: object_schema(dict.fromkeys(FACTORS, FACTOR))})


def protocol(verdict: Verdict) -> str:
    """The seed's strict JSON."""
    results = {name: {"score": f.score, "justification": f.reason} for name, f in verdict.factors.items()}
    return json.dumps({"image_id": verdict.sample.id, RESULTS: results}, ensure_ascii=False, indent=2)


BEFORE = ("before", "source", "input", "original", "source_image", "input_image", "source_img", "original_image")
# `image` comes last: next to an edited_image it is the source.
AFTER = ("after", "edited", "output", "target_image", "edited_image", "target_img", "image")
INSTRUCTION = ("instruction", "edit", "edit_instruction", "prompt", "text", "edit_prompt")
MASK = "A mask image, white where the edit may change something."
RUBRIC = Rubric(
    name="edit",
    version="1",
    help="Judge an edit on alignment, completeness and plausibility. Each is scored from 1 to 7.",
    inputs=(  # in the order that the versions of samples in run files depend on
        Input("before", IMAGE, "The image before the edit.", columns=BEFORE),
        Input("after", IMAGE, "The image after the edit.", columns=AFTER),
        Input("mask", IMAGE, MASK, required=False, columns=("mask", "mask_img")),
        Input("instruction", TEXT, "What should have been done.", columns=INSTRUCTION),
    ),
    picture="after",
    prompt="instruction",
    factors=dict.fromkeys(FACTORS, SCALE),
    text=text("edit-1"),
    ask=ask,
    configure=configure,
    read=read,
    asks_for_json=True,
    schema=json.dumps(SCHEMA),
    observe=observe,
    grade=grade,
    lines=terminal.edit_lines,
    protocol=protocol,
    explain=explain,
)
