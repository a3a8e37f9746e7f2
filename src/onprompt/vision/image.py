"""Step 0: decode any image that people have to upright RGB of a limited size."""

import hashlib
import io
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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
# Formats that Pillow hands to another program, such as EPS, are left out.
Image.init()
SUPPORTED = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "ICO")
FORMATS = tuple(name for name in SUPPORTED if name in Image.OPEN)  # an older Pillow has no AVIF
DRAFT_SCALE = 0.75  # fraction of max_side below which no JPEG is decoded
ENCODING = tuple(threading.Lock() for _ in range(64))  # several models may be sent one picture at the same time
warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is a setting of ours


def load_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """Read and decode an image, or raise an ImageError that says why it can't be."""
    picture = open_picture(source, settings, frame)
    _ = picture.decoded
    return picture


def open_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """A picture that is decoded on first access; whether it can be is not known before."""
    name, data, encoded = read_source(source)
    decode = partial(decode_image, encoded, name, settings, frame)
    return Picture(name, hashlib.sha256(data).hexdigest(), decode, frame, settings.max_side)


def load_resized(source: Source, settings: Settings, size: tuple[int, int]) -> Picture:
    """A picture resized to a width and height by a Lanczos filter, whatever its aspect ratio."""
    name, _, encoded = read_source(source)
    image = open_image(encoded, name)
    check_size(image, name, settings)
    with decoding_errors(name):
        resized = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    return replace(open_picture(resized, settings), name=name)


def decode_image(encoded: bytes | Image.Image, name: str, settings: Settings, frame: int) -> Decoded:
    """One frame of a file or of an image in memory: upright, RGB, no longer than `max_side`."""
    image = open_image(encoded, name)
    with decoding_errors(name):
        notes = seek_frame(image, frame, name)
        check_size(image, name, settings)
        width, height = image.size
        scale = DRAFT_SCALE * settings.max_side / max(width, height)
        image.draft("RGB", (int(width * scale), int(height * scale)))  # a JPEG can be decoded at half or quarter size
        image = ImageOps.exif_transpose(image)
        size = (height, width) if (image.width > image.height) != (width > height) else (width, height)
        image = to_rgb(image)
        image.thumbnail((settings.max_side, settings.max_side), Image.Resampling.BILINEAR, reducing_gap=1.5)
        return Decoded(np.asarray(image, dtype=np.uint8), size, notes)


@contextmanager
def decoding_errors(name: str) -> Iterator[None]:
    """Turn whatever a decoder raises on a damaged file into an ImageError."""
    try:
        yield
    except ImageError:
        raise
    except Exception as error:
        raise ImageError(f"{name} is damaged or truncated: {error or type(error).__name__}", "damaged") from error


def encode_image(shown: Shown) -> bytes:
    """A picture as it is sent to models, encoded once for all of them."""
    encoded = shown.picture.encoded
    with ENCODING[hash(shown.key) % len(ENCODING)]:
        if shown.key not in encoded:
            encoded[shown.key] = encode_pixels(shown)
        return encoded[shown.key]


def encode_pixels(shown: Shown) -> bytes:
    """A picture in its format and size."""
    image = Image.fromarray(shown.picture.pixels)
    image.thumbnail((shown.side, shown.side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, shown.format.upper(), quality=shown.quality, subsampling=0)  # PNG ignores both
    return file.getvalue()


def check_size(image: Image.Image, name: str, settings: Settings) -> None:
    """Reject an image that is too large or too small."""
    width, height = image.size
    megapixels = width * height / 1e6
    if megapixels > settings.max_megapixels:
        limit = f"the limit is {settings.max_megapixels:g} (setting max_megapixels)"
        raise ImageError(f"{name} is {width} × {height}, {megapixels:.3g} megapixels; {limit}", "too large")
    if min(width, height) < 2:
        raise ImageError(f"{name} is {width} × {height}: too small to show anything", "too small")


def read_source(source: Source) -> tuple[str, bytes, bytes | Image.Image]:
    """The name of an image, the bytes that identify it, and what it is decoded from."""
    name = str(source) if isinstance(source, str | Path) else "the picture"
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        raise ImageError(f"{name} is a URL; images are read from files: download it first", "an address")
    if not name:
        raise ImageError("the path of the image is empty", "no name")
    try:
        if isinstance(source, np.ndarray):
            source = Image.fromarray(source)
        if isinstance(source, Image.Image):
            if source.mode in ("P", "PA"):  # whose bytes are palette indices, not colours
                source = source.convert("RGBA")
            return name, f"{source.mode} {source.size}".encode() + source.tobytes(), source.copy()
        if isinstance(source, bytes):
            data = source
        else:  # half the time of Path.read_bytes, which counts for small files; fspath refuses file descriptors
            with open(os.fspath(source), "rb") as file:  # noqa: PTH123
                data = file.read()
    except Exception as error:
        kind = "missing" if isinstance(error, FileNotFoundError) else "not opened"
        raise ImageError(f"{name} can't be opened: {getattr(error, 'strerror', None) or error}", kind) from error
    if not data:
        raise ImageError(f"{name} is empty (0 bytes)", "empty")
    return name, data, data


def open_image(encoded: bytes | Image.Image, name: str) -> Image.Image:
    """The image, not yet decoded."""
    if isinstance(encoded, Image.Image):
        return encoded
    try:
        return Image.open(io.BytesIO(encoded), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise ImageError(
            f"{name} is not an image in a supported format ({', '.join(FORMATS)})", "no picture"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} is far too large to open safely: {error}", "too large") from error
    except Exception as error:
        raise ImageError(f"{name} can't be opened: {getattr(error, 'strerror', None) or error}", "damaged") from error


def seek_frame(image: Image.Image, frame: int, name: str) -> tuple[str, ...]:
    """Go to one frame of an animation, and note which."""
    frames = getattr(image, "n_frames", 1)
    if not 0 <= frame < frames:
        raise ImageError(f"{name} has no frame {frame}; it has {frames}, numbered from 0", "no such frame")
    if frames == 1:
        return ()
    image.seek(frame)
    return (f"frame {frame} of {frames}",)


def to_rgb(image: Image.Image) -> Image.Image:
    """RGB on white; 16-bit and floating-point images are scaled, not clipped."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        values = np.asarray(image, dtype=np.float64)
        white = white_level(image.mode, float(values.max(initial=0)))
        image = Image.fromarray(np.clip(values / white * 255, 0, 255).astype(np.uint8))
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def white_level(mode: str, largest: float) -> float:
    """The value of white: fixed by the mode, or the smallest usual one that no pixel exceeds."""
    if mode.startswith("I;16"):
        return 65535.0
    usual = (1.0, 255.0, 65535.0) if mode == "F" else (255.0, 65535.0)
    return next((level for level in usual if largest <= level), largest)
