"""The report of one or more runs: a folder of pages that opens from a disk, or one file with everything in it.

Each sample has a page, made in processes. A script shows all samples as cards, or as a matrix of prompts and models,
from data that a page on a disk can load.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from onprompt.errors import OnpromptError, UserError
from onprompt.files import replacing
from onprompt.pages import rendering
from onprompt.pages.figures import Column, Entry, Figures, choose, figures, orders, read_columns, read_entries
from onprompt.pages.verdict_view import PageImage, PictureFiles, PictureView, VerdictView, verdict_view
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import ranks
from onprompt.report.ratings import Ratings
from onprompt.report.recipe import commands, data_name
from onprompt.report.tables import shortened
from onprompt.runs.reading import Run
from onprompt.samples import load_rubric
from onprompt.types import Rubric
from onprompt.wording import plural
from onprompt.wording.labels import KINDS
from onprompt.wording.terminal import printable

SEVERAL, SHARE = 40, 8  # prompts from which processes are worth it, and that one makes at a time
MAX_PROCESSES = 61  # as many as Windows can wait for
FOLDERS = ("samples", "pictures", "data")
SCRIPTS = ("evidence.js", "gallery.js")
STRIP = 6  # samples of each order on the first page
TOGETHER = 24  # samples of one prompt that are shown on each other's pages
MOST, MOST_IN_FILE = 10_000, 200  # samples that are shown one by one, unless another limit is given
STRIPS = {"worst": "Lowest values", "disputed": "Most disputed", "flagged": "To look at"}
MARK = b'name="generator" content="onprompt'  # of a page of ours, near its beginning
LINKS = (("Report", "index.html"), ("Samples", "samples.html"), ("Prompt × model", "samples.html#view=matrix"))
PROMPT, SUMMARY = 300, 200  # characters of a text by which a sample can be found
SORTS = {"worst": "lowest value first", "flagged": "to look at first", "disputed": "most disputed first"}
SORTS |= {"best": "highest value first", "order": "as in the data"}
FACETS = {"model": "Model", "category": "Category", "score": "Score", "flag": "Flag", "failure": "Wrong or missing"}
NOT_JUDGED = "It was not judged yet, or its image or prompt has changed since."
BANDS = 5  # of values, for rubrics without an overall score


@dataclass(frozen=True)
class Report:
    """All that a report says: runs, samples and figures."""

    title: str
    columns: Sequence[Column]
    entries: Sequence[Entry]
    figures: Figures
    recipes: Sequence[Mapping[str, Any]]  # how each run was made
    limited: str = ""  # that only some of the samples are shown one by one
    shown: Sequence[Entry] = field(default_factory=list)

    @property
    def subtitle(self) -> str:
        judges = " and ".join(dict.fromkeys(column.run.judge for column in self.columns))
        return f"{plural(len(self.entries), 'sample')} judged with the rubric {self.columns[0].run.rubric} by {judges}"


def read_report(
    runs: Sequence[Path],
    configurations: Sequence[int] = (),
    ratings: Ratings | None = None,
    terms: Mapping[str, Any] | None = None,
    title: str = "",
    options: Sequence[str] = (),
) -> Report:
    """Read runs and compute all figures. The title is by default the name of the data.

    `options` of the report are part of the command that makes it again.
    """
    columns = read_columns(runs, configurations)
    terms = terms or {}
    entries = read_entries(columns, ratings, terms.get("human_scale"))
    recipes = [recipe(column, options) for column in columns]
    data = {each["data"] for each in recipes}
    names = Path(data.pop()).stem if len(data) == 1 else " and ".join(column.name for column in columns)
    return Report(title or names, columns, entries, figures(columns, entries, ratings, terms), recipes)


def recipe(column: Column, options: Sequence[str]) -> dict[str, Any]:
    """How one run was made: its data, the commands with all settings, versions and model files."""
    run, last = column.run, column.run.last
    members = [run.identity, *(run.identity.get("members") or {}).values()]
    weights = [(name, str(value)) for each in members for name, value in (each.get("weights") or {}).items()]
    return {
        "name": column.name,
        "run": run,
        "data": data_name(last.data),
        "created": last.created,
        "commands": "\n".join(commands(run, options)),
        "versions": (*last.versions.items(), *weights),
    }


def write(report: Report, out: Path, most: int | None = None) -> Report:
    """Write a folder, or one file if the name ends in .html; the report as it was written."""
    in_file = out.suffix.lower() in (".html", ".htm")
    shown = choose(report.entries, most if most is not None else MOST_IN_FILE if in_file else MOST)
    limited = f"{len(shown):,} of {len(report.entries):,} samples are shown, the worst, flagged and most disputed ones"
    limited += "; figures are over all samples (--limit shows more)."
    report = replace(report, shown=shown, limited=limited if len(shown) < len(report.entries) else "")
    check_path(out, in_file)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as new:
            (write_file if in_file else write_folder)(report, new)
            if out.is_dir():  # which no other folder can replace
                shutil.rmtree(out)
    except OSError as error:
        raise UserError(f"can't write the report to {out}: {error.strerror or error}") from error
    return report


def check_path(out: Path, in_file: bool) -> None:
    """Refuse to write over anything but an older report."""
    if not out.exists():
        return
    if out.is_dir() == in_file:
        raise UserError(f"{out} is a {'folder' if in_file else 'file'}; choose another name with --out")
    page = out if in_file else out / "index.html"
    ours = page.is_file() and MARK in page.read_bytes()[:2000]
    if not ours and (in_file or any(out.iterdir())):
        raise UserError(f"{out} exists and is not a report of onprompt; choose another name with --out")


def write_folder(report: Report, folder: Path) -> None:
    """All pages and files of a report."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    make_samples(report, folder)
    (folder / "style.css").write_text(rendering.asset("style.css", "report.css"), "utf-8")
    for name in SCRIPTS:
        (folder / name).write_text(rendering.asset(name), "utf-8")
    (folder / "data" / "samples.js").write_text(gallery_script(report), "utf-8")
    common = {"csp": rendering.policy(), "links": LINKS, "home": "index.html", "gallery": "samples.html"}
    for name, template, current in (("index", "report", "Report"), ("samples", "samples", "Samples")):
        html = rendering.render(f"{template}.html", current=current, **values(report), **common)
        (folder / f"{name}.html").write_text(html, "utf-8")


