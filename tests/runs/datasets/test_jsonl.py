"""JSON lines and lists as people have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from onprompt.errors import UserError
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs.datasets import Row, open_dataset


def read(path: Path, content: bytes | str) -> list[Row]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(open_dataset(str(path), VERIFY, {}).rows())


def item(**more: Any) -> str:
    return json.dumps({"image": "a.png", "prompt": "a cat", **more})


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_lines_and_lists(tmp_path: Path, name: str) -> None:
    lines = [item(id=i, major=["cat"], category="animals") for i in range(200)]
    for content in ("\n\n".join(lines), f"\ufeff\n[{', '.join(lines)}]\n"):
        found = read(tmp_path / name, content)
        assert [(row.id, row.error) for row in found] == [(str(i), "") for i in range(200)]
        assert (found[9].item["major"], found[9].category) == (["cat"], "animals")


def test_bad_lines_cost_no_other(tmp_path: Path) -> None:
    bad = [b"{oops", b"[1]", b'"a"', "Käse".encode("latin-1"), b"[" * 100_000, b"1" * 5000, b'{"a": NaN}', b"{}"]
    content = b"\n".join([item().encode(), *bad, b"", item().encode(), item().encode()[:20]])
    found = read(tmp_path / "a.jsonl", content)
    assert [row.error.split(":")[0] for row in found] == [
        *("", "invalid JSON", "expected an object, got list", "expected an object, got str"),
        *["invalid JSON"] * 3,
        *("column 'image' is empty", "column 'image' is empty", "", "invalid JSON"),
    ]
    assert found[-1].line == "a.jsonl:12", "lines are counted, blank ones skipped"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"image": 7}, "column 'image': expected an image or a path, got int"),
        ({"image": {"bytes": None, "path": None}}, "column 'image' is empty"),
        ({"prompt": ["a cat"]}, "column 'prompt': expected text, got list"),
        ({"prompt": "\ud83d"}, "'\\ud83d' contains a NUL or an unpaired surrogate"),
        ({"major": [1]}, "column 'major': expected a list of names, got list"),
        ({"id": {}}, "column 'id': expected text, got dict"),
    ],
)
def test_cells_of_the_wrong_kind_are_bad(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    assert [row.error for row in read(tmp_path / "a.json", f"[{item(**more)}, {item()}]")] == [message, ""]


def test_numbers_are_words_and_columns_may_come_later(tmp_path: Path) -> None:
    content = f'oops\n{{"prompt": "a"}}\n{item(prompt=2001, category=3.5, model="m")}'
    *_, row = read(tmp_path / "a.jsonl", content)
    assert row == Row("a.png", "a.jsonl:3", {"image": str(tmp_path / "a.png"), "prompt": "2001"}, "m", "3.5")


LIST = f"[{', '.join([item()] * 3)}]"


@pytest.mark.parametrize("content", ["", "[]", "oops", "[oops", "\n", b"\xff\xfe{\x00", LIST[:-1], LIST[:-10]])
def test_no_objects_at_all(tmp_path: Path, content: bytes | str) -> None:
    with pytest.raises(UserError, match=r"a.json holds no readable JSON objects; "):
        read(tmp_path / "a.json", content)
