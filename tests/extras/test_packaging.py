"""The wheel that users install holds all that is needed, and starts without the source tree."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)], check=True
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_data_types_and_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("py.typed", "weights/manifest.toml", "language/ontology.txt", "vision/activations/pplcnet.npz"):
        assert f"onprompt/{name}" in names
    for name in ("templates/verdict.html", "templates/badge.svg", "assets/style.css", "assets/gallery.js"):
        assert f"onprompt/pages/{name}" in names
    for name in ("wordnet.txt", "words.txt", "lexicon.txt", "WORDNET-LICENSE", "MODEL.md", "parser.npz"):
        assert f"onprompt/language/{name}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests", "bench", "examples")) for name in names)


def test_the_wheel_alone_answers(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
    )
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r}); import onprompt as o; print(o.__file__, o.parse('two dogs'))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ)
    )
    assert str(target) in result.stdout
    assert "2 × dog" in result.stdout
