"""MLflow: where `MLFLOW_TRACKING_URI` says, in the experiment of `MLFLOW_EXPERIMENT_NAME`."""

from __future__ import annotations

import re

import mlflow

from onprompt.trackers import Figures

FORBIDDEN = re.compile(r"[^\w\-. :/]")  # in MLflow's names of metrics


def log(figures: Figures) -> str:
    """A run with parameters, metrics, pictures and the run file as an artefact."""
    with mlflow.start_run(run_name=figures.run_file.stem) as run:
        mlflow.log_params(dict(figures.about))
        mlflow.log_metrics({FORBIDDEN.sub("_", name): float(number) for name, number in figures.numbers.items()})
        for place, (_, picture) in enumerate(figures.pictures, 1):
            mlflow.log_image(picture, f"worst/{place}.png")
        captions = [f"{place}.png  {caption}\n" for place, (caption, _) in enumerate(figures.pictures, 1)]
        mlflow.log_text("".join(captions), "worst/captions.txt")
        mlflow.log_artifact(str(figures.run_file))
    return f"MLflow run {run.info.run_id}"
