"""Templates → HTML. Every value is shown as text: escaped, and with control and hidden characters spelled out."""

import base64
import hashlib
from functools import cache
from importlib import metadata, resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onprompt.types import Outcome
from onprompt.wording import plural
from onprompt.wording.terminal import printable

# Nothing but our own files; no inline script or style, no form and no frame of others.
POLICY = {
    "default-src": "'none'",
    "img-src": "'self' data:",
    "style-src": "'self'",
    "script-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
SIGNS = {  # never colour alone
    Outcome.MATCHED: "✓",
    Outcome.PARTIAL: "◐",
    Outcome.MISMATCH: "✗",
    Outcome.MISSING: "✗",
    Outcome.LOW_CONFIDENCE: "?",
    Outcome.UNVERIFIABLE: "–",
}
LONG = 600  # characters of a text that are shown before one has to ask for the rest


@cache
def environment() -> Environment:
    """The templates of the package; those of other packages of ours can import them."""
    made = Environment(
        loader=PackageLoader("onprompt.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=as_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"percent": percent, "number": number, "plural": plural}
    made.globals |= {"signs": SIGNS, "long": LONG, "version": metadata.version("onprompt")}
    return made


def as_text(value: Any) -> Any:
    """What a template shows of a value; a text of others can't turn the page around or hide in it."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(**values)


def asset(name: str) -> str:
    """The text of a style sheet or script of the package."""
    return resources.files("onprompt.pages").joinpath("assets", name).read_text("utf-8")


def policy(**changed: str) -> str:
    """The content security policy of a page; `script_src="…"` changes an entry, an empty one leaves it out."""
    entries = POLICY | {name.replace("_", "-"): value for name, value in changed.items()}
    return "; ".join(f"{name} {value}" for name, value in entries.items() if value)


def source_hash(text: str) -> str:
    """How a policy names an inline script or style by its content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def percent(share: float) -> str:
    """`63 %`."""
    return f"{100 * share:.0f} %"


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash if there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"
