"""Section 3, images: what is done to a picture before a model sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from onprompt.illusion.audit.description import Resize
from onprompt.illusion.audit.points import Point, Verdict, silent, untried
from onprompt.illusion.audit.process import Calls

FILTER, SIDES, MODE = "resize filter", "resize sides", "colour mode"
ORIGINAL = {FILTER: "Lanczos", SIDES: "the first number is the width, the second the height", MODE: "RGB"}
LANCZOS = ("lanczos", "antialias", "1")  # Pillow's names for it, and its number
FIRST, SECOND = 40, 24
LARGEST = 10**6  # pixels of a result for which filters are tried
ORIENTATION, TURNED = 0x0112, 6  # of EXIF: by a quarter
SIDE_NAMES = {"width": "width", "w": "width", "height": "height", "h": "height"}
OTHER = "the model sees other pixels"


def compare(resize: Resize | None, calls: Calls | None) -> Iterator[Point]:
    """The filter, which side is which, and the colour mode."""
    if resize is None:
        yield from (silent("resize", title, "", said) for title, said in ORIGINAL.items())
    elif resize.function and calls:
        yield from by_function(calls)
    else:
        yield compare_words(FILTER, resize.filter, lambda word: word.lower().rpartition(".")[2] in LANCZOS)
        yield compare_words(MODE, resize.mode, lambda word: word.upper() == "RGB")
        yield compare_sides(resize.size)


def compare_words(title: str, given: str | None, same: Callable[[str], bool]) -> Point:
    """One thing that is told in a word."""
    said = ORIGINAL[title]
    if given is None:
        return silent("resize", title, "", said)
    return told(title, given, same(given))


def compare_sides(size: tuple[str | int, str | int] | None) -> Point:
    """The two numbers in their order; fixed ones are one choice of those that the original is given."""
    said = ORIGINAL[SIDES]
    if size is None:
        return silent("resize", SIDES, "", said)
    given = f"{size[0]} × {size[1]}"
    if all(isinstance(each, int) for each in size):
        note = "the original takes any two numbers: give it these"
        return Point("resize", SIDES, "", said, given, Verdict.ALIGNED, note)
    return told(SIDES, given, tuple(SIDE_NAMES.get(str(each).lower()) for each in size) == ("width", "height"))


def told(title: str, theirs: str, same: bool) -> Point:
    """What is known of one point."""
    said = ORIGINAL[title]
    if same:
        return Point("resize", title, "", said, theirs, Verdict.ALIGNED)
    return Point("resize", title, "", said, theirs, Verdict.CHANGES, OTHER, {"original": said, "theirs": theirs})


# ---- by behaviour ----------------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """A picture, and what their function made of it: its size, mode and sha256."""

    name: str
    image: Image.Image
    made: Mapping[str, Any]

    def filters(self) -> list[str]:
        """Pillow's filters that make the same pixels at the same size, the original's first."""
        width, height = self.made["size"]
        if width * height > LARGEST:
            return []
        try:
            plain = self.image.convert(self.made["mode"])
        except ValueError:  # there is no way to this mode
            return []
        names = [each.name.title() for each in Image.Resampling if self.same(plain.resize((width, height), each))]
        return sorted(names, key=lambda name: name != ORIGINAL[FILTER])

    def same(self, image: Image.Image) -> bool:
        """Whether theirs has the same pixels."""
        return bool(hashlib.sha256(image.tobytes()).hexdigest() == self.made["sha256"])


def drawn(width: int, height: int) -> Image.Image:
    """A picture with edges, slopes and a part that can be seen through."""
    data = bytes(
        value & 255
        for y in range(height)
        for x in range(width)
        for value in (x * 4, (x * y) // 3, 255 * ((x // 5 + y // 7) % 2), 255 - 3 * y)
    )
    return Image.frombytes("RGBA", (width, height), data)


def pictures(folder: Path) -> Iterator[tuple[str, Path]]:
    """Pictures that tell resizes apart, in files: what the function gets is what was read."""
    usual, plain, turned = drawn(64, 48), Image.Exif(), Image.Exif()
    turned[ORIENTATION] = TURNED
    for name, image, exif in (
        ("a picture of 64 × 48", usual, plain),
        ("a large picture, 400 × 300", drawn(400, 300), plain),
        ("a small picture, 16 × 12", drawn(16, 12), plain),
        ("a picture that EXIF turns", usual, turned),
        ("a grey picture", usual.convert("L"), plain),
        ("a picture with a palette", usual.convert("RGB").quantize(32), plain),
    ):
        path = folder / f"{name.replace(' ', '-')}.png"
        image.save(path, exif=exif)
        yield name, path


def by_function(calls: Calls) -> Iterator[Point]:
    """A function's pictures beside the original's."""
    given = list(pictures(Path(calls.place.name)))
    replies = calls.many([[str(path), FIRST, SECOND] for _, path in given])
    pairs = list(zip(given, replies, strict=True))
    shown = [Shown(name, Image.open(path), reply.value) for (name, path), reply in pairs if not reply.trouble]
    for (name, _), reply in pairs:
        if reply.trouble and reply.tried:
            example = {"original": f"{FIRST} × {SECOND} pixels", "theirs": f"{reply.trouble} on {name}"}
            theirs = f"{calls.function} {reply.trouble}"
            yield Point("resize", "a resized picture", "", "RGB, Lanczos", theirs, Verdict.CHANGES, "", example)
            break
    if shown:
        yield from by_picture(shown)
    if left := [reply for reply in replies if not reply.tried]:
        yield untried("resize", len(left), f"{len(replies)} pictures", left[0].trouble)


def by_picture(shown: Sequence[Shown]) -> Iterator[Point]:
    """The three points, each by the first picture that departs in it."""
    filters = [(each, (each.filters() or ["pixels that no filter of Pillow's makes"])[0]) for each in shown]
    yield first(FILTER, [(each, name, name == ORIGINAL[FILTER]) for each, name in filters])
    yield first(MODE, [(each, each.made["mode"], each.made["mode"] == ORIGINAL[MODE]) for each in shown])
    sizes = [(each, each.made["size"]) for each in shown]
    meant = f" for {FIRST} and {SECOND}"
    yield first(SIDES, [(each, "{} × {}".format(*size) + meant, size == [FIRST, SECOND]) for each, size in sizes])


def first(title: str, found: Sequence[tuple[Shown, str, bool]]) -> Point:
    """The first picture that departs, or that none does."""
    picture, theirs, same = next((each for each in found if not each[2]), found[0])
    return told(title, theirs if same else f"{theirs}, of {picture.name}", same)
