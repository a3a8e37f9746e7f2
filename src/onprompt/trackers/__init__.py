"""Experiment trackers, one file each: `log(figures)` sends a run's figures, its worst pictures and its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from onprompt import plugins
from onprompt.errors import OnpromptError, UserError
from onprompt.report.comparison import by_group
from onprompt.report.statistics import Estimate
from onprompt.runs.reading import Run

if TYPE_CHECKING:
    from PIL.Image import Image

WORST = 8  # pictures that are logged


class DrawnVerdict(NamedTuple):
    """A drawn verdict, and its caption."""

    name: str
    caption: str
    picture: Image


@dataclass(frozen=True, slots=True)
class Figures:
    """What a tracker is given: parameters, numbers with the ends of their intervals, pictures, and the run file."""

    run_file: Path
    about: Mapping[str, str]
    numbers: Mapping[str, float]
    pictures: Sequence[DrawnVerdict]


def track(run_file: Path, name: str, configuration: int = 0) -> str:
    """Send a run to a tracker; returns where it is to be seen."""
    tracker = plugins.load("trackers", name)
    run = Run(run_file, configuration)
    figures = Figures(run_file, about(run), numbers(run), worst_pictures(run))
    try:
        return str(tracker.log(figures))
    except Exception as error:  # a library's or a server's: the run itself is safe
        again = f"`onprompt export {run_file} --to {name}` tries again"
        raise UserError(
            f"can't log to {name}: {type(error).__name__}: {error}; the run is stored, and {again}"
        ) from error


def about(run: Run) -> dict[str, str]:
    """How the run was judged."""
    named = {key: str(run.identity.get(key) or "") for key in ("rubric", "judge", "model")}
    return {key: value for key, value in named.items() if value} | {"configuration": str(run.configuration)}


def numbers(run: Run) -> dict[str, float]:
    """Means over prompts of value and score, overall, by model and by category; and how much is missing."""
    items, groups = list(run.rows()), {}
    groups["all"] = by_group(items, ["all"] * len(items))
    for field in ("model", "category"):
        names = [getattr(item, field) for item in items]
        groups[field] = by_group(items, names) if len(set(names)) > 1 else []
    found: dict[str, float] = {}
    for kind, members in groups.items():
        for group in members:
            prefix = "" if kind == "all" else f"{kind}/{group.name}/"
            found |= ends(f"{prefix}value", group.mean) | ends(f"{prefix}score", group.score)
    seen = run.overview
    found |= {"verdicts": seen.verdicts, "errors": sum(seen.errors.values()), "not_verifiable": seen.placeholders}
    return found | ({} if seen.cost is None else {"cost": seen.cost})


def ends(name: str, estimate: Estimate) -> dict[str, float]:
    """A number and the ends of its interval, as far as they are known."""
    known = {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return {key: number for key, number in known.items() if number is not None}


def worst_pictures(run: Run) -> list[DrawnVerdict]:
    """The verdicts with the lowest values, drawn; one whose image is gone is left out."""
    from onprompt.report.picture import draw

    shown = []
    for row in run.rows(worst=WORST):
        try:
            shown.append(DrawnVerdict(row.id, f"{row.value:.2f}: {row.summary}", draw(run.verdict(row.id))))
        except OnpromptError:
            continue
    return shown
