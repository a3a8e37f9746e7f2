"""The public functions. Each loads the settings in force unless it is given some."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt import settings as settings_module
from onprompt.errors import SettingsError, UserError
from onprompt.judges.evidence import EvidenceJudge
from onprompt.language import edits, parser
from onprompt.language.ontology import name_of
from onprompt.settings import Settings
from onprompt.types import Edit, Judge, Sample, Scene, Sighting, Verdict
from onprompt.vision.image import Source, load_picture
from onprompt.vision.look import look


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
    image: Source, vocabulary: Sequence[str], *, frame: int = 0, settings: Settings | None = None
) -> tuple[Sighting, ...]:
    """The sightings of the given names in an image, the surest first."""
    listed("vocabulary", vocabulary)
    chosen = in_force(settings)
    seen = look(load_picture(image, chosen, frame), [name_of(word) for word in vocabulary], chosen)
    asked = (sighting for sighting in seen.sightings if sighting.label in vocabulary)
    return tuple(sorted(asked, key=lambda sighting: -sighting.confidence))


def verify(
    image: Source, prompt: str, *, major: Sequence[str] = (), frame: int = 0, settings: Settings | None = None
) -> Verdict:
    """Does this image show what the prompt asks for? A score of 0 to 4, and evidence; `major` objects weigh more."""
    listed("major", major)
    chosen = in_force(settings)
    picture = load_picture(image, chosen, frame)
    judge: Judge = EvidenceJudge(chosen)
    return judge.judge(Sample(picture.name, prompt, picture, tuple(major)))
