"""A verdict as a page shows it: pictures with boxes and labels, and the checks that they light up with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from onprompt import wording
from onprompt.report.edit_picture import change_of, is_about
from onprompt.report.labels import distinct, place_labels
from onprompt.report.terminal import WORST_FIRST, attribute_words, cost_words, spread_words, worst
from onprompt.types import Box, Check, Found, Outcome, Sighting, Verdict
from onprompt.wording.jury import disputes, voice_words

ACROSS = 1000  # units of a picture's width in a drawing over it
LABEL, LETTER, SWATCH = 38.0, 14.6, 30.0  # units of a label's height, and of a letter's and a swatch's width
LONGEST = 28  # letters of a label
ALSO = 12  # further objects that are listed
CHANGED = "changed"  # the picture of what an edit has changed
CHANGES = {"kept": "kept", "as asked": "matched", "not asked for": "unasked", "not done": "missing"}
WORDS = {  # of outcomes: of a prompt's claims, and of an edit's
    Outcome.MATCHED: ("matched", "done"),
    Outcome.PARTIAL: ("in part", "in part"),
    Outcome.MISMATCH: ("wrong", "wrong"),
    Outcome.MISSING: ("missing", "not done"),
    Outcome.LOW_CONFIDENCE: ("uncertain", "uncertain"),
    Outcome.UNVERIFIABLE: ("not checked", "not checked"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on a page: its address, its size in pixels, or why it can't be shown."""

    url: str = ""
    width: int = 0
    height: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class BoxView:
    """A box over a picture, in units of its drawing, with its label, its colors and the checks that it belongs to."""

    kind: str  # an outcome, or of an edit: kept, matched, unasked, missing, region
    label: str = ""
    title: str = ""
    checks: tuple[int, ...] = ()
    swatches: tuple[tuple[str, str, float], ...] = ()  # name, value as CSS has it, share
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    label_x: float = 0.0
    label_y: float = 0.0
    label_width: float = 0.0


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture of a verdict and what is drawn over it."""

    title: str  # before, after, changed; empty if there is just one
    shown: Shown
    boxes: tuple[BoxView, ...] = ()

    @property
    def height(self) -> float:
        """Units of the drawing's height."""
        return round(ACROSS * self.shown.height / max(1, self.shown.width), 1)


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check in words."""

    kind: str
    asked: str
    found: str
    outcome: str
    word: str  # for the outcome
    probability: float
    source: str
    located: bool  # whether a box belongs to it
    count: tuple[int, int | None] | None = None  # how many are asked for


@dataclass(frozen=True, slots=True)
class FactorView:
    """The score of a factor with its scale."""

    name: str
    score: int
    low: int | None
    high: int | None
    reason: str
    spread: str


@dataclass(frozen=True, slots=True)
class VerdictView:
    """All that a page shows of a verdict; only texts and numbers."""

    id: str
    prompt: str
    judge: str
    value: float
    interval: tuple[float, float] | None
    score: int | None
    high: int | None  # the best score of the scale
    is_edit: bool
    summary: str
    factors: tuple[FactorView, ...]
    flags: tuple[str, ...]
    coverage: float | None
    pictures: tuple[PictureView, ...]
    checks: tuple[CheckView, ...]
    notes: tuple[tuple[str, str], ...]  # title and text
    voices: tuple[tuple[str, tuple[str, ...]], ...]  # of a jury: what each says, and what contradicts it
    answers: tuple[str, ...]  # of a model, as they came


def verdict_view(
    verdict: Verdict, pictures: Mapping[str, Shown], scales: Mapping[str, range] | None = None, name: str = ""
) -> VerdictView:
    """A verdict with the addresses of its pictures by their names (image, before, changed, mask).

    `scales` are the rubric's factors, and `name` is what the sample is called in its run.
    """
    ends = {factor: (scale[0], scale[-1]) for factor, scale in (scales or {}).items()}
    is_edit = "before" in verdict.sample.pictures
    versions = is_edit and "before" in pictures
    drawn = draw_versions(verdict, pictures) if versions else [draw_picture(verdict, pictures["image"])]
    located = {place for picture in drawn for box in picture.boxes for place in box.checks}
    return VerdictView(
        id=name or verdict.sample.id,
        prompt=verdict.sample.prompt,
        judge=" ".join(filter(None, (verdict.judge, str(verdict.provenance.get("model") or "")))),
        value=verdict.value,
        interval=verdict.interval,
        score=verdict.score,
        high=ends.get("score", (None, None))[1],
        is_edit=is_edit,
        summary=verdict.summary,
        factors=tuple(  # a reason that is the summary is not said twice
            FactorView(
                *(name, factor.score, *ends.get(name, (None, None))),
                *(factor.reason if factor.reason != verdict.summary else "", spread_words(factor)),
            )
            for name, factor in verdict.factors.items()
        ),
        flags=verdict.flags,
        coverage=verdict.coverage,
        pictures=tuple(drawn),
        checks=tuple(check_view(check, place in located, is_edit) for place, check in enumerate(verdict.checks)),
        notes=tuple(notes(verdict)),
        voices=tuple(
            (voice_words(voice), tuple(line for line, _ in disputes(voice, verdict.checks))) for voice in verdict.voices
        ),
        answers=tuple(answer.text for answer in verdict.answers if answer.text),
    )


def check_view(check: Check, located: bool, is_edit: bool) -> CheckView:
    """A check in words."""
    missing = "nothing changed" if is_edit else "none"
    return CheckView(
        kind=check.claim.kind,
        asked=wording.full_claim(check.claim),
        found=missing if check.finding.kind is Found.MISSING else wording.finding_words(check),
        outcome=check.outcome.value,
        word=WORDS[check.outcome][is_edit],
        probability=check.probability,
        source="" if check.source == "none" else check.source,
        located=located,
        count=(check.claim.count.low, check.claim.count.high) if check.claim.count else None,
    )


def notes(verdict: Verdict) -> Iterable[tuple[str, str]]:
    """What else was seen or said, without effect on the score."""
    if evidence := verdict.prompt_evidence:
        if evidence.scene.properties:
            yield "The prompt asks of the whole image", attribute_words(evidence.scene.properties)
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


def draw_picture(verdict: Verdict, shown: Shown) -> PictureView:
    """The judged picture with a box for each sighting that was chosen, and for text that was read."""
    chosen = [(sighting, place) for place, check in enumerate(verdict.checks) for sighting in check.chosen]
    sightings = [sighting for sighting, _ in chosen]
    same = distinct(sightings)
    boxes = []
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
    swatches = tuple((each.name, f"#{bytes(each.rgb).hex()}", each.share) for each in sighting.colours)
    traits = ", ".join(trait.value for trait in sighting.traits)
    title = f"{text}, confidence {sighting.confidence:.2f}" + (f": {traits}" if traits else "")
    outcome = kind or verdict.checks[places[0]].outcome
    return sighting.box, BoxView(outcome.value, text, title, tuple(about), swatches)


def draw_versions(verdict: Verdict, pictures: Mapping[str, Shown]) -> list[PictureView]:
    """Both versions of an edited picture, with what was kept, asked for, or not; and what changed, if it is there."""
    evidence = verdict.edit_evidence
    before: list[tuple[Box, BoxView]] = []
    after: list[tuple[Box, BoxView]] = []
    for change in evidence.objects if evidence else ():
        about = [p for p, c in enumerate(verdict.checks) if c.thing is not None and is_about(change, c.thing, verdict)]
        kind = CHANGES[change_of(change, verdict)]
        for boxes, sighting in ((before, change.before), (after, change.after)):
            if sighting:
                label = sighting.word if change.kind == "unchanged" else f"{sighting.word}: {change.kind}"
                title = f"{sighting.word}, {change.kind}, confidence {sighting.confidence:.2f}"
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


def lay_out(title: str, shown: Shown, boxes: Sequence[tuple[Box, BoxView]]) -> PictureView:
    """A picture with its boxes in units of the drawing, and labels that do not cover each other."""
    picture = PictureView(title, shown)
    if not shown.width:
        return picture
    page = float(ACROSS), picture.height
    views = []
    for box, view in boxes:
        label = view.label if len(view.label) <= LONGEST else f"{view.label[: LONGEST - 1]}…"
        views.append(
            replace(
                view,
                x=round(box.left * page[0], 1),
                y=round(box.top * page[1], 1),
                width=round(box.width * page[0], 1),
                height=round(box.height * page[1], 1),
                label=label,
                label_width=14 + LETTER * len(label) + SWATCH * len(view.swatches),
            )
        )
    labelled = [index for index, (_, view) in enumerate(boxes) if view.label]
    widths = [views[index].label_width for index in labelled]
    places = place_labels([boxes[index][0] for index in labelled], widths, LABEL, page)
    for index, place in zip(labelled, places, strict=True):
        width = round(place.right - place.left, 1)
        at = {"label_x": round(place.left, 1), "label_y": round(place.top, 1)}
        views[index] = replace(views[index], label_width=width, **at)
    return replace(picture, boxes=tuple(views))
