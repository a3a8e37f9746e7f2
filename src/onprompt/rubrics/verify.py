"""`verify`: are the prompt's objects, counts, attributes and relations in the image? 0 to 4."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from onprompt import wording
from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import is_refusal, json_integer, json_object, one_line, parse_score
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
    Shown,
    Verdict,
)

if TYPE_CHECKING:
    from onprompt.evidence.observe import Observations
    from onprompt.settings import Settings

SCALE = range(5)
# A number in brackets, or an attempt at one (3.5, 3/4, 3-4), maybe with Markdown around it. The scale itself, (0-4), is
# not one.
BRACKETED = re.compile(
    r"[(（][\s*_`#\\]*+(?!0\s*[-–—]\s*4\D)([+−–-]?\d++(?:(?:[.,/]|\s*(?:/|(?:out )?of|or|to|[-–—])\s*)\d++)*+\.?)"
    r"[\s*_`#\\]*+[)）]",
    re.IGNORECASE,
)
FOLLOWED = re.compile(r"[^\w\n]*+\w")  # by more on the same line
ALONE = re.compile(r"[^\w\n]*+(?:\n|\Z)")
LAST = re.compile(r"(?:[^\w<]|<[|/\w]{1,20}>)*+\Z")  # a chat template may add marks
SAID = re.compile(
    r"\b(?:scor(?:e[sd]?|ing)|grad(?:e[sd]?|ing)|rat(?:e[sd]?|ings?)|assign(?:ed|ing)?|giv(?:e[ns]?|ing)|award(?:ed)?|final|verdict|"
    r"result|answer|alignment|deserves?|earns?|step 5)\b[^.\n()（）]{0,25}\Z",
    re.IGNORECASE,
)
# What comes before a number that is no score of this image: a step, an example, the scale's end, a denial.
NO_SCORE = re.compile(
    r"\b(?:step|format like|such as|for (?:example|instance)[:,]?|e\.g\.,?)\s*\Z"
    r"|\b(?:max(?:imum)?|highest|best|lowest|minimum|worst)\b[^.\n()（）]{0,25}\b(?:is|are|was|being)\s*\Z"
    r"|(?:\bnot|\bnever|\bcannot|n['’]t)\s+(?:\w+\s+)?"
    r"(?:giv|award|assign|scor|rat|grad|deserv|earn|merit|warrant|reach|get|be)\w*\b[^.,;:\n()（）]{0,15}\Z"
    r"|(?:\bnot|n['’]t)\s+(?:an?\s+|the\s+|quite\s+)*\Z|\b(?:rather than|instead of|short of)\s+(?:an?\s+)?\Z",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\b(?:if|unless|had (?:it|the))\b[^.\n]*\bwould\b[^.\n]*\Z", re.IGNORECASE)
OPEN_QUOTE = re.compile(r"[“«]|(?<!\w)[\"'‘](?=\w)")
CLOSE_QUOTE = re.compile(r"[”»]|(?<=[\w).])[\"'’](?!\w)")
OR = re.compile(r"[\W_]*(?:or|and|to|-|–|/|,)[\W_]*", re.IGNORECASE)
CONTEXT, SENTENCE = 40, 160  # characters before a bracket that announce it, that exclude it
MAX_POINTS = 50  # of a numbered list
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


def ask(sample: Sample, show: Callable[[Picture], Shown]) -> tuple[Part, ...]:
    """The text's first half, the prompt, the image."""
    return RUBRIC.text, f'Input Prompt: "{sample.prompt}"', show(sample.picture)


def read(answer: str, sample: Sample) -> Reading:  # noqa: ARG001 the answer holds no id
    """The score is the last `(n)`; the lists of the steps become checks if the model wrote them."""
    document = json_object(answer)
    if document is not None:
        return read_json(document, answer)
    headings = list(STEP.finditer(answer))
    last = find_score(answer, headings)
    if last is None:
        raise UnreadableAnswer("no_score", "there is no score like (4) in the answer")
    score = parse_score(last[1], SCALE)
    lists = split_steps(answer[:SEARCHED], [heading for heading in headings if heading.end() <= SEARCHED])
    asked = [unquote(quoted.groups()) for quoted in ITEM.finditer(bracketed_list(lists.get("1", "")))]
    pairs = [pair.groups() for pair in PAIR.finditer(lists.get("3", "") + lists.get("4", ""))]
    differences = tuple((unquote(groups[:4]), unquote(groups[4:])) for groups in pairs)
    summary = "" if asked or differences else last_line(answer, last.start())
    if summary and is_refusal(summary):
        raise UnreadableAnswer("refusal", "the model refuses to answer")
    seen = [unquote(quoted.groups()) for quoted in ITEM.finditer(bracketed_list(lists.get("2", "")))]
    return make_reading(score, last.start(1), Lists(asked, seen, differences), summary)


def read_json(document: Mapping[str, Any], answer: str) -> Reading:
    """An answer by the schema."""
    if "score" not in document:
        raise UnreadableAnswer("no_score", "the JSON has no score")
    score = json_integer(document["score"], "the score", SCALE)
    asked, seen, listed = (document.get(name, []) for name in ("prompt_objects", "image_objects", "differences"))
    if not all(isinstance(entries, list) for entries in (asked, seen, listed)) or not all(
        isinstance(difference, dict) for difference in listed
    ):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists are not of the form that was asked for")
    differences = tuple((difference.get("prompt"), difference.get("image")) for difference in listed)
    if not all(isinstance(words, str) for words in (*asked, *seen, *(side for pair in differences for side in pair))):
        raise UnreadableAnswer("wrong_fields", "the JSON's lists hold something other than texts")
    places = [number.start(1) for number in re.finditer(r'"score"\s*:\s*(\d)', answer)]
    return make_reading(score, places[-1] if places else -1, Lists(asked, seen, differences))


