"""How two sightings stand to each other.

Each relation is a pure function with an answer in [0, 1]: how likely it holds. None is the answer where the picture
can't tell. One picture shows no depth, so what lies in front or behind is only guessed at, and never surely.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Box, Sighting

Related = Callable[[Sighting, Sighting], float | None]
GRID = 24  # cells of an outline, across and down, that are compared with another's
REACH = 0.35  # how far from a wrist a thing is still in the hand, in widths of the person or thirds of the height
HINT = 0.09  # how far a guess at depth may be from even: less than what settles a relation (relation_sure)
TURNED = 0.15  # how far the nose must be from the middle of the ears, in widths of the person, to face a side


def share(x: float) -> float:
    """Cut to [0, 1]."""
    return min(1.0, max(0.0, x))


def shared_width(a: Box, b: Box) -> float:
    """How much of the narrower box's width the two have in common."""
    narrow = min(a.width, b.width)
    return share((min(a.right, b.right) - max(a.left, b.left)) / narrow) if narrow else 0.0


def shared_height(a: Box, b: Box) -> float:
    """How much of the lower box's height the two have in common."""
    low = min(a.height, b.height)
    return share((min(a.bottom, b.bottom) - max(a.top, b.top)) / low) if low else 0.0


def within(a: Box, b: Box) -> float:
    """How much of the first box lies in the second."""
    return a.overlap(b).area / a.area if a.area else 0.0


def gap(a: Box, b: Box) -> float:
    """The empty space between two boxes, across or down, in mean sides; 0 where they touch."""
    across = max(a.left, b.left) - min(a.right, b.right)
    down = max(a.top, b.top) - min(a.bottom, b.bottom)
    return max(0.0, across / max((a.width + b.width) / 2, 1e-6), down / max((a.height + b.height) / 2, 1e-6))


def apart(one: Sighting, other: Sighting) -> float:
    """The empty space between two things, in mean sides: between their outlines where both are known, or their boxes.

    Boxes of things that stand aslant overlap while the things are far apart.
    """
    if one.mask is None or other.mask is None:
        return gap(one.box, other.box)
    (near, size), (far, other_size) = cells(one.box, one.mask), cells(other.box, other.mask)
    if not len(near) or not len(far):
        return gap(one.box, other.box)
    between_cells = np.abs(near[:, None] - far[None]) - (size + other_size) / 2
    sides = np.array([one.box.width + other.box.width, one.box.height + other.box.height]) / 2
    return float(np.maximum(between_cells / np.maximum(sides, 1e-6), 0).max(axis=2).min())


