"""A page for each sample, with its picture, boxes and claims. Pages are made in processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from onprompt.errors import OnpromptError
from onprompt.pages import rendering
from onprompt.pages.figures import Entry
from onprompt.pages.pictures import PictureFiles
from onprompt.pages.verdict_view import PictureView, Shown, VerdictView, verdict_view
from onprompt.runs.reading import Run
from onprompt.samples import load_rubric

SEVERAL = 40  # prompts from which it is worth to start processes
NOT_JUDGED = "It was not judged yet, or its image or prompt has changed since."


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a sample, with its place in the order of the data, and the addresses of its neighbors."""

    entry: Entry
    place: int
    previous: str
    next: str


Job = tuple[Page, ...]  # samples of one prompt, which are shown on each other's pages


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What all pages of a report share. Without a folder, pages are returned with their pictures in them."""

    runs: tuple[tuple[str, Run], ...]  # each with its name
    folder: Path | None
    total: int
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MadePage:
    """What a page showed: a thumbnail, and how far the voices of a jury were apart; and its HTML."""

    index: int
    picture: Shown
    spread: float | None
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
    """Makes pages from run files, which it keeps open."""

    def __init__(self, plan: PagePlan) -> None:
        self.plan, self.stack = plan, ExitStack()
        self.runs = [self.stack.enter_context(run) for _, run in plan.runs]
        self.rubrics = [load_rubric(run.rubric) for run in self.runs]

    def close(self) -> None:
        """Close the run files."""
        self.stack.close()

    def __call__(self, job: Job) -> list[MadePage]:
        """Make the pages of a prompt with their pictures, and write both if there is a folder."""
        judged: list[list[Judgement]] = []
        for page in job:
            files = PictureFiles(self.plan.folder, page.entry.index)
            own = [self.judgement(place, page.entry, files) for place in range(len(self.runs))]
            whole = next((each for each in own if not each.picture.shown.missing), own[0])
            page.entry.picture = files.thumbnail(whole.picture.shown)
            judged.append(own)
        made = []
        for page, own in zip(job, judged, strict=True):
            spread = max((each.spread for each in own if each.spread is not None), default=None)
            others = [other.entry for other in job if other is not page]
            about = {"page": page, "judged": list(zip([name for name, _ in self.plan.runs], own, strict=True))}
            about |= {"others": others, "total": self.plan.total}
            if self.plan.folder is None:
                html = rendering.render("sample_view.html", root="", **about)
            else:
                title = f"{page.entry.prompt[:80] or page.entry.id[:80]}"
                values = {"title": title, "csp": rendering.policy(), "root": "../", "links": self.plan.links}
                html = rendering.render("sample.html", home="../index.html", **values, **about)
                (self.plan.folder / page.entry.address).write_text(html, "utf-8")
                html = ""
            made.append(MadePage(page.entry.index, page.entry.picture, spread, html))
        return made

    def judgement(self, place: int, sample: Entry, files: PictureFiles) -> Judgement:
        """What one run says of a sample."""
        row, run, rubric = sample.results[place], self.runs[place], self.rubrics[place]
        if row is None:
            return Judgement(None, PictureView("", Shown(missing="the run has no such sample")), "Not in this run.")
        given: Mapping[str, Any] = {}
        try:
            with run.opened() as file:
                given = file.read(row.given, Mapping[str, Any])
            if row.value is not None:
                verdict = run.verdict(sample.id)
                view = verdict_view(verdict, files.show_all(verdict, given), rubric.factors, sample.id)
                judged = view.pictures[1 if view.is_edit and len(view.pictures) > 1 else 0]
                return Judgement(view, judged, spread=verdict.measures.get("spread"))
            why = row.why_none if row.error else NOT_JUDGED
        except OnpromptError as error:  # damaged, or of an earlier version
            why = str(error)
        picture = PictureView("", files.show_file(given.get(rubric.picture), row.image_sha256))
        return Judgement(None, picture, why, row.text)


def make_pages(plan: PagePlan, jobs: Sequence[Job]) -> Iterator[MadePage]:
    """Make all pages, many of them in several processes."""
    workers = os.cpu_count() or 1
    if len(jobs) < SEVERAL or workers < 2:
        with closing(PageMaker(plan)) as make:
            for job in jobs:
                yield from make(job)
        return
    spawn = get_context("spawn")  # the only way that is safe beside threads
    try:
        with ProcessPoolExecutor(workers, spawn, begin, (plan,)) as pool:
            for pages in pool.map(make_page, jobs, chunksize=8):
                yield from pages
    except BrokenProcessPool as error:
        raise OnpromptError("a process that makes pages was ended from outside; is there too little memory?") from error


makers: list[PageMaker] = []  # the one of this process


def begin(plan: PagePlan) -> None:
    """Make a process ready; it ends with the one that started it, however that ends: nobody else would tell it."""
    makers.append(PageMaker(plan))
    parent = parent_process()

    def end_with_parent() -> None:
        if parent:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def make_page(job: Job) -> list[MadePage]:
    """Make pages in a process that is ready."""
    return makers[0](job)
