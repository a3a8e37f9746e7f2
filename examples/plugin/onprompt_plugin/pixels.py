"""A judge: compares the pixels of two pictures, by any rubric that takes a `reference`.

A judge that asks no model says what its verdicts depend on (`identity`) and judges a sample; the rest is inherited.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.types import FactorScore, Judge, Picture, Rubric, Sample, Verdict

SIZE = (32, 32)


def load(settings: Settings, rubric: Rubric) -> "PixelsJudge":  # noqa: ARG001 every judge is given them
    """The judge for a rubric."""
    if "reference" not in rubric.image_inputs:
        raise UserError(f"the judge 'pixels' compares a picture with a reference, which {rubric.name!r} does not take")
    return PixelsJudge(rubric)


class PixelsJudge(Judge):
    """The mean difference of two small copies."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"judge": "pixels", "version": 1}

    def judge(self, sample: Sample) -> Verdict:
        """1 less the mean difference is `value`; the score is its place on the rubric's scale."""
        difference = np.abs(small(sample.picture) - small(sample.pictures["reference"])).mean()
        value, scale = 1 - float(difference) / 255, self.rubric.factors["score"]
        score = scale[0] + round(value * (scale[-1] - scale[0]))
        summary = f"The mean difference of pixels is {difference:.1f} of 255."
        return Verdict(self.rubric.name, "pixels", sample, value, {"score": FactorScore(score, summary)}, summary)


def small(picture: Picture) -> np.ndarray:
    """A picture in a few pixels."""
    return np.asarray(Image.fromarray(picture.pixels).resize(SIZE), dtype=np.float64)
