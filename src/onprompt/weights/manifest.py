"""The model files: name, purpose, size, hash, licence and sources of each."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from onprompt import plugins
from onprompt.errors import PluginError

PERMISSIVE = ("Apache-2.0", "MIT", "BSD-3-Clause", "CC0-1.0", "public domain")


@dataclass(frozen=True, slots=True)
class File:
    """One model file, pinned by its hash."""

    name: str
    set: str
    use: str
    bytes: int
    sha256: str
    licence: str
    sources: tuple[str, ...]
    optional: bool = False  # fetched only by name

    @property
    def permissive(self) -> bool:
        """Whether the licence requires no more than a notice."""
        return self.licence.startswith(PERMISSIVE)


def read(path: Path) -> tuple[File, ...]:
    """The files of a manifest. A name has no folder, so that no entry can point outside the cache."""
    entries = tomllib.loads(path.read_text("utf-8"))["file"]
    files = tuple(File(**entry | {"sources": tuple(entry["sources"])}) for entry in entries)
    for file in files:
        if Path(file.name).name != file.name or file.name.startswith("."):
            raise ValueError(f"{file.name!r} in {path} is not a plain file name")
    return files


@cache
def manifest() -> tuple[File, ...]:
    """Our own files, and those of other packages, whose entry points are the paths of their manifests."""
    files = {file.name: file for file in read(Path(__file__).with_name("manifest.toml"))}
    for entry in plugins.entry_points("onprompt.weights"):
        for file in read(entry.load()):
            if file.name in files:
                package = entry.dist.name if entry.dist else entry.module
                raise PluginError(f"{package} brings another model file {file.name}: uninstall {package}")
            files[file.name] = file
    return tuple(files.values())


def find(names: Iterable[str]) -> list[File]:
    """The files of the given names; the name of a set stands for all of its files."""
    files: list[File] = []
    for name in names:
        matches = [file for file in manifest() if name in (file.name, file.set)]
        if not matches:
            known = {name for file in manifest() for name in (file.name, file.set)}
            raise plugins.unknown("model file or set", name, known, "weights")
        files += [file for file in matches if file not in files]
    return files
