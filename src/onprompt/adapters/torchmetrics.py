"""A torchmetrics metric: the mean `value`, 0 to 1, of the verdicts on images and their prompts.

    from onprompt.adapters.torchmetrics import Onprompt

    metric = Onprompt()  # or Onprompt(model="openai/gpt-5.2"), Onprompt("rate") …
    metric.update(["photo.png"], ["A cup on a table."])  # paths, Pillow images, or a uint8 tensor N × 3 × H × W
    print(float(metric.compute()), int(metric.left_out))

An image without a verdict is not in the mean: `left_out` counts it, and a warning says why. Without any verdict the
mean is nan, with a warning, as for other metrics of torchmetrics.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torchmetrics import Metric

from onprompt.adapters import make_item
from onprompt.api import judge_many, missing_reason
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.types import Verdict
from onprompt.vision.image import Source
from onprompt.wording import plural

Images: TypeAlias = "Tensor | Sequence[Source | Tensor]"


class Onprompt(Metric):  # type: ignore[misc] # mypy does not follow its import
    """How well images show their prompts; an edit also needs the images before it."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False  # `forward` too judges a batch only once
    plot_lower_bound, plot_upper_bound = 0.0, 1.0

    total: Tensor
    count: Tensor
    left_out: Tensor

    def __init__(
        self,
        rubric: str = DEFAULT,
        judge: str = "",
        model: str = "",
        settings: Settings | None = None,
        models: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.rubric, self.judge, self.model, self.models, self.settings = rubric, judge, model, models, settings
        for name, zero in (("total", 0.0), ("count", 0), ("left_out", 0)):
            self.add_state(name, torch.tensor(zero), dist_reduce_fx="sum")

    def update(self, images: Images, prompts: Sequence[str], before: Images | None = None) -> None:
        """Judge a batch."""
        items = make_batch(self.rubric, images, prompts, before)
        judged_by: dict[str, Any] = {"judge": self.judge, "model": self.model, "models": self.models}
        results = list(judge_many(self.rubric, items, **judged_by, settings=self.settings))
        missing = [why for result in results if (why := missing_reason(result))]
        self.total += sum(r.value for r in results if isinstance(r, Verdict) and not missing_reason(r))
        self.count += len(results) - len(missing)
        self.left_out += len(missing)
        if missing:
            warnings.warn(f"left out {len(missing)} of {len(results)} images, for example: {missing[0]}", stacklevel=2)

    def compute(self) -> Tensor:
        """The mean over the images with a verdict."""
        if not self.count:
            warnings.warn(f"the mean is nan: no verdicts, {plural(int(self.left_out), 'image')} left out", stacklevel=2)
        return self.total / self.count


def make_batch(rubric: str, images: Images, prompts: Sequence[str], before: Images | None) -> list[dict[str, Any]]:
    """A batch as `judge_many` takes it."""
    if isinstance(images, str) or isinstance(prompts, str):
        raise ValueError("images and prompts must be lists, with one prompt per image")
    if before is None and load_rubric(rubric).source_image:
        raise ValueError(f"the rubric {rubric!r} needs the images before the edit: update(images, prompts, before)")
    sources = [None] * len(images) if before is None else [to_pixels(image) for image in before]
    if not len(images) == len(prompts) == len(sources):
        raise ValueError(f"lengths differ: {len(images)} images, {len(prompts)} prompts, {len(sources)} before")
    return [
        make_item(rubric, to_pixels(image), prompt, source)
        for image, prompt, source in zip(images, prompts, sources, strict=True)
    ]


def to_pixels(image: Source | Tensor) -> Source:
    """A tensor as height × width × RGB; any other source as it is."""
    if not isinstance(image, Tensor):
        return image
    if image.dtype != torch.uint8 or image.ndim != 3 or image.shape[0] != 3:  # how to scale floats is anyone's guess
        raise ValueError(
            f"an image must be a uint8 tensor, 3 × height × width, not {image.dtype}, {tuple(image.shape)}"
        )
    array: Source = image.detach().cpu().permute(1, 2, 0).contiguous().numpy()
    return array
