"""The cache of model files: each is downloaded once, complete or not at all, and used only if its hash is pinned."""

import errno
import functools
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from onprompt.errors import NotFetched, UserError, WeightsError, WrongHash
from onprompt.settings import Settings, is_quiet
from onprompt.weights.manifest import File, find, manifest
from onprompt.weights.sources import WEB, SourceFailed, deliver

SOURCE_TIMEOUT = 15.0  # seconds without a byte after which the next source is tried


def folder(settings: Settings) -> Path:
    """The folder of the cache."""
    return settings.home.expanduser() / "weights"


def location(file: File, settings: Settings) -> Path:
    """The path of one file, whether or not it exists."""
    return folder(settings) / file.name


def state(file: File, settings: Settings) -> str:
    """`ready`, `absent` or `damaged`, by the content."""
    path = location(file, settings)
    if not path.is_file():
        return "absent"
    return "ready" if digest(path) == file.sha256 else "damaged"


def is_cached(name: str, settings: Settings) -> bool:
    """Whether a file exists in the cache; its content is checked when it is used."""
    return all(location(file, settings).is_file() for file in find([name]))


def digest(path: Path) -> str:
    """The sha256 of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@functools.cache
def check_hash(path: Path, sha256: str) -> None:
    """Reject a file that is not the pinned one; checked once per process."""
    if digest(path) != sha256:
        raise WrongHash(
            f"{path} is incomplete or was changed: its sha256 is not {sha256}. "
            f"Run `onprompt models pull {path.name}` to download it again."
        )


def paths(names: Sequence[str], settings: Settings) -> dict[str, Path]:
    """The paths of files by name, downloaded unless they are cached."""
    files = find(names)
    check_licences(files, settings)
    located = {file.name: location(file, settings) for file in files}
    if absent := [file for file in files if not located[file.name].is_file()]:
        pull(absent, settings)
    for file in files:
        check_hash(located[file.name], file.sha256)
    return located


def check_licences(files: Sequence[File], settings: Settings) -> None:
    """Reject files that are not permissive if only permissive ones are allowed."""
    for file in files:
        if settings.permissive and not file.permissive:
            raise UserError(
                f"{file.name} is under {file.licence}, and permissive = true allows Apache, MIT and BSD files only"
            )


@functools.cache
def file_hash(name: str) -> str:
    """The pinned hash of a file in the manifest; of any other file, which a plug-in may use, that of its content."""
    pinned = {file.name: file.sha256 for file in manifest()}
    return pinned.get(name) or (digest(Path(name)) if Path(name).is_file() else "unknown")


def hashes(names: Sequence[str]) -> dict[str, str]:
    """The sha256 of files by name, for the record."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        path = Path(name)  # two models of a hub both have a model.safetensors
        found[path.name if path.name not in found else f"{path.parent.name}/{path.name}"] = file_hash(name)
    return found


def pull(files: Sequence[File], settings: Settings) -> None:
    """Download the files that are absent or damaged. Processes that start together download once."""
    check_licences(files, settings)
    where = folder(settings)
    try:
        where.mkdir(parents=True, exist_ok=True)
        with FileLock(where / ".lock"):
            needed = [file for file in files if state(file, settings) != "ready"]
            for file in () if is_quiet() else needed:  # on standard error: standard output belongs to the result
                size = f"{file.bytes / 1e6:.1f} MB"
                sys.stderr.write(f"downloading {file.name}: {file.use}, {size}, license {file.licence}\n")
            for file in needed:
                if state(file, settings) != "ready":  # it may have been in the same archive as an earlier one
                    fetch(file, needed, settings)
    except OSError as error:
        why = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or error
        raise WeightsError(f"can't write to {where} ({why}): set ONPROMPT_HOME to another folder or disk") from error


def fetch(file: File, needed: Sequence[File], settings: Settings) -> None:
    """Try each source in turn until one delivers the pinned bytes."""
    failures, mirror = [], settings.mirror
    own = f"url:{mirror.rstrip('/')}/{file.name}" if mirror.startswith(WEB) else f"folder:{mirror}"
    for source in (*([own] if mirror else ()), *file.sources):
        try:
            deliver(source, file, needed, folder(settings), SOURCE_TIMEOUT)
            return
        except SourceFailed as failure:
            failures.append(f"  {source}\n    {failure}")
    raise NotFetched(
        f"no source delivered {file.name}:\n" + "\n".join(failures) + "\n"
        "What you can do: connect to a network that reaches one of them; set ONPROMPT_MIRROR to a folder or URL that "
        f"has the file; or save it as\n  {location(file, settings)}\n(sha256 {file.sha256})"
    )
