"""Where objects are: their size, their place in the image, and how two of them relate.

A relation is a pure function that returns how likely it holds, in [0, 1], or None where the image can't tell. A single
image shows no depth: what is in front is told only of objects that overlap.
"""

import math
from bisect import bisect_left
from collections.abc import Callable

from onprompt.settings import Settings
from onprompt.types import Box, Sighting
from onprompt.vision.vocabulary import values_by_word

SIZES = ("small", "medium", "large")
SIZE_WORDS = values_by_word("size")
COLUMNS, ROWS = ("left", "center", "right"), ("top", "middle", "bottom")
TOLERANCE = 0.05  # how far past its third of the image a centre may be and still be "on the left"
EDGE = 0.005  # a box this close to the image's edge may continue beyond it
RelationMeasure = Callable[[Sighting, Sighting], float | None]
REACH = 0.35  # how far from a wrist an object is still held, in widths of the person or thirds of the height
MIN_OVERLAP, COVERS = 0.1, 0.8  # shares of the smaller box: one object hides part of the other, or is all before it
MIN_DEPTH, MAX_DEPTH = 0.1, 0.25  # how much lower an edge must be, in mean heights, to be nearer; how likely that is


def ramp(value: float, low: float, high: float) -> float:
    """Linear from 0 at `low` to 1 at `high`, clamped; falling where `low` is the larger."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def size_of(box: Box, settings: Settings) -> str:
    """Small, medium or large, by the box's share of the image."""
    return SIZES[bisect_left((settings.small_area, settings.medium_area), box.area)]


def size_confidence(box: Box, settings: Settings) -> float:
    """How far the area is from the next size: 1 where it is off by half as much again."""
    limits = (settings.small_area, settings.medium_area)
    apart = min(abs(math.log(max(box.area, 1e-9) / limit)) for limit in limits)
    return 0.5 + 0.5 * ramp(apart, 0.0, math.log(1.5))


def position_confidence(box: Box) -> float:
    """How far the centre is from the next third: 1 where it is off by the tolerance."""
    apart = min(abs(coordinate - line) for coordinate in box.centre for line in (1 / 3, 2 / 3))
    return 0.5 + 0.5 * ramp(apart, 0.0, TOLERANCE)


def position_of(box: Box) -> str:
    """The cell of a 3 × 3 grid that holds the centre: `top-left`, `center`."""
    x, y = box.centre
    column, row = COLUMNS[min(2, int(x * 3))], ROWS[min(2, int(y * 3))]
    return column if row == "middle" else row if column == "center" else f"{row}-{column}"


def position_score(box: Box, asked: str) -> float:
    """1 where the centre is in the asked third, within a tolerance; the minor score where it is next to it."""
    x, y = box.centre
    thirds = [(x, COLUMNS.index(word)) for word in asked.split("-") if word in COLUMNS]
    thirds += [(y, ROWS.index(word)) for word in asked.split("-") if word in ROWS]
    past = max((max(third / 3 - place, place - (third + 1) / 3) for place, third in thirds), default=1.0)
    return 1.0 if past <= TOLERANCE else 0.5 if past <= TOLERANCE + 1 / 6 else 0.0


def is_truncated(box: Box) -> bool:
    """Whether the image's edge seems to cut off the object."""
    return box.left < EDGE or box.top < EDGE or box.right > 1 - EDGE or box.bottom > 1 - EDGE


# ---- relations -------------------------------------------------------------------------------------------------------


def clamp(x: float) -> float:
    """Limit to [0, 1]."""
    return min(1.0, max(0.0, x))


def horizontal_overlap(a: Box, b: Box) -> float:
    """The share of the narrower box's width that both have in common."""
    return a.overlap(b).width / (min(a.width, b.width) or 1.0)


def containment(a: Box, b: Box) -> float:
    """The share of the first box that is inside the second."""
    return a.overlap(b).area / a.area if a.area else 0.0


def box_gap(a: Box, b: Box) -> float:
    """The space between two boxes, across or down, in mean sides; 0 where they touch."""
    across = max(a.left, b.left) - min(a.right, b.right)
    down = max(a.top, b.top) - min(a.bottom, b.bottom)
    return max(0.0, across / max((a.width + b.width) / 2, 1e-6), down / max((a.height + b.height) / 2, 1e-6))


def inverse(relation: RelationMeasure) -> RelationMeasure:
    """The relation as the target has it to the subject."""
    return lambda subject, target: relation(target, subject)


def left_of(subject: Sighting, target: Sighting) -> float:
    """The centre is to the left, measured in mean widths: .5 where they are level."""
    a, b = subject.box, target.box
    return clamp(0.5 + (b.centre[0] - a.centre[0]) / max(a.width + b.width, 1e-6) * 2)


def above(subject: Sighting, target: Sighting) -> float:
    """The centre is higher, measured in mean heights: .5 where they are level."""
    a, b = subject.box, target.box
    return clamp(0.5 + (b.centre[1] - a.centre[1]) / max(a.height + b.height, 1e-6) * 2)


