"""`onprompt review`: which verdicts raters see, what a page shows of them, and what they say.

Its database answers one request at a time, each in milliseconds.
"""

import hashlib
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlencode

import fastapi
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from onprompt import plugins
from onprompt.errors import ImageError, NotFound, OnpromptError, StoreError, UserError
from onprompt.pages.application import new_app, render
from onprompt.pages.verdict_view import CHANGED, PageImage, VerdictView, change_map, encode, reason, small, verdict_view
from onprompt.report.ratings import correlation, mean, rater_summary
from onprompt.rubrics import guidelines
from onprompt.runs import reviews
from onprompt.runs.reading import Run, RunRow, paths_of
from onprompt.runs.reviews import (
    ANSWERS,
    MAX_COMMENT,
    MAX_NAME,
    Review,
    ReviewFile,
    check_rater,
    in_random_order,
)
from onprompt.types import Picture, Rubric, Verdict
from onprompt.wording import plural
from onprompt.wording.claims import full_claim

Kept = TypeVar("Kept")
Queue = Literal["random", "flagged", "all"]
SIDE = 1280  # pixels of a picture's longer side, at most
CACHED = 48  # pictures in memory
STALE = 5.0  # seconds for which verdicts of a run that is being written may not be noticed
KEPT = 256  # things that were read, at most: addresses may name any number of raters and models
MAX_CHECKS = 100  # of one sample that can be answered: a prompt of 10,000 characters has a thousand
KEYS = dict(zip(ANSWERS, "ypnu", strict=True))  # the key of each answer to a check


@dataclass(frozen=True, slots=True)
class Filters:
    """What a rater wants to see. Of `parts` equal shares of the work the rater has `part`."""

    queue: Queue = "all"
    unreviewed: bool = True
    part: int = 0
    parts: int = 0

    def query(self, **more: object) -> str:
        given = {name: "1" if value is True else value for name, value in {**asdict(self), **more}.items()}
        return urlencode({name: value for name, value in given.items() if value not in ("", False, 0)})


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


