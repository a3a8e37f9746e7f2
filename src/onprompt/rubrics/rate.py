"""`rate`: which elements, and which actions and relations, does the image show? 1 to 5."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onprompt import wording
from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import json_object, json_score, one_line
from onprompt.models.stated_score import stated_score
from onprompt.rubrics import PROMPT_INPUTS, object_schema, text
from onprompt.types import (
    Check,
    FactorScore,
    Graded,
    Line,
    Outcome,
    Part,
    Picture,
    Reading,
    Rubric,
    Sample,
    Scene,
    SentImage,
    Verdict,
)
from onprompt.wording import Group

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from onprompt.evidence.grading import Tally
    from onprompt.evidence.observe import Observations
    from onprompt.settings import Settings

SCALE = range(1, 6)
# Shares of the elements or relations: all, above this most of them, from here on some of them.
ALL, MOST, SOME = 0.9, 0.5, 0.2
WORDS = 20  # of reasoning, at most
LABEL = re.compile(r"(?<![^\s.。!?;,*_#`>|•·-])(Reasoning|Score)[\s*_`]*[:：]", re.IGNORECASE)
DECORATION = " \t\r\n*_`"  # around a number or a reasoning
BULLET = re.compile(r"[\s*_#`>|•·-]*+(?:\d{1,2}[.)])?[\s*_#`>|•·-]*+")
SCHEMA = object_schema({"reasoning": {"type": "string"}, "score": {"type": "integer", "enum": list(SCALE)}})


def ask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The image, the rubric's text, which ends in `User prompt: `, and the prompt."""
    return show(sample.picture), RUBRIC.text, sample.prompt


