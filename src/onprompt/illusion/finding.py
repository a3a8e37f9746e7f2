"""Finds and calls what a re-implementation offers, by the names of functions and parameters and by trying them."""

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
NEAR = 0.9  # likeness of a question whose split the sample tells
LISTS_ALIKE = 0.6  # share of options that two lists have in common
LONGEST_LABEL = 60  # characters
ASPECTS = ((SPLITS, {"split", "subset", "paper"}), (QUESTIONS, {"question", "asked_part"}))  # and what tells a function


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
    """A Python file in a process of its own, bounded in time, whose group is killed on exit; a context manager."""

    def __init__(self, file: Path, limit: float = LIMIT) -> None:
        """Start the process: no environment of ours, no compiled files beside theirs."""
        self.error = ""  # why nothing can be called any more
        self.failed: dict[str, str] = {}  # why a function could not be called in the last way that was tried
        self.folder = tempfile.TemporaryDirectory(prefix="onprompt-audit-", ignore_cleanup_errors=True)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(CHILD), str(file), json.dumps(DATA["parameters"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=environment | {"PYTHONUTF8": "1", "TMPDIR": self.folder.name},
            start_new_session=True,
        )
        self.timer = threading.Timer(limit, self.stop, [f"was stopped after {limit:g} s"])
        self.timer.start()
        message = self.read_line()
        self.error = self.error or message.get("error", "")
        self.functions: dict[str, Any] = message.get("value", {})
        self.stubs: list[str] = message.get("stubs", [])  # packages that are not installed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.stop("has ended")
        self.process.communicate()  # closes the pipes
        self.folder.cleanup()

    def stop(self, why: str) -> None:
        """Kill the process and its group."""
        self.error = self.error or why
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self.process.kill()
        self.process.wait()

    def read_line(self) -> dict[str, Any]:
        """The next line that the process writes; {} if it has ended or can't be understood."""
        line = self.process.stdout.readline(LONGEST_REPLY) if self.process.stdout and not self.error else b""
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError, RecursionError):
            self.stop("writes to the audit's channel" if line else "ends its process")
            return {}

    def call(self, function: str, calls: Sequence[Sequence[Any]]) -> list[Found]:
        """What a function returns for each list of arguments."""
        with contextlib.suppress(OSError):  # a broken pipe shows as a missing reply
            if self.process.stdin:
                self.process.stdin.write(f"{json.dumps([function, calls])}\n".encode())
                self.process.stdin.flush()
        found = []
        for message in (self.read_line() for _ in calls):
            why = self.error
            if package := message.get("missing"):
                why = f"needs {package}, which is not installed: pip install {DATA['install'].get(package, package)}"
            found.append(Found(message.get("value"), why or message.get("error", ""), tried=not why))
        if found and all(each.error for each in found):
            self.failed[function] = found[0].error
        return found

    def why_not(self, table: str, used: Iterable[Use]) -> str:
        """Why nothing was found that does what a table compares."""
        words, works = DATA["functions"].get(table, ""), {use.function for use in used}
        failed = [f"{name} {why}" for name, why in self.failed.items() if name not in works and has_words(name, words)]
        return self.error or "; ".join(failed[:1]) or "nothing found that does this"


def arguments(words: Sequence[str], case: Case) -> list[Any]:
    """The values of what a function is given; `doc_paper` is a sample whose split has the paper's name."""

    def value(word: str) -> Any:
        if word.partition("_")[0] != "doc":
            return case.known.get(word, word)
        doc = {name: each for name, each in case.known.items() if isinstance(each, str | list)}
        split = doc[word.partition("_")[2] or "split"]
        return {name: each for name, each in doc.items() if name not in ("subset", "paper")} | {"split": split}

    return [value(word) for word in words]


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
        if not reply.error and value is None and case.slot.startswith("scoring"):
            return Found(False)  # as where it has said nothing of a shape or scene
    return Found(None, reply.error or f"returns {repr(reply.value)[:60]}, which is not understood", reply.tried)


