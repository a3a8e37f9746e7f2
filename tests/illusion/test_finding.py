"""Whatever audited code does, the audit goes on and says what it did."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from onprompt.illusion.finding import Found, TheirCode

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


def called(file: Path, name: str, *words: str, limit: float = 20.0) -> list[Found]:
    with TheirCode(file, limit) as code:
        return code.call(name, [[word] for word in words])


def test_what_they_print_is_no_reply(file: Path) -> None:
    assert called(file, "noisy", "a", "b") == [Found("a"), Found("b")]
    assert called(file, "listens", "a") == [Found("")], "nor can they read our requests"


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("raises", "raises ValueError: not this one"),
        ("leaves", "raises SystemExit: 3"),
        ("dies", "ends its process"),
        ("much", "returns 10,000,013 characters"),
        ("itself", "raises ValueError: Circular reference detected"),
        ("nothing", "raises KeyError: 'nothing'"),
        ("scribbles", "writes to the audit's channel"),
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
    assert called(file, "own", "a") == [Found(True)]
    assert not (tmp_path / "__pycache__").exists()


def test_one_that_hangs_is_stopped(file: Path) -> None:
    start = time.monotonic()
    assert called(file, "hangs", "a", "b") == [Found(error="does not return within 5 s")] * 2
    assert called(file, "hangs", "a", limit=1) == [Found(error="was stopped after 1 s", tried=False)]
    assert time.monotonic() - start < 15, "it is not called again"


def test_import_that_hangs_or_ends_is_reported(tmp_path: Path) -> None:
    for source, error in (
        ("import time; time.sleep(60)", "was stopped after 1.5 s"),
        ("import os; os._exit(5)", "ends its process"),
    ):
        (tmp_path / "bad.py").write_text(source)
        with TheirCode(tmp_path / "bad.py", 1.5) as code:
            assert code.error == error
            assert not code.call("x", [[]])[0].tried


def test_after_a_process_has_ended_nothing_is_tried(file: Path) -> None:
    with TheirCode(file) as code:
        assert code.call("sometimes", [["a"]]) == [Found("a")]
        assert code.call("sometimes", [["bad"], ["b"]]) == [Found(error="ends its process", tried=False)] * 2
        assert not code.call("echo", [["a"]])[0].tried


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such limits")
def test_memory_and_files_are_limited(file: Path) -> None:
    assert called(file, "eats", "a") == [Found(error="raises MemoryError")]
    (reply,) = called(file, "fills", "a")
    assert "OSError" in reply.error or "SIGXFSZ" in reply.error


def test_no_secrets(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert called(file, "environment", "OPENAI_API_KEY", "HOME") == [Found(None), Found(None)]


def test_texts_arrive_as_they_are(file: Path) -> None:
    words = ["", "ſ İ 東", "a\nb\u2028c\rd", '"\\', "\x00", "x" * 1000]
    assert called(file, "echo", *words) == [Found(word) for word in words]