def ask_plainly(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The same without the worked examples."""
    return show(sample.picture), PLAIN.text, sample.prompt


def read(answer: str, sample: Sample) -> Reading:
    """`Reasoning:` and `Score:`, which may be repeated if the scores agree."""
    document = json_object(answer)
    if document is not None:
        return read_json(document, answer)
    score, start = stated_score(answer, SCALE, (RUBRIC.text, sample.prompt))
    labels = list(LABEL.finditer(answer))
    ends = [*(label.start() for label in labels), len(answer)][1:]
    sections = [(label[1].lower(), answer[label.end() : end]) for label, end in zip(labels, ends, strict=True)]
    given = (clean(words) for label, words in sections if label == "reasoning")
    return make_reading(score, start, next(filter(None, given), ""))


def clean(words: str) -> str:
    """A reasoning on one line, without decoration and without the bullet of the next label."""
    head, _, last = words.rpartition("\n")
    return " ".join((head if BULLET.fullmatch(last) else words).strip(f"{DECORATION}|").split())


def read_json(document: Mapping[str, Any], answer: str) -> Reading:
    """An answer by the schema."""
    score, start = json_score(document, answer, SCALE)
    why = document.get("reasoning", "")
    if not isinstance(why, str):
        raise UnreadableAnswer("wrong_fields", "the JSON's reasoning is not a text")
    return make_reading(score, start, why)


def make_reading(score: int, start: int, why: str) -> Reading:
    """A score and its reason, which is flagged if there is none, or if it is too long."""
    why = one_line(why)
    flags = {"no_reasoning": not why, "reasoning_too_long": len(why.split()) > WORDS}
    held = tuple(flag for flag, holds in flags.items() if holds)
    summary = why or wording.without_reason(score)
    return Reading({"score": score}, {"score": start}, {"score": summary}, summary, flags=held)


# ---- by evidence ---------------------------------------------------------------------------------------------------


def grade(observed: Observations, settings: Settings) -> Graded:
    """The protocol's five sentences, applied to the shares of elements and relations that are shown."""
    expected = observed.expectation(rating, SCALE, settings)
    summary = reasoning(observed.scene, observed.checks)
    factor = FactorScore(expected.score, summary)
    return Graded(
        {"score": factor}, expected.value, summary, expected.measured("elements", "relations"), expected.interval
    )


def rating(tally: Tally) -> NDArray[np.int64]:
    """The five sentences; without relations, the elements stand in for them.

    5 takes all elements without an error. An image that as a whole is not what the prompt describes has half the score.
    """
    import numpy as np  # which the list of commands does without

    shown = tally.elements
    related = tally.related / tally.relations if tally.relations else shown
    everything = (tally.missing + tally.minor + tally.wrong == 0) & (related == 1)
    scores = np.select(
        [
            everything,  # all of the elements and all of the actions/relations
            (shown >= ALL) & (related > MOST),  # … and most of the actions/relations
            (shown > MOST) & (related >= SOME),  # most of the elements, at least one
            np.maximum(shown, related) >= SOME,  # some elements
        ],
        [5, 4, 3, 2],
        default=1,
    )
    return np.where(tally.fits, scores, 1 + (scores - 1) // 2)


def reasoning(scene: Scene, checks: Sequence[Check]) -> str:
    """What is missing, wrong and shown, within the protocol's limit of words."""
    groups = [group for group in wording.by_object(scene, checks) if group.first.thing not in scene.mentioned]
    properties = [check for check in checks if check.claim.kind == "property"]
    missing = [name(group) for group in groups if group.first.outcome is Outcome.MISSING]
    wrong = [
        name(group) if check is group.first else wording.full_claim(check.claim)
        for group in groups
        if group.first.outcome is not Outcome.MISSING
        for check in group.checks
        if check.outcome in (Outcome.MISMATCH, Outcome.PARTIAL)
    ]
    shown = [name(group) for group in groups if group.first.outcome is Outcome.MATCHED]
    unsure = [name(group) for group in groups if group.first.outcome is Outcome.LOW_CONFIDENCE]
    wrong += [wording.claim_words(c.claim) for c in properties if c.outcome in (Outcome.MISMATCH, Outcome.PARTIAL)]
    shown += [wording.claim_words(c.claim) for c in properties if c.outcome is Outcome.MATCHED]
    lists = {"Missing": missing, "Wrong": wrong, "Shown": shown, "Uncertain": unsure}
    parts = [f"{word}: {', '.join(dict.fromkeys(names))}." for word, names in lists.items() if names]
    return in_few_words(parts or ["Nothing that the prompt asks for can be checked here."])


def name(group: Group) -> str:
    """The plain name of an object; an absence with its "no"."""
    return wording.thing_words(group.thing) if group.thing.absent else group.thing.canonical


def in_few_words(parts: Sequence[str]) -> str:
    """As many parts as fit; the first is cut if it is too long by itself."""
    words: list[str] = []
    for part in parts:
        if words and len(words) + len(part.split()) > WORDS:
            break
        words += part.split()
    return " ".join(words) if len(words) <= WORDS else " ".join([*words[: WORDS - 1], "…"])


def explain(verdict: Verdict, settings: Settings) -> Iterable[str]:
    """How the score is computed, line by line."""
    from onprompt.report import arithmetic

    return arithmetic.lines(verdict, settings, rating, SCALE)


def lines(verdict: Verdict) -> Iterator[Line]:
    """The protocol's own format."""
    yield f"Reasoning: {verdict.summary}", ""
    yield f"Score: {verdict.score}", ""


def protocol(verdict: Verdict) -> str:
    """The same, for programs."""
    return "\n".join(line for line, _ in lines(verdict))


def configure(rubric: Rubric, settings: Settings) -> Rubric:
    """With or without the worked examples."""
    return rubric if settings.rate_examples else PLAIN


RUBRIC = Rubric(
    name="rate",
    version="1",
    help="Rate how well an image fits a prompt, from 1 to 5. The reason has at most 20 words.",
    inputs=PROMPT_INPUTS,
    factors={"score": SCALE},
    text=text("rate-1"),
    ask=ask,
    read=read,
    schema=json.dumps(SCHEMA),
    grade=grade,
    lines=lines,
    protocol=protocol,
    explain=explain,
    configure=configure,
)
PLAIN = replace(RUBRIC, version="1-plain", text=text("rate-1-plain"), ask=ask_plainly)
