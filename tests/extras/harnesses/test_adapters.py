"""The adapters against the real packages: torchmetrics, Inspect, DeepEval."""

import base64
import io
import json
import math
import pickle
import re
import shutil
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from inspect_ai import Task
from inspect_ai import eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate
from PIL import Image

import onprompt
from onprompt.adapters import inspect as inspect_adapter
from onprompt.adapters import torchmetrics as torchmetrics_adapter
from onprompt.adapters.inspect import onprompt_scorer
from onprompt.adapters.torchmetrics import Onprompt
from onprompt.api import judges
from onprompt.errors import SettingsError
from onprompt.wording import differences
from tests.conftest import photo, photo_path
from tests.extras.harnesses import THEIRS

pytestmark = THEIRS
CUP, VAGUE, GARBLED = "A cup on a table.", "A feeling of nostalgia", "a cup that nobody can read"
STEPS = "Step 1: []\nStep 2: []\nStep 3&4: []\nStep 5: it is\n(3)"
WHY = "The instruction requested a blue cup and the edited image clearly shows a blue cup in the same place."
SCORES = {name: {"score": 7, "justification": WHY} for name in ("alignment", "completeness", "plausibility")}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No account, no network, no reports of usage; a photo where the snippets look for one, and a broken one."""

    def refuse(_: socket.socket, address: object) -> None:
        raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    monkeypatch.setenv("DEEPEVAL_NO_INSPECT_PROMPT", "1")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    shutil.copy(photo_path("coffee.png"), tmp_path / "photo.png")
    (tmp_path / "broken.png").write_bytes(b"")
    yield
    judges.close()


@pytest.fixture
def deepeval() -> ModuleType:
    """The adapter, imported where usage reports are off."""
    from onprompt.adapters import deepeval

    return deepeval


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model that finds all in order, but what it says of one prompt can't be read."""
    edit = json.dumps({"image_id": "one", "online_factor_results": SCORES})
    said = {f'"{GARBLED}"': "What a lovely picture!", "plausibility": edit, "": STEPS}
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(json.dumps({"contains": words, "text": text}) for words, text in said.items()))
    return f"replay/{file}"


