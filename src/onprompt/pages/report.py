"""The report of one or more runs: a folder of pages that opens from a disk, or one file with everything in it.

The gallery shows all samples as cards, with the data by which a script filters and orders them; a recipe says what to
do to get the numbers of a run again.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from onprompt.errors import UserError
from onprompt.pages import rendering
from onprompt.pages.figures import (
    SHARES,
    Column,
    Entry,
    Figures,
    by_prompt,
    choose,
    figures,
    orders,
    read_columns,
    read_entries,
)
from onprompt.pages.prompt_pages import PageJob, PagePlan, make_pages
from onprompt.report.agreement import TITLES
from onprompt.report.ratings import Ratings
from onprompt.report.recipe import changed_settings, commands, data_name
from onprompt.report.tables import shortened
from onprompt.wording.terminal import printable

FOLDERS = ("prompts", "pictures", "data", "gallery")
STRIP = 8  # samples of each order on the first page
PER_PAGE = 24  # verdicts on a page of one prompt
MOST, MOST_IN_FILE = 10_000, 200  # samples that are shown one by one, unless another limit is given
STRIPS = {"worst": "Worst", "flagged": "Flagged for review", "disputed": "Most disputed"}
MARK = b'name="generator" content="onprompt'  # of a page of ours, near its beginning
LINKS = (("Report", "index.html"), ("Samples", "gallery.html"))
SHOWN = 48  # cards on a page
PROMPT, SUMMARY = 300, 200  # characters of a text by which a sample can be found
SORTS = {
    "worst": "worst first",
    "flagged": "flagged first",
    "disputed": "most disputed first",
    "best": "best first",
    "order": "as in the data",
}
FACETS = {
    "model": "Model",
    "category": "Category",
    "score": "Score",
    "flag": "Flag",
    "failure": "Kind of failure",
}
NO_VERDICT, PLACEHOLDER = "no verdict", "not verifiable"
BANDS = 5  # of values, for rubrics without an overall score


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands, settings and versions of one run; folders are the user's own and left out."""

    name: str
    data: str
    judge: str
    created: str
    configuration: int
    fingerprint: str
    commands: str
    changed: str  # settings that are not the default, as onprompt.toml has them
    versions: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Report:
    """All that a report says: runs, samples and figures."""

    title: str
    columns: Sequence[Column]
    entries: Sequence[Entry]
    figures: Figures
    recipes: Sequence[Recipe]
    limited: str = ""  # that only some of the samples are shown one by one
    shown: Sequence[Entry] = field(default_factory=list)

    @property
    def subtitle(self) -> str:
        """What was judged by whom."""
        judges = " and ".join(dict.fromkeys(column.run.judge for column in self.columns))
        return f"{len(self.entries):,} samples judged with the rubric {self.columns[0].run.rubric} by {judges}"


def read_report(
    runs: Sequence[Path],
    configurations: Sequence[int] = (),
    ratings: Ratings | None = None,
    terms: Mapping[str, Any] | None = None,
    title: str = "",
    options: Sequence[str] = (),
) -> Report:
    """Read runs and compute all figures; `options` of the report are part of the command that makes it again."""
    columns = read_columns(runs, configurations)
    terms = terms or {}
    entries = read_entries(columns, ratings, terms.get("human_scale"))
    names = title or " and ".join(column.name for column in columns)
    recipes = [recipe(column, options) for column in columns]
    return Report(names, columns, entries, figures(columns, entries, ratings, terms), recipes)


def limit(report: Report, most: int) -> Report:
    """A report that shows at most so many samples one by one; 0 shows all."""
    shown = choose(report.entries, most)
    if len(shown) == len(report.entries):
        return replace(report, shown=shown)
    words = f"{len(shown):,} of {len(report.entries):,} samples are shown, the worst, flagged and most disputed ones"
    return replace(report, shown=shown, limited=f"{words}; figures are over all samples (--limit shows more).")


def write(report: Report, out: Path, most: int | None = None) -> Report:
    """Write a folder, or one file if the name ends in .html; the report as it was written."""
    in_file = out.suffix.lower() in (".html", ".htm")
    report = limit(report, most if most is not None else MOST_IN_FILE if in_file else MOST)
    check_path(out, in_file)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        (write_file if in_file else replace_folder)(report, out)
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


