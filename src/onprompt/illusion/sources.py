"""What is audited: a Python file, the code that a document quotes, or a file whose calls a TOML file names."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from onprompt.errors import UserError
from onprompt.illusion.cases import cases
from onprompt.illusion.finding import told
from onprompt.illusion.protocol import SPLITS

ORIGINAL = re.compile(r"original|原始|evaluator", re.IGNORECASE)  # what a document quotes of the original is left out
LABEL = re.compile(r"^#+\s+(.*)|^\**\s*\**([^`*：:]{1,60})\s*[：:]?\s*\**[：:]", re.MULTILINE)
NEEDED = 'needed: file = "my_module.py" and [calls] with lines such as scoring = "score(prediction, shape, scene)"'
QUOTED = re.compile(r"^(?P<fence>```+)\w*\n(?P<block>.*?)^(?P=fence)\s*$|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)


def code_of(path: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """The Python file to import, and the calls that a TOML file names."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"can't read {path}: {getattr(error, 'strerror', '') or error}") from None
    if path.suffix == ".toml":
        return named_calls(path, text)
    if path.suffix == ".py":
        return path.resolve(), {}
    source = "\n\n".join(quoted_code(text))
    if not source:
        raise UserError(f"{path} quotes no code to audit: name a .py or .toml file, or a document with code")
    quoted = folder / "quoted_code.py"
    quoted.write_text(source, encoding="utf-8")
    return quoted, {}


def named_calls(path: Path, text: str) -> tuple[Path, dict[str, str]]:
    """The file of a TOML file, and its calls."""
    try:
        said = tomllib.loads(text)
        file, calls = (path.parent / said.pop("file", "")).resolve(), said.pop("calls", {})
        if said or not file.is_file():
            raise ValueError(f"{', '.join(said)} is not known" if said else f"{file.name} is not there")
        for call in calls.values():
            compile(call, str(path), "eval")
    except (ValueError, TypeError, AttributeError, SyntaxError) as error:
        raise UserError(f"{path}: {error}\n{NEEDED}") from None
    slots = dict.fromkeys(case.slot for case in cases())
    for name in calls:  # a table, or a slot of it
        if not any(f"{slot}.".startswith(f"{name}.") for slot in slots):
            raise UserError(f"{path}: no table {name!r}; there are {', '.join(slots)}")
    return file, calls


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