@pytest.mark.parametrize("name", ["torchmetrics", "inspect", "deepeval"])
def test_the_snippet_of_the_docstring_runs(name: str, deepeval: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    modules = {"torchmetrics": torchmetrics_adapter, "inspect": inspect_adapter, "deepeval": deepeval}
    code = re.search(r"(?:^    .*\n|^\n)+", modules[name].__doc__ or "", flags=re.M)
    assert code
    exec(dedent(code[0]), {})
    score, rest = capsys.readouterr().out.split(maxsplit=1)
    assert float(score) == pytest.approx(onprompt.verify("photo.png", CUP).value, abs=1e-6)
    assert rest == ("The image matches the prompt. None\n" if name == "deepeval" else "0\n")


def drawn(shade: int = 200) -> Image.Image:
    return Image.fromarray(np.full((40, 60, 3), shade, np.uint8))


def data_url(image: Image.Image) -> ContentImage:
    file = io.BytesIO()
    image.save(file, "PNG")
    return ContentImage(image=f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}")


# ---- torchmetrics --------------------------------------------------------------------------------------------------


def test_tensors_are_judged_as_the_files_are_and_long_prompts_to_their_end() -> None:
    pixels = torch.from_numpy(photo("coffee.png").copy()).permute(2, 0, 1)
    long = f"A cup on a table{', by the window of a quiet old house' * 15}, and a laptop."  # past 77 tokens
    metric = Onprompt()
    found = [float(metric(pixels[None], [prompt])) for prompt in (CUP, long)]
    expected = [onprompt.verify("photo.png", prompt) for prompt in (CUP, long)]
    assert found == pytest.approx([each.value for each in expected], abs=1e-6)
    assert ("a laptop", "MISSING") in differences(expected[1])


def test_the_life_of_a_metric(model: str) -> None:
    metric = Onprompt(model=model)
    assert metric.higher_is_better
    assert float(metric([drawn()], ["a cup"])) == 0.75
    assert float(metric(torch.zeros(2, 3, 40, 60, dtype=torch.uint8), ["a cup", "a cup"])) == 0.75
    twin, copy = metric.clone(), pickle.loads(pickle.dumps(metric))
    metric.reset()
    assert [int(each.count) for each in (metric, twin, copy)] == [0, 3, 3]
    copy.update([drawn()], ["a cup"])
    twin.merge_state(copy)
    assert (int(twin.count), float(twin.compute())) == (7, 0.75)


def test_what_has_no_verdict_leaves_the_mean_in_every_process(model: str) -> None:
    metric = Onprompt(model=model)
    with pytest.warns(UserWarning, match=r"left out 2 of 3 images, for example: .*unreadable answer"):
        metric.update([drawn(), drawn(), "broken.png"], ["a cup", GARBLED, "a cup"])
    assert (float(metric.compute()), int(metric.count), int(metric.left_out)) == (0.75, 1, 2)
    metric.sync(dist_sync_fn=lambda state, group: [state, state], distributed_available=lambda: True)
    assert (float(metric.total), int(metric.count), int(metric.left_out)) == (1.5, 2, 4)


def test_without_any_verdict_the_mean_is_nan_and_says_so() -> None:
    metric = Onprompt()
    with pytest.warns(UserWarning, match="not_verifiable"):
        metric.update(["photo.png"], [VAGUE])
    with pytest.warns(UserWarning, match="no verdicts, 1 image left out"):
        assert math.isnan(metric.compute())


def test_torchmetrics_judges_an_edit_by_both_pictures(model: str) -> None:
    metric = Onprompt("edit", model=model)
    with pytest.warns(UserWarning, match="wrong_id"):  # the model's word is about "one", and this is "the picture"
        metric.update([drawn()], ["make the cup blue"], [drawn(100)])
    with pytest.raises(ValueError, match="needs the images before the edit"):
        metric.update([drawn()], ["make the cup blue"])


@pytest.mark.parametrize(
    ("images", "prompts", "message"),
    [
        (torch.zeros(1, 3, 8, 8), ["a cup"], r"not torch\.float32, \(3, 8, 8\)"),
        (torch.zeros(3, 8, 8, dtype=torch.uint8), ["a cup"] * 3, r"not torch\.uint8, \(8, 8\)"),
        (["photo.png"], ["a cup", "a dog"], "1 images, 2 prompts"),
        (["photo.png"], "a cup", "must be lists"),
    ],
)
def test_a_batch_that_is_none_is_an_error(images: Any, prompts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Onprompt().update(images, prompts)


# ---- Inspect -------------------------------------------------------------------------------------------------------


def results(scorer: Any, samples: list[Sample], *answers: ContentImage | str) -> tuple[Any, list[Any]]:
    """What Inspect makes of samples that a model answers so: the mean and so on, and each sample's score."""
    outputs = [
        ModelOutput.from_content("mockllm", [each] if isinstance(each, ContentImage) else each) for each in answers
    ]
    for output in outputs:
        output.usage = ModelUsage()  # else it fetches a tokenizer to count
    task = Task(samples, solver=[generate()] if answers else [], scorer=scorer)
    (log,) = run(task, model=get_model("mockllm/model", custom_outputs=outputs), max_samples=1)
    assert log.status == "success", log.error
    assert log.results
    return log.results.scores[0], [next(iter((each.scores or {}).values())) for each in log.samples or []]


def test_the_picture_in_the_answer_is_judged_and_the_log_has_the_evidence() -> None:
    samples = [Sample("a cup and a giraffe")]
    _, (score,) = results(onprompt_scorer(detector="coco"), samples, data_url(Image.open("photo.png")))
    assert "giraffe (missing)" in score.explanation
    (told,) = score.metadata["verdicts"]
    assert told["score"] < 4
    assert any(line.startswith("expected a giraffe: none") for line in told["checks"])


def test_what_has_no_verdict_is_unscored_and_leaves_the_mean_of_inspect(model: str) -> None:
    answers = {
        "a cup": data_url(drawn()),
        GARBLED: data_url(drawn()),
        "two cups": "I can't draw that.",
        "three cups": ContentImage(image="data:image/png;base64,!"),
        "four cups": ContentImage(image="https://example.org/cups.png"),
    }
    summary, scores = results(onprompt_scorer(model=model), [Sample(each) for each in answers], *answers.values())
    assert (summary.metrics["mean"].value, summary.scored_samples, summary.unscored_samples) == (0.75, 1, 4)
    reasons = [None, "grader_failed", "no_response", "scoring_failed", "scoring_failed"]
    assert [each.reason for each in scores] == reasons
    assert [math.isnan(each.value) for each in scores] == [False, True, True, True, True]
    assert "unreadable answer" in scores[1].explanation


def test_where_nothing_can_be_checked_the_mean_of_inspect_is_nan() -> None:
    summary, (score,) = results(onprompt_scorer(), [Sample(VAGUE, metadata={"generated": "photo.png"})])
    assert math.isnan(summary.metrics["mean"].value)
    assert (summary.unscored_samples, score.reason) == (1, "not_verifiable")


def test_of_several_pictures_those_with_a_verdict_count(model: str) -> None:
    about = {"generated": ["photo.png", "broken.png"], "prompt": "a cup"}
    _, (score,) = results(onprompt_scorer(model=model), [Sample("Draw!", metadata=about)])
    assert score.value == 0.75
    assert len(score.metadata["left_out"]) == 1


def test_inspect_judges_an_edit_by_both_pictures(model: str) -> None:
    def question(*pictures: ContentImage) -> list[Any]:
        return [ChatMessageUser(content=[*pictures, ContentText(text="make the cup blue")])]

    good, broken = data_url(drawn()), ContentImage(image="data:image/png;base64,!")
    asked = {"one": [good], "second": [], "third": [broken]}
    samples = [Sample(id=name, input=question(*pictures)) for name, pictures in asked.items()]
    _, scores = results(onprompt_scorer("edit", model=model), samples, *[good] * 3)
    assert scores[0].value == 1.0
    assert scores[0].metadata["verdicts"][0]["factors"] == dict.fromkeys(SCORES, 7)
    assert "needs the image 'before'" in scores[1].explanation
    assert "unreadable data URL" in scores[2].explanation


def test_a_picture_without_words_has_no_prompt(model: str) -> None:
    alone = [ChatMessageUser(content=[data_url(drawn())])]
    _, (score,) = results(onprompt_scorer(model=model), [Sample(alone)], data_url(drawn()))
    assert math.isnan(score.value)
    assert "[image]" not in score.explanation


def test_a_key_does_not_get_into_the_log() -> None:
    with pytest.raises(SettingsError, match="set ONPROMPT_API_KEY instead"):
        onprompt_scorer(api_key="sk-1")


# ---- DeepEval ------------------------------------------------------------------------------------------------------


def case(prompt: str, *pictures: str, before: str = "") -> Any:
    """A test case with pictures in its output, and one in its input."""
    from deepeval.test_case import LLMTestCase, MLLMImage

    made = " ".join(str(MLLMImage(url=each)) for each in pictures)
    asked = f"{MLLMImage(url=before) if before else ''}{prompt}"
    return LLMTestCase(name="one", input=asked, actual_output=f"Here: {made}")


@pytest.mark.parametrize("at_once", [True, False])
def test_what_has_no_verdict_is_an_error_of_deepeval_and_no_score(
    deepeval: ModuleType, model: str, at_once: bool
) -> None:
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig

    cases = [case("a cup", "photo.png"), case(GARBLED, "photo.png"), case("a cup", "broken.png"), case("a cup")]
    metric = deepeval.OnpromptMetric(model=model)
    shown = DisplayConfig(show_indicator=False, print_results=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what DeepEval's own code warns of
        ended = evaluate(cases, [metric], async_config=AsyncConfig(run_async=at_once), display_config=shown)
    ended.test_results.sort(key=lambda each: each.index)
    data = [each.metrics_data[0] for each in ended.test_results]
    assert [each.score for each in data] == [0.75, None, None, None]
    assert [each.success for each in data] == [True, False, False, False]
    assert [each.error is None for each in data] == [True, False, False, False]
    assert "must hold one image, not 0" in data[3].error


def test_a_metric_keeps_nothing_of_the_last_test_case(deepeval: ModuleType) -> None:
    metric = deepeval.OnpromptMetric(settings=onprompt.Settings(detector="coco"))
    for prompt, verifiable in (("a cup", True), (VAGUE, False), ("a cup", True)):
        assert metric.measure(case(prompt, "photo.png")) == metric.score
        assert (metric.score is not None, metric.success, metric.is_successful()) == (verifiable,) * 3
        assert (metric.error is None) == verifiable
        assert verifiable or "not_verifiable" in metric.error


def test_deepeval_judges_an_edit_by_both_pictures(deepeval: ModuleType, model: str, tmp_path: Path) -> None:
    drawn().save(tmp_path / "before.png")
    metric = deepeval.OnpromptMetric(rubric="edit", model=model)
    assert metric.measure(case("make the cup blue", "photo.png", before="before.png")) == 1.0
    assert metric.verdict.sample.prompt == "make the cup blue"
    assert metric.verdict.sample.pictures["before"].size == (60, 40)
    assert metric.measure(case("make the cup blue", "photo.png")) is None
    assert "needs the image 'before'" in metric.error


def test_a_picture_of_which_only_the_mark_is_left_is_no_zero(deepeval: ModuleType, model: str) -> None:
    from deepeval.test_case import LLMTestCase

    metric = deepeval.OnpromptMetric(model=model)
    assert metric.measure(LLMTestCase(input="a cup", actual_output="[DEEPEVAL:IMAGE:0123]")) is None
    assert "is lost" in metric.error
