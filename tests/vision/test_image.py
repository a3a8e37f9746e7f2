"""Step 0 on every kind of picture that people have."""

import io
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from onprompt.errors import ImageError
from onprompt.settings import Settings
from onprompt.types import Decoded, Picture
from onprompt.vision.image import TimedBytes, load_picture


def half_red_half_blue(size: tuple[int, int] = (60, 40)) -> Image.Image:
    image = Image.new("RGB", size, "red")
    image.paste("blue", (size[0] // 2, 0, *size))
    return image


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def near(pixel: np.ndarray, color: tuple[int, int, int], tolerance: int = 45) -> bool:
    return all(abs(int(a) - b) <= tolerance for a, b in zip(pixel, color, strict=True))


RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF"])
def test_common_formats_give_the_same_picture(kind: str, settings: Settings) -> None:
    picture = load_picture(encoded(half_red_half_blue(), kind), settings)
    assert picture.size == (60, 40)
    assert picture.pixels.shape == (40, 60, 3)
    assert near(picture.pixels[3, 3], RED)
    assert near(picture.pixels[3, -3], BLUE)


def test_exif_orientation_turns_the_picture_upright(settings: Settings) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held on its side
    picture = load_picture(encoded(half_red_half_blue(), "JPEG", exif=exif, quality=95), settings)
    assert picture.size == (40, 60)
    assert picture.pixels.shape == (60, 40, 3)
    assert near(picture.pixels[3, 20], RED)
    assert near(picture.pixels[-3, 20], BLUE)


def test_sixteen_bits_are_scaled_not_clipped_and_what_is_transparent_is_white(settings: Settings) -> None:
    deep = encoded(Image.fromarray(np.full((20, 30), 32768, dtype=np.uint16)), "PNG")
    assert near(load_picture(deep, settings).pixels[3, 3], (128, 128, 128), 2)
    for mode in ("RGBA", "LA", "PA"):
        clear = Image.new("RGBA", (20, 20), (0, 0, 0, 0)).convert(mode)
        assert near(load_picture(clear, settings).pixels[3, 3], WHITE, 2)


def animation() -> bytes:
    frames = [Image.new("RGB", (20, 20), color) for color in ("red", "blue", "white")]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])


def paged_tiff(pages: int) -> bytes:
    """A file with many pages, all of them the same 8 × 8 gray pixels."""
    tags = ((256, 8), (257, 8), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (278, 8), (279, 64))
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    size = 2 + len(entries) + 4
    ends = [8 + size * number if number < pages else 0 for number in range(1, pages + 1)]
    directories = b"".join(struct.pack("<H", len(tags)) + entries + struct.pack("<I", end) for end in ends)
    return b"II*\0" + struct.pack("<I", 8) + directories + bytes(64)


def test_one_frame_of_an_animation_is_chosen_and_noted(settings: Settings) -> None:
    assert near(load_picture(animation(), settings).pixels[3, 3], RED)
    second = load_picture(animation(), settings, frame=1)
    assert near(second.pixels[3, 3], BLUE)
    assert second.notes == ("frame 1 of an animation",)


NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (encoded(NOISE, "JPEG")[:20_000], "is damaged or truncated"),
        (encoded(NOISE, "PNG")[:20_000], "is damaged or truncated"),
        (encoded(NOISE, "JPEG")[:12], "is damaged or truncated"),
        (b"this is not a picture at all, whatever its name says", "is not an image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n", "is not an image in a supported"),
        (encoded(Image.new("1", (20_000, 20_000)), "PNG"), "far too large|megapixels"),
    ],
    ids=["empty", "half a jpeg", "half a png", "a header", "text", "a program", "400 megapixels"],
)
def test_broken_files_say_what_is_wrong(data: bytes, why: str, settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    with pytest.raises(ImageError, match=rf"picture.png .*({why})"):
        load_picture(path, settings)


def test_no_file_a_folder_and_a_speck_are_clear_errors(settings: Settings, tmp_path: Path) -> None:
    missing, speck = tmp_path / "nowhere.png", Image.new("RGB", (1, 1))
    for source, why in ((missing, "No such file"), (tmp_path, "directory"), (speck, "too small")):
        with pytest.raises(ImageError, match=why):
            load_picture(source, settings)


def test_arrays_bytes_and_images_are_taken_as_they_are(settings: Settings) -> None:
    pixels = np.asarray(half_red_half_blue())
    for source in (pixels, half_red_half_blue(), encoded(half_red_half_blue(), "PNG")):
        assert np.array_equal(load_picture(source, settings).pixels, pixels)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "AVIF"])
def test_damaged_files_are_pictures_or_clear_errors(kind: str, settings: Settings) -> None:
    whole = bytearray(encoded(half_red_half_blue((64, 48)), kind))
    rng, errors = np.random.default_rng(0), list[str]()
    for _ in range(120):
        damaged = whole.copy()
        for place in rng.integers(0, len(whole), 6):
            damaged[place] = rng.integers(0, 256)
        try:
            assert load_picture(bytes(damaged), settings).pixels.ndim == 3
        except ImageError as error:
            errors.append(str(error))
    assert all(error.startswith("the picture") for error in errors)


