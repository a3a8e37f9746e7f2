"""A DeepEval metric: the `value`, 0 to 1, of the verdict on the picture in `actual_output`.

    from deepeval.test_case import LLMTestCase, MLLMImage
    from onprompt.adapters.deepeval import OnpromptMetric

    metric = OnpromptMetric(threshold=0.5)  # or OnpromptMetric(rubric="edit", model="openai/gpt-5.2")
    case = LLMTestCase(input="A cup on a table.", actual_output=f"{MLLMImage(url='photo.png')}")
    metric.measure(case)  # or deepeval.evaluate([case], [metric])
    print(metric.score, metric.reason, metric.error)

For an edit the picture before it stands in `input`, beside the instruction. Where there is no verdict, `score` is None
and `error` says why: it is in no average, it stops no other test case, and a test with a threshold does not pass.
"""

from __future__ import annotations

import asyncio
from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, MLLMImage

from onprompt.adapters import judged, no_verdict
from onprompt.api import Result, judging
from onprompt.errors import ImageError, UserError
from onprompt.rubrics import DEFAULT
from onprompt.settings import Settings
from onprompt.types import Verdict


class OnpromptMetric(BaseMetric):  # type: ignore[misc] # of a package that the type checker does not look at
    """How well the picture shows what the input asks for; `verdict` holds the evidence."""

    verdict: Verdict | None = None

    def __init__(
        self,
        threshold: float | None = 0.5,
        rubric: str = DEFAULT,
        judge: str = "",
        model: str = "",
        settings: Settings | None = None,
    ) -> None:
        # DeepEval copies a metric by its arguments, which it looks for under their names.
        self.threshold, self.rubric, self.judge, self.model, self.settings = threshold, rubric, judge, model, settings
        chosen = judging(settings, judge, model)
        self.evaluation_model = f"{chosen.judge} {chosen.model}".strip()

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        return settled(self, result(self, test_case))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        return settled(self, await asyncio.to_thread(result, self, test_case))

    @property
    def __name__(self) -> str:
        return f"onprompt {self.rubric}"


def settled(metric: OnpromptMetric, found: Result) -> float | None:
    """The score of what was found, which is None where there is no verdict; nothing of the last test case stays."""
    why = no_verdict(found)
    metric.verdict = found if isinstance(found, Verdict) else None
    metric.error = why or None
    metric.score = score = found.value if isinstance(found, Verdict) and not why else None
    metric.reason = why or (metric.verdict.summary if metric.verdict else None)
    usage = metric.verdict.usage if metric.verdict else None
    metric.evaluation_cost = usage.cost if usage else None
    metric.success = metric.is_successful()
    return score


def result(metric: OnpromptMetric, test_case: LLMTestCase) -> Result:
    """The verdict on a test case, or why there is none."""
    try:
        prompt, before = parts(test_case.input)
        _, made = parts(test_case.actual_output or "")
    except (ValueError, OSError) as error:  # a picture of another process, of which only the mark is left
        return ImageError(f"a picture of the test case is lost: {error}")
    if len(made) != 1:
        return UserError(f"actual_output holds {len(made)} pictures; one is judged")
    chosen = judging(metric.settings, metric.judge, metric.model)
    return judged(metric.rubric, made[0], prompt, before[0] if before else None, test_case.name or "", chosen)


def parts(text: str) -> tuple[str, list[str]]:
    """The words of a text, and its pictures as data URLs or addresses."""
    found = MLLMImage.parse_multimodal_string(text)
    words = " ".join(part.strip() for part in found if isinstance(part, str))
    return words.strip(), [part.as_data_uri() or part.url for part in found if not isinstance(part, str)]
