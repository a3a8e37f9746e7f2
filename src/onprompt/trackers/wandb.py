"""Weights & Biases: project `WANDB_PROJECT` or onprompt; offline with `WANDB_MODE=offline`."""

from __future__ import annotations

import os
import re

import wandb

from onprompt.trackers import Figures


def log(figures: Figures) -> str:
    """A run with its configuration, metrics, pictures and the run file as an artefact."""
    project = os.environ.get("WANDB_PROJECT") or "onprompt"
    with wandb.init(project=project, name=figures.run_file.stem, config=dict(figures.about)) as run:
        pictures = [wandb.Image(picture, caption=caption) for caption, picture in figures.pictures]
        run.log(dict(figures.numbers) | ({"worst": pictures} if pictures else {}))
        artefact = wandb.Artifact(re.sub(r"[^\w.-]", "-", figures.run_file.stem) or "run", type="onprompt-run")
        artefact.add_file(str(figures.run_file))
        run.log_artifact(artefact)
    return f"Weights & Biases run {run.url or run.dir}"
