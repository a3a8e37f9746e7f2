"""The benchmark as published: questions byte for byte, options, and gold labels from paths."""

import hashlib

import pytest

from onprompt.errors import UserError
from onprompt.illusion.protocol import PUBLISHED, SCENES, SPLITS, Gold, gold, named, option, split_named, troubles

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


def test_options_figures_and_spellings() -> None:
    assert [len(part.shapes) for part in SPLITS.values()] == [16, 21, 6, 16]
    assert len(set(SCENES)) == 11
    papers = {part.paper for part in SPLITS.values()} - {""}
    assert all(set(figures) == papers for figures in PUBLISHED.values())
    for part in SPLITS.values():  # no two options of a split share a spelling
        assert [option(known, part) for known in part.options] == list(part.options)
    with pytest.raises(UserError, match="no split 'icons'; did you mean 'icon'"):
        split_named("icons")


@pytest.mark.parametrize(
    ("split", "path", "rule", "meant"),
    [
        ("sin", "data/Airplane/any/airplane-Ocean-Easy-1.25-17.png", ("Airplane", "Ocean"), ("Airplane", "Ocean")),
        ("sin", r"C:\data\Cat\any\cat-Times Square-Hard-0.85-1.png", ("Cat", "Times Square"), ("Cat", "Time_square")),
        ("icon", "Stationary/any/pen-x-City-Hard-0.85-1.png", ("Stationary", "City"), ("Stationery", "City")),
        # An icon that is named as the images of the other splits are.
        ("icon", "Animal/any/animal-Ocean-Easy-1.4-1.png", ("Animal", "Easy"), ("Animal", "Ocean")),
        ("old_sin", "cat/cat7-elephant3.png", ("cat", "elephant"), ("cat", "elephant")),
        ("old_sin", "cat/cat7-elephant10.png", ("cat", "elephant1"), ("cat", "elephant")),
        ("sin", "Cat/any/cat-Ocean.png", ("Cat", "Ocean.png"), ("Cat", "Ocean")),
    ],
)
def test_labels_by_the_originals_rule_and_as_they_are_meant(
    split: str, path: str, rule: tuple[str, str], meant: tuple[str, str]
) -> None:
    difficulty = next((each for each in ("Easy", "Hard") if f"-{each}-" in path), "")
    assert gold(path, SPLITS[split]) == Gold(*rule, difficulty)
    assert named(path, SPLITS[split]) == Gold(*meant, difficulty)


def test_what_crashes_the_original_is_an_error_and_what_is_no_option_is_not_guessed() -> None:
    for function, path, message in (
        (gold, "Cat/any/cat.png", "too few fields"),
        (gold, "/any/cat-Ocean-Easy.png", "two levels up"),
        (named, "Horse/any/horse-Ocean-Easy-1.25-1.png", "'Horse' is not a shape"),
        (named, "Cat/any/cat-Desert-Easy-1.25-1.png", "no field"),
    ):
        with pytest.raises(UserError, match=message):
            function(path, SPLITS["sin"])


def test_troubles_are_counted_in_plain_words() -> None:
    paths = [
        *(f"Stationary/any/stationary-City-Easy-1.25-{number}.png" for number in range(12)),
        *(f"Horse/any/horse-x-City-Easy-1.25-{number}.png" for number in range(2)),
        "Music/any/animal-x-sand dune-Easy-1.25-1.png",
        "Music/any/music-x-Desert-Easy-1.25-1.png",
        *("Music/any/music.png", "Music/any/a.jpg", "Music/any/music-x-City-Easy-1.25-1.PNG"),
    ]
    assert troubles(paths, SPLITS["icon"]) == [
        "12 files with the shape Stationary: the option is spelled Stationery, so a correct answer scores 0",
        "13 files whose scene by the original's rule is not an option of icon: Easy, Desert",
        "2 files whose shape by the original's rule is not an option of icon: Horse",
        "1 file with the scene sand dune: the option is spelled Sand_dune, so a correct answer scores 0",
        "1 file on which the original crashes: Music/any/music.png: "
        "no scene: the file name has too few fields between hyphens (1, not 3)",
        "2 files without the extension .png: the original ignores them, here they count",
    ]
    problems = troubles(["cat/cat1-elephant10.png", "cat/cat1-elephant3.png"], SPLITS["old_sin"])
    assert problems == ["1 file whose scene by the original's rule is not an option of old_sin: elephant1"]
    assert troubles(["cat/any/cat-Ocean-Easy-1.25-1.png"], SPLITS["sin"]) == []