def write_file(report: Report, out: Path) -> None:
    """One page with everything in it."""
    views = [Markup(html) for html in make_samples(report, None)]  # noqa: S704 rendered by our own templates
    scripts = [gallery_script(report), *map(rendering.asset, SCRIPTS)]
    css, digests = rendering.asset("style.css", "report.css"), " ".join(map(rendering.source_hash, scripts))
    html = rendering.render(
        "single_report.html",
        csp=rendering.policy(img_src="data:", style_src=rendering.source_hash(css), script_src=digests),
        css=Markup(css),  # noqa: S704 our own file
        scripts=[Markup(text) for text in scripts],  # noqa: S704 our own files, and data without a "<"
        gallery="",
        home="#main",
        links=(("Report", "#main"), ("Samples", "#samples")),
        current="Report",
        views=views,
        **values(report),
    )
    out.write_text(html, "utf-8")


def values(report: Report) -> dict[str, Any]:
    """What the pages show."""
    disputes = any(entry.disputed is not None for entry in report.shown)
    first = "disputed" if len(report.columns) > 1 and disputes else "worst"
    found, seen, strips = orders(report.shown), set[int](), dict[str, list[Entry]]()
    for name in dict.fromkeys((first, *STRIPS)):
        fitting = [e for e in found.get(name, ()) if e.index not in seen and (name != "flagged" or e.needs_review)]
        seen |= {entry.index for entry in fitting[:STRIP]}
        strips |= {name: fitting[:STRIP]} if fitting else {}
    return {
        "report": report,
        "title": report.title,
        "figures": report.figures,
        "several": len(report.columns) > 1,
        "strips": strips,
        "strip_titles": STRIPS,
        "choices": [(name, FACETS[name], sorted(counts.items())) for name, counts in gallery_choices(report.shown)],
        "sorts": {name: words for name, words in SORTS.items() if name != "disputed" or disputes},
        "first": first,
        "kind_names": KINDS,
        "measures": TITLES,
        "ranks": ranks,
    }