class Lists(NamedTuple):
    """What a model listed: the objects of the prompt, those of the image, and how the two differ."""

    prompt: Sequence[str]
    image: Sequence[str]
    differences: Sequence[tuple[str, str]]


def make_reading(score: int, start: int, lists: Lists, summary: str = "") -> Reading:
    """A score with a check for each object that the model listed, and for each difference."""
    differences = [(prompt, image) for prompt, image in lists.differences if normalize(prompt) != normalize(image)]
    phrases = {normalize(prompt): prompt for prompt in reversed(lists.prompt)}
    order = dict.fromkeys(normalize(prompt) for prompt in (*lists.prompt, *(prompt for prompt, _ in differences)))
    checks: list[Check] = []
    for name in order:
        own = [(prompt, image) for prompt, image in differences if normalize(prompt) == name]
        checks += [stated_check(phrases.get(name, prompt), image) for prompt, image in own]
        checks += [] if own else [stated_check(phrases[name])]
    summary = one_line(summary or wording.stated_summary(differences, bool(lists.prompt), score, SCALE[-1]))
    stated = {name: tuple(objects) for name, objects in (("prompt", lists.prompt), ("image", lists.image)) if objects}
    return Reading({"score": score}, {"score": start}, {"score": summary}, summary, tuple(checks), stated=stated)


def stated_check(asked: str, difference: str | None = None) -> Check:
    """What the model says about one object, without any other evidence; None if it names no difference."""
    claim = Claim("object", asked)
    if difference is None:
        return Check(claim, Finding(Found.STATED, MATCHED), Outcome.MATCHED, 1.0, "model")
    absent = ABSENT.match(difference.strip())
    outcome = Outcome(absent[1].lower().replace(" ", "_")) if absent else Outcome.MISMATCH
    return Check(claim, Finding(Found.STATED, difference), outcome, 0.0, "model")


def find_score(answer: str, headings: Sequence[re.Match[str]]) -> re.Match[str] | None:
    """The last number in brackets that is meant as a score; `headings` are those of the steps."""
    brackets = list(BRACKETED.finditer(answer))
    grading = max((heading.start() for heading in headings if heading[1] == "5"), default=0)
    while brackets:
        points = count_points(brackets, answer)
        if not points and is_score(brackets[-1], answer, grading):
            refuse_two_scores(brackets, answer)
            return brackets[-1]
        del brackets[-max(points, 1) :]
    return None


def refuse_two_scores(brackets: Sequence[re.Match[str]], answer: str) -> None:
    """Refuse two different scores side by side: "(3) or (4)", "between (2) and (3)"."""
    first, last = brackets[-2:] if len(brackets) > 1 else (brackets[-1], brackets[-1])
    if first[1] != last[1] and OR.fullmatch(answer, first.end(), last.start()):
        raise UnreadableAnswer("two_scores", "the answer leaves it open which of two scores it gives")


def count_points(brackets: Sequence[re.Match[str]], answer: str) -> int:
    """How many of the last brackets number a list: (1) the owl, (2) the moon."""
    count = int(brackets[-1][1]) if re.fullmatch(r"\d{1,2}", brackets[-1][1]) else 0
    if not 1 < count <= min(len(brackets), MAX_POINTS):
        return 0
    points = brackets[-count:]
    in_sequence = all(point[1].isdecimal() and int(point[1]) == place for place, point in enumerate(points, 1))
    with_text = all(FOLLOWED.match(answer, point.end()) and not precedes(SAID, point, answer) for point in points)
    return count if in_sequence and with_text else 0


def is_score(bracket: re.Match[str], answer: str, grading: int) -> bool:
    """Whether a number in brackets is a score: announced as one, alone on its line, or at either end of the text.

    A number within a sentence counts something: "birds (3) in the picture".
    """
    first = answer[max(0, bracket.start() - CONTEXT) : bracket.start()].rpartition("\n")[2]
    begins, ends = ALONE.fullmatch(first), ALONE.match(answer, bracket.end())
    at_an_end = bracket.start() >= grading and bool(begins or LAST.match(answer, bracket.end()))
    return bool((begins and ends) or at_an_end or precedes(SAID, bracket, answer)) and not is_excluded(bracket, answer)


def is_excluded(bracket: re.Match[str], answer: str) -> bool:
    """Whether a number is quoted, denied, hypothetical or an example."""
    before = answer[max(0, bracket.start() - SENTENCE) : bracket.start()]
    return bool(NO_SCORE.search(before) or CONDITION.search(before)) or is_quoted(bracket, answer)


def is_quoted(bracket: re.Match[str], answer: str) -> bool:
    """Whether a number stands in quotation marks together with other words: a sign that reads "score: (4)"."""
    before = answer[max(0, bracket.start() - SENTENCE) : bracket.start()].rpartition("\n")[2]
    opened, closed = (len(pattern.findall(before)) for pattern in (OPEN_QUOTE, CLOSE_QUOTE))
    return opened > closed and bool(CLOSE_QUOTE.match(answer, bracket.end()))


def precedes(pattern: re.Pattern[str], bracket: re.Match[str], answer: str) -> re.Match[str] | None:
    """The match of a pattern right before a bracket."""
    return pattern.search(answer[max(0, bracket.start() - CONTEXT) : bracket.start()])


def split_steps(answer: str, headings: Sequence[re.Match[str]]) -> dict[str, str]:
    """The text under each step, by its first number; the last one if a step is repeated."""
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
    yes_no='Does this figure show "{prompt}"? Please answer yes or no.',
)
