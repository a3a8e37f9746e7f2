"""A promptfoo assertion: does the image in a provider's output show the prompt?

    # promptfooconfig.yaml; python -c 'import onprompt.adapters.promptfoo as file; print(file.__file__)' prints the path
    assert:
      - type: python
        value: file:///PATH/onprompt/adapters/promptfoo.py
        config: {at_least: 3}  # or value: 0.7; rubric, judge, model, models; prompt: the name of the variable

The output is a path, an address or a data URL, alone or in a markdown image. The prompt is the variable `prompt`, or
else the whole prompt. promptfoo runs it with the Python that `PROMPTFOO_PYTHON` names, in which onprompt must be
installed. promptfoo knows no missing score: without a verdict the assertion fails with a score of 0, and its reason
begins with "no verdict".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from onprompt.adapters import judge_image
from onprompt.api import Result, judge_settings, missing_reason
from onprompt.errors import OnpromptError, SettingsError
from onprompt.rubrics import DEFAULT
from onprompt.samples import load_rubric
from onprompt.types import Check, Outcome, Verdict
from onprompt.wording import sentence

MARKDOWN = re.compile(r"!\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
OPTIONS = {"at_least", "value", "rubric", "judge", "model", "models", "prompt", "before"}


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """What promptfoo calls: pass, score, reason, and a component for each check."""
    options = dict(context.get("config") or {})
    try:
        if unknown := sorted(options.keys() - OPTIONS):
            raise SettingsError(f"no option {unknown[0]!r}; there are: {', '.join(sorted(OPTIONS))}")
        result = judge_output(output, context.get("vars") or {}, str(context.get("prompt") or ""), options)
    except OnpromptError as error:
        result = error
    why = missing_reason(result)
    if why or not isinstance(result, Verdict):
        return {"pass": False, "score": 0, "reason": f"no verdict: {why}"}
    return grading(result, options)


def judge_output(output: Any, variables: Mapping[str, Any], prompt: str, options: Mapping[str, Any]) -> Result:
    """The verdict on the image in an output."""
    asked = str(variables.get(options.get("prompt", "prompt")) or prompt)
    settings = judge_settings(None, options.get("judge", ""), options.get("model", ""), options.get("models", ()))
    before = variables.get(options.get("before", "before"))
    return judge_image(options.get("rubric", DEFAULT), image_in(output), asked, before, "", settings)


def image_in(output: Any) -> str:
    """The image of an output: that of a markdown image, or else all of the text."""
    text = output if isinstance(output, str) else str(output)
    found = MARKDOWN.search(text)
    return (found[1] if found else text).strip()


def grading(verdict: Verdict, options: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict as promptfoo's grading result."""
    at_least, value = options.get("at_least"), options.get("value")
    if at_least is None and value is None:
        scale = load_rubric(verdict.rubric).factors.get("score")
        at_least, value = (scale[-1], None) if scale else (None, 1.0)
    passed = at_least is None or (verdict.score is not None and verdict.score >= float(at_least))
    passed = passed and (value is None or verdict.value >= float(value))
    scores = {f"onprompt_{name}": float(factor.score) for name, factor in verdict.factors.items()}
    return {
        "pass": passed,
        "score": verdict.value,
        "reason": verdict.summary,
        "namedScores": {**scores, "onprompt_value": verdict.value},
        # What could not be checked is in the reason, and no component: it would need a score.
        "componentResults": [component(check) for check in verdict.checks if check.outcome != Outcome.UNVERIFIABLE],
    }


def component(check: Check) -> dict[str, Any]:
    """A check as a component."""
    return {"pass": check.outcome is Outcome.MATCHED, "score": check.probability, "reason": sentence(check)}
