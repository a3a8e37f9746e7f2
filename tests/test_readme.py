"""What README shows is what happens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from onprompt.cli import app
from onprompt.report.terminal import lines
from onprompt.weights.manifest import manifest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_result_that_is_shown_is_the_result() -> None:
    from onprompt import verify
    from tests.conftest import photo

    shown = next(block for block in re.findall(r"```\n(.*?)```", README, flags=re.S) if "Asked → found" in block)
    command = re.search(r'onprompt verify coffee\.png "(.*?)"', README)
    assert command
    printed = [text for text, _ in lines(verify(photo("coffee.png"), command[1]))]
    assert printed[-len(shown.splitlines()) :] == shown.splitlines()


def options(command: Any) -> Iterator[Any]:
    """The options of a command and of those below it, among them one for each rubric."""
    yield from command.params
    if isinstance(command, TyperGroup):
        with command.make_context(None, [], resilient_parsing=True) as context:
            for name in command.list_commands(context):
                yield from options(command.get_command(context, name))


def test_every_option_in_readme_exists() -> None:
    known = {name for option in options(get_command(app)) for name in option.opts}
    texts = [README, *(path.read_text() for path in (ROOT / "docs").glob("*.md"))]
    named = {name for text in texts for name in re.findall(r"(?<=[ `])--[a-z][\w-]*", text)}
    assert named - known <= {"--no", "--head", "--address"}, (
        "as prompts of others exclude things, and as Ray is started"
    )
    assert len(named & known) > 15


def test_every_licence_that_is_not_permissive_is_named() -> None:
    for file in manifest():
        if not file.permissive:
            assert re.search(rf"`{re.escape(file.name)}`.*\*\*{re.escape(file.licence)}\*\*", README)


def test_links_and_pictures_are_there() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        path, _, heading = target.partition("#")
        assert (ROOT / path).exists(), target
        assert not heading or f"## {heading.replace('-', ' ')}" in (ROOT / path).read_text().lower(), target
