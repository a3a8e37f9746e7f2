"""Where in a file a copy of a text may be: the file, texts of Python, strings of JSON, TOML, YAML, fenced blocks."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.audit.literals import Reader, texts

LARGEST = 2**20  # bytes of a file
LEAST = 40  # characters of a string that may be a copy
FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
SCALAR = re.compile(r"^( *)[^\n#]*[:-] +\|[+-]? *\n((?:\1 +[^\n]*\n| *\n)+)", re.MULTILINE)  # of YAML
QUOTED = re.compile(r"\s*(\"\"\"|'''|```|[\"'`])(.*)\1\s*", re.DOTALL)
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
        ".yaml": yaml_blocks,
        ".yml": yaml_blocks,
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
    """A text as it stands, without the quotation marks around it, its indentation, the doubled braces of templates."""
    text = place.text.replace("\r\n", "\n")
    bare = match[2] if (match := QUOTED.fullmatch(text)) else text
    plain = bare.replace("{{", "{").replace("}}", "}")
    for each in dict.fromkeys((place.text, text, bare, textwrap.dedent(bare), inspect.cleandoc(bare), plain)):
        yield place._replace(text=each)


def literals(source: str) -> Iterator[Place]:
    """The texts of a Python file."""
    reader = Reader()
    reader.read(source)
    for text in texts(reader):
        same = text.last - text.line == text.words.count("\n")  # else its lines are not the file's
        yield Place(f"the string at line {text.line}", text.line * same, text.words)


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
    """The texts that the cells of a notebook make together, and the cells that are no code."""
    try:
        cells = [("".join(cell["source"]), cell.get("cell_type")) for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    reader, cell_of = Reader(), dict[int, int]()
    for number, (source, kind) in enumerate(cells, 1):
        before = len(reader.found)
        reader.read(source)
        cell_of |= {id(each): number for each in reader.found[before:]}
        if kind in ("markdown", "raw"):
            yield Place(f"cell {number}", 0, source, document=True)
    yield from (Place(f"a string in cell {cell_of[id(each)]}", 0, each.words) for each in texts(reader))


def toml_strings(text: str) -> Iterator[Place]:
    """The strings of a TOML file."""
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    yield from (Place("a string", 0, words) for words in strings(value))


def yaml_blocks(text: str) -> Iterator[Place]:
    """The blocks of a YAML file that keep their lines, each without its indentation."""
    text = text.replace("\r\n", "\n") + "\n"
    for block in SCALAR.finditer(text):
        line = text.count("\n", 0, block.start(2)) + 1
        yield Place(f"the block at line {line}", line, textwrap.dedent(block[2]).rstrip("\n") + "\n")


def strings(value: Any) -> Iterator[str]:
    """All strings within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
