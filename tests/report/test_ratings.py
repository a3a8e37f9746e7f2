"""A CSV of what people said, in the forms that it comes in, and what is wrong with it by line and column."""

from pathlib import Path

import numpy as np
import pytest

from onprompt.errors import UserError
from onprompt.report.ratings import Ratings, mean, one_against_rest, read

SAID = {"a": {"r1": 1.0, "r2": 2.0}, "b": {"r1": 3.0}}


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
    ],
)
def test_forms_in_which_ratings_come(tmp_path: Path, text: str) -> None:
    assert read(file(tmp_path, text)).by_item == SAID


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,rating\na,1\n", ("id", "rating")),
        ("image,human,width\na,1,640\n", ("image", "human")),
        ("id,prompt,alice,bob\na,two owls,1,2\n", ("id", "alice", "bob")),
        ("image,uid,model,sc,pq,sc1,sc2,prompt\na,s,m,1,1,1,1,x\n", ("image", "sc1", "sc2")),
        ("image,caption,rater_1,rater_2,mean\na,c,1,1,1\n", ("image", "rater_1", "rater_2")),
        ("annotator,id,score\nx,a,1\n", ("id", "annotator", "score")),
    ],
)
def test_columns_are_guessed(tmp_path: Path, text: str, columns: tuple[str, ...]) -> None:
    assert read(file(tmp_path, text)).columns == columns


def test_columns_can_be_named(tmp_path: Path) -> None:
    wide = file(tmp_path, "id,key,e1,e2,f1,f2\na,k,1,2,3,4\n")
    found = read(wide, id_column="key", rating_columns=["f1", "f2"])
    assert found == Ratings({"k": {"f1": 3.0, "f2": 4.0}}, ("key", "f1", "f2"))
    long = file(tmp_path, "id,who,rating,stars\na,x,1,5\na,y,1,4\n")
    assert read(long, rater_column="who", rating_columns=["stars"]).by_item == {"a": {"x": 5.0, "y": 4.0}}
    marked = file(tmp_path, "id,rater,how_good\na,x,5\n")
    assert read(marked, rating_columns=["how_good"]).by_item == {"a": {"x": 5.0}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,r1,r2\na,1,2\nb,3,good\n", "people.csv, line 3, column 'r2': 'good' is no number"),
        ("id,r1,r2\na,nan,2\n", "line 2, column 'r1': 'nan' is no number"),
        ("id,r1,r2\na,1e999,2\n", "line 2, column 'r1': '1e999' is no number"),
        ('id,r1,r2\na,"1,5",2\n', "line 2, column 'r1': '1,5' is no number"),
        ('prompt,id,r1,r2\n"two\nlines",a,1,2\nx,b,1,?\n', "line 4, column 'r2'"),
        ("id,r1,r2\na,1,2\nb,1,2\na,1,2\n", "line 4, column 'id': 'a' is rated by 'r1' in line 2 already"),
        ("id,rater,rating\na,x,1\na,x,1\n", "line 3, column 'id': 'a' is rated by 'x' in line 2 already"),
        ("id,rater,rating\na,,1\n", "line 2, column 'rater': is blank"),
        ("id,r1,r2\n,1,2\n", "line 2, column 'id': is blank"),
        ("id,r1,r2\na,1,2,3\n", "line 2: has 4 cells, and there are 3 columns"),
        ("id,r1,r1\na,1,2\n", "line 1: column 'r1' is there twice"),
        ('id,r1\na,"1" 2\n', "line 2: is no CSV"),
        ("", "is empty"),
        ("name,r1\na,1\n", "which column holds the items' ids? There are 'name', 'r1'"),
        ("id,e1,e2,f1,f2\na,1,2,3,4\n", "which columns hold the ratings? There are 'e1', 'e2', 'f1', 'f2'"),
        ("id,word\na,good\n", "which columns hold the ratings? There are 'word'"),
        ("id,rater,stars\na,x,1\n", "which column holds the rating"),
        (b"id,r1\n\xff\xfe,1\n", "is not UTF-8 (byte 6)"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(UserError) as error:
        read(file(tmp_path, text))
    assert told in str(error.value)


def test_a_file_or_a_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read: No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(UserError, match=r"has no column 'r9'; there are 'id', 'r1'"):
        read(file(tmp_path, "id,r1\na,1\n"), rating_columns=["r9"])


def test_raters_and_their_span() -> None:
    assert Ratings(SAID).raters == ("r1", "r2")


def test_means_that_are_the_same_tie() -> None:
    assert mean([0.1, 0.2, 0.3]) == mean([0.3, 0.2, 0.1]) == 0.2
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1


def test_each_rater_against_the_others_where_there_is_another() -> None:
    ratings = Ratings({"a": {"x": 1, "y": 2, "z": 4}, "b": {"x": 5}, "c": {"z": 3, "x": 2}})
    found = {each.rater: each for each in one_against_rest(ratings, ["a", "b", "c"])}
    assert list(found) == ["x", "y", "z"]
    np.testing.assert_array_equal(found["x"].places, [0, 2])
    np.testing.assert_array_equal(found["x"].own, [1, 2])
    np.testing.assert_array_equal(found["x"].rest, [3, 3])
    np.testing.assert_array_equal(found["y"].rest, [2.5])
    np.testing.assert_array_equal(found["z"].rest, [1.5, 2])
