import pytest

from onprompt.errors import UserError
from onprompt.illusion.protocol import SPLITS, Gold, Split, gold, named, troubles

SIN, LOGO, ICON, OLD = (SPLITS[name] for name in ("sin", "logo", "icon", "old_sin"))


@pytest.mark.parametrize(
    ("split", "path", "rule", "meant"),
    [
        (SIN, "data/Airplane/any/airplane-Ocean-Easy-1.25-17.png", ("Airplane", "Ocean"), ("Airplane", "Ocean")),
        (SIN, r"C:\data\Airplane\any\airplane-Ocean-Easy-1.25-17.png", ("Airplane", "Ocean"), ("Airplane", "Ocean")),
        (ICON, "Stationary/any/pen-x-City-Hard-0.85-1.png", ("Stationary", "City"), ("Stationery", "City")),
        # An icon that is named as the images of the other splits are.
        (ICON, "Animal/any/animal-Ocean-Easy-1.4-1.png", ("Animal", "Easy"), ("Animal", "Ocean")),
        (OLD, "cat/cat7-elephant3.png", ("cat", "elephant"), ("cat", "elephant")),
        (OLD, "cat/cat7-elephant10.png", ("cat", "elephant1"), ("cat", "elephant")),
        (SIN, "Cat/any/cat-Ocean.png", ("Cat", "Ocean.png"), ("Cat", "Ocean")),
    ],
)
def test_labels_by_the_originals_rule_and_as_they_are_meant(
    split: Split, path: str, rule: tuple[str, str], meant: tuple[str, str]
) -> None:
    difficulty = next((each for each in ("Easy", "Hard") if f"-{each}-" in path), "")
    assert gold(path, split) == Gold(*rule, difficulty)
    assert named(path, split) == Gold(*meant, difficulty)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("Cat/any/cat.png", "too few fields"),
        ("any/cat-Ocean-Easy.png", "two levels up"),
        ("/any/cat-Ocean-Easy.png", "two levels up"),
    ],
)
def test_paths_that_crash_the_original_are_errors(path: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        gold(path, SIN)


def test_what_is_no_option_is_not_guessed() -> None:
    with pytest.raises(UserError, match="'Horse' is not a shape"):
        named("Horse/any/horse-Ocean-Easy-1.25-1.png", SIN)
    with pytest.raises(UserError, match="no field"):
        named("Cat/any/cat-Desert-Easy-1.25-1.png", SIN)


def test_files_as_they_should_be_are_no_trouble() -> None:
    assert troubles(["cat/any/cat-Ocean-Easy-1.25-1.png", "Car/any/car-Sand_dune-Hard-0.85-2.png"], SIN) == []


def test_troubles_are_counted_in_plain_words() -> None:
    paths = [
        *(f"Stationary/any/stationary-City-Easy-1.25-{number}.png" for number in range(12)),
        *(f"Horse/any/horse-x-City-Easy-1.25-{number}.png" for number in range(2)),
        "Music/any/animal-x-sand dune-Easy-1.25-1.png",
        "Music/any/music-x-Desert-Easy-1.25-1.png",
        "Music/any/music.png",
        *("Music/any/a.jpg", "Music/any/music-x-City-Easy-1.25-1.PNG"),
    ]
    assert troubles(paths, ICON) == [
        "12 files with the shape Stationary: the option is spelled Stationery, so a correct answer scores 0",
        "13 files whose scene by the original's rule is not an option of icon: Easy, Desert",
        "2 files whose shape by the original's rule is not an option of icon: Horse",
        "1 file with the scene sand dune: the option is spelled Sand_dune, so a correct answer scores 0",
        "1 file named after another shape than the folder: animal in Music",
        "1 file on which the original crashes: Music/any/music.png: "
        "no scene: the file name has too few fields between hyphens (1, not 3)",
        "2 files without the extension .png: the original ignores them, here they count",
    ]


def test_troubles_of_cue_conflicts() -> None:
    problems = troubles(["cat/cat1-elephant10.png", "cat/cat1-elephant3.png"], OLD)
    assert problems == ["1 file whose scene by the original's rule is not an option of old_sin: elephant1"]
