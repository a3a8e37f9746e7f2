"""A run on the desk of its reviewers: what a page shows of a sample, and what becomes of their answers."""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from onprompt import plugins
from onprompt.errors import NotFound, OnpromptError, StoreError, UserError
from onprompt.pages.pictures import small_picture
from onprompt.pages.verdict_view import Shown, VerdictView, verdict_view
from onprompt.report.ratings import mean
from onprompt.report.statistics import spearman
from onprompt.runs import findings, reviews, sampling
from onprompt.runs.reviews import Review, Reviewed, ReviewLedger
from onprompt.settings import Settings
from onprompt.settings import load as load_settings
from onprompt.types import Picture, Rubric, Verdict
from onprompt.vision import ORIENTATION, decoding_errors, open_image
from onprompt.web.review_queue import Filters, Queue, ReviewQueue, position
from onprompt.wording.claims import full_claim

SIDE = 1280  # pixels of a picture's longer side, at most
CACHED = 48  # pictures in memory
SAMPLE = "SELECT id, given, model, category FROM samples WHERE number = ? AND NOT gone"
RATED = """SELECT r.sample, r.rater, r.scores, v.value, instr(v.flags, ?) FROM present_reviews r
LEFT JOIN verdicts v ON v.sample = r.sample AND v.generation = ? AND v.of = r.of
WHERE r.rubric = ? AND r.complete ORDER BY r.rater"""


@dataclass(frozen=True, slots=True)
class Desk:
    """How a run is reviewed."""

    blind: bool = False  # nobody is shown what the judge says
    show_raters: bool = False  # raters are shown what the others say


