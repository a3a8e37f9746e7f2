"""The report of one or more runs: a folder of pages that opens from a disk, or one file with everything in it.

A script shows all samples as cards, or as a matrix of prompts and models, from data that a page on a disk can load.
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
    KINDS,
    Column,
    Entry,
    Figures,
    choose,
    figures,
    orders,
    read_columns,
    read_entries,
)
from onprompt.pages.sample_pages import Job, Page, PagePlan, make_pages
from onprompt.report.agreement import TITLES
from onprompt.report.comparison import ranks
from onprompt.report.ratings import Ratings
from onprompt.report.recipe import changed_settings, commands, data_name
from onprompt.report.tables import shortened
from onprompt.wording import plural
from onprompt.wording.terminal import printable

FOLDERS = ("samples", "pictures", "data")
SCRIPTS = ("evidence.js", "gallery.js")
STRIP = 6  # samples of each order on the first page
TOGETHER = 24  # samples of one prompt that are shown on each other's pages
MOST, MOST_IN_FILE = 10_000, 200  # samples that are shown one by one, unless another limit is given
STRIPS = {"worst": "Lowest values", "disputed": "Most disputed", "flagged": "To look at"}
MARK = b'name="generator" content="onprompt'  # of a page of ours, near its beginning
LINKS = (("Report", "index.html"), ("Samples", "samples.html"), ("Prompt × model", "samples.html#view=matrix"))
PROMPT, SUMMARY = 300, 200  # characters of a text by which a sample can be found
SORTS = {
    "worst": "lowest value first",
    "flagged": "to look at first",
    "disputed": "most disputed first",
    "best": "highest value first",
    "order": "as in the data",
}
FACETS = {"model": "Model", "category": "Category", "score": "Score", "flag": "Flag", "failure": "Wrong or missing"}
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
    data = {each.data for each in recipes}
    names = Path(data.pop()).stem if len(data) == 1 else " and ".join(column.name for column in columns)
    return Report(title or names, columns, entries, figures(columns, entries, ratings, terms), recipes)


def limit(report: Report, most: int) -> Report:
    """A report that shows at most so many samples one by one; 0 shows all."""
    shown = choose(report.entries, most)
    if len(shown) == len(report.entries):
        return replace(report, shown=shown)
    said = f"{len(shown):,} of {len(report.entries):,} samples are shown, the worst, flagged and most disputed ones"
    return replace(report, shown=shown, limited=f"{said}; figures are over all samples (--limit shows more).")


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
    for name in SCRIPTS:
        (folder / name).write_text(rendering.asset(name), "utf-8")
    (folder / "data" / "samples.js").write_text(gallery_script(report), "utf-8")
    common = {"csp": rendering.policy(), "links": LINKS, "home": "index.html", "gallery": "samples.html"}
    for name, current in (("index.html", "Report"), ("samples.html", "Samples")):
        template = "report.html" if name == "index.html" else name
        (folder / name).write_text(rendering.render(template, current=current, **values(report), **common), "utf-8")


def write_file(report: Report, out: Path) -> None:
    """One page with everything in it."""
    views = [Markup(html) for html in make_samples(report, None)]  # noqa: S704 rendered by our own templates
    scripts = [gallery_script(report), *map(rendering.asset, SCRIPTS)]
    css = style()
    html = rendering.render(
        "single_report.html",
        csp=rendering.policy(
            img_src="data:",
            style_src=rendering.source_hash(css),
            script_src=" ".join(map(rendering.source_hash, scripts)),
        ),
        css=Markup(css),  # noqa: S704 our own file
        scripts=[Markup(text) for text in scripts],  # noqa: S704 our own files, and data without a "<"
        gallery="",
        home="#main",
        links=(("Report", "#main"), ("Samples", "#samples")),
        current="Report",
        views=views,
        **values(report),
    )
    new = out.with_name(f".{out.name}.new")
    new.write_text(html, "utf-8")
    new.replace(out)


def style() -> str:
    """The style sheet of a report."""
    return f"{rendering.asset('style.css')}\n{rendering.asset('report.css')}"


def values(report: Report) -> dict[str, Any]:
    """What the pages show."""
    disputes = any(entry.disputed is not None for entry in report.shown)
    first = "disputed" if len(report.columns) > 1 and disputes else "worst"
    found, seen, strips = orders(report.shown), set[int](), {}
    for name in dict.fromkeys((first, *STRIPS)):
        fitting = [e for e in found.get(name, ()) if e.index not in seen and (name != "flagged" or e.needs_review)]
        chosen = fitting[:STRIP]
        seen |= {entry.index for entry in chosen}
        strips |= {name: chosen} if chosen else {}
    return {
        "report": report,
        "title": report.title,
        "figures": report.figures,
        "several": len(report.columns) > 1,
        "strips": strips,
        "strip_titles": STRIPS,
        "choices": gallery_choices(report.shown),
        "sorts": {name: words for name, words in SORTS.items() if name != "disputed" or disputes},
        "first": first,
        "kind_names": KINDS,
        "measures": TITLES,
        "ranks": ranks,
    }


def make_samples(report: Report, folder: Path | None) -> list[str]:
    """Make the page of every sample, and tell each its thumbnail; the pages themselves if there is no folder."""
    known = {entry.index: entry for entry in report.shown}
    groups: dict[str, list[Page]] = {}
    for entry in report.shown:
        entry.address = f"samples/{entry.index:06}.html" if folder else f"#s{entry.index}"
    addresses = ["", *(entry.address.removeprefix("samples/") for entry in report.shown), ""]
    for place, entry in enumerate(report.shown, 1):
        page = Page(entry, place, addresses[place - 1], addresses[place + 1])
        groups.setdefault(entry.prompt or f"\0{entry.id}", []).append(page)
    jobs: list[Job] = []
    for group in groups.values():
        group.sort(key=lambda page: page.entry.first.model)
        jobs += [tuple(group[start : start + TOGETHER]) for start in range(0, len(group), TOGETHER)]
    links = tuple((name, f"../{address}") for name, address in LINKS)
    plan = PagePlan(tuple((column.name, column.run) for column in report.columns), folder, len(known), links)
    views = []
    for made in make_pages(plan, jobs):
        entry = known[made.index]
        entry.picture = made.picture
        if made.spread is not None:
            entry.disputed = max(entry.disputed or 0.0, made.spread)
        views.append(made.html)
    return views


def facets(entry: Entry) -> dict[str, list[str]]:
    """What a sample can be filtered by."""
    known = [result for result in entry.results if result]
    scores = (
        NO_VERDICT if r.value is None else PLACEHOLDER if not r.counts else score_name(r.score, r.value) for r in known
    )
    return {
        "model": list(dict.fromkeys(result.model for result in known if result.model)),
        "category": list(dict.fromkeys(result.category for result in known if result.category)),
        "score": list(dict.fromkeys(scores)),
        "flag": list(entry.flags),
        "failure": list(entry.failed),
    }


def score_name(score: int | None, value: float) -> str:
    """A score, or the range of a value."""
    if score is not None:
        return str(score)
    place = min(BANDS - 1, int(value * BANDS))
    return f"{place / BANDS:.1f} to {(place + 1) / BANDS:.1f}"


def gallery_choices(entries: Sequence[Entry]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """For each facet its title and its options, with how many samples each has."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for entry in entries:
        for name, options in facets(entry).items():
            counts[name].update(options)
    return [(name, title, sorted(counts[name].items())) for name, title in FACETS.items()]


