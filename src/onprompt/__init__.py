"""Does this image show what was asked for? A score, and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onprompt.errors import OnpromptError, UnreadableAnswer
from onprompt.types import Check, Edit, Outcome, Scene, Sighting, Verdict

if TYPE_CHECKING:
    from onprompt.api import edit, judge_many, match, parse, parse_edit, rate, see, see_many, verify
    from onprompt.settings import Settings
    from onprompt.wording import sentence

    __version__: str

__all__ = [
    "Check",
    "Edit",
    "OnpromptError",
    "Outcome",
    "Scene",
    "Settings",
    "Sighting",
    "UnreadableAnswer",
    "Verdict",
    "edit",
    "judge_many",
    "match",
    "parse",
    "parse_edit",
    "rate",
    "see",
    "see_many",
    "sentence",
    "verify",
]


def __getattr__(name: str) -> object:
    """The functions are imported when first used: `import onprompt` alone loads no model, no numpy, no pydantic."""
    if name in ("edit", "judge_many", "match", "parse", "parse_edit", "rate", "see", "see_many", "verify"):
        from onprompt import api

        return getattr(api, name)
    if name == "sentence":
        from onprompt.wording import sentence

        return sentence
    if name == "__version__":
        from importlib.metadata import version

        return version("onprompt")
    if name == "Settings":
        from onprompt.settings import Settings

        return Settings
    raise AttributeError(f"module 'onprompt' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
