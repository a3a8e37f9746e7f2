"""The answer: claims, what was found of each, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from onprompt.types.image import Box, Picture, Sighting, Trait
from onprompt.types.question import Answer, Usage
from onprompt.types.scene import Count, Edit, Scene


class Outcome(StrEnum):
    """Whether a claim holds."""

    MATCHED = "matched"  # it holds
    PARTIAL = "partial"  # a minor error
    MISMATCH = "mismatch"  # present, but different
    MISSING = "missing"  # a detector that knows the word found none
    LOW_CONFIDENCE = "low_confidence"  # uncertain
    UNVERIFIABLE = "unverifiable"  # nothing here can measure it


class Flag(StrEnum):
    """A warning on a verdict; beside these there are those of a rubric's own (`reasoning_too_long`)."""

    NOT_VERIFIABLE = "not_verifiable"  # nothing could be checked: the score is a placeholder, and stays out of means
    LOW_CONFIDENCE = "low_confidence"
    NEEDS_REVIEW = "needs_review"
    ASKED_AGAIN = "asked_again"  # an answer could not be read
    SOME_ANSWERS_UNREADABLE = "some_answers_unreadable"
    MODEL_UNREADABLE = "model_unreadable"
    MODEL_FAILED = "model_failed"  # a model of the jury could not be asked, so the verdict holds until it can be
    JUDGES_DISAGREE = "judges_disagree"
    USAGE_ESTIMATED = "usage_estimated"


class Found(StrEnum):
    """The kinds of findings; `wording` has a sentence for each."""

    DETECTED = "detected"
    COUNTED = "counted"
    MEASURED = "measured"
    RELATED = "related"
    CLASSIFIED = "classified"  # without a box
    ESTIMATED = "estimated"  # by the matcher alone
    STATED = "stated"  # by a model
    SUBSTITUTE = "substitute"  # another kind in its place
    PRESENT = "present"  # although the prompt rules it out
    NONE_DETECTED = "none_detected"
    MISSING = "missing"
    OBJECT_MISSING = "object_missing"  # so nothing can be said of its details
    NOT_LOCATED = "not_located"
    RECOGNISED_BY_TEXT = "recognised_by_text"  # that it bears
    UNKNOWN_WORD = "unknown_word"
    ONLY_BROADER = "only_broader"
    NOT_MEASURABLE = "not_measurable"
    TARGET_MISSING = "target_missing"
    TARGET_NOT_LOCATED = "target_not_located"
    SAME_OBJECT = "same_object"  # subject and target of a relation are one object
    NO_PAIR = "no_pair"  # there are no two to be between
    UNDECIDABLE = "undecidable"  # from one picture
    NOT_ANSWERED = "not_answered"  # the model can't tell
    BEFORE_AFTER = "before_after"  # measured in both versions of an edited image: "blue → red"
    FAULT = "fault"  # something in an edited image that could not be so