def gallery_script(report: Report) -> str:
    """The data of all samples as a script, which a page on a disk can load; nothing in it can end a script element.

    Whatever others wrote is text without hidden characters.
    """
    options = {name: [option for option, _ in known] for name, _, known in gallery_choices(report.shown)}
    places = {name: {option: place for place, option in enumerate(known)} for name, known in options.items()}
    data = {
        "facets": {name: list(map(printable, known)) for name, known in options.items()},
        "samples": [gallery_row(entry, places) for entry in report.shown],
    }
    encoded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";var onpromptSamples={encoded};\n'


def gallery_row(entry: Entry, places: Mapping[str, Mapping[str, int]]) -> list[Any]:
    """One sample; the script knows the order of the fields."""
    picture = entry.picture
    there = picture and picture.url and not picture.url.startswith("data:")
    return [
        entry.index,
        printable(entry.id[:PROMPT]),
        printable(shortened(entry.prompt, PROMPT)),
        [None if r is None else "" if r.value is None else points(r.score, r.value) for r in entry.results],
        None if entry.worst is None else round(entry.worst, 4),
        None if entry.disputed is None else round(entry.disputed, 4),
        None if entry.rating is None else round(entry.rating, 2),
        int(entry.needs_review),
        [[places[name][option] for option in own] for name, own in facets(entry).items()],
        entry.address,
        [picture.url, picture.width, picture.height] if there else None,
        printable(shortened(entry.first.summary, SUMMARY)),
    ]


def points(score: int | None, value: float) -> str:
    """`2 · .44`, as on a card."""
    return f"{value:.2f}" if score is None else f"({score}) {value:.2f}"


def recipe(column: Column, options: Sequence[str]) -> Recipe:
    """How one run was made."""
    run, last = column.run, column.run.last
    changed = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in changed_settings(run))
    return Recipe(
        *(column.name, data_name(last.data), run.judge, last.created, run.configuration, run.fingerprint),
        *("\n".join(commands(run, options)), "\n".join(changed), (*last.versions.items(), *weights(run.identity))),
    )


def weights(identity: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The model files of the judge, or of each member of a jury."""
    for name, value in (identity.get("weights") or {}).items():
        yield name, str(value)
    for member in (identity.get("members") or {}).values():
        yield from weights(member)
