"""Finds and calls what a re-implementation offers: by names of functions and parameters, and by trying them on cases."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, Self

from onprompt.illusion.cases import DATA, Case
from onprompt.illusion.protocol import QUESTIONS, SPLITS, spelling

CHILD = Path(__file__).with_name("child.py")
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")  # of the environment: no keys, no tokens, no home
LONGEST_REPLY = 2**20  # bytes
LIMIT = 60.0  # seconds in total
PROBES, TRIES = 16, 120  # cases that a function is tried on, and ways to pass arguments to it
SURE, ALIKE, NONE = (
    0.75,
    0.25,
    0.05,
)  # agreement that a name need not tell, of a question that no name tells, and too little
CLOSE = 0.0006  # of two recalls, one with three digits or a percentage with one
KINDS = {"shape": ["shape"], "scene": ["scene", "texture", "background"], "": ["rest", "none", "neither", "other"]}
TELLING = {"splits": {"split", "subset", "paper"}, "questions": {"question", "asked_part"}}  # words that tell which
NEEDED: Mapping[str, Sequence[set[str]]] = {  # one of each set, so that a function can do what a table compares
    "scoring": [{"prediction", "results", "doc"}, {"shape", "scene", "label", "doc"}],
    "labels": [{"path", "file"}],
    "totals": [{"hits", "outcomes", "predictions"}],
    "images": [{"image"}, {"width", "size"}],
}


class Use(NamedTuple):
    """A function, what it is given, and where in its result the answer stands."""

    function: str
    words: tuple[str, ...] = ()
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.words)}){''.join(f'[{key}]' for key in self.path)}"


class Found(NamedTuple):
    """What a call makes of a case; `tried` is False where nothing is known of it, and `error` says why."""

    value: Any = None
    error: str = ""
    tried: bool = True


# ---- calling ---------------------------------------------------------------------------------------------------------


class TheirCode:
    """A Python file in a process of its own, bounded in time. A context manager: on exit its process group is killed."""

    def __init__(self, file: Path, limit: float = LIMIT) -> None:
        self.file, self.limit = file, limit
        self.functions: dict[str, Any] = {}
        self.stubs: list[str] = []  # packages that are not installed
        self.error = ""  # why nothing can be called any more

    def __enter__(self) -> Self:
        """Start the process: no environment of ours, no compiled files beside theirs."""
        self.folder = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(CHILD), str(self.file), json.dumps(DATA["parameters"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=environment | {"PYTHONUTF8": "1", "TMPDIR": self.folder.name},
            start_new_session=True,
        )
        self.timer = threading.Timer(self.limit, self.stop, [f"was stopped after {self.limit:g} s"])
        self.timer.start()
        message = self.read_line()
        self.error = self.error or message.get("error", "")
        self.functions, self.stubs = message.get("value", {}), message.get("stubs", [])
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.stop("has ended")
        self.folder.cleanup()

    def stop(self, why: str) -> None:
        """Kill the process and its group."""
        self.error = self.error or why
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self.process.kill()
        self.process.wait()

    def read_line(self) -> dict[str, Any]:
        """The next line that the process writes; {} if it has ended or can't be understood."""
        assert self.process.stdout
        line = self.process.stdout.readline(LONGEST_REPLY)
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(line)
            if isinstance(message, dict):
                return message
        self.stop("writes to the audit's channel" if line else "ends its process")
        return {}

    def call(self, function: str, calls: Sequence[Sequence[Any]]) -> list[Found]:
        """What a function returns for each list of arguments."""
        assert self.process.stdin
        with contextlib.suppress(OSError):  # a broken pipe shows as a missing reply
            self.process.stdin.write((json.dumps([function, calls]) + "\n").encode())
            self.process.stdin.flush()
        found = []
        for _ in calls:
            message = {} if self.error else self.read_line()
            if package := message.get("missing"):
                name = DATA["install"].get(package, package)
                found.append(Found(error=f"needs {package}, which is not installed: pip install {name}", tried=False))
            else:
                found.append(Found(message.get("value"), self.error or message.get("error", ""), not self.error))
        return found


def arguments(words: Sequence[str], case: Case) -> list[Any]:
    """The values of what a function is given."""
    doc = {name: value for name, value in case.known.items() if isinstance(value, str | list)} if "doc" in words else {}
    return [doc if word == "doc" else case.known.get(word, word) for word in words]


