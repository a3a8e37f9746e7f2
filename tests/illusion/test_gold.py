import pytest

from onprompt.errors import UserError
from onprompt.illusion.protocol import SPLITS, Gold, gold, named, troubles

SIN, LOGO, ICON, OLD = (SPLITS[name] for name in ("sin", "logo", "icon", "old_sin"))


def test_the_class_is_the_folder_two_levels_up_and_the_scene_field_1() -> None:
    expected = Gold("Airplane", "Ocean", "Easy")
    assert gold("data/Airplane/any/airplane-Ocean-Easy-1.25-17.png", SIN) == expected
    assert gold(r"C:\data\Airplane\any\airplane-Ocean-Easy-1.25-17.png", SIN) == expected


def test_the_class_is_spelt_as_the_folder_not_as_the_option() -> None:
    assert gold("Stationary/any/pen-x-City-Hard-0.85-1.png", ICON) == Gold("Stationary", "City", "Hard")
    assert named("Stationary/any/pen-x-City-Hard-0.85-1.png", ICON).shape == "Stationery"


def test_an_icons_scene_is_field_2_so_files_named_like_the_others_say_easy_or_hard() -> None:
    path = "Animal/any/animal-Ocean-Easy-1.4-1.png"
    assert gold(path, ICON).scene == "Easy"
    assert named(path, ICON) == Gold("Animal", "Ocean", "Easy")


def test_old_sin_takes_its_own_folder_and_cuts_one_character_off_the_scene() -> None:
    assert gold("cat/cat7-elephant3.png", OLD) == Gold("cat", "elephant")
    assert gold("cat/cat7-elephant10.png", OLD) == Gold("cat", "elephant1")
    assert named("cat/cat7-elephant10.png", OLD) == Gold("cat", "elephant")


def test_a_last_field_keeps_its_ending_under_the_originals_rule() -> None:
    assert gold("Cat/any/cat-Ocean.png", SIN).scene == "Ocean.png"
    assert named("Cat/any/cat-Ocean.png", SIN).scene == "Ocean"


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
