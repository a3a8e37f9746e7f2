"""The judge that asks a model about claims: all of a prompt's, or with `measured` those that evidence leaves open.

With `measured` each claim is put to the model with what was measured, with `crops` also with its region of the image.
An answer is cached by its claim: another prompt with the same claim about the same image does not ask again.

A probability for each claim follows Soft-TIFA (arXiv 2512.16853); that details of absent objects are not asked about
follows DSG (arXiv 2310.18235). The claims come from our parser, and the rubric turns their probabilities into a score.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from onprompt.errors import UnreadableAnswer, UserError
from onprompt.evidence.beliefs import NO_SOURCE, Image, believe, outcome_of
from onprompt.evidence.edits.claims import Operation
from onprompt.evidence.edits.grade import JudgedEdit, grade
from onprompt.evidence.observe import NOT_ENGLISH, Observations, is_animated, weight_objects
from onprompt.judges import evidence
from onprompt.language import parse
from onprompt.models.answer_store import key_of
from onprompt.models.asking import READER, SHORT_ANSWER, YES_NO, ModelJudge, check_prompt, versions, with_answers
from onprompt.models.client import ModelClient, open_client
from onprompt.models.reading import answer_text, choice_probabilities, parse_answer, strict_json
from onprompt.rubrics import object_schema, text
from onprompt.settings import PRIVATE, Settings
from onprompt.types import (
    Answer,
    Asks,
    Box,
    Check,
    Decoded,
    Detections,
    Finding,
    Flag,
    Found,
    Message,
    Outcome,
    Part,
    Picture,
    Question,
    Rubric,
    Sample,
    TokenProbs,
    Verdict,
)
from onprompt.wording import finding_words
from onprompt.wording.questions import claim_sentence

ASKS = Asks.ONE
ANSWERS = (*YES_NO, "cannot tell")
WORDS = re.compile(r"\W*(?:(yes|no)|can(?: ?no|['’])?t tell)\b", re.IGNORECASE)
ABSENT = 0.4  # probability of an object up to which its details are not asked about
STATED_ODDS = 6.0  # log-odds of an edit that the model says was carried out, or was not
DISAGREE = 0.25  # distance from .5 from which evidence says something that an answer can contradict
NOT_ASKED = Finding(Found.NOT_ANSWERED, notes=("not_asked",))
MARGIN = 0.15  # of a region's width and height, around it
LARGE = 0.5  # share of the image from which a region is no closer look


class OpenClaim(NamedTuple):
    """A claim to ask about, as a sentence, with what was measured and the region of the image that it is about."""

    check: Check
    sentence: str
    measured: str = ""
    region: Picture | None = None

    @property
    def line(self) -> str:
        """What the question says."""
        return f"{self.sentence}\n   Measured: {self.measured}" if self.measured else self.sentence


class Reply(NamedTuple):
    """What a model answers to one claim; without a probability of "yes" it can't tell."""

    yes: float | None = None
    known: bool = False  # whether the server gave the probability; otherwise it is the model's word, 1 or 0
    error: str = ""  # why there is none: missing, repeated, unreadable


UNREADABLE = Reply(error="unreadable")


def load(settings: Settings, rubric: Rubric) -> ClaimsJudge:
    """The judge for a rubric that can grade evidence."""
    return ClaimsJudge(settings, rubric, open_client(settings))


