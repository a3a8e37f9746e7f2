"""Runs of IllusionBench: the images with their labels, both of the original's questions about each, and the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from onprompt.errors import UserError
from onprompt.illusion.protocol import QUESTIONS, SPLITS, Gold, Split, gold, named, option, split_named, troubles
from onprompt.illusion.results import Record, Results, measure
from onprompt.illusion.scoring import original
from onprompt.models.asking import ModelJudge, versions
from onprompt.models.client import ModelClient, open_client
from onprompt.runs import datasets
from onprompt.runs.datasets import Dataset, Row
from onprompt.runs.file import damaged
from onprompt.runs.reading import Run
from onprompt.runs.run import JudgeJob
from onprompt.settings import Settings
from onprompt.types import (
    IMAGE,
    TEXT,
    Check,
    Claim,
    Finding,
    Flag,
    Found,
    Input,
    Message,
    Outcome,
    Question,
    Rubric,
    Sample,
    SentImage,
    Verdict,
)
from onprompt.vision.image import load_resized, open_picture

WITHHELD = ("filter", "refusal")  # how an answer ends that the server does not give
FILES = ("image", "image_path", "img", "file", "filename", "file_name", "path", "output", "generated")
RUBRIC = Rubric(
    name="illusion",
    version="1",
    help="Which shape hides in this scene?",
    inputs=(
        Input("image", IMAGE, columns=FILES),
        Input("shape", TEXT, required=False, columns=("shape", "class", "label", "shape_name", "class_name")),
        Input("scene", TEXT, required=False, columns=("scene", "background", "texture", "scene_name")),
        Input("difficulty", TEXT, required=False, columns=("difficulty", "level")),
        Input("model", TEXT, required=False),  # no column is taken for these two
        Input("category", TEXT, required=False),
    ),
    factors={},
    folder_reader="illusionbench",
)


class IllusionJudge(ModelJudge):
    """Asks a model both questions about an image, and scores the answers as the original does."""

    asks_again = False

    def __init__(self, split: str, size: tuple[int, int] | None, settings: Settings, client: ModelClient) -> None:
        super().__init__(settings, client)
        self.split, self.size = split, size

    @property
    def about(self) -> dict[str, Any]:
        """What answers depend on beside the settings."""
        texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in SPLITS[self.split].questions.items()}
        return {"judge": "vlm", "model": self.model, "split": self.split, "size": self.size, "questions": texts}

    @property
    def identity(self) -> Mapping[str, Any]:
        return {**self.about, "asked": dict(self.client.identity)}

    def questions(self, sample: Sample) -> Iterable[Question]:
        return self.asked(sample).values()

    def asked(self, sample: Sample) -> dict[str, Question]:
        """The two questions, word for word; nothing but the image goes with them."""
        side = max(self.size) if self.size else self.settings.send_side
        shown = SentImage(sample.picture, side, "png", self.settings.send_quality)  # lossless: fine texture matters
        max_tokens, temperature = self.settings.answer_tokens, self.settings.temperature
        return {
            name: Question((Message("user", (shown, text)),), max_tokens=max_tokens, temperature=temperature)
            for name, text in SPLITS[self.split].questions.items()
        }

    def judge(self, sample: Sample) -> Verdict:
        """Both answers, scored as the original does; other scorings read them later."""
        rule, meant = Gold(*sample.options["gold"]), Gold(*sample.options["meant"])
        answers = {name: self.client.ask(question) for name, question in self.asked(sample).items()}
        checks = []
        for name, each in answers.items():
            hit = getattr(original(each.text, rule.shape, rule.scene, SPLITS[self.split]), name)
            outcome = Outcome.MATCHED if hit else Outcome.MISMATCH
            if each.stop in WITHHELD and not each.text:
                outcome = Outcome.UNVERIFIABLE
            claim, found = Claim(name, getattr(meant, name)), Finding(Found.STATED, each.text)
            checks.append(Check(claim, found, outcome, float(hit), self.model))
        return Verdict(
            rubric=RUBRIC.name,
            judge="vlm",
            sample=sample,
            value=checks[0].probability,
            factors={},
            summary="; ".join(f"{c.claim.kind} {c.claim.value}: {c.finding.value!r}" for c in checks),
            flags=(Flag.NOT_VERIFIABLE,) if checks[0].outcome is Outcome.UNVERIFIABLE else (),
            checks=tuple(checks),
            answers=tuple(answers.values()),
            provenance={
                **self.about,
                "size": list(self.size) if self.size else None,  # as JSON reads it back
                "versions": versions(),
                "settings": {},
                "image_sha256": sample.picture.sha256,
            },
        )


@dataclass(frozen=True)
class IllusionJob(JudgeJob):
    """Asks about each image of a split. Images are resized to `size`, as the original does, or sent as they are."""

    split: str = "sin"
    size: tuple[int, int] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return IllusionJob, (self.rubric_name, self.settings, self.split, self.size)

    @cached_property
    def judge(self) -> IllusionJudge:
        return IllusionJudge(self.split, self.size, self.settings, open_client(self.settings))

    def sample(self, item: Mapping[str, Any]) -> Sample:
        """An image with its shape and scene."""
        image = item["image"]
        picture = load_resized(image, self.settings, self.size) if self.size else open_picture(image, self.settings)
        labels = {name: list(item[name]) for name in ("gold", "meant")}
        return Sample(str(image), item["prompt"], picture, options=labels)


def opened(data: str, split: Split, columns: Mapping[str, str]) -> Dataset:
    """DATA as a run reads it, with labels from columns, or else from the paths by the original's rule."""
    dataset = datasets.open_dataset(data, RUBRIC, columns)
    return replace(dataset, read=lambda: (row if row.error else labelled(row, split) for row in dataset.read()))


