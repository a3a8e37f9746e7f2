"""Cases for `plain.py` from photos as they are, and the rules by which their truth is beyond doubt.

An object counts as there if its box takes more than 2 % of the photo and it is not flagged as a crowd; a kind counts as
absent if nothing of its group is annotated or named in a caption. What a score may be follows the protocol: all as
asked 4; a single error of a sole object or a role exchanged 2 or 3; none of the objects 0; a near kind in its place 0
or 1.
"""

import itertools
import random

import plain_made
import plain_words as words
from cases import plural
from plain_photos import GROUPS, PEOPLE, TELLING, UNCOUNTED, named, photos
from plain_pictures import STYLES, drawn, mirrored

RIGHT, ERROR, GONE = {4}, {2, 3}, {0}
ON_TABLE = (*GROUPS["food"], *GROUPS["tableware"], "laptop", "vase", "book", "teddy bear", "potted plant")
MOUNTS = ("bicycle", "motorcycle", "horse", "elephant")
SMALL, LARGE = 0.04, 0.3  # shares of the photo that are clearly within the bucket
MANY = 10
DRAWN = *TELLING, "cat", "person", "truck", "car", "bicycle", "umbrella", "refrigerator", "couch"
SCENES = {"street|road": "a street", "kitchen": "a kitchen", "bathroom": "a bathroom", "field": "a field"}


def every(data, seed):
    """All cases, in an order that only depends on the data and the seed."""
    found = photos(data)
    makers = relations, sizes, positions, people, sexes, artwork, negations, synonyms, stand_ins, quantities, misspelt
    for photo in found:
        for maker in makers:
            yield from maker(photo, random.Random(f"{seed} {maker.__name__} {photo.path.stem}"))
    yield from plain_made.every(found, seed)


def relations(photo, _):
    """On a table and in a bowl by a box that lies within the other, next to each other by boxes side by side."""
    yield from ridden(photo)
    for name, thing in photo.single.items():
        for other, place in photo.single.items():
            inside = photo.overlap(thing, place) > 0.95 and photo.area(place) > 1.5 * photo.area(thing)
            pair = named(name), named(other)
            if inside and name in ON_TABLE and other == "dining table":
                yield from both_ways(photo, "on", *pair)
                yield photo.case("relation", f"{pair[1]} under {pair[0]}", RIGHT, "under")
            elif inside and name in GROUPS["food"] and other == "bowl":
                yield from both_ways(photo, "in", *pair)
            elif name == "person" and photo.said("holds?|holding", 2) and photo.said(other, 2):
                yield from both_ways(photo, "holding", *pair)
            if name < other and beside(photo, thing, place):
                yield photo.case("relation", f"{pair[0]} next to {pair[1]}", RIGHT, "next to")


def ridden(photo):
    """Riding by two captions, on the only kind that can be ridden; with a second rider or mount, 3 is allowed, too."""
    mounts = [kind for kind in MOUNTS if kind in photo.of]
    riders, number = len(photo.of.get("person", ())), max((len(photo.of[kind]) for kind in mounts), default=0)
    if len(mounts) == 1 and photo.said("rides?|riding", 2) and 1 <= riders <= 2 and number <= 2:
        once = {4} if riders == number == 1 else {3, 4}
        mount = named(mounts[0])
        yield photo.case("relation", f"a person riding {mount}", once, "riding")
        yield photo.case("relation reversed", f"{mount} riding a person", ERROR, "riding")


def both_ways(photo, relation, first, second):
    yield photo.case("relation", f"{first} {relation} {second}", RIGHT, relation)
    yield photo.case("relation reversed", f"{second} {relation} {first}", ERROR, relation)


def beside(photo, thing, other):
    """Whether two boxes of similar height are side by side: no wider gap than 5 % of the photo, hardly any overlap."""
    (left, top, right, bottom), (west, north, east, south) = photo.box(thing), photo.box(other)
    level = min(bottom, south) - max(top, north) > 0.6 * max(bottom - top, south - north)
    return level and -0.02 < max(left, west) - min(right, east) < 0.05