class ClaimsJudge(ModelJudge):
    """Prompt → claims, with or without evidence → answers → checks → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        if rubric.grade is None:
            raise UserError(f"the judge 'claims' does not support {rubric.name!r}")
        if rubric.observe and not settings.measured:
            raise UserError(f"for {rubric.name!r} claims need evidence: --judge claims --measured")
        if settings.crops and not settings.measured:
            raise UserError("crops need evidence, which knows the regions: --judge claims --measured --crops")
        # Verdicts store the model's name, not the path or address by which it was chosen.
        super().__init__(settings.model_copy(update={"model": client.name, "models": ()}), client)
        self.rubric = rubric
        self.evidence = evidence.EvidenceJudge(self.settings, rubric) if settings.measured else None
        if self.evidence:
            self.slots = self.evidence.slots
            self.bound_by = client.bound_by if client.bound_by == "model" else self.evidence.bound_by
        several = settings.claims_per_call > 1 and not client.keeps_images
        self.together = bool(rubric.observe) or several  # in one question
        # A recording is asked the same questions again, whatever is cached.
        self.reuses_claims = self.together and not settings.record and client.identity["backend"] != "replay"
        name = "claims-edit" if rubric.observe else "claims" if self.together else "claims-single"
        name += "-measured" if settings.measured and not rubric.observe else ""
        self.text = text(f"{name}-1")
        self.about: dict[str, Any] = {
            "judge": "claims",
            "model": client.name,
            "question": f"{name}/1",
            "rubric_sha256": hashlib.sha256(self.text.encode()).hexdigest(),
            **({"crops": True} if settings.crops else {}),
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        # Another version of onprompt may find other claims.
        own = {"rubric_version": self.rubric.version, "onprompt": versions()["onprompt"]}
        known = self.evidence.identity if self.evidence else own
        return {**known, **self.about, "reader": READER, "asked": dict(self.client.identity)}

    def judge(self, sample: Sample) -> Verdict:
        observed = self.observe(sample)
        claims = self.open_claims(sample, observed)
        answers, unreadable, asked_again = list[Answer](), list[UnreadableAnswer](), False
        replies = self.known(sample, claims, answers)  # by sentence
        for part in self.turns(claims, replies):
            before = len(answers)
            try:
                read = partial(self.read, claims=part)
                replies |= (found := self.ask(self.question(sample, part), read, answers))
                self.remember(sample, part, found, answers[-1].model)
            except UnreadableAnswer as why:
                unreadable.append(why)
                replies |= {claim.sentence: UNREADABLE for claim in part}
            asked_again |= len(answers) > before + 1
        if unreadable and all(reply.error for reply in replies.values()) and not self.evidence:
            raise with_answers(unreadable[-1], answers)
        answered = {id(claim.check): replies[claim.sentence] for claim in claims if claim.sentence in replies}
        settled = settle(observed, answered, self.model)
        answering = answers[0].model if answers else None
        about = {**self.provenance(sample, settled), **self.about, "model_answering": answering}
        verdict = evidence.graded_verdict(sample, settled, self.rubric, self.settings, about)
        usable = [reply for reply in replies.values() if reply.yes is not None]
        flags: dict[str, bool] = {
            "claims_unanswered": any(reply.error for reply in replies.values()),
            Flag.ASKED_AGAIN: asked_again,
            Flag.USAGE_ESTIMATED: any(answer.usage.estimated for answer in answers),
            "no_probabilities": bool(usable) and not any(reply.known for reply in usable),
            Flag.JUDGES_DISAGREE: any(
                contradicts(each.check, answered.get(id(each.check), UNREADABLE)) for each in claims
            ),
        }
        shown = (flag for flag, holds in flags.items() if holds)
        return replace(verdict, flags=(*verdict.flags, *shown), answers=tuple(answers))

    def questions(self, sample: Sample) -> Iterator[Question]:
        """All that would be asked if every object is there, unless a cached answer says that it is not."""
        claims = self.open_claims(sample, self.observe(sample))
        replies = self.known(sample, claims, [])
        yield from (self.question(sample, [claim]) for claim in claims if claim.sentence in replies)
        for part in self.turns(claims, replies):
            yield (question := self.question(sample, part))
            answer = self.client.cached(key_of(question, self.client.identity))
            with suppress(UnreadableAnswer):
                replies |= self.read(answer, part) if answer else {}

    def observe(self, sample: Sample) -> Observations | JudgedEdit:
        """What is known before the model is asked: all that can be measured, or only what the prompt asks for."""
        if self.evidence:
            observed: Observations | JudgedEdit = self.evidence.observe(sample)
            return observed
        check_prompt(sample.prompt, self.settings)
        scene = weight_objects(parse(sample.prompt, self.settings), sample.options.get("major", ()))
        image = Image(Detections((), {}), lines=None)
        checks = [replace(check, finding=NOT_ASKED) for check in believe(scene, image, self.settings)]
        claims = [check for check in checks if check.claim.kind != "whole"]
        return Observations(scene, image, tuple(claims or checks), is_animated(sample.picture))

    def provenance(self, sample: Sample, settled: Observations | JudgedEdit) -> dict[str, Any]:
        """All that is needed to reproduce a verdict, beside the model and its question."""
        if self.evidence:
            return evidence.provenance(sample, settled.weights, self.rubric, self.settings)
        return {
            "rubric": f"{self.rubric.name}/{self.rubric.version}",
            "versions": versions(),
            "settings": self.settings.model_dump(mode="json", exclude={*PRIVATE, "detector", "matcher"}),
            "image_sha256": sample.picture.sha256,
        }

    def open_claims(self, sample: Sample, observed: Observations | JudgedEdit) -> list[OpenClaim]:
        """What was not measured with confidence, without details of objects that are not there.

        Nothing of a blank image, which shows nothing, or of a prompt in another language, which the parser misreads.
        """
        if isinstance(observed, JudgedEdit):
            operations = () if observed.observed.failure else observed.operations
            return [OpenClaim(each.check, each.edit.phrase) for each in operations if is_open(each.check)]
        if observed.image.blank or NOT_ENGLISH in observed.scene.flags:
            return []
        settled = [check for check in observed.checks if asserts_object(check) and not is_open(check)]
        absent = {check.thing for check in settled if check.probability <= ABSENT}
        boxes = {check.thing: check.box for check in reversed(observed.checks) if check.box}
        claims = []
        for check in observed.claims:
            if is_open(check) and not absent & {check.thing, check.target}:
                weakly = self.evidence and check.outcome is Outcome.LOW_CONFIDENCE  # an estimate is no measurement
                measured = f"{finding_words(check)} (probability {check.probability:.2f})" if weakly else ""
                closer = region(sample.picture, check.box or boxes.get(check.thing)) if self.settings.crops else None
                claims.append(OpenClaim(check, claim_sentence(check, observed.scene), measured, closer))
        return claims

    def turns(self, claims: Sequence[OpenClaim], replies: Mapping[str, Reply]) -> Iterator[list[OpenClaim]]:
        """The claims of each question, none twice.

        One by one, objects come first, and then details of those that may be there by the replies so far.
        """
        if self.together:
            distinct = [claim for claim in unique(claims) if claim.sentence not in replies]
            size = self.settings.claims_per_call
            yield from (distinct[start : start + size] for start in range(0, len(distinct), size))
            return
        objects = unique(claim for claim in claims if asserts_object(claim.check))
        yield from ([claim] for claim in objects)
        presence = {claim.check.thing: claim.sentence for claim in claims if asserts_object(claim.check)}

        def absent(check: Check) -> bool:
            found = [replies.get(presence.get(thing, ""), Reply()).yes for thing in (check.thing, check.target)]
            return any(yes is not None and yes <= ABSENT for yes in found)

        details = unique(claim for claim in claims if not asserts_object(claim.check) and not absent(claim.check))
        asked = {claim.sentence for claim in objects}
        yield from ([claim] for claim in details if claim.sentence not in asked)

    def question(self, sample: Sample, claims: Sequence[OpenClaim]) -> Question:
        """The image, or both versions of one, regions of it, and one claim or several."""
        numbered = "\n".join(f"{number}. {claim.line}" for number, claim in enumerate(claims, 1))
        words = self.text.replace("{claims}", numbered if self.together else claims[0].line)
        before = sample.pictures.get(self.rubric.source_image)
        shown: list[Part] = [self.show(picture) for picture in (before, sample.picture) if picture]
        for number, claim in enumerate(claims, 1):
            if claim.region:
                shown += [f"\nRegion of the image for statement {number}:\n", self.show(claim.region)]
        question = Question((Message("user", (*shown, words)),), temperature=self.settings.temperature)
        if not self.together:
            return replace(question, max_tokens=SHORT_ANSWER, choices=YES_NO)
        answers = {str(number): {"type": "string", "enum": list(ANSWERS)} for number in range(1, len(claims) + 1)}
        schema = json.dumps(object_schema(answers)) if self.settings.structured is not False else ""
        wanted = YES_NO if self.settings.logprobs else ()
        max_tokens = self.settings.answer_tokens
        return replace(question, max_tokens=max_tokens, schema=schema, logprobs=self.settings.logprobs, words=wanted)

    def read(self, answer: Answer, claims: Sequence[OpenClaim]) -> dict[str, Reply]:
        """A reply to each claim; UnreadableAnswer if none can be used."""
        replies = read_replies(answer, len(claims)) if self.together else [read_single(answer)]
        return {claim.sentence: reply for claim, reply in zip(claims, replies, strict=True)}

    def known(self, sample: Sample, claims: Sequence[OpenClaim], answers: list[Answer]) -> dict[str, Reply]:
        """The replies that are cached by their claims; their answers are added to the others."""
        replies: dict[str, Reply] = {}
        for claim in unique(claims) if self.reuses_claims else ():
            if answer := self.client.cached(key_of(self.question(sample, [claim]), self.client.identity)):
                with suppress(UnreadableAnswer):
                    replies |= self.read(answer, [claim])
                    answers.append(answer)
        return replies

    def remember(self, sample: Sample, claims: Sequence[OpenClaim], replies: Mapping[str, Reply], model: str) -> None:
        """Cache each reply of several as the answer to a question about its claim alone."""
        for claim in claims if len(claims) > 1 else ():
            reply = replies[claim.sentence]
            if not reply.error:
                word = ANSWERS[-1] if reply.yes is None else YES_NO[reply.yes < 0.5]
                said = json.dumps({"1": word})
                start = said.index(word)
                chances = {"yes": reply.yes, "no": 1 - reply.yes} if reply.known and reply.yes is not None else {}
                spots = (TokenProbs(start, start + len(word), chances),) if chances else ()
                self.client.remember(self.question(sample, [claim]), Answer(said, model=model, token_probs=spots))


def unique(claims: Iterable[OpenClaim]) -> list[OpenClaim]:
    """Claims without those that are asked about in the same words."""
    return list({claim.sentence: claim for claim in claims}.values())


def region(picture: Picture, box: Box | None) -> Picture | None:
    """The part of a picture around a box, unless that is most of it."""
    if box is None or not 0 < box.area < LARGE:
        return None
    across, down = MARGIN * box.width, MARGIN * box.height
    left, top = max(0.0, box.left - across), max(0.0, box.top - down)
    right, bottom = min(1.0, box.right + across), min(1.0, box.bottom + down)

    def decode() -> Decoded:
        height, width = picture.pixels.shape[:2]
        rows = slice(int(top * height), max(int(top * height) + 1, round(bottom * height)))
        columns = slice(int(left * width), max(int(left * width) + 1, round(right * width)))
        pixels = np.ascontiguousarray(picture.pixels[rows, columns])
        return Decoded(pixels, (pixels.shape[1], pixels.shape[0]))

    place = ",".join(f"{share:.4f}" for share in (left, top, right, bottom))
    return Picture(picture.name, f"{picture.sha256}@{place}", decode, picture.frame, picture.side)


def is_open(check: Check) -> bool:
    """Whether a claim was not measured with confidence."""
    return check.outcome in (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE)


def asserts_object(check: Check) -> bool:
    """Whether a claim says that an object is there: its details depend on it."""
    return check.claim.kind == "object" and not check.claim.negated


def settle(observed: Observations | JudgedEdit, answered: Mapping[int, Reply], model: str) -> Observations | JudgedEdit:
    """What is known with the model's answers."""
    if isinstance(observed, Observations):
        checks = tuple(by_model(check, answered.get(id(check)), model) for check in observed.checks)
        if any(check.source == model for check in checks):  # what stood for all that nothing measured
            checks = tuple(check for check in checks if check.claim.kind != "whole")
        return replace(observed, checks=checks)
    operations = tuple(settle_operation(each, answered.get(id(each.check)), model) for each in observed.operations)
    return grade(operations, observed.observed)