def values(code: TheirCode, use: Use, cases: Sequence[Case]) -> list[Found]:
    """What one function makes of cases; where it never works, how it is called is not described."""
    replies = code.call(use.function, [arguments(use.words, case) for case in cases])
    found = [read(use, reply, case) for reply, case in zip(replies, cases, strict=True)]
    if all(each.error for each in found):
        return [Found(None, f"{use.function} {each.error}", tried=False) for each in found]
    return found


def read(use: Use, reply: Found, case: Case) -> Found:
    """What a reply says of a case."""
    value = reply.value
    with contextlib.suppress(KeyError, IndexError, TypeError):
        for key in use.path:
            value = value[key]
        if not reply.error and (meant := reading(value, case)) is not None:
            return Found(meant)
    return Found(None, reply.error or f"returns {repr(reply.value)[:60]}, which is not understood", reply.tried)


def reading(value: Any, case: Case) -> Any:
    """A value as the table of a case has it; None if it has another type."""
    table, _, question = case.slot.partition(".")
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    if table == "scoring" and isinstance(value, str):
        return value.lower() in KINDS[question] if value.lower() in sum(KINDS.values(), []) else None
    fits = {
        "questions": isinstance(value, str),
        "options": isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value),
        "scoring": isinstance(value, int | float) and value in (0, 1),
        "labels": isinstance(value, str) and len(value) <= 60,
        "totals": is_number,
        "images": isinstance(value, dict) and "sha256" in value,
    }
    if not fits[table]:
        return None
    return filled(value, case) if table == "questions" else bool(value) if table == "scoring" else value


def filled(text: str, case: Case) -> str:
    """A text whose placeholders, such as {shapes}, are filled in as the original joins options."""

    def fill(found: re.Match[str]) -> str:
        return next((case.known[word] for word in given_for(found[1], case) if word.endswith("_text")), found[0])

    return re.sub(r"\{(\w+)\}", fill, text)


def agree(wanted: Any, found: Any) -> bool:
    """Whether the original and a re-implementation make the same of a case."""
    if isinstance(wanted, float):
        return bool(abs(wanted - (found / 100 if found > 1 else found)) < CLOSE)
    return bool(wanted == found)


# ---- finding ---------------------------------------------------------------------------------------------------------


@cache
def tokens(name: str) -> frozenset[str]:
    """The words of a name, without plural endings."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return frozenset(w if w in ("class", "bus", "loss") else w.rstrip("s") or "s" for w in map(str.lower, words))


def has_words(name: str, words: str) -> bool:
    """Whether a name has one of some words."""
    return not tokens(name).isdisjoint(words.split())


@cache
def told(name: str) -> Mapping[str, set[str]]:
    """The splits and the questions that a name tells."""
    splits = {split for split in SPLITS if has_words(name, DATA["names"][split])}
    if not splits and "in" in re.findall("[a-z]+", name.lower())[-2:]:
        splits = {"sin"}
    questions = {question for question in QUESTIONS if has_words(name, DATA["names"][question])}
    return {"splits": {"old_sin"} if "old_sin" in splits else splits, "questions": questions}


def given_for(parameter: str, case: Case) -> list[str]:
    """What a parameter may be given, by its name; by a name that tells nothing, all that is usual."""
    lines = [given for words, given in DATA["parameters"].items() if has_words(parameter, words)]
    known = ([each for each in given if each in case.known] for given in lines or [DATA["parameters"][""]])
    return next(filter(None, known), [])


def ways(parameters: Sequence[tuple[str, bool]], table: str, case: Case) -> Iterator[tuple[str, ...]]:
    """The ways to call a function: a parameter with a default is left alone unless its name is known."""
    choices = []
    for name, has_default in parameters:
        if has_default and not any(has_words(name, words) for words in DATA["parameters"]):
            break
        choices.append(given_for(name, case))
    for given in islice(product(*choices), TRIES):
        fits = all(each & set(given) for each in NEEDED.get(table, ())) and not (table == "options" and given)
        if fits and len(set(given)) == len(given):
            yield given


def leaves(value: Any, case: Case, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where in a value something stands that may be the answer."""
    if reading(value, case) is not None:
        yield path
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, case, (*path, key))


