"""The pictures of stored samples, made small enough for a page."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from PIL import Image

from onprompt.errors import ImageError, OnpromptError
from onprompt.pages.verdict_view import CHANGED, Shown
from onprompt.report.edit_picture import compare_versions, heat
from onprompt.runs.reading import judged_file, paths_of
from onprompt.settings import Settings, load
from onprompt.types import Picture, Sample, Verdict
from onprompt.vision import decode_image

SIDE, IN_FILE, QUALITY = 768, 512, 80  # pixels of the JPEGs that pages show, in a folder and in one file
THUMBNAIL = 224  # pixels of the longest side on a card


def small_picture(picture: Picture, given: Mapping[str, Any], side: int) -> tuple[bytes, int, int]:
    """A stored sample's picture as a JPEG with its width and height, if its file is still what was judged."""
    return small_file(paths_of(picture, given), picture.sha256, side, picture.frame)


def small_file(paths: Sequence[str], sha256: str, side: int, frame: int = 0) -> tuple[bytes, int, int]:
    """The same for a picture by the files that it may be in."""
    settings = settings_of(side)
    return encode(Image.fromarray(decode_image(*judged_file(paths, sha256, settings), settings, frame).pixels))


def encode(image: Image.Image) -> tuple[bytes, int, int]:
    """A JPEG with its size."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue(), image.width, image.height


def data_address(data: bytes) -> str:
    """A JPEG as an address that needs no file."""
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"


def in_address(image: Image.Image) -> Shown:
    """A picture that is in its address."""
    data, width, height = encode(image)
    return Shown(data_address(data), width, height)


def change_map(sample: Sample) -> Image.Image:
    """Where both versions of an edited picture differ, and how much."""
    return Image.fromarray(heat(compare_versions(sample).difference))


@cache
def settings_of(side: int) -> Settings:
    """The settings that a picture of a size is opened with."""
    return load(max_side=side)


class PictureFiles:
    """Writes the pictures of one sample, each once, and a thumbnail; or keeps them in the page."""

    def __init__(self, folder: Path | None, index: int) -> None:
        self.folder, self.index, self.side = folder, index, SIDE if folder else IN_FILE
        self.known: dict[str, Shown] = {}
        self.data: dict[str, bytes] = {}  # by address

    def show_all(self, verdict: Verdict, given: Mapping[str, Any]) -> dict[str, Shown]:
        """The pictures of a verdict by their names; of an edit also what changed."""
        inputs = {"image": verdict.sample.picture, **verdict.sample.pictures}
        shown = {
            name: self.show(picture.sha256, partial(small_picture, picture, given, self.side))
            for name, picture in inputs.items()
        }
        if "before" in shown and not any(each.missing for each in shown.values()):
            key = f"{shown['before'].url[-99:]} {shown['image'].url[-99:]}"
            shown[CHANGED] = self.show(key, lambda: encode(change_map(verdict.sample)))
        return shown

    def show_file(self, path: Any, sha256: str) -> Shown:
        """The picture of a sample without a verdict to show, if any verdict says what the file held."""
        if not sha256:
            return Shown(missing="it was not judged, so that nothing tells whether its file is a picture of this run")
        paths = [path] if isinstance(path, str) and Path(path).is_absolute() else []
        return self.show(sha256, partial(small_file, paths, sha256, self.side))

    def show(self, key: str, make: Callable[[], tuple[bytes, int, int]]) -> Shown:
        """A picture by what identifies it."""
        if key not in self.known:
            try:
                self.known[key] = self.keep(*make())
            except OnpromptError as error:
                self.known[key] = Shown(missing=reason(error))
        return self.known[key]

    def keep(self, data: bytes, width: int, height: int, name: str = "") -> Shown:
        """Write a picture, or put it into its address."""
        if self.folder is None:
            address = data_address(data)
        else:
            address = f"../pictures/{self.index:06}{name or (f'-{len(self.known)}' if self.known else '')}.jpg"
            (self.folder / address.removeprefix("../")).write_bytes(data)
        self.data[address] = data
        return Shown(address, width, height)

    def thumbnail(self, shown: Shown) -> Shown:
        """A smaller copy of a picture that was shown, for cards; its address is from the root of the report."""
        if not shown.url:
            return shown
        with Image.open(io.BytesIO(self.data[shown.url])) as image:
            image.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.BILINEAR)
            small = self.keep(*encode(image), "-small")
        return replace(small, url=small.url.removeprefix("../"))


def reason(error: OnpromptError) -> str:
    """Why a picture can't be shown, without the folders of whoever made the report."""
    kinds = {"missing": "its file is no longer there", "changed": "its file has changed since it was judged"}
    kind = error.kind if isinstance(error, ImageError) else "unknown"
    return kinds.get(kind, f"its file can't be shown ({kind})")
