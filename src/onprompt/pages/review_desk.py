"""A run on the desk of its reviewers: which verdicts they see, what a page shows, and what they say."""

import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import urlencode

import numpy as np

from onprompt import plugins
from onprompt.errors import ImageError, NotFound, OnpromptError, StoreError, UserError
from onprompt.pages.pictures import change_map, encode, reason, small_picture
from onprompt.pages.verdict_view import CHANGED, Shown, VerdictView, verdict_view
from onprompt.report.ratings import mean
from onprompt.report.statistics import spearman
from onprompt.runs import reviews
from onprompt.runs.reading import Run, RunRow, judged_file, paths_of
from onprompt.runs.reviews import BANDS, Review, ReviewFile, stored_plan
from onprompt.settings import Settings
from onprompt.settings import load as load_settings
from onprompt.types import Picture, Rubric, Verdict
from onprompt.vision import ORIENTATION, decoding_errors, open_image
from onprompt.wording.claims import full_claim

Kept = TypeVar("Kept")
Queue = Literal["plan", "flagged", "all"]
SIDE = 1280  # pixels of a picture's longer side, at most
CACHED = 48  # pictures in memory
STALE = 1.0  # seconds for which verdicts of a run that is being written may not be noticed
KEPT = 256  # things that were read, at most: addresses may name any number of raters and models
OPTIONS = 1000  # models or categories to choose from
LEVEL = re.compile(r"^(?:Score )?(\d)(?: =|:) (.+)(?:\nGuiding Principle: (.+))?$", re.MULTILINE)
DEFINITION = re.compile(r"=== FACTOR \d: (\w+) ===\s+Definition: (.+)")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a rater wants to see; empty: everything. Of `parts` equal shares of the work the rater has `part`."""

    queue: Queue = "all"
    model: str = ""
    category: str = ""
    score: str = ""
    unreviewed: bool = True
    part: int = 0
    parts: int = 0

    def query(self, **more: object) -> str:
        """The filters as the query of an address."""
        given = {name: "1" if value is True else value for name, value in {**asdict(self), **more}.items()}
        return urlencode({name: value for name, value in given.items() if value not in ("", False, 0)})


class ReviewQueue:
    """What was read of a run: its rows, and the numbers of samples by filters; again only when it has changed."""

    def __init__(self, run: Run, file: ReviewFile, rubric: Rubric) -> None:
        self.run, self.file, self.rubric = run, file, rubric
        self.known: dict[Hashable, Any] = {}
        self.version, self.looked_at, self.stale = -1, 0.0, STALE

    def cached(self, key: Hashable, read: Callable[[], Kept]) -> Kept:
        """What was read under a key, as long as no other process has changed the file since."""
        now = time.monotonic()
        if now - self.looked_at > self.stale:
            (version,) = self.file.first("PRAGMA data_version")
            self.known = self.known if version == self.version else {}
            self.version, self.looked_at = version, now
        if key not in self.known:
            self.known = self.known if len(self.known) < KEPT else {}
            self.known[key] = read()
        kept: Kept = self.known[key]
        return kept

    @property
    def rows(self) -> Mapping[int, RunRow]:
        """The rows by their numbers. A run that is being written is read again the more seldom the longer it takes."""
        return self.cached("rows", self.read_rows)

    def read_rows(self) -> dict[int, RunRow]:
        start = time.monotonic()
        rows = {row.number: row for row in self.run.rows()}
        self.stale = max(STALE, 20 * (time.monotonic() - start))
        return rows

    def row(self, number: int) -> RunRow:
        if number not in self.rows:
            raise NotFound(f"{self.file.path.name} has no sample number {number}")
        return self.rows[number]

    def numbers(self, filters: Filters) -> Sequence[int]:
        """The samples that the filters let through, in order."""
        return self.cached(filters, partial(self.filtered, filters))

    def filtered(self, filters: Filters) -> list[int]:
        found = [row.number for row in self.rows.values() if row.value is not None and self.passes(row, filters)]
        if filters.queue == "plan":
            plan, among = stored_plan(self.file, self.run.configuration), set(found)
            found = [number for number in plan.samples if number in among] if plan else []
        return found[filters.part - 1 :: filters.parts] if 0 < filters.part <= filters.parts else found

    def passes(self, row: RunRow, filters: Filters) -> bool:
        band = min(int((row.value or 0.0) * BANDS), BANDS - 1)
        score = row.score if "score" in self.rubric.factors else band
        return (
            (filters.queue != "flagged" or bool(row.flags))
            and filters.model in ("", row.model)
            and filters.category in ("", row.category)
            and filters.score in ("", str(score))
        )

    def choices(self) -> dict[str, Any]:
        """What can be chosen in the filters: models, categories, and scores or bands of the value."""
        levels = [(str(score), str(score)) for score in self.rubric.factors.get("score", ())]
        levels = levels or [(str(n), f"value {n / BANDS:.1f} to {(n + 1) / BANDS:.1f}") for n in range(BANDS)]
        names = ("model", "category")
        models, categories = (sorted({getattr(row, n) for row in self.rows.values()} - {""})[:OPTIONS] for n in names)
        return {"models": models, "categories": categories, "levels": levels}


@dataclass(frozen=True, slots=True)
class Position:
    """Where a sample is in a queue."""

    place: int  # from 1; 0 if it is not in the queue
    total: int
    done: int
    following: int | None
    previous: int | None


def position(numbers: Sequence[int], current: int, done: set[int], unreviewed: bool) -> Position:
    """Where a sample is; the next one is the next that is not done, if those are wanted; back goes to any."""
    place = numbers.index(current) if current in numbers else -1
    ahead = [*numbers[place + 1 :], *(numbers[:place] if unreviewed and place > 0 else ())]
    following = next((number for number in ahead if not (unreviewed and number in done)), None)
    previous = numbers[place - 1] if place > 0 else None
    return Position(place + 1, len(numbers), len(done.intersection(numbers)), following, previous)


@dataclass(frozen=True, slots=True)
class Desk:
    """How a run is reviewed."""

    blind: bool = False  # all raters score before they see what the judge says
    show_raters: bool = False  # raters are shown what the others say


class ReviewDesk:
    """One run file, open for reviews. Its database answers one request at a time, each in milliseconds."""

    def __init__(self, path: Path, configuration: int = 0, desk: Desk | None = None) -> None:
        self.path, self.desk, self.lock = path, desk or Desk(), threading.Lock()
        self.identity = which_file(path)  # looked at before it is opened: if it is replaced meanwhile, nothing is saved
        self.file = ReviewFile(path)
        try:
            self.run = Run(path, configuration, self.file)
            if self.run.rubric not in plugins.names("rubrics"):
                raise UserError(f"{path} is a run of {self.run.rubric}, which has no scale to review on")
        except OnpromptError:
            self.file.close()
            raise
        self.rubric: Rubric = plugins.load("rubrics", self.run.rubric).RUBRIC
        self.queue = ReviewQueue(self.run, self.file, self.rubric)
        self.settings = load_settings()
        self.picture = lru_cache(CACHED)(self.read_picture)
        self.seen: set[tuple[str, int]] = set()  # raters and the samples whose verdict they were shown

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self.file.close()

    def make_plan(self, size: int, seed: int) -> reviews.SamplingPlan:
        """The sampling plan of a size."""
        with self.lock:
            return reviews.make_plan(self.run, self.file, size, seed)

    def start(self) -> dict[str, Any]:
        """What the first page shows: the run, the plan, who has reviewed how much, and how well they agree."""
        with self.lock:
            plan = stored_plan(self.file, self.run.configuration)
            return {
                "plan": reviews.plan_words(plan) if plan else "",
                "counts": {kind: len(self.queue.numbers(Filters(kind))) for kind in get_args(Queue)},
                **self.queue.cached("so far", self.so_far),
                **self.queue.cached("choices", self.queue.choices),
            }

    def so_far(self) -> dict[str, Any]:
        """How much each rater has scored, how well each agrees with the others, and the judge with all of them."""
        given = reviews.ratings(self.file, self.rubric)
        rows = [row for row in self.queue.rows.values() if row.counts and row.id in given]
        human = [mean(given[row.id].values()) for row in rows]
        rho = correlation([row.value or 0.0 for row in rows], human)
        raters = sorted({rater for by_rater in given.values() for rater in by_rater})
        agreement = "" if rho is None else reviews.agreement_words(rho, len(rows))
        return {"raters": [rater_summary(name, given) for name in raters], "agreement": agreement}

    def completed(self, rater: str) -> set[int]:
        """The numbers of the samples that a rater has scored."""
        return self.queue.cached(("done", rater), partial(reviews.completed, self.file, self.rubric.name, rater))

    def progress(self, rater: str, filters: Filters) -> Position:
        """How much a rater has done of a queue, with the first sample that is left; the first of all if all count."""
        with self.lock:
            return position(self.queue.numbers(filters), -1, self.completed(rater), filters.unreviewed)

    def page(self, number: int, rater: str, filters: Filters, blind: bool) -> dict[str, Any]:
        """All that the page of a sample shows. A blind rater sees nothing that names model or score before scoring."""
        with self.lock:
            row = self.queue.row(number)
            done = self.completed(rater)
            where = position(self.queue.numbers(filters), number, done, filters.unreviewed)
            review = reviews.review_of(self.file, self.rubric.name, rater, number)
            others = reviews.by_others(self.file, self.rubric.name, rater, number) if self.desk.show_raters else []
            choices = self.queue.cached("choices", self.queue.choices)
        hidden = (blind or self.desk.blind) and number not in done
        view, problem = self.view(number)
        if not hidden:
            self.seen.add((rater, number))
        claims = [check.asked for check in view.checks] if view else []
        if view and hidden:  # nothing of what the judge found
            view = replace(view, id="", pictures=tuple(replace(picture, boxes=()) for picture in view.pictures))
        return {
            **choices,
            "view": view,
            "problem": problem and ("The picture of this sample can't be shown." if hidden else problem),
            "judged": {factor.name: factor.score for factor in view.factors} if view and not hidden else {},
            "name": f"Sample {number}" if hidden else row.id,
            "draft": hashlib.sha256(row.id.encode(errors="replace")).hexdigest()[:16],
            "model": "" if hidden else row.model,
            "category": row.category,
            "scores": review.scores,
            "checks": {place: review.checks[claim] for place, claim in enumerate(claims) if claim in review.checks},
            "comment": review.comment,
            "others": [] if hidden else others,
            "where": where,
            "hidden": hidden,
            "locked": (blind or self.desk.blind) and not hidden,
        }

    def verdict(self, number: int) -> tuple[str, Verdict, Mapping[str, Any]]:
        """A sample's id, the stored verdict on it, and the inputs it was judged by."""
        with self.lock:
            row = self.queue.row(number)
            return row.id, self.run.verdict(row.id), self.file.read(row.given, Mapping[str, Any])

    def view(self, number: int) -> tuple[VerdictView | None, str]:
        """A verdict as it is drawn, or why it can't be."""
        try:
            name, verdict, given = self.verdict(number)
        except OnpromptError as error:
            return None, str(error)
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        shown = {each: self.shown(number, each, picture, given) for each, picture in pictures.items()}
        if "before" in shown and not any(each.missing for each in shown.values()):
            shown[CHANGED] = replace(shown["before"], url=f"/image/{number}/{CHANGED}")
        return verdict_view(verdict, shown, self.rubric.factors, name), ""

    def shown(self, number: int, name: str, picture: Picture, given: Mapping[str, Any]) -> Shown:
        """Where a picture is, and its size; only its header is read."""
        try:
            return Shown(f"/image/{number}/{name}", *upright_size(picture, given, self.settings))
        except ImageError as error:
            return Shown(missing=reason(error))

    def read_picture(self, number: int, name: str) -> bytes:
        """A picture of a sample as a JPEG, whatever its file is; no other file can be asked for."""
        _, verdict, given = self.verdict(number)
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        if name == CHANGED and "before" in pictures:
            return encode(change_map(verdict.sample))[0]
        if name not in pictures:
            raise UserError(f"no picture {name[:50]!r}")
        return small_picture(pictures[name], given, SIDE)[0]

    def save(self, number: int, rater: str, review: Review) -> None:
        """Store a review at once; its checks are named by their places in the verdict, and stored by their claims.

        A score counts as blind as long as it is the one that was given before the judge's verdict was shown.
        """
        claims = {}
        if review.checks:
            checks = self.verdict(number)[1].checks
            places = {str(place): full_claim(check.claim) for place, check in enumerate(checks)}
            if unknown := review.checks.keys() - places.keys():
                raise UserError(f"the verdict has no check {min(unknown)[:20]!r}")
            claims = {places[place]: answer for place, answer in review.checks.items()}
        with self.writing():
            before = reviews.review_of(self.file, self.rubric.name, rater, number)
            kept = bool(before.scores) and before.scores == review.scores
            unseen = (review.blind or self.desk.blind) and (rater, number) not in self.seen
            review = replace(review, checks=claims, blind=before.blind if kept else unseen)
            self.file.save(number, self.run.configuration, rater, review, self.rubric)
            self.forget(rater)

    def undo(self, rater: str) -> int | None:
        """Undo the last save of a rater."""
        with self.writing():
            self.forget(rater)
            return self.file.undo(self.rubric.name, rater)

    def forget(self, rater: str) -> None:
        """Read again what a rater has changed."""
        for key in ("so far", ("done", rater)):
            self.queue.known.pop(key, None)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change the file as long as it is the one that the path names; nobody would read one that was replaced."""
        with self.lock:
            for change in (True, False):
                if which_file(self.path) != self.identity:
                    raise StoreError(
                        f"{self.path.name} was replaced or deleted while this review was open; "
                        "start `onprompt review` again"
                    )
                if change:
                    yield


def which_file(path: Path) -> tuple[int, int] | None:
    """The device and the inode of a file; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def correlation(values: Sequence[float], human: Sequence[float]) -> float | None:
    """Spearman's ρ; None where there are too few ratings, or all are equal."""
    if len(values) < reviews.SMALLEST:
        return None
    rho = float(spearman(np.array(values), np.array(human))(np.ones((1, len(values))))[0])
    return rho if np.isfinite(rho) else None


