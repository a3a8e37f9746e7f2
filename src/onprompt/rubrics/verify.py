"""`verify` (seed 000): are the prompt's objects, counts, attributes and relations in the image? 0 to 4."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import json_integer, json_object, one_line, parse_score
from onprompt.rubrics import text
from onprompt.types import Check, Outcome, Part, Picture, Reading, Rubric, Sample, Shown

SCALE = range(5)
# A number in brackets, or what is meant as one (3.5, 3/4, 3-4); stars and the like around it are no harm. The scale
# itself, (0-4), is none.
BRACKETED = re.compile(
    r"[(（][\s*_`#\\]*+(?!0\s*[-–—]\s*4\D)([+−–-]?\d++(?:(?:[.,/]|\s*(?:/|(?:out )?of|or|to|[-–—])\s*)\d++)*+\.?)"
    r"[\s*_`#\\]*+[)）]",
    re.IGNORECASE,
)
FOLLOWED = re.compile(r"[^\w\n]*+\w")  # by something on the same line
ALONE = re.compile(r"[^\w\n]*+(?:\n|\Z)")
LAST = re.compile(r"(?:[^\w<]|<[|/\w]{1,20}>)*+\Z")  # marks of a chat's template may come behind
SAID = re.compile(
    r"\b(?:scor(?:e[sd]?|ing)|grad(?:e[sd]?|ing)|rat(?:e[sd]?|ings?)|assign(?:ed|ing)?|giv(?:e[ns]?|ing)|award(?:ed)?|final|verdict|"
    r"result|answer|alignment|deserves?|earns?|step 5)\b[^.\n()（）]{0,25}\Z",
    re.IGNORECASE,
)
NO_SCORE = re.compile(
    r"\b(?:step|format like|not an?)\s*\Z", re.IGNORECASE
)  # Step (4); "the format like (4)", as the seed says
OR = re.compile(r"[\W_]*(?:or|and|to|-|–|/|,)[\W_]*", re.IGNORECASE)
NEAR = 40  # characters before a bracket that are looked at
LONGEST = 50  # points of a numbered list
STEP = re.compile(
    r"(?:^[ \t*#>_-]*+(?:\d{1,2}[.)][ \t*_]*+)?|(?<=[\].] ))Steps?\s*(\d)(?:\s*(?:[&,/–-]|and)\s*\d)?\b",
    re.IGNORECASE | re.MULTILINE,
)
# Whatever stands in quotation marks; an apostrophe is none: the end is where no further word comes.
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
SAME = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
ABSENT = re.compile(r"(MISSING|LOW[_ ]CONFIDENCE)(?=\W*\Z|\s*[(:,;.–—-]|\s+(?:from|in)\b)", re.IGNORECASE)
SEARCHED = 50_000  # characters of an answer in which the lists of the steps are looked for
SCHEMA = {
    "type": "object",
    "properties": {
        "prompt_objects": {"type": "array", "items": {"type": "string"}},
        "image_objects": {"type": "array", "items": {"type": "string"}},
        "differences": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"prompt": {"type": "string"}, "image": {"type": "string"}},
                "required": ["prompt", "image"],
                "additionalProperties": False,
            },
        },
        "score": {"type": "integer", "enum": list(SCALE)},
    },
    "required": ["prompt_objects", "image_objects", "differences", "score"],
    "additionalProperties": False,
}


def ask(sample: Sample, show: Callable[[Picture], Shown]) -> tuple[Part, ...]:
    """The seed's first half, the prompt, the image."""
    return RUBRIC.text, f'Input Prompt: "{sample.prompt}"', show(sample.picture)


def read(answer: str, sample: Sample) -> Reading:  # noqa: ARG001 the answer holds no id
    """The score is the last `(n)`; the lists of the steps become checks where the model wrote them."""
    found = json_object(answer)
    if found is not None:
        return read_json(found, answer)
    heads = list(STEP.finditer(answer))
    last = final(answer, heads)
    if last is None:
        raise UnreadableAnswer("no_score", "there is no score like (4) in the answer")
    score = parse_score(last[1], SCALE)
    lists = steps(answer[:SEARCHED], [each for each in heads if each.end() <= SEARCHED])
    asked = [item(each.groups()) for each in ITEM.finditer(listed(lists.get("1", "")))]
    pairs = [each.groups() for each in PAIR.finditer(lists.get("3", "") + lists.get("4", ""))]
    differences = tuple((item(each[:4]), item(each[4:])) for each in pairs)
    summary = "" if asked or differences else before(answer, last.start())
    return reading(score, last.start(1), asked, differences, summary)


def read_json(found: Mapping[str, Any], answer: str) -> Reading:
    """The same where the server held the model to a schema."""
    if "score" not in found:
        raise UnreadableAnswer("no_score", "the JSON has no score")
    score = json_integer(found["score"], "the score", SCALE)
    asked, told = found.get("prompt_objects", []), found.get("differences", [])
    if not isinstance(asked, list) or not isinstance(told, list) or not all(isinstance(each, dict) for each in told):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists are not of the form that was asked for")
    differences = tuple((each.get("prompt"), each.get("image")) for each in told)
    if not all(isinstance(each, str) for each in (*asked, *(side for pair in differences for side in pair))):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists hold something else than texts")
    where = [each.start(1) for each in re.finditer(r'"score"\s*:\s*(\d)', answer)]
    return reading(score, where[-1] if where else -1, asked, differences, "")