def by_model(check: Check, reply: Reply | None, model: str) -> Check:
    """A check by the model's answer. What the prompt rules out is asked about as if it were there."""
    if reply is None:
        return check
    if reply.yes is None:
        unanswered = Finding(Found.NOT_ANSWERED, notes=(reply.error,) if reply.error else ())
        return replace(check, finding=unanswered) if check.source == NO_SOURCE else check
    probability = round(1 - reply.yes if check.claim.negated else reply.yes, 4)
    given = probability if reply.known else None
    finding = Finding(Found.STATED, "yes" if probability >= 0.5 else "no", probability=given)
    outcome = outcome_of(probability, check.otherwise)
    if outcome is Outcome.MISMATCH and asserts_object(check):
        finding, outcome = Finding(Found.MISSING, probability=given), Outcome.MISSING
    return replace(check, finding=finding, outcome=outcome, probability=probability, source=model)


def settle_operation(operation: Operation, reply: Reply | None, model: str) -> Operation:
    """An edit as the model decided it."""
    if reply is None or reply.yes is None:
        return operation
    odds = STATED_ODDS * (2 * reply.yes - 1)
    decided = by_model(operation.check, reply, model)
    return replace(operation, odds=odds, check=decided, known=True, verifiable=True, targetless="")


def contradicts(check: Check, reply: Reply) -> bool:
    """Whether an answer contradicts what evidence said, though weakly."""
    if reply.yes is None or check.outcome is Outcome.UNVERIFIABLE:
        return False
    likely = 1 - check.probability if check.claim.negated else check.probability
    return abs(likely - 0.5) >= DISAGREE and (likely >= 0.5) is not (reply.yes >= 0.5)