def gallery_choices(entries: Sequence[Entry]) -> Iterator[tuple[str, Counter[str]]]:
    """The options of each facet, with how many samples each has."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for entry in entries:
        for name, options in facets(entry).items():
            counts[name].update(options)
    yield from counts.items()


def facets(entry: Entry) -> dict[str, list[str]]:
    """What a sample can be filtered by. A score is a range of values where there is no overall one."""
    known = [result for result in entry.results if result]
    scores = []
    for row in known:
        band = min(BANDS - 1, int((row.value or 0.0) * BANDS))
        score = str(row.score) if row.score is not None else f"{band / BANDS:.1f} to {(band + 1) / BANDS:.1f}"
        scores.append("no verdict" if row.value is None else score if row.counts else "not verifiable")
    return {
        "model": list(dict.fromkeys(row.model for row in known if row.model)),
        "category": list(dict.fromkeys(row.category for row in known if row.category)),
        "score": list(dict.fromkeys(scores)),
        "flag": list(entry.flags),
        "failure": list(entry.failed),
    }


def gallery_script(report: Report) -> str:
    """All samples as a script, whose order of fields gallery.js knows; nothing in it ends a script or is hidden."""
    options = {name: sorted(counts) for name, counts in gallery_choices(report.shown)}
    places = {name: {option: place for place, option in enumerate(known)} for name, known in options.items()}
    rows = []
    for entry in report.shown:
        picture, results = entry.picture, entry.results
        there = picture and picture.url and not picture.url.startswith("data:")
        points = [None if r is None else "" if r.value is None else f"{r.value:.2f}" for r in results]
        scores = [None if r is None else r.score for r in results]
        numbers = (entry.worst, entry.disputed, entry.rating)
        rows.append(
            [
                entry.index,
                printable(entry.id[:PROMPT]),
                printable(shortened(entry.prompt, PROMPT)),
                [p if s is None or not p else f"({s}) {p}" for p, s in zip(points, scores, strict=True)],
                *(None if number is None else round(number, 4) for number in numbers),
                int(entry.needs_review),
                [[places[name][option] for option in own] for name, own in facets(entry).items()],
                entry.address,
                list(picture[:3]) if there else None,
                printable(shortened(entry.first.summary, SUMMARY)),
            ]
        )
    data = {"facets": {name: list(map(printable, known)) for name, known in options.items()}, "samples": rows}
    encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";var onpromptSamples={encoded};\n'


class Page(NamedTuple):
    """The page of a sample, with its place in the order of the data, and the addresses of its neighbors."""

    entry: Entry
    place: int
    previous: str
    next: str


class Judged(NamedTuple):
    """A verdict to show, or a picture and why there is no verdict."""

    view: VerdictView | None
    picture: PictureView
    why: str = ""
    text: str = ""


Group = Sequence[Page]  # samples of one prompt, which are shown on each other's pages
MadePage = tuple[int, PageImage, str]  # the sample's index and thumbnail, and its HTML for one file
Opened = Sequence[tuple[str, Run, Rubric]]  # runs with their names


def make_samples(report: Report, folder: Path | None) -> list[str]:
    """Make the page of every sample, and tell each its thumbnail; the pages themselves if there is no folder."""
    known = {entry.index: entry for entry in report.shown}
    by_prompt: dict[str, list[Page]] = {}
    for entry in report.shown:
        entry.address = f"samples/{entry.index:06}.html" if folder else f"#s{entry.index}"
    addresses = ["", *(entry.address.removeprefix("samples/") for entry in report.shown), ""]
    for place, entry in enumerate(report.shown, 1):
        page = Page(entry, place, addresses[place - 1], addresses[place + 1])
        by_prompt.setdefault(entry.prompt or f"\0{entry.id}", []).append(page)
    groups: list[Group] = []
    for group in by_prompt.values():
        group.sort(key=lambda page: page.entry.first.model)
        groups += [group[start : start + TOGETHER] for start in range(0, len(group), TOGETHER)]
    runs = [(column.name, column.run) for column in report.columns]
    views = []
    for index, picture, html in in_processes(partial(make_pages, runs, folder, len(known)), groups):
        known[index].picture = picture
        views.append(html)
    return views


def in_processes(make: Callable[[Sequence[Group]], list[MadePage]], groups: Sequence[Group]) -> Iterator[MadePage]:
    """Make all pages, many of them in several processes."""
    workers = min(os.cpu_count() or 1, MAX_PROCESSES)
    if len(groups) < SEVERAL or workers < 2:
        yield from make(groups)
        return
    shares = [groups[start : start + SHARE] for start in range(0, len(groups), SHARE)]
    spawn = get_context("spawn")  # the only way that is safe beside threads
    try:
        with ProcessPoolExecutor(workers, spawn, end_with_parent) as pool:
            for pages in pool.map(make, shares):
                yield from pages
    except BrokenProcessPool as error:
        raise OnpromptError("a process that makes pages was ended from outside; is there too little memory?") from error


def end_with_parent() -> None:
    """Let a process end with the one that started it, however that ends: nobody else would tell it."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def make_pages(
    runs: Sequence[tuple[str, Run]], folder: Path | None, total: int, groups: Sequence[Group]
) -> list[MadePage]:
    """Make the pages of some prompts with their pictures, and write both if there is a folder."""
    with ExitStack() as stack:
        opened = [(name, stack.enter_context(run), load_rubric(run.rubric)) for name, run in runs]
        return [page for group in groups for page in make_group(opened, folder, total, group)]


