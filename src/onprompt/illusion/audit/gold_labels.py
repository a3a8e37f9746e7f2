"""Section 3.2: the shape and scene that a path stands for, by the described rule and by the original's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from onprompt.errors import UserError
from onprompt.illusion import gold as original
from onprompt.illusion.audit.description import Gold, GoldRule
from onprompt.illusion.audit.points import Point, Verdict, not_described, not_tried
from onprompt.illusion.audit.process import IsolatedFunction, Reply
from onprompt.illusion.protocol import SCENES, SPLITS, Split, load_toml

SHAPE, SCENE, FILES = "gold shape", "gold scene", "files that count"
DATA = load_toml("audit/gold_labels.toml")
CASE_ONLY = "only the case differs, which the original's scoring ignores"


class Labels(NamedTuple):
    """What a path stands for; None where the description leaves it open. `error`: why there are no labels."""

    shape: str | None = None
    scene: str | None = None
    error: str = ""
    tried: bool = True


def compare(gold: Gold | None, function: IsolatedFunction | None) -> Iterator[Point]:
    """Two points for each split, and one on the files that count."""
    every: list[Labels | None] = []
    for split in SPLITS.values():
        paths = sample_paths(split)
        theirs = their_labels(gold, function, split, paths)
        tried = [(path, labels) for path, labels in zip(paths, theirs, strict=True) if labels and labels.tried]
        if tried or not any(theirs):
            yield from (compare_labels(title, split, tried) for title in (SHAPE, SCENE))
        every += theirs
    yield compare_files(gold)
    if missing := [labels for labels in every if labels and not labels.tried]:
        yield not_tried("gold", len(missing), f"{len(every):,} paths", missing[0].error)


def sample_paths(split: Split) -> list[str]:
    """Every form of file name, for every shape and every scene."""
    cue_conflict = split.name == "old_sin"
    scenes, usual = (split.shapes, "clock") if cue_conflict else (SCENES, "City")
    pairs = [(split.shapes[number % len(split.shapes)], scene) for number, scene in enumerate(scenes)]
    pairs += [(shape, usual) for shape in split.shapes]
    pairs += [("Stationary", "Ocean")] if split.name == "icon" else []
    paths = [
        pattern.format(shape=shape, name=shape.lower(), scene=scene)
        for shape, scene in pairs
        for pattern in DATA["paths"]["old_sin" if cue_conflict else "usual"]
    ]
    return [path for path in dict.fromkeys(paths) if readable(path, split)]


def original_label(title: str, path: str, split: Split) -> str:
    """One of the original's two labels."""
    labels = original.gold(path, split)
    return labels.shape if title == SHAPE else labels.scene


def readable(path: str, split: Split) -> bool:
    """Whether the original's rule finds labels in a path."""
    try:
        original.gold(path, split)
    except UserError:
        return False
    return True


def their_labels(
    gold: Gold | None, function: IsolatedFunction | None, split: Split, paths: Sequence[str]
) -> list[Labels | None]:
    """The labels of paths by the description; None where there is none."""
    if gold is not None and function:
        calls = [[{"path": path, "split": split.name}[name] for name in gold.takes] for path in paths]
        return [read_labels(reply) for reply in function.call_all(calls)]
    rule: GoldRule | None = getattr(gold, split.name, None)
    return [None if rule is None else apply_rule(path, rule) for path in paths]


def read_labels(reply: Reply) -> Labels:
    """Shape and scene as a function returned them."""
    if reply.error:
        return Labels("", "", reply.error, reply.tried)
    value = reply.value
    if isinstance(value, dict):
        value = [value.get("shape"), value.get("scene", value.get("texture"))]
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(label, str) for label in value):
        return Labels("", "", f"returns {value!r}"[:80] + ", not the declared shape and scene")
    return Labels(*value)


def apply_rule(path: str, rule: GoldRule) -> Labels:
    """Shape and scene by folders and fields."""
    steps = path.split("/")
    fields = steps[-1].split(rule.separator) if rule.separator else []

    def label(folder: int | None, field: int | None) -> str | None:
        if folder is not None:
            return steps[-1 - folder] if folder < len(steps) else ""
        if field is None or not rule.separator:
            return None
        return fields[field] if field < len(fields) else ""

    scene = label(rule.scene_folder, rule.scene_field)
    if scene is not None:
        scene = scene.partition(rule.until)[0] if rule.until else scene
        scene = scene[: len(scene) - rule.drop_last]
    return Labels(label(rule.shape_folder, rule.shape_field), scene)


def compare_labels(title: str, split: Split, tried: Sequence[tuple[str, Labels]]) -> Point:
    """One of the two labels, on every form of path."""
    rules = DATA["rules"][title]
    rule = rules.get(split.name, rules["usual"])
    rows = [
        (path, original_label(title, path, split), labels.error or (labels.shape if title == SHAPE else labels.scene))
        for path, labels in tried
    ]
    if not rows or any(theirs is None for _, _, theirs in rows):
        return not_described("gold", title, split.name, rule)
    differing = [(path, expected, theirs or "") for path, expected, theirs in rows if theirs != expected]
    if not differing:
        return Point("gold", title, split.name, rule, f"same on {len(rows):,} paths", Verdict.ALIGNED)
    scored = [row for row in differing if searched(title, row[1]) != searched(title, row[2])]
    path, expected, label = (scored or differing)[0]  # the most usual name comes first
    example = {"path": path, "original": expected, "theirs": label or "nothing"}
    shown = f"another label for {len(differing):,} of {len(rows):,} paths"
    advice = DATA["notes"].get(split.name, "") if title == SCENE else ""
    verdict, note = (Verdict.CHANGES, advice) if scored else (Verdict.HARMLESS, CASE_ONLY)
    return Point("gold", title, split.name, rule, shown, verdict, note, example)


def searched(title: str, label: str) -> set[str]:
    """What the original can find a label by: answers are lower-cased, so it never finds a capital."""
    forms = {label.lower()} if title == SHAPE else {label.lower(), label.replace("_", " ")}
    return {form for form in forms if form == form.lower()}


def compare_files(gold: Gold | None) -> Point:
    """Which files count, by the end of their names."""
    rule = f"names that end in {original.SUFFIX}, in lower case"
    if gold is None or gold.extensions is None:
        return not_described("gold", FILES, "", rule)
    theirs = " ".join(gold.extensions)
    for name in DATA["files"]["names"]:
        counts = original.counts(name)
        if name.endswith(tuple(gold.extensions)) != counts:
            words = ("counts", "doesn't count") if counts else ("doesn't count", "counts")
            example = {"path": name, "original": words[0], "theirs": words[1]}
            return Point("gold", FILES, "", rule, theirs, Verdict.CHANGES, "other files count", example)
    return Point("gold", FILES, "", rule, theirs, Verdict.ALIGNED)


def with_effect(
    points: Sequence[Point], gold: Gold | None, function: IsolatedFunction | None, given: Sequence[tuple[str, str]]
) -> Iterator[Point]:
    """Points with the number of given files, as pairs of split and path, that get another label."""
    for point in points:
        if point.title not in (SHAPE, SCENE) or point.verdict is Verdict.NOT_DESCRIBED:
            yield point
            continue
        split = SPLITS[point.where]
        paths = [path for name, path in dict.fromkeys(given) if name == split.name and readable(path, split)]
        labels = zip(paths, their_labels(gold, function, split, paths), strict=True)
        compared = compare_labels(point.title, split, [(path, pair) for path, pair in labels if pair and pair.tried])
        yield replace(point, effect=compared.theirs.replace("paths", "files"))
