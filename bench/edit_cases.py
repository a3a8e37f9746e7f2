"""Edits made by a script, for `edit.py`: what was done to which object of an annotated photo is known."""

import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from cases import with_article
from PIL import Image, ImageDraw
from plain_photos import TELLING
from plain_pictures import INKS, read, write

COLOURS = ("red", "blue", "green", "yellow", "purple")
NUMBERS = {2: "two", 3: "three", 4: "four"}
WORDS = ("SALE", "OPEN", "HELLO", "PARIS", "COFFEE", "TAXI")
LEAST, MOST = 0.02, 0.4  # share of the photo that an edited object takes
VISIBLE = 0.3  # share of its box that an object fills
UNCLEAR = {  # cut-outs that can't be named by themselves: a slat, a lid, a tail, a roof
    *("237517 chair", "458054 toilet", "384553 elephant", "454661 bus", "277005 train"),
    *("199681 teddy bear", "539216 teddy bear"),
}
SYMMETRIC = (  # looks the same when mirrored
    *("bottle", "bowl", "cup", "vase", "wine glass", "tie", "stop sign"),
    *("sports ball", "frisbee", "orange", "apple"),
)
GROWTH = {"smaller": 0.55, "larger": 1.5}
GLOBAL = {
    "mirror the image": lambda photo: photo[:, ::-1],
    "crop the image to the left half": lambda photo: photo[:, : photo.shape[1] // 2],
    "zoom in": lambda photo: zoomed(photo),
    "make the image black and white": lambda photo: grey(photo),
    "apply a sepia filter": lambda photo: tinted(grey(photo), (1.08, 0.92, 0.68)),
    "make the image brighter": lambda photo: levels(photo, 1.0, 45),
    "make the image darker": lambda photo: levels(photo, 0.6, 0),
    "blur the image": lambda photo: cv2.GaussianBlur(photo, (0, 0), 5),
    "increase the contrast": lambda photo: levels(photo, 1.6, -75),
}


@dataclass(frozen=True)
class ScriptedEdit:
    """An instruction and the photo as it is afterwards."""

    kind: str
    target: str
    instruction: str
    after: np.ndarray
    wrong: np.ndarray | None = (
        None  # the same instruction carried out wrongly; else another edit of the photo stands for it
    )


def zoomed(photo):
    rows, columns = photo.shape[:2]
    middle = photo[rows // 5 : rows - rows // 5, columns // 5 : columns - columns // 5]
    return cv2.resize(middle, (columns, rows), interpolation=cv2.INTER_CUBIC)


def grey(photo):
    return np.repeat(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)


def tinted(photo, gains):
    return np.clip(photo * np.array(gains), 0, 255).astype(np.uint8)


def levels(photo, gain, offset):
    return np.clip(photo * gain + offset, 0, 255).astype(np.uint8)


def outline(thing, photo):
    """The pixels of an object by people's polygons."""
    mask = Image.new("L", (photo.shape[1], photo.shape[0]))
    for polygon in thing["segmentation"]:
        ImageDraw.Draw(mask).polygon([tuple(polygon[i : i + 2]) for i in range(0, len(polygon) - 1, 2)], fill=255)
    return np.array(mask)


def recolored(photo, mask, colour):
    """The object in another colour with its light and shade."""
    lab = cv2.cvtColor(photo.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    ink = cv2.cvtColor(np.array([[INKS[colour]]], np.float32) / 255, cv2.COLOR_RGB2LAB)[0, 0]
    light = lab[..., 0]
    inside = mask > 0
    lab[..., 0] = np.where(inside, np.clip(ink[0] + 0.7 * (light - light[inside].mean()), 4, 98), light)
    lab[..., 1:] = np.where(inside[..., None], ink[1:], lab[..., 1:])
    return as_pixels(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB))


def stored_again(photo):
    """The photo with nothing done to it but a second JPEG."""
    data = cv2.imencode(".jpg", photo[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 80])[1]
    return np.ascontiguousarray(cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1])


def as_pixels(rgb):
    return np.clip(np.round(rgb * 255), 0, 255).astype(np.uint8)


def erased(photo, mask):
    """The photo without the object: its place filled from around it."""
    wide = cv2.dilate(mask, np.ones((9, 9), np.uint8))
    return cv2.inpaint(photo, wide, 5, cv2.INPAINT_TELEA)


def cut(photo, mask):
    """The object and its mask, cropped to its box."""
    rows, columns = np.nonzero(mask)
    area = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    return photo[area], mask[area], (area[1].start, area[0].start)


def pasted(photo, piece, mask, left, top):
    """A piece laid on the photo; what does not fit is cut off."""
    page = Image.fromarray(photo)
    soft = Image.fromarray(cv2.GaussianBlur(mask, (0, 0), 1))
    page.paste(Image.fromarray(piece), (int(left), int(top)), soft)
    return np.array(page)


def scaled(piece, mask, factor):
    size = max(4, round(piece.shape[1] * factor)), max(4, round(piece.shape[0] * factor))
    return cv2.resize(piece, size), cv2.resize(mask, size)


def of_object(photo, thing, other, rng):
    """The edits of one object of a photo; `other` is a piece of another photo with its mask and name."""
    name, mask = thing["category"], outline(thing, photo)
    piece, shape, (left, top) = cut(photo, mask)
    gone, columns = erased(photo, mask), photo.shape[1]
    for colour in rng.sample(COLOURS, 2):
        yield ScriptedEdit("recolor", name, f"make the {name} {colour}", recolored(photo, mask, colour))
    yield ScriptedEdit("remove", name, f"remove the {name}", gone)
    centre = (left + piece.shape[1] / 2) / columns
    if not 0.4 < centre < 0.6 and piece.shape[1] < 0.45 * columns:
        side = "right" if centre < 0.5 else "left"
        x = columns - piece.shape[1] - 0.04 * columns if side == "right" else 0.04 * columns
        yield ScriptedEdit("move", name, f"move the {name} to the {side}", pasted(gone, piece, shape, x, top))
    for word, factor in GROWTH.items():
        resized, small = scaled(piece, shape, factor)
        x, y = left + (piece.shape[1] - resized.shape[1]) / 2, top + piece.shape[0] - resized.shape[0]
        yield ScriptedEdit("resize", name, f"make the {name} {word}", pasted(gone, resized, small, x, y))
    if name not in SYMMETRIC:
        turned = pasted(gone, piece[:, ::-1].copy(), shape[:, ::-1].copy(), left, top)
        yield ScriptedEdit("mirror", name, f"flip the {name} horizontally", turned)
    new, new_mask, new_name = other
    new, new_mask = scaled(new, new_mask, min(piece.shape[0] / new.shape[0], piece.shape[1] / new.shape[1]) * 1.1)
    if new.shape[0] * new.shape[1] > LEAST * photo.shape[0] * photo.shape[1]:
        swapped = pasted(gone, new, new_mask, left, top + piece.shape[0] - new.shape[0])
        yield ScriptedEdit("replace", name, f"replace the {name} with {with_article(new_name)}", swapped)


def of_details(photo, other, single, rng):
    """Something added in a number, a color, a place; and the same in another."""
    rows, columns = photo.shape[:2]
    piece, mask, name = other
    number = rng.choice((2, 3, 4))
    counts = number, rng.choice([n for n in (1, 2, 3, 4, 5) if n != number])
    yield ScriptedEdit(
        "count", name, f"add {NUMBERS[number]} {plural(name)}", *(in_line(photo, other, n) for n in counts)
    )
    large, shape = scaled(piece, mask, 0.4 * min(rows / piece.shape[0], columns / piece.shape[1]))
    x, y = rng.uniform(0.05, 0.95) * (columns - large.shape[1]), 0.95 * (rows - large.shape[0])
    colour, another = rng.sample(COLOURS, 2)
    inked = [pasted(photo, recolored(large, shape, ink), shape, x, y) for ink in (colour, another)]
    yield ScriptedEdit("color", name, f"add a {colour} {name}", *inked)
    sides = {"left": 0.03 * columns, "right": 0.97 * columns - large.shape[1]}
    side, opposite = rng.sample(sorted(sides), 2)
    placed = [pasted(photo, large, shape, sides[at], y) for at in (side, opposite)]
    yield ScriptedEdit("place", name, f"add {with_article(name)} on the {side}", *placed)
    for thing in single:
        left, top, width, height = thing["bbox"]
        room = min(left, columns - left - width) - 8
        if room > 0.2 * columns:
            small, shape = scaled(piece, mask, min(0.5 * rows / piece.shape[0], room / piece.shape[1]))
            x = {"left": left - small.shape[1] - 4, "right": left + width + 4}
            y = min(max(0, top + (height - small.shape[0]) / 2), rows - small.shape[0])
            beside = [pasted(photo, small, shape, x[at], y) for at in (side, opposite)]
            text = f"add {with_article(name)} to the {side} of the {thing['category']}"
            yield ScriptedEdit("beside", name, text, *beside)
            break


def in_line(photo, other, number):
    """A number of copies side by side."""
    (rows, columns), (piece, mask, _) = photo.shape[:2], other
    small, shape = scaled(piece, mask, min(0.5 * rows / piece.shape[0], 0.9 * columns / 4 / piece.shape[1]))
    for place in range(number):
        x = (place + 0.5) * columns / number - small.shape[1] / 2
        photo = pasted(photo, small, shape, x, 0.95 * rows - small.shape[0])
    return photo


def plural(name):
    irregular = {"person": "people", "bus": "buses", "bench": "benches", "couch": "couches", "sandwich": "sandwiches"}
    return irregular.get(name, name if name in ("sheep", "scissors") else f"{name}s")


def of_photo(photo, other, rng):
    """Edits of a photo as a whole, a thing added, a word written."""
    rows, columns = photo.shape[:2]
    for instruction in rng.sample(sorted(GLOBAL), 2):
        yield ScriptedEdit("whole", "", instruction, np.ascontiguousarray(GLOBAL[instruction](photo)))
    new, mask, name = other
    factor = 0.4 * min(rows / new.shape[0], columns / new.shape[1])
    new, mask = scaled(new, mask, factor)
    x, y = rng.uniform(0.02, 0.98) * (columns - new.shape[1]), 0.95 * (rows - new.shape[0])
    yield ScriptedEdit("add", name, f"add {with_article(name)}", pasted(photo, new, mask, x, y))
    page, word = Image.fromarray(photo), rng.choice(WORDS)
    box = (columns * 0.2, rows * 0.05, columns * 0.8, rows * 0.3)
    draw = ImageDraw.Draw(page)
    draw.rectangle(box, fill="white")
    write(draw, word, box, INKS["red"])
    yield ScriptedEdit("text", "text", f'write "{word}" on the image', np.array(page))


def cut_outs(photos, folder):
    """Whole, well known objects, to be pasted into other photos."""
    for row in photos:
        for thing in row["objects"]:
            if thing["category"] in TELLING and share(thing, row) > 0.06 and inside(thing, row) and is_whole(thing):
                photo = np.array(read(folder / row["image"]))
                piece, mask, _ = cut(photo, outline(thing, photo))
                if f"{Path(row['image']).stem} {thing['category']}" not in UNCLEAR:
                    yield row["image"], piece, mask, thing["category"]


def is_whole(thing):
    """Whether an object is in one piece and mostly visible: nobody knows a giraffe by its legs behind a fence."""
    polygons = thing["segmentation"]
    if thing["crowd"] or not isinstance(polygons, list) or len(polygons) != 1:
        return False
    x, y = np.array(polygons[0][::2]), np.array(polygons[0][1::2])
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    return area > VISIBLE * thing["bbox"][2] * thing["bbox"][3]


def share(thing, row):
    return thing["bbox"][2] * thing["bbox"][3] / (row["width"] * row["height"])


def inside(thing, row):
    x, y, width, height = thing["bbox"]
    return x > 3 and y > 3 and x + width < row["width"] - 3 and y + height < row["height"] - 3


def scripted(data, seed=7, per_photo=8):
    """For each photo: its pixels and its edits, an edit of each kind at most once, shuffled."""
    folder = data / "coco"
    photos = [json.loads(line) for line in (folder / "photos.jsonl").open()]
    pieces = list(cut_outs(photos, folder))
    for row in photos:
        rng = random.Random(f"{seed} {row['image']}")
        photo, names = np.array(read(folder / row["image"])), Counter(thing["category"] for thing in row["objects"])
        pool = [piece for piece in pieces if piece[0] != row["image"] and piece[3] not in names]
        single = [thing for thing in row["objects"] if names[thing["category"]] == 1 and is_whole(thing)]
        whole = [thing for thing in single if LEAST < share(thing, row) < MOST]
        edits = list(of_photo(photo, rng.choice(pool)[1:], rng))
        for thing in rng.sample(whole, min(2, len(whole))):
            edits += of_object(photo, thing, rng.choice(pool)[1:], rng)
        rng.shuffle(edits)
        details = of_details(photo, rng.choice(pool)[1:], whole, rng)
        yield row["image"], photo, [*edits[:per_photo], *details]
