"""Code of others in this process: the file is imported, and its functions are called, within bounds."""

import asyncio
import contextlib
import importlib
import inspect
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum, EnumType
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from PIL import Image

from onprompt.illusion.cases import DATA, pixels

MEMORY, FILE = 4 * 2**30, 2**26  # bytes of data, and of a file that is written
PATIENCE = 5  # seconds for a call
DEEPEST = 5  # levels of a value that are looked at
PACKAGE = "_audited"
# What code may not do here: an accident that would reach beyond this process, or an attempt at it.
REFUSED = re.compile(
    r"os\.(kill|killpg|system|exec|fork|forkpty|posix_spawn|spawn|remove|rename|rmdir|chmod|chown|link|symlink|truncate)"
    r"|(subprocess|pty|shutil)\..*|signal\.pthread_kill|socket\.(connect|bind|sendto|sendmsg)|ctypes\.dlsym"
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
NAMED = inspect.Parameter.KEYWORD_ONLY
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def bound() -> None:
    """Limit memory and files, and refuse what would reach beyond this process and its own empty folder."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        for kind, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_FSIZE, FILE)):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    own = os.path.realpath(Path.cwd()) + os.sep

    def check(event: str, given: tuple[Any, ...]) -> None:
        if REFUSED.fullmatch(event):
            raise PermissionError(f"the audit does not let code use {event}")
        if event == "open" and not isinstance(given[0], int) and given[2] & WRITES:
            place = os.path.realpath(os.fsdecode(given[0]))
            if not place.startswith(own) and place != os.devnull:
                raise PermissionError(f"the audit does not let code write to {place}")

    asyncio.set_event_loop(asyncio.new_event_loop())
    sys.addaudithook(check)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, lambda *_: fail(Slow()))


def fail(error: BaseException) -> Any:
    """Raise an error."""
    raise error


class Stub(ModuleType):
    """A package that can't be imported, or anything in it: may be named, but not used once the file is imported."""

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

    def __missing__(self, key: str) -> Any:
        parts = set(re.split(r"[^a-z]+", str(key).lower()))
        meant = (name for words, names in DATA["parameters"].items() if parts & set(words.split()) for name in names)
        return self[next((name for name in (*meant, *parts) if name in self), "") or fail(KeyError(key))]

    def get(self, key: str, default: Any = None) -> Any:
        with contextlib.suppress(KeyError):
            return self[key]
        return default


class Slow(BaseException):
    """A call took too long."""


class Found(NamedTuple):
    """What a call makes of a case; `tried` is False where nothing is known of it, and `error` says why."""

    value: Any = None
    error: str = ""
    tried: bool = True


@dataclass
class Function:
    """A function of theirs; a constant is one without parameters."""

    function: Callable[..., Any]
    parameters: Sequence[inspect.Parameter] = ()
    slow: bool = False  # it did not return in time, and is not called again

    def call(self, given: Iterable[Any]) -> Found:
        """What it returns, in plain types, or what went wrong."""
        Stub.used, error = "", ""
        try:
            if self.slow:
                raise Slow
            set_timer(PATIENCE)
            value = plain(self.returned(list(given)))
            if not Stub.used:
                return Found(value)
        except ModuleNotFoundError as missing:
            Stub.used = Stub.used or (missing.name or "").partition(".")[0]
        except Slow:
            self.slow, error = True, f"does not return within {PATIENCE} s"
        except BaseException as raised:  # their code may do anything
            error = f"raises {described(raised)}"
        finally:
            set_timer(0)
        if Stub.used:
            package = DATA["install"].get(Stub.used, Stub.used)
            return Found(None, f"needs {Stub.used}, which can't be imported here: pip install {package}", tried=False)
        return Found(None, error)

    def returned(self, values: Sequence[Any]) -> Any:
        """What it returns; what must be named is."""
        named = {each.name: value for each, value in zip(self.parameters, values, strict=False) if each.kind is NAMED}
        value = self.function(*values[: len(values) - len(named)], **named)
        return asyncio.get_event_loop().run_until_complete(value) if inspect.iscoroutine(value) else value


def set_timer(seconds: float) -> None:
    """Stop what runs after some seconds, if the system can."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def plain(value: Any, depth: int = DEEPEST) -> Any:
    """A value in the types that are compared; a picture is its size, mode and pixels."""
    if value is None or isinstance(value, str | int | float) or not depth:
        return value
    if isinstance(value, Image.Image):
        return pixels(value)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | Iterator):
        return [plain(item, depth - 1) for item in value]
    if hasattr(value, "tolist"):  # of numpy or pandas
        return plain(value.tolist(), depth - 1)
    return plain(vars(value), depth - 1) if hasattr(value, "__dict__") and not callable(value) else None


def described(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")


def load(file: Path) -> dict[str, Function]:
    """The functions, methods and constants of a file; packages that it can't import are stubbed."""
    sys.path.insert(0, str(file.parent))
    sys.modules[PACKAGE] = package = ModuleType(PACKAGE)
    package.__path__ = [str(file.parent)]  # so that it finds its neighbors
    while True:
        try:
            module = importlib.import_module(f"{PACKAGE}.{file.stem}")
            break
        except Exception as error:
            missing = error.name if isinstance(error, ModuleNotFoundError) else ""
            name = missing or imported_package(error)
            if not name or name.partition(".")[0] == PACKAGE or missing in sys.modules:
                raise
            for each in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
                del sys.modules[each]
            sys.modules[name] = Stub(name)
    Stub.imported = True
    return {
        name: Function(value, parameters(value)) if callable(value) else Function(lambda value=value: value)
        for name, value in members(module, file.parent)
    }


def expression(file: Path, text: str, known: Set[str]) -> tuple[Function, tuple[str, ...]]:
    """An expression such as `grade(prediction, shape)["hit"]` as a function, and what of the known it is given."""
    code, module = compile(text, text, "eval"), sys.modules[f"{PACKAGE}.{file.stem}"]
    words = tuple(word for word in code.co_names if word in known)

    def call(*given: Any) -> Any:
        return eval(code, vars(module) | dict(zip(words, given, strict=True)))  # noqa: S307 their file runs anyway

    return Function(call), words


def imported_package(error: BaseException) -> str:
    """The package that their file was importing: one such as torch may need more than the bounds allow."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    tops = [name.partition(".")[0] for name in names]
    after = tops[len(tops) - tops[::-1].index(PACKAGE) :] if PACKAGE in tops else []
    return next((top for top in after if top not in ("", "onprompt", *sys.stdlib_module_names)), "")


def members(module: ModuleType, folder: Path) -> Iterator[tuple[str, Any]]:
    """What a module defines, with the methods of its objects and of an object of each class."""
    for name, value in vars(module).items():
        kind = value if inspect.isclass(value) else type(value)
        if name.startswith("__") or isinstance(value, Stub | ModuleType | EnumType):
            continue
        if kind.__module__ == module.__name__:
            made = instance(kind) if value is kind else value
            for method in dir(kind) if made is not None else ():
                own = is_defined(inspect.getattr_static(kind, method), folder)
                if own and (method == "__call__" or not method.startswith("__")):
                    yield f"{name}.{method}", getattr(made, method)
        elif not callable(value) or is_defined(value, folder):
            yield name, value


def is_defined(value: Any, folder: Path) -> bool:
    """Whether a function is in a file of a folder."""
    code = getattr(inspect.unwrap(value), "__code__", None)
    return code is not None and Path(code.co_filename).parent == folder


def instance(kind: type[Any]) -> Any:
    """An object of a class; one that needs arguments is left as it is before its __init__."""
    for make in (kind, lambda: object.__new__(kind)):
        with contextlib.suppress(Exception):
            return make()
    return None


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function that have a name."""
    return [each for each in inspect.signature(function).parameters.values() if each.kind not in VARIADIC]
