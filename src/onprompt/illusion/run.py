"""Runs of IllusionBench: the images with their labels, both of the original's questions about each, and the answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.illusion.gold import Gold, gold, named, troubles
from onprompt.illusion.protocol import QUESTIONS, SPLITS, Case, Split, option, split_named
from onprompt.illusion.results import Record, Results, measure
from onprompt.illusion.scoring import original
from onprompt.models.asking import ModelJudge, versions
from onprompt.models.client import ModelClient, open_client
from onprompt.runs import datasets
from onprompt.runs.datasets import Dataset, Row
from onprompt.runs.file import damaged
from onprompt.runs.reading import CheckRow, Run, RunRow
from onprompt.runs.run import JudgeJob
from onprompt.settings import Settings
from onprompt.types import (
    IMAGE,
    TEXT,
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
from onprompt.vision.image import load_resized, open_picture

READERS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
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
        shown = Shown(sample.picture, side, "png", self.settings.send_quality)  # lossless: fine texture is the point
        longest, temperature = self.settings.answer_tokens, self.settings.temperature
        return {
            name: Question((Message("user", (shown, text)),), longest=longest, temperature=temperature)
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
        withheld = [f"no_answer_to_{c.claim.kind}" for c in checks if c.outcome is Outcome.UNVERIFIABLE]
        return Verdict(
            rubric=RUBRIC.name,
            judge="vlm",
            sample=sample,
            value=checks[0].probability,
            factors={},
            summary="; ".join(f"{c.claim.kind} {c.claim.value}: {c.finding.value!r}" for c in checks),
            flags=(*withheld, *(["not_verifiable"] if checks[0].outcome is Outcome.UNVERIFIABLE else [])),
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


# ---- images ----------------------------------------------------------------------------------------------------------


def opened(data: str, split: Split, columns: Mapping[str, str]) -> Dataset:
    """DATA as a run reads it, with labels from columns, or else from the paths by the original's rule."""
    dataset = datasets.open_dataset(data, RUBRIC, columns)

    return replace(dataset, read=lambda: (row if row.error else labelled(row, split) for row in dataset.read()))


def labelled(row: Row, split: Split) -> Row:
    """A row with its gold labels, or an error if it has none."""
    try:
        rule, meant = labels(row, split)
        labels_from = "columns" if row.item.get("shape") else "path"
    except UserError as error:
        return Row(row.id, row.line, error=str(error))
    item = {"image": row.item["image"], "prompt": f"{meant.shape} in {meant.scene}", "labels": labels_from}
    return replace(row, item=item | {"gold": rule, "meant": meant}, category=meant.shape)


def labels(row: Row, split: Split) -> tuple[Gold, Gold]:
    """The labels by the original's rule, and the labels that are meant."""
    item = row.item
    given = [name for name in ("shape", "scene") if item.get(name)]
    if len(given) == 2:
        rule = Gold(item["shape"], item["scene"], item.get("difficulty") or "")
        meant = {name: option(getattr(rule, name), split) or getattr(rule, name) for name in given}
        return rule, rule._replace(**meant)
    if given:
        raise UserError(f"only {given[0]} is given: give both shape and scene")
    path = item["image"] if isinstance(item["image"], str) else row.id  # the id of a hub's image may be a path
    if "/" not in path:
        raise UserError("no folder in the path or id of the image: add the columns shape and scene")
    rule = gold(path, split)
    try:
        return rule, named(path, split)
    except UserError:  # not an option: `strict` leaves it out
        return rule, rule


# ---- answers ---------------------------------------------------------------------------------------------------------


def results_of(run: Run) -> Results:
    """The results of a run."""
    check_rubric(run)
    run_split = split_named(run.identity.get("split", ""))
    not_asked_yet = sum(row.value is None and not row.error for row in run.rows())
    about = {"model": run.identity.get("model", ""), "size": run.identity.get("size")}
    about |= {"configuration": run.configuration, "not_asked_yet": not_asked_yet}
    # An unreadable row only has its id, which is the path below the folder.
    paths = [given.image or row.id for row, given in given_inputs(run) if given.labels != "columns"]
    return replace(measure(records(run), run_split), about=about, troubles=troubles(paths, run_split))