class ReviewDesk:
    """One run file, open for reviews; if blind, all raters score before they see what the judge says."""

    def __init__(self, path: Path, configuration: int = 0, blind: bool = False) -> None:
        self.path, self.blind, self.lock = path, blind, threading.Lock()
        self.identity = which_file(path)  # looked at before it is opened: if it is replaced meanwhile, nothing is saved
        self.file = ReviewFile(path)
        try:
            self.run = Run(path, configuration, self.file)
            self.rubric: Rubric = plugins.load("rubrics", self.run.rubric).RUBRIC
            if not self.rubric.factors:
                raise UserError(f"{path} is a run of {self.rubric.name}, which has no scale to review on")
        except OnpromptError:
            self.file.close()
            raise
        self.picture = lru_cache(CACHED)(self.read_picture)
        self.known: dict[Hashable, Any] = {}  # what was read of the file
        self.version, self.looked_at = -1, 0.0
        self.seen: set[tuple[str, int]] = set()  # raters and the samples whose verdict they were shown

    def close(self) -> None:
        with self.lock:
            self.file.close()

    def cached(self, key: Hashable, read: Callable[[], Kept]) -> Kept:
        """What was read under a key, as long as no other process has changed the file since."""
        now = time.monotonic()
        if now - self.looked_at > STALE:
            version = self.file.data_version
            self.known = self.known if version == self.version else {}
            self.version, self.looked_at = version, now
        if key not in self.known:
            self.known = self.known if len(self.known) < KEPT else {}
            self.known[key] = read()
        kept: Kept = self.known[key]
        return kept

    def rows(self) -> Mapping[int, RunRow]:
        return self.cached("rows", lambda: {row.number: row for row in self.run.rows()})

    def row(self, number: int) -> RunRow:
        if number not in self.rows():
            raise NotFound(f"{self.path.name} has no sample number {number}")
        return self.rows()[number]

    def numbers(self, filters: Filters) -> Sequence[int]:

        def read() -> list[int]:
            judged = [row for row in self.rows().values() if row.value is not None]
            found = [row.number for row in judged if row.flags or filters.queue != "flagged"]
            if filters.queue == "random":
                found = in_random_order(judged)
            return found[filters.part - 1 :: filters.parts] if 0 < filters.part <= filters.parts else found

        return self.cached(filters, read)

    def start(self) -> dict[str, Any]:
        """What the first page shows: the run, who has reviewed how much, and how well they agree."""
        with self.lock:
            counts = {kind: len(self.numbers(Filters(kind))) for kind in get_args(Queue)}
            so_far = self.cached("so far", self.so_far)
        return {"counts": counts, **so_far}

    def so_far(self) -> dict[str, Any]:
        """How much each rater has scored, how well each agrees with the others, and the judge with all of them."""
        given = reviews.ratings(self.file, self.rubric)
        rows = [row for row in self.rows().values() if row.counts and row.id in given]
        rho = correlation([(row.value or 0.0, mean(given[row.id].values())) for row in rows])
        raters = sorted({rater for by_rater in given.values() for rater in by_rater})
        agreement = "" if rho is None else f"Spearman's ρ with the judge is {rho:.2f} on {plural(len(rows), 'verdict')}"
        return {"raters": [rater_summary(name, given) for name in raters], "agreement": agreement}

    def completed(self, rater: str) -> set[int]:
        return self.cached(("done", rater), partial(reviews.completed, self.file, self.rubric.name, rater))

    def progress(self, rater: str, filters: Filters) -> Position:
        """How much a rater has done of a queue, with the first sample that is left; the first of all if all count."""
        with self.lock:
            return position(self.numbers(filters), -1, self.completed(rater), filters.unreviewed)

    def page(self, number: int, rater: str, filters: Filters, blind: bool) -> dict[str, Any]:
        """All that the page of a sample shows. A blind rater sees nothing that names model or score before scoring."""
        name = self.rubric.name
        with self.lock:
            row, done = self.row(number), self.completed(rater)
            where = position(self.numbers(filters), number, done, filters.unreviewed)
            review = reviews.review_of(self.file, name, rater, number)
        blind = blind or self.blind
        hidden = blind and number not in done
        view, problem = self.view(number)
        if not hidden:
            self.seen.add((rater, number))
        claims = [check.asked for check in view.checks] if view else []
        if view and hidden:  # nothing of what the judge found
            view = replace(view, pictures=tuple(replace(picture, boxes=()) for picture in view.pictures))
        return {
            "view": view,
            "problem": problem and ("The picture of this sample can't be shown." if hidden else problem),
            "judged": {name: each.score for name, each in view.verdict.factors.items()} if view and not hidden else {},
            "name": f"Sample {number}" if hidden else row.id,
            "draft": hashlib.sha256(row.id.encode(errors="replace")).hexdigest()[:16],
            "model": "" if hidden else row.model,
            "category": row.category,
            "scores": review.scores,
            "checks": {place: review.checks[claim] for place, claim in enumerate(claims) if claim in review.checks},
            "comment": review.comment,
            "where": where,
            "hidden": hidden,
            "locked": blind and not hidden,
        }

    def verdict(self, number: int) -> tuple[Verdict, Mapping[str, Any], dict[str, Picture]]:
        """The stored verdict on a sample, and the inputs and pictures that it was judged by."""
        with self.lock:
            row = self.row(number)
            verdict, given = self.run.verdict(row.id), self.file.read(row.given, Mapping[str, Any])
        return verdict, given, {"image": verdict.sample.picture, **verdict.sample.pictures}

    def view(self, number: int) -> tuple[VerdictView | None, str]:
        """A verdict as it is drawn, or why it can't be."""
        try:
            verdict, _, pictures = self.verdict(number)
        except OnpromptError as error:
            return None, str(error)
        shown = {}
        for each in pictures:
            try:
                shown[each] = PageImage(f"/image/{number}/{each}", *self.picture(number, each)[1:])
            except ImageError as error:
                shown[each] = PageImage(missing=reason(error))
        if "before" in shown and not any(each.missing for each in shown.values()):
            shown[CHANGED] = shown["before"]._replace(url=f"/image/{number}/{CHANGED}")
        return verdict_view(verdict, shown, self.rubric.factors), ""

    def read_picture(self, number: int, name: str) -> tuple[bytes, int, int]:
        """A picture of a sample as a JPEG with its size, whatever its file is; no other file can be asked for."""
        verdict, given, pictures = self.verdict(number)
        if name == CHANGED and "before" in pictures:
            return encode(change_map(verdict.sample))
        if name not in pictures:
            raise UserError(f"no picture {name[:50]!r}")
        picture = pictures[name]
        return small(paths_of(picture, given), picture.sha256, SIDE, picture.frame)

    def save(self, number: int, rater: str, review: Review) -> None:
        """Store a review at once; its checks are named by their places in the verdict, and stored by their claims.

        A score counts as blind as long as it is the one that was given before the judge's verdict was shown.
        """
        claims = {}
        if review.checks:
            checks = self.verdict(number)[0].checks
            places = {str(place): full_claim(check.claim) for place, check in enumerate(checks)}
            if unknown := review.checks.keys() - places.keys():
                raise UserError(f"the verdict has no check {min(unknown)[:20]!r}")
            claims = {places[place]: answer for place, answer in review.checks.items()}
        with self.writing(rater):
            before = reviews.review_of(self.file, self.rubric.name, rater, number)
            kept = bool(before.scores) and before.scores == review.scores
            unseen = (review.blind or self.blind) and (rater, number) not in self.seen
            review = replace(review, checks=claims, blind=before.blind if kept else unseen)
            self.file.save(number, self.run.configuration, rater, review, self.rubric)

    def undo(self, rater: str) -> int | None:
        with self.writing(rater):
            return self.file.undo(self.rubric.name, rater)

    @contextmanager
    def writing(self, rater: str) -> Iterator[None]:
        """Change the file as long as it is the one that the path names; nobody would read one that was replaced."""
        with self.lock:
            for key in ("so far", ("done", rater)):
                self.known.pop(key, None)
            for change in (True, False):
                if which_file(self.path) != self.identity:
                    gone = f"{self.path.name} was replaced or deleted while this review was open"
                    raise StoreError(f"{gone}; start `onprompt review` again")
                if change:
                    yield


