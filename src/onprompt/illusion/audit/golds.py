"""Section 3, gold labels: which shape and scene a path stands for, by the described rule and by the original's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion import gold as original
from onprompt.illusion.audit.description import Gold, GoldRule
from onprompt.illusion.audit.points import Point, Verdict, silent, untried
from onprompt.illusion.audit.process import Calls, Reply
from onprompt.illusion.protocol import SCENES, SPLITS, Split

SHAPE, SCENE, FILES = "gold shape", "gold scene", "files that count"
RULES = {
    (SHAPE, "old_sin"): "the file's own folder",
    (SCENE, "old_sin"): 'field 1 of the name split at "-", up to the dot, less its last character',
    (SCENE, "icon"): 'field 2 of the name split at "-"',
}
USUAL = {SHAPE: "the folder two levels up", SCENE: 'field 1 of the name split at "-"'}
UNSEEN = "another case only, which the original's scoring can't see"
NAMES = ("a.png", "a.PNG", "a.apng", "a.jpg", "a.jpeg", "a.webp", "a.png.txt", "a")


class Labels(NamedTuple):
    """What a path stands for; None is what is not described. `trouble`: why it could not be told."""

    shape: str | None = None
    scene: str | None = None
    trouble: str = ""
    tried: bool = True

    @property
    def pair(self) -> tuple[str | None, str | None]:
        """Both labels."""
        return self.shape, self.scene


def compare(gold: Gold | None, calls: Calls | None) -> Iterator[Point]:
    """Two points for each split, and one on which files count."""
    every: list[Labels | None] = []
    for split in SPLITS.values():
        asked = paths(split)
        theirs = labels(gold, calls, split, asked)
        tried = [(path, each) for path, each in zip(asked, theirs, strict=True) if each and each.tried]
        if tried or theirs == [None] * len(theirs):
            yield from (compare_labels(title, split, tried, place) for place, title in enumerate((SHAPE, SCENE)))
        every += theirs
    yield compare_files(gold)
    if left := [each for each in every if each and not each.tried]:
        yield untried("gold", len(left), f"{len(every):,} paths", left[0].trouble)


def paths(split: Split) -> list[str]:
    """Every form that a file's name has, for every class and every scene."""
    found = []
    for place, scene in enumerate(split.shapes if split.name == "old_sin" else SCENES):
        shape = split.shapes[place % len(split.shapes)]
        found += list(old_forms(shape, scene) if split.name == "old_sin" else forms(shape, scene))
    for shape in split.shapes:
        found += list(old_forms(shape, "clock") if split.name == "old_sin" else forms(shape, "City"))
    if split.name == "icon":
        found += list(forms("Stationary", "Ocean"))
    return [path for path in dict.fromkeys(found) if readable(path, split)]


def forms(shape: str, scene: str) -> Iterator[str]:
    """As the generator names files, Easy and Hard, and with a word more before the scene, as the icons' rule has it."""
    name = shape.lower()
    yield f"data/{shape}/{scene}/{name}-{scene}-Easy-1.25-7.png"
    yield f"/home/data/images/{shape}/Hard/{name}-{scene}-Hard-0.85-12.png"
    yield f"data/{shape}/1/{name}-dog-{scene}-Easy-1.4-3.png"
    yield f"data/{shape}/x.y/{name}-{scene}-Hard-1.05-0-1.png"
    yield f"data/{shape}/0/other-{scene}-Easy-1.25-7.png"  # the folder is the class, whatever the file says
    yield f"data/{shape}/0/{name}-{scene}.png"  # what stands last keeps the extension
    yield f"data/{shape}/0/{name}-dog-{scene}.png"


def old_forms(shape: str, texture: str) -> Iterator[str]:
    """Cue conflicts: the number behind the texture has one digit, or two."""
    yield f"data/{shape}/{shape}1-{texture}3.png"
    yield f"/home/data/images/{shape}/{shape}10-{texture}10.png"
    yield f"data/other/{shape}/bottle2-{texture}1.png"
    yield f"data/{shape}/{shape}1-{texture}.png"  # a letter is cut off where there is no digit
    yield f"data/{shape}/{shape}1-{texture}10.v2.png"


def by_original(path: str, split: Split) -> Labels:
    """The original's labels."""
    found = original.gold(path, split)
    return Labels(found.shape, found.scene)


def readable(path: str, split: Split) -> bool:
    """Whether the original's rule finds labels in a path."""
    try:
        by_original(path, split)
    except UserError:
        return False
    return True


