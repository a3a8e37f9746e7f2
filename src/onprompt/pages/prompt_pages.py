"""The page of a prompt: all its samples side by side, with pictures, boxes and checks. Pages are made in processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from onprompt.errors import OnpromptError
from onprompt.pages import rendering
from onprompt.pages.figures import Entry
from onprompt.pages.pictures import PictureFiles, thumbnail
from onprompt.pages.verdict_view import PictureView, Shown, VerdictView, verdict_view
from onprompt.runs.reading import Run
from onprompt.samples import load_rubric

SEVERAL = 40  # pages from which it is worth to start processes
MAX_PROCESSES = 61  # as many as Windows can wait for
NOT_JUDGED = "It was not judged yet, or its image or prompt has changed since."
LINKS = (("Report", "../index.html"), ("Samples", "../gallery.html"))


@dataclass(frozen=True, slots=True)
class PageJob:
    """A page to be made; `address` is where in the report it is."""

    prompt: str
    count: int  # samples of this prompt, on all its pages
    address: str
    samples: tuple[Entry, ...]
    previous: str = ""
    next: str = ""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What all pages of a report share. Without a folder, pages are returned with their pictures in them."""

    runs: tuple[tuple[str, Run], ...]  # each with its name
    folder: Path | None


@dataclass(frozen=True, slots=True)
class MadePage:
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

    def __init__(self, plan: PagePlan) -> None:
        self.plan, self.stack = plan, ExitStack()
        self.runs = [self.stack.enter_context(run) for _, run in plan.runs]
        self.rubrics = [load_rubric(run.rubric) for run in self.runs]

    def close(self) -> None:
        """Close the run files."""
        self.stack.close()

    def __call__(self, job: PageJob) -> MadePage:
        """Make a page with its pictures, and write both if there is a folder."""
        pictures: dict[int, Mapping[str, Shown]] = {}
        spreads: dict[int, float] = {}
        samples = []
        for sample in job.samples:
            files = PictureFiles(self.plan.folder, sample.index)
            judged = [self.judgement(place, sample, files) for place in range(len(self.runs))]
            pictures[sample.index] = {"image": next((s for s in map(shown, judged) if not s.missing), shown(judged[0]))}
            if apart := [each.spread for each in judged if each.spread is not None]:
                spreads[sample.index] = max(apart)
            title = " · ".join(filter(None, (sample.first.model, sample.id)))
            about = {"anchor": f"s{sample.index}", "name": sample.id, "title": title, "rating": sample.rating}
            samples.append({**about, "verdicts": judged})
        page = {
            **{"prompt": job.prompt, "count": job.count, "previous": job.previous, "next": job.next},
            **{"columns": [name for name, _ in self.plan.runs], "samples": samples},
        }
        if self.plan.folder is None:
            return MadePage(pictures, spreads, rendering.render("prompt_section.html", page=page))
        values = {"title": job.prompt[:80] or job.samples[0].id[:80], "csp": rendering.policy(), "root": "../"}
        html = rendering.render("prompt.html", page=page, home="../index.html", links=LINKS, current="", **values)
        (self.plan.folder / job.address).write_text(html, "utf-8")
        return MadePage(pictures, spreads)

    def judgement(self, place: int, sample: Entry, files: PictureFiles) -> Judgement:
        """What one run says of a sample."""
        row, run, rubric = sample.results[place], self.runs[place], self.rubrics[place]
        if row is None:
            return Judgement(None, PictureView("", Shown(missing="the run has no such sample")), "Not in this run.")
        given: Mapping[str, Any] = {}

        def only_picture() -> PictureView:
            return PictureView("", files.show_file(given.get(rubric.picture), row.image_sha256))

        try:
            with run.opened() as file:
                given = file.read(row.given, Mapping[str, Any])
            if row.value is None:
                return Judgement(None, only_picture(), row.why_none if row.error else NOT_JUDGED, row.text)
            verdict = run.verdict(sample.id)
            view = verdict_view(verdict, files.show_all(verdict, given), rubric.factors, sample.id)
        except OnpromptError as error:  # damaged, or of an earlier version
            return Judgement(None, only_picture(), str(error))
        return Judgement(view, view.pictures[-1], spread=verdict.measures.get("spread"))


def shown(judged: Judgement) -> Shown:
    """The judged picture for a card, as pages at the root of the report name it."""
    picture = thumbnail(judged.picture.shown)
    return replace(picture, url=picture.url.removeprefix("../"))


def make_pages(plan: PagePlan, jobs: Sequence[PageJob]) -> Iterator[MadePage]:
    """Make all pages, many of them in several processes."""
    workers = min(os.cpu_count() or 1, MAX_PROCESSES)
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


def begin(plan: PagePlan) -> None:
    """Make a process ready."""
    makers.append(PageMaker(plan))
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """End this process when the one that started it has ended, however that was: nobody else would tell it."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def make_page(job: PageJob) -> MadePage:
    """Make a page in a process that is ready."""
    return makers[0](job)
