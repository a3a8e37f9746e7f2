"""Compiled networks on disk: what is read is what was written, and there is never too much of it."""

import os
from pathlib import Path

import pytest

from onprompt.weights import blobs


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.blob"
    assert blobs.read(path) is None
    blobs.write(path, b"network")
    assert blobs.read(path) == b"network"
    assert [each.name for each in path.parent.iterdir()] == ["a.blob"]


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 32 + b"network"])
def test_a_damaged_file_is_not_used(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "a.blob"
    path.write_bytes(damage)
    assert blobs.read(path) is None


def test_one_network_can_not_stand_in_for_another(tmp_path: Path) -> None:
    blobs.write(tmp_path / "a.blob", b"network")
    (tmp_path / "a.blob").rename(tmp_path / "b.blob")
    assert blobs.read(tmp_path / "b.blob") is None


def test_the_least_recently_used_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, name in enumerate(("a", "b", "c")):
        blobs.write(tmp_path / f"{name}.blob", b"x" * 400_000)
        os.utime(tmp_path / f"{name}.blob", (1000 - age, 1000 - age))
    (tmp_path / "e.blob.1.1").write_bytes(b"left by a process that died")
    os.utime(tmp_path / "e.blob.1.1", (900, 900))
    assert blobs.read(tmp_path / "c.blob")  # used last now
    monkeypatch.setattr(blobs, "LIMIT", 1_000_000)
    blobs.write(tmp_path / "d.blob", b"x" * 400_000)
    assert [path.name for path in blobs.files(tmp_path, "*")] == ["d.blob", "c.blob"]


def test_a_folder_that_can_not_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    blobs.write(tmp_path / "file" / "a.blob", b"x")
    assert blobs.read(tmp_path / "file" / "a.blob") is None
