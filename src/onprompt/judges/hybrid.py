"""The judge that measures what it can and asks a model only about open claims, with one question per image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.evidence.edits.grade import grade
from onprompt.evidence.edits.judgement import JudgedEdit
from onprompt.evidence.edits.operations import Operation
from onprompt.evidence.estimates import MATCHER, phrase_of
from onprompt.evidence.match import NO_SOURCE
from onprompt.evidence.matches import Match
from onprompt.evidence.observations import Observations
from onprompt.judges import evidence
from onprompt.models.asking import READER, ModelJudge, ask_again
from onprompt.models.client import ModelClient, open_client
from onprompt.models.reading import parse_answer, strict_json
from onprompt.rubrics import object_schema, text
from onprompt.settings import Settings
from onprompt.types import Answer, Asks, Check, Finding, Found, Message, Outcome, Question, Rubric, Sample, Verdict
from onprompt.wording import claim_words, thing_words

ASKS = Asks.ONE
ANSWERS = ("yes", "no", "cannot tell")
OPEN = (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE)
EVEN = 0.5  # score from which weak evidence supports a claim
CLEAR = 0.25  # distance of an estimate from that, from which it says something
STATED_ODDS = 6.0  # log-odds of an operation that the model says was carried out, or was not
TEXT, EDIT_TEXT, VERSION = text("claims-1"), text("claims-edit-1"), "claims/1"
OpenClaim = tuple[Check, str]  # and the sentence that the model is asked about


def load(settings: Settings, rubric: Rubric) -> HybridJudge:
    """The judge for a rubric that the evidence judge supports, and the model of the settings."""
    return HybridJudge(evidence.load(settings, rubric), open_client(settings))


class HybridJudge(ModelJudge):
    """Evidence first; the model decides open checks."""

    def __init__(self, judge: evidence.EvidenceJudge, client: ModelClient) -> None:
        super().__init__(judge.settings, client)
        self.evidence, self.slots = judge, judge.slots
        self.bound_by = client.bound_by if client.bound_by == "model" else judge.bound_by
        self.text = EDIT_TEXT if judge.rubric.source_image else TEXT
        self.text_sha256 = hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def identity(self) -> Mapping[str, Any]:
        asked = {"model": self.model, "claims": self.text_sha256, "reader": READER, "asked": dict(self.client.identity)}
        return {**self.evidence.identity, "judge": "hybrid", **asked}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict, with the source of every check."""
        observed = self.evidence.observe(sample)
        asked = open_claims(observed)
        answers: list[Answer] = []
        words = self.ask(self.question(sample, asked), len(asked), answers) if asked else []
        decided = {id(check): word for (check, _), word in zip(asked, words or [], strict=False)}
        verdict = self.evidence.verdict(sample, settle_all(observed, decided, self.model))
        flags = {
            "judges_disagree": any(contradicts(check, decided.get(id(check), "")) for check, _ in asked),
            "model_unreadable": words is None,
            "usage_estimated": any(answer.usage.estimated for answer in answers),
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
                "rubric_sha256": self.text_sha256,
                "model_answering": answers[0].model if answers else None,
            },
        )

    def questions(self, sample: Sample) -> list[Question]:
        """One question for a sample with open checks."""
        asked = open_claims(self.evidence.observe(sample))
        return [self.question(sample, asked)] if asked else []

    def question(self, sample: Sample, asked: Sequence[OpenClaim]) -> Question:
        """All open claims about one image, or about an edit."""
        numbered = "\n".join(f"{number}. {sentence}" for number, (_, sentence) in enumerate(asked, 1))
        before = sample.pictures.get(self.evidence.rubric.source_image)
        shown = [self.show(picture) for picture in (before, sample.picture) if picture]
        return Question(
            (Message("user", (*shown, self.text.replace("{claims}", numbered))),),
            schema=json.dumps(schema(len(asked))) if self.settings.structured is not False else "",
            longest=self.settings.answer_tokens,
            temperature=self.settings.temperature,
        )

    def ask(self, question: Question, number: int, answers: list[Answer]) -> list[str] | None:
        """A word per claim; None if two answers were unreadable."""
        for _ in range(2):
            answers.append(self.client.ask(question))
            try:
                words = parse_answer(answers[-1], lambda text: read_words(text, number))
            except UnreadableAnswer as why:
                self.client.answers.mark(answers[-1].key, why.kind)
                question = replace(question, messages=ask_again(question, why))
            else:
                self.client.answers.mark(answers[-1].key, "read")
                return words
        return None