def cells(box: Box, mask: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The centres of those cells of a grid over its box that a thing fills by half or more, and their size."""
    rough = cv2.resize(mask.astype(np.float32), (GRID, GRID), interpolation=cv2.INTER_AREA)
    rows, columns = np.nonzero(rough >= 0.5)
    size = np.array([box.width, box.height]) / GRID
    return np.array([box.left, box.top]) + (np.stack([columns, rows], axis=1) + 0.5) * size, size


def left_of(one: Sighting, other: Sighting) -> float:
    """The centre lies to the left, measured in mean widths: .5 where they are level."""
    a, b = one.box, other.box
    return share(0.5 + (b.centre[0] - a.centre[0]) / max(a.width + b.width, 1e-6) * 2)


def right_of(one: Sighting, other: Sighting) -> float:
    """The mirror of left_of."""
    return left_of(other, one)


def above(one: Sighting, other: Sighting) -> float:
    """The centre lies higher, measured in mean heights: .5 where they are level."""
    a, b = one.box, other.box
    return share(0.5 + (b.centre[1] - a.centre[1]) / max(a.height + b.height, 1e-6) * 2)


def below(one: Sighting, other: Sighting) -> float:
    """The mirror of above."""
    return above(other, one)


def on(one: Sighting, other: Sighting) -> float:
    """Its foot stands within the other's height, or a tenth of its own above it, and within the other's width."""
    a, b = one.box, other.box
    off = max(b.top - a.bottom, a.bottom - b.bottom) / max(a.height, 1e-6)
    return shared_width(a, b) * share(1.5 - 5 * max(0.0, off))


def under(one: Sighting, other: Sighting) -> float:
    """Lower than the other, and within its width."""
    return below(one, other) * shared_width(one.box, other.box)


def inside(one: Sighting, other: Sighting) -> float:
    """It lies within the other's box for the most part, and is smaller."""
    a, b = one.box, other.box
    return share(within(a, b) * 1.25 - 0.25) * (1.0 if a.area < b.area else 0.0)


def near(one: Sighting, other: Sighting) -> float:
    """No further away than their mean size, in any direction."""
    return share(1.5 - apart(one, other))


def next_to(one: Sighting, other: Sighting) -> float:
    """Near, level with it for a part of their height, and neither within the other."""
    beside = 1 - max(within(one.box, other.box), within(other.box, one.box)) ** 4
    return near(one, other) * share(0.5 + shared_height(one.box, other.box)) * beside


def in_front_of(one: Sighting, other: Sighting) -> float | None:
    """What stands nearer on the same ground has its foot lower in the picture. Can't tell where they are far apart.

    Only a hint: it never gets surer than .59 or .41, which leaves it open.
    """
    a, b = one.box, other.box
    if shared_width(a, b) == 0 and gap(a, b) > 0.5:
        return None
    lower = (a.bottom - b.bottom) / max((a.height + b.height) / 2, 1e-6)
    return 0.5 + min(HINT, max(-HINT, lower / 2))


def behind(one: Sighting, other: Sighting) -> float | None:
    """The mirror of in_front_of."""
    return in_front_of(other, one)


def between(one: Sighting, first: Sighting, second: Sighting) -> float:
    """Its centre lies on the way from one to the other, across or down, and near that way."""
    x, y = one.box.centre
    (x1, y1), (x2, y2) = first.box.centre, second.box.centre
    length = (x2 - x1) ** 2 + (y2 - y1) ** 2
    if not length:
        return 0.0
    along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length
    aside = abs((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) / length
    return share(1.5 - 10 * max(0.15 - along, along - 0.85, 0.0)) * share(1.5 - 2 * aside)


def holding(one: Sighting, other: Sighting) -> float | None:
    """A wrist is at the thing. Can't tell without the joints where the thing touches the person's box."""
    if wrists := [place for name, place in one.joints if name.endswith("wrist")]:
        reach = REACH * max(one.box.width, one.box.height / 3)
        held = max(share(1.5 - distance(place, other.box) / max(reach, 1e-6)) for place in wrists)
        return None if held > 0.5 and other.box.area > one.box.area else held  # it may be a bus behind them
    return None if gap(one.box, other.box) == 0 else 0.1


def wearing(one: Sighting, other: Sighting) -> float:
    """What is worn lies within the wearer's box and covers but a part of it; it might be carried, so it is not sure."""
    a, b = one.box, other.box
    return 0.9 * share(within(b, a) * 1.5 - 0.5) * (1.0 if b.area < a.area else 0.0)


def riding(one: Sighting, other: Sighting) -> float:
    """The rider's foot is within the mount's height, the centre above the mount's, and the boxes share their width."""
    a, b = one.box, other.box
    seat = share(1.5 - 5 * max(0.0, b.top - a.bottom, a.bottom - b.bottom - 0.3 * b.height) / max(b.height, 1e-6))
    return shared_width(a, b) * seat * share(0.5 + (b.centre[1] - a.centre[1]) / max(b.height, 1e-6) * 3)


def facing(one: Sighting, other: Sighting) -> float | None:
    """The nose points to the other's side. Can't tell where the face is not seen, or is turned to the viewer."""
    joints = dict(one.joints)
    ears = [joints[name][0] for name in ("left ear", "right ear") if name in joints]
    if "nose" not in joints or not ears:
        return None
    turn = (joints["nose"][0] - sum(ears) / len(ears)) / max(one.box.width, 1e-6)
    if abs(turn) < TURNED:
        return None
    return share(0.5 + (1 if turn > 0 else -1) * (left_of(one, other) - 0.5))


def distance(place: tuple[float, float], box: Box) -> float:
    """How far a place is from a box; 0 inside it."""
    across = max(box.left - place[0], place[0] - box.right, 0.0)
    down = max(box.top - place[1], place[1] - box.bottom, 0.0)
    return float((across**2 + down**2) ** 0.5)


RELATIONS: dict[str, Related] = {
    "left of": left_of,
    "right of": right_of,
    "above": above,
    "below": below,
    "on": on,
    "under": under,
    "in": inside,
    "inside": inside,
    "next to": next_to,
    "near": near,
    "at": near,
    "with": near,
    "against": near,
    "in front of": in_front_of,
    "behind": behind,
    "holding": holding,
    "carrying": holding,
    "wearing": wearing,
    "riding": riding,
    "facing": facing,
    "looking at": facing,
}
NEED_JOINTS = ("holding", "carrying", "facing", "looking at")
