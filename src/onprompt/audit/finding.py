"""Where in a file a copy of a text may be: the file, Python's literals, strings of JSON and TOML, fenced blocks."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import UserError

LARGEST = 2**20  # bytes of a file
LEAST = 40  # characters of a string that may be a copy
FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
DOCUMENTS = (".md", ".markdown", ".rst", ".html", ".htm", ".tex")  # in which other words stand around a copy


class Place(NamedTuple):
    """A text in a file, and whether what stands around a copy in it is no part of it."""

    name: str
    line: int  # of the file on which it begins; 0 where its lines are not the file's
    text: str
    document: bool = False


def content(path: Path) -> str:
    """A file's text, if it is one."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise UserError(
            f"{path} has more than {LARGEST // 2**20} MiB, which is no prompt: cut out what is to be compared"
        )
    if b"\0" in data:
        raise UserError(f"{path} is no text: byte {data.index(0)} is 0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: byte {error.start} is {data[error.start]:#x}") from None
    if not text.strip():
        raise UserError(f"{path} is empty")
    return text


def places(path: Path) -> list[Place]:
    """All that may be a copy, the file itself last."""
    text, kind = content(path), path.suffix.lower()
    readers = {
        ".py": literals,
        ".ipynb": notebook,
        ".json": json_strings,
        ".jsonl": json_strings,
        ".toml": toml_strings,
    }
    found = list(readers[kind](text)) if kind in readers else []
    found += [
        Place(f"the block at line {line}", line, block[2].removesuffix("\n"))
        for block in FENCED.finditer(text)
        for line in [text.count("\n", 0, block.start(2)) + 1]
    ]
    found.append(Place("the file", 1, text, kind in DOCUMENTS))
    return [each for place in found if len(place.text) >= LEAST or place is found[-1] for each in readings(place)]


def readings(place: Place) -> Iterator[Place]:
    """A text as it stands, without its indentation, and with the braces that `str.format` leaves of doubled ones."""
    text = place.text.replace("\r\n", "\n")
    plain = text.replace("{{", "{").replace("}}", "}")
    for each in dict.fromkeys((place.text, text, textwrap.dedent(text), inspect.cleandoc(text), plain)):
        yield place._replace(text=each)


def literals(source: str) -> Iterator[Place]:
    """The strings of a Python file, with those that are joined to one by + taken as one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in their strings
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the file itself is still looked at
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and (words := folded(node)):
            lines = (node.end_lineno or node.lineno) - node.lineno
            yield Place(f"the string at line {node.lineno}", node.lineno * (lines == words.count("\n")), words)


def folded(node: ast.AST) -> str:
    """The text of an expression; what is put in later stands in braces. Empty where it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(folded(each) for each in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [folded(side) or f"{{{ast.unparse(side)}}}" for side in (node.left, node.right)]
        return "".join(sides)
    return ""


def json_strings(text: str) -> Iterator[Place]:
    """The strings of a JSON file, or of JSON lines."""
    try:
        values = [("a string", json.loads(text))]
    except (ValueError, RecursionError):
        values = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                values.append((f"a string in line {number}", json.loads(line)))
            except (ValueError, RecursionError):
                continue
    yield from (Place(name, 0, words) for name, value in values for words in strings(value))


def notebook(text: str) -> Iterator[Place]:
    """The strings in the cells of a notebook, and the cells themselves."""
    try:
        cells = json.loads(text)["cells"]
        sources = ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for number, source in enumerate(sources, 1):
        yield from (place._replace(name=f"a string in cell {number}", line=0) for place in literals(source))
        yield Place(f"cell {number}", 0, source, document=True)


def toml_strings(text: str) -> Iterator[Place]:
    """The strings of a TOML file."""
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    yield from (Place("a string", 0, words) for words in strings(value))


def strings(value: Any) -> Iterator[str]:
    """All strings within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
