"""An EvalScope metric, `onprompt`: the `value`, 0 to 1, of the verdicts on generated images.

    import onprompt.adapters.evalscope  # registers the metric
    from evalscope import TaskConfig, run_task

    # A line of prompts.jsonl: {"id": 0, "prompt": "A cup on a table.", "image_path": "photo.png"}
    data = {"general_t2i": {"dataset_id": "prompts.jsonl", "metric_list": ["onprompt"]}}
    run_task(TaskConfig(model="mine", eval_type="mock_llm", datasets=["general_t2i"], dataset_args=data))

Arguments: `{"onprompt": {"rubric": "rate", "model": "openai/gpt-5.2"}}` in `metric_list`. Of a metric that fails,
EvalScope makes a 0; this one has no number where there is no verdict, so that the sample is in no mean, and logs why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalscope.api.metric import T2IMetric
from evalscope.api.registry import register_metric
from evalscope.utils.logger import get_logger

from onprompt.adapters import judge_image
from onprompt.api import judge_settings, missing_reason
from onprompt.rubrics import DEFAULT
from onprompt.types import Verdict

logger = get_logger()


@register_metric("onprompt")
class OnpromptMetric(T2IMetric):  # type: ignore[misc]
    """How well an image shows its prompt, by any rubric and judge."""

    def _init_once(self, rubric: str = DEFAULT, judge: str = "", model: str = "", models: Sequence[str] = ()) -> None:
        self.rubric, self.settings = rubric, judge_settings(None, judge, model, models)

    def apply(self, images: Sequence[str], texts: Sequence[str], **_: Any) -> list[list[dict[str, float]]]:
        return [[self.judge(image, text)] for image, text in zip(images, texts, strict=True)]

    def judge(self, image: str, prompt: str) -> dict[str, float]:
        """The value and the scores; empty without a verdict."""
        result = judge_image(self.rubric, image, prompt, None, "", self.settings)
        if why := missing_reason(result):
            logger.warning(f"onprompt: {image} has no verdict and is left out: {why}")
        if why or not isinstance(result, Verdict):
            return {}
        return {"overall": result.value} | {name: float(factor.score) for name, factor in result.factors.items()}
