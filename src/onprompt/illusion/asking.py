"""Which shape hides in this scene? Both of the original's questions about an image, and the answers as they came."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onprompt.illusion.gold import Gold
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.scoring import Outcome, original
from onprompt.judges.vlm import versions
from onprompt.models.client import Asker, asker
from onprompt.runs.run import Done, Task, attempted, identity_of, lost
from onprompt.settings import Settings
from onprompt.types import Answer, Check, Message, Picture, Question, Scene, Shown, Verdict
from onprompt.types import Outcome as Found
from onprompt.vision.image import load_resized, open_picture

NAME = "illusion"
WITHHELD = ("filter", "refusal")  # ways to end in which a server gives no answer of the model's


@dataclass(frozen=True)
class Asking:
    """What a run does with each image. It can be sent to other processes."""

    split: str
    settings: Settings
    size: tuple[int, int] | None = None  # to which images are resized, as the original does; None: sent as they are

    def __reduce__(self) -> tuple[type[Asking], tuple[str, Settings, tuple[int, int] | None]]:
        return Asking, (self.split, self.settings, self.size)  # an asker stays where it was made

    @cached_property
    def asker(self) -> Asker:
        return asker(self.settings)

    @property
    def slots(self) -> int:
        return self.asker.slots

    @property
    def bound_by(self) -> str:
        """A model in the process that answers in batches, or a server that is asked."""
        return "model" if hasattr(self.asker.backend.backend, "slots") else "server"

    @property
    def identity(self) -> Mapping[str, Any]:
        return identity_of(NAME, self.settings, self.told, self.asker)

    @property
    def told(self) -> dict[str, Any]:
        """What answers depend on beside the settings."""
        texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in questions(self.split).items()}
        return {"judge": "vlm", "model": self.asker.name, "split": self.split, "size": self.size, "questions": texts}

    def begin(self) -> None:
        """Nothing is shared between threads but the asker."""

    def stop(self) -> None:
        """Let nobody wait for the server any more."""
        self.asker.stop()

    def lost(self, task: Task, why: str) -> Done:
        """A task on which every process died that had it."""
        return lost(task, why)

    def __call__(self, task: Task, /) -> Done:
        """Both answers as they are kept, or the fault."""
        return attempted(task, lambda: self.verdict(task.item))

    def questions(self, item: Mapping[str, Any]) -> list[Question]:
        """What would be asked about an image."""
        return list(self.asked(self.picture(item)).values())

    def picture(self, item: Mapping[str, Any]) -> Picture:
        """The image as it is shown."""
        image = item["image"]
        return load_resized(image, self.settings, self.size) if self.size else open_picture(image, self.settings)

    def asked(self, picture: Picture) -> dict[str, Question]:
        """The two questions, word for word; nothing but the image goes with them."""
        side = max(self.size) if self.size else self.settings.send_side
        shown = Shown(picture, side, "png", self.settings.send_quality)  # no loss: fine texture is what it is about
        longest, temperature = self.settings.answer_tokens, self.settings.temperature
        return {
            name: Question((Message("user", (shown, text)),), longest=longest, temperature=temperature)
            for name, text in questions(self.split).items()
        }

    def verdict(self, item: Mapping[str, Any]) -> Verdict:
        """Both answers, scored as the original does; other scorings read them later."""
        picture, gold, meant = self.picture(item), Gold(*item["gold"]), Gold(*item["meant"])
        answers = {name: self.asker.ask(question) for name, question in self.asked(picture).items()}
        scored = {
            name: original(each.text, gold.shape, gold.scene, SPLITS[self.split]) for name, each in answers.items()
        }
        checks = tuple(check(name, meant, answers[name], scored[name], self.asker.name) for name in answers)
        withheld = [f"no_answer_to_{each.kind}" for each in checks if each.outcome is Found.UNVERIFIABLE]
        return Verdict(
            rubric=NAME,
            score=None,
            value=checks[0].score,
            flags=(*withheld, *(["not_verifiable"] if checks[0].outcome is Found.UNVERIFIABLE else [])),
            checks=checks,
            pairs=tuple((each.asked, each.found) for each in checks),
            differences=(),
            summary="; ".join(f"{each.kind} {each.asked}: {each.found!r}" for each in checks),
            scene=Scene(item["prompt"]),
            picture=picture,
            answers=tuple(answers.values()),
            provenance={**self.told, "versions": versions(), "settings": {}, "image_sha256": picture.sha256},
        )


def questions(split: str) -> dict[str, str]:
    """The original's two questions by what they ask for."""
    return {"shape": SPLITS[split].shape_question, "scene": SPLITS[split].scene_question}


def check(name: str, meant: Gold, answer: Answer, scored: Outcome, model: str) -> Check:
    """An answer beside what it should be; unverifiable where the server gave none."""
    withheld = answer.stop in WITHHELD and not answer.text
    hit = scored.shape if name == "shape" else scored.scene
    outcome = Found.UNVERIFIABLE if withheld else Found.MATCHED if hit else Found.MISMATCH
    asked = meant.shape if name == "shape" else meant.scene
    return Check(name, asked, answer.text, outcome, float(hit), 0.0 if withheld else 1.0, model, -1)
