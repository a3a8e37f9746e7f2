"""Departures to plant: in prompts, option lists, gold labels and images; and what a mutant is."""

from __future__ import annotations

from typing import NamedTuple

from onprompt.illusion.audit.points import Verdict
from tests.illusion.audit.faithful import PYTHON, TOML

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
    Mutant("the last dot", "gold", "scene", 'fields[1].split(".")[0]', "os.path.splitext(fields[1])[0]", PYTHON),
    Mutant(
        "a digit, if there is one",
        "gold",
        "scene",
        'fields[1].split(".")[0][:-1]',
        '__import__("re").sub(r"\\d$", "", fields[1].split(".")[0])',
        PYTHON,
    ),
    Mutant("the extension cut first", "gold", "scene", 'folders[-1].split("-")', 'folders[-1][:-4].split("-")', PYTHON),
    Mutant("scenes in lower case", "gold", "scene", '"icon" else 1]', '"icon" else 1].lower()', PYTHON),
    Mutant("shapes in lower case", "gold", "shape", "folders[-3],", "folders[-3].lower(),", PYTHON, Verdict.HARMLESS),
    Mutant("png without its dot", "gold", "files", '[".png"]', '["png"]'),
    # 3.3: images
    Mutant("bilinear", "resize", "filter", '"lanczos"', '"bilinear"'),
    Mutant("sides swapped", "resize", "sides", '["width", "height"]', '["height", "width"]'),
    Mutant("grey", "resize", "mode", '"RGB"', '"L"'),
    Mutant("bicubic in a function", "resize", "filter", "second), 1)", "second), 3)", PYTHON),
    Mutant("sides swapped in a function", "resize", "sides", "(first, second)", "(second, first)", PYTHON),
    Mutant("no conversion in a function", "resize", "mode", '.convert("RGB")', "", PYTHON),
    Mutant("a gap of 2", "resize", "filter", "second), 1)", "second), 1, reducing_gap=2.0)", PYTHON),
    Mutant("a gap of 3", "resize", "filter", "second), 1)", "second), 1, reducing_gap=3.0)", PYTHON),
    Mutant(
        "a thumbnail first",
        "resize",
        "filter",
        "    return image",
        "    image.thumbnail((120, 72))\n    return image",
        PYTHON,
    ),
    Mutant("never enlarged", "resize", "sides", "(first, second)", "(min(first, image.width), second)", PYTHON),
    Mutant(
        "turned by EXIF",
        "resize",
        "filter",
        "    return image",
        "    from PIL import ImageOps\n    return ImageOps.exif_transpose(image)",
        PYTHON,
    ),
    Mutant("grey ones stay", "resize", "mode", '"RGB"', '"L" if image.mode == "L" else "RGB"', PYTHON),
    Mutant("a palette's own colours", "resize", "mode", '"RGB"', '"P" if image.mode == "P" else "RGB"', PYTHON),
    Mutant("LANCZOS4", "resize", "filter", '"lanczos"', '"cv2.INTER_LANCZOS4"'),
]
