"""`rate` (seed 001): which elements, and which actions and relations, does the image show? 1 to 5."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import json_integer, json_object, one_line, parse_score, shorten
from onprompt.rubrics import text
from onprompt.types import Part, Picture, Reading, Rubric, Sample, Shown

SCALE = range(1, 6)
WORDS = 20  # of reasoning, at most
LABEL = re.compile(r"(?<![^\s.。!?;,*_#`>|•·-])(Reasoning|Score)[\s*_`]*[:：]", re.IGNORECASE)
AROUND = " \t\r\n*_`"  # a number or a reasoning
BULLET = re.compile(r"[\s*_#`>|•·-]*+(?:\d{1,2}[.)])?[\s*_#`>|•·-]*+")
# A number that begins a line, and of how many: 4, 4.5, 4/5, **4** out of 5, 80%.
FIRST = re.compile(
    r"([+−–-]?\d++(?:[.,]\d++)?)(?![^\W_])[\s*_`]*(?:[(\[]?(?:/|(?:out )?of\b)[\s*_`]*(\d++)[)\]]?|(%))?", re.IGNORECASE
)
NUMBERS = re.compile(r"\d++(?:[.,]\d++)?")
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "integer", "enum": list(SCALE)}},
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}


def ask(sample: Sample, show: Callable[[Picture], Shown]) -> tuple[Part, ...]:
    """The image, and the seed's text, which ends in `User prompt: `."""
    return show(sample.picture), RUBRIC.text, sample.prompt


def ask_plainly(sample: Sample, show: Callable[[Picture], Shown]) -> tuple[Part, ...]:
    """The same without the worked examples."""
    return show(sample.picture), PLAIN.text, sample.prompt


def read(answer: str, sample: Sample) -> Reading:  # noqa: ARG001 the answer holds no id
    """`Reasoning:` and `Score:`, once or alike."""
    found = json_object(answer)
    if found is not None:
        return read_json(found, answer)
    told = parts(answer)
    lines = [(first_line(words), start) for label, words, start in told if label == "score"]
    lines = [(line, start) for line, start in lines if line] or lines
    if not lines:
        raise UnreadableAnswer("no_score", "there is no line `Score: n` in the answer")
    scores = {line: stated(line) for line in dict.fromkeys(line for line, _ in lines)}
    if len(set(scores.values())) > 1:
        raise UnreadableAnswer("two_scores", f"the answer has {len(lines)} scores that differ")
    why = next((said for said in (undecorated(words) for label, words, _ in told if label == "reasoning") if said), "")
    if not why:
        raise UnreadableAnswer("no_reasoning", "there is no `Reasoning:` in the answer")
    line, start = lines[-1]
    return reading(scores[line], answer.index(line, start), why)


def parts(answer: str) -> list[tuple[str, str, int]]:
    """Each label, what stands between it and the next, and where that begins."""
    labels = list(LABEL.finditer(answer))
    ends = [*(each.start() for each in labels), len(answer)][1:]
    return [(each[1].lower(), answer[each.end() : end], each.end()) for each, end in zip(labels, ends, strict=True)]


def first_line(words: str) -> str:
    """The first line that is not blank, less its decoration."""
    return words.strip(AROUND).partition("\n")[0].strip(AROUND)


def undecorated(words: str) -> str:
    """A reasoning in one line; the bullet before the next label is no part of it."""
    head, _, last = words.rpartition("\n")
    return " ".join((head if BULLET.fullmatch(last) else words).strip(f"{AROUND}|").split())


def stated(line: str) -> int:
    """The number that a `Score:` line gives, which must be its first word and its only number."""
    first = FIRST.match(line)
    numbers = set(NUMBERS.findall(line[first.end() :] if first else line))
    if not first and len(numbers) < 2:
        raise UnreadableAnswer("no_score", "the line `Score:` does not begin with a number")
    if not first or numbers - {first[1]}:
        raise UnreadableAnswer("two_scores", "the line `Score:` gives more than one number")
    # 4/10 and 80% are one score each, but of another scale; 3-4, "3 or 4" and "3, 4" are two.
    if first[3] or (first[2] and (len(first[2]) > 1 or int(first[2]) != SCALE[-1])):
        raise UnreadableAnswer("off_scale", f"the score is {shorten(first[0].strip())}, of another scale")
    return parse_score(first[1], SCALE)


def read_json(found: Mapping[str, Any], answer: str) -> Reading:
    """The same where the server held the model to a schema."""
    if "score" not in found:
        raise UnreadableAnswer("no_score", "the JSON has no score")
    score = json_integer(found["score"], "the score", SCALE)
    why = found.get("reasoning")
    if not isinstance(why, str) or not why.strip():
        raise UnreadableAnswer("no_reasoning", "the JSON has no reasoning")
    where = [each.start(1) for each in re.finditer(r'"score"\s*:\s*(\d)', answer)]
    return reading(score, where[-1] if where else -1, why)


def reading(score: int, start: int, why: str) -> Reading:
    """A score and its reason, which is flagged where it is too long."""
    why = one_line(why)
    flags = ("reasoning_too_long",) if len(why.split()) > WORDS else ()
    return Reading({"score": score}, {"score": start}, {"score": why}, why, flags=flags)


RUBRIC = Rubric("rate", "1", SCALE, text("rate-1"), ask, read, json.dumps(SCHEMA))
PLAIN = replace(RUBRIC, version="1-plain", text=text("rate-1-plain"), ask=ask_plainly)
