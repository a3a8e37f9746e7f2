"""Imports a file in a process of its own, with the standard library alone; says what is in it, and calls that.

The argument is the file. The first line on standard output lists its functions and constants; then each line on
standard input, `[function, arguments]`, is answered by one line. All lines are JSON.
"""

import ast
import contextlib
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LONGEST, MOST, DEEPEST = 20_000, 200, 4  # characters of a text, items of a list, levels of both
MEMORY, FILE = 4 * 2**30, 2**26  # bytes of data, and of a file that is written
PACKAGE = "_audited"
# What code may not do here: an accident that would reach beyond this process, or an attempt at it.
REFUSED = re.compile(
    r"os\.(kill|killpg|system|exec|fork|forkpty|posix_spawn|spawn|remove|rename|rmdir|chmod|chown|link|symlink|truncate)"
    r"|(subprocess|pty|shutil)\..*|signal\.pthread_kill|socket\.(connect|bind|sendto|sendmsg)|ctypes\.dlsym"
)
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Missing(ImportError):
    """A package that is not installed was needed by a call."""


class Stub(ModuleType):
    """A package that is not installed, or anything in it: may be named, but not used once the file is imported."""

    imported = False

    def use(self, *_: Any) -> Any:
        if Stub.imported:
            raise Missing(f"{self.__name__} is not installed: pip install {self.__name__}")
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(self.__name__)

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.use()
        return given[0] if len(given) == 1 and inspect.isfunction(given[0]) and not named else self  # a decorator

    def __mro_entries__(self, _: Any) -> tuple[()]:
        return ()

    def __iter__(self) -> Iterator[Any]:
        self.use()
        return iter(())

    __getitem__ = __or__ = __ror__ = __contains__ = __instancecheck__ = use


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages that were found missing, and whatever is in them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        known = name.partition(".")[0] in self.names
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Stub(spec.name.partition(".")[0])

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class Doc(dict[str, Any]):
    """A sample as harnesses hand it over: whatever a field is called, it is there if its name says what it is."""

    def __missing__(self, key: str) -> Any:
        words = set(re.split(r"[^a-z]+", str(key).lower()))
        for field, names in self["names"].items():
            if words & set(names):
                return self[field]
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        with contextlib.suppress(KeyError):
            return self[key]
        return default

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None


def main() -> None:
    """Answer calls until there are no more."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # a print() or an input() of theirs does not reach our channels
        os.dup2(nothing, standard)
    file = Path(sys.argv.pop())
    limit()
    stubs = Stubs()
    try:
        functions, listed = found(load(file, stubs), file)
        answer: dict[str, Any] = {"value": listed | {"missing": stubs.names}}
    except BaseException as error:  # their module may do anything at import
        functions, answer = {}, {"error": f"can't be imported: {describe(error)}"}
    Stub.imported = True
    while True:
        replies.write(json.dumps(answer) + "\n")
        replies.flush()
        if not (line := requests.readline()):
            return
        answer = reply(functions, *json.loads(line))


def limit() -> None:
    """Limit memory and files, and refuse what would reach beyond this process and its own empty folder."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        for kind, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_FSIZE, FILE), (resource.RLIMIT_CORE, 0)):
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    own = os.path.realpath(Path.cwd()) + os.sep

    def check(event: str, given: tuple[Any, ...]) -> None:
        if REFUSED.fullmatch(event):
            raise PermissionError(f"the audit does not let code use {event}")
        if event == "open" and not isinstance(given[0], int) and given[2] & CHANGES:
            place = os.path.realpath(os.fsdecode(given[0]))
            if not place.startswith(own) and place != os.devnull:
                raise PermissionError(f"the audit does not let code write to {place}")

    sys.addaudithook(check)


def load(file: Path, stubs: Stubs) -> ModuleType:
    """The file as a module of a package, so that it finds its neighbors; what is not installed is stubbed."""
    sys.path.insert(0, str(file.parent))
    sys.meta_path.append(stubs)
    sys.modules[PACKAGE] = package = ModuleType(PACKAGE)
    package.__path__ = [str(file.parent)]
    while True:
        try:
            return importlib.import_module(f"{PACKAGE}.{file.stem}")
        except ModuleNotFoundError as error:
            name = (error.name or "").partition(".")[0]
            if not name or name == PACKAGE or name in stubs.names:
                raise
            stubs.names.append(name)


def found(module: ModuleType, file: Path) -> tuple[dict[str, Callable[..., Any]], dict[str, Any]]:
    """The functions of a module and methods of its classes by name, and what is to know of them and its constants."""
    functions: dict[str, Callable[..., Any]] = {}
    values: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, Stub | ModuleType):
            continue
        if inspect.isclass(value):
            with contextlib.suppress(Exception):
                made = value() if value.__module__ == module.__name__ else None
                methods = [n for n in vars(value) if made and (n == "__call__" or not n.startswith("__"))]
                functions |= {f"{name}.{n}": getattr(made, n) for n in methods if callable(getattr(made, n))}
        elif callable(value):
            code = getattr(inspect.unwrap(value), "__code__", None)
            if code and code.co_filename.startswith(str(file.parent)):
                functions[name] = value
        else:
            with contextlib.suppress(InvalidValue):
                values[name] = plain(value)
    inside = {
        node.name: {getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node)}
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.FunctionDef)
    }
    listed = {
        name: {"parameters": parameters(function), "used": any(name in inside[n] for n in inside if n != name)}
        for name, function in functions.items()
    }
    return functions, {"functions": listed, "values": values}


def parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """The names of a function's parameters, and whether each has a default."""
    with contextlib.suppress(TypeError, ValueError):
        given = inspect.signature(function).parameters.values()
        usual = [each for each in given if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        return [(each.name, each.default is not each.empty) for each in usual]
    return []


def reply(functions: dict[str, Callable[..., Any]], name: str, given: list[Any]) -> dict[str, Any]:
    """What a call returns, or what went wrong."""
    try:
        return {"value": plain(functions[name](*map(argument, given)))}
    except InvalidValue as error:
        return {"error": f"returns {error}"}
    except Missing as error:
        return {"error": f"needs a package: {error}", "missing": True}
    except BaseException as error:
        return {"error": f"raises {describe(error)}"}


def argument(value: Any) -> Any:
    """A value as it is passed: a sample as harnesses hold it, a picture as Pillow opens it."""
    if isinstance(value, dict) and "names" in value:
        return Doc(value)
    if isinstance(value, dict) and "picture" in value:
        from PIL import Image

        return Image.open(value["picture"])
    return value


class InvalidValue(Exception):
    """A value that can't be a question, an option, a score, a label or a picture."""


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON holds it; a picture by its size, mode and pixels."""
    if type(value).__module__.startswith("numpy") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, str) and len(value) <= LONGEST:
        return str.__str__(value)
    if isinstance(value, dict) and len(value) <= MOST and depth < DEEPEST:
        return {str(key)[:LONGEST]: plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and len(value) <= MOST and depth < DEEPEST:
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [plain(item, depth + 1) for item in items]
    if type(value).__module__.startswith("PIL.") and hasattr(value, "tobytes"):
        pixels = hashlib.sha256(value.tobytes()).hexdigest()
        return {"size": list(value.size), "mode": value.mode, "sha256": pixels}
    size = f" of length {len(value):,}" if hasattr(type(value), "__len__") else ""
    raise InvalidValue(f"a {type(value).__name__}{size}")


def describe(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")


if __name__ == "__main__":
    main()
