"""Calls a function in a process of its own, with the standard library alone, and writes down what it returns.

Arguments: the folder to import from, `module:function`, and how to call it (`call` or `picture`). Each line on
standard input is a JSON list of arguments; each is answered by one line of JSON.
"""

import contextlib
import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any

LONGEST = 1000  # characters of a returned string
MOST = 16  # items of a list or a dict
DEEPEST = 3
MEMORY = 4 * 2**30  # bytes


def main() -> None:
    """Answer requests until there are no more."""
    requests, replies = private_channels()
    limit_memory()
    folder, name, kind = sys.argv[1:]
    sys.argv[1:] = []
    if folder:
        sys.path.insert(0, folder)
    try:
        function = load(name)
    except BaseException as error:  # their module may do anything at import
        send(replies, {"error": f"can't be imported: {describe(error)}"})
        return
    send(replies, {"value": "ready"})
    for line in requests:
        send(replies, reply(on_picture(function) if kind == "picture" else function, json.loads(line)))


def private_channels() -> tuple[IO[str], IO[str]]:
    """Copies of standard input and output that a print() or an input() of theirs can't reach."""
    channels = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    return channels


def limit_memory() -> None:
    """Limit their data; imported code is not counted, and torch alone may be as large."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some limits
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def load(name: str) -> Callable[..., Any]:
    """The function of `module:function`."""
    module, _, attribute = name.partition(":")
    value: Any = importlib.import_module(module)
    for step in attribute.split("."):
        value = getattr(value, step)
    if not callable(value):
        raise TypeError(f"{attribute} is a {type(value).__name__}, not a function")
    return value  # type: ignore[no-any-return]


def reply(function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
    """What a call returns, or what went wrong."""
    try:
        return {"value": plain(function(*arguments))}
    except InvalidValue as error:
        return {"error": f"returns {error}"}
    except BaseException as error:
        return {"error": f"raises {describe(error)}"}


class InvalidValue(Exception):
    """A value that can't be a score, a label or a picture."""


def plain(value: Any, depth: int = 0) -> Any:
    """A value that JSON can hold and that has the size of a score or a label."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str) and len(value) <= LONGEST:
        return str.__str__(value)
    if isinstance(value, list | tuple | dict) and len(value) <= MOST and depth < DEEPEST:
        if isinstance(value, dict):
            return {str(key)[:LONGEST]: plain(item, depth + 1) for key, item in value.items()}
        return [plain(item, depth + 1) for item in value]
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", None) == 0:
        return plain(value.item(), depth + 1)
    size = f" of length {len(value):,}" if hasattr(value, "__len__") else ""
    raise InvalidValue(f"a {type(value).__name__}{size}, which is not a score or label")


def on_picture(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """A function of a Pillow image and two numbers as one that takes a path and describes the image it makes."""

    def call(path: str, first: int, second: int) -> dict[str, Any]:
        from PIL import Image

        with Image.open(path) as image:
            made = function(image, first, second)
        if not isinstance(made, Image.Image):
            raise InvalidValue(f"a {type(made).__name__}, not a Pillow image")
        return {"size": list(made.size), "mode": made.mode, "sha256": hashlib.sha256(made.tobytes()).hexdigest()}

    return call


def describe(error: BaseException) -> str:
    """An error on one line."""
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def send(replies: IO[str], reply: dict[str, Any]) -> None:
    """Write one line."""
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
