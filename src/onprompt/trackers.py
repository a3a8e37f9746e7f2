"""Experiment trackers: a run's figures, its worst pictures and its file, sent where the tracker's own variables say."""

from __future__ import annotations

import io
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from onprompt import plugins
from onprompt.errors import OnpromptError, PluginError, UserError
from onprompt.report.comparison import by_group
from onprompt.runs.reading import Run
from onprompt.types import Flag

if TYPE_CHECKING:
    from PIL.Image import Image

WORST = 8  # pictures that are logged


class Figures(NamedTuple):
    """What a tracker is given: parameters, numbers with the ends of their intervals, pictures, and the run file."""

    run_file: Path
    about: Mapping[str, str]
    numbers: Mapping[str, float]
    pictures: Sequence[tuple[str, Image]]  # each with its caption


def track(run_file: Path, name: str, configuration: int = 0) -> str:
    """Send a run to a tracker; returns where it is to be seen."""
    run = Run(run_file, configuration)
    about = {key: str(run.identity[key]) for key in ("rubric", "judge", "model") if run.identity.get(key)}
    about["configuration"] = str(run.configuration)
    figures = Figures(run_file, about, numbers(run), list(worst_pictures(run)))
    try:
        return TRACKERS[name](figures)
    except ModuleNotFoundError as error:
        install = plugins.how_to_install(error.name or name, name)
        raise PluginError(f"the tracker {name!r} needs {error.name}: {install}") from error
    except Exception as error:  # a library's or a server's: the run itself is safe
        again = f"`onprompt export {run_file} --to {name}` tries again"
        raise UserError(
            f"can't log to {name}: {type(error).__name__}: {error}; the run is stored, and {again}"
        ) from error


def numbers(run: Run) -> dict[str, float]:
    """Means over prompts of value and score, overall, by model and by category; and how much is missing."""
    rows, found = list(run.rows()), dict[str, float | None]()
    for field in ("all", "model", "category"):
        names = [getattr(row, field, field) for row in rows]
        for group in by_group(rows, names) if field == "all" or len(set(names)) > 1 else ():
            for number, estimate in (("value", group.mean), ("score", group.score)):
                name = number if field == "all" else f"{field}/{group.name}/{number}"
                found |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    seen = run.overview
    found |= {"verdicts": seen.verdicts, "errors": sum(seen.errors.values()), "cost": seen.cost}
    found[Flag.NOT_VERIFIABLE.value] = seen.placeholders
    return {name: float(number) for name, number in found.items() if number is not None}


def worst_pictures(run: Run) -> Iterator[tuple[str, Image]]:
    """The verdicts with the lowest values, drawn; one whose image is gone is left out."""
    from onprompt.report.picture import draw

    for row in run.rows(worst=WORST):
        try:
            yield f"{row.id}: {row.value:.2f}: {row.summary}", draw(run.verdict(row.id))
        except OnpromptError:
            continue


def to_mlflow(figures: Figures) -> str:
    """A run of MLflow, where `MLFLOW_TRACKING_URI` says, in the experiment of `MLFLOW_EXPERIMENT_NAME`."""
    import mlflow

    with mlflow.start_run(run_name=figures.run_file.stem) as run:
        mlflow.log_params(dict(figures.about))
        mlflow.log_metrics({re.sub(r"[^\w\-. :/]", "_", name): number for name, number in figures.numbers.items()})
        for place, (_, picture) in enumerate(figures.pictures, 1):
            mlflow.log_image(picture, f"worst/{place}.png")
        captions = [f"{place}.png  {caption}\n" for place, (caption, _) in enumerate(figures.pictures, 1)]
        mlflow.log_text("".join(captions), "worst/captions.txt")
        mlflow.log_artifact(str(figures.run_file))
    return f"MLflow run {run.info.run_id}"


def to_wandb(figures: Figures) -> str:
    """A run of Weights & Biases in the project `WANDB_PROJECT` or onprompt; offline with `WANDB_MODE=offline`."""
    import wandb

    project = os.environ.get("WANDB_PROJECT") or "onprompt"
    with wandb.init(project=project, name=figures.run_file.stem, config=dict(figures.about)) as run:
        pictures = [wandb.Image(picture, caption=caption) for caption, picture in figures.pictures]
        run.log(dict(figures.numbers) | ({"worst": pictures} if pictures else {}))
        artefact = wandb.Artifact(re.sub(r"[^\w.-]", "-", figures.run_file.stem) or "run", type="onprompt-run")
        artefact.add_file(str(figures.run_file))
        run.log_artifact(artefact)
    return f"Weights & Biases run {run.url or run.dir}"


def to_tensorboard(figures: Figures) -> str:
    """An event file under `TENSORBOARD_LOGDIR` or runs/, and the run file beside it, since there are no artefacts."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    folder = Path(os.environ.get("TENSORBOARD_LOGDIR") or "runs") / figures.run_file.stem
    folder.mkdir(parents=True, exist_ok=True)
    values = [Summary.Value(tag=name, simple_value=number) for name, number in figures.numbers.items()]
    for place, (caption, picture) in enumerate(figures.pictures, 1):
        file = io.BytesIO()
        picture.save(file, "PNG")
        size = {"height": picture.height, "width": picture.width, "colorspace": 3}
        image = Summary.Image(encoded_image_string=file.getvalue(), **size)
        values.append(Summary.Value(tag=f"worst/{place} {caption.partition(': ')[0]}", image=image))
    writer = EventFileWriter(str(folder))
    writer.add_event(Event(wall_time=time.time(), step=0, summary=Summary(value=values)))
    writer.close()
    shutil.copy2(figures.run_file, folder)
    return f"TensorBoard folder {folder}"


TRACKERS: Mapping[str, Callable[[Figures], str]] = {
    "mlflow": to_mlflow,
    "tensorboard": to_tensorboard,
    "wandb": to_wandb,
}
