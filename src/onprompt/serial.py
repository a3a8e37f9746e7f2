"""Verdict → JSON and JSON → the same verdict: runs, reports and services read verdicts back.

The form follows the types: a dataclass is an object with its fields, less those that have their default. Fields that
do not make a verdict another one (decoded pixels, masks, joints) are left out. A sighting is written once, in the
evidence; elsewhere stands its place there.
"""

import json
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Any

from onprompt.errors import UserError
from onprompt.types import Box, Decoded, Evidence, Picture, Scene, Swatch, Verdict

VERSION = 7
FORMAT, KIND, EVIDENCE_FIELD, SEEN = "format", "type", "evidence", "sightings"
REPEATED = {"chosen", "candidates", "extras"}  # lists of sightings that all stand in the evidence once
EVIDENCE = typing.get_args(Evidence) or (Evidence,)  # several kinds, told apart by their names
# What version 6 called otherwise: fields, and operations, changes and sources of edits.
RENAMED = {
    **{"colours": "colors", "spots": "token_probs"},
    **{"recolour": "recolor", "recoloured": "recolored", "colour": "color"},
}
DEEPEST = 20  # lists in lists, where any JSON may stand
LARGEST = 2**53  # a number that JSON and floating point have exactly
Decode = Callable[[Any], Any]
OpenPicture = Callable[[Picture], Decoded]


