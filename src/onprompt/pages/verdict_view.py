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

from onprompt import wording
from onprompt.errors import ImageError, OnpromptError
from onprompt.evidence.edits.observations import compare_versions
from onprompt.report.edit_picture import change_of, heat, is_about
from onprompt.report.labels import distinct, located, place_labels
from onprompt.report.terminal import WORST_FIRST, cost_words, spread_words, worst
from onprompt.runs.reading import judged_file, paths_of
from onprompt.settings import Settings, load
from onprompt.types import Box, Check, Found, Outcome, Sample, Sighting, Verdict
from onprompt.vision.image import GAP, decode_image
from onprompt.wording.labels import OUTCOMES

ACROSS = 1000  # units of a picture's width in a drawing over it
LABEL, LETTER = 38.0, 14.6  # units of a label's height, and of a letter's width
LONGEST = 28  # letters of a label
ALSO = 12  # further objects that are listed
CHANGED = "changed"  # the picture of what an edit has changed
CHANGES = {"kept": "kept", "as asked": "matched", "not asked for": "unasked", "not done": "missing"}
SIDE, IN_FILE, QUALITY = 768, 512, 80  # pixels of the JPEGs of a report, in a folder and in one file
THUMBNAIL = 224  # pixels of the longest side on a card


class PageImage(NamedTuple):
    """A picture on a page: its address, its size in pixels, or why it can't be shown."""

    url: str = ""
    width: int = 0
    height: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class BoxView:
    """A box over a picture, in units of its drawing, with its label and the checks that it belongs to."""

    kind: str  # an outcome, or of an edit: kept, matched, unasked, missing, region
    label: str = ""
    title: str = ""
    checks: tuple[int, ...] = ()
    place: tuple[float, ...] = ()  # x, y, width and height
    label_place: tuple[float, ...] = ()  # x, y and width


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture of a verdict and what is drawn over it."""

    title: str  # before, after, changed; empty if there is just one
    shown: PageImage
    boxes: tuple[BoxView, ...] = ()

    @property
    def height(self) -> float:
        return round(ACROSS * self.shown.height / max(1, self.shown.width), 1)


class CheckView(NamedTuple):
    """One check in words."""

    kind: str
    asked: str
    found: str
    outcome: str
    word: str  # for the outcome
    probability: float
    source: str
    located: bool  # whether a box belongs to it
    numbers: tuple[int, int | None] | None  # how many are asked for


class FactorView(NamedTuple):
    """The score of a factor with its scale."""

    name: str
    score: int
    reason: str
    spread: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictView:
    """A verdict, and what a page draws of it."""

    verdict: Verdict
    high: int | None  # the best score of the scale
    is_edit: bool
    factors: tuple[FactorView, ...]
    pictures: tuple[PictureView, ...]
    checks: tuple[CheckView, ...]
    notes: tuple[tuple[str, str], ...]  # title and text
    voices: tuple[str, ...]  # of a jury: what each says


def verdict_view(
    verdict: Verdict, pictures: Mapping[str, PageImage], scales: Mapping[str, range] | None = None
) -> VerdictView:
    """A verdict with the addresses of its pictures by name (image, before, changed, mask), and the rubric's scales."""
    ends = {factor: (scale[0], scale[-1]) for factor, scale in (scales or {}).items()}
    is_edit = "before" in pictures
    drawn = draw_versions(verdict, pictures) if is_edit else [draw_picture(verdict, pictures["image"])]
    boxed = {place for picture in drawn for box in picture.boxes for place in box.checks}
    factors = []
    for key, factor in verdict.factors.items():
        reason = factor.reason if factor.reason != verdict.summary else ""  # which is not said twice
        factors.append(FactorView(key, factor.score, reason, spread_words(factor), *ends.get(key, ())))
    return VerdictView(
        verdict=verdict,
        high=ends.get("score", (None, None))[1],
        is_edit=is_edit,
        factors=tuple(factors),
        pictures=tuple(drawn),
        checks=tuple(check_view(check, place in boxed, is_edit) for place, check in enumerate(verdict.checks)),
        notes=tuple(notes(verdict)),
        voices=tuple(map(wording.voice_words, verdict.voices)),
    )


def check_view(check: Check, located: bool, is_edit: bool) -> CheckView:
    """A check in words."""
    claim, missing = check.claim, "nothing changed" if is_edit else "none"
    found = missing if check.finding.kind is Found.MISSING else wording.finding_words(check)
    source = "" if check.source == "none" else check.source
    numbers = (claim.count.low, claim.count.high) if claim.count else None
    word = OUTCOMES[check.outcome][is_edit]
    about = claim.kind, wording.full_claim(claim), found, check.outcome.value, word
    return CheckView(*about, check.probability, source, located, numbers)


