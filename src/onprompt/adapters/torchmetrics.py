"""A torchmetrics metric: the mean `value`, 0 to 1, of the verdicts on pictures and their prompts.

    from onprompt.adapters.torchmetrics import Onprompt

    metric = Onprompt()  # or Onprompt(model="openai/gpt-5.2"), Onprompt("rate") …
    metric.update(["photo.png"], ["A cup on a table."])  # paths, Pillow's images, or a uint8 tensor N × 3 × H × W
    print(float(metric.compute()), int(metric.left_out))

What gets no verdict is in no mean: `left_out` counts it, and a warning says why. Where there is no verdict at all the
mean is nan, with a warning, as with metrics of torchmetrics.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torchmetrics import Metric

from onprompt.adapters import item_of, no_verdict
from onprompt.api import judge_many, rubric_named
from onprompt.rubrics import DEFAULT
from onprompt.settings import Settings
from onprompt.types import Verdict
from onprompt.vision.image import Source

Images: TypeAlias = "Tensor | Sequence[Source | Tensor]"


class Onprompt(Metric):  # type: ignore[misc] # of a package that the type checker does not look at
    """How well pictures show their prompts; for `Onprompt("edit")` also give the pictures before the edit."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False  # a batch is judged once, also by `forward`
    plot_lower_bound, plot_upper_bound = 0.0, 1.0

    total: Tensor
    count: Tensor
    left_out: Tensor

    def __init__(
        self, rubric: str = DEFAULT, judge: str = "", model: str = "", settings: Settings | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.rubric, self.judge, self.model, self.settings = rubric, judge, model, settings
        self.add_state("total", torch.tensor(0.0), dist_reduce_fx="sum")
        self.add_state("count", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("left_out", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, images: Images, prompts: Sequence[str], before: Images | None = None) -> None:
        """Judge a batch."""
        items = batch(self.rubric, images, prompts, before)
        found = list(judge_many(self.rubric, items, judge=self.judge, model=self.model, settings=self.settings))
        missing = [why for each in found if (why := no_verdict(each))]
        self.total += sum(each.value for each in found if isinstance(each, Verdict) and not no_verdict(each))
        self.count += len(found) - len(missing)
        self.left_out += len(missing)
        if missing:
            warnings.warn(f"{len(missing)} of {len(found)} pictures left out, the first: {missing[0]}", stacklevel=2)

    def compute(self) -> Tensor:
        """The mean over the pictures that got a verdict."""
        if not self.count:
            warnings.warn(f"no mean, nan: no verdict, {int(self.left_out)} pictures left out", stacklevel=2)
        return self.total / self.count


def batch(rubric: str, images: Images, prompts: Sequence[str], before: Images | None) -> list[dict[str, Any]]:
    """A batch as `judge_many` takes it."""
    if isinstance(images, str) or isinstance(prompts, str):
        raise ValueError("images and prompts are lists, with one prompt for each image")
    if before is None and rubric_named(rubric).source_image:
        raise ValueError(f"the rubric {rubric!r} needs the pictures before the edit: update(images, prompts, before)")
    sources = [None] * len(images) if before is None else [pixels(each) for each in before]
    if not len(images) == len(prompts) == len(sources):
        raise ValueError(f"{len(images)} images, {len(prompts)} prompts, {len(sources)} before: give one for each")
    return [
        item_of(rubric, pixels(image), prompt, source)
        for image, prompt, source in zip(images, prompts, sources, strict=True)
    ]


def pixels(image: Source | Tensor) -> Source:
    """A tensor as height × width × RGB; any other source as it is."""
    if not isinstance(image, Tensor):
        return image
    if image.dtype != torch.uint8 or image.ndim != 3 or image.shape[0] != 3:  # to scale floats would be a guess
        raise ValueError(f"an image is a uint8 tensor, 3 × height × width, not {image.dtype}, {tuple(image.shape)}")
    array: Source = image.detach().cpu().permute(1, 2, 0).contiguous().numpy()
    return array
