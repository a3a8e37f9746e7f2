"""Many judges in one process, whole, failed, stopped and interrupted: the next one judges, and no file stays open."""

from __future__ import annotations

import gc
from contextlib import suppress
from pathlib import Path

import pytest

from onprompt.api import judges
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs import datasets
from onprompt.runs.run import JudgeJob, run
from tests.judges.claim_server import PIXELS, Serve, words_of
from tests.models.backends.server import Reply
from tests.models.backends.test_openai import completion

RUNS = 50


def open_files() -> set[str]:
    """The files and connections that this process has open."""
    gc.collect()
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the folder's own
            found.add(str(link.readlink()))
    return {name for name in found if not name.startswith(("pipe:", "anon_inode:", "/dev/"))}


@pytest.mark.parametrize("judge", ["vlm", "claims"])
def test_fifty_runs_leave_no_file_open(serve: Serve, tmp_path: Path, judge: str) -> None:
    from PIL import Image

    Image.fromarray(PIXELS).save(tmp_path / "owl.png")
    (tmp_path / "data.csv").write_text("id,image,prompt\n1,owl.png,an owl\n")
    settings, _ = serve(Reply(completion("(3)")) if judge == "vlm" else words_of({}), judge=judge)
    data = datasets.open_dataset(str(tmp_path / "data.csv"), RUBRIC, {})

    def once(number: int) -> None:
        assert run(data, tmp_path / f"{number}.sqlite", JudgeJob("verify", settings)).done == 1

    once(0)
    judges.close()
    before = {name for name in open_files() if str(tmp_path) in name}
    for number in range(1, RUNS + 1):
        once(number)
    judges.close()
    assert {name for name in open_files() if str(tmp_path) in name} == before == set()
