"""`verify`: are the prompt's objects, counts, attributes and relations in the image? 0 to 4."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onprompt import wording
from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import json_object, json_score, one_line
from onprompt.models.stated_score import stated_score
from onprompt.report import terminal
from onprompt.report.document import document
from onprompt.rubrics import PROMPT_INPUTS, object_schema, text
from onprompt.types import (
    Check,
    Claim,
    FactorScore,
    Finding,
    Found,
    Graded,
    Outcome,
    Part,
    Picture,
    Reading,
    Rubric,
    Sample,
    SentImage,
    Verdict,
)

if TYPE_CHECKING:
    from onprompt.evidence.observe import Observations
    from onprompt.settings import Settings

SCALE = range(5)
STEP = re.compile(
    r"(?:^[ \t*#>_-]*+(?:\d{1,2}[.)][ \t*_]*+)?|(?<=[\].] ))Steps?\s*(\d)(?:\s*(?:[&,/–-]|and)\s*\d)?\b",
    re.IGNORECASE | re.MULTILINE,
)
# A text in quotation marks; an apostrophe is not one: it is followed by more of the word.
ENDS = r"(?=\s{0,9}(?:[,，;:\])）]|$))"
QUOTED = (
    r'(?:"([^"\\\n]{0,400}+(?:\\.[^"\\\n]{0,400}+){0,20}+)"'
    rf"|(?<!\w)'([^'\n]{{0,400}}+(?:'(?!{ENDS})[^'\n]{{0,400}}+){{0,20}}+)'"
    r"|“([^“”\n]{0,400}+)”"
    rf"|‘([^‘’\n]{{0,400}}+(?:’(?!{ENDS})[^‘’\n]{{0,400}}+){{0,20}}+)’)"
)
ITEM = re.compile(QUOTED, re.MULTILINE)
PAIR = re.compile(
    rf"[(（]\s*{QUOTED}\s*[,，]\s*(?:{QUOTED}|(MISSING|LOW_CONFIDENCE))\s*[)）]", re.IGNORECASE | re.MULTILINE
)
ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
ABSENT = re.compile(r"(MISSING|LOW[_ ]CONFIDENCE)(?=\W*\Z|\s*[(:,;.–—-]|\s+(?:from|in)\b)", re.IGNORECASE)
MATCHED = "matched"  # the finding for an object without a difference
SEARCHED = 50_000  # characters of an answer that are searched for the lists of the steps
STRINGS = {"type": "array", "items": {"type": "string"}}
DIFFERENCE = object_schema({"prompt": {"type": "string"}, "image": {"type": "string"}})
SCHEMA = object_schema(
    {
        "prompt_objects": STRINGS,
        "image_objects": STRINGS,
        "differences": {"type": "array", "items": DIFFERENCE},
        "score": {"type": "integer", "enum": list(SCALE)},
    }
)


def ask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The text's first half, the prompt, the image."""
    return RUBRIC.text, f'Input Prompt: "{sample.prompt}"', show(sample.picture)


def read(answer: str, sample: Sample) -> Reading:
    """The score that is stated; the lists of the steps become checks if the model wrote them."""
    document = json_object(answer)
    if document is not None:
        return read_json(document, answer)
    score, start = stated_score(answer, SCALE, (RUBRIC.text, sample.prompt))
    lists = split_steps(answer[:SEARCHED])
    asked = [unquote(quoted.groups()) for quoted in ITEM.finditer(bracketed_list(lists.get("1", "")))]
    pairs = [pair.groups() for pair in PAIR.finditer(lists.get("3", "") + lists.get("4", ""))]
    differences = tuple((unquote(groups[:4]), unquote(groups[4:])) for groups in pairs)
    summary = "" if asked or differences else last_line(answer, start)
    seen = [unquote(quoted.groups()) for quoted in ITEM.finditer(bracketed_list(lists.get("2", "")))]
    return make_reading(score, start, asked, seen, differences, summary)


def read_json(document: Mapping[str, Any], answer: str) -> Reading:
    """An answer by the schema."""
    score, start = json_score(document, answer, SCALE)
    asked, seen, listed = (document.get(name, []) for name in ("prompt_objects", "image_objects", "differences"))
    if not all(isinstance(entries, list) for entries in (asked, seen, listed)) or not all(
        isinstance(difference, dict) for difference in listed
    ):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists are not of the form that was asked for")
    differences = tuple((difference.get("prompt"), difference.get("image")) for difference in listed)
    if not all(isinstance(words, str) for words in (*asked, *seen, *(side for pair in differences for side in pair))):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists hold something other than texts")
    return make_reading(score, start, asked, seen, differences)


