"""Does this image show what was asked for? A score, and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onprompt.api import (
        best,
        best_edit,
        edit,
        judge_many,
        load_run,
        match,
        parse,
        parse_edit,
        rate,
        see,
        see_many,
        verify,
    )
    from onprompt.errors import OnpromptError, UnreadableAnswer
    from onprompt.settings import Settings
    from onprompt.types import Check, Edit, Outcome, Scene, Sighting, Verdict
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
    "best",
    "best_edit",
    "edit",
    "judge_many",
    "load_run",
    "match",
    "parse",
    "parse_edit",
    "rate",
    "see",
    "see_many",
    "sentence",
    "verify",
]
WHERE = {  # all others are in `api`
    "errors": ("OnpromptError", "UnreadableAnswer"),
    "settings": ("Settings",),
    "types": ("Check", "Edit", "Outcome", "Scene", "Sighting", "Verdict"),
    "wording": ("sentence",),
}


def __getattr__(name: str) -> object:
    """A name is imported when it is first used: `import onprompt` alone loads nothing, as its pytest plug-in needs."""
    if name == "__version__":
        from importlib.metadata import version

        return version("onprompt")
    if name not in __all__:
        raise AttributeError(f"module 'onprompt' has no attribute {name!r}")
    from importlib import import_module

    module = next((module for module, names in WHERE.items() if name in names), "api")
    return getattr(import_module(f"onprompt.{module}"), name)


def __dir__() -> list[str]:
    return __all__
