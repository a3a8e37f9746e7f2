"""Other packages import from onprompt.language, not from its modules."""

import re
from pathlib import Path

import onprompt

ROOT = Path(onprompt.__file__).parent
OTHERS = [path for path in ROOT.rglob("*.py") if not path.is_relative_to(ROOT / "language")]


def test_nobody_outside_imports_a_module_of_the_room() -> None:
    inside = re.compile(r"onprompt\.language\.\w|onprompt\.language import [^\n]*\b(?:lexicon|ontology|parser|words)\b")
    assert [path.name for path in OTHERS if inside.search(path.read_text(encoding="utf-8"))] == []
