"""The folder of compiled networks: each file complete or not at all, checked by its hash, and bounded in size.

It can be deleted at any time, and where it can't be written, nothing is lost but the time that it would have saved.
"""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

from onprompt.settings import Settings

SUFFIX = ".blob"
HASH_BYTES = hashlib.sha256().digest_size
LIMIT = 512_000_000  # bytes of all files


def folder(settings: Settings) -> Path:
    """The folder."""
    return settings.home.expanduser() / "compiled"


def read(path: Path) -> bytes | None:
    """The content of a file, if it is what was written."""
    try:
        if hasattr(os, "getuid") and path.stat().st_uid not in (os.getuid(), 0):
            return None  # code for the processor: not from another user
        with path.open("rb") as stream:
            digest, content = stream.read(HASH_BYTES), stream.read()
        path.touch()  # when it was used last
    except OSError:
        return None
    return content if digest_of(path, content) == digest else None


def write(path: Path, content: bytes) -> None:
    """Write a file; those that were not used for longest make room for it."""
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(digest_of(path, content) + content)
        part.replace(path)
        make_room(path.parent)


def digest_of(path: Path, content: bytes) -> bytes:
    """The hash of a file's content and of its name, which says what it is made of: none can stand in for another."""
    return hashlib.sha256(path.name.encode() + content).digest()


def make_room(where: Path) -> None:
    """Delete what exceeds the limit, the least recently used first; also parts that dead processes left."""
    total = 0
    for path in files(where, "*"):
        total += path.stat().st_size
        if total > LIMIT:
            path.unlink()


def files(where: Path, pattern: str = f"*{SUFFIX}") -> list[Path]:
    """The files, the most recently used first."""
    return sorted(where.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
