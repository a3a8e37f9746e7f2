"""Adapters to other harnesses, one file each. In none of them does a missing verdict become a number."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from onprompt.api import Result, judge_many, rubric_named
from onprompt.errors import ImageError, OnpromptError, UserError
from onprompt.settings import Settings
from onprompt.vision.image import Source


def no_verdict(found: Result) -> str:
    """Why there is nothing to count: an error, or that nothing could be checked; empty where there is a verdict."""
    if isinstance(found, OnpromptError):
        return str(found) or type(found).__name__
    return "nothing that the prompt asks for can be checked (not_verifiable)" if "not_verifiable" in found.flags else ""


def judged(rubric: str, image: Source, prompt: str, before: Source | None, name: str, settings: Settings) -> Result:
    """The verdict on one picture, or why there is none."""
    try:
        item = item_of(rubric, read(image), prompt, None if before is None else read(before), name)
    except OnpromptError as error:
        return error
    (found,) = judge_many(rubric, [item], settings=settings)
    return found


def item_of(rubric: str, image: Source, prompt: str, before: Source | None = None, name: str = "") -> dict[str, Any]:
    """What `judge_many` is given; an edit is not judged without the picture before it."""
    protocol = rubric_named(rubric)
    item = {protocol.picture: image, protocol.prompt: prompt}
    if not protocol.source_image:
        return item
    if before is None:
        raise UserError(f"the rubric {rubric!r} needs the picture {protocol.source_image!r}")
    return {**item, protocol.source_image: before, "id": name}


def read(image: Source) -> Source:
    """The bytes of a data URL; any other source as it is."""
    if not isinstance(image, str) or not image.startswith("data:"):
        return image
    head, _, data = image.partition(",")
    try:
        if not head.endswith(";base64"):
            raise ValueError("it is not in base64")
        return base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error) as error:
        raise ImageError(f"a data URL can't be read: {error}") from error
