"""Imports a file in a process of its own, with the standard library alone; says what is in it, and calls that.

The arguments are the file and the words of parameters, as JSON. The first line on standard output lists the functions;
then each line on standard input, `[function, [arguments, …]]`, is answered by a line for each call. All lines are JSON.
"""

import ast
import contextlib
import enum
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

LONGEST = 500_000  # characters of a reply
MEMORY, FILE = 4 * 2**30, 2**26  # bytes of data, and of a file that is written
PATIENCE = 5  # seconds for a call
PACKAGE = "_audited"
# What code may not do here: an accident that would reach beyond this process, or an attempt at it.
REFUSED = re.compile(
    r"os\.(kill|killpg|system|exec|fork|forkpty|posix_spawn|spawn|remove|rename|rmdir|chmod|chown|link|symlink|truncate)"
    r"|(subprocess|pty|shutil)\..*|signal\.pthread_kill|socket\.(connect|bind|sendto|sendmsg)|ctypes\.dlsym"
)
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Slow(BaseException):
    """A call took too long."""


class Stub(ModuleType):
    """A package that is not installed, or anything in it: may be named, but not used once the file is imported."""

    imported, used = False, ""  # `used` is the package that the present call needs

    def use(self, *_: Any) -> Any:
        if Stub.imported:
            raise ModuleNotFoundError(name=self.__name__)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        Stub.used = self.__name__.partition(".")[0]  # noted here, since they may catch the error
        return Stub(self.__name__)

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.use()
        return given[0] if len(given) == 1 and inspect.isfunction(given[0]) and not named else self  # a decorator

    def __mro_entries__(self, _: Any) -> tuple[()]:
        return ()

    __getitem__ = __or__ = __ror__ = __contains__ = __iter__ = __instancecheck__ = use


class Doc(dict[str, Any]):
    """A sample as harnesses hand it over: any field is there if its name says what it is."""

    words: Mapping[str, list[str]] = {}

    def __missing__(self, key: str) -> Any:
        parts = set(re.split(r"[^a-z]+", str(key).lower()))
        meant = (name for words, names in Doc.words.items() if parts & set(words.split()) for name in names)
        return self[next((name for name in meant if name in self), None) or fail(KeyError(key))]

    def get(self, key: str, default: Any = None) -> Any:
        with contextlib.suppress(KeyError):
            return self[key]
        return default


def main() -> None:
    """Answer calls until there are no more."""
    requests, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # a print() or an input() of theirs does not reach our channels
        os.dup2(nothing, standard)
    Doc.words, file = json.loads(sys.argv.pop()), Path(sys.argv.pop())
    limit()
    functions: dict[str, Callable[..., Any]] = {}
    try:
        functions = found(load(file), file)
        listed = json.dumps({"value": dict(about(functions, file)), "stubs": stubs()})
    except BaseException as error:  # their module may do anything at import
        listed = json.dumps({"error": f"can't be imported: {describe(error)}"})
    Stub.imported = True
    replies.write(f"{listed}\n")
    replies.flush()
    for line in requests:
        name, calls = json.loads(line)
        for given in calls:
            replies.write(f"{reply(functions, name, given)}\n")
        replies.flush()


