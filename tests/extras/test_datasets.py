"""Parquet, and datasets of the Hugging Face hub: made here, for there is no hub."""

import gc
import io
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from PIL import Image

from onprompt.api import judges
from onprompt.errors import ImageError, PluginError, UserError
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.run import opened as illusions
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs import exporting
from onprompt.runs.datasets import Row, open_dataset
from onprompt.runs.datasets.hf import fetch
from onprompt.runs.reading import Run
from onprompt.settings import Settings
from onprompt.types import Rubric
from onprompt.vision.image import load_picture
from tests.runs.test_run import judged, table

# The library leaves files open, which the garbage collector complains of at any later moment.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What is left open is complained of here, and not in somebody else's test."""
    yield
    gc.collect()


def png(grey: int = 0) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 3), (grey,) * 3).save(file, "PNG")
    return file.getvalue()


def cell(grey: int) -> dict[str, Any]:
    """A picture as datasets keep it."""
    return {"bytes": png(grey), "path": None}


def parquet(path: Path, **columns: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=100, compression="none", use_dictionary=False)
    return str(path)


def rows(data: str, rubric: Rubric = VERIFY) -> list[Row]:
    return list(open_dataset(data, rubric, {}).rows())


def test_rows_of_parquet(tmp_path: Path) -> None:
    paths, prompts = [f"{i}.png" for i in range(200)], [f"prompt {i}" for i in range(200)]
    data = parquet(tmp_path / "a.parquet", id=range(200), File=paths, caption=prompts, major=[["cat"]] * 200)
    dataset = open_dataset(data, VERIFY, {})
    assert (dataset.kind, dataset.count) == ("parquet", 200)
    assert dataset.columns == {"id": "id", "image": "File", "prompt": "caption", "major": "major"}
    found = list(dataset.rows())
    values = {"image": str(tmp_path / "150.png"), "prompt": "prompt 150", "major": ["cat"]}
    assert found[150] == Row("150", "a.parquet, row 151", values)
    assert len(found) == 200


def test_pictures_in_parquet(tmp_path: Path) -> None:
    kept = [{"bytes": png(), "path": "x.png"}, {"bytes": None, "path": "y.png"}, {"bytes": None, "path": None}, None]
    found = rows(parquet(tmp_path / "a.parquet", image=kept, prompt=["a", "b", "c", "d"]))
    assert [row.item["image"] for row in found if not row.error] == [png(), str(tmp_path / "y.png")]
    assert [row.id for row in found] == ["1", "y.png", "row 3", "row 4"]
    (row,) = rows(parquet(tmp_path / "b.parquet", image=[png(7)], prompt=["a"]))
    assert row.item["image"] == png(7)


def test_cells_that_are_missing_or_no_text(tmp_path: Path) -> None:
    text = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xe4"))
    found = rows(parquet(tmp_path / "a.parquet", image=["a.png", "b.png"], prompt=text, model=[1.5, float("nan")]))
    assert (found[0].error, found[0].model) == ("", "1.5")
    assert (found[1].id, str(found[1].error)[:10]) == ("b.png", "unreadable")


def test_a_damaged_group_of_rows_costs_no_other(tmp_path: Path) -> None:
    data = parquet(tmp_path / "a.parquet", image=[f"{i}.png" for i in range(300)], prompt=["p"] * 300)
    start = pq.ParquetFile(data).metadata.row_group(1).column(0).data_page_offset
    content = bytearray(Path(data).read_bytes())
    content[start : start + 40] = b"\xff" * 40
    Path(data).write_bytes(content)
    found = rows(data)
    assert sum(not row.error for row in found) == 200
    assert [row.line for row in found if row.error] == ["a.parquet, rows 101 to 200"]


