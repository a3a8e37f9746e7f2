"""The commands of the tutorials, in blocks marked sh, run on a folder with images, edits and ratings."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageOps
from typer.testing import CliRunner

from onprompt.api import judges
from onprompt.cli import app
from tests.conftest import photo

ROOT = Path(__file__).parent.parent
MODEL = "local/OpenVINO/Qwen3-VL-4B-Instruct-int4-ov"
SMALL = ROOT / "tests" / "models" / "backends" / "local_model" / "tiny"  # a small model with random weights
PROMPTS = {"coffee.png": "A red cup on a table.", "chelsea.png": "A brown cat.", "astronaut.png": "A smiling woman."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Images of two models, edits, and ratings by two people."""
    images: list[dict[str, str]] = []
    edits: list[dict[str, str]] = []
    for name, prompt in PROMPTS.items():
        picture = Image.fromarray(photo(name)).resize((320, 240))
        for model, version in {"a": picture, "b": ImageOps.mirror(picture)}.items():
            version.save(tmp_path / f"{model}-{name}")
            images.append({"image": f"{model}-{name}", "prompt": prompt, "model": model})
        ImageOps.grayscale(picture).save(tmp_path / f"gray-{name}")
        edits.append({"before": f"a-{name}", "after": f"gray-{name}", "instruction": "make it black and white"})
    Image.fromarray(photo("coffee.png")).save(tmp_path / "coffee.png")
    ratings = [
        {"id": row["image"], "rater": rater, "rating": str((number + shift) % 5)}
        for number, row in enumerate(images)
        for shift, rater in enumerate(("Ada", "Ben"))
    ]
    for file, rows in {"images.csv": images, "edits.csv": edits, "ratings.csv": ratings}.items():
        with (tmp_path / file).open("w", newline="", encoding="utf-8") as opened:
            table = csv.DictWriter(opened, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
    return tmp_path


@pytest.mark.models
@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("tutorial-*.md")), ids=lambda path: path.stem)
def test_commands_run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which loads the networks once."""
    script = "".join(re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.S)).replace(MODEL, f"local/{SMALL}")
    assert script
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(folder / "answers.sqlite"))
    for line in script.splitlines():
        program, *words = shlex.split(line)
        if program == "cp":
            shutil.copy(*words)
        else:
            done = CliRunner().invoke(app, words)
            assert (program, done.exit_code) == ("onprompt", 0), f"{line}: {done.output}{done.exception!r}"
    judges.close()
