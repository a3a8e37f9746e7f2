"""What to detect and measure in an image, given a prompt."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.errors import PromptError
from onprompt.language import canonical, name_of
from onprompt.settings import Settings
from onprompt.types import Known, Name, Scene, Seen, Thing
from onprompt.vision import NEED_JOINTS, SIZE_WORDS

MANY = 5  # objects of one name, from which smaller details are searched
MEASURED = ("color", "action", "shape", "expression")
NOT_ENGLISH = "not English"  # a flag of the parser


def names_to_detect(scene: Scene) -> list[Name]:
    """Each name once; none for a prompt in another language, whose words may look English."""
    if NOT_ENGLISH in scene.flags:
        return []
    fine = {thing.canonical for thing in scene.things if small_or_many(thing)}
    labels = dict.fromkeys(thing.canonical for thing in scene.things if thing.canonical != "text")
    return [replace(name_of(label), fine=label in fine) for label in labels]


def small_or_many(thing: Thing) -> bool:
    """Whether an object is easily missed."""
    sizes = (attribute.value for attribute in thing.attributes if attribute.kind == "size")
    return thing.count.low >= MANY or any(SIZE_WORDS.get(size) == "small" for size in sizes)


def names_to_measure(scene: Scene) -> set[str]:
    """The names whose colour, shape, pose or expression matters: each sighting of them takes further networks."""
    return {
        thing.canonical
        for thing in scene.things
        if any(attribute.kind in MEASURED for attribute in thing.attributes)
        or any(relation.name in NEED_JOINTS for relation in thing.relations)
    }


def asks_for_text(scene: Scene) -> bool:
    """Whether any object should bear text."""
    return any(each.kind == "text" and not each.negated for thing in scene.things for each in thing.attributes)


def weight_objects(scene: Scene, major: Sequence[str], settings: Settings) -> Scene:
    """The scene with major objects weighted higher, on top of the prompt's own weights."""
    heavy = {canonical(name) for name in major}
    if unknown := heavy - {thing.canonical for thing in scene.things}:
        raise PromptError(f"marked as major but not in the prompt: {', '.join(sorted(unknown))}")
    things = [
        replace(thing, importance=thing.importance * settings.major_weight) if thing.canonical in heavy else thing
        for thing in scene.things
    ]
    return replace(scene, things=tuple(things))


def text_to_match(prompt: str, scene: Scene) -> str:
    """The prompt without what must not be there, since the matcher takes "no cat" for a cat."""
    wanted = [thing.phrase for thing in scene.things if not thing.absent]
    return prompt if len(wanted) == len(scene.things) else ", ".join(wanted)


def nothing_seen(scene: Scene) -> Seen:
    """The result of detection in a blank image: nothing."""
    return Seen((), {thing.canonical: Known((thing.canonical,)) for thing in scene.things})
