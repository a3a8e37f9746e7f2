"""How well pictures are seen: `python bench/vision.py DATA [part …]` where DATA/coco holds annotated photos.

Parts: names (open vocabulary), masks, colors, places (left, right, above, below), text, postures, smiles (DATA/pairs
too), tiles, speed, cores. Without a part, all. Each prints its figures with a 95 % interval from a bootstrap over
photos or objects, and what was aimed at. Presence and counts: calibrate.py.
"""

import argparse
import csv
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from timing import bare_inference, seconds

import onprompt
from onprompt.language import name_of, parse_many
from onprompt.settings import load
from onprompt.types import Box
from onprompt.vision import color, masks
from onprompt.vision import people as persons
from onprompt.vision.detectors import load_detector
from onprompt.vision.geometry import RELATIONS
from onprompt.vision.image import load_picture
from onprompt.vision.ocr import normalized_words, read_text
from onprompt.weights.cache import location, pull
from onprompt.weights.manifest import read

HERE = Path(__file__).parent


def photos(data):
    return [json.loads(line) for line in (data / "coco/photos.jsonl").open()]


def box_of(thing, photo):
    x, y, w, h = thing["bbox"]
    return Box(x / photo["width"], y / photo["height"], (x + w) / photo["width"], (y + h) / photo["height"])


