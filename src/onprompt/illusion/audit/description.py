"""What is audited: a Python file, a document that quotes code, or a TOML file that says how functions are called."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from onprompt.errors import UserError
from onprompt.illusion.audit.cases import Trial
from onprompt.illusion.audit.finding import ROLES, Target, Use, call, named_splits
from onprompt.illusion.protocol import QUESTIONS, SPLITS

LARGEST = 2**20  # characters
CALL = re.compile(r"\s*([\w.]+)\s*\(([^()]*)\)\s*")
THEIRS = re.compile(r"original|原始|evaluator", re.IGNORECASE)  # what a document quotes of the original is left out
LABEL = re.compile(r"^#+\s+(.*)|^\**\s*\**([^`*：:]{1,60})\s*[：:]?\s*\**[：:]", re.MULTILINE)
QUOTED = re.compile(r"^(?P<fence>```+)\w*\n(?P<block>.*?)^(?P=fence)\s*$|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)
Calls = str | dict[str, str] | dict[str, dict[str, str]]


class Description(BaseModel):
    """The TOML file; other keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = ""
    file: str = ""  # with the code, relative to the description
    questions: dict[str, dict[str, Annotated[str, Field(max_length=20_000)]]] = {}
    options: dict[str, list[str]] = {}
    calls: dict[str, Calls] = {}


def read(path: Path) -> str:
    """The text of a file."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error.reason}") from None
    if len(text) > LARGEST:
        raise UserError(f"{path} is larger than {LARGEST:,} characters")
    return text


def code_of(path: Path, folder: Path) -> tuple[Path, Description]:
    """The Python file to import, and what a description says besides."""
    if path.suffix == ".toml":
        described = load(path)
        if described.file:
            return (path.parent / described.file).resolve(), described
        source = ""
    else:
        described, text = Description(), read(path)
        if path.suffix == ".py":
            return path.resolve(), described
        source = "\n\n".join(quoted_code(text))
        if not source:
            raise UserError(f"{path} quotes no code to audit: name a .py or .toml file, or a document with code")
    quoted = folder / "quoted_code.py"
    quoted.write_text(source, encoding="utf-8")
    return quoted, described


def load(path: Path) -> Description:
    """A description."""
    try:
        described = Description.model_validate(tomllib.loads(read(path)))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']}; known are {', '.join(Description.model_fields)}") from None
    if described.file and not (path.parent / described.file).is_file():
        raise UserError(f"{path}: file = {described.file!r} is not there")
    return described


def merged(found: Target, said: Description) -> Target:
    """What was found, and what a description says instead."""
    uses = dict(found.uses)
    for role, calls in said.calls.items():
        check(role, ROLES, "call")
        for name, given in (calls if isinstance(calls, dict) else {"": calls}).items():
            inner = given if isinstance(given, dict) else {"": given} if name in SPLITS or not name else {name: given}
            splits = [check(name, SPLITS, "split")] if isinstance(given, dict) or name in SPLITS else list(SPLITS)
            for kind, text in inner.items():
                asked = [check(kind, QUESTIONS, "question")] if kind else QUESTIONS
                uses |= {(role, split, question): use(text) for split in splits for question in asked}
    for split, texts in said.questions.items():
        for question, text in texts.items():
            key = ("question", check(split, SPLITS, "split"), check(question, QUESTIONS, "question"))
            uses[key] = Use("text", (), text)
    return Target(uses, {**found.options, **said.options}, found.others)


def use(text: str) -> Use:
    """A call."""
    match = CALL.fullmatch(text)
    if not match:
        raise UserError(f"{text!r} is not a call such as score(prediction, shape, scene)")
    return Use(match[1], tuple(word.strip() for word in match[2].split(",") if word.strip()))


def check(name: str, known: Any, kind: str) -> str:
    """A name that is known."""
    if name not in known:
        raise UserError(f"no {kind} {name!r}; there are {', '.join(known)}")
    return name


# ---- documents -------------------------------------------------------------------------------------------------------


def quoted_code(text: str) -> Iterator[str]:
    """What a document quotes of a re-implementation, as Python: functions, lists, and f-strings as functions."""
    labels = [(match.start(), match[0]) for match in LABEL.finditer(text)]
    headings = [(start, label) for start, label in labels if label.startswith("#")]
    for number, quoted in enumerate(QUOTED.finditer(text)):
        before = [label for start, label in labels if start <= quoted.start()]
        heading = next((label for start, label in reversed(headings) if start <= quoted.start()), "")
        if before and THEIRS.search(before[-1]):
            continue
        source = (quoted["block"] or quoted["span"]).strip()
        for each in (f"({source})", source):  # f-strings below each other are one
            try:
                tree = ast.parse(each)
            except (SyntaxError, ValueError):
                continue
            yield from statements(tree, heading, number)
            break


def statements(tree: ast.Module, heading: str, number: int) -> Iterator[str]:
    """What is of use in a quotation."""
    words = "_".join(re.findall(r"[A-Za-z]+", heading))
    for node in tree.body:
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.ClassDef):
            yield ast.unparse(node)
        elif isinstance(value, ast.List | ast.Tuple) and len(value.elts) > 1:
            if all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in value.elts):
                yield f"LIST_{number}_{words} = {ast.unparse(value)}"
        elif isinstance(value, ast.JoinedStr):
            names = sorted({each.id for each in ast.walk(value) if isinstance(each, ast.Name)})
            kind = f"_{words}" if named_splits(words) else ""
            yield f"def prompt_{number}{kind}({', '.join(names)}):\n    return {ast.unparse(value)}"


def check_words(target: Target, trials: Mapping[str, Sequence[Trial]]) -> None:
    """Refuse arguments that are not known, before anything runs."""
    for (role, *_), each in target.uses.items():
        call(each, trials[role][0])
