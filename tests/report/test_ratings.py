"""Human ratings in all layouts, and errors by line and column."""

from pathlib import Path

import numpy as np
import pytest

from onprompt.errors import UserError
from onprompt.report.ratings import Ratings, leave_one_out, mean, read

GIVEN = {"a": {"r1": 1.0, "r2": 2.0}, "b": {"r1": 3.0}}


def file(folder: Path, text: str | bytes) -> Path:
    path = folder / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "id,r1,r2\na,1,2\nb,3,\n",
        "id,r1,r2\r\n\r\na,1,2\r\nb,3\r\n",  # Windows, a blank line, a row that ends early
        "\ufeffid;r1;r2\na;1,0;2,0\nb;3;\n",  # Excel in half of Europe
        "\ufeffid\tr1\tr2\na\t1\t2\nb\t3\t\n",
        "prompt,ID,r1,r2,model,mean\nx,a,1,2,m,1.5\ny,b,3,,m,3\n",  # a series goes before a mean
        "id,rater,rating\na,r1,1\na,r2,2\nb,r1,3\nb,r2,\n",
        "rater,item,prompt,rating\nr1,a,x,1\nr1,b,x,3\nr2,a,x,2\n",
        "id,r1,r2\na,1,2\nb,3,\na,1.0,2\nb,3,\n",  # the same rows twice
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    assert read(file(tmp_path, text)).by_item == GIVEN


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,rating\na,1\n", ("id", "rating")),
        ("image,human,width\na,1,640\n", ("image", "human")),
        ("image,caption,rater_1,rater_2,mean\na,c,1,1,1\n", ("image", "rater_1", "rater_2")),
        ("annotator,id,score\nx,a,1\n", ("id", "annotator", "score")),
    ],
)
def test_columns_are_guessed(tmp_path: Path, text: str, columns: tuple[str, ...]) -> None:
    assert read(file(tmp_path, text)).columns == columns


def test_columns_can_be_named(tmp_path: Path) -> None:
    wide = file(tmp_path, "id,key,e1,e2,f1,f2\na,k,1,2,3,4\n")
    result = read(wide, id_column="key", rating_columns=["f1", "f2"])
    assert result == Ratings({"k": {"f1": 3.0, "f2": 4.0}}, ("key", "f1", "f2"))
    long = file(tmp_path, "id,who,rating,stars\na,x,1,5\na,y,1,4\n")
    assert read(long, rater_column="who", rating_columns=["stars"]).by_item == {"a": {"x": 5.0, "y": 4.0}}
    marked = file(tmp_path, "id,rater,how_good\na,x,5\n")
    assert read(marked, rating_columns=["how_good"]).by_item == {"a": {"x": 5.0}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,r1,r2\na,1,2\nb,3,good\n", "people.csv, line 3, column 'r2': 'good' is not a number"),
        ("id,r1,r2\na,1e999,2\n", "line 2, column 'r1': '1e999' is not a number"),
        ('id,r1,r2\na,"1,5",2\n', "line 2, column 'r1': '1,5' is not a number"),
        ('prompt,id,r1,r2\n"two\nlines",a,1,2\nx,b,1,?\n', "line 4, column 'r2'"),
        ("id,r1,r2\na,1,2\nb,1,2\na,1,3\n", "line 4, column 'id': 'r2' rated 'a' differently in line 2"),
        ("id,r1\na,1\na,\n", "line 3, column 'id': 'r1' rated 'a' differently in line 2"),
        ("id,rater,rating\na,,1\n", "line 2, column 'rater': blank cell"),
        ("id,r1,r2\na,1,2,3\n", "line 2: 4 cells in a table of 3 columns"),
        ("id,r1,r1\na,1,2\n", "two columns are named 'r1'"),
        ('id,r1\na,"1" 2\n', "line 2: invalid CSV"),
        ("", "has no readable header line"),
        ("name,r1\na,1\n", "which column has the ids? Name it: --column id=COLUMN; the columns are 'name', 'r1'"),
        ("id,e1,e2,f1,f2\na,1,2,3,4\n", "which columns have the ratings? Name it: --column rating=COLUMN"),
        ("id,word\na,good\n", "which columns have the ratings? Name it: --column rating=COLUMN; the columns are 'id'"),
        ("id,rater,stars\na,x,1\n", "which column has the rating"),
        (b"id,r1\n\xff\xfe,1\n", "is not UTF-8 (invalid start byte)"),
    ],
)
def test_errors_name_their_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(UserError) as error:
        read(file(tmp_path, text))
    assert message in str(error.value)


def test_missing_files_and_columns(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"can't read .*: No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(UserError, match=r"no column 'r9'; the columns are 'id', 'r1'"):
        read(file(tmp_path, "id,r1\na,1\n"), rating_columns=["r9"])


def test_equal_means_tie() -> None:
    assert mean([0.1, 0.2, 0.3]) == mean([0.3, 0.2, 0.1]) == 0.2


def test_each_rater_is_left_out_once() -> None:
    ratings = Ratings({"a": {"x": 1, "y": 2, "z": 4}, "b": {"x": 5}, "c": {"z": 3, "x": 2}, "d": {"alone": 1}})
    nan = np.nan
    expected = [  # own ratings and the means of the others
        ([1, nan, 2, nan], [3, nan, 3, nan]),
        ([2, nan, nan, nan], [2.5, nan, nan, nan]),
        ([4, nan, 3, nan], [1.5, nan, 2, nan]),
    ]
    np.testing.assert_array_equal(leave_one_out(ratings, ["a", "b", "c", "d"]), expected)