# ---- theirs ----------------------------------------------------------------------------------------------------------


def labels(gold: Gold | None, calls: Calls | None, split: Split, asked: Sequence[str]) -> list[Labels | None]:
    """What the description makes of paths; None where it is silent."""
    if gold is not None and gold.function and calls:
        known = [{"path": path, "split": split.name} for path in asked]
        return [replied(each) for each in calls.many([[case[name] for name in gold.takes] for case in known])]
    rule: GoldRule | None = getattr(gold, split.name, None)
    return [None if rule is None else by_rule(path, rule) for path in asked]


def replied(reply: Reply) -> Labels:
    """Shape and scene as a function returned them."""
    if reply.trouble:
        return Labels("", "", reply.trouble, reply.tried)
    value = reply.value
    if isinstance(value, dict):
        value = [value.get("shape"), value.get("scene", value.get("texture"))]
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        return Labels("", "", f"returns {value!r}"[:80] + ", where shape and scene are declared")
    return Labels(*value)


def by_rule(path: str, rule: GoldRule) -> Labels:
    """Shape and scene by folders and fields; what the rule doesn't name is left open."""
    steps = path.split("/")
    fields = steps[-1].split(rule.separator) if rule.separator else []

    def told(folder: int | None, field: int | None) -> str | None:
        if folder is not None:
            return steps[-1 - folder] if folder < len(steps) else ""
        if field is None or not rule.separator:
            return None
        return fields[field] if field < len(fields) else ""

    scene = told(rule.scene_folder, rule.scene_field)
    if scene is not None:
        scene = scene.partition(rule.until)[0] if rule.until else scene
        scene = scene[: len(scene) - rule.drop_last]
    return Labels(told(rule.shape_folder, rule.shape_field), scene)


# ---- points ----------------------------------------------------------------------------------------------------------


def compare_labels(title: str, split: Split, tried: Sequence[tuple[str, Labels]], place: int) -> Point:
    """One of the two labels, on every form of a path."""
    rule = RULES.get((title, split.name), USUAL[title])
    told = [(path, by_original(path, split).pair[place], each.trouble or each.pair[place]) for path, each in tried]
    if not told or any(theirs is None for _, _, theirs in told):
        return silent("gold", title, split.name, rule)
    wrong = [(path, mine or "", theirs or "") for path, mine, theirs in told if theirs != mine]
    if not wrong:
        return Point("gold", title, split.name, rule, f"the same on {len(told):,} paths", Verdict.ALIGNED)
    seen = [each for each in wrong if looked_for(title, each[1]) != looked_for(title, each[2])]
    path, mine, other = (seen or wrong)[0]  # the most usual name that shows it
    example = {"path": path, "original": mine, "theirs": other or "nothing"}
    said = f"another label for {len(wrong):,} of {len(told):,} paths"
    verdict, note = (Verdict.CHANGES, quirk(title, split)) if seen else (Verdict.HARMLESS, UNSEEN)
    return Point("gold", title, split.name, rule, said, verdict, note, example)


def looked_for(title: str, label: str) -> set[str]:
    """What the original finds a label by: it looks in answers in lower case, so a capital is never found."""
    forms = {label.lower()} if title == SHAPE else {label.lower(), label.replace("_", " ")}
    return {form for form in forms if form == form.lower()}


def quirk(title: str, split: Split) -> str:
    """What to know of the original's rule before one mends a copy by it."""
    if (title, split.name) == (SCENE, "icon"):
        return "where icon files are named as the generator names them, field 2 is Easy or Hard: look at the data"
    if (title, split.name) == (SCENE, "old_sin"):
        return "the original makes elephant1 of elephant10.png; a rule that makes elephant of it is more sensible"
    return ""


def compare_files(gold: Gold | None) -> Point:
    """Which files count, by the ends of their names."""
    rule = f"names that end in {original.SUFFIX}, in lower case"
    if gold is None or gold.extensions is None:
        return silent("gold", FILES, "", rule)
    theirs = " ".join(gold.extensions)
    for name in NAMES:
        taken = name.endswith(tuple(gold.extensions))
        if taken != original.counts(name):
            example = {"path": name, "original": "counts" if not taken else "doesn't count", "theirs": "the other way"}
            return Point("gold", FILES, "", rule, theirs, Verdict.CHANGES, "other files count", example)
    return Point("gold", FILES, "", rule, theirs, Verdict.ALIGNED)
