"""The page of a prompt: all its samples side by side, with pictures, boxes and checks. Pages are made in processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from onprompt.errors import OnpromptError
from onprompt.pages import rendering
from onprompt.pages.pictures import PictureFiles, thumbnail
from onprompt.pages.verdict_view import PictureView, Shown, VerdictView, verdict_view
from onprompt.runs.findings import stored_verdict
from onprompt.runs.ledger import Ledger
from onprompt.samples import load_rubric
from onprompt.settings import load

SEVERAL = 40  # pages from which it is worth to start processes
ERROR_TEXT = "SELECT text FROM errors WHERE sample = ? AND generation = ?"
DIGEST = "SELECT image_sha256 FROM verdicts WHERE sample = ? ORDER BY generation = ? DESC LIMIT 1"
LINKS = (("Report", "../index.html"), ("Samples", "../gallery.html"))


@dataclass(frozen=True, slots=True)
class Source:
    """Where the verdicts of a column are."""

    name: str
    path: Path
    generation: int
    rubric: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A sample in a run: its number and inputs there, and why it has no verdict, if so."""

    number: int
    given: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class SampleJob:
    """A sample to be shown, with its place in each run that has it."""

    index: int
    id: str
    title: str
    rating: float | None
    wanted: tuple[Wanted | None, ...]


@dataclass(frozen=True, slots=True)
class PageJob:
    """A page to be made; `address` is where in the report it is."""

    prompt: str
    count: int  # samples of this prompt, on all its pages
    address: str
    samples: tuple[SampleJob, ...]
    previous: str = ""
    next: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What all pages of a report share. Without a folder, pages are returned with their pictures in them."""

    sources: tuple[Source, ...]
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Made:
    """What a page showed: the pictures of each sample and how far the voices of a jury were apart; and its HTML."""

    pictures: Mapping[int, Mapping[str, Shown]]
    spreads: Mapping[int, float]
    html: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict to show, or a picture and why there is no verdict."""

    view: VerdictView | None
    picture: PictureView
    why: str = ""
    text: str = ""
    spread: float | None = None


class PageMaker:
    """Makes pages of prompts from run files, which it keeps open."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.ledgers = [Ledger(source.path) for source in plan.sources]
        self.rubrics = [load_rubric(source.rubric) for source in plan.sources]
        self.answers = load().answers

    def close(self) -> None:
        """Close the run files."""
        for ledger in self.ledgers:
            ledger.close()

    def __call__(self, job: PageJob) -> Made:
        """Make a page with its pictures, and write both if there is a folder."""
        pictures: dict[int, Mapping[str, Shown]] = {}
        spreads: dict[int, float] = {}
        samples = []
        for sample in job.samples:
            files = PictureFiles(self.plan.folder, sample.index)
            judged = [self.judgement(place, sample, files) for place in range(len(self.ledgers))]
            pictures[sample.index] = {"image": next((s for s in map(shown, judged) if not s.missing), shown(judged[0]))}
            if apart := [each.spread for each in judged if each.spread is not None]:
                spreads[sample.index] = max(apart)
            samples.append(
                {
                    **{"anchor": f"s{sample.index}", "name": sample.id, "title": sample.title, "rating": sample.rating},
                    "verdicts": judged,
                }
            )
        page = {
            **{"prompt": job.prompt, "count": job.count, "previous": job.previous, "next": job.next},
            **{"columns": [source.name for source in self.plan.sources], "samples": samples},
        }
        if self.plan.folder is None:
            return Made(pictures, spreads, rendering.render("prompt_section.html", page=page))
        values = {"title": job.prompt[:80] or job.samples[0].id[:80], "csp": rendering.policy(), "root": "../"}
        html = rendering.render("prompt.html", page=page, home="../index.html", links=LINKS, current="", **values)
        (self.plan.folder / job.address).write_text(html, "utf-8")
        return Made(pictures, spreads)

    def judgement(self, place: int, sample: SampleJob, files: PictureFiles) -> Judgement:
        """What one run says of a sample."""
        wanted, source, ledger = sample.wanted[place], self.plan.sources[place], self.ledgers[place]
        if wanted is None:
            return Judgement(None, PictureView("", Shown(missing="the run has no such sample")), "Not in this run.")
        given: Mapping[str, Any] = {}
        try:
            given = ledger.read(wanted.given, Mapping[str, Any])
            if wanted.error:
                (text,) = ledger.first(ERROR_TEXT, (wanted.number, source.generation)) or ("",)
                return Judgement(None, self.only_picture(place, wanted, given, files), wanted.error, text)
            verdict = stored_verdict(ledger, source.generation, sample.id, self.answers)
            view = verdict_view(verdict, files.show_all(verdict, given), self.rubrics[place].factors, sample.id)
        except OnpromptError as error:  # damaged, or of an earlier version
            return Judgement(None, self.only_picture(place, wanted, given, files), str(error))
        return Judgement(view, view.pictures[-1], spread=verdict.measures.get("spread"))

    def only_picture(self, place: int, wanted: Wanted, given: Mapping[str, Any], files: PictureFiles) -> PictureView:
        """The picture of a sample without a verdict to show."""
        (sha256,) = self.ledgers[place].first(DIGEST, (wanted.number, self.plan.sources[place].generation)) or ("",)
        return PictureView("", files.show_file(given.get(self.rubrics[place].picture), sha256))


def shown(judged: Judgement) -> Shown:
    """The judged picture for a card, as pages at the root of the report name it."""
    picture = thumbnail(judged.picture.shown)
    return replace(picture, url=picture.url.removeprefix("../"))


def make_pages(plan: Plan, jobs: Sequence[PageJob]) -> Iterator[Made]:
    """Make all pages, many of them in several processes."""
    workers = os.cpu_count() or 1
    if len(jobs) < SEVERAL or workers < 2:
        with closing(PageMaker(plan)) as make:
            yield from map(make, jobs)
        return
    spawn = get_context("spawn")  # the only way that is safe beside threads
    try:
        with ProcessPoolExecutor(workers, spawn, begin, (plan,)) as pool:
            yield from pool.map(make_page, jobs, chunksize=8)
    except BrokenProcessPool as error:
        raise OnpromptError("a process that makes pages was ended from outside; is there too little memory?") from error


makers: list[PageMaker] = []  # the one of this process


def begin(plan: Plan) -> None:
    """Make a process ready."""
    makers.append(PageMaker(plan))
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """End this process when the one that started it has ended, however that was: nobody else would tell it."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def make_page(job: PageJob) -> Made:
    """Make a page in a process that is ready."""
    return makers[0](job)
