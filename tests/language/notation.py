"""Scenes in plain text, as the files in tests/language/scenes write them.

> two men without hats and a barn
two men = man | 2
hats = hat | 2+ | absent | @ of man
a barn = barn | 1

An object is `phrase = canonical | count | details`; a count is `2`, `2-4` or `2+`; a detail is `kind value`,
`@ relation target` (`#2`: the second object of that name), `absent`, `mentioned`, `importance 1.3`, `part of target` or
`! flag`. Then come `global: kind value`, `text: words` and `flag: name`. The order of details does not matter,
that of objects does.
"""

from pathlib import Path
from typing import NamedTuple

from onprompt.types import Count, Scene, Thing


class Case(NamedTuple):
    """A prompt and its scene, as lines."""

    prompt: str
    lines: list[str]


def read(path: Path) -> list[Case]:
    """The cases of a file."""
    cases = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            assert lines[0].startswith("> "), f"{path.name}: {lines[0]}"
            cases.append(Case(lines[0].removeprefix("> "), [ordered(line) for line in lines[1:]]))
    return cases


def ordered(line: str) -> str:
    """A line with its details in alphabetical order."""
    if " = " not in line or line.startswith(("global:", "text:", "flag:")):
        return line.strip()
    phrase, _, rest = line.partition(" = ")
    name, count, *details = [part.strip() for part in rest.split(" | ")]
    return " | ".join([f"{phrase.strip()} = {name}", count, *sorted(details)])


def written(scene: Scene) -> list[str]:
    """A scene as lines."""
    return [
        *(thing_line(thing, scene) for thing in scene.things),
        *sorted(f"global: {attribute.kind} {attribute.value}" for attribute in scene.properties),
        *sorted(f"text: {text}" for text in scene.texts),
        *sorted(f"flag: {flag}" for flag in scene.flags),
    ]


def thing_line(thing: Thing, scene: Scene) -> str:
    """One object."""
    details = [f"{'not ' * attribute.negated}{attribute.kind} {attribute.value}" for attribute in thing.attributes]
    details += [
        f"@ {'not ' * relation.negated}{relation.name} {reference(relation.target, scene)}"
        for relation in thing.relations
    ]
    details += ["absent"] * thing.absent + ["mentioned"] * thing.mentioned
    details += [f"importance {thing.importance:g}"] * (thing.importance != 1)
    details += [f"part of {reference(thing.part_of, scene)}"] if thing.part_of is not None else []
    details += [f"! {flag}" for flag in thing.flags]
    return " | ".join([f"{thing.phrase} = {thing.canonical}", count(thing.count), *sorted(details)])


def count(asked: Count) -> str:
    """`2`, `2-4`, `2+`."""
    if asked.exact is not None:
        return str(asked.exact)
    return f"{asked.low}+" if asked.high is None else f"{asked.low}-{asked.high}"


def reference(index: int, scene: Scene) -> str:
    """An object's name; with a number if it is not the first of its name."""
    name = scene.things[index].canonical
    nth = sum(thing.canonical == name for thing in scene.things[: index + 1])
    return name if nth == 1 else f"{name}#{nth}"
