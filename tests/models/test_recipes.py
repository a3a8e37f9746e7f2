"""The recipes of docs/servers.md, run against a double on loopback; the sample answers of docs/models.md are read."""

import json
import re
from pathlib import Path
from urllib.parse import urlparse

import pytest
from PIL import Image
from typer.testing import CliRunner

import onprompt
from onprompt.api import judges
from onprompt.cli import app
from tests.models.backends.server import Reply, Scripted
from tests.models.backends.test_openai import completion

DOCS = Path(__file__).parent.parent.parent / "docs"
RECIPES = {
    match[1]: (match[2], match[3])
    for match in re.finditer(
        r"^\| ([\w. ]+?) \|.*\| `openai/(\S+?)@(\S+)` \|$", (DOCS / "servers.md").read_text(), re.M
    )
}
SAMPLES = dict(re.findall(r"^`(\w+)`[^\n]*:\n\n```\w*\n(.*?)```", (DOCS / "models.md").read_text(), re.M | re.S))


def test_all_recipes_are_run() -> None:
    assert list(RECIPES) == ["vLLM", "SGLang", "Ollama", "llama.cpp", "LM Studio", "Azure", "OpenRouter"]


@pytest.mark.parametrize("server", RECIPES)
def test_a_recipe(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, address = RECIPES[server]
    Image.new("RGB", (32, 32), "red").save(tmp_path / "photo.jpg")
    if hosted := address.startswith("https"):
        monkeypatch.setenv("ONPROMPT_API_KEY", "a-key")
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    with Scripted(Reply(completion(SAMPLES["verify"]))) as double:
        named = f"openai/{model}@{double.url}{urlparse(address).path}"
        run = CliRunner().invoke(app, ["verify", str(tmp_path / "photo.jpg"), "Two dogs.", "--model", named])
        assert run.stdout.splitlines()[-1:] == ["(2)"], run.output
        (request,) = double.requests
    judges.close()
    assert request.path == f"{urlparse(address).path}/chat/completions"
    assert request.json["model"] == model
    assert request.headers["authorization"] == ("Bearer a-key" if hosted else "Bearer none")


def test_the_sample_answers_are_read(tmp_path: Path) -> None:
    Image.new("RGB", (32, 32), "red").save(tmp_path / "ball.png")
    (tmp_path / "said.jsonl").write_text(
        "\n".join(
            json.dumps({"contains": words, "text": SAMPLES[rubric]})
            for words, rubric in (("online_factor_results", "edit"), ("Reasoning:", "rate"), ("", "verify"))
        )
    )
    settings = onprompt.Settings(answers=tmp_path / "answers.sqlite", model=f"replay/{tmp_path / 'said.jsonl'}")
    image = tmp_path / "ball.png"
    assert onprompt.verify(image, "Two dogs and a red ball.", settings=settings).score == 2
    assert onprompt.rate(image, "Two dogs and a red ball.", settings=settings).score == 3
    edited = onprompt.edit(image, image, "make the ball blue", id="ball", settings=settings)
    assert [factor.score for factor in edited.factors.values()] == [6, 7, 6]
    judges.close()