def which_file(path: Path) -> tuple[int, int] | None:
    """The device and the inode of a file; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Rater(BaseModel):
    """Who asks."""

    rater: str = Field(max_length=MAX_NAME)


class Saved(Rater):
    """All that a rater says of a sample."""

    model_config = ConfigDict(extra="forbid")

    scores: dict[str, int] = Field(default={}, max_length=100)
    checks: dict[str, str] = Field(default={}, max_length=MAX_CHECKS)
    comment: str = Field(default="", max_length=MAX_COMMENT)
    blind: bool = False


class Asked:
    """Who asks, for which verdicts, and whether the judge is hidden: in random order, unless it is chosen."""

    def __init__(
        self,
        rater: str,
        queue: Queue = "all",
        unreviewed: bool = False,
        part: str = "",
        parts: str = "",
        blind: Literal["", "0", "1"] = "",
    ) -> None:
        self.rater, self.blind = check_rater(rater), blind == "1" or (queue == "random" and blind != "0")
        shares = (int(n) if re.fullmatch("[0-9]{1,3}", n) else 0 for n in (part, parts))
        self.filters = Filters(queue, unreviewed, *shares)
        self.query = self.filters.query(rater=self.rater, blind="1" if self.blind else "0")


Query = Annotated[Asked, Depends()]
Number = Annotated[int, fastapi.Path(ge=0, lt=2**63)]  # of a sample: what SQLite can look for


def create_app(desk: ReviewDesk) -> FastAPI:
    """The application for a run."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    def refused(_: Request, error: Exception) -> Response:
        status = 409 if isinstance(error, StoreError) else 404 if isinstance(error, NotFound) else 422
        return PlainTextResponse(str(error), status)

    app = new_app(lifespan, refused, title="onprompt review", openapi_url=None)
    levels, definitions = guidelines(desk.rubric)
    common: dict[str, Any] = {
        "run": desk.path.name,
        "rubric": desk.rubric,
        "judge": desk.run.judge,
        "always_blind": desk.blind,
    }
    common |= {"levels_said": levels, "definitions": definitions, "current": ""}
    common |= {"links": (("Review", "/"), ("Guidelines", "/guidelines"))}

    @app.get("/", response_class=HTMLResponse)
    def start() -> str:
        return render("start.html", **common | {"current": "Review"}, **desk.start())

    @app.get("/guidelines", response_class=HTMLResponse)
    def rules() -> str:
        return render("guidelines.html", **common | {"current": "Guidelines"})

    @app.get("/done", response_class=HTMLResponse)
    def done(asked: Query) -> str:
        where = desk.progress(asked.rater, asked.filters)
        return render("done.html", rater=asked.rater, query=asked.query, where=where, **common, **desk.start())

    @app.get("/review")
    def first(asked: Query) -> Response:
        number = desk.progress(asked.rater, asked.filters).following
        return RedirectResponse(f"/done?{asked.query}" if number is None else f"/review/{number}?{asked.query}", 303)

    @app.get("/review/{number}", response_class=HTMLResponse)
    def sample(number: Number, asked: Query) -> str:
        shown = desk.page(number, asked.rater, asked.filters, asked.blind)
        state = {name: shown[name] for name in ("scores", "checks", "comment", "judged", "locked", "draft")}
        state |= {"number": number, "rater": asked.rater, "query": asked.query, "blind": shown["hidden"]}
        more = {"rater": asked.rater, "filters": asked.filters, "blind": asked.blind or desk.blind}
        return render("review.html", state=state, keys=KEYS, most=MAX_CHECKS, **more, **common, **shown)

    @app.get("/image/{number}/{name}")
    def image(number: Number, name: str) -> Response:
        try:
            data, *_ = desk.picture(number, name)
        except OnpromptError as error:
            return PlainTextResponse(str(error), 404)
        return Response(data, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=600"})

    @app.post("/review/{number}")
    def save(number: Number, saved: Saved) -> Response:
        review = Review(saved.scores, saved.checks, saved.comment, saved.blind)
        desk.save(number, check_rater(saved.rater), review)
        return JSONResponse({"complete": saved.scores.keys() == desk.rubric.factors.keys()})

    @app.post("/undo")
    def undo(who: Rater) -> Response:
        return JSONResponse({"number": desk.undo(check_rater(who.rater))})

    return app