@dataclass(frozen=True, slots=True)
class Claim:
    """What a prompt says of one object, or of the picture as a whole.

    `kind` is object, count, kind (office chair, of a chair), relation, whole (all of the prompt), property (of the
    picture), or the kind of an attribute: color, size, text. `value` is the phrase, the attribute's value or the
    relation's name. Of an edit, `kind` is an operation (add, remove, recolor, …) with the words of the instruction as
    `value`, or plausibility.
    """

    kind: str
    value: str = ""
    name: str = ""  # the canonical name of the object that it is about
    count: Count | None = None
    target: str = ""  # of a relation: the phrase of the other object
    negated: bool = False  # the prompt rules it out: "no dog", "not red"

    @property
    def phrase(self) -> str:
        """An attribute or relation as a phrase: `brown owl`, `owl running`, `owl on a branch`."""
        if self.kind in ("relation", "action"):
            return f"{self.name} {self.value} {self.target}".rstrip()
        return f"{self.value} {self.name}"

    @property
    def group(self) -> str:
        """The kind by which claims are counted: the number that "a" implies, which two or three meet, is apart."""
        implied = self.kind == "count" and self.count is not None and not self.count.explicit and self.count.high == 1
        return "implied count" if implied else self.kind

    @property
    def is_interaction(self) -> bool:
        """Whether it says what an object does, or how it relates to another; "not running" says neither."""
        return self.kind in ("relation", "action") and not self.negated


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found for a claim."""

    kind: Found
    value: str = ""  # a measured value, a detector's word, or what a model said
    number: int | None = None  # how many
    most: int | None = None  # the upper end, where only a range is known
    probability: float | None = None
    confidences: tuple[float, ...] = ()  # of each sighting
    notes: tuple[str, ...] = ()  # truncated, occluded


@dataclass(frozen=True, slots=True)
class Check:
    """One claim, how likely it holds, and what was found: the explainable unit. Reports only draw checks.

    A claim about an object supposes that the object is there: its probability is given that. The object is the first
    claim with the same `thing`; a relation also supposes its `target`.
    """

    claim: Claim
    finding: Finding
    outcome: Outcome
    probability: float  # that the claim holds
    source: str  # the model or measurement that says so; "none" if nothing could look
    thing: int | None = None  # the object's index in the scene; None for the image as a whole
    box: Box | None = None
    chosen: tuple[Sighting, ...] = ()  # the sightings that count for the object
    candidates: tuple[Sighting, ...] = ()  # all that could be meant
    otherwise: float = 0.0  # the credit if it does not hold: .5 for a minor error, less for a similar kind
    target: int | None = None  # of a relation: the other object's index

    def __repr__(self) -> str:
        words = " ".join(filter(None, (self.claim.name, self.claim.kind, self.claim.value)))
        return f"<Check {words!r}: {self.outcome.value}, probability {self.probability:.2f}>"


@dataclass(frozen=True, slots=True)
class FactorScore:
    """The score of one factor of a rubric."""

    score: int  # the median of repeated answers
    reason: str = ""
    expected: float | None = None  # over the scale, by token probabilities
    scores: tuple[int, ...] = ()  # of each answer that could be read
    spread: float | None = None  # their standard deviation

    @property
    def finest(self) -> float:
        """The score at the finest resolution there is: expected, or else the mean of all answers."""
        scores = self.scores or (self.score,)
        return sum(scores) / len(scores) if self.expected is None else self.expected


@dataclass(frozen=True, slots=True)
class PromptEvidence:
    """What a prompt asks for and what was seen of it in one picture."""

    scene: Scene
    sightings: tuple[Sighting, ...] = ()
    extras: tuple[Sighting, ...] = ()  # detected, not asked for
    properties: tuple[Trait, ...] = ()  # measured of the picture as a whole
    blank: bool = False  # the picture shows nothing at all
    looked: bool = True  # whether detectors looked at it


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """The change of one object: added, removed, replaced, moved, resized, recolored, turned, changed or unchanged."""

    kind: str
    before: Sighting | None = None
    after: Sighting | None = None
    asked: bool = False  # whether the instruction asks for a change of this object


@dataclass(frozen=True, slots=True)
class EditEvidence:
    """What an instruction asks for, and how the two versions of an image differ."""

    edits: tuple[Edit, ...]
    sightings: tuple[Sighting, ...] = ()  # in the edited image
    objects: tuple[ObjectChange, ...] = ()
    regions: tuple[Box, ...] = ()  # that changed, the heaviest first, in the frame of the image before the edit
    failure: str = ""  # unchanged, redrawn or broken
    adjustments: tuple[str, ...] = ()  # of the image as a whole: "mirrored", "brighter"


Evidence = PromptEvidence | EditEvidence


@dataclass(frozen=True, slots=True)
class Sample:
    """One case for a judge: the picture that is judged, what was asked for, and what else the rubric takes."""

    id: str
    prompt: str
    picture: Picture
    pictures: Mapping[str, Picture] = field(default_factory=dict)  # others by input: before, mask
    options: Mapping[str, Any] = field(default_factory=dict)  # further inputs by name: texts, lists of names


@dataclass(frozen=True, slots=True)
class Voice:
    """What one member of a jury says: a model, or the evidence."""

    name: str
    weight: float = 0.0  # its share of the jury's value; 0 if it has no say
    value: float | None = None  # None if it failed
    factors: Mapping[str, FactorScore] = field(default_factory=dict)
    summary: str = ""
    flags: tuple[str, ...] = ()
    error: str = ""  # why it gave no score


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one sample: scores, `value`, and the checks behind them."""

    rubric: str
    judge: str
    sample: Sample
    value: float  # the expected score as a share of the scale, 0 to 1
    factors: Mapping[str, FactorScore]  # by name; "score" where there is just one
    summary: str  # a short paragraph: what differs, what is uncertain, what was not checked
    flags: tuple[str, ...] = ()  # reasons for caution
    checks: tuple[Check, ...] = ()  # every claim
    measures: Mapping[str, float | None] = field(default_factory=dict)  # presence, coverage …: the numbers behind it
    evidence: Evidence | None = None
    answers: tuple[Answer, ...] = ()  # a model's, raw, in the order in which they came
    provenance: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what a model listed: prompt, image
    voices: tuple[Voice, ...] = ()  # of a jury: what each member says
    interval: tuple[float, float] | None = None  # the middle 80 % of what `value` may be, by the claims' probabilities

    def __repr__(self) -> str:
        factors = ", ".join(f"{name} {factor.score}" for name, factor in self.factors.items())
        matched = sum(check.outcome is Outcome.MATCHED for check in self.checks)
        checks = f", {matched} of {len(self.checks)} checks matched" if self.checks else ""
        prompt = self.sample.prompt if len(self.sample.prompt) <= 60 else f"{self.sample.prompt[:59]}…"
        return f"<Verdict {self.rubric} by {self.judge} on {prompt!r}: {factors}, value {self.value:.2f}{checks}>"

    def _repr_html_(self) -> str:
        from onprompt.report import notebook

        return notebook.html(self)

    def _repr_png_(self) -> bytes:
        from onprompt.report import notebook

        return notebook.png(self)

    @property
    def score(self) -> int | None:
        """The score on the rubric's scale; None where the rubric has several factors and no overall score."""
        return self.factors["score"].score if "score" in self.factors else None

    @property
    def prompt_evidence(self) -> PromptEvidence | None:
        """The evidence on a prompt; None for an edit, or where a model gave the score."""
        return self.evidence if isinstance(self.evidence, PromptEvidence) else None

    @property
    def edit_evidence(self) -> EditEvidence | None:
        """The evidence on an edit."""
        return self.evidence if isinstance(self.evidence, EditEvidence) else None

    @property
    def coverage(self) -> float | None:
        """The share of the claims that could be checked; None where a model gave the score."""
        return self.measures.get("coverage")

    @property
    def usage(self) -> Usage:
        """What the answers cost; cached ones cost nothing."""
        return sum((answer.usage for answer in self.answers if not answer.cached), Usage())
