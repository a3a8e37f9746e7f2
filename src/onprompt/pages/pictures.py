"""The pictures of stored samples, made small enough for a page."""

import io
from collections.abc import Mapping
from typing import Any

from PIL import Image

from onprompt.errors import ImageError
from onprompt.runs.findings import paths_of
from onprompt.settings import Settings, load
from onprompt.types import Picture
from onprompt.vision.image import open_picture

SIDE, QUALITY = 512, 82  # of the JPEGs that pages show


def small_picture(picture: Picture, given: Mapping[str, Any], side: int = SIDE) -> tuple[bytes, int, int]:
    """A stored sample's picture as a JPEG with its width and height, if its file is still what was judged."""
    settings = settings_of(side)
    paths = paths_of(picture, given)
    if not paths:
        raise ImageError("it was not judged from a file", "not a file")
    for path in paths:
        opened = open_picture(path, settings, picture.frame)
        if opened.sha256 == picture.sha256:
            return encode(Image.fromarray(opened.pixels))
    raise ImageError("the file has changed since it was judged", "changed")


def encode(image: Image.Image) -> tuple[bytes, int, int]:
    """A JPEG with its size."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY, optimize=False)
    return file.getvalue(), image.width, image.height


def settings_of(side: int) -> Settings:
    """The settings that a picture of a size is opened with."""
    return load(max_side=side)
