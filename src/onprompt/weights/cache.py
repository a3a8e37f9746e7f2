"""Model files on this disk: fetched once, whole or not at all, and never used unless their hash is the pinned one."""

from __future__ import annotations

import errno
import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache as remember
from pathlib import Path

from filelock import FileLock

from onprompt.errors import NotFetched, UserError, WeightsError, WrongHash
from onprompt.settings import Settings
from onprompt.weights.manifest import File, find, manifest
from onprompt.weights.sources import SourceFailed, Unreachable, deliver, in_order, place_of


def folder(settings: Settings) -> Path:
    """Where the files lie, each under its own name."""
    return settings.home.expanduser() / "weights"


def location(file: File, settings: Settings) -> Path:
    """Where one file lies, or would lie."""
    return folder(settings) / file.name


def state(file: File, settings: Settings) -> str:
    """`ready`, `absent` or `damaged`, by a look at the bytes."""
    path = location(file, settings)
    if not path.is_file():
        return "absent"
    return "ready" if digest(path) == file.sha256 else "damaged"


def is_here(name: str, settings: Settings) -> bool:
    """Whether a file lies in the cache; what it holds is looked at when it is used."""
    return all(location(file, settings).is_file() for file in find([name]))


def digest(path: Path) -> str:
    """The sha256 of a file, as hexadecimal text."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@remember
def trusted(path: Path, sha256: str) -> bool:
    """Whether the file is the pinned one; looked at once in a process."""
    if digest(path) != sha256:
        raise WrongHash(
            f"{path} is not the file that it should be: its sha256 is not {sha256}. It may be half written or changed. "
            f"Run `onprompt models pull {path.name}` to fetch it again."
        )
    return True


def paths(names: Sequence[str], settings: Settings) -> dict[str, Path]:
    """The files of the given names, fetched where they are not here yet."""
    files = find(names)
    allowed(files, settings)
    if absent := [file for file in files if not location(file, settings).is_file()]:
        pull(absent, settings)
    found = {file.name: location(file, settings) for file in files}
    for file in files:
        trusted(found[file.name], file.sha256)
    return found


def allowed(files: Sequence[File], settings: Settings) -> None:
    """Complain if only permissive files may be used and one is not."""
    for file in files:
        if settings.permissive and not file.permissive:
            raise UserError(
                f"{file.name} is under {file.licence}, and permissive = true allows Apache, MIT and BSD files only"
            )


@remember
def file_hash(name: str) -> str:
    """The pinned hash of a file of the manifest; of any other file, which a plug-in may bring, what it is on disk."""
    pinned = {file.name: file.sha256 for file in manifest()}
    return pinned.get(name) or (digest(Path(name)) if Path(name).is_file() else "unknown")


def hashes(names: Sequence[str]) -> dict[str, str]:
    """sha256 by name, for the record."""
    return {Path(name).name: file_hash(name) for name in names}


def pull(files: Sequence[File], settings: Settings) -> None:
    """Fetch what is absent or damaged. Two processes that start together fetch once."""
    allowed(files, settings)
    where = folder(settings)
    with clear_errors(where):
        where.mkdir(parents=True, exist_ok=True)
        with FileLock(where / ".lock"):
            needed = [file for file in files if state(file, settings) != "ready"]
            for file in needed:
                say(f"fetching {file.name}: {file.use}, {file.bytes / 1e6:.1f} MB, licence {file.licence}")
            unreachable: set[str] = set()
            for file in needed:
                # A file may have come with its neighbour, out of the same archive.
                if state(file, settings) != "ready":
                    fetch(file, needed, unreachable, settings)


def fetch(file: File, needed: Sequence[File], unreachable: set[str], settings: Settings) -> None:
    """Ask each source in turn; the first that delivers the pinned bytes serves. What is unreachable is asked once."""
    failures = []
    for source in in_order([*([f"mirror:{settings.mirror}"] if settings.mirror else []), *file.sources]):
        if place_of(source) in unreachable:
            failures.append(f"  {source}\n    unreachable, as above")
            continue
        try:
            deliver(source, file, needed, folder(settings), settings.source_timeout)
            return
        except SourceFailed as failure:
            failures.append(f"  {source}\n    {failure}")
            if isinstance(failure, Unreachable):
                unreachable.add(place_of(source))
    raise NotFetched(
        f"no source delivered {file.name}:\n" + "\n".join(failures) + "\n"
        f"What you can do: connect to a network that reaches one of them; set ONPROMPT_MIRROR to a folder or address "
        f"that has the file; or put it by hand at\n  {location(file, settings)}\n(sha256 {file.sha256})"
    )


@contextmanager
def clear_errors(where: Path) -> Iterator[None]:
    """Turn what the disk says into a message that tells what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise WeightsError(
                f"the disk is full: free some space for {where}, or set ONPROMPT_HOME to another disk"
            ) from error
        raise WeightsError(
            f"can't write to {where} ({error.strerror or error}): set ONPROMPT_HOME to a folder of yours"
        ) from error


def say(line: str) -> None:
    """A line for the person who waits; never on standard output, which belongs to the result."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
