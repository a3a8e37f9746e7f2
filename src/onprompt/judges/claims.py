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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from onprompt.models.asking import (
    READER,
    SHORT_ANSWER,
    YES_NO,
    AnswerJudge,
    Ask,
    check_prompt,
    versions,
    with_answers,
)
from onprompt.models.client import ModelClient, NotCached, open_client
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


class Reply(NamedTuple):
    """What a model answers to one claim; without a probability of "yes" it can't tell."""

    yes: float | None = None
    known: bool = False  # whether the server gave the probability; otherwise it is the model's word, 1 or 0
    error: str = ""  # why there is none: missing, repeated, unreadable


UNREADABLE = Reply(error="unreadable")
Asked = Sequence[tuple[Check, str]]  # the checks to ask about, each with its sentence
MARGIN = 0.15  # of a region's width and height, around it
LARGE = 0.5  # share of the image from which a region is no closer look


def load(settings: Settings, rubric: Rubric) -> ClaimsJudge:
    """The judge for a rubric that can grade evidence."""
    return ClaimsJudge(settings, rubric, open_client(settings))


class Context(NamedTuple):
    """What stands beside a claim: what was measured, and the region of the image that it is about."""

    measured: str = ""
    region: Picture | None = None


@dataclass(slots=True)
class Conversation:
    """What the model has answered so far about one sample."""

    context: Mapping[str, Context] = field(default_factory=dict)  # by sentence
    replies: dict[str, Reply] = field(default_factory=dict)  # by sentence
    answers: list[Answer] = field(default_factory=list)
    unreadable: UnreadableAnswer | None = None  # the last answer of which nothing could be used
    asked_again: bool = False


