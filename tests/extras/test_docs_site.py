"""The documentation as a site: every link leads somewhere, every page is listed, nothing comes from another server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    names = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert [name for name in names if not (site / name / "index.html").exists()] == []
    assert (site / "index.html").exists()


def test_nothing_is_loaded_from_another_server(site: Path) -> None:
    loaded = r'<(?:script|img|link rel="(?:stylesheet|preconnect)"|iframe)[^>]*(?:src|href)="(?:https?:)?//'
    for page in site.rglob("*.html"):
        assert not re.search(loaded, page.read_text()), page


def test_public_functions_and_settings_are_in_the_reference(site: Path) -> None:
    python, settings = ((site / name / "index.html").read_text() for name in ("reference", "settings"))
    assert "Does this image show what the prompt asks for?" in python
    assert "max_prompt_characters" in settings