def replace_folder(report: Report, out: Path) -> None:
    """Write a new folder beside the old one and put it in its place once it is complete."""
    new, old = (out.with_name(f".{out.name}.{age}") for age in ("new", "old"))
    shutil.rmtree(new, ignore_errors=True)  # left by a process that was killed
    try:
        write_folder(report, new)
        if out.exists():
            shutil.rmtree(old, ignore_errors=True)
            out.rename(old)
        new.rename(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def write_folder(report: Report, folder: Path) -> None:
    """All pages and files of a report."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    make_samples(report, folder)
    (folder / "style.css").write_text(style(), "utf-8")
    for name in ("evidence.js", "gallery.js"):
        (folder / name).write_text(rendering.asset(name), "utf-8")
    write_gallery(report, folder)
    common = {"csp": rendering.policy(), "links": LINKS, "current": "Report", "home": "index.html"}
    html = rendering.render("report.html", gallery="gallery.html", **values(report), **common)
    (folder / "index.html").write_text(html, "utf-8")


def style() -> str:
    """The style sheet of a report."""
    return f"{rendering.asset('style.css')}\n{rendering.asset('report.css')}"


def values(report: Report) -> dict[str, Any]:
    """What the first page shows."""
    return {
        "title": report.title,
        "subtitle": report.subtitle,
        "figures": report.figures,
        "several": len(report.columns) > 1,
        "columns": report.columns,
        "shares": list(SHARES),
        "measures": TITLES,
        "recipes": report.recipes,
        "limited": report.limited,
        "strips": strips(report),
        "strip_titles": STRIPS,
    }


def strips(report: Report) -> dict[str, list[Entry]]:
    """The first samples of each order that are not in another one already."""
    chosen: dict[str, list[Entry]] = {}
    seen: set[int] = set()
    found = orders(report.shown)
    first = first_order(report)
    for name, order in {first: found[first], **found}.items():
        fitting = [e for e in order if e.index not in seen and (name != "flagged" or e.needs_review)][:STRIP]
        seen |= {entry.index for entry in fitting}
        chosen |= {name: fitting} if fitting else {}
    return chosen


def write_gallery(report: Report, folder: Path) -> None:
    """The pages of the gallery, and the data for its script."""
    entries, options = in_first_order(report), gallery_choices(report.shown)
    (folder / "data" / "samples.js").write_text(
        gallery_script(gallery_data(report.shown, report.columns, options)), "utf-8"
    )
    pages = max(1, -(-len(entries) // SHOWN))
    for number in range(1, pages + 1):
        root = "" if number == 1 else "../"
        html = rendering.render(
            "gallery.html",
            title=f"Samples of {report.title}",
            csp=rendering.policy(frame_src="'self'"),
            root=root,
            home=f"{root}index.html",
            links=[(name, f"{root}{address}") for name, address in LINKS],
            current="Samples",
            entries=entries[(number - 1) * SHOWN : number * SHOWN],
            columns=report.columns,
            choices=options,
            sorts=sorts(report),
            first=first_order(report),
            total=len(entries),
            number=number,
            pages=pages,
            address=lambda page, root=root: f"{root}{gallery_page(page)}",
            limited=report.limited,
        )
        (folder / gallery_page(number)).write_text(html, "utf-8")


def gallery_page(number: int) -> str:
    """Where a page of the gallery is."""
    return "gallery.html" if number == 1 else f"gallery/{number}.html"


def sorts(report: Report) -> dict[str, str]:
    """The orders that a gallery offers; dispute only where judges, voices or people can differ."""
    disputes = any(entry.disputed is not None for entry in report.shown)
    return {name: words for name, words in SORTS.items() if name != "disputed" or disputes}


def first_order(report: Report) -> str:
    """The order in which a gallery begins: of several runs the biggest disagreements first."""
    return "disputed" if len(report.columns) > 1 and "disputed" in sorts(report) else "worst"


def in_first_order(report: Report) -> list[Entry]:
    """All samples that are shown; those about which nobody can differ come last."""
    order = orders(report.shown)[first_order(report)]
    known = {entry.index for entry in order}
    return [*order, *(entry for entry in report.shown if entry.index not in known)]


def make_samples(report: Report, folder: Path | None) -> list[str]:
    """Make the page of every prompt, and tell each sample its pictures; the pages themselves if there is no folder."""
    jobs = page_jobs(report)
    known = {entry.index: entry for entry in report.shown}
    for job in jobs:
        for sample in job.samples:
            known[sample.index].address = f"{job.address if folder else ''}#s{sample.index}"
    plan = PagePlan(tuple((column.name, column.run) for column in report.columns), folder)
    sections = []
    for made in make_pages(plan, jobs):
        for index, pictures in made.pictures.items():
            known[index].pictures = pictures
        for index, spread in made.spreads.items():
            known[index].disputed = max(known[index].disputed or 0.0, spread)
        sections.append(made.html)
    return sections


def page_jobs(report: Report) -> list[PageJob]:
    """The pages to make: one for each prompt, or several where it has many samples."""
    jobs: list[PageJob] = []
    most = max(1, PER_PAGE // len(report.columns))
    for group in by_prompt(report.shown).values():
        parts = [group[start : start + most] for start in range(0, len(group), most)]
        first = len(jobs) + 1
        for place, part in enumerate(parts):
            names = [f"{first + other:05}.html" if 0 <= other < len(parts) else "" for other in (place - 1, place + 1)]
            address = f"prompts/{first + place:05}.html"
            jobs.append(PageJob(group[0].prompt, len(group), address, tuple(part), *names))
    return jobs


def write_file(report: Report, out: Path) -> None:
    """One page with everything in it."""
    sections = [Markup(html) for html in make_samples(report, None)]  # noqa: S704 rendered by our own templates
    options = gallery_choices(report.shown)
    samples = gallery_script(gallery_data(report.shown, report.columns, options))
    scripts = [samples, rendering.asset("evidence.js"), rendering.asset("gallery.js")]
    css = style()
    html = rendering.render(
        "single_report.html",
        **values(report) | {"strips": {}},  # every picture once: the samples are below
        csp=rendering.policy(
            img_src="data:",
            style_src=rendering.source_hash(css),
            script_src=" ".join(map(rendering.source_hash, scripts)),
        ),
        css=Markup(css),  # noqa: S704 our own file
        scripts=[Markup(text) for text in scripts],  # noqa: S704 our own files, and data without a "<"
        gallery="",
        home="#main",
        links=[("Report", "#main"), ("Samples", "#samples")],
        sections=sections,
        entries=in_first_order(report),
        choices=options,
        sorts=sorts(report),
        first=first_order(report),
        total=len(report.shown),
    )
    new = out.with_name(f".{out.name}.new")
    new.write_text(html, "utf-8")
    new.replace(out)


def facets(entry: Entry) -> dict[str, list[str]]:
    """What a sample can be filtered by."""
    known = [result for result in entry.results if result]
    return {
        "model": unique(result.model for result in known if result.model),
        "category": unique(result.category for result in known if result.category),
        "score": unique(
            NO_VERDICT if r.value is None else PLACEHOLDER if not r.counts else score_name(r.score, r.value)
            for r in known
        ),
        "flag": list(entry.flags),
        "failure": list(entry.failed),
    }


def score_name(score: int | None, value: float) -> str:
    """A score, or the range of a value."""
    if score is not None:
        return str(score)
    place = min(BANDS - 1, int(value * BANDS))
    return f"{place / BANDS:.1f} to {(place + 1) / BANDS:.1f}"


def unique(names: Iterator[str]) -> list[str]:
    """Names without repetition, in order."""
    return list(dict.fromkeys(names))


def gallery_choices(entries: Sequence[Entry]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """For each facet its title and its options, with how many samples each has; none where there is no choice."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for entry in entries:
        for name, options in facets(entry).items():
            counts[name].update(options)
    return [(name, title, sorted(counts[name].items())) for name, title in FACETS.items()]


def gallery_data(entries: Sequence[Entry], columns: Sequence[Column], options: Sequence[Any]) -> dict[str, Any]:
    """All samples for the script; whatever others wrote is text without hidden characters."""
    places = {name: {option: place for place, (option, _) in enumerate(known)} for name, _, known in options}
    return {
        "columns": [printable(column.name) for column in columns],
        "shown": SHOWN,
        "facets": {name: [printable(option) for option, _ in known] for name, _, known in options},
        "samples": [gallery_row(entry, places) for entry in entries],
    }


def gallery_row(entry: Entry, places: Mapping[str, Mapping[str, int]]) -> list[Any]:
    """One sample; the script knows the order of the fields."""
    picture = entry.pictures.get("image")
    there = bool(picture and not picture.missing and not picture.url.startswith("data:"))
    return [
        entry.index,
        printable(entry.id[:PROMPT]),
        printable(shortened(entry.prompt, PROMPT)),
        printable(entry.first.model[:80]),
        [None if r is None else "" if r.value is None else points(r.score, r.value) for r in entry.results],
        None if entry.worst is None else round(entry.worst, 4),
        None if entry.disputed is None else round(entry.disputed, 4),
        None if entry.rating is None else round(entry.rating, 2),
        len(entry.flags),
        int(entry.needs_review),
        list(entry.failed[:4]),
        [[places[name][option] for option in own] for name, own in facets(entry).items()],
        entry.address,
        [picture.url, picture.width, picture.height] if picture and there else None,
        printable(shortened(entry.first.summary, SUMMARY)),
    ]


def points(score: int | None, value: float) -> str:
    """`(2) 0.44`, as on a card."""
    return f"{value:.2f}" if score is None else f"({score}) {value:.2f}"


def gallery_script(samples: Mapping[str, Any]) -> str:
    """The data as a script, which a page on a disk can load; nothing in it can end a script element."""
    encoded = json.dumps(samples, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";var onpromptSamples={encoded};\n'


def recipe(column: Column, options: Sequence[str]) -> Recipe:
    """How one run was made."""
    run, last = column.run, column.run.last
    return Recipe(
        column.name,
        data_name(last.data),
        run.judge,
        last.created,
        run.configuration,
        run.fingerprint,
        "\n".join(commands(run, options)),
        "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in changed_settings(run)),
        (*last.versions.items(), *weights(run.identity)),
    )


def weights(identity: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The model files of the judge, or of each member of a jury."""
    for name, value in (identity.get("weights") or {}).items():
        yield name, str(value)
    for member in (identity.get("members") or {}).values():
        yield from weights(member)
