"""A folder is a registry, and other packages join by entry points."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from onprompt import plugins
from onprompt.errors import PluginError, UserError
from onprompt.settings import load
from onprompt.vision.detectors import load_detector


def test_a_wrong_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(PluginError, match=r"no detector 'wrold'; did you mean 'world'\?"):
        plugins.load("vision.detectors", "wrold")
    with pytest.raises(PluginError, match=r"no detector 'xyz'; there are: coco, .*"):
        load_detector(load(detector="xyz"))
    assert issubclass(PluginError, UserError)


def test_a_new_file_in_the_folder_is_a_new_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onprompt.vision.detectors as folder

    (tmp_path / "mine.py").write_text("def load(settings):\n    return 'mine'\n")
    (tmp_path / "needy.py").write_text("import a_library_that_nobody_has\n")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    monkeypatch.setattr(folder.__spec__, "submodule_search_locations", folder.__path__)
    assert "mine" in plugins.names("vision.detectors")
    assert plugins.load("vision.detectors", "mine").load(None) == "mine"
    with pytest.raises(PluginError, match="needs a_library_that_nobody_has: pip install a_library_that_nobody_has"):
        plugins.load("vision.detectors", "needy")


def package(site: Path, name: str, entry_points: str, **files: str) -> None:
    """A package as pip would leave it: its modules, and its entry points."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    for module, code in files.items():
        (site / f"{module}.py").write_text(code)


def onprompt(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "onprompt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_another_package_can_not_replace_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, "greedy-package", "[onprompt.detectors]\ncoco = mine\nnew = mine\n", mine="")
    package(tmp_path, "second-package", "[onprompt.detectors]\nnew = mine\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(PluginError, match=r"'coco' is built in, .* uninstall greedy-package"):
        plugins.load("vision.detectors", "coco")
    with pytest.raises(PluginError, match="greedy-package and second-package both bring a detector 'new'"):
        plugins.load("vision.detectors", "new")


def test_a_missing_package_of_ours_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "packages" not in path])  # none is installed
    for folder, name, hint in (
        ("vision.detectors", "strong", "no detector 'strong'; .*: pip install onprompt-yolo"),
        ("models.backends", "transformers", "no backend 'transformers'; .*: pip install onprompt-hub"),
    ):
        with pytest.raises(PluginError, match=hint):
            plugins.load(folder, name)


def test_another_package_brings_a_command(tmp_path: Path) -> None:
    code = 'def greet(name: str) -> None:\n    """Greet somebody."""\n    print(f"hello {name}")\n'
    package(tmp_path, "their-package", "[onprompt.commands]\ngreet = greeting:greet\n", greeting=code)
    assert re.search(r"greet +Greet somebody", onprompt(tmp_path, "--help").stdout)
    assert onprompt(tmp_path, "greet", "you").stdout == "hello you\n"
    package(tmp_path, "greedy-package", "[onprompt.commands]\nrun = greeting:greet\nverify = greeting:greet\n")
    for name in ("run", "verify"):
        refused = onprompt(tmp_path, name, "x")
        assert refused.returncode == 2
        assert f"the command '{name}' is built in, but greedy-package adds another one" in refused.stderr


def test_another_package_brings_model_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"the weights of a network"
    entry = f"""[[file]]
name = "theirs.bin"
set = "theirs"
use = "an example"
bytes = {len(content)}
sha256 = "{hashlib.sha256(content).hexdigest()}"
licence = "MIT"
sources = ["url:https://example.invalid/theirs.bin"]
"""
    (tmp_path / "theirs.toml").write_text(entry)
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "theirs.bin").write_bytes(content)
    code = "from pathlib import Path\nMANIFEST = Path(__file__).with_name('theirs.toml')\n"
    package(tmp_path, "their-package", "[onprompt.weights]\ntheirs = their_files:MANIFEST\n", their_files=code)
    monkeypatch.setenv("ONPROMPT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ONPROMPT_MIRROR", str(tmp_path / "mirror"))
    assert "theirs.bin" in onprompt(tmp_path, "models").stdout
    assert onprompt(tmp_path, "models", "pull", "theirs").stdout.startswith("1 file")
    assert Path(onprompt(tmp_path, "models", "path", "theirs.bin").stdout.strip()).read_bytes() == content
    (tmp_path / "theirs.toml").write_text(entry.replace("theirs.bin", "picodet.pdmodel"))
    refused = onprompt(tmp_path, "models")
    assert refused.returncode == 2
    assert "their-package brings another model file picodet.pdmodel" in refused.stderr