def make_group(runs: Opened, folder: Path | None, total: int, group: Group) -> Iterator[MadePage]:
    """The pages of one prompt."""
    judged: list[list[Judged]] = []
    for page in group:
        files = PictureFiles(folder, page.entry.index)
        own = [judge(run, rubric, page.entry, place, files) for place, (_, run, rubric) in enumerate(runs)]
        whole = next((each for each in own if not each.picture.shown.missing), own[0])
        page.entry.picture = files.thumbnail(whole.picture.shown)
        judged.append(own)
    for page, own in zip(group, judged, strict=True):
        entry, named = page.entry, list(zip([name for name, *_ in runs], own, strict=True))
        others = [other.entry for other in group if other is not page]
        about = {"page": page, "judged": named, "others": others, "total": total}
        html = "" if folder else rendering.render("sample_view.html", root="", **about)
        if folder:
            links = [(name, f"../{address}") for name, address in LINKS]
            about |= {"csp": rendering.policy(), "root": "../", "links": links, "home": "../index.html"}
            text = rendering.render("sample.html", title=entry.prompt[:80] or entry.id[:80], **about)
            (folder / entry.address).write_text(text, "utf-8")
        yield entry.index, entry.picture, html


def judge(run: Run, rubric: Rubric, sample: Entry, place: int, files: PictureFiles) -> Judged:
    """What one run says of a sample."""
    row = sample.results[place]
    if row is None:
        return Judged(None, PictureView("", PageImage(missing="the run has no such sample")), "Not in this run.")
    given: Mapping[str, Any] = {}
    try:
        with run.opened() as file:
            given = file.read(row.given, Mapping[str, Any])
        if row.value is not None:
            verdict = run.verdict(sample.id)
            view = verdict_view(verdict, files.show_all(verdict, given), rubric.factors)
            return Judged(view, view.pictures[1 if view.is_edit else 0])
        why = row.why_none if row.error else NOT_JUDGED
    except OnpromptError as error:  # damaged, or of an earlier version
        why = str(error)
    picture = PictureView("", files.show_file(given.get(rubric.picture), row.image_sha256))
    return Judged(None, picture, why, row.text)
