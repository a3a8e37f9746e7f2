"""The line does not bend: types ← language, vision ← evidence ← wording ← judges ← runs ← report ← cli."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import onprompt
from onprompt import plugins
from onprompt.types import Flag

ROOT = Path(onprompt.__file__).parent
# What each part may import of ours, beside itself. Of runs, engines and dataset readers may import less than the rest.
MAY: dict[str, set[str]] = {
    "errors": set(),
    "files": {"errors"},
    "types": {"evidence", "report", "settings"},  # for annotations, and when a notebook shows a verdict
    "plugins": {"errors"},
    "settings": {"errors", "files", "plugins"},
    "stages": set(),
    "weights": {"errors", "plugins", "settings"},
    "language": {"errors", "settings", "types"},
    "vision": {"errors", "files", "plugins", "settings", "types", "weights"},
    "evidence": {"errors", "language", "settings", "stages", "types", "vision"},
    "wording": {"evidence", "language", "types"},
    "serial": {"errors", "types"},
    "models": {"errors", "plugins", "settings", "stages", "types", "vision", "weights"},
    "report": {"errors", "evidence", "models", "plugins", "runs", "serial", "settings", "types", "wording"},
    "rubrics": {"errors", "evidence", "models", "report", "settings", "types", "wording"},
    "judges": {
        *("errors", "evidence", "language", "models", "rubrics", "settings", "stages", "types", "vision", "weights"),
        "wording",
    },
    "samples": {"errors", "plugins", "settings", "types", "vision"},
    "runs.engines": {"errors", "settings", "types"},
    "runs.datasets": {"errors", "files", "plugins", "types"},
    "api": {"errors", "evidence", "language", "plugins", "rubrics", "runs", "samples", "settings", "types", "vision"},
    "runs": {"errors", "files", "models", "plugins", "samples", "serial", "settings", "types", "vision", "wording"},
    "pages": {
        *("api", "errors", "evidence", "files", "plugins", "report", "rubrics", "runs", "samples", "serial"),
        *("settings", "stages", "types", "vision", "weights", "wording"),
    },
    "illusion": {"errors", "models", "pages", "plugins", "report", "runs", "settings", "types", "vision", "wording"},
    "probe": {"api", "errors", "plugins", "report", "rubrics", "samples", "settings", "types"},
    "adapters": {"api", "errors", "files", "rubrics", "runs", "samples", "settings", "types", "vision", "wording"},
    "cli": {
        *("adapters", "api", "errors", "files", "illusion", "language", "models"),
        *("pages", "plugins", "probe", "report", "rubrics", "runs", "samples", "settings", "trackers"),
        *("types", "weights", "wording"),
    },
    "pytest_plugin": {"api", "errors", "plugins", "report", "rubrics", "samples", "types", "wording"},
    "trackers": {"errors", "plugins", "report", "runs", "types"},
    "__main__": {"cli"},
    "__init__": {"api", "errors", "settings", "types", "wording"},
}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All that a file says, parsed once for all tests."""
    return list(ast.walk(ast.parse(path.read_text())))


def constants(nodes: Iterable[ast.AST]) -> set[object]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) if node.value}


def imported(path: Path) -> set[str]:
    """The parts of onprompt that a file imports, anywhere in it."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module == "onprompt":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onprompt."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("onprompt.")}
    return found


def files_of(part: str) -> list[Path]:
    path = ROOT / part.replace(".", "/")
    return list(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


@pytest.mark.parametrize("part", MAY)
def test_imports_go_one_way(part: str) -> None:
    for path in files_of(part):
        assert imported(path) <= MAY[part] | {part.split(".")[0]}, path


def test_no_two_parts_may_import_each_other() -> None:
    loops = [(a, b) for a in MAY for b in MAY[a] if a in MAY.get(b, ()) and "types" not in (a, b)]
    assert loops == [], "types name others in annotations alone"


def test_no_module_but_its_own_names_a_rubric() -> None:
    """Beside the API, whose functions have the rubrics' names. "rate" is an English word, too."""
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "rubrics" and path.name not in ("api.py", "__init__.py"):
            assert not constants(nodes(path)) & {"verify", "edit"}, path


def test_no_module_but_its_own_compares_with_the_name_of_a_judge() -> None:
    """What a judge asks is said by its own file (`ASKS`), not by its name."""
    judges = set(plugins.names("judges"))
    for path in ROOT.rglob("*.py"):
        compared = [node for node in nodes(path) if isinstance(node, ast.Compare)]
        assert not [node for node in compared if constants(ast.walk(node)) & judges], path


def test_flags_are_named_once() -> None:
    """Beside the rooms that come to it: a flag is a member of `Flag`, never a text of its own."""
    rooms = {"evidence", "illusion", "runs", "trackers"}
    texts = {flag.value for flag in Flag} - {"low_confidence"}  # the name of a setting, too
    for path in ROOT.rglob("*.py"):
        parts = set(path.relative_to(ROOT).parts)
        if not parts & rooms and path.name not in ("verdict.py", "gate.py"):
            assert not constants(nodes(path)) & texts, path


def test_sql_is_in_two_rooms() -> None:
    """A run file is read by `runs` alone, the answer cache by its own file."""
    sql = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE FROM|CREATE|PRAGMA) [\w*]")
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "runs" and path.name != "answer_store.py":
            assert not [text for text in constants(nodes(path)) if isinstance(text, str) and sql.search(text)], path


def test_types_import_nothing_of_ours_at_run_time() -> None:
    code = "import sys, onprompt.types; print(*(name for name in sys.modules if name.startswith('onprompt.')))"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[1] for name in modules} == {"types"}


def test_engines_and_readers_import_nothing_else_of_runs() -> None:
    for part in ("engines", "datasets"):
        for path in files_of(f"runs.{part}"):
            others = re.findall(r"onprompt\.runs\.(\w+)", path.read_text())
            assert set(others) <= {part}, path


def test_every_part_is_listed() -> None:
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert parts == {part.split(".")[0] for part in MAY}
