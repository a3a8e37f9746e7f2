"""Folders as registries: each module in one is a plug-in, imported on first use; other packages join by entry point."""

import difflib
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from onprompt.errors import PluginError

# What our own packages outside this one bring, by entry-point group: the error for a missing one names its package.
ELSEWHERE = {
    "detectors": {"hf": "onprompt-hub", **dict.fromkeys(("strong", "world", "yolo26"), "onprompt-yolo")},
    "matchers": {"hf": "onprompt-hub"},
    "backends": {"transformers": "onprompt-hub"},
    "commands": {"calibrate": "onprompt-hub"},
    "weights": dict.fromkeys(("strong", "largest"), "onprompt-yolo"),
}
LISTED = 30  # names that a message lists, at most
# What had another name, by entry-point group.
RENAMED = {("judges", "atoms"): "claims", ("judges", "hybrid"): "claims --measured"}


def names(folder: str) -> list[str]:
    """The plug-ins in a folder such as `vision.detectors`, and those that other packages add to it."""
    return sorted({*modules(folder), *entry_points(group(folder)).names})


def entry_points(group: str) -> metadata.EntryPoints:
    """What other packages add: looked up once, since it takes reading the metadata of every installed package."""
    return find_entry_points(group, tuple(sys.path))


@cache
def find_entry_points(group: str, path: tuple[str, ...]) -> metadata.EntryPoints:  # noqa: ARG001 packages by their path
    """The entry points of a group as long as Python looks for packages in the same places."""
    return metadata.entry_points(group=group)


def modules(folder: str) -> list[str]:
    """The modules in a folder of this package."""
    spec = find_spec(f"onprompt.{folder}")
    paths = list(spec.submodule_search_locations or []) if spec else []
    return [module.name for module in pkgutil.iter_modules(paths)]


def load(folder: str, name: str) -> ModuleType:
    """The module of a plug-in; the error for an unknown name or a missing package says what to do."""
    kind = folder.rpartition(".")[2].removesuffix("s")
    added, built_in = entry_points(group(folder)).select(name=name), name in modules(folder)
    if not added and not built_in:
        raise unknown(kind, name, names(folder), f"{kind}s")
    try:  # never from sys.modules, where a module is that another thread is still importing
        if added:
            module: ModuleType = load_added(kind, name, added, built_in)
            return module
        return importlib.import_module(f"onprompt.{folder}.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "onprompt"):
            raise
        raise PluginError(f"the {kind} {name!r} needs {missing}: {how_to_install(missing, name)}") from error


def load_added(kind: str, name: str, added: metadata.EntryPoints, built_in: bool) -> Any:
    """What another package adds under a name that nothing else has."""
    packages = " and ".join(sorted(entry.dist.name for entry in added if entry.dist))
    if built_in:
        raise PluginError(f"the {kind} {name!r} is built in, but {packages} adds another one: uninstall {packages}")
    if len(added) > 1:
        raise PluginError(f"{packages} both bring a {kind} {name!r}: uninstall one of them")
    return next(iter(added)).load()


def unknown(kind: str, name: str, known: Iterable[str], group: str) -> PluginError:
    """The error for a name that nothing installed has: the package that brings it, or the closest name."""
    if new := RENAMED.get((group, name)):
        return PluginError(f"the {kind} {name!r} is now {new}")
    elsewhere = ELSEWHERE.get(group, {})
    if package := elsewhere.get(name):
        return PluginError(f"no {kind} {name!r}; the package {package} has it: pip install {package}")
    return PluginError(f"no {kind} {name!r}{did_you_mean(name, {*known, *elsewhere})}")


def group(folder: str) -> str:
    """The entry-point group of a folder, for other packages: `onprompt.detectors`."""
    return f"onprompt.{folder.rpartition('.')[2]}"


def how_to_install(missing: str, plugin: str = "") -> str:
    """The pip command that installs a module: the extra of the plug-in's name, or the one that lists the module."""
    if plugin in (metadata.metadata("onprompt").get_all("Provides-Extra") or []):
        return f"pip install 'onprompt[{plugin}]'"
    for requirement in metadata.requires("onprompt") or []:
        match = re.match(r"""([\w.-]+).*extra\s*==\s*["'](\w+)["']""", requirement)
        if match and match[1].lower().replace("-", "_") == missing.lower():
            return f"pip install 'onprompt[{match[2]}]'"
    return f"pip install {missing}"


def did_you_mean(name: str, known: Iterable[str], suggested: int = 1) -> str:
    """The end of an error message: the closest known names, or all of them if they are few."""
    known = sorted(known)
    if closest := difflib.get_close_matches(name, known, suggested, 0.6 if suggested == 1 else 0.2):
        return f"; did you mean {' or '.join(map(repr, closest))}?"
    return f"; there are: {', '.join(known)}" if len(known) <= LISTED else ""
