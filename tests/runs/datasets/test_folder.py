"""Folders and globs: every layout."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from onprompt.errors import UserError
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.rate import RUBRIC as RATE
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs.datasets import Dataset, Row, open_dataset
from onprompt.runs.datasets.folder import load, natural, prompt_from_name


def make(root: Path, **files: str) -> str:
    """Files by path with their contents; images may be empty, for none is open_dataset."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return str(root)


def found(dataset: Dataset) -> dict[str, str]:
    """The prompt of each row by its id, or why there is none."""
    return {row.id: f"bad: {row.error}" if row.error else row.item["prompt"] for row in dataset.rows()}


def geneval(*numbers: int, model: str = "") -> dict[str, str]:
    """Files as GenEval's generation writes them, with two samples to a prompt."""
    files = {}
    for number in numbers:
        folder = f"{model}{number:05}"
        files[f"{folder}/metadata.jsonl"] = f'{{"tag": "counting", "include": [], "prompt": "{number} cats"}}'
        files |= {f"{folder}/grid.png": "", f"{folder}/samples/0000.png": "", f"{folder}/samples/0001.png": ""}
    return files


def test_genevals_layout(tmp_path: Path) -> None:
    dataset = open_dataset(make(tmp_path, **geneval(*range(100))), VERIFY, {})
    assert (dataset.kind, dataset.count) == ("folder", 200)
    assert dataset.columns == {"image": "the files", "prompt": "metadata.jsonl", "category": "tag in metadata.jsonl"}
    rows = list(dataset.rows())
    where = "00001/samples/0000.png"
    values = {"image": str(tmp_path / where), "prompt": "1 cats"}
    assert rows[2] == Row(where, where, values, category="counting")
    assert len(rows) == 200


def test_genevals_layout_once_for_each_model(tmp_path: Path) -> None:
    dataset = open_dataset(make(tmp_path, **geneval(0, 1, model="flux/"), **geneval(0, 1, model="sdxl/")), RATE, {})
    assert dataset.columns["model"] == "the first folder"
    rows = [row for row in dataset.rows() if not row.error]
    assert [row.model for row in rows] == ["flux"] * 4 + ["sdxl"] * 4
    (tmp_path / "sdxl/00001/samples/0001.png").unlink()
    assert "model" not in open_dataset(str(tmp_path), RATE, {}).columns


def test_metadata_that_is_bad_costs_its_own_images(tmp_path: Path) -> None:
    files = geneval(0, 1, 2, 3)
    files |= {"00001/metadata.jsonl": "{oops", "00002/metadata.jsonl": "[]", "00003/metadata.jsonl": '{"tag": "x"}'}
    messages = found(open_dataset(make(tmp_path, **files), VERIFY, {}))
    assert messages["00000/samples/0000.png"] == "0 cats"
    assert messages["00001/samples/0001.png"].startswith("bad: 00001/metadata.jsonl: invalid JSON")
    assert messages["00002/samples/0001.png"].endswith("has no prompt")
    assert messages["00003/samples/0001.png"] == "bad: column 'prompt' is empty"


def test_prompts_beside_images(tmp_path: Path) -> None:
    data = make(
        tmp_path,
        **{"a/prompt.txt": "\ufeffa cat\n", "a/1.png": "", "a/10.JPG": "", "a/2.webp": "", "a/2.txt": "a dog"},
        **{"a/deep/er/1.png": "", "b/c/prompt.txt": "a cow", "b/c/1.png": "", "b/none.png": "", "a/notes.md": ""},
        **{"d/prompt.txt": " ", "d/1.png": "", "a/.hidden.png": "", ".git/1.png": "", "a/._1.png": ""},
    )
    dataset = open_dataset(data, VERIFY, {})
    assert (dataset.kind, dataset.count, dataset.columns["prompt"]) == ("folder", 7, "prompt.txt")
    assert list(found(dataset).items()) == [
        *(("a/1.png", "a cat"), ("a/2.webp", "a dog"), ("a/10.JPG", "a cat"), ("a/deep/er/1.png", "a cat")),
        ("b/none.png", "bad: no prompt: there is no prompt.txt or none.txt beside the image"),
        *(("b/c/1.png", "a cow"), ("d/1.png", "bad: prompt.txt is empty")),
    ]