def test_a_page_has_its_own_size_and_limit(settings: Settings) -> None:
    pages = [Image.new("RGB", (100, 100)), Image.new("RGB", (300, 200))]
    stack = encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    assert load_picture(stack, settings, frame=1).size == (300, 200)
    with pytest.raises(ImageError, match="300 × 200"):
        load_picture(stack, settings.model_copy(update={"max_megapixels": 0.02}), frame=1)


def test_only_regular_files_are_opened(settings: Settings, tmp_path: Path) -> None:
    pipe, link, listening = tmp_path / "pipe.png", tmp_path / "link.png", tmp_path / "socket.png"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listening))
        kinds = {pipe: "named pipe", listening: "socket", Path("/dev/zero"): "device", link: "device"}
        for path, what in kinds.items():
            with pytest.raises(ImageError, match=f"can't be opened: it is a {what}, not a regular file"):
                load_picture(path, settings)


def test_a_file_that_is_too_large_is_not_read_whole(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "sparse.png"
    with path.open("wb") as file:
        file.truncate(10**12)  # a terabyte of zeros that takes no place
    with pytest.raises(ImageError, match="it is larger than 1 MB"):
        load_picture(path, settings.model_copy(update={"max_megabytes": 1}))


def test_a_picture_that_would_take_too_much_memory_is_refused(settings: Settings) -> None:
    small, image = settings.model_copy(update={"max_megabytes": 10}), Image.new("RGB", (1000, 1000))
    assert load_picture(encoded(image, "PNG"), small).size == (1000, 1000)
    assert load_picture(encoded(image, "JPEG", progressive=True), small).size == (1000, 1000)
    with pytest.raises(ImageError, match=r"takes about 17 MB of memory to decode; the limit is 10 \(setting max_meg"):
        load_picture(encoded(image, "WEBP"), small)


CHILD = """
import resource, sys
from onprompt.settings import load
from onprompt.vision.image import load_picture
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
load_picture(sys.argv[1], load())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("mode", ["I;16", "LA", "P"])
def test_no_picture_takes_many_times_its_pixels(mode: str, tmp_path: Path) -> None:
    """25 megapixels: at 4 bytes each 100 MB, and 25 more for all that is done with them."""
    path = tmp_path / "large.png"
    options: dict[str, Any] = {"transparency": 0} if mode == "P" else {}
    Image.new(mode, (5000, 5000)).save(path, compress_level=1, **options)
    child = subprocess.run([sys.executable, "-c", CHILD, path], capture_output=True, text=True, check=True)
    assert int(child.stdout) < 125_000, "kilobytes"


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "I;16", "P"])
def test_a_picture_that_is_reduced_in_bands_is_the_same(mode: str, settings: Settings) -> None:
    """Against Pillow's own thumbnail of the whole; 4,001 and 3,001 are no multiples of the factor."""
    rows, columns = np.mgrid[0:3001, 0:4001]
    gray = ((rows // 7 + columns // 5) % 256).astype(np.uint16)
    image = Image.fromarray(gray * 257) if mode == "I;16" else Image.fromarray(gray.astype(np.uint8)).convert(mode)
    plain = Image.fromarray(gray.astype(np.uint8)).convert(mode if mode == "P" else "L").convert("RGB")
    plain.thumbnail((1280, 1280), Image.Resampling.BILINEAR, reducing_gap=1.5)
    pixels = load_picture(image, settings).pixels.astype(int)
    assert pixels.shape == np.asarray(plain).shape
    assert np.abs(pixels - np.asarray(plain)).max() <= 2


def test_pictures_are_decoded_at_the_same_time_each_once() -> None:
    both, decoded = threading.Barrier(2), []

    def decode() -> Decoded:
        both.wait(5)  # breaks unless the other one is being decoded, too
        decoded.append(1)
        return Decoded(np.zeros((2, 2, 3), dtype=np.uint8), (2, 2))

    pictures = [Picture(name, name, decode) for name in "ab"]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda picture: picture.size, pictures)) == [(2, 2), (2, 2)]
    assert [picture.size for picture in pictures] == [(2, 2), (2, 2)]
    assert len(decoded) == 2


def test_a_tiff_with_thousands_of_pages_takes_a_moment(settings: Settings) -> None:
    start = time.process_time()
    picture = load_picture(paged_tiff(20_000), settings)
    assert picture.notes == ("frame 0 of an animation",)
    assert load_picture(paged_tiff(5), settings, frame=4).notes == ("frame 4 of an animation",)
    with pytest.raises(ImageError, match="no frame 5; the first is 0"):
        load_picture(paged_tiff(5), settings, frame=5)
    assert time.process_time() - start < 3


def test_decoding_has_a_limit_of_time() -> None:
    file = TimedBytes(animation(), "slow.gif")
    image = Image.open(file)
    file.end = time.thread_time()
    with pytest.raises(ImageError, match=r"slow.gif takes more than 10 s to decode"):
        image.seek(1)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("size", [(2, 5000), (5000, 2), (3, 3841), (9000, 2)])
def test_a_picture_that_scaling_leaves_one_pixel_wide_is_refused(
    size: tuple[int, int], kind: str, settings: Settings
) -> None:
    with pytest.raises(ImageError, match="too narrow to show anything"):
        load_picture(encoded(Image.new("RGB", size), kind), settings)