@pytest.mark.parametrize("content", [b"", b"image,prompt\n", b"PAR1" + b"\0" * 20 + b"PAR1"])
def test_what_is_no_parquet(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.parquet is not a readable Parquet file"):
        open_dataset(str(tmp_path / "a.parquet"), VERIFY, {})


def made(*images: str, **columns: Any) -> datasets.Dataset:
    """Three pictures with prompts, or what else is given."""
    columns = {"image": [cell(i) for i in range(3)], "prompt": ["a", "b", "c"]} | columns if not images else columns
    dataset = datasets.Dataset.from_dict(columns)
    for column in images or ("image",):
        dataset = dataset.cast_column(column, datasets.Image())
    return dataset


def test_a_dataset_that_was_saved(tmp_path: Path) -> None:
    made(tag=["x", "y", "z"]).save_to_disk(tmp_path / "one")
    dataset = open_dataset(f"hf:{tmp_path}/one", VERIFY, {})
    assert (dataset.kind, dataset.count) == ("hf", 3)
    assert dataset.columns == {"image": "image", "prompt": "prompt", "category": "tag"}
    assert list(dataset.rows())[2] == Row("3", f"{tmp_path}/one, row 3", {"image": png(2), "prompt": "c"}, category="z")


def test_splits_are_named_where_there_are_several(tmp_path: Path) -> None:
    datasets.DatasetDict(train=made(), test=made().select([0])).save_to_disk(tmp_path / "two")
    assert len(rows(f"hf:{tmp_path}/two:test")) == 1
    with pytest.raises(UserError, match=rf"has several splits; choose one: hf:{tmp_path}/two:train, hf:.*:test"):
        rows(f"hf:{tmp_path}/two")
    with pytest.raises(UserError, match="has no split 'tset'; choose one: "):
        rows(f"hf:{tmp_path}/two:tset")
    with pytest.raises(UserError, match=r"can't open the dataset '.*/gone'"):
        rows(f"hf:{tmp_path}/gone")


def test_a_folder_of_parquet_is_streamed_up_to_the_file_that_is_damaged(tmp_path: Path) -> None:
    made().to_parquet(tmp_path / "d" / "train-0.parquet")
    made().to_parquet(tmp_path / "d" / "train-1.parquet")
    found = rows(f"hf:{tmp_path}/d:train")
    assert [row.item["image"] for row in found if not row.error] == [png(i) for i in (0, 1, 2, 0, 1, 2)]
    assert [row.id for row in found] == ["1", "2", "3", "4", "5", "6"]
    (tmp_path / "d" / "train-1.parquet").write_bytes(b"PAR1 oops")
    *whole, broken = rows(f"hf:{tmp_path}/d")
    assert [row.error for row in whole] == [""] * 3
    assert "the dataset is unreadable from here on" in str(broken.error)


def test_a_damaged_picture_is_left_to_the_judge(tmp_path: Path) -> None:
    made("image", image=[{"bytes": b"oops", "path": "x.png"}, cell(0)], prompt=["a", "b"]).save_to_disk(tmp_path / "d")
    assert [row.error for row in rows(f"hf:{tmp_path}/d")] == ["", ""]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # `datasets` leaves the CSV open
def test_images_in_a_folder_with_metadata(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.png").write_bytes(png(5))
    (tmp_path / "d" / "metadata.csv").write_text("file_name,prompt\na.png,a cat\n")
    (row,) = rows(f"hf:{tmp_path}/d")
    picture = row.item["image"]
    assert (picture if isinstance(picture, bytes) else Path(picture).read_bytes()) == png(5)
    assert row.item["prompt"] == "a cat"


def test_an_edit(tmp_path: Path) -> None:
    two = {"input_image": [cell(1)], "edited_image": [cell(2)]}
    made(*two, **two, edit_prompt=["make it red"]).save_to_disk(tmp_path / "e")
    (row,) = rows(f"hf:{tmp_path}/e", EDIT)
    assert row.item == {"before": png(1), "after": png(2), "instruction": "make it red"}


@pytest.mark.parametrize(("data", "library"), [("a.parquet", "pyarrow"), ("hf:owner/name", "datasets")])
def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: str, library: str) -> None:
    parquet(tmp_path / "a.parquet", image=["a.png"], prompt=["a"])
    for module in (library, "onprompt.runs.datasets.hf", "onprompt.runs.datasets.parquet"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(PluginError, match=rf"needs {library}: pip install 'onprompt\[data\]'"):
        open_dataset(data, VERIFY, {})


def test_no_address_in_a_cell_is_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = f"127.0.0.1:{listener.getsockname()[1]}"
        paths = [
            *(f"http://{near}/a.png", f"simplecache::http://{near}/a.png", f"zip://a.png::http://{near}/a.zip"),
            *(f"hf://datasets/other/name@main/../{near}", f"ftp://{near}/a.png", "memory://a.png"),
        ]
        kept = [{"bytes": None, "path": path} for path in paths]
        parquet(tmp_path / "d" / "train.parquet", image=kept, prompt=["a"] * len(paths))
        for row in rows(f"hf:{tmp_path}/d"):
            with pytest.raises(ImageError):
                load_picture(row.item["image"], Settings())
        listener.settimeout(0.2)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_pictures_of_the_dataset_itself_are_downloaded_from_the_hub() -> None:
    class Near(MemoryFileSystem):  # type: ignore[misc]
        """The hub's files in memory, for the hub itself is out of reach."""

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return "/" + path.removeprefix("hf://").lstrip("/")

    hub = fsspec.get_filesystem_class("hf")
    fsspec.register_implementation("hf", Near, clobber=True)
    try:
        Near().pipe_file("hf://datasets/owner/name@main/a.png", png(9))
        kept = {"bytes": None, "path": "hf://datasets/owner/name@main/a.png"}
        assert fetch(kept, "owner/name") == png(9)
        assert fetch(kept, "owner/nam") == kept
    finally:
        fsspec.register_implementation("hf", hub, clobber=True)


def test_illusions_of_a_hub(tmp_path: Path) -> None:
    path, pictures = "IN/Cat/Easy/cat-Ocean-Easy-1.25-1.png", {"image": [cell(0)] * 2}
    made("image", **pictures, image_name=[path, "x.png"]).save_to_disk(tmp_path / "one")
    first, second = illusions(f"hf:{tmp_path / 'one'}", SPLITS["sin"], {"id": "image_name"}).rows()
    assert (first.id, first.item["gold"][:2], first.item["image"]) == (path, ("Cat", "Ocean"), png())
    assert "add the columns shape and scene" in str(second.error)
    named = {"class": ["Cat", "Dog"], "background": ["Ocean", "City"]}
    made("image", **pictures, **named).save_to_disk(tmp_path / "two")
    found = list(illusions(f"hf:{tmp_path / 'two'}", SPLITS["sin"], {}).rows())
    assert [row.item["prompt"] for row in found] == ["Cat in Ocean", "Dog in City"]


def test_a_run_as_a_dataset(tmp_path: Path) -> None:
    """An exported run is a dataset with its pictures, by one line of the library."""
    judged(tmp_path, table(tmp_path, 5, bad=["x,none.png,1 cats"]))
    judges.close()
    assert exporting.export(Run(tmp_path / "run.sqlite"), tmp_path / "out.parquet", "parquet") == 6
    found = datasets.load_dataset("parquet", data_files=str(tmp_path / "out.parquet"), split="train")
    assert found["score"][:] == [0, 1, 2, 3, 4, None]
    pictures = found.filter(lambda row: row["value"] is not None).cast_column("image", datasets.Image())
    assert pictures[0]["image"].size == (8, 8)
