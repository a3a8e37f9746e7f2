"""What is audited: a Python file, or the code that a document quotes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from onprompt.errors import UserError
from onprompt.illusion.finding import told
from onprompt.illusion.protocol import SPLITS

ORIGINAL = re.compile(r"original|原始|evaluator", re.IGNORECASE)  # what a document quotes of the original is left out
LABEL = re.compile(r"^#+\s+(.*)|^\**\s*\**([^`*：:]{1,60})\s*[：:]?\s*\**[：:]", re.MULTILINE)
QUOTED = re.compile(r"^(?P<fence>```+)\w*\n(?P<block>.*?)^(?P=fence)\s*$|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)


def code_of(path: Path, folder: Path) -> Path:
    """The Python file to import; what a document quotes is written to the folder."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"can't read {path}: {getattr(error, 'strerror', '') or error}") from None
    if path.suffix == ".py":
        return path.resolve()
    source = "\n\n".join(quoted_code(text))
    if not source:
        raise UserError(f"{path} quotes no code to audit: name a .py file, or a document with code")
    quoted = folder / "quoted_code.py"
    quoted.write_text(source, encoding="utf-8")
    return quoted


def quoted_code(text: str) -> Iterator[str]:
    """What a document quotes of a re-implementation, as Python: functions, lists, and f-strings as functions."""
    labels = [(match.start(), match[0]) for match in LABEL.finditer(text)]
    for number, quoted in enumerate(QUOTED.finditer(text)):
        before = [label for start, label in labels if start <= quoted.start()]
        if before and ORIGINAL.search(before[-1]):
            continue
        heading = next((label for label in reversed(before) if label.startswith("#")), "")
        name = "_".join([str(number), *re.findall("[A-Za-z]+", heading)])
        source = (quoted["block"] or quoted["span"]).strip()
        for each in (f"({source})", source):  # f-strings below each other are one
            try:
                yield from (code for node in ast.parse(each).body if (code := statement(node, name)))
            except (SyntaxError, ValueError):
                continue
            break


def statement(node: ast.stmt, name: str) -> str:
    """What is of use in a quotation."""
    if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.ClassDef):
        return ast.unparse(node)
    value = node.value if isinstance(node, ast.Expr) else None
    if isinstance(value, ast.List | ast.Tuple) and all(isinstance(each, ast.Constant) for each in value.elts):
        return f"LIST_{name} = {ast.unparse(value)}"
    if isinstance(value, ast.JoinedStr):
        names = sorted({each.id for each in ast.walk(value) if isinstance(each, ast.Name)})
        prompt = f"prompt_{name}" if told(name) & set(SPLITS) else f"prompt_{name.partition('_')[0]}"
        return f"def {prompt}({', '.join(names)}):\n    return {ast.unparse(value)}"
    return ""
