"""Runs leave no judge open, and no command of theirs writes to the user's answer cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onprompt.api import judges


@pytest.fixture(autouse=True)
def _closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ONPROMPT_ANSWERS", str(tmp_path / "answers.sqlite"))
    yield
    judges.close()
