"""Calibrating a matcher of a model hub on the user's own images and captions."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import OnpromptError, UserError
from onprompt.runs.engines.threads import in_order
from onprompt.settings import Settings
from onprompt.vision.image import load_picture
from onprompt.vision.runtime import available_cores
from onprompt.wording import plural
from onprompt_hub.caption_calibration import Example, calibrate
from onprompt_hub.match_curve import Calibration
from onprompt_hub.matcher import load

Item = Mapping[str, Any]


class Calibrated(NamedTuple):
    """A calibration, and why some items were left out."""

    calibration: Calibration
    failures: list[OnpromptError]

    def write(self, path: Path) -> None:
        """Write the calibration to a file for `--set matcher=hf:FILE.toml`."""
        try:
            self.calibration.write(path)
        except OSError as error:
            raise UserError(f"can't write {path}: {error.strerror or error}") from error

    def lines(self) -> Iterator[str]:
        """What the matcher was calibrated on, and how much that brings."""
        model, revision, *_, figures = self.calibration
        counts = ", ".join(plural(int(figures[f"{kind}s"]), kind) for kind in ("image", "caption", "phrase"))
        yield f"{model} (revision {revision}) calibrated on {counts}"
        for kind, name in (("captions", "whole"), ("phrases", "phrase")):
            auc, held, before = (figures[f"{name}_{key}"] for key in ("auc", "log_loss", "log_loss_uncalibrated"))
            yield f"  {kind}: AUC {auc:.3f}, log loss {held:.3f} on held-out images (uncalibrated {before:.3f})"
        if self.failures:
            yield f"  {plural(len(self.failures), 'row')} left out, for example: {self.failures[0]}"


def calibrate_matcher(items: Iterable[Item | OnpromptError], settings: Settings) -> Calibrated:
    """The calibration of the settings' matcher on items with `image` and `prompt`; an error stands for a bad item."""
    if not settings.matcher.startswith("hf:") or settings.matcher.endswith(".toml"):
        raise UserError(f"only hf:OWNER/MODEL or hf:FOLDER can be calibrated, not {settings.matcher!r}")
    matcher = load(settings)
    failures: list[OnpromptError] = []

    def embed(item: Item | OnpromptError) -> Example | OnpromptError:
        try:
            if isinstance(item, OnpromptError):
                return item
            picture = load_picture(item["image"], settings)
            return Example(picture.sha256, matcher.embed_picture(picture), item["prompt"])
        except OnpromptError as error:
            return error

    def examples() -> Iterator[Example]:
        for example in in_order(embed, items, available_cores()):
            if isinstance(example, Example):
                yield example
            else:
                failures.append(example)

    fitted, counts = calibrate(examples(), matcher.embed_texts, matcher.curve("whole"), settings)
    figures: dict[str, float] = dict(counts)
    for name, fit in fitted.items():
        measured = {"auc": fit.auc, "log_loss": fit.log_loss, "log_loss_uncalibrated": fit.log_loss_before}
        figures |= {f"{name}_{key}": round(value, 4) for key, value in measured.items()}
    curves = fitted["whole"].curve, fitted["phrase"].curve
    return Calibrated(Calibration(matcher.model, matcher.revision, *curves, figures), failures)