def interval(values, groups=None):
    """The mean, and where 95 of 100 means of photos drawn again lie."""
    by = defaultdict(list)
    for number, value in enumerate(values):
        by[groups[number] if groups else number].append(value)
    parts = list(by.values())
    rng = np.random.default_rng(0)
    means = [np.mean([v for i in rng.integers(0, len(parts), len(parts)) for v in parts[i]]) for _ in range(500)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{np.mean(values):.3f} [{low:.3f}, {high:.3f}]"


def names(data):
    """Nouns of a photo's captions against nouns of another photo's: which score higher?"""
    settings = load(min_confidence=0.0)
    rows = photos(data)
    nouns = [
        sorted({thing.canonical for scene in parse_many(row["captions"], settings) for thing in scene.things})
        for row in rows
    ]
    rng = random.Random(0)
    present, absent, unshown, unknown = [], [], [], 0
    for index, row in enumerate(rows):
        other = rng.choice([k for k in range(len(rows)) if k != index])
        asked = [*nouns[index], *(noun for noun in nouns[other] if noun not in nouns[index])]
        looked = {noun: name_of(noun) for noun in asked}
        picture = load_picture(data / "coco" / row["image"], settings)
        seen = load_detector(settings).see(picture, list(looked.values()))
        best = defaultdict(float)
        for sighting in seen.sightings:
            best[sighting.label] = max(best[sighting.label], sighting.confidence)
        there = {thing["category"] for thing in row["objects"]}
        for noun in asked:
            if noun not in seen.known:
                unknown += 1
            elif noun in nouns[index]:
                present.append(best[noun])
            else:
                absent.append(best[noun])
                if not any(looked[noun].may_be(kind) for kind in there):
                    unshown.append(best[noun])
    share = unknown / (unknown + len(present) + len(absent))
    print(
        f"names: AUC {auc(present, absent):.3f} (aim .90); {auc(present, unshown):.3f} without nouns of the other "
        f"photo whose kind is annotated in this one, too; {len(present)} nouns against {len(absent)} and "
        f"{len(unshown)}; {share:.0%} of the nouns are in no vocabulary"
    )


def auc(high, low):
    """How often one of the first is above one of the second; ties count half."""
    a, b = np.array(high)[:, None], np.array(low)
    return float((a > b).mean() + (a == b).mean() / 2)


def outlined(data):
    """Objects above 2 % of their photo with the mask of their polygons."""
    for number, photo in enumerate(photos(data)):
        for index, thing in enumerate(photo["objects"]):
            if not thing["crowd"]:
                mask = np.zeros((photo["height"], photo["width"]), dtype=np.uint8)
                points = [np.array(part).reshape(-1, 2).round().astype(np.int32) for part in thing["segmentation"]]
                cv2.fillPoly(mask, points, 1)
                if mask.mean() > 0.02:
                    yield number, photo, index, thing, mask > 0


def mask_overlap(data):
    """Mean IoU of masks made from annotated boxes with the annotated polygons."""
    settings = load()
    values, groups, ellipses, spent = [], [], [], 0.0
    for number, photo, _, thing, true in outlined(data):
        picture, box = load_picture(data / "coco" / photo["image"], settings), box_of(thing, photo)
        start = time.perf_counter()
        mask = masks.segment(picture, box, settings)
        spent += time.perf_counter() - start
        for into, shape in ((values, mask), (ellipses, masks.ellipse(*mask.shape))):
            full = placed(shape, box, true.shape)
            into.append((full & true).sum() / (full | true).sum())
        groups.append(number)
    print(
        f"masks: IoU {interval(values, groups)} (aim .75) on {len(values)} objects, {spent / len(values) * 1000:.0f} "
        f"ms each; the ellipse in the box {np.mean(ellipses):.3f}"
    )


def placed(mask, box, shape):
    """A mask of a box as a mask of the picture."""
    height, width = shape
    left, top = int(box.left * width), int(box.top * height)
    right, bottom = (
        min(width, max(left + 1, round(box.right * width))),
        min(height, max(top + 1, round(box.bottom * height))),
    )
    full = np.zeros(shape, dtype=bool)
    full[top:bottom, left:right] = cv2.resize(mask.astype(np.uint8), (right - left, bottom - top), interpolation=0) > 0
    return full


def colors(data):
    """The largest color of real objects against labels that were written before any tuning."""
    settings = load()
    by_image = {photo["image"]: photo for photo in photos(data)}
    right, named, sure = [], [], []
    for row in csv.DictReader((HERE / "colours.csv").open()):
        photo = by_image[row["image"]]
        picture = load_picture(data / "coco" / row["image"], settings)
        box = box_of(photo["objects"][int(row["object"])], photo)
        inside = masks.masked_pixels(picture, box, masks.segment(picture, box, settings))
        found = color.dominant_colors(inside, color.exposure_gain(picture.pixels), settings.color_share)
        labels = row["colours"].split()
        right.append(bool(found) and found[0].name in labels)
        named.append(any(swatch.name in labels for swatch in found))
        sure += [(color.swatch_confidence(swatch), swatch.name in labels) for swatch in found]
    table = np.array(sure)
    bands = [table[(table[:, 0] >= low) & (table[:, 0] < low + 0.2)] for low in (0.45, 0.65, 0.85)]
    told = ", ".join(f"{band[:, 0].mean():.2f} → {band[:, 1].mean():.2f}" for band in bands if len(band))
    print(
        f"colors of {len(right)} real objects: the largest is right {interval(right)} (aim .80), a named one "
        f"{interval(named)}; stated confidence → share right: {told}"
    )


def places(data):
    """Left, right, above and below of annotated boxes that are clearly apart, as seen by the detector's own boxes."""
    settings = load()
    right = []
    for photo in photos(data):
        picture = load_picture(data / "coco" / photo["image"], settings)
        kinds = sorted({thing["category"] for thing in photo["objects"]})
        seen = load_detector(settings).see(picture, [name_of(kind) for kind in kinds]).sightings
        pairs = itertools.combinations([thing for thing in photo["objects"] if not thing["crowd"]], 2)
        for one, other in pairs:
            a, b = box_of(one, photo), box_of(other, photo)
            found = [best_box(seen, thing["category"], box) for thing, box in ((one, a), (other, b))]
            if None in found:
                continue
            for name, apart in (
                ("left of", b.left - a.right),
                ("right of", a.left - b.right),
                ("above", b.top - a.bottom),
                ("below", a.top - b.bottom),
            ):
                if apart > 0.02:
                    right.append(RELATIONS[name](*found) >= 0.5)
    print(f"places: {interval(right)} (aim .97) of {len(right)} relations between objects that are clearly apart")


def best_box(seen, kind, box):
    """The sure sighting of a kind that meets an annotated box."""
    sure = [sighting for sighting in seen if sighting.label == kind and sighting.confidence >= 0.5]
    met = [sighting for sighting in sure if sighting.box.iou(box) >= 0.5]
    return max(met, key=lambda sighting: sighting.box.iou(box), default=None)


def text(_):
    """200 words drawn in ten fonts, turned by up to 15°."""
    settings = load()
    files = read(HERE / "fonts.toml")
    pull(files, settings)
    listed = (Path(onprompt.__file__).parent / "language/words.txt").read_text(encoding="utf-8").split()
    rng = random.Random(0)
    words = rng.sample(sorted({word for word in listed if word.isalpha() and 4 <= len(word) <= 10}), 200)
    found, by_font = [], defaultdict(list)
    for number, word in enumerate(words):
        file = files[number % len(files)]
        shown = [word.lower(), word.upper(), word.capitalize()][number % 3]
        lines = read_text(load_picture(drawn_word(shown, location(file, settings), rng), settings), settings)
        found.append(normalized_words(word)[0] in normalized_words(" ".join(line.text for line in lines)))
        by_font[file.name].append(found[-1])
    worst = min(by_font, key=lambda name: np.mean(by_font[name]))
    print(
        f"text: {interval(found)} (aim .95) of 200 words read letter by letter; "
        f"worst font {worst} {np.mean(by_font[worst]):.2f}"
    )


def drawn_word(word, font, rng):
    """A word in a color of its own on a plain ground, turned."""
    ground, ink = rng.choice(
        [((245, 240, 230), (30, 30, 60)), ((40, 60, 90), (250, 240, 200)), ((200, 60, 50), (255, 255, 255))]
    )
    image = Image.new("RGB", (512, 512), ground)
    layer = Image.new("L", image.size, 0)
    pen = ImageDraw.Draw(layer)
    pen.text((256, 256), word, fill=255, font=ImageFont.truetype(str(font), rng.randint(44, 72)), anchor="mm")
    layer = layer.rotate(rng.uniform(-15, 15), resample=Image.Resampling.BICUBIC)
    image.paste(ink, (0, 0), layer)
    return np.asarray(image)


SAID = {
    **{"sitting": "sit", "standing": "stand", "lying": "lying|lays|laying|sleep"},
    **{"walking": "walk", "running": "run", "jumping": "jump|leap"},  # for photos of people in other postures
}
MANY = 5  # of a kind, from which `verify` takes a closer look
TINY = 0.01  # share of the picture up to which things are small here
PEOPLE = r"\b(man|woman|boy|girl|person|people|child|men|women|lady)\b"


def captions_of(data):
    """The captions of each photo of the pairs, in lower case."""
    captions = defaultdict(list)
    for line in (data / "pairs/pairs.jsonl").open():
        row = json.loads(line)
        if row["kind"] == "photo":
            captions[row["image"]].append(row["text"].lower())
    return captions


def postures(data):
    """What joints say of people against what captions say of them."""
    settings = load()
    captions = captions_of(data)
    human = [image for image, texts in captions.items() if sum(bool(re.search(PEOPLE, t)) for t in texts) >= 4]
    human = [image for image in human if not any(re.search(r"\b(dog|horse)", t) for t in captions[image])]
    random.Random(0).shuffle(human)

    def said(image, posture):
        return sum(bool(re.search(rf"\b({SAID[posture]})", t)) for t in captions[image])

    chosen = {image for posture in SAID for image in [i for i in human if said(i, posture) >= 3][:60]}
    seen = {
        image: persons.detect_people(load_picture(data / "pairs" / image, settings), settings)
        for image in sorted(chosen)
    }
    for posture in persons.PRECISION:
        asked, others, nobody = [], [], 0
        for image, people in seen.items():
            told = [one.posture_probabilities() for one in people]
            likely = [each[posture] for each in told if posture in each]
            if said(image, posture) >= 2:
                nobody += not likely
                asked += [max(likely)] if likely else []
            elif not said(image, posture) and likely:
                others.append(max(likely))
        print(
            f"postures: {posture:9} AUC {auc(asked, others):.3f}; shown by {np.mean(np.array(asked) >= 0.5):.2f} of "
            f"{len(asked)} and {np.mean(np.array(others) >= 0.5):.2f} of {len(others)} others; {nobody} can't be told"
        )


def smiles(data):
    """What faces show against what captions say: a smile in two captions or more, against none in any."""
    settings = load()
    captions = captions_of(data)
    told = {image: sum(bool(re.search("smil|grin|laugh", t)) for t in texts) for image, texts in captions.items()}
    human = [image for image, texts in captions.items() if sum(bool(re.search(PEOPLE, t)) for t in texts) >= 3]
    silent = [image for image in human if not told[image]]
    random.Random(1).shuffle(silent)
    found, unread = {True: [], False: []}, 0
    for image in [*(image for image, times in told.items() if times >= 2), *silent[:500]]:
        picture = load_picture(data / "pairs" / image, settings)
        read = [persons.smile_score(picture, one, settings) for one in persons.detect_people(picture, settings)]
        read = [smile for smile in read if smile is not None]
        unread += not read
        found[told[image] >= 2] += [max(read)] if read else []
    line = (persons.NO_SMILE + persons.SMILE) / 2
    print(
        f"smiles: AUC {auc(found[True], found[False]):.3f}; shown by {np.mean(np.array(found[True]) >= line):.2f} of "
        f"{len(found[True])} said to smile and {np.mean(np.array(found[False]) >= line):.2f} of {len(found[False])} of "
        f"whom nothing is said; {unread} photos without a face that can be read"
    )


def tiles(data):
    """What a closer look brings where the things are small, or many: found at all, and the number found."""
    settings = load()
    see = load_detector(settings).see
    groups = {"small": [], "many": []}
    for row in photos(data):
        by_kind = defaultdict(list)
        for thing in row["objects"]:
            by_kind[thing["category"]].append(thing)
        for kind, things in by_kind.items():
            if any(thing["crowd"] for thing in things):
                continue
            largest = max(thing["bbox"][2] * thing["bbox"][3] for thing in things) / (row["width"] * row["height"])
            group = "many" if len(things) >= MANY else "small" if largest <= TINY else None
            if group:
                groups[group].append((row, kind, len(things)))
    for group, cases in groups.items():
        rows = []
        for row, kind, true in cases:
            picture = load_picture(data / "coco" / row["image"], settings)
            for fine in (False, True):
                seen = see(picture, [replace(name_of(kind), fine=fine)])
                sure = sum(sighting.label == kind and sighting.confidence >= 0.5 for sighting in seen.sightings)
                rows.append((fine, sure > 0, sure / true, sure == true))
        for fine in (False, True):
            of = np.array([row[1:] for row in rows if row[0] == fine], dtype=float)
            print(
                f"tiles: {group}, {'closer' if fine else 'one'} look: found {of[:, 0].mean():.3f}, right number "
                f"{of[:, 2].mean():.3f}, mean share of the number {of[:, 1].mean():.3f}, its mean error "
                f"{np.abs(of[:, 1] - 1).mean():.3f}, of {len(of)}"
            )


def speed(data):
    """A whole `see` against the bare inference of the networks that it ran, in turns, photo by photo."""
    settings = load()
    rows = photos(data)[::5]
    vocabulary = ["person", "dog", "red cup", "table", "tree"]
    for attributes in (False, True):
        ratios, whole_ms = [], []
        for row in rows:
            path = data / "coco" / row["image"]

            def whole(path=path, attributes=attributes):
                return onprompt.see(path, vocabulary, attributes=attributes, settings=settings)

            bare = bare_inference(whole)
            pairs = [(seconds(whole), seconds(bare)) for _ in range(5)]
            ratios.append(statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs))
            whole_ms.append(statistics.median(a for a, _ in pairs) * 1000)
        print(
            f"speed: {'with' if attributes else 'without'} attributes {statistics.median(whole_ms):.0f} ms a photo, "
            f"{statistics.median(ratios) - 1:+.1%} over bare inference (aim +15 %)"
        )


def cores(data):
    """A batch on all cores against the same batch on one."""
    took = {}
    for use in (1, os.cpu_count()):
        script = (
            "import os, sys, time\n"
            f"os.sched_setaffinity(0, range({use}))\n"
            "import onprompt\n"
            "paths = sys.argv[1:]\n"
            "list(onprompt.see_many(paths[:2], ['person', 'dog'], attributes=False))\n"
            "start = time.perf_counter()\n"
            "list(onprompt.see_many(paths, ['person', 'dog'], attributes=False))\n"
            "print(time.perf_counter() - start)\n"
        )
        paths = [str(data / "coco" / row["image"]) for row in photos(data)[:40]]
        run = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, check=True)
        took[use] = float(run.stdout.split()[-1])
    one, all_of_them = took[1], took[os.cpu_count()]
    print(
        f"cores: 40 photos {one:.1f} s on one, {all_of_them:.1f} s on {os.cpu_count()}: "
        f"× {one / all_of_them:.2f} (aim 1.6)"
    )


PARTS = {
    **{"names": names, "masks": mask_overlap, "colors": colors, "places": places, "text": text},
    **{"postures": postures, "smiles": smiles, "tiles": tiles, "speed": speed, "cores": cores},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options.data)


main()
