"""Experiment trackers, one file each: `log(figures)` sends a run's figures, its worst pictures and its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onprompt import plugins
from onprompt.errors import OnpromptError, UserError
from onprompt.report.comparison import by_group
from onprompt.report.statistics import Estimate
from onprompt.runs.reading import Run

if TYPE_CHECKING:
    from PIL.Image import Image

WORST = 8  # pictures that are logged


@dataclass(frozen=True, slots=True)
class Figures:
    """What a tracker is given: parameters, numbers with the ends of their intervals, pictures, and the run file."""

    run_file: Path
    about: Mapping[str, str]
    numbers: Mapping[str, float]
    pictures: Sequence[tuple[str, Image]]  # each with its caption


def track(run_file: Path, name: str, configuration: int = 0) -> str:
    """Send a run to a tracker; returns where it is to be seen."""
    tracker = plugins.load("trackers", name)
    run = Run(run_file, configuration)
    about = {key: str(run.identity[key]) for key in ("rubric", "judge", "model") if run.identity.get(key)}
    about["configuration"] = str(run.configuration)
    figures = Figures(run_file, about, numbers(run), list(worst_pictures(run)))
    try:
        return str(tracker.log(figures))
    except Exception as error:  # a library's or a server's: the run itself is safe
        again = f"`onprompt export {run_file} --to {name}` tries again"
        raise UserError(
            f"can't log to {name}: {type(error).__name__}: {error}; the run is stored, and {again}"
        ) from error


def numbers(run: Run) -> dict[str, float]:
    """Means over prompts of value and score, overall, by model and by category; and how much is missing."""
    rows, found = list(run.rows()), dict[str, float]()
    for field in ("all", "model", "category"):
        names = [getattr(row, field, field) for row in rows]
        if field != "all" and len(set(names)) < 2:
            continue
        for group in by_group(rows, names):
            prefix = "" if field == "all" else f"{field}/{group.name}/"
            found |= ends(f"{prefix}value", group.mean) | ends(f"{prefix}score", group.score)
    seen = run.overview
    found |= {"verdicts": seen.verdicts, "errors": sum(seen.errors.values()), "not_verifiable": seen.placeholders}
    return found | ({} if seen.cost is None else {"cost": seen.cost})


def ends(name: str, estimate: Estimate) -> dict[str, float]:
    """A number and the ends of its interval, as far as they are known."""
    known = {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return {key: number for key, number in known.items() if number is not None}


def worst_pictures(run: Run) -> Iterator[tuple[str, Image]]:
    """The verdicts with the lowest values, drawn; one whose image is gone is left out."""
    from onprompt.report.picture import draw

    for row in run.rows(worst=WORST):
        try:
            yield f"{row.id}: {row.value:.2f}: {row.summary}", draw(run.verdict(row.id))
        except OnpromptError:
            continue
