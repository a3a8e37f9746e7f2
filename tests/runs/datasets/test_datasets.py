"""Which reader, which columns, which rows: what all kinds of DATA share."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from onprompt.errors import UserError
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs.datasets import Row, open_dataset
from onprompt.types import Rubric

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Makes a file of lines, by default data.csv, and gives its path."""

    def file(*lines: str, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return file


def rows(data: str, rubric: Rubric = VERIFY, **columns: str) -> list[Row]:
    return list(open_dataset(data, rubric, columns).rows())


def good(data: str, rubric: Rubric = VERIFY, **columns: str) -> list[Row]:
    return [row for row in rows(data, rubric, **columns) if not row.error]


def test_two_hundred_rows(write: Write, tmp_path: Path) -> None:
    data = write("image,prompt,model,tag", *(f"{i}.png,prompt {i},m{i % 2},t" for i in range(200)))
    dataset = open_dataset(data, VERIFY, {})
    assert (dataset.kind, dataset.count) == ("csv", 200)
    assert dataset.columns == {"image": "image", "prompt": "prompt", "model": "model", "category": "tag"}
    found = list(dataset.rows())
    assert len(found) == 200
    values = {"image": str(tmp_path / "7.png"), "prompt": "prompt 7"}
    assert found[7] == Row("7.png", "data.csv:9", values, "m1", "t")
    assert list(dataset.rows()) == found


def test_the_first_guess_wins(write: Write) -> None:
    data = write("caption,path,prompt,img", "c,p.png,a cat,i.png")
    assert open_dataset(data, VERIFY, {}).columns == {"image": "img", "prompt": "prompt"}
    data = write("source_image,image,edited_image,text", "s.png,i.png,e.png,make it red")
    used = {"before": "source_image", "after": "edited_image", "instruction": "text"}
    assert open_dataset(data, EDIT, {}).columns == used


@pytest.mark.parametrize(
    ("header", "rubric", "named", "message"),
    [
        ("Image,image,prompt", VERIFY, {}, "ambiguous columns for image: 'Image' and 'image'; .* image=COLUMN"),
        ("image,words", VERIFY, {}, "no column for prompt: .*--column prompt=COLUMN; there are: image, words"),
        ("image,prompt", EDIT, {}, "no column for before"),
        ("image,prompt,prompt", VERIFY, {}, "two columns are named 'prompt'"),
        ("a,b,when", VERIFY, {"prompt": "whem"}, r"no column 'whem'; did you mean 'when'\?"),
        ("a,b,when", VERIFY, {"imgae": "a"}, r"no field 'imgae'; did you mean 'image'\?"),
        ("image,prompt", VERIFY, {"image": ""}, "no column for image"),
    ],
)
def test_what_is_unclear_is_asked_for(
    write: Write, header: str, rubric: Rubric, named: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        open_dataset(write(header), rubric, named)


def test_columns_are_named(write: Write) -> None:
    data = write("a,b,id,when", "x.png,a cat,7,noon")
    (row,) = good(data, image="a", prompt="b", category="when")
    assert (row.id, row.item["prompt"], row.category) == ("7", "a cat", "noon")
    assert good(data, image="a", prompt="b", id="")[0].id == "x.png"
    assert open_dataset(write("Image,image,prompt"), VERIFY, {"image": "Image"}).columns["image"] == "Image"


def test_paths_are_looked_for_beside_the_table_and_then_here(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for path in (here / "a.png", here / "both.png", there / "both.png", there / "in" / "c d.png"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(here)
    names = ["a.png", "both.png", "neither.png", f"file://{there}/in/c%20d.png", f"{here}/a.png", "http://x/y.png"]
    found = good(write("image,prompt", *(f"{name},p" for name in names), name="there/t.csv"))
    assert [row.item["image"] for row in found] == [
        *("a.png", f"{there}/both.png", f"{there}/neither.png"),
        *(f"{there}/in/c d.png", f"{here}/a.png", "http://x/y.png"),
    ]
    ids = ["a.png", "both.png", "neither.png", "in/c d.png", f"{here}/a.png", "http://x/y.png"]
    assert [row.id for row in found] == ids
    monkeypatch.chdir(there)
    assert good("t.csv")[1].item["image"] == "both.png"


def test_no_two_ids_are_the_same(write: Write) -> None:
    data = write("id,image,prompt", *(f"{name},i.png,p" for name in ("a", "a#2", "a", "b", "a", "")), ",i.png,p")
    assert [row.id for row in good(data)] == ["a", "a#2", "a#3", "b", "a#4", "i.png", "i.png#2"]
    assert [row.id for row in good(data, id="")][:2] == ["i.png", "i.png#2"]


def test_major_objects_are_a_list(write: Write) -> None:
    data = write("image,prompt,major", "a.png,p,dog; red cup;", "b.png,p,")
    assert [row.item.get("major") for row in good(data)] == [["dog", "red cup"], None]


def test_a_missing_value_costs_its_own_row(write: Write) -> None:
    first, second, third = rows(write("image,prompt", "a.png,", ",a cat", "b.png,a dog"))
    assert first == Row("a.png", "data.csv:2", first.item, error="column 'prompt' is empty")
    assert second == Row("row 2", "data.csv:3", {"prompt": "a cat"}, error="column 'image' is empty")
    assert not third.error


def test_data_that_is_none(write: Write, tmp_path: Path) -> None:
    write("image,prompt", name="data.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    for data, message in {
        **dict.fromkeys(("", "x" * 5000, "a\0b.csv", str(tmp_path / "data.csv" / "x")), "no such file or folder"),
        "owner/name": "or hf:OWNER/NAME",
        write(name="data.cvs"): r"unsupported file type: .* \(DATA is a .csv",
        "csv:gone": "can't read csv:gone: No such file",
        f"csv:{tmp_path}": "can't read csv:.*: Is a directory",
        str(tmp_path): "no images in",
        str(tmp_path / "pipe.csv"): r"pipe.csv: it is a named pipe, not a regular file",
    }.items():
        with pytest.raises(UserError, match=message):
            open_dataset(data, VERIFY, {})


def test_a_kind_can_be_said_where_the_suffix_does_not(write: Write) -> None:
    data = "csv:" + write("image,prompt", "a.png,p", name="data.txt")
    assert good(data)[0].id == "a.png"
    assert open_dataset(data, VERIFY, {}).source == data