def limit() -> None:
    """Limit time, memory and files, and refuse what would reach beyond this process and its own empty folder."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):  # Windows has no such limits
        import resource

        signal.signal(signal.SIGALRM, lambda *_: fail(Slow()))
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


def load(file: Path) -> ModuleType:
    """The file as a module of a package, so that it finds its neighbors; what is not installed is stubbed."""
    sys.path.insert(0, str(file.parent))
    sys.modules[PACKAGE] = package = ModuleType(PACKAGE)
    package.__path__ = [str(file.parent)]
    while True:
        try:
            return importlib.import_module(f"{PACKAGE}.{file.stem}")
        except ModuleNotFoundError as error:
            name = error.name or PACKAGE
            package_name = name.partition(".")[0]
            known = package_name == PACKAGE or name in sys.modules
            if known or (package_name not in stubs() and importlib.util.find_spec(package_name)):
                raise
            sys.modules[name] = Stub(name)


def stubs() -> list[str]:
    """The packages that are not installed."""
    return [name for name, module in sys.modules.items() if isinstance(module, Stub) and "." not in name]


def found(module: ModuleType, file: Path) -> dict[str, Callable[..., Any]]:
    """Functions and methods by name; a constant is a function without parameters."""
    functions: dict[str, Callable[..., Any]] = {}
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, Stub | ModuleType):
            continue
        if inspect.isclass(value):
            if value.__module__ == module.__name__:
                made = instance(value)
                methods = [n for n in vars(value) if n == "__call__" or not n.startswith("__")]
                functions |= {f"{name}.{n}": getattr(made, n) for n in methods if callable(getattr(made, n, None))}
        elif callable(value):
            code = getattr(inspect.unwrap(value), "__code__", None)
            if code and code.co_filename.startswith(str(file.parent)):
                functions[name] = value
        else:
            functions[name] = constant(value)
    return functions


def instance(kind: type[Any]) -> Any:
    """An object of a class; one that needs arguments is left as it is before its __init__."""
    for make in (kind, lambda: object.__new__(kind)):
        with contextlib.suppress(Exception):
            return make()
    return None


def constant(value: Any) -> Callable[[], Any]:
    """A function that returns a constant."""
    return lambda: value


def about(functions: Mapping[str, Callable[..., Any]], file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters of functions, whether each has a default, and whether other functions use it."""
    defined = [node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.FunctionDef)]
    inside = {
        (node.name, getattr(each, "id", getattr(each, "attr", ""))) for node in defined for each in ast.walk(node)
    }
    for name, function in functions.items():
        given = []
        with contextlib.suppress(TypeError, ValueError):
            for each in inspect.signature(function).parameters.values():
                if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                    given.append((each.name, each.default is not each.empty))
        yield name, {"parameters": given, "used": any(used == name != user for user, used in inside)}


def reply(functions: dict[str, Callable[..., Any]], name: str, given: list[Any]) -> str:
    """What a call returns, or what went wrong."""
    Stub.used, answer = "", {}
    try:
        set_timer(PATIENCE)
        value = functions[name](*map(argument, given))
        set_timer(0)
        value = {str(key): item for key, item in value.items()} if isinstance(value, dict) else value
        text = json.dumps({"value": value}, default=encoded)
        if len(text) <= LONGEST and not Stub.used:
            return text
        answer = {"error": f"returns {len(text):,} characters"}
    except ModuleNotFoundError as error:
        Stub.used = Stub.used or (error.name or "").partition(".")[0]
    except Slow:
        functions[name] = lambda *_: fail(Slow())
        answer = {"error": f"does not return within {PATIENCE} s"}
    except BaseException as error:
        answer = {"error": f"raises {describe(error)}"}
    set_timer(0)
    return json.dumps({"missing": Stub.used} if Stub.used else answer)


def set_timer(seconds: float) -> None:
    """Stop what runs after some seconds, if the system can."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def fail(error: BaseException) -> Any:
    """Raise an error."""
    raise error


def argument(value: Any) -> Any:
    """A value as it is passed: a sample as harnesses hold it, a picture as Pillow opens it."""
    if isinstance(value, dict) and "picture" in value:
        from PIL import Image

        return Image.open(value["picture"])
    if isinstance(value, dict) and "pathlib" in value:
        return Path(value["pathlib"])
    return Doc(value) if isinstance(value, dict) else value


def encoded(value: Any) -> Any:
    """A value that JSON does not have: a picture is its size, mode and pixels."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if type(value).__module__.startswith("PIL.") and hasattr(value, "tobytes"):
        return {"size": value.size, "mode": value.mode, "sha256": hashlib.sha256(value.tobytes()).hexdigest()}
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of numpy's
        return value.item()
    if isinstance(value, enum.Enum):
        return value.name
    if hasattr(value, "__dataclass_fields__"):
        return vars(value)
    raise TypeError(f"{type(value).__name__} is no text, number or list")


def describe(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")


if __name__ == "__main__":
    main()
