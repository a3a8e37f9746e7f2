"""Runs in a process of its own, with the standard library alone: calls a function and writes down what it returns.

Arguments: the folder to import from, `module:function`, and how it is called (`call`, or `picture`). Each line on
standard input is a JSON list of arguments; each gets one line of JSON as its reply.
"""

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any

LONGEST = 1000  # characters of a text that a function returns
MOST = 16  # items of a list or a dict
DEEPEST = 3
MEMORY = 4 * 2**30  # bytes


def main() -> None:
    """Answer requests until there are no more."""
    requests, replies = private()
    bound()
    folder, name, kind = sys.argv[1:]
    sys.argv[1:] = []
    if folder:
        sys.path.insert(0, folder)
    try:
        function = load(name)
    except BaseException as error:  # whatever their module does at import, we tell it
        say(replies, {"trouble": f"can't be imported: {raised(error)}"})
        return
    say(replies, {"value": "ready"})
    for line in requests:
        say(replies, reply(pictured(function) if kind == "picture" else function, json.loads(line)))


def private() -> tuple[IO[str], IO[str]]:
    """Channels that a print or an input() of theirs can't reach: what they read and write themselves is nothing."""
    channels = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    return channels


def bound() -> None:
    """Limit what they may fill with data; code that they import is no data, and torch's alone may be as large."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def load(name: str) -> Callable[..., Any]:
    """The function of `module:function`."""
    module, _, attribute = name.partition(":")
    found: Any = importlib.import_module(module)
    for step in attribute.split("."):
        found = getattr(found, step)
    if not callable(found):
        raise TypeError(f"{attribute} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def reply(function: Callable[..., Any], arguments: list[Any]) -> dict[str, Any]:
    """What a call returns, if it is plain, or what went wrong."""
    try:
        return {"value": plain(function(*arguments))}
    except Odd as error:
        return {"trouble": f"returns {error}"}
    except BaseException as error:
        return {"trouble": f"raises {raised(error)}"}


class Odd(Exception):
    """A value that is not plain."""


def plain(value: Any, depth: int = 0) -> Any:
    """A value that JSON can hold, of a size that a score may have."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str) and len(value) <= LONGEST:
        return str.__str__(value)
    if isinstance(value, list | tuple | dict) and len(value) <= MOST and depth < DEEPEST:
        if isinstance(value, dict):
            return {str(key)[:LONGEST]: plain(each, depth + 1) for key, each in value.items()}
        return [plain(each, depth + 1) for each in value]
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", None) == 0:
        return plain(value.item(), depth + 1)
    size = f" of {len(value):,}" if hasattr(value, "__len__") else ""
    raise Odd(f"a {type(value).__name__}{size}, which is no score or label")


def pictured(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """A function that takes a Pillow image and two numbers, told by what its image is."""

    def call(path: str, first: int, second: int) -> dict[str, Any]:
        from PIL import Image

        with Image.open(path) as image:
            made = function(image, first, second)
        if not isinstance(made, Image.Image):
            raise Odd(f"a {type(made).__name__}, not an image of Pillow's")
        return {"size": list(made.size), "mode": made.mode, "sha256": hashlib.sha256(made.tobytes()).hexdigest()}

    return call


def raised(error: BaseException) -> str:
    """An error in a few words, on one line."""
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def say(replies: IO[str], reply: dict[str, Any]) -> None:
    """One line."""
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
