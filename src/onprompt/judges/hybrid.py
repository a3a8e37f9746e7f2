"""The judge that measures what it can and asks a model only what stays open, all in one question for each image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.evidence.guesses import SOURCE as GUESSED
from onprompt.evidence.match import Match
from onprompt.judges import evidence
from onprompt.judges.vlm import READER, again
from onprompt.models.client import ModelClient, model_client
from onprompt.models.reading import parse_answer, strict_json
from onprompt.rubrics import text
from onprompt.settings import Settings
from onprompt.types import Answer, Check, Message, Outcome, Question, Rubric, Sample, Shown, Verdict

ANSWERS = ("yes", "no", "cannot tell")
OPEN = (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE)
NOBODY = "none"  # the source of a claim that could not be looked at
EVEN = 0.5  # the score from which weak evidence speaks for a claim
TEXT, VERSION = text("claims-1"), "claims/1"
TEXT_SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
UNKNOWN = "the model can't tell"


def load(settings: Settings, rubric: Rubric) -> HybridJudge:
    """The judge for a rubric that the evidence judge can serve, and the model of the settings."""
    return HybridJudge(evidence.load(settings, rubric), model_client(settings))


class HybridJudge:
    """Evidence first; the open checks are decided by the model's word."""

    def __init__(self, judge: evidence.EvidenceJudge, client: ModelClient) -> None:
        self.evidence, self.client, self.settings = judge, client, judge.settings
        self.slots = judge.slots

    @property
    def identity(self) -> Mapping[str, Any]:
        asked = {"model": self.client.name, "claims": TEXT_SHA256, "reader": READER}
        return {**self.evidence.identity, "judge": "hybrid", **asked}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict, with the source of every check."""
        found = self.evidence.evidence(sample)
        asked = [] if found.empty else open_checks(found.matches)
        said: list[Answer] = []
        told = self.answers(sample, [claim(match, check) for match, check in asked], said) if asked else []
        decided = {id(check): word for (_, check), word in zip(asked, told or [], strict=False)}
        matches = tuple(settled(match, decided, self.client.name) for match in found.matches)
        verdict = self.evidence.verdict(sample, replace(found, matches=matches))
        flags = {
            "judges_disagree": any(contradicts(check, decided.get(id(check), "")) for _, check in asked),
            "model_unreadable": told is None,
        }
        return replace(
            verdict,
            flags=(*verdict.flags, *(flag for flag, holds in flags.items() if holds)),
            answers=tuple(said),
            provenance={
                **verdict.provenance,
                "judge": "hybrid",
                "model": self.client.name,
                "question": VERSION,
                "rubric_sha256": TEXT_SHA256,
                "model_answering": said[0].model if said else None,
            },
        )

    def questions(self, sample: Sample) -> list[Question]:
        """The question that would be asked about a sample, if there is one."""
        found = self.evidence.evidence(sample)
        asked = [] if found.empty else open_checks(found.matches)
        return [self.question(sample, [claim(*each) for each in asked])] if asked else []

    def question(self, sample: Sample, claims: Sequence[str]) -> Question:
        """All open claims about one image."""
        numbered = "\n".join(f"{number}. {words}" for number, words in enumerate(claims, 1))
        picture = Shown(sample.picture, self.settings.send_side, self.settings.send_format, self.settings.send_quality)
        return Question(
            (Message("user", (picture, TEXT.replace("{claims}", numbered))),),
            schema=json.dumps(schema(len(claims))) if self.settings.structured else "",
            longest=self.settings.answer_tokens,
            temperature=self.settings.temperature,
        )

    def answers(self, sample: Sample, claims: Sequence[str], said: list[Answer]) -> list[str] | None:
        """A word for each claim; None where two answers could not be read."""
        question = self.question(sample, claims)
        for _ in range(2):
            said.append(self.client.ask(question))
            try:
                words = parse_answer(said[-1], lambda text: words_of(text, len(claims)))
            except UnreadableAnswer as why:
                self.client.answers.mark(said[-1].key, why.kind)
                question = replace(question, messages=again(question, why))
            else:
                self.client.answers.mark(said[-1].key, "read")
                return words
        return None


def open_checks(matches: Sequence[Match]) -> list[tuple[Match, Check]]:
    """What was not measured with confidence: unverifiable, weak, or only guessed.

    Where it is open whether an object is there, so is all that was said of it.
    """
    return [
        (match, check)
        for match in matches
        for check in match.checks
        if is_open(check) or (check.source == NOBODY and is_open(match.checks[0]))
    ]


def is_open(check: Check) -> bool:
    """Whether nobody measured a claim with confidence."""
    return check.outcome in OPEN or check.source == GUESSED


def claim(match: Match, check: Check) -> str:
    """A check as a sentence that is true or not."""
    name = match.thing.canonical
    if check.kind == "object":
        return f"The image shows {check.asked}."
    if check.kind == "count":
        return f"The number of {name} in the image is: {check.asked}."
    if check.goes_on:
        return f"In the image: {name} {check.asked}."
    return f"In the image, of the {name} ({match.thing.phrase}), {check.kind}: {check.asked}."


def settled(match: Match, decided: Mapping[int, str], model: str) -> Match:
    """A match with the model's word where it gave one; of what is not there, nothing can be true."""
    absent = match.thing.absent
    checks = [by_model(check, decided.get(id(check), ""), model, absent) for check in match.checks]
    first = checks[0]
    if first.kind == "object" and first.outcome is Outcome.MISSING and first.source == model:
        gone = {"outcome": Outcome.MISSING, "score": 0.0, "found": "MISSING", "source": model}
        checks[1:] = [replace(each, **gone) for each in checks[1:]]  # type: ignore[arg-type]
    elif first.kind == "object" and first.outcome is Outcome.MATCHED and first.source == model:
        checks[1:] = [left_open(each) for each in checks[1:]]
    return replace(match, checks=tuple(checks))