def check_rubric(run: Run) -> None:
    """Refuse a run of another rubric."""
    if run.identity["rubric"] != RUBRIC.name:
        raise UserError(
            f"{run.path}, configuration {run.configuration}, is a run of {run.rubric}, not of IllusionBench"
        )


@dataclass(frozen=True, slots=True)
class Given:
    """What is read of the inputs of a sample; an unreadable row, which the run counts, has none of these."""

    image: str = ""
    labels: str = ""
    gold: Gold | None = None
    meant: Gold | None = None


def records(run: Run) -> list[Record]:
    """Every question that was asked, with its answer or None."""
    checks: dict[int, list[CheckRow]] = {}
    for check in run.checks():
        if check.kind not in QUESTIONS:
            raise damaged(run.path, f"an answer to {check.kind!r}, which is not asked")
        checks.setdefault(check.sample, []).append(check)
    answers = []
    for row, given in given_inputs(run):
        if given.gold and given.meant:
            said = {
                check.kind: None if check.outcome == "unverifiable" else check.found
                for check in checks.get(row.number, ())
            }
            asked = said or (dict.fromkeys(QUESTIONS) if row.error else {})
            answers += [Record(row.id, question, given.gold, answer, given.meant) for question, answer in asked.items()]
    return answers


def given_inputs(run: Run) -> Iterator[tuple[RunRow, Given]]:
    """The rows of a run with their inputs."""
    with run.opened() as file:
        for row in run.rows():
            yield row, file.read(row.given, Given)


def given_cases(path: Path, split: str = "") -> list[Case]:
    """The answers in a run file or a table, to measure an audit's differences on."""
    if path.suffix.lower() == ".sqlite":
        run = Run(path)
        check_rubric(run)
        name = str(run.identity.get("split", ""))
        answered = [each for each in records(run) if each.answer is not None]
        found = [Case(name, each.question, *each.gold[:2], each.answer or "") for each in answered]
    elif path.suffix.lower() in READERS:
        try:
            table = plugins.load("runs.datasets", READERS[path.suffix.lower()]).load(str(path))
        except OSError as error:
            raise UserError(f"can't read {path}: {error.strerror or error}") from None
        if "answer" not in table.columns or not {"path", "shape"} & set(table.columns):
            columns = ", ".join(table.columns)
            raise UserError(f"{path} needs the columns answer, question, and path or shape and scene; it has {columns}")
        rows = table.records(table.columns)
        found = [row for line, cells in rows if (row := given_case(line, cells, split))]
    else:
        raise UserError(f"{path} has an unknown format: use a .csv, .tsv or .jsonl file, or the .sqlite file of a run")
    if not found:
        raise UserError(f"{path} holds no answers")
    return found


def given_case(line: str, cells: Any, split: str) -> Case | None:
    """The answer in a row of a table."""
    if isinstance(cells, UserError):
        raise UserError(f"{line}: {cells}")
    if cells.get("answer") is None:
        return None
    given = {name: str(cells.get(name) or "") for name in ("split", "question", "path", "shape", "scene")}
    if given["question"] not in QUESTIONS:
        raise UserError(f"{line}: question must be shape or scene, not {given['question']!r}")
    if not (given["split"] or split):
        raise UserError(f"{line}: no split: add a column split, or use --split")
    named_both = given["shape"] and given["scene"]
    if not (given["path"] or named_both):
        raise UserError(f"{line}: needs shape and scene, or a path")
    known = split_named(given["split"] or split)
    labels = (given["shape"], given["scene"]) if named_both else gold(given["path"], known)[:2]
    return Case(known.name, given["question"], *labels, str(cells["answer"]))
