"""The same run on Ray: the same verdicts, and nothing lost when a worker or the driver dies."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
from tests.runs.test_run import PROGRAM, scores, table, verdicts

ON_RAY = PROGRAM.replace('"run.sqlite", job)', '"run.sqlite", job, "ray")')
# A job of numbers: of them 7 kills its process, 8 becomes what can't be sent back, and a lock can't be sent there.
NUMBERS = """
import json, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background starts with it ignored
from onprompt.runs.engines.ray import Ray
from onprompt.errors import UserError
from onprompt.settings import Settings

class Numbers:
    def __init__(self, slots, bound_by):
        self.slots, self.bound_by = slots, bound_by
    def begin(self, cores=0):
        pass
    def stop(self):
        pass
    def __call__(self, task):
        if task == 7:
            os._exit(1)
        start = time.time()
        time.sleep(0.1 if task < 1000 else 60)
        return threading.Lock() if task == 8 else [task, os.getpid(), start, time.time()]
    def lost(self, task, why):
        return [task if isinstance(task, int) else -1, why]

class Elsewhere(Numbers):
    def __reduce__(self):
        return __import__, ("what_is_only_here",)

def told(tasks, slots=2, bound_by="cores", budget=None, kind=Numbers, patience=30):
    try:
        for made in Ray(Settings(budget=budget), patience).run(kind(slots, bound_by), tasks):
            print(json.dumps(made), flush=True)
    except UserError as error:
        print(json.dumps(str(error)), flush=True)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[subprocess.Popen[bytes]]:
    """A cluster of two cores, in a folder of its own whose name is short enough for sockets."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.delenv("RAY_ADDRESS", raising=False)
        ray = Path(sys.executable).with_name("ray")
        options = "--head --port=0 --num-cpus=2 --include-dashboard=false --disable-usage-stats --block"
        process = subprocess.Popen(
            [ray, "start", *options.split()], cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        try:
            wait_for(Path(folder, "ray", "ray_current_cluster").exists)
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_for(what: Callable[[], Any], seconds: float = 300) -> Any:
    """What there is, as soon as there is something."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def numbers(call: str) -> list[Any]:
    """What became of numbers on Ray, in a process of their own."""
    command = [sys.executable, "-W", "error", "-c", f"{NUMBERS}\ntold({call})"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def started(folder: Path) -> subprocess.Popen[bytes]:
    """A run on Ray in a process of its own."""
    return subprocess.Popen([sys.executable, "-c", ON_RAY, str(folder)])


def workers(process: subprocess.Popen[bytes]) -> list[int]:
    """The actors of a cluster."""
    below, found = [process.pid], []
    while below:
        listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(below.pop())], capture_output=True, text=True)
        children = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
        below += [int(pid) for pid, _ in children]
        found += [int(pid) for pid, name in children if name.startswith("ray::Worker")]
    return found


