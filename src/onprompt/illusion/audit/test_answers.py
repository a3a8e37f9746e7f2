"""Test answers that tell scorings apart: every shape and scene of every split, as models might answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from onprompt.illusion.audit.answer_variants import VARIANTS, Pair, word_around
from onprompt.illusion.protocol import SCENES, SPLITS, Split, load_toml

FILLER = "There is a picture with many small things in it. " * 100  # some 5,000 characters


class Case(NamedTuple):
    """An answer to a question about an image whose shape and scene are known."""

    split: str
    shape: str
    scene: str
    answer: str
    question: str = "shape"


@dataclass(frozen=True)
class AnswerClass:
    """A class of test answers, and what the original does with them."""

    name: str
    title: str
    original: str
    answers: Sequence[str] = ()  # patterns
    variants: str = ""
    labels: Sequence[Sequence[str]] = (("{shape}", "{scene}"),)
    harmless: bool = False

    def cases(self) -> list[Case]:
        """All test answers of the class, without duplicates."""
        cases = []
        for split in SPLITS.values():
            for pair in pairs(split):
                fields = option_fields(pair)
                answers = [answer for pattern in self.answers for answer in filled(pattern, pair, fields)]
                answers += VARIANTS[self.variants](pair)
                labels = [(shape.format_map(fields), scene.format_map(fields)) for shape, scene in self.labels]
                cases += [Case(split.name, *label, answer) for label in labels for answer in answers]
        return list(dict.fromkeys(cases))


def pairs(split: Split) -> Iterator[Pair]:
    """Each shape and each scene at least once; the scene of a cue conflict is a texture with a digit of its number."""
    textures = [f"{shape}{'1' * (number % 2)}" for number, shape in enumerate(split.shapes)]
    scenes = textures[5:] + textures[:5] if split.name == "old_sin" else list(SCENES)
    for number in range(max(len(split.shapes), len(scenes))):
        shape, other_shape = (split.shapes[(number + step) % len(split.shapes)] for step in (0, 1))
        scene, other_scene = (scenes[(number + step) % len(scenes)] for step in (0, 1))
        yield Pair(split, shape, scene, other_shape, other_scene)


def option_fields(pair: Pair) -> dict[str, str]:
    """What the placeholders of a pattern stand for; the benchmark's generator writes Stationary."""
    fields = {name: option for name, option in pair._asdict().items() if name != "split"}
    fields["generator_shape"] = pair.shape.replace("Stationery", "Stationary")
    for name, option in list(fields.items()):
        fields |= {f"lower_{name}": option.lower(), f"upper_{name}": option.upper()}
    return fields | {"inside_shape": word_around(pair.shape), "filler": FILLER}


def filled(pattern: str, pair: Pair, fields: Mapping[str, str]) -> list[str]:
    """The answers of a pattern: one, or one for the shape and one for the scene."""
    texts = []
    for name in pair.names:
        forms = {"lower": name.lower(), "upper": name.upper(), "title": name.title(), "swapped": name.swapcase()}
        texts.append(pattern.format_map({**fields, **forms, "name": name, "inside": word_around(name)}))
    return list(dict.fromkeys(texts))


CLASSES: Mapping[str, AnswerClass] = {
    name: AnswerClass(name=name, **entry) for name, entry in load_toml("audit/test_answers.toml").items()
}
