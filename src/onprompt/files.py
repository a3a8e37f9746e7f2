"""Files that users name: regular ones only and no more of them than a limit, written as a whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from onprompt.errors import UserError

BLOCK = 2**16
KINDS = {
    **{stat.S_IFDIR: "a directory", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"},
    **dict.fromkeys((stat.S_IFCHR, stat.S_IFBLK), "a device"),
}


def read_file(path: str | Path, limit: int) -> bytes:
    """The bytes of a regular file; an OSError for anything else, and for more than `limit` bytes.

    What it is, is looked up before it is opened: opening a pipe waits for a writer, and opening a device may act.
    """
    name = os.fspath(path)  # refuses a file descriptor
    check_regular(os.stat(name))  # noqa: PTH116 half the time of pathlib, which counts for small files
    parts, total = [], 0
    with open(name, "rb", buffering=0, opener=open_at_once) as file:
        status = os.fstat(file.fileno())
        check_regular(status)  # it may be another one by now
        block = max(BLOCK, min(status.st_size, limit) + 1)
        while part := file.read(block):
            parts.append(part)
            total += len(part)
            if total > limit:
                raise OSError(errno.EFBIG, f"it is larger than {limit / 1e6:g} MB")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def check_regular(status: os.stat_result) -> None:
    """Raise an OSError that says what it is, unless it is a regular file."""
    if not stat.S_ISREG(status.st_mode):
        what = f"it is {KINDS.get(stat.S_IFMT(status.st_mode), 'a special file')}, not a regular file"
        raise OSError(errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL, what)


def open_at_once(path: str, flags: int) -> int:
    """A file descriptor; a pipe that took the file's place meanwhile is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file or folder to write, which takes its place once it is complete, with all that is written beside it.

    If anything fails, nothing of it is left. What is neither a file nor a folder, such as /dev/stdout, is written to.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        path = path.resolve()
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            yield Path(folder) / path.name
            for written in Path(folder).iterdir():
                written.replace(path.with_name(written.name))
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from error
