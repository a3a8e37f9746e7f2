"""The line does not bend: types ← language, vision ← evidence ← wording ← report, rubrics ← judges ← api ← cli."""

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
    "models": {"errors", "plugins", "settings", "types", "vision", "weights"},
    "wording": {"evidence", "types"},
    "serial": {"errors", "types"},
    "report": {"errors", "evidence", "serial", "settings", "types", "wording"},
    "rubrics": {"errors", "evidence", "models", "report", "types", "wording"},
    "judges": {"errors", "evidence", "models", "rubrics", "settings", "types", "vision", "weights", "wording"},
    "runs": {"api", "errors", "models", "plugins", "serial", "settings", "types", "vision", "wording"},
    "illusion": {"errors", "judges", "models", "plugins", "report", "runs", "settings", "types", "vision"},
    "probe": {"api", "errors", "models", "plugins", "report", "settings", "types"},
    "adapters": {"api", "errors", "rubrics", "settings", "types", "vision", "wording"},
}


def imported(path: Path) -> set[str]:
    """The parts of onprompt that a file imports, anywhere in it but for type hints."""
    found = set()
    tree = ast.parse(path.read_text())
    hints = [each for each in tree.body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"]
    for block in hints:
        tree.body.remove(block)
    for node in ast.walk(tree):
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