def open_claims(observed: Observations | JudgedEdit) -> list[OpenClaim]:
    """What was not measured with confidence: unverifiable, weak, or only estimated, each as a sentence.

    Nothing in a blank image. If the presence of an object is open, so are its details.
    """
    if isinstance(observed, JudgedEdit):
        open_ = [] if observed.observed.failure else [o for o in observed.operations if is_open(o.check)]
        return [(operation.check, operation.edit.phrase) for operation in open_]
    return [
        (check, claim_question(match, check))
        for match in (() if observed.blank else observed.matches)
        for check in match.checks
        if (is_open(check) or (check.source == NO_SOURCE and is_open(match.first)))
        and check.finding.kind is not Found.TARGET_MISSING
    ]


def settle_all(
    observed: Observations | JudgedEdit, decided: Mapping[int, str], model: str
) -> Observations | JudgedEdit:
    """What was observed, with the model's decisions."""
    if isinstance(observed, Observations):
        return replace(observed, matches=tuple(settle(match, decided, model) for match in observed.matches))
    operations = tuple(settle_operation(operation, decided, model) for operation in observed.operations)
    return JudgedEdit(observed.observed, operations, grade(operations, observed.observed))


def settle_operation(operation: Operation, decided: Mapping[int, str], model: str) -> Operation:
    """An operation as the model decided it."""
    word = decided.get(id(operation.check), "")
    if word not in ("yes", "no"):
        return operation
    odds = STATED_ODDS if word == "yes" else -STATED_ODDS
    return Operation(operation.edit, odds, by_model(operation.check, word, model), known=True)


def is_open(check: Check) -> bool:
    """Whether a claim was not measured with confidence."""
    return check.outcome in OPEN or check.source == MATCHER


def claim_question(match: Match, check: Check) -> str:
    """A claim as a sentence that is true or false, for the model."""
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
    """A match with the model's decisions; a missing object has no true details."""
    absent = match.thing.absent
    checks = [by_model(check, decided.get(id(check), ""), model, absent) for check in match.checks]
    first, *details = checks
    if first.claim.kind == "object" and first.source == model:
        if first.outcome is Outcome.MISSING:
            missing = Finding(Found.OBJECT_MISSING)
            details = [replace(c, finding=missing, outcome=first.outcome, score=0.0, source=model) for c in details]
        elif first.outcome is Outcome.MATCHED:
            details = [leave_open(check) for check in details]
    return replace(match, checks=(first, *details))


def leave_open(check: Check) -> Check:
    """A detail of an object that only the model saw, and said nothing about."""
    if check.outcome is Outcome.MISSING and check.source == NO_SOURCE:
        return replace(check, outcome=Outcome.UNVERIFIABLE, finding=Finding(Found.NOT_ANSWERED))
    return check


def by_model(check: Check, word: str, model: str, absent: bool = False) -> Check:
    """A check as the model decided it."""
    if word not in ("yes", "no"):
        return check
    missing = word == "no" and check.claim.kind == "object" and not absent
    outcome = Outcome.MATCHED if word == "yes" else Outcome.MISSING if missing else Outcome.MISMATCH
    finding = Finding(Found.MISSING) if missing else Finding(Found.STATED, word)
    score = float(word == "yes")
    return replace(check, finding=finding, outcome=outcome, score=score, confidence=1.0, source=model)


def contradicts(check: Check, word: str) -> bool:
    """Whether the model contradicts weak evidence, or a clear estimate."""
    likely = check.score if check.finding.kind is not Found.ESTIMATED else check.finding.probability or 0.0
    clear = check.outcome is not Outcome.UNVERIFIABLE or (check.source == MATCHER and abs(likely - EVEN) >= CLEAR)
    return clear and word in ("yes", "no") and (likely >= EVEN) is not (word == "yes")


def read_words(answer: str, number: int) -> list[str]:
    """A word per claim, in order."""
    document = strict_json(answer)
    entries = document.get("answers") if isinstance(document, dict) else None
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
    """A list with an answer per claim."""
    claim = {"type": "integer", "enum": list(range(1, number + 1))}
    entry = object_schema({"claim": claim, "answer": {"type": "string", "enum": list(ANSWERS)}})
    return object_schema({"answers": {"type": "array", "items": entry}})
