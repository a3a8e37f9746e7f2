"""Is a copy of a judge's prompt the same as ours? A plain comparison of texts; no code is evaluated."""

import ast
import difflib
import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.types import Rubric

LARGEST = 2**20  # bytes of a file
SHORTEST = 40  # characters of a string that may be a copy
NO_COPY = 0.1  # of our word triples: a file that shares fewer holds no copy
ALIKE = 0.3  # of the word triples of both: another passage that may be what is sent
TEXTS = ("", ".txt", ".prompt", ".json", ".jsonl")  # what is compared there is all that there is
DOCUMENTS = (".md", ".markdown", ".rst", ".html", ".htm", ".tex", ".yaml", ".yml", ".toml")  # a copy may be embedded
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# A program appends the prompt, the instruction or the id to the judge's text.
PLACEHOLDER = r"(?:\{[^{}]*\}|%s|%\(\w+\)s|\$\{?\w+\}?|<[\w ]+>|\[[\w ]+\])"
LABEL = r"(?:(?:Input Prompt|User prompt|Edit Instruction|image_id):\s*)?"
TAIL = re.compile(rf"\s*{LABEL}[\"'“]?{PLACEHOLDER}[\"'”]?\s*|\s*")
QUOTES = re.compile(r"\A\s*[\"'`]+|[\"'`]+\s*\Z")


class State(StrEnum):
    """How a file relates to a rubric's text."""

    SAME = "same"
    WHITESPACE = "same up to whitespace"
    DIFFERS = "differs"
    NO_COPY = "no copy"


class Passage(NamedTuple):
    """A text in a file that may be a copy, and the line on which it starts."""

    name: str  # "" for the whole file
    line: int  # 1 where line breaks are escaped, so that its lines are not the file's
    text: str
    embedded: bool = False  # other text may surround the copy


class Difference(NamedTuple):
    """Lines that differ, whitespace aside, and the numbers of the first of them."""

    our_line: int
    line: int
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


class Comparison(NamedTuple):
    """A file compared with the version of a rubric's text that it is closest to."""

    rubric: str
    version: str
    state: State
    passage: Passage
    sha256: str
    their_sha256: str
    differences: tuple[Difference, ...]
    in_program: bool = False  # what a program sends is not seen
    others: tuple[str, ...] = ()  # where other texts of the file are like ours, but differ

    @property
    def settled(self) -> bool:
        """Whether the text is the same, and there is no other that might be sent in its place."""
        return self.state in (State.SAME, State.WHITESPACE) and not self.others


def compare(rubric: str, path: Path) -> Comparison:
    """Compare a file with a rubric's text, at the passage and in the version that are most alike."""
    module = plugins.load("rubrics", rubric)
    versions = {value.version: value.text for value in vars(module).values() if isinstance(value, Rubric)}
    triples = {version: word_triples(ours) for version, ours in versions.items()}
    candidates = []
    for passage in passages(path):
        theirs = word_triples(passage.text)
        for version, ours in versions.items():
            shared = len(triples[version] & theirs)
            likeness = shared / max(1, len(triples[version] | theirs))
            candidates.append((likeness, ours in passage.text, shared / len(triples[version]), version, passage))
    *_, shared_part, version, passage = max(candidates, key=lambda candidate: candidate[:2])
    ours = versions[version]
    state = state_of(ours, passage) if shared_part >= NO_COPY else State.NO_COPY
    differing = tuple(differences(ours, passage)) if state is State.DIFFERS else ()
    their_text = ours if state is State.SAME else passage.text
    in_program = path.suffix.lower() not in (*TEXTS, *DOCUMENTS)
    alike = [each for likeness, *_, each in candidates if likeness >= ALIKE and each.name != passage.name]
    others = tuple(dict.fromkeys(each.name for each in alike)) if in_program else ()
    return Comparison(rubric, version, state, passage, digest(ours), digest(their_text), differing, in_program, others)


def word_triples(text: str) -> set[tuple[str, str, str]]:
    """All runs of three words."""
    words = text.split()
    return set(zip(words, words[1:], words[2:], strict=False))


def state_of(ours: str, passage: Passage) -> State:
    """Same, same up to whitespace, or different."""
    squeezed = " ".join(ours.split()), " ".join(passage.text.split())
    for state, mine, theirs in ((State.SAME, ours, passage.text), (State.WHITESPACE, *squeezed)):
        before, match, after = theirs.partition(mine)
        if match and (passage.embedded or (not before.strip() and TAIL.fullmatch(after))):
            return state
    return State.DIFFERS


def differences(ours: str, passage: Passage) -> Iterator[Difference]:
    """The lines that differ, without blank lines and a placeholder at the end."""
    our_lines, their_lines = numbered(ours, 1), numbered(passage.text, passage.line)
    mine, theirs = [line for _, line in our_lines], [line for _, line in their_lines]
    blocks = [block for block in difflib.SequenceMatcher(None, mine, theirs).get_matching_blocks() if block.size]
    if passage.embedded and blocks:  # leave out what surrounds the copy
        span = slice(blocks[0].b, blocks[-1].b + blocks[-1].size)
        theirs, their_lines = theirs[span], their_lines[span]
    for kind, i, j, k, n in difflib.SequenceMatcher(None, mine, theirs).get_opcodes():
        placeholder = i == len(mine) and TAIL.fullmatch("\n".join(theirs[k:n]))
        if kind != "equal" and not placeholder:
            our_line, line = (lines[min(at, len(lines) - 1)][0] for lines, at in ((our_lines, i), (their_lines, k)))
            yield Difference(our_line, line, tuple(mine[i:j]), tuple(theirs[k:n]))


