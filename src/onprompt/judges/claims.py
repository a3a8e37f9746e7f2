"""The judge that puts claims to a model: all of a prompt's, or with `measured` only those that evidence leaves open.

That each claim is asked about by itself follows Soft-TIFA (arXiv 2512.16853), and that a detail of an object is only
asked about where the object may be there follows DSG (arXiv 2310.18235). The claims come from our parser, so nobody has
to write questions; what the answers come to is the rubric's own rule.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from onprompt.errors import UnreadableAnswer, UserError
from onprompt.evidence.beliefs import MATCHER, Image, believe, outcome_of
from onprompt.evidence.edits.grade import grade
from onprompt.evidence.edits.judgement import JudgedEdit
from onprompt.evidence.edits.operations import Operation
from onprompt.evidence.observe import NOT_ENGLISH, Observations, is_animated, weight_objects
from onprompt.judges import evidence
from onprompt.language import parse
from onprompt.models.asking import (
    READER,
    SHORT_ANSWER,
    YES_NO,
    AnswerJudge,
    Ask,
    ask_again,
    check_prompt,
    versions,
    with_usage,
)
from onprompt.models.client import ModelClient, NotCached, open_client
from onprompt.models.reading import choice_probabilities, parse_answer, strict_json, without_thinking
from onprompt.rubrics import object_schema, text
from onprompt.settings import PRIVATE, Settings
from onprompt.types import (
    Answer,
    Asks,
    Check,
    Finding,
    Flag,
    Found,
    Message,
    Outcome,
    Question,
    Rubric,
    Sample,
    Seen,
    Spot,
    Verdict,
)
from onprompt.wording.questions import claim_sentence

ASKS = Asks.ONE
TEXTS = {True: text("claims-1"), False: text("claims-single-1")}  # several claims in one question, or one by one
EDIT_TEXT = text("claims-edit-1")
CANNOT_TELL = "cannot tell"
ANSWERS = (*YES_NO, CANNOT_TELL)
FIRST_WORDS = re.compile(r"\W*(yes|no|can(?:no|['’]?)t tell)\b", re.IGNORECASE)
SURE = 0.4  # probability of an object up to which its details are not asked about
STATED_ODDS = 6.0  # log-odds of an edit that the model says was carried out, or was not
DISAGREE = 0.25  # a probability by evidence so far from .5 says something that an answer may contradict


class Reply(NamedTuple):
    """What a model answers to one claim; without a probability of "yes" it can't tell."""

    yes: float | None = None
    known: bool = False  # whether the server gave this probability; 1 or 0 is just the model's word
    error: str = ""  # why there is none: missing, repeated, unreadable


UNREADABLE = Reply(error="unreadable")
Asked = Sequence[tuple[Check, str]]  # the checks to ask about, each with its sentence


def load(settings: Settings, rubric: Rubric) -> ClaimsJudge:
    """The judge for a rubric that evidence can grade."""
    return ClaimsJudge(settings, rubric, open_client(settings))


@dataclass(slots=True)
class Conversation:
    """What the model has answered so far about one sample."""

    replies: dict[str, Reply] = field(default_factory=dict)  # by sentence
    answers: list[Answer] = field(default_factory=list)
    unreadable: list[UnreadableAnswer] = field(default_factory=list)
    extra: bool = False  # whether something was answered that was not asked
    again: bool = False  # whether a question had to be repeated

    @property
    def flags(self) -> dict[str, bool]:
        """What to know before trusting the answers."""
        usable = [reply for reply in self.replies.values() if reply.yes is not None]
        return {
            "claims_unanswered": any(reply.error for reply in self.replies.values()),
            "extra_answers": self.extra,
            Flag.ASKED_AGAIN: self.again,
            Flag.USAGE_ESTIMATED: any(answer.usage.estimated for answer in self.answers),
            "no_probabilities": bool(usable) and not any(reply.known for reply in usable),
        }


