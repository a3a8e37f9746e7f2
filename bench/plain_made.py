"""Cases for `plain.py` on pictures made here, so that their truth is known by construction."""

import itertools
import random
from functools import partial

from cases import NUMBERS, plural
from plain_photos import Case, named
from plain_pictures import GROUNDS, INKS, PAINTS, board, page, placed, shapes
from plain_words import PHRASES, SIGNS

RIGHT, ERROR = frozenset({4}), frozenset({2, 3})
EACH = 60  # cases of each kind that are drawn by lot
SPOTS = {
    "in the top left corner": (0.1875, 0.1875),
    "in the top right corner": (0.8125, 0.1875),
    "in the bottom left corner": (0.1875, 0.8125),
    "in the bottom right corner": (0.8125, 0.8125),
    "on the left side": (0.1875, 0.5),
    "on the right side": (0.8125, 0.5),
    "at the top": (0.5, 0.1875),
    "at the bottom": (0.5, 0.8125),
}


def every(photos, seed):
    chance = random.Random(f"{seed} made")
    pieces = [(kind, (photo.path, thing)) for photo in photos for kind, thing in photo.cut_outs]
    for _ in range(EACH):
        yield from text(photos, chance)
        yield from shape(chance)
        yield from arranged(pieces, chance)
        yield from sized(pieces, chance)
        yield from crowd(pieces, chance)


def text(photos, chance):
    """Words on a sign or a page.

    A drawn board is sign-like and may be unverifiable as a sign, so 3 is right, too. With other words, a sign has one
    wrong attribute (2 or 3; 1 if the words count as an object of their own that is missing); a word alone is another
    one: not there (0), a kindred one (1) or wrong in its letters (2).
    """
    words, others = chance.sample((*SIGNS, *PHRASES), 2)
    quiet = [photo for photo in photos if not {"street", "vehicle", "indoor", "electronic"} & photo.groups]
    background = chance.choice((None, chance.choice(quiet).path)) if quiet else None
    noun = chance.choice(("sign", "board"))
    verb = "with the text" if noun == "board" else "that says"
    quoted = chance.choice((words, f'"{words}"'))
    name = "word" if " " not in words else "words"
    colours = chance.choice(PAINTS)
    source = background.stem if background else "plain"
    on_board, alone = f"a {noun} {verb} {quoted}", f"the {name} {quoted}"

    def case(kind, detail, prompt, allowed, picture):
        return Case(kind, detail, source, prompt, frozenset(allowed), picture)

    if chance.random() < 0.5:
        yield case("text", "sign", on_board, {3, 4}, partial(board, words, background, colours))
        yield case("other text", "sign", on_board, {1, 2, 3}, partial(board, others, background, colours))
        yield case("no text", "blank sign", on_board, {1, 2, 3}, partial(board, "", background, colours))
    else:
        picture = chance.choice((page, partial(board, background=background, colors=colours)))
        yield case("text", "word", alone, RIGHT, partial(picture, words))
        yield case("other text", "word", alone, {0, 1, 2}, partial(picture, others))
        if quiet:
            photo = chance.choice(quiet)
            yield Case("no text", "word", photo.path.stem, alone, frozenset({0, 1}), lambda: photo.path)


def shape(chance):
    """Plain shapes on white: right may be unverifiable, but never 0 or 1; wrong may be, too, but is never 4."""
    form, count = chance.choice(("circle", "square", "triangle")), chance.randint(1, 4)
    colour, other = chance.sample(sorted(INKS), 2)
    wrong = chance.choice([number for number in range(1, 5) if number != count])

    def prompt(number, ink):
        words = f"a {ink} {form}" if number == 1 else f"{NUMBERS[number]} {ink} {plural(form)}"
        return words.replace("a orange", "an orange") + " on a white background"

    picture = partial(shapes, form, count, colour)
    yield Case("shape", form, "drawn", prompt(count, colour), frozenset({2, 3, 4}), picture)
    kind, asked = chance.choice((("colour", prompt(count, other)), ("number", prompt(wrong, colour))))
    yield Case("wrong shape", kind, "drawn", asked, frozenset({0, 1, 2, 3}), picture)


