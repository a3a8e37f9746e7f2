"""An Inspect scorer: the `value`, 0 to 1, of the verdicts on generated images.

    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from onprompt.adapters.inspect import onprompt_scorer

    samples = [Sample("A cup on a table.", metadata={"generated": "photo.png"})]
    task = Task(samples, solver=[], scorer=onprompt_scorer())  # without `solver` a model is asked for the image
    (log,) = eval(task, model="mockllm/model")
    print(log.results.scores[0].metrics["mean"].value, log.results.scores[0].unscored_samples)

The images are those in the model's answer, or the file or files in the metadata "generated"; the prompt is the metadata
"prompt", or the input; for an edit the source is the metadata "before", or the input's last image. A sample without a
verdict is unscored, and not in the mean; `reason` and `explanation` say why.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, ContentImage
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from onprompt.adapters import judge_image
from onprompt.api import Result, judge_settings, missing_reason
from onprompt.errors import BackendError, SettingsError, UnreadableAnswer
from onprompt.rubrics import DEFAULT
from onprompt.settings import PRIVATE, load
from onprompt.types import Flag, Verdict
from onprompt.wording import sentence


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator] # mypy does not follow its import
def onprompt_scorer(
    rubric: str = DEFAULT, judge: str = "", model: str = "", models: Sequence[str] = (), **settings: Any
) -> Scorer:
    """How well the generated images show the prompt, by any rubric; settings by their names."""
    if private := sorted(PRIVATE & settings.keys()):
        raise SettingsError(f"{private[0]} would appear in Inspect's log; set ONPROMPT_{private[0].upper()} instead")
    resolved = judge_settings(load(**settings), judge, model, models)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 every scorer is given it
        prompt, sources = prompt_and_sources(state)
        before, name = state.metadata.get("before") or (sources[-1] if sources else None), str(state.sample_id)
        results = [
            await to_thread.run_sync(judge_image, rubric, image, prompt, before, name, resolved)
            for image in generated_images(state)
        ]
        return make_score(results)

    return score


def prompt_and_sources(state: TaskState) -> tuple[str, list[str]]:
    """The prompt of a sample, and the images in its input."""
    if isinstance(state.input, str):
        return state.metadata.get("prompt") or state.input, []
    messages = [message for message in state.input if message.role == "user"]
    # Not `input_text`, which is "[image]" for a message without words: that would be judged.
    words = messages[-1].text if messages else ""
    return state.metadata.get("prompt") or words, [image for message in messages for image in images_in(message)]


def generated_images(state: TaskState) -> list[Any]:
    """The images to judge."""
    if files := state.metadata.get("generated"):
        return files if isinstance(files, list) else [files]
    return [] if state.output.empty else images_in(state.output.message)


def images_in(message: ChatMessage) -> list[str]:
    """The images in a message, as data URLs or addresses."""
    return [part.image for part in message.content if isinstance(part, ContentImage)]


def make_score(results: Sequence[Result]) -> Score:
    """The mean over the images with a verdict; unscored if there is none."""
    missing = [why for result in results if (why := missing_reason(result))]
    verdicts = [result for result in results if isinstance(result, Verdict)]
    counted = [verdict for verdict in verdicts if not missing_reason(verdict)]
    details = {"verdicts": [log_entry(verdict) for verdict in verdicts], "left_out": missing}
    if not counted:
        why = "; ".join(missing) or "there is no image in the answer"
        return Score.unscored(reason=unscored_reason(results), explanation=why, metadata=details)
    value = statistics.fmean(verdict.value for verdict in counted)
    return Score(value=value, explanation="\n".join(verdict.summary for verdict in counted), metadata=details)


def unscored_reason(results: Sequence[Result]) -> str:
    """Why a sample is unscored, in Inspect's words; `not_verifiable` is ours."""
    if not results:
        return "no_response"
    if isinstance(results[0], Verdict):
        return Flag.NOT_VERIFIABLE.value
    return "grader_failed" if isinstance(results[0], BackendError | UnreadableAnswer) else "scoring_failed"


def log_entry(verdict: Verdict) -> dict[str, Any]:
    """A verdict in Inspect's log."""
    factors = {name: factor.score for name, factor in verdict.factors.items()}
    checks = [sentence(check) for check in verdict.checks]
    return {"score": verdict.score, "flags": [*map(str, verdict.flags)], "factors": factors, "checks": checks}
