"""Section 3, images: what is done to a picture before a model sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from onprompt.audit.description import Resize
from onprompt.audit.points import Point, Verdict, silent
from onprompt.audit.process import Calls

FILTER, SIDES, MODE = "resize filter", "resize sides", "colour mode"
ORIGINAL = {FILTER: "Lanczos", SIDES: "the first number is the width, the second the height", MODE: "RGB"}
FIRST, SECOND = 40, 24
SIDE_NAMES = {"width": "width", "w": "width", "height": "height", "h": "height"}


def compare(resize: Resize | None, calls: Calls | None) -> Iterator[Point]:
    """The filter, which side is which, and the colour mode."""
    if resize is None:
        yield from (silent("resize", title, "", said) for title, said in ORIGINAL.items())
    elif resize.function and calls:
        yield from by_function(calls)
    else:
        yield compare_words(FILTER, resize.filter, lambda word: word.lower().rpartition(".")[2] == "lanczos")
        yield compare_words(MODE, resize.mode, lambda word: word.upper() == "RGB")
        yield compare_sides(resize.size)


def compare_words(title: str, given: str | None, same: Callable[[str], bool]) -> Point:
    """One thing that is told in a word."""
    said = ORIGINAL[title]
    if given is None:
        return silent("resize", title, "", said)
    if same(given):
        return Point("resize", title, "", said, given, Verdict.ALIGNED)
    note = "the model sees other pixels"
    return Point("resize", title, "", said, given, Verdict.CHANGES, note, {"original": said, "theirs": given})


def compare_sides(size: tuple[str | int, str | int] | None) -> Point:
    """The two numbers in their order; fixed ones are one choice of those that the original is given."""
    said = ORIGINAL[SIDES]
    if size is None:
        return silent("resize", SIDES, "", said)
    given = f"{size[0]} × {size[1]}"
    if all(isinstance(each, int) for each in size):
        note = "the original takes any two numbers: give it these"
        return Point("resize", SIDES, "", said, given, Verdict.ALIGNED, note)
    if tuple(SIDE_NAMES.get(str(each).lower()) for each in size) == ("width", "height"):
        return Point("resize", SIDES, "", said, given, Verdict.ALIGNED)
    example = {"original": "width × height", "theirs": given}
    return Point("resize", SIDES, "", said, given, Verdict.CHANGES, "the model sees other pixels", example)


# ---- by behaviour ----------------------------------------------------------------------------------------------------


def drawn() -> Image.Image:
    """A picture with edges, slopes and a part that can be seen through."""
    data = bytes(
        value & 255
        for y in range(48)
        for x in range(64)
        for value in (x * 4, (x * y) // 3, 255 * ((x // 5 + y // 7) % 2), 255 - 3 * y)
    )
    return Image.frombytes("RGBA", (64, 48), data)


def made(image: Image.Image, filter_: Image.Resampling, mode: str = "RGB", swapped: bool = False) -> dict[str, Any]:
    """What a resize comes to, as the child tells it."""
    size = (SECOND, FIRST) if swapped else (FIRST, SECOND)
    found = image.convert(mode).resize(size, filter_)
    return {"size": list(found.size), "mode": found.mode, "sha256": hashlib.sha256(found.tobytes()).hexdigest()}


def by_function(calls: Calls) -> Iterator[Point]:
    """A function's picture beside the original's; what else would make the same pixels is tried."""
    path, image = Path(calls.place.name, "drawn.png"), drawn()
    image.save(path)
    (reply,) = calls.many([[str(path), FIRST, SECOND]])
    theirs, called = reply.value, calls.function
    if reply.trouble:
        example = {"original": f"{FIRST} × {SECOND} pixels", "theirs": reply.trouble}
        for title, said in ORIGINAL.items():
            yield Point("resize", title, "", said, f"{called} {reply.trouble}", Verdict.CHANGES, "", example)
        return
    mode, size = theirs["mode"], theirs["size"]
    swapped = size == [SECOND, FIRST]
    names = [each.name.title() for each in Image.Resampling if made(image, each, mode, swapped) == theirs]
    names = sorted(names, key=lambda name: name != "Lanczos")
    yield told(FILTER, names[0] if names else "pixels that no filter of Pillow's makes", names[:1] == ["Lanczos"])
    yield told(MODE, mode, mode == "RGB")
    yield told(SIDES, f"{size[0]} × {size[1]} for {FIRST} and {SECOND}", size == [FIRST, SECOND])


def told(title: str, theirs: str, same: bool) -> Point:
    """What a picture shows of one point."""
    said = ORIGINAL[title]
    if same:
        return Point("resize", title, "", said, theirs, Verdict.ALIGNED)
    example = {"original": said, "theirs": theirs}
    return Point("resize", title, "", said, theirs, Verdict.CHANGES, "the model sees other pixels", example)
