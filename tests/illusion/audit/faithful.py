"""A re-implementation that does all that the original does: what mutants are made of."""

from __future__ import annotations

from pathlib import Path

HEAD = "integrated into a background, where elements of the background contribute to forming the"
MIDDLE = "that is represented in the image by choosing exclusively among the following options:"
TAIL = "Provide your response by stating only the single, most accurate class name that represents the"
END = "You have to respond with a single word."


def questions(split: str, noun: str, identify: str, join: str) -> str:
    """The two templates of a split."""
    options = "{shapes},{simple}, {complex}"
    return f"""
[prompts.{split}]
shape = "This image contains a icon {HEAD} {noun}. Identify the {identify} {MIDDLE}{options} {TAIL} {noun}. {END}"
scene = "This image contains an icon {HEAD} {noun}. Identify the background {MIDDLE}{options}. {TAIL} background. {END}"
join = {join}
"""


TOML = f"""name = "a faithful copy"
{questions("sin", "icon", "shape", '", "')}
{questions("logo", "logo", "logo", '", "')}
{questions("icon", "icon", "icon", '", "')}
{questions("old_sin", "icon", "icon", '{ shapes = ",", scenes = ", " }')}
[options]
simple = ["Ocean", "Origami", "Forest", "Cloud", "Sand_dune"]
complex = ["Medieval_Village", "City", "Underwater_ruins", "Museum", "Bazaar_market", "Time_square"]

[options.shapes]
sin = ["Airplane", "Bicycle", "Bird", "Bottle", "Car", "Cat", "Dog", "Dolphin", "Fork", "Guitar", "Mug", "Panda",
       "Paper_clip", "Sailboat", "Scooter", "Teapot"]
logo = ["Adidas", "Amazon", "Apple", "Audi", "BMW", "Mercedes Benz", "Facebook", "Google", "Instagram", "Mcdonalds",
        "Nasa", "Nike", "Olympics", "Playstation", "Puma", "Reebok", "Spotify", "Starbucks", "Tesla", "Telegram",
        "Ubuntu"]
icon = ["Animal", "Face_Emoji", "Music", "Sport", "Stationery", "Vehicle"]
old_sin = ["airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat", "chair", "clock", "dog", "elephant",
           "keyboard", "knife", "oven", "truck"]

[scoring]
function = "copy_of_it:score"
takes = ["prediction", "shape", "scene"]
returns = "outcome"

[totals]
over = "all answers"

[gold]
extensions = [".png"]
sin = {{ shape_folder = 2, separator = "-", scene_field = 1 }}
logo = {{ shape_folder = 2, separator = "-", scene_field = 1 }}
icon = {{ shape_folder = 2, separator = "-", scene_field = 2 }}
old_sin = {{ shape_folder = 1, separator = "-", scene_field = 1, until = ".", drop_last = 1 }}

[resize]
filter = "lanczos"
size = ["width", "height"]
mode = "RGB"
"""

PYTHON = """import os

def score(prediction, shape, scene):
    prediction = prediction.lower()
    if shape.lower() in prediction:
        return "shape"
    elif scene.lower() in prediction or scene.replace("_", " ") in prediction:
        return "texture"
    return "rest"

def asked(question, prediction, shape, scene):
    return score(prediction, shape, scene)

def counts(prediction, shape, scene):
    outcome = score(prediction, shape, scene)
    return {"shape": outcome == "shape", "texture": outcome == "texture", "rest": outcome == "rest"}

def match(prediction, label):
    return int(label.lower() in prediction.lower() or label.replace("_", " ") in prediction.lower())

def recall(outcomes, question):
    return outcomes.count(question) / len(outcomes)

def percentages(predictions, shapes, scenes):
    found = [score(*each) for each in zip(predictions, shapes, scenes)]
    return {name: round(100 * found.count(name) / len(found), 1) for name in ("shape", "texture")}

def gold(path, split):
    folders = path.split(os.sep)
    fields = folders[-1].split("-")
    if split == "old_sin":
        return folders[-2], fields[1].split(".")[0][:-1]
    return folders[-3], fields[2 if split == "icon" else 1]

def resize(image, first, second):
    return image.convert("RGB").resize((first, second), 1)
"""
TOTALS = '[totals]\nfunction = "copy_of_it:recall"\ntakes = ["outcomes", "question"]\n\n'
PERCENTAGES = """
[totals]
function = "copy_of_it:percentages"
takes = ["predictions", "shapes", "scenes"]
scale = "percent"
"""
GOLD = '[gold]\nfunction = "copy_of_it:gold"\ntakes = ["path", "split"]\nextensions = [".png"]\n\n[resize]\n'
FUNCTIONS = TOML[: TOML.index("[totals]")] + TOTALS + GOLD + 'function = "copy_of_it:resize"\n'


def written(folder: Path, toml: str = TOML, python: str = PYTHON) -> Path:
    """The description and the module in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "copy_of_it.py").write_text(python)
    path = folder / "target.toml"
    path.write_text(toml)
    return path
