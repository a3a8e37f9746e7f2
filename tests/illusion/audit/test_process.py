"""Whatever a described function does, the audit goes on and says what it did."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onprompt.illusion.audit.process import IsolatedFunction, Reply

PYTHON = """
import os, sys, time, subprocess

def echo(word): return word
def noisy(word):
    print("noise " * 1000); print('{"value": "forged"}'); sys.stderr.write("x" * 100_000); sys.stdout.flush()
    os.write(1, b'{"value": "forged"}\\n')
    return word
def listens(word): return sys.stdin.read()
def raises(word): raise ValueError("not\\nthis one")
def leaves(word): sys.exit(3)
def dies(word): os._exit(7)
def moody(word):
    if word.startswith("bad"): os._exit(7)
    return word
def counts(word, asked=[]): asked.append(word); return len(asked)
def aborts(word): os.abort()
def hangs(word): time.sleep(60)
def returns_set(word): return {word}
def returns_much(word): return "x" * 10_000_000
def returns_self(word): a = []; a.append(a); return a
def returns_nan(word): return float("nan")
def environment(word): return os.environ.get(word)
def arguments(word): return list(sys.argv[1:])
def starts(word):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid
def sometimes(word):
    if word == "bad": os._exit(1)
    return word
def removes(word):
    import shutil; shutil.rmtree(os.getcwd())
    return word
def eats(word): return len(bytearray(5 * 2**30))
def lingers(word):
    if word == "bad": time.sleep(60)
    return word
def scribbles(word):
    for number in range(3, 30):
        try: os.write(number, b"garbage\\n")
        except OSError: pass
    return word
not_a_function = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "theirs.py").write_text(PYTHON)
    (tmp_path / "broken.py").write_text("import nothing_that_is_there")
    (tmp_path / "slow.py").write_text("import time; time.sleep(60)")
    (tmp_path / "gone.py").write_text("import os; os._exit(5)")
    return tmp_path


def called(folder: Path, name: str, *words: str, limit: float = 20.0) -> list[Reply]:
    with IsolatedFunction(name, folder, limit=limit) as function:
        return function.call_all([[word] for word in words])


def test_what_they_print_is_no_reply(folder: Path) -> None:
    assert called(folder, "theirs:noisy", "a", "b") == [Reply("a"), Reply("b")]
    assert called(folder, "theirs:listens", "a") == [Reply("")], "nor can they read our requests"


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("theirs:raises", "raises ValueError: not this one"),
        ("theirs:leaves", "raises SystemExit: 3"),
        ("theirs:dies", "ends its process (exit code 7)"),
        ("theirs:aborts", "ends its process (SIGABRT)"),
        ("theirs:returns_set", "returns a set of length 1, which is not a score or label"),
        ("theirs:returns_much", "returns a str of length 10,000,000, which is not a score or label"),
        ("theirs:returns_self", "returns a list of length 1, which is not a score or label"),
        ("theirs:nothing", "can't be imported: AttributeError: module 'theirs' has no attribute 'nothing'"),
        ("theirs:not_a_function", "can't be imported: TypeError: not_a_function is a int, not a function"),
        ("broken:any", "can't be imported: ModuleNotFoundError: No module named 'nothing_that_is_there'"),
        ("missing:any", "can't be imported: ModuleNotFoundError: No module named 'missing'"),
        ("gone:any", "ends its process (exit code 5) during import"),
        ("theirs:scribbles", "writes to the audit's channel, so its reply can't be read"),
    ],
)
def test_failures_are_reported(folder: Path, function: str, error: str) -> None:
    assert called(folder, function, "a") == [Reply(error=error)]


def test_one_that_hangs_is_stopped(folder: Path) -> None:
    start = time.monotonic()
    over = Reply(error="was stopped after the 1 s of --limit", tried=False)
    assert called(folder, "theirs:hangs", "a", limit=1) == [over]
    assert called(folder, "slow:any", "a", limit=1) == [over]
    assert time.monotonic() - start < 10


def test_one_call_that_hangs_costs_no_other(folder: Path) -> None:
    with IsolatedFunction("theirs:lingers", folder) as function:
        function.patience = 0.5
        hung, well = function.call_all([["bad"], ["a"]])
        assert hung.error == "does not return within 0.5 s"
        assert well == Reply("a")


def test_a_process_that_ends_costs_one_call(folder: Path) -> None:
    replies = called(folder, "theirs:sometimes", "a", "bad", "b", "bad", "c")
    bad = Reply(error="ends its process (exit code 1)")
    assert replies == [Reply("a"), bad, Reply("b"), bad, Reply("c")], "the same call is not tried twice"


def test_one_that_always_ends_is_given_up(folder: Path) -> None:
    start = time.monotonic()
    replies = called(folder, "theirs:dies", *map(str, range(5000)))
    assert set(replies) == {Reply(error="ends its process (exit code 7)")}
    assert time.monotonic() - start < 10


def test_one_that_ends_at_times_is_given_up_for_that_sort_alone(folder: Path) -> None:
    with IsolatedFunction("theirs:moody", folder) as function:
        assert function.call_all([["a"]]) == [Reply("a")]
        replies = function.call_all([[f"bad {number}"] for number in range(50)])
        assert [reply.tried for reply in replies] == [True] * 4 + [False] * 46
        assert function.call_all([["b"], ["bad 0"]]) == [Reply("b"), replies[0]]


def test_calls_can_be_made_again(folder: Path) -> None:
    with IsolatedFunction("theirs:counts", folder) as function:
        assert function.call_all([["a"], ["a"], ["b"]]) == [Reply(1), Reply(1), Reply(2)]
        assert function.call_all([["a"]], again=True) == [Reply(3)]
        assert function.call_all([["a"]]) == [Reply(1)]


def test_it_may_remove_its_folder(folder: Path) -> None:
    with IsolatedFunction("theirs:removes", folder) as function:
        first, second = function.call_all([["a"], ["b"]])
        assert first == Reply("a")
        assert "FileNotFoundError" in second.error
        function.stop()
        assert function.call_all([["c"]]) == [Reply("c")], "a new process has a new one"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such limit")
def test_memory_is_limited(folder: Path) -> None:
    assert called(folder, "theirs:eats", "a") == [Reply(error="raises MemoryError")]


def test_no_secrets_and_nothing_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert called(folder, "theirs:environment", "OPENAI_API_KEY", "HOME") == [Reply(None), Reply(None)]
    assert called(folder, "theirs:arguments", "a") == [Reply([])]
    assert not (folder / "__pycache__").exists()


def test_what_it_started_ends_with_it(folder: Path) -> None:
    (reply,) = called(folder, "theirs:starts", "a")
    for _ in range(50):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(reply.value)], capture_output=True, text=True).stdout
        if not state.strip() or state.startswith("Z"):
            break
        time.sleep(0.1)
    else:
        os.kill(reply.value, 9)
        pytest.fail("it lives on")


def test_texts_arrive_as_they_are(folder: Path) -> None:
    words = ["", "ſ İ 東", "a\nb\u2028c\rd", '"\\', "\x00", "x" * 1000]
    assert called(folder, "theirs:echo", *words) == [Reply(word) for word in words]
