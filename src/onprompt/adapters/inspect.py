"""An Inspect scorer: the `value`, 0 to 1, of the verdicts on the pictures that a model made.

    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from onprompt.adapters.inspect import onprompt_scorer

    samples = [Sample("A cup on a table.", metadata={"generated": "photo.png"})]
    task = Task(samples, solver=[], scorer=onprompt_scorer())  # without `solver` a model is asked for the picture
    (log,) = eval(task, model="mockllm/model")
    print(log.results.scores[0].metrics["mean"].value, log.results.scores[0].unscored_samples)

The pictures are those of the model's answer, or the file or list of files in the metadata "generated"; the prompt is
the metadata "prompt", or the input; for an edit the source is the metadata "before", or the input's last picture.
Where there is no verdict the sample is unscored, which leaves the mean; `reason` and `explanation` say why.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from anyio import to_thread
from inspect_ai.model import ChatMessage, ContentImage
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from onprompt.adapters import judged, no_verdict
from onprompt.api import Result, judging
from onprompt.errors import BackendError, SettingsError, UnreadableAnswer
from onprompt.rubrics import DEFAULT
from onprompt.settings import PRIVATE, load
from onprompt.types import Verdict
from onprompt.wording import sentence


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator] # of a package that is not looked at
def onprompt_scorer(rubric: str = DEFAULT, judge: str = "", model: str = "", **settings: Any) -> Scorer:
    """How well the generated pictures show the prompt, by any rubric; settings by their names."""
    if private := sorted(PRIVATE & settings.keys()):
        raise SettingsError(f"{private[0]} would be in Inspect's log: set ONPROMPT_{private[0].upper()} instead")
    chosen = judging(load(**settings), judge, model)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 every scorer is given it
        prompt, sources = asked(state)
        before, name = state.metadata.get("before") or (sources[-1] if sources else None), str(state.sample_id)
        found = [
            await to_thread.run_sync(judged, rubric, image, prompt, before, name, chosen) for image in generated(state)
        ]
        return scored(found)

    return score


def asked(state: TaskState) -> tuple[str, list[str]]:
    """What the sample asks for, and the pictures that it comes with."""
    if isinstance(state.input, str):
        return state.metadata.get("prompt") or state.input, []
    mine = [message for message in state.input if message.role == "user"]
    # `input_text` would say "[image]" where there are no words, and that would be judged.
    words = mine[-1].text if mine else ""
    return state.metadata.get("prompt") or words, [picture for message in mine for picture in pictures(message)]


def generated(state: TaskState) -> list[Any]:
    """The pictures to judge."""
    if named := state.metadata.get("generated"):
        return named if isinstance(named, list) else [named]
    return [] if state.output.empty else pictures(state.output.message)


def pictures(message: ChatMessage) -> list[str]:
    """The pictures in a message, as data URLs or addresses."""
    return [part.image for part in message.content if isinstance(part, ContentImage)]


def scored(found: Sequence[Result]) -> Score:
    """The mean over the pictures that got a verdict; unscored where none did."""
    missing = [why for each in found if (why := no_verdict(each))]
    verdicts = [each for each in found if isinstance(each, Verdict)]
    counted = [each for each in verdicts if not no_verdict(each)]
    told = {"verdicts": [evidence(each) for each in verdicts], "left_out": missing}
    if not counted:
        why = "; ".join(missing) or "there is no picture in the answer"
        return Score.unscored(reason=reason(found), explanation=why, metadata=told)
    value = statistics.fmean(each.value for each in counted)
    return Score(value=value, explanation="\n".join(each.summary for each in counted), metadata=told)


def reason(found: Sequence[Result]) -> str:
    """Why a sample is unscored, in Inspect's words; `not_verifiable` is ours."""
    if not found:
        return "no_response"
    if isinstance(found[0], Verdict):
        return "not_verifiable"
    return "grader_failed" if isinstance(found[0], BackendError | UnreadableAnswer) else "scoring_failed"


def evidence(verdict: Verdict) -> dict[str, Any]:
    """What a log should tell of a verdict."""
    factors = {name: factor.score for name, factor in verdict.factors.items()}
    checks = [sentence(check) for check in verdict.checks]
    return {"score": verdict.score, "flags": list(verdict.flags), "factors": factors, "checks": checks}