class ClaimsJudge(AnswerJudge):
    """Prompt → claims, maybe with evidence → answers → checks → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        if rubric.grade is None:
            raise UserError(f"the judge 'claims' does not support {rubric.name!r}")
        if rubric.observe and not settings.measured:
            raise UserError(f"the judge 'claims' needs evidence for {rubric.name!r}: add --measured")
        super().__init__(settings, rubric, client)
        self.evidence = evidence.EvidenceJudge(settings, rubric) if settings.measured else None
        self.recalls &= self.evidence is None
        self.together = self.asks_again = bool(rubric.observe) or settings.claims_per_call > 1
        self.text = EDIT_TEXT if rubric.observe else TEXTS[self.together]
        # A sample may be recalled before it is judged, and many images share a prompt.
        self.parse_once = lru_cache(maxsize=4096)(
            lambda prompt, major: weight_objects(parse(prompt, settings), major, settings)
        )
        self.about: dict[str, Any] = {
            "judge": "claims",
            "model": client.name,
            "question": f"claims{'-edit' if rubric.observe else '' if self.together else '-single'}/1",
            "rubric_sha256": hashlib.sha256(self.text.encode()).hexdigest(),
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        asked = {"reader": READER, "asked": dict(self.client.identity)}
        known = self.evidence.identity if self.evidence else {"onprompt": versions()["onprompt"]}  # finds the claims
        return {**known, **self.about, **asked}

    def observe(self, sample: Sample) -> Observations | JudgedEdit:
        """What is known before the model is asked: all that can be measured, or only what the prompt asks for."""
        if self.evidence:
            observed: Observations | JudgedEdit = self.evidence.observe(sample)
            return observed
        check_prompt(sample.prompt, self.settings)
        scene = self.parse_once(sample.prompt, tuple(sample.options.get("major", ())))
        checks = believe(scene, Image(Seen((), {}), None), self.settings)
        own = tuple(check for check in checks if check.claim.kind != "whole")
        return Observations(scene, Image(Seen((), {}), None), own, is_animated(sample.picture))

    def verdict(self, sample: Sample, ask: Ask) -> Verdict:
        observed = self.observe(sample)
        asked, said = open_claims(observed), Conversation()
        if asked:
            (self.ask_together if self.together else self.ask_one_by_one)(sample, asked, ask, said)
        if said.replies and all(reply.error for reply in said.replies.values()) and not self.evidence:
            raise with_usage(said.unreadable[-1], said.answers)
        answered = {id(check): said.replies[sentence] for check, sentence in asked if sentence in said.replies}
        settled = settle(observed, answered, self.model)
        if self.evidence:
            known = evidence.provenance(sample, settled.weights, self.rubric, self.settings)
        else:
            settings = self.settings.model_dump(mode="json", exclude={*PRIVATE, "detector", "matcher"})
            known = {"versions": versions(), "settings": settings, "image_sha256": sample.picture.sha256}
        answering = said.answers[0].model if said.answers else None
        about = {
            **known,
            "rubric": f"{self.rubric.name}/{self.rubric.version}",
            **self.about,
            "model_answering": answering,
        }
        verdict = evidence.graded_verdict(sample, settled, self.rubric, self.settings, about)
        disagree = any(contradicts(check, answered.get(id(check), UNREADABLE)) for check, _ in asked)
        flags = said.flags | {Flag.JUDGES_DISAGREE: disagree}
        prompt = verdict.prompt_evidence
        return replace(
            verdict,
            flags=(*verdict.flags, *(flag for flag, holds in flags.items() if holds)),
            evidence=replace(prompt, looked=self.evidence is not None) if prompt else verdict.evidence,
            answers=tuple(said.answers),
        )

    def ask_together(self, sample: Sample, asked: Asked, ask: Ask, said: Conversation) -> None:
        """Ask about many claims in one question."""
        for sentences in self.batches(asked):
            replies = self.ask_batch(self.question(sample, sentences), len(sentences), ask, said)
            said.replies |= zip(sentences, replies, strict=True)

    def ask_batch(self, question: Question, number: int, ask: Ask, said: Conversation) -> list[Reply]:
        """A reply per claim; if an answer is unreadable as a whole, it is asked for once more."""
        for attempt in range(2):
            said.again |= attempt > 0
            said.answers.append(ask(question))
            try:
                replies, extra = read_replies(said.answers[-1], number)
            except UnreadableAnswer as why:
                self.mark(said.answers[-1], why.kind)
                said.unreadable.append(why)
                question = replace(question, messages=ask_again(question, why))
            else:
                self.mark(said.answers[-1], "read")
                said.extra |= extra
                return replies
        return [UNREADABLE] * number

    def ask_one_by_one(self, sample: Sample, asked: Asked, ask: Ask, said: Conversation) -> None:
        """Ask about each claim by itself: first the objects, then the details of those that may be there."""
        for sentence in asked_in_turn(asked, said.replies):
            answer = ask(self.question(sample, [sentence]))
            said.answers.append(answer)
            said.replies[sentence] = reply = read_single(answer)
            if reply.error:
                why = "the answer is neither yes nor no nor cannot tell"
                said.unreadable.append(UnreadableAnswer("no_score", why, answer.text))
            self.mark(answer, "no_score" if reply.error else "read")

    def mark(self, answer: Answer, outcome: str) -> None:
        """Note in the answer cache whether an answer was readable."""
        if not answer.cached:
            self.client.answers.mark(answer.key, outcome)

    def batches(self, asked: Asked) -> list[list[str]]:
        """The sentences of each question; none is asked twice."""
        sentences, size = list(dict.fromkeys(sentence for _, sentence in asked)), self.settings.claims_per_call
        return [sentences[start : start + size] for start in range(0, len(sentences), size)]

    def question(self, sample: Sample, sentences: Sequence[str]) -> Question:
        """The image, or both versions of one, and one claim or several."""
        numbered = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, 1))
        words = self.text.replace("{claims}", numbered if self.together else sentences[0])
        before = sample.pictures.get(self.rubric.source_image)
        shown = [self.show(picture) for picture in (before, sample.picture) if picture]
        question = Question((Message("user", (*shown, words)),), temperature=self.settings.temperature)
        if not self.together:
            return replace(question, longest=SHORT_ANSWER, choices=YES_NO)
        schema = json.dumps(answer_schema(len(sentences))) if self.settings.structured is not False else ""
        wanted = YES_NO if self.settings.chances else ()
        longest = self.settings.answer_tokens
        return replace(question, longest=longest, schema=schema, chances=self.settings.chances, words=wanted)

    def questions(self, sample: Sample) -> list[Question]:
        """All that would be asked if every object is there, unless a cached answer says that it is not."""
        asked = open_claims(self.observe(sample))
        if self.together:
            return [self.question(sample, sentences) for sentences in self.batches(asked)]
        questions: list[Question] = []
        replies: dict[str, Reply] = {}
        for sentence in asked_in_turn(asked, replies):
            questions.append(self.question(sample, [sentence]))
            with suppress(NotCached):
                replies[sentence] = read_single(self.client.cached_answer(questions[-1]))
        return questions


def open_claims(observed: Observations | JudgedEdit) -> Asked:
    """What was not measured with confidence, each as a sentence; nothing of a blank image or in another language."""
    if isinstance(observed, JudgedEdit):
        operations = () if observed.observed.failure else observed.operations
        return [(each.check, each.edit.phrase) for each in operations if is_open(each.check)]
    if observed.image.blank or NOT_ENGLISH in observed.scene.flags:
        return []
    claims = (check for check in observed.checks if check.claim.kind not in ("whole", "kind") and is_open(check))
    return [(check, claim_sentence(check, observed.scene)) for check in claims]


def is_open(check: Check) -> bool:
    """Whether a claim was not measured with confidence."""
    return check.outcome in (Outcome.UNVERIFIABLE, Outcome.LOW_CONFIDENCE) or check.source == MATCHER


def asked_in_turn(asked: Asked, replies: Mapping[str, Reply]) -> Iterator[str]:
    """The sentences to ask one by one: objects, then details of those that may be there by the replies so far."""
    done = set[str]()
    presence = {check.thing: sentence for check, sentence in asked if asserts_object(check)}
    for check, sentence in sorted(asked, key=lambda pair: not asserts_object(pair[0])):
        needed = [replies.get(presence.get(thing, ""), Reply()).yes for thing in (check.thing, check.target)]
        gone = not asserts_object(check) and any(yes is not None and yes <= SURE for yes in needed)
        if not gone and sentence not in done:
            done.add(sentence)
            yield sentence


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
    return JudgedEdit(observed.observed, operations, grade(operations, observed.observed))


def by_model(check: Check, reply: Reply | None, model: str) -> Check:
    """A check by the model's answer. What the prompt rules out is asked about as if it were there."""
    if reply is None:
        return check
    if reply.yes is None:
        unanswered = check.finding if check.source != "none" else Finding(Found.NOT_ANSWERED, reply.error)
        return replace(check, finding=unanswered)
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
    return Operation(operation.edit, odds, by_model(operation.check, reply, model), known=True)


