"""Step 0: decode any image that people have to upright RGB of a limited size."""

import hashlib
import io
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from onprompt.errors import ImageError
from onprompt.files import read_file
from onprompt.settings import Settings
from onprompt.types import Decoded, Picture, SentImage

Source = str | Path | bytes | Image.Image | NDArray[np.uint8]
# Formats that Pillow hands to another program, such as EPS, are left out.
Image.init()
SUPPORTED = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "PPM", "ICO")
FORMATS = tuple(name for name in SUPPORTED if name in Image.OPEN)  # an older Pillow has no AVIF
DRAFT_SCALE = 0.75  # fraction of max_side below which no JPEG is decoded
GAP = 1.5  # how many times the size it gets an image is at least reduced to by whole factors: faster, and as good
BAND = 2**20  # pixels of a large image that are converted at a time
ORIENTATION = 0x0112  # in EXIF
DECODING_SECONDS = 10  # of processor time, which other work on the machine does not change; 100 megapixels take 1 to 4
# Bytes for each pixel while an image is decoded, as measured; of others, 4 for the pixels themselves.
BYTES_PER_PIXEL = {"WEBP": 17, "AVIF": 12, "PROGRESSIVE": 6}


class TimedBytes(io.BytesIO):
    """A file in memory that can be read as long as its decoder has not worked too long."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name, self.end = name, time.thread_time() + DECODING_SECONDS

    def read(self, size: int | None = -1) -> bytes:
        if time.thread_time() > self.end:
            raise ImageError(f"{self.name} takes more than {DECODING_SECONDS} s to decode", "too slow")
        return super().read(size)


def load_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """Read and decode an image, or raise an ImageError that says why it can't be."""
    picture = open_picture(source, settings, frame)
    _ = picture.decoded
    return picture


def open_picture(source: Source, settings: Settings, frame: int = 0) -> Picture:
    """A picture that is decoded on first access; whether it can be is not known before."""
    name, data, encoded = read_source(source, settings)
    decode = partial(decode_image, encoded, name, settings, frame)
    return Picture(name, hashlib.sha256(data).hexdigest(), decode, frame, settings.max_side)


def load_resized(source: Source, settings: Settings, size: tuple[int, int]) -> Picture:
    """A picture resized to a width and height by a Lanczos filter, whatever its aspect ratio."""
    name, data, encoded = read_source(source, settings)
    with decoding_errors(name):
        image = open_image(encoded, name)
        check_size(image, name, settings, len(data))
        resized = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    return replace(open_picture(resized, settings), name=name)


def decode_image(encoded: bytes | Image.Image, name: str, settings: Settings, frame: int) -> Decoded:
    """One frame of a file or of an image in memory: upright, RGB, no longer than `max_side`."""
    with decoding_errors(name):
        image = open_image(encoded, name)
        file_size = len(encoded) if isinstance(encoded, bytes) else 0
        check_size(image, name, settings, file_size)
        notes = seek_frame(image, frame, name)
        check_size(image, name, settings, file_size)  # the pages of a TIFF have sizes of their own
        width, height = image.size
        scale = DRAFT_SCALE * settings.max_side / max(width, height)
        image.draft("RGB", (math.ceil(width * scale), math.ceil(height * scale)))  # JPEGs decode at a half or a quarter
        image = ImageOps.exif_transpose(shrink_large(image, settings.max_side))
        size = (height, width) if (image.width > image.height) != (width > height) else (width, height)
        image = to_rgb(image)
        image.thumbnail((settings.max_side, settings.max_side), Image.Resampling.BILINEAR, reducing_gap=GAP)
        if min(image.size) < 2:
            raise ImageError(f"{name} is {width} × {height}: too narrow to show anything", "too small")
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


def encode_image(shown: SentImage) -> bytes:
    """A picture as it is sent to models, encoded once for all of them."""
    encoded = shown.picture.encoded
    if shown.key not in encoded:
        image, file = Image.fromarray(shown.picture.pixels), io.BytesIO()
        image.thumbnail((shown.side, shown.side), Image.Resampling.LANCZOS)
        image.save(file, shown.format.upper(), quality=shown.quality, subsampling=0)  # PNG ignores both
        encoded[shown.key] = file.getvalue()
    return encoded[shown.key]


