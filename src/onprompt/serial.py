"""Verdict → JSON and JSON → the same verdict: runs, reports and services read verdicts back.

The form follows the types: a dataclass is an object with its fields, less those that have their default. Fields that
do not make a verdict another one (decoded pixels, masks, joints) are left out. A sighting is written once, in the
evidence; elsewhere stands its place there.
"""

import json
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from onprompt.errors import UserError
from onprompt.types import Decoded, Evidence, Picture, Verdict

VERSION = 5
FORMAT, KIND, EVIDENCE_FIELD, SEEN = "format", "type", "evidence", "sightings"
REPEATED = {"chosen", "candidates", "extras"}  # lists of sightings that all stand in the evidence once
EVIDENCE = typing.get_args(Evidence) or (Evidence,)  # several kinds, told apart by their names
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
    verdict: Verdict = decoder(Verdict)(with_sightings(document))
    return with_pictures(verdict, open_picture) if open_picture else verdict


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
    """Whether a document is a verdict in the present form."""
    name, _, version = str(document.get(FORMAT, "")).rpartition("/")
    return name.startswith("onprompt.") and version == str(VERSION)


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
    """The fields of a dataclass that are stored, with their defaults."""
    return [(field.name, default_of(field)) for field in fields(kind) if field.compare]


def default_of(field: Field[Any]) -> Any:
    """What a field is where it is left out."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


@cache
def decoder(kind: Any) -> Decode:
    """The function that turns JSON into a value of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        kinds = [argument for argument in arguments if argument is not types.NoneType]
        inner = decoder(kinds[0]) if len(kinds) == 1 else one_of(kinds)
        return lambda value: None if value is None else inner(value)
    if origin is tuple and arguments[-1] is ...:
        item = decoder(arguments[0])
        return lambda values: tuple(item(value) for value in values)
    if origin is tuple:
        items = [decoder(argument) for argument in arguments]
        return lambda values: tuple(item(value) for item, value in zip(items, values, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        entry = decoder(arguments[1])
        return lambda values: {name: entry(value) for name, value in values.items()}
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return named_tuple(kind) if hasattr(kind, "_fields") else record(kind)
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else as_it_is


def one_of(kinds: Sequence[Any]) -> Decode:
    """The decoder of a value that is one of several dataclasses, by the name stored with it."""
    decoders = {kind.__name__: decoder(kind) for kind in kinds}
    return lambda value: decoders[value[KIND]](value)


def as_it_is(value: Any) -> Any:
    """Numbers and texts are the same in JSON."""
    return value


def record(kind: type) -> Decode:
    """The decoder of a dataclass; fields that are not known are ignored."""
    namespace = vars(sys.modules[kind.__module__])
    missing = {"decode": not_opened} if kind is Picture else {}

    @cache  # made on first use: a type may hold one of its own kind
    def decoders() -> dict[str, Decode]:
        return {f.name: decoder(eval(str(f.type), namespace)) for f in fields(kind) if f.compare}  # noqa: S307 our own types

    def decode(value: Mapping[str, Any]) -> Any:
        known = decoders()
        return kind(**{name: known[name](value[name]) for name in known if name in value}, **missing)

    return decode


def named_tuple(kind: Any) -> Decode:
    """The decoder of a named tuple, which JSON has as a list."""
    items = [decoder(hint) for hint in typing.get_type_hints(kind).values()]
    return lambda values: kind(*(item(value) for item, value in zip(items, values, strict=True)))


def not_opened() -> Decoded:
    """What decodes a picture that was read back without a way to open it."""
    raise UserError("the picture of a stored verdict can't be opened here")