def contradicts(check: Check, reply: Reply) -> bool:
    """Whether an answer contradicts what evidence said, though weakly."""
    if reply.yes is None or check.outcome is Outcome.UNVERIFIABLE:
        return False
    likely = 1 - check.probability if check.claim.negated else check.probability
    return abs(likely - 0.5) >= DISAGREE and (likely >= 0.5) is not (reply.yes >= 0.5)


def answer_schema(number: int) -> dict[str, Any]:
    """An answer for each numbered claim."""
    return object_schema({str(n): {"type": "string", "enum": list(ANSWERS)} for n in range(1, number + 1)})


def read_replies(answer: Answer, number: int) -> tuple[list[Reply], bool]:
    """A reply per claim, by its number, and whether there were others; UnreadableAnswer if none can be used."""

    def read(said: str) -> tuple[list[Reply], bool]:
        pairs = strict_json(said, list)
        if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
            raise UnreadableAnswer("wrong_fields", "the answer is not a JSON object")
        asked = [str(n) for n in range(1, number + 1)]
        replies = [read_reply(name, pairs, said, answer.spots) for name in asked]
        if all(reply.error for reply in replies):
            raise UnreadableAnswer("wrong_fields", "the JSON has no statement's number with yes, no or cannot tell")
        return replies, any(name not in asked for name, _ in pairs)

    return parse_answer(answer, read)