def shrink_large(image: Image.Image, side: int) -> Image.Image:
    """An image of far more pixels than are needed in RGB and the size that is, made in bands: they take little memory.

    The pixels are those of Pillow's `thumbnail`, which has to have the whole image in RGB.
    """
    factor = int(max(image.size) / side / GAP)
    if factor < 2:
        return image
    (width, height), white = image.size, white_level(image)
    reduced = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    rows = factor * max(1, BAND // (width * factor))
    for top in range(0, height, rows):
        band = image.crop((0, top, width, min(top + rows, height)))
        reduced.paste(to_rgb(band, white).reduce(factor), (0, top // factor))
    scale = side / max(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    shrunk = reduced.resize(size, Image.Resampling.BILINEAR, (0, 0, width / factor, height / factor))
    shrunk.getexif()[ORIENTATION] = image.getexif().get(ORIENTATION, 1)
    return shrunk


def check_size(image: Image.Image, name: str, settings: Settings, file_size: int) -> None:
    """Reject an image that is too large or too small."""
    width, height = image.size
    megapixels = width * height / 1e6
    if megapixels > settings.max_megapixels:
        limit = f"the limit is {settings.max_megapixels:g} (setting max_megapixels)"
        raise ImageError(f"{name} is {width} × {height}, {megapixels:.3g} megapixels; {limit}", "too large")
    kind = "PROGRESSIVE" if image.info.get("progressive") else image.format or ""
    megabytes = megapixels * BYTES_PER_PIXEL.get(kind, 4) + file_size / 1e6
    if megabytes > settings.max_megabytes:
        limit = f"the limit is {settings.max_megabytes:,} (setting max_megabytes)"
        raise ImageError(f"{name} takes about {megabytes:,.0f} MB of memory to decode; {limit}", "too large")
    if min(width, height) < 2:
        raise ImageError(f"{name} is {width} × {height}: too small to show anything", "too small")


def read_source(source: Source, settings: Settings) -> tuple[str, bytes, bytes | Image.Image]:
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
            if source.mode in ("P", "PA"):  # whose bytes are palette indices, not colors
                source = source.convert("RGBA")
            return name, f"{source.mode} {source.size}".encode() + source.tobytes(), source.copy()
        data = source if isinstance(source, bytes) else read_file(source, settings.max_megabytes * 10**6)
    except Exception as error:
        kind = "missing" if isinstance(error, FileNotFoundError) else "not opened"
        raise ImageError(f"{name} can't be opened: {getattr(error, 'strerror', None) or error}", kind) from error
    if not data:
        raise ImageError(f"{name} is empty (0 bytes)", "empty")
    return name, data, data


def open_image(encoded: bytes | Image.Image, name: str) -> Image.Image:
    """The image, not yet decoded; to be called inside of `decoding_errors`."""
    if isinstance(encoded, Image.Image):
        return encoded
    try:
        return Image.open(TimedBytes(encoded, name), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise ImageError(
            f"{name} is not an image in a supported format ({', '.join(FORMATS)})", "no picture"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} is far too large to open safely: {error}", "too large") from error


def seek_frame(image: Image.Image, frame: int, name: str) -> tuple[str, ...]:
    """Go to one frame of an animation, and note which."""
    try:
        image.seek(frame)
    except EOFError as error:
        raise ImageError(f"{name} has no frame {frame}; the first is 0", "no such frame") from error
    return (f"frame {frame} of an animation",) if getattr(image, "is_animated", False) else ()


def to_rgb(image: Image.Image, white: float = 0.0) -> Image.Image:
    """RGB on white; 16-bit and floating-point images are scaled, not clipped, by their white level."""
    if is_deep(image):
        scaled = np.asarray(image, dtype=np.float64) / (white or white_level(image)) * 255
        image = Image.fromarray(np.clip(np.nan_to_num(scaled), 0, 255).astype(np.uint8))
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa"):
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def is_deep(image: Image.Image) -> bool:
    """Whether a pixel has one value of more than 8 bits."""
    return image.mode in ("I", "F") or image.mode.startswith("I;16")


def white_level(image: Image.Image) -> float:
    """The value of white in a deep image: fixed by the mode, or the smallest usual one that no pixel exceeds."""
    if not is_deep(image) or image.mode.startswith("I;16"):
        return 65535.0
    largest = float(np.nan_to_num(image.getextrema()[1], posinf=1.0))
    usual = (1.0, 255.0, 65535.0) if image.mode == "F" else (255.0, 65535.0)
    return next((level for level in usual if largest <= level), largest)
