"""The commands of the tutorials, in blocks marked sh, run on a folder with images, edits and ratings."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageOps

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
def test_commands_run(page: Path, folder: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), flags=re.S)
    assert blocks
    script = "set -e\n" + "".join(blocks).replace(MODEL, f"local/{SMALL}")
    environment = {**os.environ, "ONPROMPT_ANSWERS": str(folder / "answers.sqlite")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
