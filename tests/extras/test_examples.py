"""Examples that need an extra, a service or pytest itself run, too."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import photo
from tests.runs.test_run import judged, table
from tests.test_examples import ROOT, example, folder

__all__ = ["folder"]


@pytest.fixture
def with_run(folder: Path) -> Path:
    """A run file beside the pictures, with a sample of the name that the examples use."""
    data = table(folder, 3)
    data.write_text(data.read_text().replace("\n0,", "\ncup.png,"))
    judged(folder, data)
    return folder


@pytest.mark.parametrize("name", ["quickstart", "runs"])
def test_an_example_runs(name: str, with_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    example(name, with_run)
    assert capsys.readouterr().out


def test_a_test_of_an_image_says_what_is_wrong(tmp_path: Path) -> None:
    Image.fromarray(photo("coffee.png")).save(tmp_path / "hero.png")
    shutil.copy(ROOT / "examples" / "ci" / "test_hero_image.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_hero_image.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    shown = re.search(r"```\n(AssertionError: .*?)\n  picture", (ROOT / "docs" / "ci.md").read_text(), flags=re.S)
    assert shown
    assert shown[1] in re.sub(r"^E {7}", "", done.stdout, flags=re.M)


def test_a_service_is_asked(folder: Path) -> None:
    command = [sys.executable, "-m", "onprompt", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as service:
        assert service.stdout
        address = next(line for line in service.stdout if "http://" in line).split("http://")[1].split("/")[0].strip()
        source = (ROOT / "examples" / "call_service.py").read_text().replace("127.0.0.1:8766", address)
        asked = subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False)
        service.terminate()
    assert asked.stdout.split(" ", 1)[0] in "01234", asked.stderr
