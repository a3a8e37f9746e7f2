"""The assertion in promptfoo itself, out of npm, on recorded images."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from onprompt.adapters import promptfoo
from tests.conftest import photo_path

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(os.environ.get("PROMPTFOO") or ROOT / ".node" / "node_modules" / ".bin" / "promptfoo")


def evaluate(folder: Path, tests: list[dict[str, Any]], **config: Any) -> list[dict[str, Any]]:
    """The results of an evaluation whose provider echoes the path of a recorded image."""
    assertion = {"type": "python", "value": f"file://{promptfoo.__file__}", "config": config}
    described = {"prompts": ["{{image}}"], "providers": ["echo"], "tests": tests}
    described["defaultTest"] = {"assert": [assertion]}
    (folder / "promptfooconfig.yaml").write_text(yaml.safe_dump(described))
    command = [
        str(PROGRAM),
        *["eval", "-c", "promptfooconfig.yaml", "-o", "out.json", "--no-cache", "--no-table", "-j", "2"],
    ]
    off = {f"PROMPTFOO_DISABLE_{name}": "1" for name in ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")}
    # A root and a config of its own: what one has configured elsewhere is not read.
    own = {"PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_CONFIG_DIR": str(folder / "home"), "HOME": str(folder)}
    own |= {"ONPROMPT_HOME": os.environ.get("ONPROMPT_HOME", str(Path.home() / ".cache" / "onprompt"))}
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ | off | own, timeout=300)
    assert (folder / "out.json").is_file(), run.stdout + run.stderr
    return list(json.loads((folder / "out.json").read_text())["results"]["results"])


def test_an_evaluation(tmp_path: Path) -> None:
    shutil.copy(photo_path("coffee.png"), tmp_path / "coffee.png")
    (tmp_path / "none.png").write_bytes(b"no image")
    coffee = str(tmp_path / "coffee.png")
    cases = {
        "A cup on a table.": coffee,
        "Two red cups on a table, and a laptop.": f"![made by a model]({coffee})",
        "A cup.": str(tmp_path / "none.png"),
    }
    tests = [{"vars": {"prompt": prompt, "image": image}} for prompt, image in cases.items()]
    found = {each["vars"]["prompt"]: each for each in evaluate(tmp_path, tests, at_least=3)}
    good, bad, none = (found[prompt]["gradingResult"] for prompt in cases)
    assert (good["pass"], bad["pass"], none["pass"]) == (True, False, False)
    assert good["score"] > bad["score"]
    whole, *components = bad["componentResults"]
    assert "a laptop (missing)" in whole["reason"]
    failed = [each["reason"].partition(":")[0] for each in components if not each["pass"]]
    assert failed == ["expected 2 × cup", "expected a laptop"]
    assert found["A cup on a table."]["namedScores"]["onprompt_score"] == 4
    assert none["componentResults"][0]["reason"].startswith("no verdict: ")