def read_reply(name: str, pairs: Sequence[tuple[str, Any]], said: str, spots: Sequence[Spot]) -> Reply:
    """The reply to one of several claims, by its number. What is wrong with it concerns no other."""
    own = [value for key, value in pairs if key == name]
    if len(own) != 1:
        return Reply(error="repeated" if own else "missing")
    place = re.search(rf'"{name}"\s*:\s*"', said)
    start = place.end() if place else -1
    word = re.sub("can(?:'|’| no)?t tell", CANNOT_TELL, str(own[0]).strip().lower())
    return to_reply(word, [spot for spot in spots if spot.start <= start < spot.end])


def read_single(answer: Answer) -> Reply:
    """The reply to a question about one claim: its first words count."""
    found = FIRST_WORDS.match(without_thinking(answer.text)) if answer.stop in ("end", "length") else None
    if found is None:
        return UNREADABLE
    word = found[1].lower()
    return to_reply(word if word in YES_NO else CANNOT_TELL, answer.spots)


def to_reply(word: str, spots: Sequence[Spot]) -> Reply:
    """A word as a reply, with the probability of "yes" if the server gave one."""
    if word not in YES_NO:
        return Reply() if word == CANNOT_TELL else UNREADABLE
    probabilities = choice_probabilities(spots, YES_NO)
    return Reply(probabilities["yes"], known=True) if probabilities else Reply(float(word == "yes"))
