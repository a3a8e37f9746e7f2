"""What differs between two versions of an image: how they align, a map of real changes, and global adjustments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from onprompt.types import Box
from onprompt.vision.boxes import Floats, Pixels

SIDE = 384  # pixels of the longer side at which images are compared
BLURS = (0.006, 0.016)  # of SIDE: differences are averaged over these before they count, so that noise cancels out
TEXTURE = 0.6  # weight of a difference in local contrast, beside one in color
SAME_COLOR = 2.0  # ΔE up to which a pixel kept its color
KEPT_COLORS = 0.15  # share of such pixels from which a large difference is an edit, not a cast and not redrawn
CLEAR = 25.0  # ΔE from which it is then a real change in any case
FLOOR = 5.0  # ΔE below which a difference is re-encoding
NOISE = 2.5  # a real change exceeds the median difference by this factor
SMALLEST = 0.0015  # share of the image below which a region is noise
# How an image may have been turned or mirrored as a whole, and what turns it back
TURNS: dict[str, Callable[[Pixels], Pixels]] = {
    "mirrored": lambda x: x[:, ::-1],
    "upside down": lambda x: x[::-1],
    "turned by 180°": lambda x: x[::-1, ::-1],
    "turned left": lambda x: np.rot90(x, -1),
    "turned right": lambda x: np.rot90(x),
}
TURNED = 0.55  # the residual of a turned image against that of the plain one, below which it was turned
FEATURES, INLIERS = 800, 12  # corners that are compared, and how many must agree on a crop or shift
DISTINCT = 0.75  # distance of a corner's best match against that of its second best
ALIGNED = 2.5  # median ΔE up to which two images are taken for aligned
GAIN = 0.7  # the residual after a crop or shift against that before it, below which it counts
Mask = NDArray[np.bool_]


class Region(NamedTuple):
    """A connected part of the image that changed."""

    box: Box
    area: float  # share of the image
    weight: float  # share of all change


class Corners(NamedTuple):
    """Places of an image that can be found again, and what each looks like."""

    places: Floats  # x and y
    looks: Floats | None


@dataclass(frozen=True, slots=True)
class Change:
    """Two versions of an image in the frame of the first, and how they differ."""

    before: Pixels
    after: Pixels
    overlap: Mask  # the part of the frame that the second version covers
    turned: str  # one of TURNS, or empty
    crop: Box | None  # the part of the first version that the second shows, if not all of it
    difference: Floats  # ΔE after a color cast is taken off, averaged over several scales
    changed: Mask  # where that is a real change
    regions: tuple[Region, ...]  # heaviest first
    residual: float  # median difference: of re-encoding, or of a redrawn image
    structure: float  # correlation of edges, 1 for the same layout

    @property
    def area(self) -> float:
        """The share of the image that changed."""
        return float(self.changed.mean())

    @property
    def concentration(self) -> float:
        """The share of all change in the heaviest region: a change that is spread is a redrawn image."""
        return self.regions[0].weight if self.regions else 0.0

    def within(self, box: Box) -> float:
        """The share of a box that changed."""
        cells = self.changed[cells_of(box, self.changed.shape)]
        return float(cells.mean()) if cells.size else 0.0


def cells_of(box: Box, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """The rows and columns of a box, at least one of each."""
    rows, columns = shape[:2]
    top, left = min(rows - 1, int(box.top * rows)), min(columns - 1, int(box.left * columns))
    bottom, right = max(top + 1, round(box.bottom * rows)), max(left + 1, round(box.right * columns))
    return slice(top, bottom), slice(left, right)


def compare(before: Pixels, after: Pixels) -> Change:
    """Align two versions of an image and find where they really differ."""
    first = shrink(before)
    turned = find_turn(first, after)
    second: Pixels = TURNS[turned](after) if turned else after
    aligned = fit(np.ascontiguousarray(second), first.shape)
    overlap, crop = np.ones(first.shape[:2], dtype=np.bool_), None
    difference = difference_map(first, aligned, overlap)
    if warped := find_crop(first, shrink(np.ascontiguousarray(second)), float(np.median(difference))):
        aligned, overlap, crop = warped
        difference = difference_map(first, aligned, overlap)
    residual = float(np.median(difference[overlap]))
    threshold = max(FLOOR, NOISE * residual)
    if keeps_colors((to_lab(aligned) - to_lab(first))[overlap]):  # more than half of it may have been edited
        threshold = min(threshold, CLEAR)
    changed = (difference > threshold) & overlap
    changed, regions = find_regions(changed, difference)
    structure = edge_correlation(first, aligned, overlap)
    return Change(first, aligned, overlap, turned, crop, difference, changed, regions, residual, structure)


def shrink(pixels: Pixels) -> Pixels:
    """The image with its longer side at SIDE."""
    scale = SIDE / max(pixels.shape[:2])
    return fit(pixels, tuple(max(2, round(side * scale)) for side in pixels.shape[:2]))


def fit(pixels: Pixels, shape: tuple[int, ...]) -> Pixels:
    """The image at a number of rows and columns."""
    if pixels.shape[:2] == shape[:2]:
        return pixels
    smaller = shape[0] < pixels.shape[0]
    method = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (shape[1], shape[0]), interpolation=method), dtype=np.uint8)


def to_lab(pixels: Pixels) -> Floats:
    """CIE Lab."""
    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), dtype=np.float32)


def thumbnail_residual(first: Pixels, second: Pixels) -> float:
    """How much two images differ at a glance, apart from a color cast."""
    a, b = (to_lab(fit(np.ascontiguousarray(image), (48, 48))) for image in (first, second))
    shift = a - b
    return float(np.linalg.norm(shift - np.median(shift, axis=(0, 1)), axis=2).mean())


def find_turn(first: Pixels, second: Pixels) -> str:
    """How the second image was turned as a whole, if it was."""
    plain = thumbnail_residual(first, second)
    residuals = {name: thumbnail_residual(first, turn(second)) for name, turn in TURNS.items()}
    best = min(residuals, key=residuals.__getitem__)
    return best if residuals[best] < TURNED * plain and plain > FLOOR else ""


def find_crop(first: Pixels, second: Pixels, residual: float) -> tuple[Pixels, Mask, Box] | None:
    """The second image in the frame of the first, if it shows a part of it, or the whole of it smaller or shifted."""
    other_shape = any(abs(a - b) > 0.02 * SIDE for a, b in zip(first.shape, second.shape, strict=True))
    transform = find_transform(first, second, other_shape) if residual > ALIGNED or other_shape else None
    if transform is None:
        return None
    size, (rows, columns) = first.shape[1::-1], second.shape[:2]
    warped: Pixels = cv2.warpAffine(second, transform, size, flags=cv2.INTER_LINEAR).astype(np.uint8)
    covered = cv2.warpAffine(np.ones((rows, columns), np.uint8), transform, size) > 0
    if covered.mean() < 0.1:
        return None
    warped[~covered] = first[~covered]  # what is not shown is no difference
    difference = difference_map(first, warped, covered)
    if np.median(difference[covered]) > GAIN * max(residual, ALIGNED):
        return None
    corners = cv2.transform(np.array([[[0.0, 0.0], [columns, rows]]]), transform)[0] / size
    (left, top), (right, bottom) = corners
    return warped, covered, Box(*(float(x) for x in (left, top, right, bottom)))


def find_transform(first: Pixels, second: Pixels, other_shape: bool) -> Floats | None:
    """Scale and shift from the second image to the first, by corners that agree; None if there is hardly any."""
    matches = match_corners(*(find_corners(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)) for image in (first, second)))
    if len(matches) < INLIERS:
        return None
    target, source = (np.ascontiguousarray(points) for points in np.swapaxes(matches, 0, 1))
    transform, inliers = cv2.estimateAffinePartial2D(source, target, ransacReprojThreshold=3.0)
    if transform is None or int(inliers.sum()) < INLIERS:
        return None
    scale, turn = float(np.hypot(transform[0, 0], transform[1, 0])), abs(float(transform[1, 0]))
    moved = float(np.abs(transform[:, 2]).max()) / SIDE
    still = abs(scale - 1) < 0.02 and moved < 0.012 and not other_shape
    return None if still or turn > 0.15 or not 0.2 < scale < 4 else np.asarray(transform, dtype=np.float64)


def find_corners(grey: np.ndarray) -> Corners:
    """The corners of a grey image."""
    finder = cv2.SIFT_create(nfeatures=FEATURES, contrastThreshold=0.02)  # type: ignore[attr-defined]
    points, looks = finder.detectAndCompute(grey, None)
    return Corners(np.array([point.pt for point in points], dtype=np.float32).reshape(-1, 2), looks)


def match_corners(first: Corners, second: Corners) -> list[tuple[Floats, Floats]]:
    """Places in two images that look alike, and like no other place of the first."""
    if first.looks is None or second.looks is None:
        return []
    nearest = cv2.BFMatcher(cv2.NORM_L2).knnMatch(second.looks, first.looks, k=2)
    best = [pair[0] for pair in nearest if len(pair) == 2 and pair[0].distance < DISTINCT * pair[1].distance]
    return [(first.places[match.trainIdx], second.places[match.queryIdx]) for match in best]


def difference_map(first: Pixels, second: Pixels, overlap: Mask) -> Floats:
    """ΔE of two images after the median shift of color is taken off, and the difference in local contrast."""
    a, b = to_lab(first), to_lab(second)
    shift = b - a
    if not keeps_colors(shift[overlap]):  # a cast is everywhere
        shift -= np.median(shift[overlap], axis=0)
    total = np.zeros(shift.shape[:2], np.float32)
    for blur in BLURS:
        sigma = blur * SIDE
        color = np.linalg.norm(cv2.GaussianBlur(shift, (0, 0), sigma), axis=2)
        texture = np.abs(local_contrast(a[..., 0], 2 * sigma) - local_contrast(b[..., 0], 2 * sigma))
        total += np.hypot(color, TEXTURE * texture)
    smooth = cv2.GaussianBlur(total / len(BLURS), (0, 0), 0.01 * SIDE)
    return np.where(overlap, smooth, 0).astype(np.float32)


def keeps_colors(shift: Floats) -> bool:
    """Whether part of an image has the colors that it had."""
    return float((np.linalg.norm(shift, axis=1) < SAME_COLOR).mean()) >= KEPT_COLORS


def local_contrast(light: Floats, sigma: float) -> Floats:
    """The standard deviation of lightness around each pixel."""
    mean = cv2.GaussianBlur(light, (0, 0), sigma)
    return np.sqrt(np.maximum(cv2.GaussianBlur(light * light, (0, 0), sigma) - mean * mean, 0))


def find_regions(changed: Mask, difference: Floats) -> tuple[Mask, tuple[Region, ...]]:
    """The connected parts of a change, without specks."""
    number, labels, stats, _ = cv2.connectedComponentsWithStats(changed.astype(np.uint8))
    weights = np.bincount(labels.ravel(), difference.ravel(), minlength=number)
    total, (rows, columns) = float(difference.sum()) or 1.0, changed.shape
    kept = [index for index in range(1, number) if stats[index, cv2.CC_STAT_AREA] >= SMALLEST * changed.size]
    regions = []
    for index in sorted(kept, key=lambda index: -weights[index]):
        left, top, width, height, area = (int(value) for value in stats[index])
        box = Box(left / columns, top / rows, (left + width) / columns, (top + height) / rows)
        regions.append(Region(box, area / changed.size, float(weights[index]) / total))
    return np.isin(labels, kept), tuple(regions)


def edge_correlation(first: Pixels, second: Pixels, overlap: Mask) -> float:
    """The correlation of the two images' edges, a little blurred: 1 for the same layout, 0 for another image."""
    a, b = (edges(to_lab(image)[..., 0])[overlap] for image in (first, second))
    spread = float(a.std() * b.std())
    return float(((a - a.mean()) * (b - b.mean())).mean()) / spread if spread > 1e-6 else 0.0


def edges(light: Floats) -> Floats:
    """The strength of edges."""
    smooth = cv2.GaussianBlur(light, (0, 0), 1.5)
    strength = np.hypot(cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1))
    return np.asarray(cv2.GaussianBlur(strength, (0, 0), 2.0), dtype=np.float32)