def whole(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_cluster_of_our_own_gives_the_verdicts_and_says_nothing(tmp_path: Path) -> None:
    table(tmp_path, 60)
    command = [sys.executable, "-W", "error", "-c", ON_RAY, str(tmp_path)]
    done = subprocess.run(command, env=os.environ | {"RAY_ADDRESS": "local"}, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert scores(tmp_path) == {str(index): index % 10 % 5 for index in range(60)}


def test_killed_at_any_moment_it_goes_on_where_it_was(cluster: subprocess.Popen[bytes], tmp_path: Path) -> None:
    chance, path, number = random.Random(0), tmp_path / "run.sqlite", 500
    table(tmp_path, number)
    process = started(tmp_path)
    for wanted, victim in zip(sorted(chance.sample(range(450), 4)), ["driver", "worker"] * 2, strict=True):
        wait_for(lambda: verdicts(path) > wanted)  # noqa: B023
        time.sleep(chance.uniform(0, 0.02))
        assert process.poll() is None, "it must be hit before its end"
        if victim == "worker":
            os.kill(chance.choice(wait_for(lambda: workers(cluster))), signal.SIGKILL)
        else:
            process.kill()
            process.wait()
            process = started(tmp_path)
        whole(path)
    assert process.wait(timeout=60) == 0
    whole(path)
    assert scores(tmp_path) == {str(index): index % 10 % 5 for index in range(number)}
    with closing(sqlite3.connect(path)) as base:
        assert base.execute("SELECT count(*) FROM errors").fetchone() == (0,)


@pytest.mark.parametrize("threads", ["", ", slots=6, bound_by='server'"])
def test_what_kills_its_worker_or_can_not_be_sent_costs_no_other(
    cluster: subprocess.Popen[bytes], threads: str
) -> None:
    made = numbers(f"[*range(20), threading.Lock()]{threads}")
    assert sorted(each[0] for each in made) == list(range(-1, 20))
    lost = {each[0]: each[1] for each in made if isinstance(each[1], str)}
    assert sorted(lost) == [-1, 7, 8]
    assert "its worker died 4 times" in lost[7]
    assert "pickle" in lost[-1]
    assert "pickle" in lost[8]


def test_all_actors_together_ask_a_server_no_more_than_they_may(cluster: subprocess.Popen[bytes]) -> None:
    made = numbers("range(100, 130), slots=3, bound_by='server'")
    assert len({process for _, process, *_ in made}) == 2
    assert 2 <= max(sum(start <= moment < end for _, _, start, end in made) for _, _, moment, _ in made) <= 3


def test_what_can_not_be_run(cluster: subprocess.Popen[bytes]) -> None:
    alone = "a budget is kept by one process: use the engine threads, or no budget"
    assert numbers("[100], slots=3, bound_by='server', budget=1.0") == [alone]
    missing = "no Ray actor: ModuleNotFoundError: No module named 'what_is_only_here'"
    assert numbers("[1, 2, 3], kind=Elsewhere") == [missing]


def test_cores_that_others_hold_are_not_waited_for_without_end(cluster: subprocess.Popen[bytes]) -> None:
    hold = (
        "import ray, time\n@ray.remote(num_cpus=2)\ndef other():\n    print('up', flush=True); time.sleep(99)\n"
        "ray.init(logging_level=50); ray.get(other.remote())"
    )
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        made = numbers("range(100, 110), patience=3")
        other.kill()
    assert made == ["no Ray actor: none started within 3 s; are its cores or GPUs in use?"]


def test_interrupted_it_ends_at_once(cluster: subprocess.Popen[bytes]) -> None:
    command = [sys.executable, "-c", f"{NUMBERS}\ntold([1, 2000, 2000, 2000])"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=10)[1]
    wait_for(lambda: not workers(cluster), 10)


def test_a_cluster_that_is_not_there(tmp_path: Path) -> None:
    table(tmp_path, 3)
    command = [sys.executable, "-m", "onprompt", "run", str(tmp_path / "data.csv"), "--out", str(tmp_path / "r.sqlite")]
    command += ["--engine", "ray", "--model", f"replay/{tmp_path / 'said.jsonl'}"]
    place = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    for wrong in ({"RAY_ADDRESS": "127.0.0.1:1"}, {"RAY_ADDRESS": "local", "RAY_TMPDIR": "/proc"}):
        result = subprocess.run(command, env=os.environ | place | wrong, capture_output=True, text=True, timeout=20)
        assert result.returncode == 2
        assert "Ray" in result.stderr
        assert "Traceback" not in result.stderr


def test_relative_paths_and_a_key_that_nobody_sees(
    cluster: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(tmp_path, 30, bad=["x,none.png,1 cats"])
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "onprompt", "run", "data.csv", "--out", "run.sqlite", "--engine", "ray"]
    place = {"ONPROMPT_ANSWERS": "answers.sqlite", "ONPROMPT_API_KEY": "sk-a-secret-of-ours"}
    result = subprocess.run([*command, "--model", "replay/said.jsonl"], env=os.environ | place, capture_output=True)
    assert result.stdout.startswith(b"30 verdicts, 1 error: run.sqlite"), result.stderr
    assert len(scores(tmp_path)) == 30
    logs = [path for path in Path(os.environ["RAY_TMPDIR"]).rglob("*") if path.is_file()]
    assert len(logs) > 10
    assert not [path for path in logs if b"a-secret-of-ours" in path.read_bytes()]
