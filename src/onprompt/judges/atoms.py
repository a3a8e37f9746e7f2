"""The judge that puts every claim of the prompt to a model, and takes the mean of how likely each is true.

The mean over the claims' probabilities follows Soft-TIFA (arXiv 2512.16853), and that a detail of an object that is not
there does not count follows DSG (arXiv 2310.18235). The claims come from our parser, so nobody has to write questions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from onprompt.errors import UnreadableAnswer, UserError
from onprompt.evidence.atoms import Atom, Reply, asked_in_turn, mean_probability, observe_atoms, scene_atoms
from onprompt.evidence.plan import NOT_ENGLISH
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
from onprompt.types import Answer, Asks, Message, Question, Rubric, Sample, Scene, Spot, Verdict
from onprompt.wording.questions import claim_sentence

ASKS = Asks.ONE
TEXTS = {True: text("atoms-1"), False: text("atoms-single-1")}  # several claims in one question, or one by one
CANNOT_TELL = "cannot tell"
ANSWERS = (*YES_NO, CANNOT_TELL)
FIRST_WORDS = re.compile(r"\W*(yes|no|can(?:no|['’]?)t tell)\b", re.IGNORECASE)
UNREADABLE = Reply(fault="unreadable")


def load(settings: Settings, rubric: Rubric) -> AtomsJudge:
    """The judge for a rubric that grades one image by its prompt."""
    return AtomsJudge(settings, rubric, open_client(settings))


@dataclass(slots=True)
class Heard:
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
            "claims_unanswered": any(reply.fault for reply in self.replies.values()),
            "extra_answers": self.extra,
            "asked_again": self.again,
            "usage_estimated": any(answer.usage.estimated for answer in self.answers),
            "no_probabilities": bool(usable) and not any(reply.known for reply in usable),
        }


class AtomsJudge(AnswerJudge):
    """Prompt → claims → answers → checks → verdict."""

    def __init__(self, settings: Settings, rubric: Rubric, client: ModelClient) -> None:
        if rubric.grade is None or rubric.observe is not None:
            raise UserError(f"the judge 'atoms' checks one image against a prompt; it does not support {rubric.name!r}")
        super().__init__(settings, rubric, client)
        self.together = self.asks_again = settings.atoms_per_call > 1
        # A sample may be recalled before it is judged, and many images share a prompt.
        self.parse_once = lru_cache(maxsize=4096)(self.parse_prompt)
        self.text = TEXTS[self.together]
        self.about: dict[str, Any] = {
            "rubric": f"{rubric.name}/{rubric.version}",
            "rubric_sha256": hashlib.sha256(self.text.encode()).hexdigest(),
            "judge": "atoms",
            "question": "atoms/1" if self.together else "atoms-single/1",
            "model": client.name,
            "versions": versions(),
            "settings": settings.model_dump(mode="json", exclude={*PRIVATE, "detector"}),
        }

    @property
    def identity(self) -> Mapping[str, Any]:
        parser = self.about["versions"]["onprompt"]  # other versions may find other claims
        return {**self.about, "onprompt": parser, "reader": READER, "asked": dict(self.client.identity)}

    def verdict(self, sample: Sample, ask: Ask) -> Verdict:
        scene, atoms = self.parse(sample)
        heard = self.ask_all(sample, scene, atoms, ask)
        observed = observe_atoms(scene, atoms, heard.replies, sample.picture, self.model, self.settings)
        assert self.rubric.grade is not None  # noqa: S101 checked by __init__
        graded = self.rubric.grade(observed, self.settings)
        value = mean_probability(scene, atoms, heard.replies, self.settings)
        flags = observed.flags(self.settings) | heard.flags
        answering = heard.answers[0].model if heard.answers else None
        return Verdict(
            rubric=self.rubric.name,
            judge="atoms",
            sample=sample,
            value=self.settings.prior if value is None else value,
            factors=graded.factors,
            summary=graded.summary,
            flags=tuple(flag for flag, holds in flags.items() if holds),
            checks=observed.checks,
            measures={**observed.measures(self.settings), **graded.measures},
            evidence=replace(observed.evidence(self.settings), looked=False),
            answers=tuple(heard.answers),
            provenance={**self.about, "model_answering": answering, "image_sha256": sample.picture.sha256},
        )

    def parse(self, sample: Sample) -> tuple[Scene, list[Atom]]:
        """The scene of a prompt, and its claims as sentences."""
        check_prompt(sample.prompt, self.settings)
        return self.parse_once(sample.prompt, tuple(sample.options.get("major", ())))

    def parse_prompt(self, prompt: str, major: tuple[str, ...]) -> tuple[Scene, list[Atom]]:
        """The same, of a prompt and the objects in it that weigh more."""
        scene, atoms = scene_atoms(prompt, major, self.settings)
        return scene, [replace(atom, sentence=claim_sentence(atom, scene)) for atom in atoms]

    def ask_all(self, sample: Sample, scene: Scene, atoms: Sequence[Atom], ask: Ask) -> Heard:
        """The answers to all claims; nothing is asked about a prompt in another language, which the parser misreads."""
        heard = Heard()
        if NOT_ENGLISH not in scene.flags:
            (self.ask_together if self.together else self.ask_one_by_one)(sample, atoms, ask, heard)
        if heard.replies and all(reply.fault for reply in heard.replies.values()):
            raise with_usage(heard.unreadable[-1], heard.answers)
        return heard

    def ask_together(self, sample: Sample, atoms: Sequence[Atom], ask: Ask, heard: Heard) -> None:
        """Ask about many claims in one question."""
        for sentences in self.batches(atoms):
            replies = self.ask_batch(self.question(sample, sentences), len(sentences), ask, heard)
            heard.replies |= zip(sentences, replies, strict=True)

    def ask_batch(self, question: Question, number: int, ask: Ask, heard: Heard) -> list[Reply]:
        """A reply per claim; if an answer is unreadable as a whole, it is asked for once more."""
        for attempt in range(2):
            heard.again |= attempt > 0
            heard.answers.append(ask(question))
            try:
                replies, extra = read_replies(heard.answers[-1], number)
            except UnreadableAnswer as why:
                self.mark(heard.answers[-1], why.kind)
                heard.unreadable.append(why)
                question = replace(question, messages=ask_again(question, why))
            else:
                self.mark(heard.answers[-1], "read")
                heard.extra |= extra
                return replies
        return [UNREADABLE] * number

    def ask_one_by_one(self, sample: Sample, atoms: Sequence[Atom], ask: Ask, heard: Heard) -> None:
        """Ask about each claim by itself: first the objects, then the details of those that are there."""
        for sentence in asked_in_turn(atoms, heard.replies, self.settings):
            answer = ask(self.question(sample, [sentence]))
            heard.answers.append(answer)
            heard.replies[sentence] = reply = read_single(answer)
            if reply.fault:
                why = "the answer is neither yes nor no nor cannot tell"
                heard.unreadable.append(UnreadableAnswer("no_score", why, answer.text))
            self.mark(answer, "no_score" if reply.fault else "read")

    def mark(self, answer: Answer, outcome: str) -> None:
        """Note in the answer cache whether an answer was readable."""
        if not answer.cached:
            self.client.answers.mark(answer.key, outcome)

    def batches(self, atoms: Sequence[Atom]) -> list[list[str]]:
        """The sentences of each question; none is asked twice."""
        sentences, size = list(dict.fromkeys(atom.sentence for atom in atoms)), self.settings.atoms_per_call
        return [sentences[start : start + size] for start in range(0, len(sentences), size)]

    def question(self, sample: Sample, sentences: Sequence[str]) -> Question:
        """The image, and one claim or several."""
        numbered = "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, 1))
        said = self.text.replace("{claims}", numbered if self.together else sentences[0])
        question = Question(
            (Message("user", (self.show(sample.picture), said)),), temperature=self.settings.temperature
        )
        if not self.together:
            return replace(question, longest=SHORT_ANSWER, choices=YES_NO)
        schema = json.dumps(answer_schema(len(sentences))) if self.settings.structured is not False else ""
        wanted = YES_NO if self.settings.chances else ()
        longest = self.settings.answer_tokens
        return replace(question, longest=longest, schema=schema, chances=self.settings.chances, words=wanted)

    def questions(self, sample: Sample) -> list[Question]:
        """All that would be asked if every object is there, unless a cached answer says that it is not."""
        scene, atoms = self.parse(sample)
        if NOT_ENGLISH in scene.flags:
            return []
        if self.together:
            return [self.question(sample, sentences) for sentences in self.batches(atoms)]
        asked: list[Question] = []
        replies: dict[str, Reply] = {}
        for sentence in asked_in_turn(atoms, replies, self.settings):
            asked.append(self.question(sample, [sentence]))
            with suppress(NotCached):
                replies[sentence] = read_single(self.client.cached_answer(asked[-1]))
        return asked


def answer_schema(number: int) -> dict[str, Any]:
    """An answer for each numbered claim."""
    return object_schema({str(n): {"type": "string", "enum": list(ANSWERS)} for n in range(1, number + 1)})


def read_replies(answer: Answer, number: int) -> tuple[list[Reply], bool]:
    """A reply per claim, in order, and whether there were others; UnreadableAnswer if none can be used."""

    def read(said: str) -> tuple[list[Reply], bool]:
        pairs = strict_json(said, list)
        if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
            raise UnreadableAnswer("wrong_fields", "the answer is not a JSON object")
        asked = [str(n) for n in range(1, number + 1)]
        replies = [read_reply(name, pairs, asked, said, answer.spots) for name in asked]
        if all(reply.fault for reply in replies):
            raise UnreadableAnswer("wrong_fields", "the JSON has no statement's number with yes, no or cannot tell")
        return replies, any(name not in asked for name, _ in pairs)

    return parse_answer(answer, read)


def read_reply(
    name: str, pairs: Sequence[tuple[str, Any]], asked: Sequence[str], said: str, spots: Sequence[Spot]
) -> Reply:
    """The reply to one of several claims. What is wrong with it concerns no other."""
    own = [place for place, (key, _) in enumerate(pairs) if key == name]
    if len(own) != 1:
        return Reply(fault="repeated" if own else "missing")
    if any(int(key) > int(name) for key, _ in pairs[: own[0]] if key in asked):
        return Reply(fault="out_of_order")
    place = re.search(rf'"{name}"\s*:\s*"', said)
    start = place.end() if place else -1
    word = re.sub("can(?:'|’| no)?t tell", CANNOT_TELL, str(pairs[own[0]][1]).strip().lower())
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
