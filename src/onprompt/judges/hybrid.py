"""The judge that measures what it can and asks a model only what stays open, all in one question for each image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.evidence.estimates import MATCHER, phrase_of
from onprompt.evidence.match import NO_SOURCE
from onprompt.evidence.matches import Match
from onprompt.judges import evidence
from onprompt.judges.vlm import READER, ask_again
from onprompt.models.client import ModelClient, model_client, plan_calls
from onprompt.models.reading import parse_answer, strict_json
from onprompt.rubrics import text
from onprompt.settings import Settings
from onprompt.types import (
    Answer,
    Check,
    Finding,
    Found,
    Judge,
    Message,
    Outcome,
    Plan,
    Question,
    Rubric,
    Sample,
    Shown,
    Verdict,
)
from onprompt.wording import claim_words, thing_words

ANSWERS = ("yes", "no", "cannot tell")
OPEN = (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE)
EVEN = 0.5  # the score from which weak evidence speaks for a claim
TEXT, VERSION = text("claims-1"), "claims/1"
TEXT_SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()


def load(settings: Settings, rubric: Rubric) -> HybridJudge:
    """The judge for a rubric that the evidence judge can serve, and the model of the settings."""
    return HybridJudge(evidence.load(settings, rubric), model_client(settings))


class HybridJudge(Judge):
    """Evidence first; the open checks are decided by the model's word."""

    def __init__(self, judge: evidence.EvidenceJudge, client: ModelClient) -> None:
        self.evidence, self.client, self.settings = judge, client, judge.settings
        self.slots, self.model = judge.slots, client.name
        self.bound_by = client.bound_by if client.bound_by == "model" else judge.bound_by

    @property
    def identity(self) -> Mapping[str, Any]:
        asked = {"model": self.model, "claims": TEXT_SHA256, "reader": READER, "asked": dict(self.client.identity)}
        return {**self.evidence.identity, "judge": "hybrid", **asked}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict, with the source of every check."""
        observed = self.evidence.observe(sample)
        asked = [] if observed.blank else open_checks(observed.matches)
        answers: list[Answer] = []
        words = self.ask(sample, [claim_question(*pair) for pair in asked], answers) if asked else []
        decided = {id(check): word for (_, check), word in zip(asked, words or [], strict=False)}
        matches = tuple(settle(match, decided, self.model) for match in observed.matches)
        verdict = self.evidence.verdict(sample, replace(observed, matches=matches))
        flags = {
            "judges_disagree": any(contradicts(check, decided.get(id(check), "")) for _, check in asked),
            "model_unreadable": words is None,
        }
        return replace(
            verdict,
            judge="hybrid",
            flags=(*verdict.flags, *(flag for flag, holds in flags.items() if holds)),
            answers=tuple(answers),
            provenance={
                **verdict.provenance,
                "judge": "hybrid",
                "model": self.model,
                "question": VERSION,
                "rubric_sha256": TEXT_SHA256,
                "model_answering": answers[0].model if answers else None,
            },
        )

    def plan(self, samples: Iterable[Callable[[], Sample]]) -> Plan:
        """One question for each sample with an open check."""
        return plan_calls(self.client, samples, lambda make: self.questions(make()))

    def questions(self, sample: Sample) -> list[Question]:
        """The question that would be asked about a sample, if there is one."""
        observed = self.evidence.observe(sample)
        asked = [] if observed.blank else open_checks(observed.matches)
        return [self.question(sample, [claim_question(*pair) for pair in asked])] if asked else []

    def spent(self) -> float:
        return self.client.budget.spent

    def stop(self) -> None:
        self.client.stop()

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

    def ask(self, sample: Sample, claims: Sequence[str], answers: list[Answer]) -> list[str] | None:
        """A word for each claim; None where two answers could not be read."""
        question = self.question(sample, claims)
        for _ in range(2):
            answers.append(self.client.ask(question))
            try:
                words = parse_answer(answers[-1], lambda text: words_of(text, len(claims)))
            except UnreadableAnswer as why:
                self.client.answers.mark(answers[-1].key, why.kind)
                question = replace(question, messages=ask_again(question, why))
            else:
                self.client.answers.mark(answers[-1].key, "read")
                return words
        return None


def open_checks(matches: Sequence[Match]) -> list[tuple[Match, Check]]:
    """What was not measured with confidence: unverifiable, weak, or only estimated.

    Where it is open whether an object is there, so is all that was said of it.
    """
    return [
        (match, check)
        for match in matches
        for check in match.checks
        if is_open(check) or (check.source == NO_SOURCE and is_open(match.first))
    ]


def is_open(check: Check) -> bool:
    """Whether nobody measured a claim with confidence."""
    return check.outcome in OPEN or check.source == MATCHER


def claim_question(match: Match, check: Check) -> str:
    """A claim as a sentence that is true or not, for the model."""
    name, claim = match.thing.canonical, check.claim
    if claim.kind == "object":
        return f"The image shows {thing_words(match.thing)}."
    if claim.kind == "count":
        return f"The number of {name} in the image is: {claim_words(claim)}."
    if claim.is_interaction:
        return f"In the image: {phrase_of(claim)}."
    kind = f"not {claim.kind}" if claim.negated else claim.kind
    return f"In the image, of the {name} ({match.thing.phrase}), {kind}: {claim.value}."


def settle(match: Match, decided: Mapping[int, str], model: str) -> Match:
    """A match with the model's word where it gave one; of what is not there, nothing can be true."""
    absent = match.thing.absent
    checks = [by_model(check, decided.get(id(check), ""), model, absent) for check in match.checks]
    first = checks[0]
    if first.claim.kind == "object" and first.source == model and first.outcome is Outcome.MISSING:
        missing = Finding(Found.OBJECT_MISSING)
        checks[1:] = [
            replace(check, outcome=Outcome.MISSING, score=0.0, finding=missing, source=model) for check in checks[1:]
        ]
    elif first.claim.kind == "object" and first.source == model and first.outcome is Outcome.MATCHED:
        checks[1:] = [left_open(check) for check in checks[1:]]
    return replace(match, checks=tuple(checks))


