"""The Python in the documents is in examples/, and what is there runs."""

from __future__ import annotations

import re
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from onprompt.api import judges
from tests.conftest import photo
from tests.models.backends.server import Reply, Scripted

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
SAID = {"choices": [{"message": {"content": "All there.\n(4)"}, "finish_reason": "stop"}], "usage": {}}
GEMINI = {"candidates": [{"content": {"parts": [{"text": "(3)"}]}, "finishReason": "STOP"}]}


def blocks(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.S)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_in_a_document_is_that_of_an_example(document: str) -> None:
    known = {line.rstrip() for path in (ROOT / "examples").rglob("*.py") for line in path.read_text().splitlines()}
    for block in blocks(document):
        assert [line for line in block.splitlines() if line.rstrip() not in known] == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Pictures under the names that the examples use, and servers in place of the models."""
    image = Image.fromarray(photo("coffee.png"))
    for name in ("photo.jpg", "before.png", "after.png", "a.png", "b.png"):
        image.resize((300, 200)).save(tmp_path / name)
    with Scripted(Reply(SAID)) as openai, Scripted(Reply(GEMINI)) as gemini:
        for name, value in {
            "OPENAI_BASE_URL": f"{openai.url}/v1",
            "GOOGLE_GEMINI_BASE_URL": gemini.url,
            "GEMINI_API_KEY": "k",
            "ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite"),
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield tmp_path
        judges.close()


def example(name: str, folder: Path) -> None:
    shutil.copy(ROOT / "examples" / f"{name}.py", folder)
    runpy.run_path(str(folder / f"{name}.py"))


def test_models(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example("models", folder)
    assert "openai/gpt-5.2" in capsys.readouterr().out
