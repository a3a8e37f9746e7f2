"""Section 3.3: how an image is resized before a model sees it."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from onprompt.illusion.audit.description import Resize
from onprompt.illusion.audit.points import Point, Verdict, not_described, not_tried
from onprompt.illusion.audit.process import IsolatedFunction

FILTER, SIDES, MODE = "resize filter", "resize sides", "colour mode"
ORIGINAL = {FILTER: "Lanczos", MODE: "RGB", SIDES: "the first number is the width, the second the height"}
LANCZOS = ("lanczos", "antialias", "1")  # Pillow's names for it, and its number
WIDTH, HEIGHT = 40, 24
SIZE = f"{{}} × {{}} for {WIDTH} and {HEIGHT}"
LARGEST = 10**6  # pixels of a result for which filters are tried
ORIENTATION, TURNED = 0x0112, 6  # of EXIF: a quarter turn
SIDE_NAMES = {"width": "width", "w": "width", "height": "height", "h": "height"}


def compare(resize: Resize | None, function: IsolatedFunction | None) -> Iterator[Point]:
    """The filter, the colour mode, and which side is which."""
    if resize and function:
        yield from by_function(function)
        return
    described = resize or Resize()
    yield point(FILTER, described.filter, (described.filter or "").lower().rpartition(".")[2] in LANCZOS)
    yield point(MODE, described.mode, (described.mode or "").upper() == "RGB")
    size = described.size or ()
    fixed = bool(size) and all(isinstance(side, int) for side in size)  # one choice of what the original may be given
    named = [SIDE_NAMES.get(str(side).lower()) for side in size] == ["width", "height"]
    yield point(SIDES, " × ".join(map(str, size)) or None, fixed or named)


def point(title: str, theirs: str | None, same: bool) -> Point:
    """The point on a filter, a mode or a size; None is not described."""
    original = ORIGINAL[title]
    if theirs is None:
        return not_described("resize", title, "", original)
    if same:
        return Point("resize", title, "", original, theirs, Verdict.ALIGNED)
    example = {"original": original, "theirs": theirs}
    return Point("resize", title, "", original, theirs, Verdict.CHANGES, "the model sees other pixels", example)


# ---- by behaviour ----------------------------------------------------------------------------------------------------


class Resized(NamedTuple):
    """A picture, and the size, mode and sha256 of what their function made of it."""

    name: str
    image: Image.Image
    made: Mapping[str, Any]

    @property
    def filter(self) -> str:
        """The Pillow filter that makes the same pixels at the same size; the original's if several do."""
        width, height = self.made["size"]
        names = []
        if width * height <= LARGEST:
            with contextlib.suppress(ValueError):  # Pillow can't convert to every mode
                plain = self.image.convert(self.made["mode"])
                names = [
                    resampling.name.title()
                    for resampling in Image.Resampling
                    if pixels_sha256(plain.resize((width, height), resampling)) == self.made["sha256"]
                ]
        return ORIGINAL[FILTER] if ORIGINAL[FILTER] in names else (names or ["pixels that no Pillow filter makes"])[0]


def pixels_sha256(image: Image.Image) -> str:
    """The hash of an image's pixels."""
    return hashlib.sha256(image.tobytes()).hexdigest()


def drawn(width: int, height: int) -> Image.Image:
    """A picture with edges, gradients and a transparent part."""
    data = bytes(
        value & 255
        for y in range(height)
        for x in range(width)
        for value in (x * 4, (x * y) // 3, 255 * ((x // 5 + y // 7) % 2), 255 - 3 * y)
    )
    return Image.frombytes("RGBA", (width, height), data)


def pictures(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files with pictures that tell resizes apart."""
    usual, plain, turned = drawn(64, 48), Image.Exif(), Image.Exif()
    turned[ORIENTATION] = TURNED
    for name, image, exif in (
        ("a picture of 64 × 48", usual, plain),
        ("a large picture, 400 × 300", drawn(400, 300), plain),
        ("a small picture, 16 × 12", drawn(16, 12), plain),
        ("a picture with EXIF orientation", usual, turned),
        ("a greyscale picture", usual.convert("L"), plain),
        ("a picture with a palette", usual.convert("RGB").quantize(32), plain),
    ):
        path = folder / f"{name.replace(' ', '-')}.png"
        image.save(path, exif=exif)
        yield name, path


def by_function(function: IsolatedFunction) -> Iterator[Point]:
    """The points on a function, by the pictures that it makes."""
    given = list(pictures(Path(function.folder_of_runs.name)))
    replies = function.call_all([[str(path), WIDTH, HEIGHT] for _, path in given])
    pairs = list(zip(given, replies, strict=True))
    if failed := [(name, reply.error) for (name, _), reply in pairs if reply.error and reply.tried]:
        name, error = failed[0]
        example = {"original": f"{WIDTH} × {HEIGHT} pixels", "theirs": f"{error} on {name}"}
        theirs = f"{function.function} {error}"
        yield Point("resize", "resized picture", "", "RGB, Lanczos", theirs, Verdict.CHANGES, "", example)
    if resized := [Resized(name, Image.open(path), reply.value) for (name, path), reply in pairs if not reply.error]:
        yield first_difference(FILTER, resized, [result.filter for result in resized], ORIGINAL[FILTER])
        yield first_difference(MODE, resized, [result.made["mode"] for result in resized], ORIGINAL[MODE])
        sizes = [SIZE.format(*result.made["size"]) for result in resized]
        yield first_difference(SIDES, resized, sizes, SIZE.format(WIDTH, HEIGHT))
    if missing := [reply for reply in replies if not reply.tried]:
        yield not_tried("resize", len(missing), f"{len(replies)} pictures", missing[0].error)


def first_difference(title: str, resized: Sequence[Resized], values: Sequence[str], expected: str) -> Point:
    """The point on the first picture that differs, if any does."""
    for result, value in zip(resized, values, strict=True):
        if value != expected:
            return point(title, f"{value}, on {result.name}", False)
    return point(title, values[0], True)
