"""Whatever audited code does, it does nothing outside, and the audit says what it did."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onprompt.illusion.audit import LIMIT, audit
from onprompt.illusion.theirs import Found
from tests.illusion.copies import FAITHFUL

pytestmark = pytest.mark.slow

PYTHON = """
import asyncio, collections, os, sys, time, signal, subprocess, socket, shutil

def echo(word): return word
def raises(word): raise ValueError("not\\nthis one")
def leaves(word): sys.exit(3)
def hangs(word): time.sleep(60)
def eats(word): return len(bytearray(5 * 2**30))
def fills(word): open("big", "wb").write(b"x" * 2**27)
def kills_us(word): os.kill(os.getppid(), signal.SIGKILL)
def starts(word): subprocess.Popen([sys.executable, "-c", "pass"])
def forks(word): os.fork()
def calls(word): socket.create_connection(("127.0.0.1", 9))
def writes(word): open(word, "w").write("mine")
def removes(word): os.remove(word)
def tree(word): shutil.rmtree(os.path.dirname(word))
def own(word): open("mine.txt", "w").write("fine"); return os.path.exists("mine.txt")
async def waits(word): await asyncio.sleep(0); return word
def keyword(*, word): return word
def yields(word): yield word; yield collections.namedtuple("Pair", "one other")(1, {word})
"""
CALL = """
import json, sys
from pathlib import Path
from onprompt.illusion import theirs
theirs.bound()
functions = theirs.load(Path(sys.argv[1]))
print(json.dumps([functions[name].call([sys.argv[2]]) for name in sys.argv[3:]]))
"""


def called(folder: Path, *names: str, word: str = "a") -> list[Found]:
    """What the process of an audit makes of functions."""
    (folder / "theirs.py").write_text(PYTHON)
    (own := folder / "own").mkdir(exist_ok=True)
    command = [sys.executable, "-B", "-c", CALL, str(folder / "theirs.py"), word, *names]
    done = subprocess.run(command, cwd=own, capture_output=True, text=True, check=True, timeout=60)
    return [Found(*found) for found in json.loads(done.stdout)]


def test_values_arrive_as_they_are(tmp_path: Path) -> None:
    word = 'ſ İ 東\u2028c\rd"\\' + "x" * 1000
    found = called(tmp_path, "echo", "waits", "keyword", "yields", "own", word=word)
    assert found == [Found(word), Found(word), Found(word), Found([word, [1, [word]]]), Found(True)]


REFUSED = {
    "raises": "ValueError: not this one",
    "leaves": "SystemExit: 3",
    "kills_us": "PermissionError: the audit does not let code use os.kill",
    "starts": "PermissionError: the audit does not let code use subprocess.Popen",
    "forks": "PermissionError: the audit does not let code use os.fork",
    "calls": "PermissionError: the audit does not let code use socket.connect",
    "writes": "PermissionError: the audit does not let code write to ",
    "removes": "PermissionError: the audit does not let code use os.remove",
    "tree": "PermissionError: the audit does not let code use shutil.rmtree",
}


def test_failures_are_reported_and_nothing_outside_of_its_own_folder_is_touched(tmp_path: Path) -> None:
    ours = tmp_path / "ours" / "kept.txt"
    ours.parent.mkdir()
    ours.write_text("ours")
    expected = {name: f"raises {error}{ours if name == 'writes' else ''}" for name, error in REFUSED.items()}
    found = called(tmp_path, *REFUSED, word=str(ours))
    assert {name: each.error for name, each in zip(REFUSED, found, strict=True)} == expected
    assert ours.read_text() == "ours"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have no such limits")
def test_time_memory_and_files_are_limited(tmp_path: Path) -> None:
    start = time.monotonic()
    *hanging, memory, file = called(tmp_path, "hangs", "hangs", "hangs", "eats", "fills")
    assert hanging == [Found(error="does not return within 5 s")] * 3
    assert time.monotonic() - start < 14, "one that hangs is not called again"
    assert memory == Found(error="raises MemoryError")
    assert "OSError" in file.error or "SIGXFSZ" in file.error


@pytest.mark.parametrize(
    ("source", "limit", "error"),
    [
        ("raise ValueError('not here')", LIMIT, "can't be imported: ValueError: not here"),
        ("import os; os._exit(5)", LIMIT, "ends its process"),
        ("import os\nwhile True: os.write(1, b'forged\\n' * 1000)", 8.0, "was stopped after 8 s"),
    ],
)
def test_a_file_that_can_not_be_tried(tmp_path: Path, source: str, limit: float, error: str) -> None:
    (tmp_path / "bad.py").write_text(source)
    result = audit(tmp_path / "bad.py", limit)
    assert (result.error, result.aligned) == (error, False)


def test_what_it_prints_or_reads_and_what_our_environment_holds_stay_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    noise = 'import os, sys; print("noise"); os.write(1, b"{}"); assert not sys.stdin.read()\n'
    noise += 'assert not {"OPENAI_API_KEY", "HOME"} & set(os.environ)\n'
    (tmp_path / "noisy.py").write_text(noise + FAITHFUL)
    assert audit(tmp_path / "noisy.py").aligned
    assert not (tmp_path / "__pycache__").exists()