def test_a_prompt_that_is_not_utf_8_is_bad(tmp_path: Path) -> None:
    data = make(tmp_path, **{"a.png": "", "b.png": "", "b.txt": "a cat"})
    (tmp_path / "a.txt").write_bytes(b"K\xe4se")
    assert found(open_dataset(data, VERIFY, {}))["a.png"].startswith("bad: can't read a.txt: 'utf-8' codec")


@pytest.mark.parametrize(
    ("stem", "prompt"),
    [
        ("a_red_cup_on_a_table_0", "a red cup on a table"),
        ("a-red-cup", "a red cup"),
        ("a red cup (3)", "a red cup"),
        ("A_cat_seed_42_0", "A cat"),
        ("a_cat_seed42", "a cat"),
        ("a_cat_00001_", "a cat"),
        ("a_cat_1234567_3", "a cat"),
        ("a_cat_3f9a2c1b", "a cat"),
        ("a_cat_3f9a2c1b_seed-7_2", "a cat"),
        ("route_66_0", "route 66"),
        ("a_white_facade", "a white facade"),
        ("2_cats", "2 cats"),
    ],
)
def test_a_name_as_a_prompt(stem: str, prompt: str) -> None:
    assert prompt_from_name(stem) == prompt


@pytest.mark.parametrize(
    "stem", ["0001", "12345_0", "3f9a2c1b", "_", "seed_42", "sample_151_1", "ComfyUI_00001_", "IMG-7"]
)
def test_a_name_that_is_no_prompt(stem: str) -> None:
    assert isinstance(prompt_from_name(stem), UserError)


def test_file_names_are_prompts_where_there_is_no_other(tmp_path: Path) -> None:
    data = make(tmp_path, **{"a_cat_0.png": "", "sub/a_dog.png": "", "0.png": "", "readme.txt": "hi"})
    dataset = open_dataset(data, VERIFY, {})
    assert (dataset.kind, dataset.columns["prompt"]) == ("folder", "the file name")
    prompts = found(dataset)
    assert (prompts["a_cat_0.png"], prompts["sub/a_dog.png"]) == ("a cat", "a dog")
    assert prompts["0.png"].startswith("bad: no prompt in the file name '0'")
    (tmp_path / "0.txt").write_text("a cow")
    prompts = found(open_dataset(data, VERIFY, {}))
    assert prompts["0.png"] == "a cow"
    assert prompts["a_cat_0.png"].startswith("bad: no prompt")


def test_models_are_folders_with_the_same_files_and_prompts(tmp_path: Path) -> None:
    data = make(tmp_path, **{f"{model}/{name}.png": "" for model in ("m1", "m2") for name in ("a_cat", "a_dog")})
    rows = list(open_dataset(data, VERIFY, {}).rows())
    assert [(row.id, row.model) for row in rows if not row.error] == [
        *(("m1/a_cat.png", "m1"), ("m1/a_dog.png", "m1"), ("m2/a_cat.png", "m2"), ("m2/a_dog.png", "m2")),
    ]
    make(tmp_path, **{"m1/prompt.txt": "one", "m2/prompt.txt": "two"})
    assert "model" not in open_dataset(data, VERIFY, {}).columns  # folders of prompts
    make(tmp_path, **{"m2/prompt.txt": "one"})
    assert "model" in open_dataset(data, VERIFY, {}).columns
    make(tmp_path, **{"a_cow.png": ""})
    assert "model" not in open_dataset(data, VERIFY, {}).columns


def test_links_do_not_loop(tmp_path: Path) -> None:
    data = make(tmp_path / "data", **{f"{name}/a_cat.png": "" for name in "abcdefgh"} | {"z/x_0.png": ""})
    for name in "abcdefgh":
        for other in "abcdefgh":
            (tmp_path / "data" / name / f"to_{other}").symlink_to(tmp_path / "data" / other)
        (tmp_path / "data" / name / "up").symlink_to("..")
    (tmp_path / "data" / "self").symlink_to("self")
    (tmp_path / "data" / "self.png").symlink_to("self.png")
    make(tmp_path / "outside", **{"a_dog.png": ""})
    (tmp_path / "data" / "linked").symlink_to(tmp_path / "outside")
    prompts = found(open_dataset(data, VERIFY, {}))
    assert sorted(prompts.values()) == ["a cat"] * 8 + ["a dog", "self", "x"]
    assert len(found(open_dataset(f"{data}/**/*.png", VERIFY, {}))) == 11