def on(subject: Sighting, target: Sighting) -> float:
    """The lower edge is within the target's height, or up to a tenth of its own above, and within its width.

    What reaches around the target must be mostly above it: a man on a board, not a table on a pizza.
    """
    a, b = subject.box, target.box
    off = max(b.top - a.bottom, a.bottom - b.bottom) / max(a.height, 1e-6)
    around = containment(b, a) >= COVERS > containment(a, b)
    higher = clamp(4 * (b.centre[1] - a.centre[1]) / max(a.height, 1e-6)) if around else 1.0
    return horizontal_overlap(a, b) * clamp(1.5 - 5 * max(0.0, off)) * higher


def under(subject: Sighting, target: Sighting) -> float:
    """Lower than the target and within its width, or what the target is on."""
    lower = above(target, subject)
    return max(lower * horizontal_overlap(subject.box, target.box), on(target, subject) if lower > 0.5 else 0.0)


def inside(subject: Sighting, target: Sighting) -> float:
    """Mostly within the target's box, and smaller."""
    a, b = subject.box, target.box
    return clamp(containment(a, b) * 1.25 - 0.25) * (1.0 if a.area < b.area else 0.0)


def near(subject: Sighting, target: Sighting) -> float:
    """No further away than their mean size, in any direction."""
    return clamp(1.5 - box_gap(subject.box, target.box))


def next_to(subject: Sighting, target: Sighting) -> float:
    """Near, level with the target for a part of their height, and neither inside the other."""
    first, second = subject.box, target.box
    beside = 1 - max(containment(first, second), containment(second, first)) ** 4
    level = first.overlap(second).height / (min(first.height, second.height) or 1.0)
    return near(subject, target) * clamp(0.5 + level) * beside


def in_front_of(subject: Sighting, target: Sighting) -> float | None:
    """Of two overlapping objects, the one inside the other's box is nearer, else the one with the lower edge.

    None where the boxes hardly overlap or end at the same height. Never more certain than .25 or .75.
    """
    a, b = subject.box, target.box
    in_target, in_subject = containment(a, b) >= COVERS, containment(b, a) >= COVERS
    lower = (a.bottom - b.bottom) / max((a.height + b.height) / 2, 1e-6)
    if in_target != in_subject:
        lower = MAX_DEPTH if in_target else -MAX_DEPTH
    if max(containment(a, b), containment(b, a)) < MIN_OVERLAP or abs(lower) < MIN_DEPTH:
        return None
    return 0.5 + min(MAX_DEPTH, max(-MAX_DEPTH, lower))


def between(subject: Sighting, first: Sighting, second: Sighting) -> float:
    """The centre is near the line between the centres of two others, and not close to its ends."""
    x, y = subject.box.centre
    (x1, y1), (x2, y2) = first.box.centre, second.box.centre
    length = (x2 - x1) ** 2 + (y2 - y1) ** 2
    if not length:
        return 0.0
    along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length
    aside = abs((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) / length
    return clamp(1.5 - 10 * max(0.15 - along, along - 0.85, 0.0)) * clamp(1.5 - 2 * aside)


def holding(subject: Sighting, target: Sighting) -> float | None:
    """A wrist is at the object. Without joints, None where the object touches the person's box."""
    if wrists := [point for name, point in subject.joints if name.endswith("wrist")]:
        reach = REACH * max(subject.box.width, subject.box.height / 3)
        held = max(clamp(1.5 - distance(point, target.box) / max(reach, 1e-6)) for point in wrists)
        return None if held > 0.5 and target.box.area > subject.box.area else held  # it may be a bus behind them
    return None if box_gap(subject.box, target.box) == 0 else 0.1


def wearing(subject: Sighting, target: Sighting) -> float:
    """The garment is inside the wearer's box and smaller; at most .9, since it might be carried."""
    a, b = subject.box, target.box
    return 0.9 * clamp(containment(b, a) * 1.5 - 0.5) * (1.0 if b.area < a.area else 0.0)


def riding(subject: Sighting, target: Sighting) -> float:
    """The rider's lower edge is within the mount's height, the centre above the mount's, and both share their width."""
    a, b = subject.box, target.box
    seat = clamp(1.5 - 5 * max(0.0, b.top - a.bottom, a.bottom - b.bottom - 0.3 * b.height) / max(b.height, 1e-6))
    return horizontal_overlap(a, b) * seat * clamp(0.5 + (b.centre[1] - a.centre[1]) / max(b.height, 1e-6) * 3)


def distance(point: tuple[float, float], box: Box) -> float:
    """The distance of a point from a box; 0 inside it."""
    across = max(box.left - point[0], point[0] - box.right, 0.0)
    down = max(box.top - point[1], point[1] - box.bottom, 0.0)
    return float((across**2 + down**2) ** 0.5)


RELATIONS: dict[str, RelationMeasure] = {
    "left of": left_of,
    "right of": inverse(left_of),
    "above": above,
    "below": inverse(above),
    "on": on,
    "under": under,
    **dict.fromkeys(("in", "inside"), inside),
    "next to": next_to,
    **dict.fromkeys(("near", "at", "with", "against"), near),
    "in front of": in_front_of,
    "behind": inverse(in_front_of),
    **dict.fromkeys(("holding", "carrying"), holding),
    "wearing": wearing,
    "riding": riding,
}
NEED_JOINTS = ("holding", "carrying")