class ReviewDesk:
    """One run file, open for reviews. Its database answers one request at a time, each in milliseconds."""

    def __init__(self, path: Path, generation: int = 0, desk: Desk | None = None) -> None:
        self.path, self.desk, self.lock = path, desk or Desk(), threading.Lock()
        self.file = which_file(path)  # looked at before it is opened: if it is replaced meanwhile, nothing is saved
        with ExitStack() as stack:
            self.ledger = stack.enter_context(ReviewLedger(path))
            self.generation = findings.choose_generation(self.ledger, generation)
            about = findings.identity(self.ledger, self.generation)
            if about["rubric"] not in plugins.names("rubrics"):
                raise UserError(f"{path} is a run of {about['rubric']}, which has no scale to review on")
            stack.pop_all()  # it stays open
        self.judge = " ".join(filter(None, (about["judge"], about.get("model"))))
        self.rubric: Rubric = plugins.load("rubrics", about["rubric"]).RUBRIC
        self.queue = ReviewQueue(self.ledger, self.generation, self.rubric)
        self.settings = load_settings()
        self.picture = lru_cache(CACHED)(self.read_picture)

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self.ledger.close()

    def make_plan(self, size: int, seed: int) -> sampling.SamplingPlan:
        """The sampling plan of a size."""
        with self.lock:
            return sampling.make_plan(self.ledger, self.generation, size, seed)

    def start(self) -> dict[str, Any]:
        """What the first page shows: the run, the plan, who has reviewed how much, and how well the judge agrees."""
        with self.lock:
            plan = sampling.stored_plan(self.ledger, self.generation)
            return {
                "plan": sampling.plan_words(plan) if plan else "",
                "counts": {kind: len(self.queue.numbers(Filters(kind))) for kind in get_args(Queue)},
                **self.queue.cached("so far", self.so_far),
                **self.choices(),
            }

    def choices(self) -> dict[str, Any]:
        """What can be chosen in the filters."""
        options = {column: self.queue.options(column) for column in ("model", "category")}
        return {"models": options["model"], "categories": options["category"], "levels": self.queue.scores()}

    def so_far(self) -> dict[str, Any]:
        """How much each rater has scored, and how well the judge agrees with them."""
        progress: Counter[str] = Counter()
        values: dict[int, float] = {}
        ratings: dict[int, list[float]] = {}
        key = findings.NOTHING_CHECKED, self.generation, self.rubric.name
        for sample, rater, scores, value, placeholder in self.ledger.query(RATED, key):
            progress[rater] += 1
            if value is not None and not placeholder:
                values[sample] = value
                ratings.setdefault(sample, []).append(reviews.stored_rating(self.ledger, scores, self.rubric))
        human = [mean(ratings[sample]) for sample in values]
        return {"progress": dict(progress), "agreement": agreement_words(list(values.values()), human)}

    def completed(self, rater: str) -> set[int]:
        """The numbers of the samples that a rater has scored."""
        return self.queue.cached(("done", rater), partial(reviews.completed, self.ledger, self.rubric.name, rater))

    def first(self, rater: str, filters: Filters) -> int | None:
        """The first sample of a queue that a rater has not scored; the first of all if none is left."""
        with self.lock:
            numbers = self.queue.numbers(filters)
            done = self.completed(rater)
        waiting = (number for number in numbers if number not in done)
        return next(waiting, None if filters.unreviewed else next(iter(numbers), None))

    def page(self, number: int, rater: str, filters: Filters, blind: bool) -> dict[str, Any]:
        """All that the page of a sample shows."""
        blind = blind or self.desk.blind
        with self.lock:
            name, _, model, category = self.sample(number)
            done = self.completed(rater)
            where = position(self.queue.numbers(filters), number, done, filters.unreviewed)
            review = reviews.review_of(self.ledger, self.rubric.name, rater, number)
            others = reviews.by_others(self.ledger, self.rubric.name, rater, number) if self.desk.show_raters else []
            choices = self.choices()
        view, problem = self.view(number)
        claims = [check.asked for check in view.checks] if view else []
        return {
            **choices,
            "view": without_boxes(view) if view and blind else view,
            "problem": problem,
            "judged": {factor.name: factor.score for factor in view.factors} if view and not blind else {},
            "name": name,
            "model": model,
            "category": category,
            "scores": review.scores,
            "checks": {place: review.checks[claim] for place, claim in enumerate(claims) if claim in review.checks},
            "comment": review.comment,
            "others": others,
            "where": where,
            "blind": blind,
        }

    def sample(self, number: int) -> tuple[str, str, str, str]:
        """The id, the inputs, the model and the category of a sample."""
        row = self.ledger.first(SAMPLE, (number,))
        if not row:
            raise NotFound(f"{self.path.name} has no sample number {number}")
        name, given, model, category = row
        return name, given, model, category

    def verdict(self, number: int) -> tuple[str, Verdict, Mapping[str, Any]]:
        """A sample's id, the stored verdict on it, and the inputs it was judged by."""
        with self.lock:
            name, given, *_ = self.sample(number)
            verdict = findings.stored_verdict(self.ledger, self.generation, name, self.settings.answers)
        return name, verdict, self.ledger.read(given, Mapping[str, Any])

    def view(self, number: int) -> tuple[VerdictView | None, str]:
        """A verdict as it is drawn, or why it can't be."""
        try:
            name, verdict, given = self.verdict(number)
        except OnpromptError as error:
            return None, str(error)
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        shown = {each: self.shown(number, each, picture, given) for each, picture in pictures.items()}
        return verdict_view(verdict, shown, self.rubric.factors, name), ""

    def shown(self, number: int, name: str, picture: Picture, given: Mapping[str, Any]) -> Shown:
        """Where a picture is, and its size; only its header is read."""
        try:
            return Shown(f"/image/{number}/{name}", *upright_size(picture, given, self.settings))
        except OnpromptError as error:
            return Shown(missing=str(error))

    def read_picture(self, number: int, name: str) -> bytes:
        """A picture of a sample as a JPEG, whatever its file is; no other file can be asked for."""
        _, verdict, given = self.verdict(number)
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        if name not in pictures:
            raise UserError(f"no picture {name[:50]!r}")
        return small_picture(pictures[name], given, SIDE)[0]

    def save(self, number: int, rater: str, review: Review) -> None:
        """Store a review at once; its checks are named by their places in the verdict, and stored by their claims."""
        claims = {}
        if review.checks:
            checks = self.verdict(number)[1].checks
            places = {str(place): full_claim(check.claim) for place, check in enumerate(checks)}
            if unknown := review.checks.keys() - places.keys():
                raise UserError(f"the verdict has no check {min(unknown)[:20]!r}")
            claims = {places[place]: answer for place, answer in review.checks.items()}
        key = Reviewed(number, self.generation, self.rubric.name, rater)
        with self.writing():
            blind = review.blind or self.desk.blind
            self.ledger.save(key, replace(review, checks=claims, blind=blind), self.rubric)
            self.queue.forget("so far", ("done", rater))

    def undo(self, rater: str) -> int | None:
        """Undo the last save of a rater."""
        with self.writing():
            self.queue.forget("so far", ("done", rater))
            return self.ledger.undo(self.rubric.name, rater)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change the file, as long as it is the one that the path names: before, and also after the change."""
        with self.lock:
            self.check_file()
            yield
            self.check_file()

    def check_file(self) -> None:
        """Refuse to write to a file that was deleted or replaced: nobody would ever read it."""
        if which_file(self.path) != self.file:
            raise StoreError(
                f"{self.path.name} was replaced or deleted while this review was open; start `onprompt review` again"
            )


def which_file(path: Path) -> tuple[int, int] | None:
    """The device and the inode of a file; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def agreement_words(values: Sequence[float], human: Sequence[float]) -> str:
    """Spearman's ρ between the judge and people, in words; empty where there are too few ratings, or all are equal."""
    if len(values) < sampling.SMALLEST:
        return ""
    rho = float(spearman(np.array(values), np.array(human))(np.ones((1, len(values))))[0])
    return sampling.agreement_words(rho, len(values)) if np.isfinite(rho) else ""


def without_boxes(view: VerdictView) -> VerdictView:
    """A view that shows nothing of what the judge found."""
    return replace(view, pictures=tuple(replace(picture, boxes=()) for picture in view.pictures))


def upright_size(picture: Picture, given: Mapping[str, Any], settings: Settings) -> tuple[int, int]:
    """Width and height of a stored sample's picture, if its file is still what was judged; it is not decoded."""
    data, name = findings.judged_file(findings.paths_of(picture, given), picture.sha256, settings)
    with decoding_errors(name):
        image = open_image(data, name)
        turned = image.getexif().get(ORIENTATION, 1) >= 5
        return (image.height, image.width) if turned else image.size