def left_open(check: Check) -> Check:
    """A detail of an object that only the model saw: what it did not tell, nobody knows."""
    if check.outcome is Outcome.MISSING and check.source == NOBODY:
        return replace(check, outcome=Outcome.UNVERIFIABLE, found=UNKNOWN)
    return check


def by_model(check: Check, word: str, model: str, absent: bool = False) -> Check:
    """A check by the model's word, which is taken as it is."""
    if word == "yes":
        return replace(check, found="yes", outcome=Outcome.MATCHED, score=1.0, confidence=1.0, source=model)
    if word == "no":
        outcome = Outcome.MISSING if check.kind == "object" and not absent else Outcome.MISMATCH
        found = "MISSING" if outcome is Outcome.MISSING else "no"
        return replace(check, found=found, outcome=outcome, score=0.0, confidence=1.0, source=model)
    return check


def contradicts(check: Check, word: str) -> bool:
    """Whether the model says otherwise than what weak evidence there was."""
    weak = check.outcome is not Outcome.UNVERIFIABLE and word in ("yes", "no")
    return weak and (check.score >= EVEN) is not (word == "yes")


def words_of(said: str, number: int) -> list[str]:
    """A word for each claim, in order."""
    found = strict_json(said)
    entries = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise UnreadableAnswer("wrong_fields", "the JSON has no list of answers")
    if [each.get("claim") for each in entries] != list(range(1, number + 1)):
        raise UnreadableAnswer("wrong_fields", f"there is not one answer for each of {number} claims")
    words = [str(each.get("answer")).strip().lower().replace("'", "") for each in entries]
    words = ["cannot tell" if word == "cant tell" else word for word in words]
    if strange := [word for word in words if word not in ANSWERS]:
        raise UnreadableAnswer("off_scale", f"an answer is {json.dumps(strange[0])}")
    return words


def schema(number: int) -> dict[str, Any]:
    """A list of as many answers as there are claims."""
    entry = {
        "type": "object",
        "properties": {
            "claim": {"type": "integer", "enum": list(range(1, number + 1))},
            "answer": {"type": "string", "enum": list(ANSWERS)},
        },
        "required": ["claim", "answer"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": entry}},
        "required": ["answers"],
        "additionalProperties": False,
    }
