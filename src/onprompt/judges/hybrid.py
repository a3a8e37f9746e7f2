"""The judge that measures what it can and asks a model only about open claims, with one question per image."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onprompt.errors import UnreadableAnswer
from onprompt.evidence.estimates import MATCHER, phrase_of
from onprompt.evidence.match import NO_SOURCE
from onprompt.evidence.matches import Match
from onprompt.evidence.observations import Observations
from onprompt.judges import evidence
from onprompt.judges.vlm import READER, ModelJudge, ask_again
from onprompt.models.client import ModelClient, model_client
from onprompt.models.reading import parse_answer, strict_json
from onprompt.rubrics import object_schema, text
from onprompt.settings import Settings
from onprompt.types import Answer, Check, Finding, Found, Message, Outcome, Question, Rubric, Sample, Verdict
from onprompt.wording import claim_words, thing_words

ANSWERS = ("yes", "no", "cannot tell")
OPEN = (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE)
EVEN = 0.5  # score from which weak evidence supports a claim
CLEAR = 0.25  # distance of an estimate from that, from which it says something
TEXT, VERSION = text("claims-1"), "claims/1"
TEXT_SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()


def load(settings: Settings, rubric: Rubric) -> HybridJudge:
    """The judge for a rubric that the evidence judge supports, and the model of the settings."""
    return HybridJudge(evidence.load(settings, rubric), model_client(settings))


class HybridJudge(ModelJudge):
    """Evidence first; the model decides open checks."""

    def __init__(self, judge: evidence.EvidenceJudge, client: ModelClient) -> None:
        super().__init__(judge.settings, client)
        self.evidence, self.slots = judge, judge.slots
        self.bound_by = client.bound_by if client.bound_by == "model" else judge.bound_by

    @property
    def identity(self) -> Mapping[str, Any]:
        asked = {"model": self.model, "claims": TEXT_SHA256, "reader": READER, "asked": dict(self.client.identity)}
        return {**self.evidence.identity, "judge": "hybrid", **asked}

    def judge(self, sample: Sample) -> Verdict:
        """The verdict, with the source of every check."""
        observed = self.evidence.observe(sample)
        asked = open_checks(observed)
        answers: list[Answer] = []
        words = self.ask(self.question(sample, asked), len(asked), answers) if asked else []
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

    def questions(self, sample: Sample) -> list[Question]:
        """One question for a sample with open checks."""
        asked = open_checks(self.evidence.observe(sample))
        return [self.question(sample, asked)] if asked else []

    def question(self, sample: Sample, asked: Sequence[tuple[Match, Check]]) -> Question:
        """All open claims about one image."""
        numbered = "\n".join(f"{number}. {claim_question(*pair)}" for number, pair in enumerate(asked, 1))
        return Question(
            (Message("user", (self.show(sample.picture), TEXT.replace("{claims}", numbered))),),
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


def open_checks(observed: Observations) -> list[tuple[Match, Check]]:
    """What was not measured with confidence: unverifiable, weak, or only estimated; nothing in a blank image.

    If the presence of an object is open, so are its details.
    """
    return [
        (match, check)
        for match in (() if observed.blank else observed.matches)
        for check in match.checks
        if (is_open(check) or (check.source == NO_SOURCE and is_open(match.first)))
        and check.finding.kind is not Found.TARGET_MISSING
    ]


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
