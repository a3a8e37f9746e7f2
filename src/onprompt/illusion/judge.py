"""Which shape hides in this scene? Both of the original's questions about an image, and the answers as they came."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.scoring import Outcome as Score
from onprompt.illusion.scoring import original
from onprompt.models.asking import ModelJudge, versions
from onprompt.models.client import ModelClient, open_client
from onprompt.runs.run import JudgeJob
from onprompt.settings import Settings
from onprompt.types import (
    IMAGE,
    TEXT,
    Answer,
    Check,
    Claim,
    Finding,
    Found,
    Input,
    Message,
    Outcome,
    Question,
    Rubric,
    Sample,
    Shown,
    Verdict,
)
from onprompt.vision import load_resized, open_picture

WITHHELD = ("filter", "refusal")  # how an answer ends that the server does not give
RUBRIC = Rubric(
    name="illusion",
    version="1",
    help="Which shape hides in this scene?",
    inputs=(
        Input(
            "image",
            IMAGE,
            columns=("image", "image_path", "img", "file", "filename", "file_name", "path", "output", "generated"),
        ),
        Input("shape", TEXT, required=False, columns=("shape", "class", "label", "shape_name", "class_name")),
        Input("scene", TEXT, required=False, columns=("scene", "background", "texture", "scene_name")),
        Input("difficulty", TEXT, required=False, columns=("difficulty", "level")),
        Input("model", TEXT, required=False),  # no column is taken for these two
        Input("category", TEXT, required=False),
    ),
    factors={},
    folder_reader="illusionbench",
)


def question_texts(split: str) -> dict[str, str]:
    """The original's two questions by what they ask for."""
    return {"shape": SPLITS[split].shape_question, "scene": SPLITS[split].scene_question}


class IllusionJudge(ModelJudge):
    """Asks a model both questions about an image, and scores the answers as the original does."""

    asks_again = False

    def __init__(self, split: str, size: tuple[int, int] | None, settings: Settings, client: ModelClient) -> None:
        super().__init__(settings, client)
        self.split, self.size = split, size

    @property
    def about(self) -> dict[str, Any]:
        """What answers depend on beside the settings."""
        texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in question_texts(self.split).items()}
        return {"judge": "vlm", "model": self.model, "split": self.split, "size": self.size, "questions": texts}

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**self.about, "asked": dict(self.client.identity)}

    def questions(self, sample: Sample) -> Iterable[Question]:
        return self.asked(sample).values()

    def asked(self, sample: Sample) -> dict[str, Question]:
        """The two questions, word for word; nothing but the image goes with them."""
        side = max(self.size) if self.size else self.settings.send_side
        shown = Shown(sample.picture, side, "png", self.settings.send_quality)  # lossless: fine texture is the point
        longest, temperature = self.settings.answer_tokens, self.settings.temperature
        return {
            name: Question((Message("user", (shown, text)),), longest=longest, temperature=temperature)
            for name, text in question_texts(self.split).items()
        }

    def judge(self, sample: Sample) -> Verdict:
        """Both answers, scored as the original does; other scorings read them later."""
        gold, meant = Gold(*sample.options["gold"]), Gold(*sample.options["meant"])
        answers = {name: self.client.ask(question) for name, question in self.asked(sample).items()}
        checks = tuple(
            check(name, meant, answer, original(answer.text, gold.shape, gold.scene, SPLITS[self.split]), self.model)
            for name, answer in answers.items()
        )
        withheld = [f"no_answer_to_{c.claim.kind}" for c in checks if c.outcome is Outcome.UNVERIFIABLE]
        return Verdict(
            rubric=RUBRIC.name,
            judge="vlm",
            sample=sample,
            value=checks[0].probability,
            factors={},
            summary="; ".join(f"{c.claim.kind} {c.claim.value}: {c.finding.value!r}" for c in checks),
            flags=(*withheld, *(["not_verifiable"] if checks[0].outcome is Outcome.UNVERIFIABLE else [])),
            checks=checks,
            answers=tuple(answers.values()),
            provenance={
                **self.about,
                "size": list(self.size) if self.size else None,  # as JSON reads it back
                "versions": versions(),
                "settings": {},
                "image_sha256": sample.picture.sha256,
            },
        )


def check(name: str, meant: Gold, answer: Answer, score: Score, model: str) -> Check:
    """An answer beside what it should be; unverifiable where the server gave none."""
    withheld = answer.stop in WITHHELD and not answer.text
    hit = score.shape if name == "shape" else score.scene
    outcome = Outcome.UNVERIFIABLE if withheld else Outcome.MATCHED if hit else Outcome.MISMATCH
    claim = Claim(name, meant.shape if name == "shape" else meant.scene)
    return Check(claim, Finding(Found.STATED, answer.text), outcome, float(hit), model)


@dataclass(frozen=True)
class IllusionJob(JudgeJob):
    """Asks about each image of a split. Images are resized to `size`, as the original does, or sent as they are."""

    split: str = "sin"
    size: tuple[int, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return IllusionJob, (self.rubric_name, self.settings, self.split, self.size)

    @cached_property
    def rubric(self) -> Rubric:
        return RUBRIC

    @cached_property
    def judge(self) -> IllusionJudge:
        return IllusionJudge(self.split, self.size, self.settings, open_client(self.settings))

    def sample(self, item: Mapping[str, Any]) -> Sample:
        """An image with its shape and scene."""
        image = item["image"]
        picture = load_resized(image, self.settings, self.size) if self.size else open_picture(image, self.settings)
        labels = {name: list(item[name]) for name in ("gold", "meant")}
        return Sample(str(image), item["prompt"], picture, options=labels)