def numbered(text: str, first: int) -> list[tuple[int, str]]:
    """The lines that are not blank with their numbers, each with single spaces."""
    lines = [(number, " ".join(line.split())) for number, line in enumerate(text.split("\n"), first)]
    return [(number, line) for number, line in lines if line] or [(first, "")]


def digest(text: str) -> str:
    """The sha256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---- passages of a file ----------------------------------------------------------------------------------------------


def read_text(path: Path) -> str:
    """The content of a text file."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UserError(f"can't read {path}: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise UserError(f"{path} is larger than {LARGEST // 2**20} MiB: copy the prompt into a file of its own")
    if b"\0" in data:
        raise UserError(f"{path} is not a text file: byte {data.index(0)} is 0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: byte {error.start} is {data[error.start]:#x}") from None
    if not text.strip():
        raise UserError(f"{path} is empty")
    return text.replace("\r\n", "\n")


def passages(path: Path) -> Iterator[Passage]:
    """The strings of a Python, JSON or TOML file, and the whole file; each also without the braces of a template."""
    text, suffix = read_text(path), path.suffix.lower()
    readers = {".py": python_strings, ".json": quoted_strings, ".jsonl": quoted_strings, ".toml": quoted_strings}
    strings = readers[suffix](text) if suffix in readers else ()
    candidates = [passage for passage in strings if len(passage.text) >= SHORTEST]
    if suffix != ".py" or not candidates:
        candidates.append(Passage("", 1, QUOTES.sub("", text), suffix in DOCUMENTS))
    for passage in candidates:
        yield passage
        if "{{" in passage.text:
            yield passage._replace(text=passage.text.replace("{{", "{").replace("}}", "}"))


def python_strings(source: str) -> Iterator[Passage]:
    """The string literals of Python source; what an f-string inserts becomes a placeholder."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in their strings
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    parts: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                parts |= {id(value) for value in values}
                text = "".join(str(value.value) if isinstance(value, ast.Constant) else "{…}" for value in values)
            case ast.Constant(value=str(text)) if id(node) not in parts:
                pass
            case _:
                continue
        same_lines = (node.end_lineno or 0) - node.lineno == text.count("\n")
        yield Passage(f"string on line {node.lineno}", node.lineno if same_lines else 1, text)


def quoted_strings(text: str) -> Iterator[Passage]:
    """The strings in double quotes that are valid JSON."""
    for match in QUOTED.finditer(text):
        try:
            yield Passage(f"string on line {text.count(chr(10), 0, match.start()) + 1}", 1, json.loads(match[0]))
        except ValueError:
            continue


# ---- output ----------------------------------------------------------------------------------------------------------


def lines(path: Path, comparison: Comparison, most: int = 40) -> Iterator[str]:
    """The comparison for the terminal, with a short unified diff."""
    where = f"{path}, {comparison.passage.name}" if comparison.passage.name else str(path)
    rubric = f"{comparison.rubric} {comparison.version}"
    if comparison.state is State.NO_COPY:
        yield f"{path}: contains no copy of {rubric}"
        return
    if comparison.state is State.DIFFERS:
        yield f"{where}: differs from {rubric}"
    elif comparison.in_program:
        yield f"{where}: the official text of {rubric} is in this file{comparison.state.removeprefix('same')}"
        yield "whether it is what is sent could not be seen: compare the text that your program sends, in a .txt file"
    else:
        yield f"{where}: same as {rubric}{comparison.state.removeprefix('same')}"
    if comparison.others:
        yield f"also like it: {', '.join(comparison.others)}"
    yield f"ours   sha256 {comparison.sha256}"
    yield f"theirs sha256 {comparison.their_sha256}"
    if comparison.state is State.WHITESPACE:
        yield "the words are the same, but the model reads other bytes"
    if comparison.state is State.DIFFERS:
        diff = [f"--- {rubric}", f"+++ {path}", *(line for part in comparison.differences for line in hunk(part))]
        yield from map(visible, diff[:most])
        if len(diff) > most:
            yield f"… {len(diff) - most:,} more lines: --json lists all"


def hunk(difference: Difference) -> Iterator[str]:
    """A difference as a hunk of a unified diff."""
    ours, theirs = difference.ours, difference.theirs
    yield f"@@ -{difference.our_line},{len(ours)} +{difference.line},{len(theirs)} @@"
    yield from (f"-{line}" for line in ours)
    yield from (f"+{line}" for line in theirs)


def visible(line: str) -> str:
    r"""A line with its invisible characters escaped: \xa0, \u200b."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in line)


def document(path: Path, comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON."""
    return {
        "format": "onprompt.audit/3",
        "file": str(path),
        "rubric": comparison.rubric,
        "version": comparison.version,
        "state": comparison.state.value,
        "place": comparison.passage.name or "the file",
        "line": comparison.passage.line,
        "sha256": comparison.sha256,
        "their_sha256": comparison.their_sha256,
        "sent": "not seen" if comparison.in_program else "the file",
        "others": list(comparison.others),
        "differences": [difference._asdict() for difference in comparison.differences],
    }
