"""CSV as people have it."""

import tracemalloc
from pathlib import Path

import pytest

from onprompt.errors import UserError
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs.datasets import Row, open_dataset


def read(path: Path, content: bytes | str) -> list[Row]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(open_dataset(str(path), VERIFY, {}).rows())


def prompts(found: list[Row]) -> list[str]:
    return [f"bad: {row.error}" if row.error else row.item["prompt"] for row in found]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_ends_and_marks(tmp_path: Path, delimiter: str, end: str) -> None:
    others = "".join({",", ";", "|"} - {delimiter})
    lines = [["prompt", "image"], [f"Ein Käse{others}", "a.png"], [], ["b", "b.png"]]
    text = "".join(delimiter.join(cells) + end for cells in lines)
    for bom in ("", "\ufeff"):
        assert prompts(read(tmp_path / "a.csv", bom + text)) == [f"Ein Käse{others}", "b"]


LENGTH = "bad: expected 2 cells, as in the header; got"
QUOTE = "bad: {}: unclosed or misplaced quote (line {})"
NUL = ("bad: 'a\\x00b' contains a NUL or an unpaired surrogate", "bad: invalid path: 'b\\x00.png'")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.tsv", "image\tprompt\ta,b,c,d\nx\ta cat\t\n", ["a cat"]),  # tabs only
        ("a.csv", 'image,prompt\na.png,"a\ncat, ""big"""\nb.png,dog\n', ['a\ncat, "big"', "dog"]),
        ("a.csv", "image,prompt\na.png\nb.png,b,c\nc.png,c\n", [f"{LENGTH} 1", f"{LENGTH} 3", "c"]),
        (
            "a.csv",
            'image,prompt\na.png,"a"b\nb.png,b\nc.png,"never closed\nd.png,d\n',
            [QUOTE.format("',' expected after '\"'", 2), "b", QUOTE.format("unexpected end of data", 5)],
        ),
        ("a.csv", "image,prompt\na.png,a\0b\nb\0.png,b\nc.png,c\n", [*NUL, "c"]),
        ("a.csv", "image,prompt\n", []),
    ],
)
def test_a_bad_row_costs_no_other(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    assert prompts(read(tmp_path / name, text)) == expected


def test_a_cell_without_end_is_bad(tmp_path: Path) -> None:
    found = prompts(read(tmp_path / "a.csv", f'image,prompt\na.png,"{"x" * (34 * 2**20)}\nb.png,b\n'))
    assert ["field larger" in each for each in found] == [True, False]
    assert found[1] == "b"


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    for encoding in ("latin-1", "utf-16"):
        with pytest.raises(UserError, match=r"is not UTF-8 .*; save it as UTF-8"):
            read(tmp_path / "a.csv", ("image,prompt\n" + "a.png,p\n" * 200_000 + "b.png,Käse\n").encode(encoding))
    for content in ("", "\n\n", '"image,prompt\n'):
        with pytest.raises(UserError, match="no readable header line"):
            read(tmp_path / "a.csv", content)


@pytest.mark.slow
def test_rows_are_not_held(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,image,prompt\n" + "".join(f"{i},a.png,{'x' * 2000}\n" for i in range(20_000)))
    dataset = open_dataset(str(path), VERIFY, {})
    tracemalloc.start()
    assert sum(1 for _ in dataset.rows()) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8_000_000  # the file has 40 million