def sizes(photo, _):
    """Small and large by a box that is clearly within the protocol's bucket, of kinds that are there once."""
    for kind, thing in photo.whole.items():
        area = photo.area(thing)
        size = "small" if area < SMALL else "large" if area > LARGE else ""
        if size and kind not in ("person", *UNCOUNTED):
            other = "large" if size == "small" else "small"
            yield photo.case("size", f"a {size} {kind}", RIGHT, size)
            if photo.is_lone(kind):
                yield photo.case("wrong size", f"a {other} {kind}", ERROR, f"{other}, is {size}")


def positions(photo, _):
    """A third of the photo that holds the box's middle, the far edge on the same half; the wrong one is opposite."""
    for kind, thing in photo.whole.items():
        left, top, right, bottom = photo.box(thing)
        for low, high, sides in (
            (left, right, ("on the left side", "on the right side")),
            (top, bottom, ("at the top", "at the bottom")),
        ):
            middle = (low + high) / 2
            if (middle < 0.28 and high < 0.5) or (middle > 0.72 and low > 0.5):
                right_one, wrong_one = sides if middle < 0.5 else sides[::-1]
                yield photo.case("position", f"{named(kind)} {right_one} of the image", RIGHT, right_one)
                if photo.is_lone(kind):
                    yield photo.case("wrong position", f"{named(kind)} {wrong_one} of the image", ERROR, wrong_one)


def people(photo, _):
    """A person where one is there; a person where only animals are, and an animal where only people are."""
    if "person" in photo.single:
        yield photo.case("person", "a person", RIGHT, "there")
    if "person" in photo.clear and "animal" not in photo.groups:
        yield photo.case("person", "an animal", GONE, "an animal, is a person")
    animals = [kind for kind in photo.clear if kind in words.MEMBERS["animal"]]
    if animals and "person" not in photo.groups and not photo.said(PEOPLE):
        yield photo.case("person", "a person", GONE, f"is {named(animals[0])}")


def sexes(photo, _):
    """Man, woman, boy, girl, baby: of one person (others at most a tenth as large), by three captions and against none.

    Right is 3, too, since what can't be told is not full marks; wrong is never 4.
    """
    persons = sorted(photo.of.get("person", ()), key=photo.area, reverse=True)
    if (
        not persons
        or photo.area(persons[0]) < 0.02
        or any(photo.area(x) > 0.1 * photo.area(persons[0]) for x in persons[1:])
    ):
        return
    for name, (pattern, right, wrong) in words.PEOPLE.items():
        others = "|".join(set(words.OTHER_PEOPLE.split("|")) - set(pattern.split("|")))
        if not (photo.said(name) and photo.said(pattern, 3)) or photo.said(others):
            continue
        for picture in (None, lambda: mirrored(photo.path)):
            detail = name if picture is None else f"{name}, mirrored"
            yield from (photo.case("man or woman", prompt, {3, 4}, detail, picture) for prompt in right)
            yield from (photo.case("wrong sex or age", prompt, ERROR, detail, picture) for prompt in wrong)


def artwork(photo, chance):
    """The photo as a drawing: what is there is still there, though it may be harder to see."""
    style = chance.choice(STYLES)
    for kind, thing in photo.single.items():
        if photo.area(thing) > 0.08 and kind in DRAWN:
            picture = lambda style=style: drawn(photo.path, style)  # noqa: E731
            yield photo.case("drawing", f"{chance.choice(('', 'a drawing of '))}{named(kind)}", {3, 4}, style, picture)
    if photo.absent:
        gone = named(chance.choice(photo.absent))
        yield photo.case("drawing, gone", gone, {0, 1}, style, lambda: drawn(photo.path, style))


