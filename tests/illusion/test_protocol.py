import hashlib

import pytest

from onprompt.errors import UserError
from onprompt.illusion.protocol import COMPLEX, PUBLISHED, SCENES, SIMPLE, SPLITS, option, split_named

# Of the original's eight texts.
HASHES = {
    ("sin", "shape"): "7c4b65765204dc9e4a94f19a03c3ba7075e54ab4481e923deb56d3923625505b",
    ("sin", "scene"): "8849e97105e6364f33c1a2e8eedc1c37f4417ee4f8e38e3b21395c256d24c304",
    ("logo", "shape"): "ddf2eaf6f18f278ea94c5347453b2560ded92ca4639efc100c38fe1a8ef3f486",
    ("logo", "scene"): "fce1cc2d33571c0445eedbbecec880bc4cecbafefa2eb2745f7f5bb547e44b91",
    ("icon", "shape"): "90aebf98240a4b2d78d98f9831bd29ddb5ba4c92c2e805971cd0535a8fb312a7",
    ("icon", "scene"): "926995c9df123e57bba3c40f348d7d906572d7ced8a0d0161139837701e0fa2c",
    ("old_sin", "shape"): "6889d593083f6be958a545770c260fe5b955366d31b611fe44d0dc99158f5911",
    ("old_sin", "scene"): "b07de53440a4ecf8302a0548e35b91b9d1427d00187eba1efead7dbf6929a668",
}


def test_the_questions_are_the_originals_byte_for_byte() -> None:
    asked = {(name, kind): text for name, split in SPLITS.items() for kind, text in split.questions.items()}
    assert {key: hashlib.sha256(text.encode()).hexdigest() for key, text in asked.items()} == HASHES


def test_the_splits_have_as_many_options_as_the_paper_says() -> None:
    assert {name: len(part.shapes) for name, part in SPLITS.items()} == {
        "sin": 16,
        "logo": 21,
        "icon": 6,
        "old_sin": 16,
    }
    assert (len(SIMPLE), len(COMPLEX), len(set(SCENES))) == (5, 6, 11)


def test_published_figures_are_there_for_every_split_of_the_paper() -> None:
    assert PUBLISHED["GPT-4o"]["LOGO"] == [22.0, 53.3]
    papers = {part.paper for part in SPLITS.values()} - {""}
    assert all(set(figures) == papers for figures in PUBLISHED.values())


def test_a_wrong_split_says_which_was_meant() -> None:
    assert split_named("icon") is SPLITS["icon"]
    with pytest.raises(UserError, match="no split 'icons'; did you mean 'icon'"):
        split_named("icons")


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("icon", "Stationary", "Stationery"),
        ("icon", "face-emoji", "Face_Emoji"),
        ("logo", "Mercedes_Benz", "Mercedes Benz"),
        ("sin", "paperclip", "Paper_clip"),
        ("sin", "Times Square", "Time_square"),
        ("sin", "Easy", ""),
        ("old_sin", "Teapot", ""),
    ],
)
def test_an_option_is_known_by_its_spellings(name: str, words: str, expected: str) -> None:
    assert option(words, SPLITS[name]) == expected


def test_no_two_options_of_a_split_share_a_spelling() -> None:
    for part in SPLITS.values():
        assert [option(known, part) for known in part.options] == list(part.options)