def rater_summary(rater: str, given: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """How many samples a rater has scored, the mean, and how they compare with the mean of the other raters."""
    own = [by_rater[rater] for by_rater in given.values() if rater in by_rater]
    both = [
        (by_rater[rater], mean([score for name, score in by_rater.items() if name != rater]))
        for by_rater in given.values()
        if rater in by_rater and len(by_rater) > 1
    ]
    return {
        "name": rater,
        "scored": len(own),
        "mean": mean(own),
        "common": len(both),
        "same": sum(abs(mine - theirs) < 0.5 for mine, theirs in both) / len(both) if both else None,
        "rho": correlation([mine for mine, _ in both], [theirs for _, theirs in both]),
    }


def guidelines(rubric: Rubric) -> tuple[dict[int, str], dict[str, str]]:
    """What a rubric's text says of each score, and of each factor."""
    scale = set().union(*rubric.factors.values())
    levels = {int(n): f"{name}. {rule}" if rule else name for n, name, rule in LEVEL.findall(rubric.text)}
    factors = {name.lower(): words for name, words in DEFINITION.findall(rubric.text)}
    return {n: words[0].upper() + words[1:] for n, words in levels.items() if n in scale}, factors


def upright_size(picture: Picture, given: Mapping[str, Any], settings: Settings) -> tuple[int, int]:
    """Width and height of a stored sample's picture, if its file is still what was judged; it is not decoded."""
    data, name = judged_file(paths_of(picture, given), picture.sha256, settings)
    with decoding_errors(name):
        image = open_image(data, name)
        turned = image.getexif().get(ORIENTATION, 1) >= 5
        return (image.height, image.width) if turned else image.size
