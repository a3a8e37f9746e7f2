"""What is observed in photos and images of known truth: once, to be believed again under other numbers."""

import random
import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "bench"))
import cases
import claims
from plain_photos import named, photos

from onprompt.evidence.beliefs import believe
from onprompt.evidence.observe import observe
from onprompt.settings import Settings
from onprompt.vision.global_properties import medium, properties
from onprompt.vision.image import open_picture
from onprompt.vision.vocabulary import PROPERTIES

SETTINGS = Settings()
LIMITS = {"absent": 3, "color": 3, "noun": 2}  # fewer claims of a photo than bench/claims.py makes
SEED = 34
# What captions say of people → a prompt, the words for it and those against it.
DESCRIBED = (
    ("sex", "a man", "man|men|guy|boy", "woman|women|lady|girl|female"),
    ("sex", "a woman", "woman|women|lady|girl|female", "man|men|guy|boy"),
    ("age", "a child", "child|children|kid|boy|girl|baby|toddler", "man|men|woman|women|lady|guy|adult"),
    ("action", "a sitting person", "sitting|sits|seated", "standing|stands|walking|riding"),
    ("action", "a standing person", "standing|stands", "sitting|sits|seated|lying"),
)
# A property of the image, what captions say where it holds, and what leaves it open; every photo is a photo.
CAPTIONED = (
    ("photo", "", ""),
    ("painting", "painting of", "painting|drawing|sketch|cartoon"),
    ("black and white", "black and white (?:photo|photograph|picture|image)", "black and white|sepia|old|vintage"),
    ("night", "at night", "night|dark|evening|dusk|sunset|dim"),
)


def observed(picture, prompt):
    """What is observed; of the matcher's estimates those that beliefs ask for, so that no picture is kept."""
    found, asked = observe(prompt, picture, (), SETTINGS), {}

    def estimate(phrase):
        return asked.setdefault(phrase, found.image.estimate(phrase))

    believe(found.scene, replace(found.image, estimate=estimate), SETTINGS)
    kinds = {thing.canonical: found.image.classify(thing.canonical) for thing in found.scene.things}
    return replace(found, image=replace(found.image, estimate=asked.get, classify=kinds.get))


def annotated(data):
    """(photo, claim, what is observed) of all claims on annotated photos."""
    claims.LIMITS.update(LIMITS)
    for photo in photos(data):
        whole = open_picture(photo.path, SETTINGS, 0)
        chance = random.Random(f"{SEED} {photo.path.stem}")
        for case in (*claims.cases(photo, SEED), *pairs(photo, chance), *described(photo)):
            shown = case.picture()
            picture = whole if isinstance(shown, Path) else open_picture(shown, SETTINGS, 0)
            yield photo, case, observed(picture, case.prompt)


def pairs(photo, chance):
    """Two objects that are there, and one with one that is not."""
    lone = [named(kind) for kind in claims.visible(photo, most=1)]
    if len(lone) > 1:
        prompt = " and ".join(chance.sample(lone, 2))
        yield claims.case(photo, "pair", "both", prompt, "object", True, {4})
    if lone and photo.absent:
        prompt = f"{chance.choice(lone)} and {named(chance.choice(photo.absent))}"
        yield claims.case(photo, "pair", "half", prompt, "object", False, {1, 2})


def described(photo):
    """What two captions say of people, and none denies."""
    for kind, prompt, words, against in DESCRIBED if "person" in photo.of else ():
        if photo.said(words) != photo.said(against) and photo.said(f"{words}|{against}", times=2):
            true = photo.said(words)
            yield claims.case(photo, kind, "right" if true else "other", prompt, kind, true, {4} if true else {2, 3})


def properties_of_photos(data):
    """(how surely a property of a whole photo was measured, whether it has it), as far as captions tell."""
    for photo in photos(data):
        picture = open_picture(photo.path, SETTINGS, 0)
        traits = (*properties(picture), medium(picture, SETTINGS))
        for word, words, doubtful in CAPTIONED:
            true = not words or photo.said(words)
            if true or not photo.said(doubtful):
                yield measured_as(word, traits), true


def measured_as(word, traits):
    """How surely a property was measured; None if it was not."""
    kind, value = PROPERTIES.get(word, ("", ""))
    found = next((trait for trait in traits if trait.kind == kind), None)
    return None if found is None else found.confidence if found.value == value else 1 - found.confidence


def generated(data):
    """(row, what is observed) of generated images that people rated."""
    for row in cases.generated(data):
        yield row, observed(open_picture(row["image"], SETTINGS, 0), row["text"])
