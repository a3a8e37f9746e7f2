"""Step 0: any picture people have, made upright RGB of a workable size."""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from onprompt.errors import ImageError
from onprompt.settings import Settings
from onprompt.types import Decoded, Picture, Shown

Source = str | Path | bytes | Image.Image | NDArray[np.uint8]
# What people have. Formats that Pillow hands to another program, such as EPS, stay out.
Image.init()
KNOWN = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "ICO")
FORMATS = tuple(kind for kind in KNOWN if kind in Image.OPEN)  # an older Pillow has no AVIF
COARSEST = 0.75  # share of max_side below which no picture is decoded
warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is a setting of ours


def load_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """Read, turn, convert and scale. What can't be read is an ImageError that says why."""
    picture = name_picture(source, settings, frame)
    _ = picture.decoded
    return picture


def name_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """A picture that is decoded when it is first looked at: whether it can be is not known before."""
    name = str(source) if isinstance(source, str | Path) else "the picture"
    data, given = taken(source, name)
    decode = partial(decoded, given, name, settings, frame)
    return Picture(name, hashlib.sha256(data).hexdigest(), decode, frame, settings.max_side)


def stretched(source: Source, settings: Settings, size: tuple[int, int]) -> Picture:
    """A picture of just that width and height by Lanczos's filter, whatever shape it had: some protocols want it so."""
    name = str(source) if isinstance(source, str | Path) else "the picture"
    image = opened(taken(source, name)[1], name)
    check_size(image, name, settings)
    try:
        made = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    except Exception as error:  # as below
        raise ImageError(f"{name} can't be read to its end: {error or type(error).__name__}", "damaged") from error
    return replace(name_picture(made, settings), name=name)


def decoded(given: bytes | Image.Image, name: str, settings: Settings, frame: int) -> Decoded:
    """The pixels of a file or of a picture in memory."""
    image = opened(given, name)
    try:
        return prepared(image, name, settings, frame)
    except ImageError:
        raise
    except Exception as error:  # decoders raise whatever they like on damaged files
        raise ImageError(f"{name} can't be read to its end: {error or type(error).__name__}", "damaged") from error


def encoded(shown: Shown) -> bytes:
    """A picture as it is sent to a model."""
    image = Image.fromarray(shown.picture.pixels)
    image.thumbnail((shown.side, shown.side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, shown.format.upper(), quality=shown.quality, subsampling=0)  # PNG ignores both
    return file.getvalue()


def prepared(image: Image.Image, name: str, settings: Settings, frame: int) -> Decoded:
    """One frame, upright, RGB, no longer than `max_side`."""
    notes = choose_frame(image, frame, name)
    check_size(image, name, settings)
    width, height = image.size
    scale = COARSEST * settings.max_side / max(width, height)
    image.draft("RGB", (int(width * scale), int(height * scale)))  # a JPEG can be decoded at half or quarter size
    image = ImageOps.exif_transpose(image)
    turned = (height, width) if (image.width > image.height) != (width > height) else (width, height)
    image = to_rgb(image)
    image.thumbnail((settings.max_side, settings.max_side), Image.Resampling.BILINEAR, reducing_gap=1.5)
    return Decoded(np.asarray(image, dtype=np.uint8), turned, notes)


def check_size(image: Image.Image, name: str, settings: Settings) -> None:
    """Complain of a picture that is too large or too small."""
    width, height = image.size
    megapixels = width * height / 1e6
    if megapixels > settings.max_megapixels:
        limit = f"the limit is {settings.max_megapixels:g} (setting max_megapixels)"
        raise ImageError(f"{name} is {width} × {height}, {megapixels:.3g} megapixels; {limit}", "too large")
    if min(width, height) < 2:
        raise ImageError(f"{name} is {width} × {height}: too small to show anything", "too small")


def taken(source: Source, name: str) -> tuple[bytes, bytes | Image.Image]:
    """The bytes that identify a picture, and what it is decoded from."""
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        raise ImageError(f"{name} is an address: fetch it first, pictures are read from files", "an address")
    if not name:
        raise ImageError("no picture was named", "no name")
    try:
        if isinstance(source, np.ndarray):
            source = Image.fromarray(source)
        if isinstance(source, Image.Image):
            if source.mode in ("P", "PA"):  # whose bytes are numbers of colours, and not the colours
                source = source.convert("RGBA")
            return f"{source.mode} {source.size}".encode() + source.tobytes(), source.copy()
        data = source if isinstance(source, bytes) else contents(source)
    except Exception as error:
        kind = "missing" if isinstance(error, FileNotFoundError) else "not opened"
        raise ImageError(f"{name} can't be opened: {getattr(error, 'strerror', None) or error}", kind) from error
    if not data:
        raise ImageError(f"{name} is empty (0 bytes)", "empty")
    return data, data


def contents(path: str | Path) -> bytes:
    """The bytes of a file."""
    # Half the time of Path.read_bytes, which counts for small files; a number would be a file that is open already.
    with open(os.fspath(path), "rb") as file:  # noqa: PTH123
        return file.read()


def opened(given: bytes | Image.Image, name: str) -> Image.Image:
    """The picture, not yet decoded."""
    if isinstance(given, Image.Image):
        return given
    try:
        return Image.open(io.BytesIO(given), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise ImageError(
            f"{name} is not a picture in a format that can be read ({', '.join(FORMATS)})", "no picture"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} is far too large to open safely: {error}", "too large") from error
    except Exception as error:
        raise ImageError(f"{name} can't be opened: {getattr(error, 'strerror', None) or error}", "damaged") from error


def choose_frame(image: Image.Image, frame: int, name: str) -> tuple[str, ...]:
    """Go to one frame of an animation; say so in the notes."""
    frames = getattr(image, "n_frames", 1)
    if not 0 <= frame < frames:
        raise ImageError(f"{name} has no frame {frame}; it has {frames}, numbered from 0", "no such frame")
    if frames == 1:
        return ()
    image.seek(frame)
    return (f"frame {frame} of {frames}",)


def to_rgb(image: Image.Image) -> Image.Image:
    """RGB on white. Sixteen-bit and floating-point pictures are scaled, not clipped."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        values = np.asarray(image, dtype=np.float64)
        top = brightest(image.mode, float(values.max(initial=0)))
        image = Image.fromarray(np.clip(values / top * 255, 0, 255).astype(np.uint8))
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    return image.convert("RGB")


def brightest(mode: str, largest: float) -> float:
    """The value that stands for white: the mode says so, or the smallest usual one that nothing exceeds."""
    if mode.startswith("I;16"):
        return 65535.0
    usual = (1.0, 255.0, 65535.0) if mode == "F" else (255.0, 65535.0)
    return next((top for top in usual if largest <= top), largest)
