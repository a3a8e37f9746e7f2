"""A folder is a registry."""

import sys
from pathlib import Path

import pytest

from onprompt import plugins
from onprompt.errors import PluginError, UserError
from onprompt.settings import load
from onprompt.vision.detection import load_detector
from onprompt.vision.matching import load_matcher


def test_a_wrong_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(PluginError, match=r"no detector 'wrold'; did you mean 'world'\?"):
        plugins.load("vision.detectors", "wrold")
    with pytest.raises(PluginError, match="no detector 'xyz'; there are: coco, hf, strong, world, yolo26"):
        load_detector(load(detector="xyz"))
    with pytest.raises(PluginError, match=r"no matcher 'smal'; did you mean 'small'\?"):
        load_matcher(load(matcher="smal"))
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


def test_another_package_joins_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_detector.py").write_text("def load(settings):\n    return 'theirs'\n")
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[onprompt.detectors]\ntheirs = their_detector\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert "theirs" in plugins.names("vision.detectors")
    assert plugins.load("vision.detectors", "theirs").load(None) == "theirs"


def test_a_package_that_replaces_a_built_in_plugin_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[onprompt.detectors]\ncoco = their_detector\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(PluginError, match="detector 'coco' is built in, but their-package adds another one: uninstall"):
        plugins.load("vision.detectors", "coco")


def test_the_extra_that_brings_a_library_is_named() -> None:
    assert plugins.how_to_install("ruff") == "pip install 'onprompt[dev]'"
    assert plugins.how_to_install("unheard_of") == "pip install unheard_of"