def find(code: TheirCode, cases: Mapping[str, Sequence[Case]]) -> dict[str, Use]:
    """The best use for each slot: named for it, not called by another function, close to the original."""
    tables: dict[str, list[Case]] = {}
    for slot, own in cases.items():
        tables.setdefault(slot.partition(".")[0], []).extend(own[:: 1 + len(own) // PROBES])
    best: dict[str, tuple[tuple[Any, ...], Use]] = {}
    for (table, probes), (name, about) in product(tables.items(), code.functions.items()):
        tries = [tried(code, name, words, probes) for words in ways(about["parameters"], table, probes[0])]
        shares = {key: share for each in tries for key, share in each.items()}
        for (use, slot), share in (closest(shares) if table == "questions" else shares).items():
            rank = rank_of(use, slot, share, about["used"])
            if rank and (slot not in best or rank < best[slot][0]):
                best[slot] = rank, use
    return {slot: use for slot, (_, use) in best.items()}


def tried(code: TheirCode, name: str, words: tuple[str, ...], probes: Sequence[Case]) -> dict[tuple[Use, str], float]:
    """How close a function that is called in one way is to the original, by where in its result and by slot."""
    replies = list(zip(probes, code.call(name, [arguments(words, case) for case in probes]), strict=True))
    shares: dict[tuple[Use, str], float] = {}
    for path in {path for case, reply in replies for path in leaves(reply.value, case)}:
        use = Use(name, words, path)
        for case, reply in replies:
            found = read(use, reply, case)
            if not found.error:
                share = likeness(case.wanted, found.value) / sum(other.slot == case.slot for other in probes)
                shares[use, case.slot] = shares.get((use, case.slot), 0) + share
    return shares


def closest(shares: Mapping[tuple[Use, str], float]) -> dict[tuple[Use, str], float]:
    """The questions that a text answers: where no name tells which, only those that it is closest to."""

    def rivals(use: Use, slot: str) -> tuple[str, ...]:
        about = zip(TELLING, slot.split(".")[1:], strict=True)
        return tuple(name if any(tells(use, kind)) else "" for kind, name in about)

    top: dict[tuple[str, ...], float] = {}
    for (use, slot), share in shares.items():
        top[rivals(use, slot)] = max(share, top.get(rivals(use, slot), 0))
    return {(use, slot): share for (use, slot), share in shares.items() if share >= top[rivals(use, slot)]}


def tells(use: Use, kind: str) -> tuple[set[str], set[str], set[str]]:
    """The splits or questions that a function's name tells, what it is given for them, and those that the path tells."""
    return told(use.function)[kind], TELLING[kind] & set(use.words), told(str(use.path))[kind]


def rank_of(use: Use, slot: str, share: float, used: bool) -> tuple[Any, ...] | None:
    """How good a use is for a slot, the best first; None if it is none."""
    table, *about = slot.split(".")
    vague = 0
    for kind, names in (("splits", SPLITS), ("questions", QUESTIONS)):
        wanted = set(about) & set(names)
        name, words, path = tells(use, kind)
        if wanted and not words and any(each and not each & wanted for each in (name, path)):
            return None
        vague += 0 if name or words or not wanted else 1 if path else 2
    fits = share > 0.6 if table == "options" else has_words(use.function, DATA["functions"][table])
    if share < (SURE if not fits else ALIKE if table == "questions" and vague else 0.0):
        return None
    private = use.function.rpartition(".")[2].startswith("_")
    closeness = -share if table == "options" else -round(share, 1)
    return not fits, share < NONE, vague, used, private, closeness, len(tokens(use.function)), str(use)


def likeness(wanted: Any, found: Any) -> float:
    """How close a value is to the original's: texts by their words, lists by their options."""
    if isinstance(wanted, str):
        one, other = wanted.lower(), found.lower()
        return 1.0 if one == other else word_ratio(one, other) if " " in wanted and len(other.split()) > 1 else 0.0
    if isinstance(wanted, list):
        own, others = ({spelling(option) for option in options} for options in (wanted, found))
        return len(own & others) / len(own | others) + (wanted == found)
    return float(agree(wanted, found))


@cache
def word_ratio(one: str, other: str) -> float:
    """How alike two texts are, by their words."""
    return difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()
