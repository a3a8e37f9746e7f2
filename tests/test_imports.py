"""The line does not bend: types ← language, vision ← evidence ← judges ← api, report ← cli."""

import ast
from pathlib import Path

import pytest

import onprompt

ROOT = Path(onprompt.__file__).parent
# What each part may import of ours, beside itself. A part that is not listed may import anything.
MAY = {
    "errors": set(),
    "types": set(),
    "plugins": {"errors"},
    "settings": {"errors", "plugins"},
    "weights": {"errors", "plugins", "settings"},
    "language": {"errors", "settings", "types"},
    "vision": {"errors", "plugins", "settings", "types", "weights"},
    "evidence": {"errors", "language", "settings", "types", "vision"},
    "reading": {"errors", "types"},
    "rubrics": {"errors", "reading", "types"},
    "probe": {"api", "asking", "errors", "plugins", "report", "settings", "types"},
    "store": {"errors", "types"},
    "engines": {"errors", "settings", "types", "vision"},
    "datasets": {"errors", "plugins", "types"},
    "ledger": {"errors"},
    "adapters": {"api", "errors", "settings", "types", "vision"},
    "findings": {"errors", "ledger", "store"},
    "asking": {"errors", "plugins", "settings", "store", "types"},
    "backends": {"asking", "errors", "reading", "settings", "store", "types", "vision", "weights"},
    "report": {"errors", "types"},
    "illusion": {
        *("asking", "datasets", "errors", "findings", "judges", "ledger", "plugins"),
        *("report", "run", "settings", "types", "vision"),
    },
    "audit": {"errors", "illusion", "ledger", "plugins", "types"},
    "judges": {
        *("asking", "errors", "evidence", "language", "reading"),
        *("rubrics", "settings", "types", "vision", "weights"),
    },
}


def imported(path: Path) -> set[str]:
    """The parts of onprompt that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "onprompt":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onprompt."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("onprompt.")}
    return found


@pytest.mark.parametrize("part", MAY)
def test_imports_go_one_way(part: str) -> None:
    files = list((ROOT / part).rglob("*.py")) or [ROOT / f"{part}.py"]
    for path in files:
        assert imported(path) <= MAY[part] | {part}, path
