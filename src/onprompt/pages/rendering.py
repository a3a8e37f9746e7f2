"""Templates → HTML. Every value is shown as text: escaped, and with control and hidden characters spelled out."""

import base64
import hashlib
from functools import cache
from importlib import metadata, resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onprompt.report.terminal import spread_words
from onprompt.wording import plural, voice_words
from onprompt.wording.labels import SIGNS, error_words
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
    made.filters |= {
        "percent": lambda share: f"{100 * share:.0f} %",
        "number": lambda value, digits=2: "–" if value is None else f"{value:,.{digits}f}",
        "error_words": error_words,
        "plural": plural,
        "spread_words": spread_words,
        "voice_words": voice_words,
    }
    made.globals |= {"signs": SIGNS, "long": LONG, "version": metadata.version("onprompt")}
    return made


def as_text(value: Any) -> Any:
    """What a template shows of a value; a text of others can't turn the page around or hide in it."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(**values)


def asset(*names: str) -> str:
    """The text of style sheets or scripts of the package."""
    folder = resources.files("onprompt.pages").joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def policy(**changed: str) -> str:
    """The content security policy of a page; `script_src="…"` changes an entry, an empty one leaves it out."""
    entries = POLICY | {name.replace("_", "-"): value for name, value in changed.items()}
    return "; ".join(f"{name} {value}" for name, value in entries.items() if value)


def source_hash(text: str) -> str:
    """How a policy names an inline script or style by its content."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
