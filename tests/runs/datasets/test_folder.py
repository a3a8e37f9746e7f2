"""Folders: every layout."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from onprompt.errors import UserError
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs.datasets import Dataset, Row, open_dataset
from onprompt.runs.datasets.folder import prompt_from_name


def make(root: Path, **files: str) -> str:
    """Files by path with their contents; images may be empty, for none is opened."""
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
    (tmp_path / "d/2.png").write_bytes(b"")
    (tmp_path / "d/2.txt").write_bytes(b"K\xe4se")
    (tmp_path / "d/3.png").write_bytes(b"")
    os.mkfifo(tmp_path / "d/3.txt")
    dataset = open_dataset(data, VERIFY, {})
    assert (dataset.kind, dataset.count, dataset.columns["prompt"]) == ("folder", 9, "prompt.txt")
    prompts = found(dataset)
    assert prompts.pop("d/2.png").startswith("bad: can't read 2.txt: 'utf-8' codec")
    assert "named pipe" in prompts.pop("d/3.png")
    assert list(prompts.items()) == [
        *(("a/1.png", "a cat"), ("a/10.JPG", "a cat"), ("a/2.webp", "a dog"), ("a/deep/er/1.png", "a cat")),
        ("b/none.png", "bad: no prompt: there is no prompt.txt or none.txt beside the image"),
        *(("b/c/1.png", "a cow"), ("d/1.png", "bad: prompt.txt is empty")),
    ]


@pytest.mark.parametrize(
    ("stem", "prompt"),
    [
        ("a_red_cup_on_a_table_0", "a red cup on a table"),
        ("a red cup (3)", "a red cup"),
        ("A_cat_seed_42_0", "A cat"),
        ("a_cat_00001_", "a cat"),
        ("a_cat_3f9a2c1b_seed-7_2", "a cat"),
        ("route_66_0", "route 66"),
        ("a_white_facade", "a white facade"),
        ("2_cats", "2 cats"),
        *((stem, None) for stem in ("0001", "12345_0", "3f9a2c1b", "_", "seed_42", "ComfyUI_00001_", "IMG-7")),
    ],
)
def test_a_name_as_a_prompt(stem: str, prompt: str | None) -> None:
    named = prompt_from_name(stem)
    assert named == prompt if prompt else isinstance(named, UserError)


def test_file_names_are_prompts_where_there_is_no_other(tmp_path: Path) -> None:
    data = make(tmp_path, **{"a_cat_0.png": "", "sub/a_dog.png": "", "0.png": "", "readme.txt": "hi"})
    dataset = open_dataset(data, VERIFY, {})
    assert dataset.columns["prompt"] == "the file name"
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
    ids = [("m1/a_cat.png", "m1"), ("m1/a_dog.png", "m1"), ("m2/a_cat.png", "m2"), ("m2/a_dog.png", "m2")]
    assert [(row.id, row.model) for row in rows] == ids
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


def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    for name in (b"a_c\xe4t.png", b"a_c\xe5t.png"):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT))
    rows = list(open_dataset(make(tmp_path, **{"prompt.txt": "a cat"}), VERIFY, {}).rows())
    assert [row.id for row in rows] == ["a_c?t.png", "a_c?t.png#2"]
    assert all(not row.error and Path(row.item["image"]).exists() for row in rows)
    (tmp_path / "prompt.txt").unlink()
    assert all(row.error for row in open_dataset(str(tmp_path), VERIFY, {}).rows())


def test_a_folder_that_is_closed_is_an_error() -> None:
    with TemporaryDirectory() as folder:  # tmp_path is closed to others, and nothing is closed to root
        data, user = make(Path(folder), **{"a_cat.png": "", "closed/a_dog.png": ""}), os.geteuid()
        Path(folder).chmod(0o755)
        (Path(folder) / "closed").chmod(0)
        os.seteuid(user or 65534)
        try:
            with pytest.raises(UserError, match=r"can't list .*closed: Permission denied"):
                open_dataset(data, VERIFY, {})
        finally:
            os.seteuid(user)
            (Path(folder) / "closed").chmod(0o755)


def test_a_folder_has_no_columns_and_no_edits(tmp_path: Path) -> None:
    data = make(tmp_path, **{"a_cat.png": ""})
    with pytest.raises(UserError, match="has no before and no after and no instruction, which edit needs; use"):
        open_dataset(data, EDIT, {})
    with pytest.raises(UserError, match="has no columns to name"):
        open_dataset(data, VERIFY, {"image": "file"})
