"""Files come whole or not at all, once, and are used only if they are the pinned ones."""

import multiprocessing
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from onprompt.errors import NotFetched, UserError, WeightsError, WrongHash
from onprompt.settings import Settings, load
from onprompt.vision.detectors import coco
from onprompt.weights import cache
from onprompt.weights import manifest as weights_manifest
from onprompt.weights.manifest import find, read
from tests.weights.test_sources import CONTENT, pinned, server, whole

pytestmark = pytest.mark.slow


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "model.bin").write_bytes(CONTENT)
    return folder


@pytest.fixture
def force(tmp_path: Path, mirror: Path) -> Settings:
    return load(home=tmp_path / "home", mirror=str(mirror))


FILE = pinned()


def test_a_file_is_fetched_once_and_its_licence_is_named_once(
    force: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.pull([FILE], force)
    cache.pull([FILE], force)
    assert cache.state(FILE, force) == "ready"
    shown = capsys.readouterr()
    assert shown.err.count("license MIT") == 1
    assert shown.out == ""


def test_a_half_written_file_is_seen_and_replaced(force: Settings) -> None:
    path = cache.location(FILE, force)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:50])
    (path.parent / "model.bin.part").write_bytes(b"left by a process that was killed")
    assert cache.state(FILE, force) == "damaged"
    with pytest.raises(WrongHash, match=r"incomplete or was changed.*onprompt models pull model.bin"):
        cache.check_hash(path, FILE.sha256)
    cache.pull([FILE], force)
    assert path.read_bytes() == CONTENT


def test_where_no_source_serves_the_message_says_what_to_do(force: Settings, mirror: Path) -> None:
    (mirror / "model.bin").unlink()
    with pytest.raises(NotFetched) as caught:
        cache.pull([FILE], force)
    message = str(caught.value)
    for part in ("no such file", "ONPROMPT_MIRROR", str(cache.location(FILE, force)), FILE.sha256):
        assert part in message


def test_where_nothing_can_be_written_the_message_says_what_to_do(force: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WeightsError, match=r"can't write to .*Not a directory.*ONPROMPT_HOME"):
        cache.pull([FILE], force.model_copy(update={"home": tmp_path / "file"}))


def test_a_link_in_the_place_of_an_unfinished_file_is_not_followed(force: Settings, tmp_path: Path) -> None:
    path = cache.location(FILE, force)
    path.parent.mkdir(parents=True)
    other = tmp_path / "other"
    other.write_text("mine")
    (path.parent / "model.bin.part").symlink_to(other)
    cache.pull([FILE], force)
    assert other.read_text() == "mine"
    assert cache.state(FILE, force) == "ready"
    assert not path.is_symlink()


def pull_in_a_process(home: str, address: str, start: float) -> str:
    """All processes begin at the same moment."""
    time.sleep(max(0.0, start - time.time()))
    cache.pull([FILE], load(home=home, mirror=address))
    return cache.state(FILE, load(home=home))


def test_processes_that_start_together_fetch_once(force: Settings) -> None:
    asked = []

    def slow(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        time.sleep(0.5)
        whole(handler)

    with server(slow) as address, multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(abs, range(8))  # all have started
        states = pool.starmap(pull_in_a_process, [(str(force.home), address, time.time() + 1)] * 4)
    assert states == ["ready"] * 4
    assert asked == ["/model.bin"]


def test_permissive_is_a_promise(force: Settings) -> None:
    strict, copyleft = force.model_copy(update={"permissive": True}), replace(FILE, licence="AGPL-3.0")
    with pytest.raises(UserError, match=r"is under AGPL-3.0"):
        cache.pull([copyleft], strict)
    assert not cache.location(copyleft, strict).exists()
    cache.pull([copyleft], force)
    assert cache.location(copyleft, force).exists()


def test_the_manifest_is_complete_and_permissive_and_the_default_needs_only_pip() -> None:
    for file in read(Path(weights_manifest.__file__).with_name("manifest.toml")):
        assert file.permissive
        assert file.use
        assert file.bytes > 0
        assert len(file.sha256) == 64
        assert file.optional or file.sources[0].startswith("pip:")
    assert {file.name for file in find(["coco"])} == set(coco.FILES)


@pytest.mark.parametrize("name", ["../escape.bin", "/etc/passwd", ".hidden", "a/b"])
def test_a_manifest_cannot_point_outside_the_cache(name: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.toml"
    path.write_text(
        f'[[file]]\nname = "{name}"\nset = "s"\nuse = "u"\nbytes = 1\nsha256 = "0"\nlicence = "MIT"\nsources = []\n'
    )
    with pytest.raises(ValueError, match="not a plain file name"):
        read(path)
