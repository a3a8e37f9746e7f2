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
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_ends_and_marks(tmp_path: Path, delimiter: str, bom: str, end: str) -> None:
    others = "".join({",", ";", "|"} - {delimiter})
    lines = [["prompt", "image"], [f"Ein Käse{others}", "a.png"], [], ["b", "b.png"]]
    text = bom + "".join(delimiter.join(cells) + end for cells in lines)
    assert prompts(read(tmp_path / "a.csv", text)) == [f"Ein Käse{others}", "b"]


def test_a_tsv_has_tabs_only(tmp_path: Path) -> None:
    assert prompts(read(tmp_path / "a.tsv", "image\tprompt\ta,b,c,d\nx\ta cat\t\n")) == ["a cat"]


def test_quotes_hold_newlines_and_lines_are_counted(tmp_path: Path) -> None:
    first, second = read(tmp_path / "a.csv", 'image,prompt\na.png,"a\ncat, ""big"""\nb.png,dog\n')
    assert prompts([first, second]) == ['a\ncat, "big"', "dog"]
    assert (first.line, second.line) == ("a.csv:2", "a.csv:4")


def test_rows_of_another_length_are_bad(tmp_path: Path) -> None:
    found = read(tmp_path / "a.csv", "image,prompt\na.png\nb.png,b,c\nc.png,c\n")
    assert prompts(found) == [
        "bad: expected 2 cells, as in the header; got 1",
        "bad: expected 2 cells, as in the header; got 3",
        "c",
    ]
    assert found[0].id == "row 1"


def test_a_quote_that_goes_wrong_is_bad_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = prompts(read(tmp_path / "a.csv", 'image,prompt\na.png,"a"b\nb.png,b\nc.png,"never closed\nd.png,d\n'))
    assert found[1] == "b"
    assert "unclosed or misplaced quote (line 2)" in found[0]
    assert "unexpected end of data" in found[2]
    assert len(found) == 3


def test_a_nul_is_bad(tmp_path: Path) -> None:
    found = prompts(read(tmp_path / "a.csv", "image,prompt\na.png,a\0b\nb\0.png,b\nc.png,c\n"))
    assert found == [
        "bad: 'a\\x00b' contains a NUL or an unpaired surrogate",
        "bad: invalid path: 'b\\x00.png' (6 characters)",
        "c",
    ]


def test_a_cell_of_ten_megabytes(tmp_path: Path) -> None:
    assert [len(each) for each in prompts(read(tmp_path / "a.csv", f"image,prompt\na.png,{'x' * 10**7}\n"))] == [10**7]


def test_a_cell_without_end_is_bad(tmp_path: Path) -> None:
    found = prompts(read(tmp_path / "a.csv", f'image,prompt\na.png,"{"x" * (34 * 2**20)}\nb.png,b\n'))
    assert ["field larger" in each for each in found] == [True, False]
    assert found[1] == "b"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_what_is_not_utf_8_says_how_to_convert(tmp_path: Path, encoding: str) -> None:
    told = r"is not UTF-8 .*; if it is latin1: iconv -f latin1 -t utf-8 '.*a.csv' > 'a.utf8.csv'"
    with pytest.raises(UserError, match=told):
        read(tmp_path / "a.csv", ("image,prompt\n" + "a.png,p\n" * 200_000 + "b.png,Käse\n").encode(encoding))


def test_a_header_alone_has_no_rows_and_nothing_is_an_error(tmp_path: Path) -> None:
    assert read(tmp_path / "a.csv", "image,prompt\n") == []
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