def reading(
    score: int, start: int, asked: Sequence[str], differences: tuple[tuple[str, str], ...], summary: str
) -> Reading:
    """A score with a check for each thing that the model listed."""
    differences = tuple((prompt, image) for prompt, image in differences if same(prompt) != same(image))
    told = {same(prompt): image for prompt, image in differences}
    wanted: dict[str, str] = {}
    for each in (*asked, *(prompt for prompt, _ in differences)):
        wanted.setdefault(same(each), each)
    checks = tuple(check(each, told.get(name)) for name, each in wanted.items())
    if not summary:
        faults = "; ".join(f"{prompt}: {image}" for prompt, image in differences)
        summary = f"The image differs from the prompt: {faults}." if faults else "The image matches the prompt."
    summary = one_line(summary)
    return Reading({"score": score}, {"score": start}, {"score": summary}, summary, checks, differences)


def check(asked: str, found: str | None) -> Check:
    """What the model says of one thing; its word is all that there is."""
    if found is None:
        return Check("object", asked, "matched", Outcome.MATCHED, 1.0, 1.0, "model", -1)
    absent = ABSENT.match(found.strip())
    outcome = Outcome(absent[1].lower().replace(" ", "_")) if absent else Outcome.MISMATCH
    return Check("object", asked, found, outcome, 0.0, 1.0, "model", -1)


def final(answer: str, heads: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """The last number in brackets that is meant as a score; `heads` are those of the steps."""
    found = list(BRACKETED.finditer(answer))
    grading = max((each.start() for each in heads if each[1] == "5"), default=0)
    while found:
        points = numbered(found, answer)
        if not points and meant(found[-1], answer, grading):
            differing(found, answer)
            return found[-1]
        del found[-max(points, 1) :]
    return None


def differing(found: Sequence[re.Match[str]], answer: str) -> None:
    """Complain of two scores side by side that differ: "(3) or (4)", "between (2) and (3)"."""
    if len(found) > 1 and found[-2][1] != found[-1][1] and OR.fullmatch(answer, found[-2].end(), found[-1].start()):
        raise UnreadableAnswer("two_scores", "the answer leaves it open which of two scores it gives")


def numbered(found: Sequence[re.Match[str]], answer: str) -> int:
    """How many of the last brackets number a list: (1) the owl, (2) the moon."""
    count = int(found[-1][1]) if re.fullmatch(r"\d{1,2}", found[-1][1]) else 0
    if not 1 < count <= min(len(found), LONGEST):
        return 0
    points = found[-count:]
    counted = all(each[1].isdecimal() and int(each[1]) == place for place, each in enumerate(points, 1))
    free = all(FOLLOWED.match(answer, each.end()) and not near(SAID, each, answer) for each in points)
    return count if counted and free else 0


def meant(bracket: re.Match[str], answer: str, grading: int) -> bool:
    """Whether a number in brackets is a score: where that is said, alone on its line, or at either end of the text.

    A number that stands within a sentence counts something: "birds (3) in the picture".
    """
    if near(NO_SCORE, bracket, answer):
        return False
    if near(SAID, bracket, answer):
        return True
    first = answer[max(0, bracket.start() - NEAR) : bracket.start()].rpartition("\n")[2]
    begins, ends = ALONE.fullmatch(first), ALONE.match(answer, bracket.end())
    if begins and ends:
        return True
    return bracket.start() >= grading and bool(begins or LAST.match(answer, bracket.end()))


def near(pattern: re.Pattern[str], bracket: re.Match[str], answer: str) -> re.Match[str] | None:
    """What a pattern finds right before a bracket."""
    return pattern.search(answer[max(0, bracket.start() - NEAR) : bracket.start()])


def steps(answer: str, heads: Sequence[re.Match[str]]) -> dict[str, str]:
    """What stands under each step, by its first number; of a step that comes twice, the last."""
    if not heads:
        return {}
    ends = [*(each.start() for each in heads[1:]), len(answer)]
    return {head[1]: answer[head.end() : end] for head, end in zip(heads, ends, strict=True)}


def listed(words: str) -> str:
    """What stands in the square brackets of a step, or all of it where there are none."""
    return words[words.find("[") : words.rfind("]") + 1] or words


def item(groups: Sequence[str | None]) -> str:
    """The text in whichever quotation marks it stands."""
    return next((each for each in groups if each is not None), "").replace('\\"', '"').replace("\\'", "'")


def same(phrase: str) -> str:
    """A phrase by which it is known again: "noble man" and "A noble man" are one."""
    return SAME.sub("", phrase.strip(" ."), count=1).casefold()


def before(answer: str, end: int) -> str:
    """The last words before the score."""
    lines = [line.strip(" *#`") for line in answer[max(0, end - 2000) : end].splitlines()]
    return next((line for line in reversed(lines) if re.search(r"[^\W\d_]{2}", line)), "")


RUBRIC = Rubric("verify", "1", SCALE, text("verify-1"), ask, read, json.dumps(SCHEMA))