def arranged(pieces, chance):
    """Two or three cut-outs of different kinds, apart from each other or one over the other."""
    by_kind = dict(chance.sample(pieces, len(pieces)))
    kinds = chance.sample(sorted(by_kind), 3)
    (first, second, third), ground = (named(kind) for kind in kinds), chance.randrange(len(GROUNDS))
    relation = chance.choice(("above", "below", "between", "in front of", "behind", "next to"))
    token_probs = {
        "above": ((0.5, 0.25, 0.42), (0.5, 0.75, 0.42)),
        "below": ((0.5, 0.75, 0.42), (0.5, 0.25, 0.42)),
        "between": ((0.5, 0.5, 0.28), (0.17, 0.5, 0.28), (0.83, 0.5, 0.28)),
        "in front of": ((0.6, 0.72, 0.42), (0.45, 0.42, 0.8)),
        "behind": ((0.45, 0.42, 0.8), (0.6, 0.72, 0.42)),
        "next to": ((0.28, 0.5, 0.4), (0.72, 0.5, 0.4)),
    }[relation]
    parts = [(by_kind[kind], (x, y), side) for kind, (x, y, side) in zip(kinds, token_probs, strict=False)]
    parts.sort(key=lambda part: -part[2])  # the larger one first, the other over it
    picture = partial(placed, parts, ground)
    source = "placed " + " ".join(part[0][0].stem for part in parts)
    right, wrong = f"{first} {relation} {second}", f"{second} {relation} {first}"
    if relation == "between":
        right, wrong = f"{right} and {third}", f"{wrong} and {third}"
    yield Case("relation", relation, source, right, RIGHT, picture)
    if relation != "next to":
        yield Case("relation reversed", relation, source, wrong, ERROR, picture)


def sized(pieces, chance):
    """One cut-out, small or large, in a corner, at a side or in the middle."""
    kind, piece = chance.choice(pieces)
    source = f"placed {piece[0].stem}"
    ground, thing = chance.randrange(len(GROUNDS)), piece[1]
    width, height = thing["bbox"][2:]
    full = width * height / max(width, height) ** 2  # share of its square that the box takes
    size, other = chance.sample(("small", "large"), 2)
    side = (0.03 / full) ** 0.5 if size == "small" else min(0.95, (0.45 / full) ** 0.5)
    if size == "small" or side * side * full > 0.3:
        picture = partial(placed, [(piece, (0.5, 0.5), side)], ground)
        yield Case("size", size, source, f"a {size} {kind}", RIGHT, picture)
        yield Case("wrong size", f"{other}, is {size}", source, f"a {other} {kind}", ERROR, picture)
    place = chance.choice(list(SPOTS))
    facing = next(name for name, (x, y) in SPOTS.items() if (1 - x, 1 - y) == SPOTS[place])
    picture = partial(placed, [(piece, SPOTS[place], 0.34)], ground)
    yield Case("position", place, source, f"{named(kind)} {place} of the image", RIGHT, picture)
    yield Case("wrong position", facing, source, f"{named(kind)} {facing} of the image", ERROR, picture)


def crowd(pieces, chance):
    """One cut-out again and again, in rows: twelve, or as many as a word says."""
    kind, piece = chance.choice(pieces)
    source = f"placed {piece[0].stem}"
    word, number = chance.choice((("a couple of", 2), ("a few", 3), ("several", 5), ("many", 12)))

    def rows(count):
        cells = list(itertools.product((0.16, 0.5, 0.84), (0.14, 0.38, 0.62, 0.86)))
        return partial(placed, [(piece, (y, x), 0.22) for y, x in chance.sample(cells, count)], 0)

    yield Case("one of a crowd", "12", source, named(kind), ERROR, rows(12))
    yield Case("quantity", str(number), source, f"{word} {plural(kind)}", RIGHT, rows(number))
    wrong = 12 if number < 4 else 1
    yield Case("wrong quantity", str(wrong), source, f"{word} {plural(kind)}", ERROR, rows(wrong))