def make_reading(
    score: int,
    start: int,
    asked: Sequence[str],
    seen: Sequence[str],
    listed: Sequence[tuple[str, str]],
    summary: str = "",
) -> Reading:
    """A score with a check for each object of the prompt that the model listed, and for each difference."""
    differences = [(prompt, image) for prompt, image in listed if normalize(prompt) != normalize(image)]
    phrases = {normalize(prompt): prompt for prompt in reversed(asked)}
    order = dict.fromkeys(normalize(prompt) for prompt in (*asked, *(prompt for prompt, _ in differences)))
    checks: list[Check] = []
    for name in order:
        own = [(prompt, image) for prompt, image in differences if normalize(prompt) == name]
        checks += [stated_check(phrases.get(name, prompt), image) for prompt, image in own]
        checks += [] if own else [stated_check(phrases[name])]
    summary = one_line(summary or wording.stated_summary(differences, bool(asked), score, SCALE[-1]))
    stated = {name: tuple(objects) for name, objects in (("prompt", asked), ("image", seen)) if objects}
    return Reading({"score": score}, {"score": start}, {"score": summary}, summary, tuple(checks), stated=stated)


def stated_check(asked: str, difference: str | None = None) -> Check:
    """What the model says about one object, without any other evidence; None if it names no difference."""
    claim = Claim("object", asked)
    if difference is None:
        return Check(claim, Finding(Found.STATED, MATCHED), Outcome.MATCHED, 1.0, "model")
    absent = ABSENT.match(difference.strip())
    outcome = Outcome(absent[1].lower().replace(" ", "_")) if absent else Outcome.MISMATCH
    return Check(claim, Finding(Found.STATED, difference), outcome, 0.0, "model")


def split_steps(answer: str) -> dict[str, str]:
    """The text under each step, by its first number; the last one if a step is repeated."""
    headings = list(STEP.finditer(answer))
    ends = [*(heading.start() for heading in headings), len(answer)][1:]
    return {heading[1]: answer[heading.end() : end] for heading, end in zip(headings, ends, strict=True)}


def bracketed_list(words: str) -> str:
    """The text in the square brackets of a step, or all of it if there are none."""
    return words[words.find("[") : words.rfind("]") + 1] or words


def unquote(groups: Sequence[str | None]) -> str:
    """The text in quotation marks of any kind."""
    return next((group for group in groups if group is not None), "").replace('\\"', '"').replace("\\'", "'")


def normalize(phrase: str) -> str:
    """A phrase for comparison: "noble man" and "A noble man" are the same."""
    return ARTICLE.sub("", phrase.strip(" ."), count=1).casefold()


def last_line(answer: str, end: int) -> str:
    """The last line of text before the score."""
    lines = [line.strip(" *#`") for line in answer[max(0, end - 2000) : end].splitlines()]
    return next((line for line in reversed(lines) if re.search(r"[^\W\d_]{2}", line)), "")


# ---- by evidence ---------------------------------------------------------------------------------------------------


def grade(observed: Observations, settings: Settings) -> Graded:
    """The protocol's last steps: the score to expect, and the report."""
    from onprompt.evidence.grading import rubric_score  # with numpy, which the list of commands does without

    expected = observed.expectation(rubric_score, SCALE, settings)
    evidence = observed.evidence(settings)
    summary = wording.summary(evidence, observed.checks, expected.score, SCALE[-1], observed.verifiable)
    factor = FactorScore(expected.score, summary)
    return Graded(
        {"score": factor},
        expected.value,
        summary,
        expected.measured("presence", "attribute_accuracy"),
        expected.interval,
    )


def protocol(verdict: Verdict) -> str:
    """Steps 1 to 5 as the seed wants them (step 6); the last line is the score and nothing else."""
    found, evidence = document(verdict), verdict.prompt_evidence
    prompt = found["prompt_objects"] if evidence else verdict.stated.get("prompt", ())
    image = found["image_objects"] if evidence else verdict.stated.get("image", ())
    pairs = ", ".join(f"({asked!r}, {actual!r})" for asked, actual in found["pairs"])
    return "\n".join(
        [
            f"Step 1 (prompt extraction): {json.dumps(prompt, ensure_ascii=False)}",
            f"Step 2 (image extraction): {json.dumps(image, ensure_ascii=False)}",
            f"Step 3&4 (alignment differences): [{pairs}]",
            f"Step 5 (final score): {verdict.summary}",
            f"({verdict.score})",
        ]
    )


def explain(verdict: Verdict, settings: Settings) -> Iterable[str]:
    """How the score is computed, line by line."""
    from onprompt.evidence.grading import rubric_score  # with numpy, which the list of commands does without
    from onprompt.report import arithmetic

    return arithmetic.lines(verdict, settings, rubric_score, SCALE)


RUBRIC = Rubric(
    name="verify",
    version="1",
    help="Check an image against a prompt. The last line is the score, (0) to (4).",
    inputs=PROMPT_INPUTS,
    factors={"score": SCALE},
    text=text("verify-1"),
    ask=ask,
    read=read,
    schema=json.dumps(SCHEMA),
    grade=grade,
    lines=terminal.lines,
    protocol=protocol,
    explain=explain,
)
