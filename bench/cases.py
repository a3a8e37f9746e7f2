"""Pictures and texts to judge, made from DATA: rated by people, own captions, others, swapped ones."""

import csv
import json
import random
import re

import numpy as np

NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")
COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "black", "white", "brown", "gray")
CAPTIONS = 2  # of each photo
APART = 0.15  # how far the centres of two objects are from each other, in widths, to be surely left or right


def generated(data):
    """Generated images with their prompts, and how well people think they agree."""
    for row in csv.DictReader((data / "t2i/Text-To-Image.csv").open()):
        yield {
            **{"image": data / "t2i" / row["image"], "text": row["prompt"], "group": row["prompt"]},
            **{"rated": [float(row["sc"])], "category": row["category"], "model": row["model"]},
        }


def captioned(data):
    """Photos with captions, their own and others', and what three experts think of them."""
    for row in csv.DictReader((data / "flickr8k/expert.csv").open()):
        yield {
            **{"image": data / "flickr8k" / row["image"], "text": row["caption"], "group": row["group"]},
            "rated": [int(row[name]) for name in ("e1", "e2", "e3")],
        }


def photos(data):
    return [json.loads(line) for line in (data / "coco/photos.jsonl").open()]


def own_and_others(data):
    """(photo, a caption of its own, a caption of another photo)."""
    rows, chance = [row for row in photos(data) if row["captions"]], random.Random(1)
    for row in rows:
        others = chance.sample([each for each in rows if each is not row], CAPTIONS)
        for own, other in zip(row["captions"], others, strict=False):
            yield data / "coco" / row["image"], own, chance.choice(other["captions"])


def swapped(data):
    """(what is swapped, photo, true text, false text); one of each kind for a photo, where it has any."""
    kinds = sorted({each["category"] for row in photos(data) for each in row["objects"]})
    makers = {"object": swapped_object, "count": swapped_count, "colour": swapped_colour, "side": swapped_side}
    chance = random.Random(2)
    for row in photos(data):
        for kind, maker in makers.items():
            if cases := list(maker(row, kinds, chance)):
                yield kind, data / "coco" / row["image"], *chance.choice(cases)


def swapped_object(row, kinds, chance):
    """A caption that names an annotated kind, and the same with a kind that is not in the photo."""
    there = {each["category"] for each in row["objects"]}
    said = " ".join(row["captions"]).lower()
    others = [kind for kind in kinds if kind not in there and kind not in said]
    for caption in row["captions"]:
        for kind in sorted(there):
            if re.search(rf"\ban? {kind}\b", caption.lower()):
                yield caption, replaced(caption, kind, chance.choice(others))


def swapped_count(row, _, chance):
    """As many of a kind as are annotated, and another number."""
    for kind in sorted({each["category"] for each in row["objects"]}):
        mine = [each for each in row["objects"] if each["category"] == kind]
        if 2 <= len(mine) <= 5 and not any(each["crowd"] for each in mine):
            other = chance.choice([number for number in range(1, 7) if number != len(mine)])
            yield tuple(f"a photo of {NUMBERS[n]} {kind if n == 1 else plural(kind)}" for n in (len(mine), other))


def swapped_colour(row, _, chance):
    """A caption that names a colour, and the same with one that no caption names."""
    said = " ".join(row["captions"]).lower().replace("grey", "gray")
    others = [colour for colour in COLOURS if colour not in said]
    for caption in row["captions"]:
        for colour in COLOURS:
            if re.search(rf"\b{colour}\b", caption.lower()):
                yield caption, replaced(caption, colour, chance.choice(others))


def swapped_side(row, *_):
    """Two kinds of which there is one each, the first to the left of the second, or to its right."""
    named = [each["category"] for each in row["objects"]]
    once = [each for each in row["objects"] if named.count(each["category"]) == 1 and not each["crowd"]]
    for one in once:
        for other in once:
            x, y = ((each["bbox"][0] + each["bbox"][2] / 2) / row["width"] for each in (one, other))
            if abs(x - y) >= APART:
                sides = ("left", "right") if x < y else ("right", "left")
                first, second = with_article(one["category"]), with_article(other["category"])
                yield tuple(f"{first} to the {side} of {second}" for side in sides)


def replaced(text, word, other):
    """The text with another word for the first of one, and its article with it."""
    swap = re.compile(rf"\b(an? )?{word}\b", re.IGNORECASE)
    return swap.sub(lambda found: with_article(other) if found[1] else other, text, count=1)


def with_article(word):
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def plural(word):
    if word == "person":
        return "people"
    if word == "sheep" or word.endswith(("scissors", "skis")):
        return word
    if word.endswith(("ch", "sh", "s", "ss")):
        return f"{word}es"
    return "knives" if word == "knife" else f"{word}s"


def empty_pictures(size=(480, 640)):
    """Pictures that show nothing: of one colour, a gradient, and noise of several kinds."""
    chance = np.random.default_rng(0)
    height, width = size
    yield from (np.full((*size, 3), level, np.uint8) for level in (0, 128, 255))
    yield np.full((*size, 3), (200, 30, 40), np.uint8)
    yield np.broadcast_to(np.linspace(0, 255, width)[None, :, None], (*size, 3)).astype(np.uint8)
    yield chance.integers(0, 256, (*size, 3), dtype=np.uint8)
    yield np.repeat(chance.integers(0, 256, (*size, 1), dtype=np.uint8), 3, axis=2)
    yield np.clip(chance.normal(128, 30, (*size, 3)), 0, 255).astype(np.uint8)
    coarse = chance.integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8)
    yield coarse.repeat(8, axis=0).repeat(8, axis=1)