def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    for name in (b"a_c\xe4t.png", b"a_c\xe5t.png"):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT))
    rows = list(open_dataset(make(tmp_path, **{"prompt.txt": "a cat"}), VERIFY, {}).rows())
    assert [row.id for row in rows] == ["a_c?t.png", "a_c?t.png#2"]
    assert all(not row.error and Path(row.item["image"]).exists() for row in rows)
    (tmp_path / "prompt.txt").unlink()
    assert all(row.error for row in open_dataset(str(tmp_path), VERIFY, {}).rows())


def test_a_folder_that_is_closed_is_a_bad_row() -> None:
    with TemporaryDirectory() as folder:  # tmp_path is closed to others, and nothing is closed to root
        data, user = make(Path(folder), **{"a_cat.png": "", "closed/a_dog.png": ""}), os.geteuid()
        Path(folder).chmod(0o755)
        (Path(folder) / "closed").chmod(0)
        os.seteuid(user or 65534)
        try:
            table = load(data)
            (cat, cells), (closed, why) = table.records(())
        finally:
            os.seteuid(user)
            (Path(folder) / "closed").chmod(0o755)
    assert (table.count, table.kind) == (2, "folder")
    assert isinstance(cells, dict)
    assert (cat, cells["prompt"]) == ("a_cat.png", "a cat")
    assert (closed, str(why)) == ("closed/", "can't list the folder")


def test_a_folder_has_no_columns_and_no_edits(tmp_path: Path) -> None:
    data = make(tmp_path, **{"a_cat.png": ""})
    with pytest.raises(UserError, match="has no before and no after and no instruction, which edit needs; use"):
        open_dataset(data, EDIT, {})
    with pytest.raises(UserError, match="has no columns to name"):
        open_dataset(data, VERIFY, {"image": "file"})


def test_the_order_is_natural() -> None:
    assert sorted(["a10", "a9", "a09", "10", "2", "b"], key=natural) == ["2", "10", "a09", "a9", "a10", "b"]


def test_globs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["a_cat.png", "a_dog.jpg", "x/a_cow.png", "x/y/a_hen.png", "[z]/an_owl.png", "notes.txt", "x/.h.png"]
    make(tmp_path, **dict.fromkeys(files, ""))
    monkeypatch.chdir(tmp_path)
    for pattern, ids in {
        "*.png": ["a_cat.png"],
        "*": ["a_cat.png", "a_dog.jpg"],
        "a_?at.png": ["a_cat.png"],
        "a_[cd]*": ["a_cat.png", "a_dog.jpg"],
        "*/*.png": ["[z]/an_owl.png", "x/a_cow.png"],
        "x/**/*.png": ["a_cow.png", "y/a_hen.png"],
        "**/y/*": ["x/y/a_hen.png"],
        "x/**": ["a_cow.png", "y/a_hen.png"],
        f"{tmp_path}/x/?_*": ["a_cow.png"],
        "[[]z]/*": ["[z]/an_owl.png"],
    }.items():
        dataset = open_dataset(pattern, VERIFY, {})
        assert [row.id for row in dataset.rows()] == ids, pattern
        assert (dataset.kind, dataset.count) == ("glob", len(ids))
    assert [row.id for row in open_dataset("[z]", VERIFY, {}).rows()] == ["an_owl.png"]
    assert [row.item["image"] for row in open_dataset("x/*", VERIFY, {}).rows() if not row.error] == ["x/a_cow.png"]


def test_a_glob_finds_prompts_as_a_folder_does(tmp_path: Path) -> None:
    data = make(tmp_path, **geneval(0, 1))
    for pattern, count in (("*/samples/*.png", 4), ("00001/samples/*.png", 2), ("*/samples/0001.png", 2)):
        dataset = open_dataset(f"{data}/{pattern}", VERIFY, {})
        assert (dataset.count, dataset.columns["prompt"]) == (count, "metadata.jsonl")
        assert list(found(dataset).values())[-1] == "1 cats"
