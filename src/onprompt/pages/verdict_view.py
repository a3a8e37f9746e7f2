"""A verdict as a page shows it: pictures with boxes and labels, and the checks that they light up with."""

import base64
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import cv2
from PIL import Image

from onprompt.errors import ImageError, OnpromptError
from onprompt.evidence.edits.observations import compare_versions
from onprompt.report.labels import place_labels
from onprompt.report.picture import heat
from onprompt.report.tables import shortened
from onprompt.report.terminal import cost_words, extra_words
from onprompt.report.view import CheckView, Mark, check_view, edit_marks, image_marks
from onprompt.runs.reading import judged_file, paths_of
from onprompt.settings import Settings, load
from onprompt.types import Sample, Verdict
from onprompt.vision.image import GAP, decode_image

ACROSS = 1000  # units of a picture's width in a drawing over it
LABEL, LETTER = 38.0, 14.6  # units of a label's height, and of a letter's width
LONGEST = 28  # letters of a label
CHANGED = "changed"  # the picture of what an edit has changed
SIDE, IN_FILE, QUALITY = 768, 512, 80  # pixels of the JPEGs of a report, in a folder and in one file
THUMBNAIL = 224  # pixels of the longest side on a card


class PageImage(NamedTuple):
    """A picture on a page: its address, its size in pixels, or why it can't be shown."""

    url: str = ""
    width: int = 0
    height: int = 0
    missing: str = ""


class BoxView(NamedTuple):
    """A box over a picture, in units of its drawing, with its label and the checks that it belongs to."""

    kind: str
    label: str
    title: str
    checks: tuple[int, ...]
    place: tuple[float, ...]  # x, y, width and height
    label_place: tuple[float, ...]  # x, y and width; empty without a label


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture of a verdict and what is drawn over it."""

    title: str  # before, after, changed; empty if there is just one
    shown: PageImage
    boxes: tuple[BoxView, ...] = ()

    @property
    def height(self) -> float:
        return round(ACROSS * self.shown.height / max(1, self.shown.width), 1)


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A verdict, and what a page draws of it."""

    verdict: Verdict
    scales: Mapping[str, range]  # of factors, where they are known
    is_edit: bool
    pictures: tuple[PictureView, ...]
    checks: tuple[CheckView, ...]
    located: frozenset[int]  # the places of the checks to which a box belongs
    notes: tuple[tuple[str, str], ...]  # title and text


def verdict_view(
    verdict: Verdict, pictures: Mapping[str, PageImage], scales: Mapping[str, range] | None = None
) -> VerdictView:
    """A verdict with the addresses of its pictures by name (image, before, changed, mask), and the rubric's scales."""
    is_edit = "before" in pictures
    if is_edit:
        titles = {"before": "before", "image": "after", CHANGED: CHANGED}
        versions = zip(titles.items(), edit_marks(verdict), strict=True)
        drawn = [lay_out(title, pictures[name], marks) for (name, title), marks in versions if name in pictures]
    else:
        drawn = [lay_out("", pictures["image"], image_marks(verdict))]
    return VerdictView(
        verdict=verdict,
        scales=scales or {},
        is_edit=is_edit,
        pictures=tuple(drawn),
        checks=tuple(check_view(check, is_edit) for check in verdict.checks),
        located=frozenset(place for picture in drawn for box in picture.boxes for place in box.checks),
        notes=tuple(notes(verdict)),
    )


def notes(verdict: Verdict) -> Iterable[tuple[str, str]]:
    """What else was seen or said, without effect on the score."""
    if evidence := verdict.prompt_evidence:
        if evidence.properties:
            found = ", ".join(f"{trait.value} ({trait.confidence:.2f})" for trait in evidence.properties)
            yield "The image as a whole is", found
        if evidence.extras:
            yield "Also detected (no penalty)", extra_words(evidence)
    for name, stated in verdict.stated.items():
        yield f"The model lists ({name})", "; ".join(stated)
    if cost := cost_words(verdict):
        yield "Answers", ", ".join(cost)


def lay_out(title: str, shown: PageImage, marks: Sequence[Mark]) -> PictureView:
    """A picture with its boxes in units of the drawing, and labels that do not cover each other."""
    picture = PictureView(title, shown)
    if not shown.width:
        return picture
    labels = [shortened(mark.label, LONGEST) for mark in marks]
    labelled = [index for index, label in enumerate(labels) if label]
    widths = [14 + LETTER * len(labels[index]) for index in labelled]
    places = place_labels([marks[index].box for index in labelled], widths, LABEL, (ACROSS, picture.height))
    label_places = {
        index: (round(at.left, 1), round(at.top, 1), round(at.right - at.left, 1))
        for index, at in zip(labelled, places, strict=True)
    }
    boxes = []
    for index, (mark, label) in enumerate(zip(marks, labels, strict=True)):
        (left, top, right, bottom), down = mark.box, picture.height
        place = left * ACROSS, top * down, (right - left) * ACROSS, (bottom - top) * down
        at = tuple(round(each, 1) for each in place)
        boxes.append(BoxView(mark.kind, label, mark.title, mark.checks, at, label_places.get(index, ())))
    return replace(picture, boxes=tuple(boxes))