def dump(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON values."""
    encoded: dict[str, Any] = encode(verdict)
    if verdict.evidence:
        places = {json.dumps(sighting): place for place, sighting in enumerate(encoded[EVIDENCE_FIELD].get(SEEN, ()))}
        for entry in (encoded[EVIDENCE_FIELD], *encoded.get("checks", ())):
            for name in entry.keys() & REPEATED:
                entry[name] = [places.get(json.dumps(sighting), sighting) for sighting in entry[name]]
    return {FORMAT: f"onprompt.{verdict.rubric}/{VERSION}", "score": verdict.score, **encoded}


def load(document: Mapping[str, Any], open_picture: OpenPicture | None = None) -> Verdict:
    """The verdict that was dumped. Its pictures are decoded by `open_picture`, if anybody looks at them."""
    if not is_current(document):
        raise UserError(f"not a verdict of this version of onprompt: its format is {document.get(FORMAT)!r}")
    with refusing_other_shapes():
        if not str(document[FORMAT]).endswith(f"/{VERSION}"):
            former = document.keys() & {EVIDENCE_FIELD, "checks", "answers"}
            document = {**document, **{name: renamed(document[name]) for name in former}}
        verdict: Verdict = decoder(Verdict)(with_sightings(document))
    return with_pictures(verdict, open_picture) if open_picture else verdict


def read(text: object, kind: Any) -> Any:
    """A value of a type out of JSON that a stranger may have written; an error if it is anything else."""
    with refusing_other_shapes():
        return decoder(kind)(json.loads(checked(str, text)))


@contextmanager
def refusing_other_shapes() -> Iterator[None]:
    """Turn whatever goes wrong with JSON of another shape into an error of ours."""
    try:
        yield
    except RecursionError:
        raise UserError("JSON that is nested too deep") from None
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise UserError(f"not as onprompt writes it ({type(error).__name__}: {str(error)[:200]})") from None


def with_sightings(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the sightings themselves where it has their places in the list of all."""
    evidence = document.get(EVIDENCE_FIELD) or {}
    seen = evidence.get(SEEN, ())

    def expand(entry: Mapping[str, Any]) -> dict[str, Any]:
        lists = {name: [seen[s] if isinstance(s, int) else s for s in entry[name]] for name in entry.keys() & REPEATED}
        return {**entry, **lists}

    checks = [expand(check) for check in document.get("checks", ())]
    return {**document, "checks": checks, **({EVIDENCE_FIELD: expand(evidence)} if evidence else {})}


def is_current(document: Mapping[str, Any]) -> bool:
    """Whether a document is a verdict in the present form, or in the one before."""
    name, _, version = str(document.get(FORMAT, "")).rpartition("/")
    return name.startswith("onprompt.") and version in (str(VERSION), str(VERSION - 1))


def renamed(value: Any, name: str = "") -> Any:
    """A JSON value of version 6, which has a name, with the present names of its fields, operations and kinds."""
    if isinstance(value, list):
        return [renamed(each) for each in value]
    if isinstance(value, dict):
        return {RENAMED.get(name, name): renamed(entry, name) for name, entry in value.items()}
    return RENAMED.get(value, value) if name in ("operation", "kind", "source") else value


def with_pictures(verdict: Verdict, open_picture: OpenPicture) -> Verdict:
    """A verdict whose pictures can be looked at."""

    def opened(picture: Picture) -> Picture:
        return replace(picture, decode=lambda: open_picture(picture))

    sample = verdict.sample
    others = {name: opened(picture) for name, picture in sample.pictures.items()}
    return replace(verdict, sample=replace(sample, picture=opened(sample.picture), pictures=others))


def encode(value: Any) -> Any:
    """Any value of ours as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        stored = ((name, getattr(value, name), default) for name, default in stored_fields(type(value)))
        fields_of = {name: encode(field) for name, field, default in stored if default is MISSING or field != default}
        return {KIND: type(value).__name__, **fields_of} if type(value) in EVIDENCE else fields_of
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): encode(entry) for name, entry in value.items()}
    return [encode(entry) for entry in value] if isinstance(value, tuple | list | set | frozenset) else value


@cache
def stored_fields(kind: type) -> list[tuple[str, Any]]:
    """The fields of a dataclass that are stored, each with what it is where it is left out."""
    made = ((field, field.default_factory) for field in fields(kind) if field.compare)
    return [(field.name, field.default if make is MISSING else make()) for field, make in made]


@cache
def decoder(kind: Any) -> Decode:
    """The function that turns JSON into a value of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        kinds = [argument for argument in arguments if argument is not types.NoneType]
        named = {each.__name__: decoder(each) for each in kinds}  # several are told apart by their names
        only = decoder(kinds[0]) if len(kinds) == 1 else None
        return lambda value: None if value is None else (only or named[value[KIND]])(value)
    if origin is tuple and arguments[-1] is ...:
        item = decoder(arguments[0])
        return lambda values: tuple(item(value) for value in checked(list, values))
    if origin is tuple:
        items = [decoder(argument) for argument in arguments]
        return lambda values: tuple(item(value) for item, value in zip(items, checked(list, values), strict=True))
    if origin is not None and issubclass(origin, Mapping):
        entry = decoder(arguments[1])
        return lambda values: {checked(str, name): entry(value) for name, value in checked(dict, values).items()}
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return named_tuple(kind) if hasattr(kind, "_fields") else record(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return plain if kind is Any else partial(checked, kind)


def checked(kind: Any, value: Any) -> Any:
    """A value that is of a type: a number that is finite and no larger than any of ours, a text that can be written."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"{kind.__name__} expected, not {value!r:.50}")
    if kind is str:
        if not value.isascii():
            value.encode()  # half of a surrogate pair can't be
    elif (kind is float or kind is int) and not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{value} is out of range")
    return value


def plain(value: Any, depth: int = 0) -> Any:
    """Any JSON that is not nested too deep."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, list):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {checked(str, name): plain(each, depth + 1) for name, each in value.items()}
    return value if value is None else checked(type(value), value)


def in_order(box: Box) -> bool:
    """Whether a box can be drawn; it may reach out of its picture a little."""
    return -1 <= box.left <= box.right <= 2 and -1 <= box.top <= box.bottom <= 2


def names_things(scene: Scene) -> bool:
    """Whether all relations and groups of a scene are of objects that it has."""
    named = [place for thing in scene.things for place in (thing.part_of, *(each.target for each in thing.relations))]
    return all(place is None or 0 <= place < len(scene.things) for place in named)


def goes_together(verdict: Verdict) -> bool:
    """Whether a verdict has what its checks are of, and checks of each object."""
    of = {check.thing for check in verdict.checks} - {None}
    settings = verdict.provenance.get("settings", {})
    return (
        (not verdict.prompt_evidence or of == set(range(len(verdict.prompt_evidence.scene.things))))
        and (not verdict.edit_evidence or of <= set(range(len(verdict.edit_evidence.edits))))
        and isinstance(settings, dict)
        and isinstance(settings.get("low_confidence", 0.0), int | float)
    )


# What must hold of a value beyond the types of its fields.
CONSISTENT: dict[type, Callable[[Any], bool]] = {
    Box: in_order,
    Swatch: lambda swatch: all(0 <= channel <= 255 for channel in swatch.rgb),
    Scene: names_things,
    Verdict: goes_together,
}


def record(kind: type) -> Decode:
    """The decoder of a dataclass; fields that are not known are ignored."""
    namespace = vars(sys.modules[kind.__module__])
    missing = {"decode": not_opened} if kind is Picture else {}

    @cache  # made on first use: a type may hold one of its own kind
    def decoders() -> dict[str, Decode]:
        def hint(of: Field[Any]) -> Any:
            return eval(of.type, namespace) if isinstance(of.type, str) else of.type  # noqa: S307 our own types

        return {field.name: decoder(hint(field)) for field in fields(kind) if field.compare}

    def decode(value: Mapping[str, Any]) -> Any:
        known, value = decoders(), checked(dict, value)
        return consistent(kind(**{name: known[name](value[name]) for name in known if name in value}, **missing))

    return decode


def named_tuple(kind: Any) -> Decode:
    """The decoder of a named tuple, which JSON has as a list."""
    items = [decoder(hint) for hint in typing.get_type_hints(kind).values()]
    return lambda values: consistent(kind(*(item(v) for item, v in zip(items, checked(list, values), strict=True))))


def consistent(value: Any) -> Any:
    """A value whose parts go together."""
    if (holds := CONSISTENT.get(type(value))) and not holds(value):
        raise ValueError(f"a {type(value).__name__} whose parts don't go together")
    return value


def not_opened() -> Decoded:
    """What decodes a picture that was read back without a way to open it."""
    raise UserError("the picture of a stored verdict can't be opened here")