def negations(photo, chance):
    """What must not be there: absent, or present after all. A scene by two captions; 3 where it can't be verified."""
    for kind in sorted(photo.single):
        form = chance.choice(("{} and no {}", "{} without {}"))
        thing = named(kind)

        def negated(other, form=form, thing=thing):
            return form.format(thing, other if "no" in form else named(other))

        if photo.absent:
            yield photo.case("without", negated(chance.choice(photo.absent)), RIGHT, form)
        for other in sorted(set(photo.single) - {kind}):
            yield photo.case("without, violated", negated(other), {0, 1, 2, 3}, form)
    for pattern, scene in SCENES.items():
        if photo.said(pattern, 3):
            for kind in sorted(photo.clear):
                yield photo.case("without, violated", f"{scene} without {plural(kind)}", {0, 1, 2, 3}, "scene")
            if photo.absent:
                yield photo.case("without", f"{scene} without {plural(chance.choice(photo.absent))}", {3, 4}, "scene")


def synonyms(photo, chance):
    """Another word for what is there once, a broader one for one to three (two or three: 3, too); and absent ones."""
    for kind in photo.single:
        if kind in words.SYNONYMS:
            yield photo.case("synonym", chance.choice(words.SYNONYMS[kind]), RIGHT, kind)
    for group, kinds in words.MEMBERS.items():
        there = [kind for kind in kinds if kind in photo.of]
        number = sum(len(photo.of[kind]) for kind in there)
        if there and set(there) <= set(photo.clear) - {"dining table"} and number <= 3 and group != "appliance":
            allowed = RIGHT if number == 1 else {3, 4}
            yield photo.case("broader word", chance.choice(words.BROADER[group]), allowed, there[0])
        elif group in GROUPS and group not in photo.groups and group != "furniture":
            yield photo.case("other word, gone", chance.choice(words.BROADER[group]), GONE, group)
    named = sorted(set(words.SYNONYMS) & set(photo.absent))
    if named:
        kind = chance.choice(named)
        yield photo.case("other word, gone", chance.choice(words.SYNONYMS[kind]), GONE, kind)


def stand_ins(photo, _):
    """A near kind that is not there in place of one that is."""
    for kind in [kind for kind in photo.clear if not any(map(photo.is_twofold, photo.of[kind]))]:
        for near in words.NEAR.get(kind, ()):
            if near not in photo.of and not photo.said(near):
                yield photo.case("stand-in", named(near), {0, 1}, f"is {named(kind)}")


def quantities(photo, chance):
    """One of ten or more; a couple is 2, a few 3 or 4, several 4 to 6, many ten and more; wrong is far off, or one."""
    for kind, things in photo.of.items():
        name, number = plural(kind), len(things)
        large = sorted(map(photo.area, things))[number // 2] > 0.008
        sole = kind not in GROUPS["food"] or len([other for other in GROUPS["food"] if other in photo.of]) == 1
        if kind in photo.clear and number > 1 and sole:
            fits = {"a couple of": number == 2, "a few": 3 <= number <= 4, "several": 4 <= number <= 6}
            for word in itertools.compress(fits, fits.values()):
                yield photo.case("quantity", f"{word} {name}", RIGHT, f"{number}")
        if number >= MANY and large and sole and kind not in UNCOUNTED:
            yield photo.case("one of a crowd", named(kind), ERROR, f"{number}")
            yield photo.case("quantity", f"many {name}", RIGHT, f"{number}")
            yield photo.case("wrong quantity", f"{chance.choice(('a couple of', 'a few'))} {name}", ERROR, f"{number}")
        if kind in photo.single and kind not in UNCOUNTED:
            word = chance.choice(("a couple of", "several", "many"))
            yield photo.case("wrong quantity", f"{word} {name}", ERROR, "1")


def misspelt(photo, chance):
    """The name of something that is there once, with a slip of the pen that makes no other word."""
    for kind in photo.single:
        if kind in words.MISSPELT:
            yield photo.case("misspelt", named(chance.choice(words.MISSPELT[kind])), RIGHT, kind)
