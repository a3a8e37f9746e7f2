"""What is published beside the code, checked by the linters of those who read it; there is no Docker engine here."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent


def program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)


def test_hadolint_has_nothing_to_say_of_the_dockerfile() -> None:
    checked = run(program("hadolint"), "Dockerfile")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER 1000$", text, flags=re.M), "non-root"


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
    checked = run(program("check-jsonschema"), "--builtin-schema", schema, file)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])


def test_uvx_and_pipx_run_the_wheel(tmp_path: Path) -> None:
    """In environments that they make themselves, as `uvx onprompt` and `pipx run onprompt` will from the index."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("onprompt-*.whl")
    expected = re.search(r"onprompt-([\d.]+)-", wheel.name)
    assert expected
    own = os.environ | {"PIPX_HOME": str(tmp_path / "pipx"), "UV_CACHE_DIR": str(tmp_path / "uv")}
    own.pop("PYTHONPATH", None)
    for command in (
        [program("uvx"), "--from", str(wheel), "onprompt", "--version"],
        [program("pipx"), "run", "--spec", str(wheel), "onprompt", "--version"],
    ):
        ran = subprocess.run(command, capture_output=True, text=True, env=own, cwd=tmp_path, timeout=600)
        assert ran.stdout.strip() == expected[1], ran.stderr
