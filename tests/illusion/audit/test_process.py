"""Whatever audited code does, the audit goes on and says what it did."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from onprompt.illusion.audit.process import AuditedCode, Reply

pytestmark = pytest.mark.slow

PYTHON = """
import os, sys, time, signal, subprocess, socket, shutil, threading

def echo(word): return word
def noisy(word):
    print("noise " * 1000); print('{"value": "forged"}'); sys.stderr.write("x" * 100_000); sys.stdout.flush()
    os.write(1, b'{"value": "forged"}\\n')
    return word
def listens(word): return sys.stdin.read()
def raises(word): raise ValueError("not\\nthis one")
def leaves(word): sys.exit(3)
def dies(word): os._exit(7)
def sometimes(word):
    if word == "bad": os._exit(1)
    return word
def hangs(word): time.sleep(60)
def much(word): return "x" * 10_000_000
def itself(word): a = []; a.append(a); return a
def environment(word): return os.environ.get(word)
def eats(word): return len(bytearray(5 * 2**30))
def fills(word): open("big", "wb").write(b"x" * 2**27)
def kills_us(word): os.kill(os.getppid(), signal.SIGKILL)
def starts(word): subprocess.Popen([sys.executable, "-c", "pass"])
def forks(word): os.fork()
def calls(word): socket.create_connection(("127.0.0.1", 9))
def writes(word): open(word, "w").write("mine")
def removes(word): os.remove(word)
def tree(word): shutil.rmtree(word)
def own(word): open("mine.txt", "w").write("fine"); return os.path.exists("mine.txt")
def scribbles(word):
    for number in range(3, 30):
        try: os.write(number, b"garbage\\n")
        except OSError: pass
    return word
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "theirs.py"
    path.write_text(PYTHON)
    return path


def called(file: Path, name: str, *words: str, limit: float = 20.0) -> list[Reply]:
    with AuditedCode(file, limit) as code:
        return code.call_all([(name, [word]) for word in words])


def test_what_they_print_is_no_reply(file: Path) -> None:
    assert called(file, "noisy", "a", "b") == [Reply("a"), Reply("b")]
    assert called(file, "listens", "a") == [Reply("")], "nor can they read our requests"


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("raises", "raises ValueError: not this one"),
        ("leaves", "raises SystemExit: 3"),
        ("dies", "ends its process (exit code 7)"),
        ("much", "returns a str of length 10,000,000"),
        ("itself", "returns a list of length 1"),
        ("nothing", "raises KeyError: 'nothing'"),
        ("scribbles", "writes to the audit's channel, so its reply can't be read"),
        ("kills_us", "raises PermissionError: the audit does not let code use os.kill"),
        ("starts", "raises PermissionError: the audit does not let code use subprocess.Popen"),
        ("forks", "raises PermissionError: the audit does not let code use os.fork"),
        ("calls", "raises PermissionError: the audit does not let code use socket.connect"),
    ],
)
def test_failures_are_reported(file: Path, function: str, error: str) -> None:
    (reply,) = called(file, function, "a")
    assert reply.error == error


def test_nothing_outside_of_its_own_folder_is_touched(file: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours" / "kept.txt"
    ours.parent.mkdir()
    ours.write_text("ours")
    for function, word, error in (
        ("writes", str(ours), f"write to {ours}"),
        ("removes", str(ours), "use os.remove"),
        ("tree", str(ours.parent), "use shutil.rmtree"),
    ):
        (reply,) = called(file, function, word)
        assert reply.error == f"raises PermissionError: the audit does not let code {error}"
    assert ours.read_text() == "ours"
    assert called(file, "own", "a") == [Reply(True)]
    assert not (tmp_path / "__pycache__").exists()


def test_one_that_hangs_is_stopped(file: Path) -> None:
    start = time.monotonic()
    (reply,) = called(file, "hangs", "a", limit=1)
    assert (reply.tried, reply.error) == (False, "was stopped after the 1 s of --limit")
    assert time.monotonic() - start < 10


def test_import_that_hangs_or_ends_is_reported(tmp_path: Path) -> None:
    for source, error in (
        ("import time; time.sleep(60)", "does not return"),
        ("import os; os._exit(5)", "exit code 5"),
    ):
        (tmp_path / "bad.py").write_text(source)
        with AuditedCode(tmp_path / "bad.py", 1.5) as code:
            assert error in code.error
            assert not code.call_all([("x", [])])[0].tried


def test_a_process_that_ends_costs_one_call(file: Path) -> None:
    bad = Reply(error="ends its process (exit code 1)")
    assert called(file, "sometimes", "a", "bad", "b", "bad", "c") == [Reply("a"), bad, Reply("b"), bad, Reply("c")]


def test_one_that_always_ends_is_given_up(file: Path) -> None:
    replies = called(file, "dies", *map(str, range(5000)))
    assert [reply.tried for reply in replies].count(True) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such limits")
def test_memory_and_files_are_limited(file: Path) -> None:
    assert called(file, "eats", "a") == [Reply(error="raises MemoryError")]
    (reply,) = called(file, "fills", "a")
    assert "OSError" in reply.error or "SIGXFSZ" in reply.error


def test_no_secrets(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert called(file, "environment", "OPENAI_API_KEY", "HOME") == [Reply(None), Reply(None)]


def test_texts_arrive_as_they_are(file: Path) -> None:
    words = ["", "ſ İ 東", "a\nb\u2028c\rd", '"\\', "\x00", "x" * 1000]
    assert called(file, "echo", *words) == [Reply(word) for word in words]
