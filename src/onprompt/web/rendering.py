"""The pages of the server: its own templates in the shared design, and the files that they load."""

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from onprompt.pages import rendering as shared
from onprompt.web.guard import page_policy

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
SHARED = ("style.css", "evidence.js")
OWN = ("web.css", "review.js", "tryout.js")


@cache
def environment() -> Environment:
    """The templates of this package, which can use the shared ones."""
    made = shared.environment()
    loaders = [PackageLoader("onprompt.web"), *([made.loader] if made.loader else [])]
    return made.overlay(loader=ChoiceLoader(loaders))


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(csp=page_policy(), root="/assets/", home="/", **values)


@cache
def asset(name: str) -> tuple[str, str] | None:
    """A style sheet or script and its type; None for any other name."""
    if name in SHARED:
        return shared.asset(name), TYPES[name.rpartition(".")[2]]
    if name in OWN:
        own = resources.files("onprompt.web").joinpath("assets", name)
        return own.read_text("utf-8"), TYPES[name.rpartition(".")[2]]
    return None