def small(paths: Sequence[str], sha256: str, side: int, frame: int = 0) -> tuple[bytes, int, int]:
    """A judged picture as a JPEG with its width and height, if one of the files that may be it is still the same."""
    settings = settings_of(side * 4 // 3)  # of 1024 for 768: most generated pictures are decoded to it directly
    pixels = decode_image(*judged_file(paths, sha256, settings), settings, frame).pixels
    shrink = min(1.0, side / max(pixels.shape))  # to 3/4 at most, where two pixels a side suffice and OpenCV is fastest
    return encode(Image.fromarray(cv2.resize(pixels, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_LINEAR)))


@cache
def settings_of(side: int) -> Settings:
    """The settings that a picture of a size is opened with."""
    return load(max_side=side)


def encode(image: Image.Image) -> tuple[bytes, int, int]:
    """A JPEG with its size."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue(), image.width, image.height


def in_address(data: bytes, width: int, height: int) -> PageImage:
    """A JPEG in its address, which needs no file."""
    return PageImage(f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", width, height)


def change_map(sample: Sample) -> Image.Image:
    """Where both versions of an edited picture differ, and how much."""
    return Image.fromarray(heat(compare_versions(sample).difference))


def reason(error: OnpromptError) -> str:
    """Why a picture can't be shown, without the folder names of its author."""
    kinds = {"missing": "its file is no longer there", "changed": "its file has changed since it was judged"}
    kind = error.kind if isinstance(error, ImageError) else "unknown"
    return kinds.get(kind, f"its file can't be shown ({kind})")


class PictureFiles:
    """Writes the pictures of one sample, each once, and a thumbnail; or keeps them in the page."""

    def __init__(self, folder: Path | None, index: int) -> None:
        self.folder, self.index, self.side = folder, index, SIDE if folder else IN_FILE
        self.known: dict[str, PageImage] = {}
        self.data: dict[str, bytes] = {}  # by address

    def show_all(self, verdict: Verdict, given: Mapping[str, Any]) -> dict[str, PageImage]:
        """The pictures of a verdict by their names; of an edit also what changed."""
        shown = {}
        for name, each in {"image": verdict.sample.picture, **verdict.sample.pictures}.items():
            make = partial(small, paths_of(each, given), each.sha256, self.side, each.frame)
            shown[name] = self.show(each.sha256, make)
        if "before" in shown and not any(each.missing for each in shown.values()):
            shown[CHANGED] = self.show(CHANGED, lambda: encode(change_map(verdict.sample)))
        return shown

    def show_file(self, path: Any, sha256: str) -> PageImage:
        """The picture of a sample without a verdict to show, if any verdict says what the file held."""
        if not sha256:
            return PageImage(missing="it was not judged, so it is unknown whether its file is of this run")
        paths = [path] if isinstance(path, str) and Path(path).is_absolute() else []
        return self.show(sha256, partial(small, paths, sha256, self.side))

    def show(self, key: str, make: Callable[[], tuple[bytes, int, int]]) -> PageImage:
        if key not in self.known:
            try:
                self.known[key] = self.keep(f"-{len(self.known)}" if self.known else "", *make())
            except OnpromptError as error:
                self.known[key] = PageImage(missing=reason(error))
        return self.known[key]

    def keep(self, name: str, data: bytes, width: int, height: int) -> PageImage:
        """Write a picture, or put it into its address."""
        shown = PageImage(f"../pictures/{self.index:06}{name}.jpg", width, height)
        if self.folder is None:
            shown = in_address(data, width, height)
        else:
            (self.folder / shown.url.removeprefix("../")).write_bytes(data)
        self.data[shown.url] = data
        return shown

    def thumbnail(self, shown: PageImage) -> PageImage:
        """A smaller copy of a picture that was shown, for cards; its address is from the root of the report."""
        if not shown.url:
            return shown
        with Image.open(io.BytesIO(self.data[shown.url])) as image:
            image.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.BILINEAR, reducing_gap=GAP)
            made = self.keep("-small", *encode(image))
        return made._replace(url=made.url.removeprefix("../"))