class ClaimsJudge(AnswerJudge):
    """Prompt → claims, with or without evidence → answers → checks → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        if rubric.grade is None:
            raise UserError(f"the judge 'claims' does not support {rubric.name!r}")
        if rubric.observe and not settings.measured:
            raise UserError(f"for {rubric.name!r} claims need evidence: --judge claims --measured")
        super().__init__(settings, rubric, client)
        # Verdicts store the model's name, not the path or address by which it was chosen.
        self.settings = settings.model_copy(update={"model": client.name, "models": ()})
        self.evidence = evidence.EvidenceJudge(self.settings, rubric) if settings.measured else None
        if self.evidence:
            self.recalls, self.slots = False, self.evidence.slots
            self.bound_by = client.bound_by if client.bound_by == "model" else self.evidence.bound_by
        several = settings.claims_per_call > 1 and not client.keeps_images
        self.together = self.asks_again = bool(rubric.observe) or several  # in one question
        if settings.crops and not settings.measured:
            raise UserError("crops need evidence, which knows the regions: --judge claims --measured --crops")
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

    def verdict(self, sample: Sample, ask: Ask) -> Verdict:
        observed, asked, said = self.begin(sample)
        for sentences in self.turns(asked, said.replies):
            said.replies |= zip(sentences, self.replies(sample, sentences, ask, said), strict=True)
        if said.unreadable and all(reply.error for reply in said.replies.values()) and not self.evidence:
            raise with_answers(said.unreadable, said.answers)
        answered = {id(check): said.replies[sentence] for check, sentence in asked if sentence in said.replies}
        settled = settle(observed, answered, self.model)
        answering = said.answers[0].model if said.answers else None
        about = {**self.provenance(sample, settled), **self.about, "model_answering": answering}
        verdict = evidence.graded_verdict(sample, settled, self.rubric, self.settings, about)
        usable = [reply for reply in said.replies.values() if reply.yes is not None]
        flags: dict[str, bool] = {
            "claims_unanswered": any(reply.error for reply in said.replies.values()),
            Flag.ASKED_AGAIN: said.asked_again,
            Flag.USAGE_ESTIMATED: any(answer.usage.estimated for answer in said.answers),
            "no_probabilities": bool(usable) and not any(reply.known for reply in usable),
            Flag.JUDGES_DISAGREE: any(contradicts(check, answered.get(id(check), UNREADABLE)) for check, _ in asked),
        }
        shown = (flag for flag, holds in flags.items() if holds)
        return replace(verdict, flags=(*verdict.flags, *shown), answers=tuple(said.answers))

    def begin(self, sample: Sample) -> tuple[Observations | JudgedEdit, Asked, Conversation]:
        """What is known, the claims to ask about, and the answers that they had earlier, for this prompt or another."""
        observed = self.observe(sample)
        asked = open_claims(observed)
        said = Conversation(self.context(sample, observed, asked))
        if self.together and not self.settings.record:  # one by one, the client finds them
            for sentence in dict.fromkeys(sentence for _, sentence in asked):
                with suppress(NotCached):
                    answer = self.client.cached_answer(self.claim(sample, sentence, said.context))
                    said.answers.append(answer)
                    said.replies[sentence] = read_single(answer)
        return observed, asked, said

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

    def turns(self, asked: Asked, replies: Mapping[str, Reply]) -> Iterator[list[str]]:
        """The sentences of each question, none twice.

        One by one, objects come first, and then details of those that may be there by the replies so far.
        """
        if self.together:
            sentences = [each for each in dict.fromkeys(sentence for _, sentence in asked) if each not in replies]
            size = self.settings.claims_per_call
            yield from (sentences[start : start + size] for start in range(0, len(sentences), size))
            return
        presence = {check.thing: sentence for check, sentence in asked if asserts_object(check)}

        def absent(check: Check) -> bool:
            found = [replies.get(presence.get(thing, ""), Reply()).yes for thing in (check.thing, check.target)]
            return any(yes is not None and yes <= ABSENT for yes in found)

        done = set[str]()
        for objects in (True, False):
            checks = [pair for pair in asked if asserts_object(pair[0]) is objects]
            wanted = dict.fromkeys(sentence for check, sentence in checks if objects or not absent(check))
            sentences = [sentence for sentence in wanted if sentence not in done]
            done.update(sentences)
            yield from ([sentence] for sentence in sentences)

    def replies(self, sample: Sample, sentences: Sequence[str], ask: Ask, said: Conversation) -> list[Reply]:
        """A reply to each claim of one question; an unreadable answer about several is asked for once more."""
        question, before = self.question(sample, sentences, said.context), len(said.answers)
        try:
            read = partial(self.read, number=len(sentences))
            replies = self.read_answer(question, read, said.answers, ask, attempts=1 + self.asks_again)
        except UnreadableAnswer as why:
            said.unreadable = why
            return [UNREADABLE] * len(sentences)
        finally:
            said.asked_again |= len(said.answers) > before + 1
        if self.together and not said.answers[-1].cached:
            self.store(sample, dict(zip(sentences, replies, strict=True)), said.context, said.answers[-1].model)
        return replies

    def read(self, answer: Answer, number: int) -> list[Reply]:
        """A reply to each claim; UnreadableAnswer if none can be used."""
        return read_replies(answer, number) if self.together else [read_single(answer)]

    def context(self, sample: Sample, observed: Observations | JudgedEdit, asked: Asked) -> dict[str, Context]:
        """What is put to the model beside each claim."""
        if not self.evidence or isinstance(observed, JudgedEdit):
            return {}
        boxes = {check.thing: check.box for check in reversed(observed.checks) if check.box}
        found = {}
        for check, sentence in asked:
            weakly = check.outcome is Outcome.LOW_CONFIDENCE  # an estimate of the matcher is no measurement
            measured = f"{finding_words(check)} (probability {check.probability:.2f})" if weakly else ""
            box = check.box or boxes.get(check.thing)
            found[sentence] = Context(measured, region(sample.picture, box) if self.settings.crops else None)
        return found

    def question(self, sample: Sample, sentences: Sequence[str], context: Mapping[str, Context]) -> Question:
        """The image, or both versions of one, regions of it, and one claim or several."""
        beside = [context.get(sentence, Context()) for sentence in sentences]
        lines = [
            f"{sentence}\n   Measured: {each.measured}" if each.measured else sentence
            for sentence, each in zip(sentences, beside, strict=True)
        ]
        numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
        words = self.text.replace("{claims}", numbered if self.together else lines[0])
        before = sample.pictures.get(self.rubric.source_image)
        shown: list[Part] = [self.show(picture) for picture in (before, sample.picture) if picture]
        for number, each in enumerate(beside, 1):
            if each.region:
                shown += [f"\nRegion of the image for statement {number}:\n", self.show(each.region)]
        question = Question((Message("user", (*shown, words)),), temperature=self.settings.temperature)
        if not self.together:
            return replace(question, max_tokens=SHORT_ANSWER, choices=YES_NO)
        answers = {str(number): {"type": "string", "enum": list(ANSWERS)} for number in range(1, len(sentences) + 1)}
        schema = json.dumps(object_schema(answers)) if self.settings.structured is not False else ""
        wanted = YES_NO if self.settings.logprobs else ()
        max_tokens = self.settings.answer_tokens
        return replace(question, max_tokens=max_tokens, schema=schema, logprobs=self.settings.logprobs, words=wanted)

    def claim(self, sample: Sample, sentence: str, context: Mapping[str, Context]) -> Question:
        """One of several claims as a question of its own, under which its answer is cached."""
        return replace(self.question(sample, [sentence], context), max_tokens=SHORT_ANSWER, schema="", choices=YES_NO)

    def store(self, sample: Sample, replies: Mapping[str, Reply], context: Mapping[str, Context], model: str) -> None:
        """Cache each answer by its claim."""
        for sentence, reply in replies.items():
            if not reply.error:
                word = "cannot tell" if reply.yes is None else YES_NO[reply.yes < 0.5]
                probabilities = {"yes": reply.yes, "no": round(1 - reply.yes, 6)} if reply.yes is not None else {}
                found = (TokenProbs(0, len(word), probabilities),) if reply.known else ()
                answer = Answer(word, model=model, token_probs=found)
                self.client.remember(self.claim(sample, sentence, context), answer)

    def questions(self, sample: Sample) -> list[Question]:
        """All that would be asked if every object is there, unless a cached answer says that it is not."""
        questions: list[Question] = []
        _, asked, said = self.begin(sample)
        for sentences in self.turns(asked, said.replies):
            questions.append(self.question(sample, sentences, said.context))
            with suppress(NotCached, UnreadableAnswer):
                found = self.read(self.client.cached_answer(questions[-1]), len(sentences))
                said.replies |= zip(sentences, found, strict=True)
        return questions


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


def open_claims(observed: Observations | JudgedEdit) -> Asked:
    """What was not measured with confidence, each as a sentence, without details of objects that are not there.

    Nothing of a blank image, which shows nothing, or of a prompt in another language, which the parser misreads.
    """
    if isinstance(observed, JudgedEdit):
        operations = () if observed.observed.failure else observed.operations
        return [(each.check, each.edit.phrase) for each in operations if is_open(each.check)]
    if observed.image.blank or NOT_ENGLISH in observed.scene.flags:
        return []
    settled = [check for check in observed.checks if asserts_object(check) and not is_open(check)]
    absent = {check.thing for check in settled if check.probability <= ABSENT}
    asked = [check for check in observed.claims if is_open(check) and not absent & {check.thing, check.target}]
    return [(check, claim_sentence(check, observed.scene)) for check in asked]


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
