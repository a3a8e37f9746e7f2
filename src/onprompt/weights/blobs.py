"""The folder of compiled networks: each file complete or not at all, checked by its hash, and bounded in size.

It can be deleted at any time, and where it can't be written, nothing is lost but the time that it would have saved.
"""

import hashlib
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from onprompt.settings import Settings

SUFFIX = ".blob"
HASH_BYTES = hashlib.sha256().digest_size
MAX_FILES = 64
ABANDONED = 3600  # seconds after which the unfinished file of a process that died is deleted


def folder(settings: Settings) -> Path:
    """The folder."""
    return settings.home.expanduser() / "compiled"


def read(path: Path) -> bytes | None:
    """The content of a file, if it is what was written; a damaged one is deleted."""
    try:
        with path.open("rb") as stream:
            owner, digest, content = os.fstat(stream.fileno()).st_uid, stream.read(HASH_BYTES), stream.read()
        os.utime(path)  # when it was used last
    except OSError:
        return None
    if hasattr(os, "getuid") and owner not in (os.getuid(), 0):
        return None  # code for the processor: not from another user
    if digest_of(path, content) == digest:
        return content
    with suppress(OSError):
        path.unlink()
    return None


def write(path: Path, content: bytes, megabytes: int) -> None:
    """Write a file; those that were not used for longest make room for it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as stream:
                stream.write(digest_of(path, content) + content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        make_room(path.parent, megabytes)


def digest_of(path: Path, content: bytes) -> bytes:
    """The hash of a file's content and of its name, which says what it is made of: none can stand in for another."""
    return hashlib.sha256(path.name.encode() + content).digest()


def make_room(where: Path, megabytes: int) -> None:
    """Delete what exceeds the limits, the least recently used first, and what dead processes left."""
    size = 0
    for number, path in enumerate(files(where)):
        size += size_of(path)
        if number >= MAX_FILES or size > megabytes * 1e6:
            path.unlink(missing_ok=True)
    for part in where.glob(f".*{SUFFIX}.*"):
        if time.time() - last_used(part) > ABANDONED:
            part.unlink(missing_ok=True)


def files(where: Path) -> list[Path]:
    """The files, the most recently used first."""
    return sorted(where.glob(f"*{SUFFIX}"), key=last_used, reverse=True)


def last_used(path: Path) -> float:
    """When a file was used last; of one that another process deleted, long ago."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 of one that another process deleted."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