def read_replies(answer: Answer, number: int) -> list[Reply]:
    """A reply per claim, by its number; UnreadableAnswer if none can be used. Answers to others are ignored."""

    def read(said: str) -> list[Reply]:
        pairs = strict_json(said, list)
        if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
            raise UnreadableAnswer("wrong_fields", "the answer is not a JSON object")
        replies = [read_reply(str(n), pairs, said, answer.token_probs) for n in range(1, number + 1)]
        if all(reply.error for reply in replies):
            raise UnreadableAnswer("wrong_fields", "the JSON has no statement's number with yes, no or cannot tell")
        return replies

    return parse_answer(answer, read)


def read_reply(name: str, pairs: Sequence[tuple[str, Any]], said: str, token_probs: Sequence[TokenProbs]) -> Reply:
    """The reply to one of several claims, by its number. What is wrong with it concerns no other."""
    own = [value for key, value in pairs if key == name]
    if len(own) != 1:
        return Reply(error="repeated" if own else "missing")
    place = re.search(rf'"{name}"\s*:\s*"', said)
    start = place.end() if place else -1
    return to_reply(
        WORDS.fullmatch(str(own[0]).strip()), [spot for spot in token_probs if spot.start <= start < spot.end]
    )


def read_single(answer: Answer) -> Reply:
    """The reply to a question about one claim: its first words count."""
    found = WORDS.match(answer_text(answer.text)) if answer.stop in ("end", "length") else None
    if found is None:
        raise UnreadableAnswer("no_score", "the answer is neither yes nor no nor cannot tell", answer.text)
    return to_reply(found, answer.token_probs)


def to_reply(found: re.Match[str] | None, token_probs: Sequence[TokenProbs]) -> Reply:
    """The words that were found as a reply, with the probability of "yes" if the server gave one."""
    if found is None:
        return UNREADABLE
    if found[1] is None:
        return Reply()
    probabilities = choice_probabilities(token_probs, YES_NO)
    return Reply(probabilities["yes"], known=True) if probabilities else Reply(float(found[1].lower() == "yes"))
