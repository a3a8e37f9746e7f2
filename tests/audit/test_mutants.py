"""Every planted departure is found, in its section; a faithful copy has none."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from onprompt.audit.points import Verdict
from onprompt.audit.whole import audit
from tests.audit.faithful import FUNCTIONS, PYTHON, TOML, written

OUTCOME = 'function = "copy_of_it:score"\ntakes = ["prediction", "shape", "scene"]\nreturns = "outcome"'
COUNTS = 'function = "copy_of_it:counts"\ntakes = ["prediction", "shape", "scene"]\nreturns = "counts"'
ASKED = 'function = "copy_of_it:asked"\ntakes = ["question", "prediction", "shape", "scene"]\nreturns = "outcome"'
MATCH = 'function = "copy_of_it:match"\ntakes = ["prediction", "label"]\nreturns = "match"\ncombine = "shape first"'


class Mutant(NamedTuple):
    """One departure: what is replaced by what, the section that has to tell it, and a word of the point's title."""

    name: str
    section: str
    title: str
    old: str
    new: str
    base: str = TOML
    verdict: Verdict = Verdict.CHANGES
    calling: str = OUTCOME


SHAPE = "    if shape.lower() in prediction:"
SCENE = 'scene.lower() in prediction or scene.replace("_", " ") in prediction'
LOWER = "    prediction = prediction.lower()"
DUNE, COMPLEX = ', "Sand_dune"', "\ncomplex = ["
ICON = '[prompts.icon]\nshape = "This image contains a icon'
MUTANTS = [
    # 1: prompts
    Mutant("a letter in the prompt", "prompt", "wording", "Identify the shape that is", "Identify the shapes that is"),
    Mutant("an icon", "prompt", "wording", ICON, ICON.replace("a icon", "an icon")),
    Mutant("a capital letter", "prompt", "wording", ICON, ICON.replace("This", "this")),
    Mutant("two spaces", "prompt", "wording", ICON, ICON.replace("This image", "This  image")),
    Mutant("shape for icon", "prompt", "wording", "Identify the icon", "Identify the shape"),
    Mutant(
        "icon for logo",
        "prompt",
        "wording",
        "to forming the logo. Identify the logo",
        "to forming the icon. Identify the logo",
    ),
    Mutant("space after the colon", "prompt", "options", "options:{shapes}", "options: {shapes}"),
    Mutant("space after the shapes", "prompt", "options", "{shapes},{simple}", "{shapes}, {simple}"),
    Mutant("no space between the scenes", "prompt", "options", "{simple}, {complex}", "{simple},{complex}"),
    Mutant("complex before simple", "prompt", "options", "{simple}, {complex}", "{complex}, {simple}"),
    Mutant("scenes before shapes", "prompt", "options", "{shapes},{simple}, {complex}", "{simple}, {complex},{shapes}"),
    Mutant("semicolons", "prompt", "options", 'join = ", "', 'join = "; "'),
    Mutant("old_sin joined as the others", "prompt", "options", 'shapes = ",", ', 'shapes = ", ", '),
    Mutant("a full stop before Provide", "prompt", "options", "{complex} Provide", "{complex}. Provide"),
    Mutant("no full stop in the scene question", "prompt", "options", "{complex}. Provide", "{complex} Provide"),
    Mutant("no scenes offered", "prompt", "options", ",{simple}, {complex}", ""),
    Mutant("represents the icon, in logo", "prompt", "format", "represents the logo", "represents the icon"),
    Mutant("the scene question wants the icon", "prompt", "format", "represents the background", "represents the icon"),
    Mutant("one word", "prompt", "format", "with a single word", "with one word"),
    Mutant("no output format", "prompt", "format", " You have to respond with a single word.", ""),
    Mutant("an answer is asked for", "prompt", "format", "single word.", "single word. Answer:"),
    Mutant("a newline at the end", "prompt", "format", "single word.", "single word.\\n", verdict=Verdict.HARMLESS),
    # 2: options
    Mutant("a shape dropped", "options", "shape", '"Scooter", ', ""),
    Mutant("a shape added", "options", "shape", '"Vehicle"', '"Vehicle", "Building"'),
    Mutant("the order changed", "options", "shape", '"Tesla", "Telegram"', '"Telegram", "Tesla"'),
    Mutant("Stationary", "options", "shape", "Stationery", "Stationary"),
    Mutant("lower case", "options", "shape", '"Cat"', '"cat"'),
    Mutant("Mercedes-Benz", "options", "shape", "Mercedes Benz", "Mercedes-Benz"),
    Mutant("a shape twice", "options", "shape", '"oven"', '"oven", "oven"'),
    Mutant("Times_square", "options", "scene", "Time_square", "Times_square"),
    Mutant("a scene dropped", "options", "scene", '"Museum", ', ""),
    Mutant("scenes in another order", "options", "scene", '"Ocean", "Origami"', '"Origami", "Ocean"'),
    Mutant(
        "a simple scene made complex", "options", "scene", ', "Sand_dune"]\ncomplex = [', ']\ncomplex = ["Sand_dune", '
    ),
    # 3.1: scoring
    Mutant("no lower case", "scoring", "upper case", LOWER, "    pass", PYTHON),
    Mutant("the label in its own case", "scoring", "spelt", SHAPE, SHAPE.replace(".lower()", ""), PYTHON),
    Mutant(
        "elif turned into if",
        "scoring",
        "shape and scene",
        '"texture": told == "texture"',
        '"texture": scene.lower() in prediction.lower()',
        PYTHON,
        calling=COUNTS,
    ),
    Mutant(
        "the scene's question has no shape",
        "scoring",
        "shape and scene",
        "return score(prediction, shape, scene)",
        'return score(prediction, "no shape" if question == "scene" else shape, scene)',
        PYTHON,
        calling=ASKED,
    ),
    Mutant("two matches, each for itself", "scoring", "shape and scene", "shape first", "independent", calling=MATCH),
    Mutant("two matches, the scene's first", "scoring", "shape and scene", "shape first", "scene first", calling=MATCH),
    Mutant("rest is not counted", "scoring", "empty", '"rest": told == "rest"', '"rest": 0', PYTHON, calling=COUNTS),
    Mutant(
        "scene first",
        "scoring",
        "shape and scene",
        SHAPE,
        f'    if {SCENE}:\n        return "texture"\n{SHAPE}',
        PYTHON,
    ),
    Mutant("equality", "scoring", "sentence", SHAPE, "    if shape.lower() == prediction:", PYTHON),
    Mutant(
        "equality after strip",
        "scoring",
        "sentence",
        SHAPE,
        "    if shape.lower() == prediction.strip():",
        PYTHON,
    ),
    Mutant("starts with", "scoring", "sentence", SHAPE, "    if prediction.startswith(shape.lower()):", PYTHON),
    Mutant("ends with", "scoring", "marks", SHAPE, "    if prediction.endswith(shape.lower()):", PYTHON),
    Mutant("words", "scoring", "inside", SHAPE, "    if shape.lower() in prediction.split():", PYTHON),
    Mutant(
        "word boundaries",
        "scoring",
        "inside",
        SHAPE,
        "    import re\n    if re.search(rf'\\b{re.escape(shape.lower())}\\b', prediction):",
        PYTHON,
    ),
    Mutant(
        "space for underscore in shapes",
        "scoring",
        "form of a shape",
        "shape.lower() in prediction:",
        'shape.lower().replace("_", " ") in prediction.replace("_", " "):',
        PYTHON,
    ),
    Mutant(
        "hyphen for space in shapes",
        "scoring",
        "form of a shape",
        "shape.lower() in prediction:",
        'shape.lower() in prediction.replace("-", " "):',
        PYTHON,
    ),
    Mutant(
        "the space variant in lower case",
        "scoring",
        "form of a scene",
        'scene.replace("_", " ")',
        'scene.replace("_", " ").lower()',
        PYTHON,
    ),
    Mutant("no space variant", "scoring", "named in lower case", f" {SCENE}:", " scene.lower() in prediction:", PYTHON),
    Mutant("first line only", "scoring", "line", LOWER, LOWER + '.split("\\n")[0]', PYTHON),
    Mutant("first sentence only", "scoring", "line", LOWER, LOWER + '.partition(".")[0]', PYTHON),
    Mutant("first word only", "scoring", "sentence", LOWER, LOWER + '.partition(" ")[0]', PYTHON),
    Mutant("two hundred characters", "scoring", "long", LOWER, LOWER + "[:200]", PYTHON),
    Mutant("punctuation removed", "scoring", "form", LOWER, LOWER + '.replace("-", "").replace("_", "")', PYTHON),
    Mutant(
        "one option only", "scoring", "two options", SHAPE, SHAPE.replace(":", ' and " or " not in prediction:'), PYTHON
    ),
    Mutant("not is heard", "scoring", "denial", SHAPE, SHAPE.replace(":", ' and "not" not in prediction:'), PYTHON),
    Mutant(
        "plurals are refused",
        "scoring",
        "plural",
        SHAPE,
        '    if shape.lower() in prediction and shape.lower() + "s" not in prediction:',
        PYTHON,
    ),
    Mutant("an empty answer is right", "scoring", "empty", SHAPE, SHAPE.replace(":", " or not prediction:"), PYTHON),
    Mutant("an empty answer crashes", "scoring", "empty", LOWER, LOWER + "\n    prediction[0]", PYTHON),
    Mutant(
        "stationary is mended",
        "scoring",
        "folder",
        SHAPE,
        '    if shape.lower().replace("stationary", "stationery") in prediction:',
        PYTHON,
    ),
    Mutant("rest is a scene", "scoring", "spelt", 'return "rest"', 'return "scene"', PYTHON),
    Mutant("case folded", "scoring", "letters", LOWER, LOWER.replace("lower", "casefold"), PYTHON, Verdict.HARMLESS),
    # 3.2: gold labels
    Mutant("one folder up", "gold", "shape", "sin = { shape_folder = 2", "sin = { shape_folder = 1"),
    Mutant("two up in old_sin", "gold", "shape", "old_sin = { shape_folder = 1", "old_sin = { shape_folder = 2"),
    Mutant("gold from the file's name", "gold", "shape", "logo = { shape_folder = 2,", "logo = { shape_field = 0,"),
    Mutant(
        "a field too far",
        "gold",
        "scene",
        'sin = { shape_folder = 2, separator = "-", scene_field = 1',
        'sin = { shape_folder = 2, separator = "-", scene_field = 2',
    ),
    Mutant("icons as the others", "gold", "scene", "scene_field = 2", "scene_field = 1"),
    Mutant(
        "split at underscores",
        "gold",
        "scene",
        'logo = { shape_folder = 2, separator = "-"',
        'logo = { shape_folder = 2, separator = "_"',
    ),
    Mutant("nothing cut off", "gold", "scene", "drop_last = 1", "drop_last = 0"),
    Mutant("the dot kept", "gold", "scene", 'until = ".", ', ""),
    Mutant("jpg counts", "gold", "files", '[".png"]', '[".png", ".jpg"]'),
    Mutant("PNG counts", "gold", "files", '[".png"]', '[".png", ".PNG"]'),
    Mutant("off by one in a function", "gold", "shape", "folders[-3]", "folders[-2]", PYTHON),
    Mutant(
        "digits cut in a function",
        "gold",
        "scene",
        '.split(".")[0][:-1]',
        '.split(".")[0].rstrip("0123456789")',
        PYTHON,
    ),
    # 3.3: images
    Mutant("bilinear", "resize", "filter", '"lanczos"', '"bilinear"'),
    Mutant("sides swapped", "resize", "sides", '["width", "height"]', '["height", "width"]'),
    Mutant("grey", "resize", "mode", '"RGB"', '"L"'),
    Mutant("bicubic in a function", "resize", "filter", "second), 1)", "second), 3)", PYTHON),
    Mutant("sides swapped in a function", "resize", "sides", "(first, second)", "(second, first)", PYTHON),
    Mutant("no conversion in a function", "resize", "mode", '.convert("RGB")', "", PYTHON),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_every_planted_departure_is_found(mutant: Mutant, tmp_path: Path) -> None:
    toml, python = TOML.replace(OUTCOME, mutant.calling), PYTHON
    if mutant.base is PYTHON:
        toml, python = FUNCTIONS.replace(OUTCOME, mutant.calling), replaced(PYTHON, mutant)
    else:
        toml = replaced(toml, mutant)
    found = audit(written(tmp_path / "it", toml, python))
    told = [point for point in found.points if point.verdict in (Verdict.CHANGES, Verdict.HARMLESS)]
    here = [point for point in told if point.section == mutant.section and mutant.title in point.title]
    assert mutant.verdict in [point.verdict for point in here], [(point.section, point.title) for point in told]
    assert all(point.example for point in here)
    assert found.aligned is (mutant.verdict is Verdict.HARMLESS)


def replaced(text: str, mutant: Mutant) -> str:
    assert mutant.old in text
    return text.replace(mutant.old, mutant.new, 1)


@pytest.mark.parametrize("toml", [TOML, FUNCTIONS], ids=["rules", "functions"])
@pytest.mark.parametrize("calling", [OUTCOME, COUNTS, ASKED], ids=["outcome", "counts", "asked"])
def test_a_faithful_copy_has_none(toml: str, calling: str, tmp_path: Path) -> None:
    found = audit(written(tmp_path / "it", toml.replace(OUTCOME, calling)))
    other = [point for point in found.points if point.verdict is not Verdict.ALIGNED]
    assert [(point.title, point.where, point.example) for point in other] == []
    assert found.aligned
    splits = {point.where.partition(",")[0] for point in found.points if point.section == "prompt"}
    assert splits == {"sin", "logo", "icon", "old_sin"}


def test_a_departure_that_changes_nothing_is_none(tmp_path: Path) -> None:
    python = PYTHON.replace("prediction = prediction.lower()", "prediction = prediction.strip().lower()")
    found = audit(written(tmp_path / "it", TOML, python))
    assert found.aligned
    assert not found.having(Verdict.CHANGES)


def test_there_are_enough_mutants_of_every_section() -> None:
    sections = [mutant.section for mutant in MUTANTS]
    assert len(MUTANTS) >= 70
    assert all(sections.count(each) >= 6 for each in ("prompt", "options", "scoring", "gold", "resize"))
