"""IllusionBench as it is run: from drawn images to a report, by recorded answers and by a server on loopback."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pydantic import SecretStr

from onprompt.api import judges
from onprompt.illusion import results
from onprompt.illusion import run as runs
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.run import IllusionJob
from onprompt.runs.reading import Run
from onprompt.runs.run import Summary, run
from onprompt.settings import Settings
from tests.illusion.drawn import draw
from tests.models.backends.server import Reply, Scripted

pytestmark = pytest.mark.slow

SHAPE, SCENE = "Identify the shape", "Identify the background"
Size = tuple[int, int] | None


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    judges.close()


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw(folder, SPLITS["sin"], per_class=2)
    return folder


def said(folder: Path, *lines: dict[str, Any]) -> str:
    path = folder / "said.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return f"replay/{path}"


def ran(folder: Path, data: Path, model: str, size: Size = (32, 48), split: str = "sin", **more: Any) -> Summary:
    stop = more.pop("on_progress", lambda _: None)
    settings = Settings(model=model, answers=folder / "answers.sqlite", **more)
    job = IllusionJob("illusion", settings, split, size)
    return run(runs.opened(str(data), SPLITS[split], {}), folder / "run.sqlite", job, on_progress=stop)


def measured(folder: Path) -> results.Results:
    return runs.results_of(Run(folder / "run.sqlite"))


def test_from_drawn_images_to_recalls(tmp_path: Path, drawn: Path) -> None:
    model = said(tmp_path, {"contains": SHAPE, "text": "A scarf."}, {"contains": SCENE, "text": "Ocean"})
    summary = ran(tmp_path, drawn, model)
    assert (summary.done, summary.errors) == (32, {})
    found = measured(tmp_path)
    assert found.images == 32
    assert found.rate("original", "shape") == (2, 32), "car is in scarf"
    assert found.rate("strict", "shape") == (0, 32)
    ocean = sum("-Ocean-" in path.name for path in drawn.rglob("*.png"))
    assert found.rate("original", "scene") == (ocean, 32)
    again = ran(tmp_path, drawn, model)
    assert (again.before, again.configuration) == (32, 1)
    assert ran(tmp_path, drawn, model, None).configuration == 2, "another size"


def test_the_server_gets_the_questions_word_for_word_and_the_picture_resized(tmp_path: Path, drawn: Path) -> None:
    one = next(drawn.rglob("cat-*.png"))
    (tmp_path / "data.csv").write_text(f"image\n{one}\n")
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Cat"}}
    reply = Reply({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})
    with Scripted(reply, reply) as server:
        where: dict[str, Any] = {"base_url": f"{server.url}/v1", "api_key": SecretStr("k"), "concurrency": 1}
        assert ran(tmp_path, tmp_path / "data.csv", "openai/m", (40, 24), **where).done == 1
    texts = []
    for request in server.requests:
        (message,) = request.json["messages"]
        picture, text = message["content"]
        texts.append(text["text"])
        sent = Image.open(io.BytesIO(base64.b64decode(picture["image_url"]["url"].partition(",")[2])))
        wanted = Image.open(one).convert("RGB").resize((40, 24), Image.Resampling.LANCZOS)
        assert (sent.format, sent.size, sent.tobytes()) == ("PNG", (40, 24), wanted.tobytes())
    assert texts == list(SPLITS["sin"].questions.values())


def test_a_table_may_give_shapes_and_scenes(tmp_path: Path, drawn: Path) -> None:
    one = next(drawn.rglob("*.png"))
    rows = [f"{one},Paper clip,sand_dune,Hard", f"{one},,Ocean,", f"{one},Unicorn,Ocean,Easy"]
    (tmp_path / "data.csv").write_text("\n".join(["file,class,background,difficulty", *rows]))
    summary = ran(tmp_path, tmp_path / "data.csv", said(tmp_path, {"text": "paper clip"}))
    assert (summary.done, dict(summary.errors)) == (2, {"bad_row": 1})
    found = measured(tmp_path)
    rates = [found.rate(scoring, "shape", "", "class", "Paper_clip") for scoring in ("strict", "original")]
    assert rates == [(1, 1), (1, 1)], "the original goes by what the table says"
    assert (found.unnamed, found.groups("difficulty")) == (2, ["Easy", "Hard"]), "both answers about the unicorn"


def test_an_answer_that_is_withheld_is_left_out(tmp_path: Path, drawn: Path) -> None:
    model = said(tmp_path, {"contains": SHAPE, "text": "", "stop": "filter"}, {"contains": SCENE, "text": ""})
    ran(tmp_path, drawn, model)
    found = measured(tmp_path)
    assert [found.answers(question).count(None) for question in ("shape", "scene")] == [32, 0]
    assert found.rate("original", "scene", "rest") == (32, 32), "an empty answer is an answer"


def test_problems_with_files_are_reported_and_cost_no_other_image(tmp_path: Path) -> None:
    draw(tmp_path / "pics", SPLITS["icon"], per_class=1)
    broken = next((tmp_path / "pics").rglob("animal-*.png"))
    good = broken.read_bytes()
    broken.write_bytes(b"nothing")
    for name in ("Stationary/a/x-y-Ocean.png", "Animal/a/x-Ocean.png", "Music/a/m-k-Cloud.jpg"):
        (tmp_path / "pics" / name).parent.mkdir(parents=True)
        (tmp_path / "pics" / name).write_bytes(good)
    summary = ran(tmp_path, tmp_path / "pics", said(tmp_path, {"text": "Stationery"}), split="icon")
    kind = runs.opened(str(tmp_path / "pics"), SPLITS["icon"], {}).kind
    assert kind.startswith("illusionbench (skipped 1 not in .png")
    assert (summary.done, dict(summary.errors)) == (6, {"ImageError: no picture": 1, "bad_row": 1})
    assert "too few fields between hyphens (2, not 3)" in summary.examples["bad_row"]
    found = measured(tmp_path)
    assert [found.answers(question).count(None) for question in ("shape", "scene")] == [1, 1]
    problems = "\n".join(found.troubles)
    assert "1 file with the shape Stationary: the option is spelled Stationery" in problems
    assert "1 file on which the original crashes" in problems
    assert (found.rate("original", "shape").part, found.rate("strict", "shape").part) == (1, 2)


def test_what_was_not_asked_yet_is_not_missing(tmp_path: Path, drawn: Path) -> None:
    def stop(summary: Summary) -> None:
        summary.stopped = "for a test" if summary.done >= 5 else ""

    ran(tmp_path, drawn, said(tmp_path, {"text": "Cat"}), concurrency=1, on_progress=stop)
    found = measured(tmp_path)
    assert (found.images, found.about["not_asked_yet"], found.about["size"]) == (6, 26, [32, 48]), "one was in progress"
    assert None not in found.answers("shape") + found.answers("scene")
    assert "26 images not asked about yet: run again to resume" in list(results.lines(found))


def onprompt(*arguments: str, code: int = 0) -> str:
    done = subprocess.run([sys.executable, "-m", "onprompt", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_the_commands(tmp_path: Path) -> None:
    draw(tmp_path / "pics", SPLITS["logo"], per_class=1)
    run_file, usual = str(tmp_path / "run.sqlite"), ("illusion", "run", str(tmp_path / "pics"), "--split", "logo")
    model = said(tmp_path, {"text": "Audi"})
    first = onprompt(*usual, "--model", model, "--out", run_file)
    assert "original  4.8 % (0.8–22.7)  0.0 % (0.0–15.5)" in first
    assert "Audi           100.0 % (20.7–100.0)" in first
    again = json.loads(onprompt("illusion", "report", run_file, "--json"))
    assert again["recall"][2]["shape"]["count"] == 1
    onprompt("illusion", "report", run_file, "--html", str(tmp_path / "page.html"))
    assert "Missed shapes" in (tmp_path / "page.html").read_text()
    other = str(tmp_path / "other.sqlite")
    (tmp_path / "other").mkdir()
    onprompt(*usual, "--model", said(tmp_path / "other", {"text": "unknown"}), "--out", other)
    assert "on 21 common samples" in onprompt("compare", run_file, other)
    (tmp_path / "r.csv").write_text("id,rating\n1,2\n")
    (tmp_path / "d.csv").write_text(f"image,prompt\n{next(tmp_path.rglob('*.png'))},a cat\n")
    verify = str(tmp_path / "verify.sqlite")
    onprompt("run", str(tmp_path / "d.csv"), "--model", said(tmp_path, {"text": "(4)"}), "--out", verify)
    for arguments, message in (
        (
            ("illusion", "report", run_file, "--html", "no/such/page.html"),
            "no/such/page.html: No such file or directory",
        ),
        (("illusion", "report", verify), "is a run of verify, not of IllusionBench"),
        (("compare", run_file, verify), "runs of different rubrics: illusion logo, verify"),
        (("agree", run_file, "--human", str(tmp_path / "r.csv")), "which has no score to compare with human ratings"),
        ((*usual, "--model", model, "--out", run_file, "--split", "sinn"), "no split 'sinn'; did you mean 'sin'?"),
        ((*usual, "--model", model, "--out", run_file, "--size", "224"), "--size must be WIDTHxHEIGHT"),
        ((*usual, "--model", model, "--out", run_file, "--size", "0x9"), "each side must be 2 to"),
        ((*usual, "--out", run_file), "a model is needed"),
    ):
        assert message in onprompt(*arguments, code=2)
