"""The gallery of a report: all samples as cards, and the data by which a script filters and orders them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onprompt.pages.judged import Column, Entry
from onprompt.wording.terminal import printable

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
BINS = 5  # of values, for rubrics without an overall score


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
    place = min(BINS - 1, int(value * BINS))
    return f"{place / BINS:.1f} to {(place + 1) / BINS:.1f}"


def unique(names: Iterator[str]) -> list[str]:
    """Names without repetition, in order."""
    return list(dict.fromkeys(names))


def choices(entries: Sequence[Entry]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """For each facet its title and its options, with how many samples each has; none where there is no choice."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for entry in entries:
        for name, options in facets(entry).items():
            counts[name].update(options)
    return [(name, title, sorted(counts[name].items())) for name, title in FACETS.items()]


def data(entries: Sequence[Entry], columns: Sequence[Column], options: Sequence[Any]) -> dict[str, Any]:
    """All samples for the script; whatever others wrote is text without hidden characters."""
    places = {name: {option: place for place, (option, _) in enumerate(known)} for name, _, known in options}
    return {
        "columns": [printable(column.name) for column in columns],
        "shown": SHOWN,
        "facets": {name: [printable(option) for option, _ in known] for name, _, known in options},
        "samples": [row(entry, places) for entry in entries],
    }


def row(entry: Entry, places: Mapping[str, Mapping[str, int]]) -> list[Any]:
    """One sample; the script knows the order of the fields."""
    picture = entry.pictures.get("image")
    there = bool(picture and not picture.missing and not picture.url.startswith("data:"))
    return [
        entry.index,
        printable(entry.id[:PROMPT]),
        printable(cut(entry.prompt, PROMPT)),
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
        printable(cut(entry.first.summary, SUMMARY)),
    ]


def points(score: int | None, value: float) -> str:
    """`(2) 0.44`, as on a card."""
    return f"{value:.2f}" if score is None else f"({score}) {value:.2f}"


def cut(text: str, length: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def script(samples: Mapping[str, Any]) -> str:
    """The data as a script, which a page on a disk can load; nothing in it can end a script element."""
    encoded = json.dumps(samples, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'"use strict";var onpromptSamples={encoded};\n'
