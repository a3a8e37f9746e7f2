"""From the cosine of an image and a text to a probability: a logistic curve, fitted, stored and read back."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onprompt.errors import UserError

Cosines = NDArray[np.floating[Any]]
STEPS, TINY = 50, 1e-12
HEAD = "# Made by `onprompt calibrate`; use it with --set matcher=hf:THIS_FILE"


class Curve(NamedTuple):
    """The log-odds as a line over the cosine."""

    slope: float
    intercept: float

    def probabilities(self, cosines: Cosines) -> Cosines:
        """The probability for each cosine; large log-odds are clipped, since their exponential overflows."""
        odds = self.slope * np.asarray(cosines, dtype=np.float64) + self.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))

    def log_loss(self, right: Cosines, wrong: Cosines) -> float:
        """The mean negative log-likelihood; both classes weigh the same, so that knowing nothing scores .693."""
        missed = [np.logaddexp(0, sign * (self.slope * x + self.intercept)) for sign, x in ((-1, right), (1, wrong))]
        return float(np.mean([np.mean(x) for x in missed]))


def fit_curve(right: Cosines, wrong: Cosines) -> Curve:
    """The likeliest curve, where either class is equally likely beforehand.

    Targets are a little less than certain (Platt 1999), so that the slope stays finite where no scores overlap.
    """
    x = np.concatenate([right, wrong]).astype(np.float64)
    centre, spread = x.mean(), x.std() or 1.0
    z = (x - centre) / spread
    sizes = len(right), len(wrong)
    target = np.repeat([(sizes[0] + 1) / (sizes[0] + 2), 1 / (sizes[1] + 2)], sizes)
    weight = np.repeat([0.5 / sizes[0], 0.5 / sizes[1]], sizes)

    slope, intercept = newton(np.stack([z, np.ones_like(z)]), target, weight)
    return Curve(round(float(slope / spread), 4), round(float(intercept - slope * centre / spread), 4))


def newton(x: Cosines, target: Cosines, weight: Cosines) -> Cosines:
    """The line of least log loss: convex, so that Newton's method with halved steps finds it (Lin et al. 2007)."""

    def loss(line: Cosines) -> float:
        odds = line @ x
        return float(weight @ (np.logaddexp(0, odds) - target * odds))

    line = np.array([1.0, 0.0])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(line @ x)))
        slope, bend = x @ (weight * (chance - target)), x * (weight * chance * (1 - chance)) @ x.T
        step, length = np.linalg.solve(bend + TINY * np.eye(2), slope), 1.0
        while loss(line - length * step) > loss(line) and length > TINY:
            length /= 2
        line = line - length * step
    return line


class Calibration(NamedTuple):
    """The curves of one model for whole images and for phrases, and what they were fitted on."""

    model: str  # OWNER/MODEL, or a folder
    revision: str
    whole: Curve
    phrase: Curve
    figures: Mapping[str, float]  # counts, and how well the curves predict held-out images

    def write(self, path: Path) -> None:
        """Write it as TOML."""
        import json

        curves = [f"{name} = {list(getattr(self, name))}  # slope, intercept" for name in ("whole", "phrase")]
        strings = [f"{name} = {json.dumps(getattr(self, name), ensure_ascii=False)}" for name in ("model", "revision")]
        figures = [f"{name} = {value}" for name, value in self.figures.items()]
        path.write_text("\n".join([HEAD, *strings, *curves, "", "[figures]", *figures, ""]), encoding="utf-8")


def read_calibration(path: Path) -> Calibration:
    """A calibration as `write` left it."""
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        curves = {name: Curve(*map(float, table[name])) for name in ("whole", "phrase")}
        if not all(np.isfinite(curve).all() and curve.slope > 0 for curve in curves.values()):
            raise ValueError("slopes must be above 0")
        return Calibration(str(table["model"]), str(table["revision"]), **curves, figures=table.get("figures", {}))
    except OSError as error:
        raise UserError(f"can't read the calibration {path}: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError) as error:  # wrong TOML and wrong UTF-8 are ValueErrors
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise UserError(f"{path} is not a calibration ({reason}); make one with `onprompt calibrate`") from error
