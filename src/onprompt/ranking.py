"""Best of n: images of one prompt, ranked, with the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from onprompt.api import Result, judge_many
from onprompt.rubrics import DEFAULT
from onprompt.settings import Settings
from onprompt.types import Flag, Verdict
from onprompt.vision import Source


class Candidate(NamedTuple):
    """One of several images: its place among those given, and its verdict, or the error that stands in its place."""

    image: Source
    number: int
    result: Result

    @property
    def value(self) -> float | None:
        """What it is ranked by; None without a verdict, or if nothing could be checked."""
        if not isinstance(self.result, Verdict) or Flag.NOT_VERIFIABLE in self.result.flags:
            return None
        return self.result.value

    @property
    def reason(self) -> str:
        """Why it is where it is, in words."""
        return self.result.summary if isinstance(self.result, Verdict) else str(self.result)


def best(
    images: Iterable[Source],
    prompt: str,
    *,
    rubric: str = DEFAULT,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> list[Candidate]:
    """Images of one prompt, the best first, each with its verdict and the reason; what can't be ranked comes last."""
    sources = list(images)
    items = [{"image": image, "prompt": prompt} for image in sources]
    results = judge_many(rubric, items, judge=judge, model=model, models=models, settings=settings)
    found = [Candidate(*each) for each in zip(sources, range(len(sources)), results, strict=True)]
    return sorted(found, key=lambda candidate: math.inf if candidate.value is None else -candidate.value)