def reading(value: Any, case: Case) -> Any:
    """A value as the table of a case has it; None if it has another type."""
    table, _, question = case.slot.partition(".")
    if table == "questions" and isinstance(value, str):
        text = re.sub(r"\{(\w+)\}", lambda found: filled(found, case), value)
        return None if re.search(r"\{\w*\}", text) else text
    if table == "scoring" and isinstance(value, str):
        known = [kind for kind, names in DATA["outcomes"].items() if value.lower() in names]
        return question in known if known else None
    if table == "scoring":
        return bool(value) if isinstance(value, int | float) and value in (0, 1, 100) else None
    fits = {
        "options": isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value),
        "labels": isinstance(value, str) and len(value) <= LONGEST_LABEL,
        "totals": isinstance(value, int | float) and not isinstance(value, bool) and value == value,
        "images": isinstance(value, dict) and "sha256" in value,
    }
    return value if fits.get(table) else None


def filled(found: re.Match[str], case: Case) -> str:
    """What a placeholder such as {shapes} stands for, as the original joins options."""
    return next((case.known[word] for word in given_for(found[1], case) if word.endswith("_text")), found[0])


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
def told(name: str) -> frozenset[str]:
    """The splits and the questions that a name tells."""
    found = {what for what, words in DATA["names"].items() if has_words(name, words)}
    if not found & set(SPLITS) and "in" in re.findall("[a-z]+", name.lower())[-2:]:
        found.add("sin")
    return frozenset(found - {"sin"} if "old_sin" in found else found)


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
        fits = all(set(words.split()) & set(given) for words in DATA["needed"].get(table, ()))
        if fits and len(set(given)) == len(given) and not (table == "options" and given):
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
        for (use, slot), share in (closest(shares) if table in ("questions", "labels") else shares).items():
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
    """The questions that texts are, or the labels: where no name tells which, only what they are closest to."""

    def rivals(use: Use, slot: str) -> tuple[Any, ...]:
        about = slot.split(".")[1:]  # split and question, or the latter alone
        aspects = zip(about, ASPECTS[-len(about) :], strict=True)
        return use.path, *(name if any(tells(use, *aspect)) else "" for name, aspect in aspects)

    top: dict[tuple[Any, ...], float] = {}
    for (use, slot), share in shares.items():
        top[rivals(use, slot)] = max(share, top.get(rivals(use, slot), 0))
    return {
        (use, slot): share
        for (use, slot), share in shares.items()
        if share >= (min(NEAR, top[rivals(use, slot)]) if "doc" in "".join(use.words) else top[rivals(use, slot)])
    }


def tells(use: Use, names: Iterable[str], words: set[str]) -> tuple[set[str], set[str], set[str]]:
    """The splits or questions that a function's name tells, what it is given for them, and what the path tells."""
    return set(names) & told(use.function), words & set(use.words), set(names) & told(str(use.path))


def rank_of(use: Use, slot: str, share: float, used: bool) -> tuple[Any, ...] | None:
    """How good a use is for a slot, the best first; None if it is none."""
    table, *about = slot.split(".")
    vague = 0
    for names, words in ASPECTS:
        by_name, given, by_path = tells(use, names, words)
        if wanted := set(about) & set(names):
            if not given and any(each and not each & wanted for each in (by_name, by_path)):
                return None
            vague += 0 if by_name or given else 1 if by_path else 2
    fits = share > LISTS_ALIKE if table == "options" else has_words(use.function, DATA["functions"][table])
    if share < (SURE if not fits else ALIKE if table == "questions" and vague else 0.0):
        return None
    private = use.function.rpartition(".")[2].startswith("_")
    closeness = -share if table == "options" else -round(share, 1)
    name = (len(tokens(use.function)), use.function)
    return share < NONE, not fits, vague, used, private, closeness, name, -share, str(use.path)


@cache
def word_ratio(one: str, other: str) -> float:
    """How alike two texts are, by their words."""
    return difflib.SequenceMatcher(None, one.split(), other.split(), autojunk=False).ratio()


def likeness(wanted: Any, found: Any) -> float:
    """How close a value is to the original's: texts by their words, lists by their options."""
    if isinstance(wanted, str):
        return 1.0 if wanted == found else word_ratio(wanted.lower(), found.lower())
    if isinstance(wanted, list):
        own, others = ({spelling(option) for option in options} for options in (wanted, found))
        return len(own & others) / len(own | others) + float(wanted == found)
    return float(agree(wanted, found))
