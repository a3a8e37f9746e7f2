"""A DeepEval metric: the `value`, 0 to 1, of the verdict on the image in `actual_output`.

    from deepeval.test_case import LLMTestCase, MLLMImage
    from onprompt.adapters.deepeval import OnpromptMetric

    metric = OnpromptMetric(threshold=0.5)  # or OnpromptMetric(rubric="edit", model="openai/gpt-5.2")
    case = LLMTestCase(input="A cup on a table.", actual_output=f"{MLLMImage(url='photo.png')}")
    metric.measure(case)  # or deepeval.evaluate([case], [metric])
    print(metric.score, metric.reason, metric.error)

For an edit the image before it is in `input`, beside the instruction. Without a verdict `score` is None and `error`
says why: it is in no average, it affects no other test case, and a test with a threshold does not pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, MLLMImage

from onprompt.adapters import judge_image
from onprompt.api import Result, judge_settings, missing_reason
from onprompt.errors import ImageError, UserError
from onprompt.rubrics import DEFAULT
from onprompt.settings import Settings
from onprompt.types import Verdict


class OnpromptMetric(BaseMetric):  # type: ignore[misc] # mypy does not follow its import
    """How well the image shows what the input asks for; `verdict` holds the evidence."""

    verdict: Verdict | None = None

    def __init__(
        self,
        threshold: float | None = 0.5,
        rubric: str = DEFAULT,
        judge: str = "",
        model: str = "",
        settings: Settings | None = None,
        models: Sequence[str] = (),
    ) -> None:
        # DeepEval copies a metric by its arguments, which must be attributes of the same names.
        self.threshold, self.rubric, self.judge, self.model, self.settings = threshold, rubric, judge, model, settings
        self.models = models
        resolved = judge_settings(settings, judge, model, models)
        self.evaluation_model = f"{resolved.judged_by} {resolved.model or ', '.join(resolved.models)}".strip()

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        return self.set_result(self.judge_case(test_case))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float | None:
        return self.set_result(await asyncio.to_thread(self.judge_case, test_case))

    @property
    def __name__(self) -> str:
        return f"onprompt {self.rubric}"

    def judge_case(self, test_case: LLMTestCase) -> Result:
        """The verdict on a test case, or the error."""
        try:
            prompt, before = split_images(test_case.input)
            _, images = split_images(test_case.actual_output or "")
        except (ValueError, OSError) as error:  # an image of another process, of which only the mark is left
            return ImageError(f"an image of the test case is lost: {error}")
        if len(images) != 1:
            return UserError(f"actual_output must hold one image, not {len(images)}")
        settings = judge_settings(self.settings, self.judge, self.model, self.models)
        return judge_image(
            self.rubric, images[0], prompt, before[0] if before else None, test_case.name or "", settings
        )

    def set_result(self, result: Result) -> float | None:
        """Set the results of a test case, and return its score; None without a verdict."""
        why = missing_reason(result)
        self.verdict = result if isinstance(result, Verdict) else None
        self.error = why or None
        self.score = score = result.value if isinstance(result, Verdict) and not why else None
        self.reason = why or (self.verdict.summary if self.verdict else None)
        self.evaluation_cost = self.verdict.usage.cost if self.verdict else None
        self.success = self.is_successful()
        return score


def split_images(text: str) -> tuple[str, list[str]]:
    """The words of a text, and its images as data URLs or addresses."""
    parts = MLLMImage.parse_multimodal_string(text)
    words = " ".join(part.strip() for part in parts if isinstance(part, str))
    return words.strip(), [part.as_data_uri() or part.url for part in parts if not isinstance(part, str)]
