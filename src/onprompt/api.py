"""The public functions. Each loads the settings in force unless it is given some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onprompt import settings as settings_module
from onprompt.errors import SettingsError, UserError
from onprompt.judges import evidence
from onprompt.judges.evidence import EvidenceJudge
from onprompt.language import edits, parser
from onprompt.language.ontology import name_of
from onprompt.settings import Settings
from onprompt.types import Edit, Judge, Sample, Scene, Sighting, Verdict, View
from onprompt.vision.image import Source, load_picture
from onprompt.vision.look import look
from onprompt.vision.runtime import in_order
from onprompt.vision.text import read_text
from onprompt.vision.vocabulary import COCO
from onprompt.vision.whole import properties


def in_force(settings: Settings | None) -> Settings:
    """The given settings, or those of file and environment."""
    if settings is None:
        return settings_module.load()
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings is a {type(settings).__name__}; make one by onprompt.Settings(detector='coco')")
    return settings


def listed(what: str, names: Sequence[str]) -> None:
    """Complain unless these are names in a list."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{what} is a list of names, not {names!r}")


def parse(prompt: str, *, settings: Settings | None = None) -> Scene:
    """What a prompt asks for."""
    return parser.parse(prompt, in_force(settings))


def parse_edit(instruction: str, *, settings: Settings | None = None) -> tuple[Edit, ...]:
    """What an instruction wants done to a picture, operation by operation."""
    return edits.parse_edit(instruction, in_force(settings))


def see(
    image: Source,
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> list[Sighting]:
    """The sightings of the given names in an image, or of 80 common kinds, the surest first.

    Colours, shapes and postures cost a network's look at each sighting; `attributes=False` does without.
    """
    return next(see_many([image], vocabulary, attributes=attributes, frame=frame, settings=settings))


def see_many(
    images: Iterable[Source],
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> Iterator[list[Sighting]]:
    """`see` for many images, in their order, as they get ready: all cores are kept busy."""
    listed("vocabulary", vocabulary or ())
    chosen = in_force(settings)
    wanted = COCO if vocabulary is None else vocabulary
    names = [name_of(word) for word in wanted]

    def one(image: Source) -> list[Sighting]:
        seen = look(load_picture(image, chosen, frame), names, chosen, None if attributes else ())
        asked = (sighting for sighting in seen.sightings if sighting.label in wanted)
        return sorted(asked, key=lambda sighting: -sighting.confidence)

    return in_order(one, images)


def view(
    image: Source, prompt: str = "", *, frame: int = 0, text: bool = True, settings: Settings | None = None
) -> View:
    """What an image holds of what a prompt names, or of 80 common kinds; its text; what is true of it as a whole."""
    chosen = in_force(settings)
    picture = load_picture(image, chosen, frame)
    names = evidence.names(parser.parse(prompt, chosen)) if prompt else [name_of(word) for word in COCO]
    seen = look(picture, names, chosen)
    return View(picture, seen.sightings, read_text(picture) if text else (), properties(picture))


def verify(
    image: Source, prompt: str, *, major: Sequence[str] = (), frame: int = 0, settings: Settings | None = None
) -> Verdict:
    """Does this image show what the prompt asks for? A score of 0 to 4, and evidence; `major` objects weigh more."""
    listed("major", major)
    chosen = in_force(settings)
    picture = load_picture(image, chosen, frame)
    judge: Judge = EvidenceJudge(chosen)
    return judge.judge(Sample(picture.name, prompt, picture, tuple(major)))