def notes(verdict: Verdict) -> Iterable[tuple[str, str]]:
    """What else was seen or said, without effect on the score."""
    if evidence := verdict.prompt_evidence:
        if evidence.properties:
            found = ", ".join(f"{trait.value} ({trait.confidence:.2f})" for trait in evidence.properties)
            yield "The image as a whole is", found
        if evidence.extras:
            words = [sighting.word for sighting in evidence.extras]
            counts = [f"{words.count(word)} × {word}" for word in dict.fromkeys(words)]
            yield "Also detected (no penalty)", ", ".join([*counts[:ALSO], *(["…"] if len(counts) > ALSO else [])])
    for name, stated in verdict.stated.items():
        yield f"The model lists ({name})", "; ".join(stated)
    if cost := cost_words(verdict):
        yield "Answers", ", ".join(cost)


def draw_picture(verdict: Verdict, shown: PageImage) -> PictureView:
    """The judged picture with a box for each sighting that was chosen, and for text; the rest below, without labels."""
    chosen = [(seen, place) for place, check in enumerate(verdict.checks) for seen in located(verdict, check)]
    sightings = [sighting for sighting, _ in chosen]
    same = distinct(sightings)
    extras = verdict.prompt_evidence.extras if verdict.prompt_evidence else ()
    boxes = [(seen.box, BoxView("kept", title=f"{seen.word}, not in the prompt")) for seen in extras]
    for index in sorted(set(same), key=lambda index: -sightings[index].box.area):
        places = {chosen[other][1] for other, first in enumerate(same) if first == index}
        boxes.append(sighting_box(verdict, sightings[index], sorted(places)))
    return lay_out("", shown, boxes)


def sighting_box(verdict: Verdict, sighting: Sighting, places: Sequence[int]) -> tuple[Box, BoxView]:
    """A box with all checks of the objects that the sighting was chosen for."""
    things = {verdict.checks[place].thing for place in places} - {None}
    names = {verdict.checks[place].claim.value for place in places}
    about = [
        place
        for place, check in enumerate(verdict.checks)
        if place in places or check.thing in things or (check.claim.target and check.claim.target in names)
    ]
    kind = min((worst(verdict, thing) for thing in things if thing is not None), key=WORST_FIRST.index, default=None)
    text = f'"{sighting.text}"' if sighting.text else sighting.word
    traits = ", ".join(trait.value for trait in sighting.traits)
    title = f"{text}, confidence {sighting.confidence:.2f}" + (f": {traits}" if traits else "")
    outcome = kind if kind and not sighting.text else verdict.checks[places[0]].outcome
    return sighting.box, BoxView(outcome.value, text, title, tuple(about))


def draw_versions(verdict: Verdict, pictures: Mapping[str, PageImage]) -> list[PictureView]:
    """Both versions of an edited picture, with what was kept, asked for, or not; and what changed, if it is there."""
    evidence = verdict.edit_evidence
    before: list[tuple[Box, BoxView]] = []
    after: list[tuple[Box, BoxView]] = []
    for change in evidence.objects if evidence else ():
        about = [p for p, c in enumerate(verdict.checks) if c.thing is not None and is_about(change, c.thing, verdict)]
        kind = CHANGES[change_of(change, verdict)]
        for boxes, sighting in ((before, change.before), (after, change.after)):
            if sighting:
                became = change.kind
                label = sighting.word if became == "unchanged" else f"{sighting.word}: {became}"
                title = f"{sighting.word}, {became}, confidence {sighting.confidence:.2f}"
                boxes.append((sighting.box, BoxView(kind, label, title, tuple(about))))
    for place, check in enumerate(verdict.checks):
        if check.outcome is Outcome.MISSING and check.box:
            label = f"not done: {check.claim.kind}"
            after.append((check.box, BoxView("missing", label, label, (place,))))
    drawn = [lay_out("before", pictures["before"], before), lay_out("after", pictures["image"], after)]
    if CHANGED in pictures:
        regions = [
            (box, BoxView("region", title="a region that changed")) for box in (evidence.regions if evidence else ())
        ]
        drawn.append(lay_out(CHANGED, pictures[CHANGED], regions))
    return drawn


def lay_out(title: str, shown: PageImage, boxes: Sequence[tuple[Box, BoxView]]) -> PictureView:
    """A picture with its boxes in units of the drawing, and labels that do not cover each other."""
    picture = PictureView(title, shown)
    if not shown.width:
        return picture
    across, down = float(ACROSS), picture.height
    labels = [v.label if len(v.label) <= LONGEST else f"{v.label[: LONGEST - 1]}…" for _, v in boxes]
    views = []
    for (box, view), label in zip(boxes, labels, strict=True):
        corners = box.left * across, box.top * down, box.width * across, box.height * down
        views.append(replace(view, label=label, place=tuple(round(each, 1) for each in corners)))
    labelled = [index for index, label in enumerate(labels) if label]
    widths = [14 + LETTER * len(labels[index]) for index in labelled]
    places = place_labels([boxes[index][0] for index in labelled], widths, LABEL, (across, down))
    for index, at in zip(labelled, places, strict=True):
        label_place = round(at.left, 1), round(at.top, 1), round(at.right - at.left, 1)
        views[index] = replace(views[index], label_place=label_place)
    return replace(picture, boxes=tuple(views))


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
