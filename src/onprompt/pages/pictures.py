"""The pictures of stored samples, made small enough for a page."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from PIL import Image

from onprompt.errors import ImageError
from onprompt.pages.verdict_view import Shown
from onprompt.runs.reading import judged_file, paths_of
from onprompt.settings import Settings, load
from onprompt.types import Picture, Verdict
from onprompt.vision import decode_image

SIDE, QUALITY = 512, 82  # of the JPEGs that pages show
THUMBNAIL = 200  # the longest side on a card, where pages hold their pictures themselves


def small_picture(picture: Picture, given: Mapping[str, Any], side: int = SIDE) -> tuple[bytes, int, int]:
    """A stored sample's picture as a JPEG with its width and height, if its file is still what was judged."""
    return small_file(paths_of(picture, given), picture.sha256, picture.frame, side)


def small_file(paths: Sequence[str], sha256: str, frame: int = 0, side: int = SIDE) -> tuple[bytes, int, int]:
    """The same for a picture by the files that it may be in."""
    settings = settings_of(side)
    return encode(Image.fromarray(decode_image(*judged_file(paths, sha256, settings), settings, frame).pixels))


def encode(image: Image.Image) -> tuple[bytes, int, int]:
    """A JPEG with its size."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue(), image.width, image.height


def thumbnail(shown: Shown) -> Shown:
    """A smaller copy of a picture that is in its address."""
    kind, _, encoded = shown.url.partition(",")
    if not kind.startswith("data:"):
        return shown
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        return in_address(*encode(image))


def in_address(data: bytes, width: int, height: int) -> Shown:
    """A picture that is in its address, and needs no file."""
    return Shown(f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", width, height)


@cache
def settings_of(side: int) -> Settings:
    """The settings that a picture of a size is opened with."""
    return load(max_side=side)


class PictureFiles:
    """Writes the pictures of one sample, each once; or keeps them in the page."""

    def __init__(self, folder: Path | None, index: int) -> None:
        self.folder, self.index = folder, index
        self.known: dict[str, Shown] = {}

    def show_all(self, verdict: Verdict, given: Mapping[str, Any]) -> dict[str, Shown]:
        """The pictures of a verdict by their names."""
        inputs = {"image": verdict.sample.picture, **verdict.sample.pictures}
        return {
            name: self.show(picture.sha256, partial(small_picture, picture, given)) for name, picture in inputs.items()
        }

    def show_file(self, path: Any, sha256: str) -> Shown:
        """The picture of a sample without a verdict to show, if any verdict says what the file held."""
        if not sha256:
            return Shown(missing="it was not judged, so that nothing tells whether its file is a picture of this run")
        paths = [path] if isinstance(path, str) and Path(path).is_absolute() else []
        return self.show(sha256, partial(small_file, paths, sha256))

    def show(self, key: str, make: Callable[[], tuple[bytes, int, int]]) -> Shown:
        """A picture by what identifies it."""
        if key not in self.known:
            try:
                self.known[key] = self.keep(*make())
            except ImageError as error:
                self.known[key] = Shown(missing=reason(error))
        return self.known[key]

    def keep(self, data: bytes, width: int, height: int) -> Shown:
        """Write a picture, or put it into its address."""
        if self.folder is None:
            return in_address(data, width, height)
        name = f"pictures/{self.index:06}{f'-{len(self.known)}' if self.known else ''}.jpg"
        (self.folder / name).write_bytes(data)
        return Shown(f"../{name}", width, height)


def reason(error: ImageError) -> str:
    """Why a picture can't be shown, without the folders of whoever made the report."""
    kinds = {"missing": "its file is no longer there", "changed": "its file has changed since it was judged"}
    return kinds.get(error.kind, f"its file can't be shown ({error.kind})")