def left_open(check: Check) -> Check:
    """A detail of an object that only the model saw: what it did not tell, nobody knows."""
    if check.outcome is Outcome.MISSING and check.source == NO_SOURCE:
        return replace(check, outcome=Outcome.UNVERIFIABLE, finding=Finding(Found.NOT_ANSWERED))
    return check


def by_model(check: Check, word: str, model: str, absent: bool = False) -> Check:
    """A check by the model's word, which is taken as it is."""
    if word not in ("yes", "no"):
        return check
    missing = word == "no" and check.claim.kind == "object" and not absent
    outcome = Outcome.MATCHED if word == "yes" else Outcome.MISSING if missing else Outcome.MISMATCH
    finding = Finding(Found.MISSING) if missing else Finding(Found.STATED, word)
    score = float(word == "yes")
    return replace(check, finding=finding, outcome=outcome, score=score, confidence=1.0, source=model)


def contradicts(check: Check, word: str) -> bool:
    """Whether the model says otherwise than what weak evidence there was."""
    weak = check.outcome is not Outcome.UNVERIFIABLE and word in ("yes", "no")
    return weak and (check.score >= EVEN) is not (word == "yes")


def words_of(answer: str, number: int) -> list[str]:
    """A word for each claim, in order."""
    found = strict_json(answer)
    entries = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UnreadableAnswer("wrong_fields", "the JSON has no list of answers")
    if [entry.get("claim") for entry in entries] != list(range(1, number + 1)):
        raise UnreadableAnswer("wrong_fields", f"there is not one answer for each of {number} claims")
    words = [str(entry.get("answer")).strip().lower().replace("'", "") for entry in entries]
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
