"""The public surface, and what it costs to reach it."""

import os
import subprocess
import sys

import pytest

import onprompt

HEAVY = ("numpy", "cv2", "openvino", "onnxruntime", "rapidocr", "torch", "PIL", "pydantic", "scipy", "httpx2")


def test_the_public_names_are_these() -> None:
    assert sorted(onprompt.__all__) == [
        *("Check", "Edit", "OnpromptError", "Outcome", "Scene", "Settings", "Sighting", "UnreadableAnswer", "Verdict"),
        *("best", "best_edit", "edit", "judge_many", "load_run", "match", "parse", "parse_edit", "rate", "see"),
        *("see_many", "sentence", "verify"),
    ]
    assert all(getattr(onprompt, name) for name in onprompt.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'verfy'"):
        _ = onprompt.verfy


def imported_by(*command: str) -> set[str]:
    """The top-level modules that a command imports, told by a fresh interpreter."""
    run = subprocess.run([sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True)
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in run.stderr.splitlines() if "|" in line}


def best_seconds(*command: str) -> float:
    """Processor time of the best of some runs: a busy machine adds waiting, which is not ours."""
    times = []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times)


@pytest.mark.parametrize("command", [("-c", "import onprompt"), ("-m", "onprompt", "--help")])
def test_starting_imports_no_model_and_no_library_of_weight(command: tuple[str, ...]) -> None:
    modules = imported_by(*command)
    assert "onprompt" in modules
    assert not modules & set(HEAVY)


@pytest.mark.slow
def test_the_import_and_help_take_a_moment() -> None:
    assert best_seconds("-c", "import onprompt") < 0.25  # .15 on an idle machine
    assert best_seconds("-m", "onprompt", "--help") < 0.45  # .3 on an idle machine