def labelled(row: Row, split: Split) -> Row:
    """A row with its gold labels, or an error if it has none."""
    given = bool(row.item.get("shape") or row.item.get("scene"))
    try:
        rule, meant = labels_in_columns(row.item, split) if given else labels_in_path(row, split)
    except UserError as error:
        return Row(row.id, row.line, error=str(error))
    item = {"image": row.item["image"], "prompt": f"{meant.shape} in {meant.scene}"}
    item |= {"labels": "columns" if given else "path", "gold": rule, "meant": meant}
    return replace(row, item=item, category=meant.shape)


def labels_in_columns(item: Mapping[str, Any], split: Split) -> tuple[Gold, Gold]:
    """The labels that a table gives, and the options that they mean."""
    if not (item.get("shape") and item.get("scene")):
        raise UserError("give both shape and scene, or neither")
    rule = Gold(item["shape"], item["scene"], item.get("difficulty") or "")
    return rule, rule._replace(
        shape=option(rule.shape, split) or rule.shape, scene=option(rule.scene, split) or rule.scene
    )


def labels_in_path(row: Row, split: Split) -> tuple[Gold, Gold]:
    """The labels by the original's rule, and the labels that are meant."""
    image = row.item["image"]
    path = image if isinstance(image, str) else row.id  # the id of a hub's image may be a path
    if "/" not in path:
        raise UserError("no folder in the path or id of the image: add the columns shape and scene")
    rule = gold(path, split)
    try:
        return rule, named(path, split)
    except UserError:  # not an option: `strict` leaves it out
        return rule, rule


@dataclass(frozen=True, slots=True)
class Given:
    """What is read of the inputs of a sample; an unreadable row, which the run counts, has none of these."""

    image: str = ""
    labels: str = ""
    gold: Gold | None = None
    meant: Gold | None = None


def results_of(run: Run) -> Results:
    """The results of a run: every question that was asked, with its answer or None."""
    if run.identity["rubric"] != RUBRIC.name:
        raise UserError(f"{run.path} is a run of {run.rubric}, not of IllusionBench")
    split = split_named(run.identity.get("split", ""))
    about = {name: run.identity.get(name) for name in ("model", "size")} | {"configuration": run.configuration}
    answers: dict[int, dict[str, str | None]] = {}
    for check in run.checks():
        if check.kind not in QUESTIONS:
            raise damaged(run.path, f"an answer to {check.kind!r}, which is not asked")
        answers.setdefault(check.sample, {})[check.kind] = None if check.outcome == "unverifiable" else check.found
    records, paths, waiting = [], [], 0
    with run.opened() as file:
        for row in run.rows():
            given = file.read(row.given, Given)
            waiting += row.value is None and not row.error
            if given.labels != "columns":
                paths.append(given.image or row.id)  # an unreadable row only has its id, the path below the folder
            if given.gold and given.meant:
                asked = answers.get(row.number) or (dict.fromkeys(QUESTIONS) if row.error else {})
                records += [Record(row.id, name, given.gold, given.meant, answer) for name, answer in asked.items()]
    return measure(records, split, {**about, "not_asked_yet": waiting}, troubles(paths, split))
