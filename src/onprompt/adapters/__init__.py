"""Adapters to other harnesses, one file each. A missing verdict never becomes a number."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from onprompt.api import Result, judge_one
from onprompt.errors import ImageError, OnpromptError, UserError
from onprompt.samples import load_rubric
from onprompt.settings import Settings
from onprompt.vision.image import Source


def judge_image(
    rubric: str, image: Source, prompt: str, before: Source | None, name: str, settings: Settings
) -> Result:
    """The verdict on one image, or the error."""
    try:
        source = None if before is None else decode_data_url(before)
        return judge_one(rubric, make_item(rubric, decode_data_url(image), prompt, source, name), settings)
    except OnpromptError as error:
        return error


def make_item(rubric: str, image: Source, prompt: str, before: Source | None = None, name: str = "") -> dict[str, Any]:
    """An item for `judge_many`; an edit needs the image before it."""
    protocol = load_rubric(rubric)
    item = {protocol.picture: image, protocol.prompt: prompt}
    if not protocol.source_image:
        return item
    if before is None:
        raise UserError(f"the rubric {rubric!r} needs the image {protocol.source_image!r}")
    return {**item, protocol.source_image: before, "id": name}


def decode_data_url(image: Source) -> Source:
    """The bytes of a data URL; any other source as it is."""
    if not isinstance(image, str) or not image.startswith("data:"):
        return image
    head, _, data = image.partition(",")
    try:
        if not head.endswith(";base64"):
            raise ValueError("not base64")
        return base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error) as error:
        raise ImageError(f"unreadable data URL: {error}") from error
