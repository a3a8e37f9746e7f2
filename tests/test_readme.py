"""What the documents show is what happens, and what they name exists."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

from onprompt.cli import app
from onprompt.report.terminal import lines
from tests.test_imports import MAY

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "*/*.md", "plugins/*/*.md", "src/*/*/*.md")
    for path in ROOT.glob(pattern)
)
# As prompts of others exclude things, as Ray is started, and of pytest
THEIRS = {"--no", "--head", "--address", "--junitxml", "--onprompt-artifacts"}
THEIRS |= {"--rm", "--build-arg", "--model-path", "--mmproj"}  # of Docker and of models' servers


@cache
def text_of(page: Path) -> str:
    return (ROOT / page).read_text()


@pytest.mark.models
def test_the_result_that_is_shown_is_the_result() -> None:
    from onprompt import verify
    from tests.conftest import photo

    shown = next(block for block in re.findall(r"```text\n(.*?)```", README, flags=re.S) if "Asked → found" in block)
    command = re.search(r'onprompt verify coffee\.png "(.*?)"', README)
    assert command
    printed = [text for text, _ in lines(verify(photo("coffee.png"), command[1]))]
    assert printed[-len(shown.splitlines()) :] == shown.splitlines()


@pytest.mark.models
def test_the_result_that_is_explained_is_the_result() -> None:
    from onprompt import Settings, verify
    from onprompt.rubrics.verify import RUBRIC
    from tests.conftest import photo

    blocks = re.findall(r"```text\n(.*?)```", text_of(Path("docs/grading.md")), flags=re.S)
    assert len(blocks) == 1
    assert RUBRIC.explain
    verdict = verify(photo("coffee.png"), "Two red cups on a table, and a laptop.")
    printed = list(RUBRIC.explain(verdict, Settings()))
    for line in "".join(blocks).splitlines():
        assert line in printed


def commands(group: Any, path: str = "onprompt") -> Iterator[tuple[str, set[str]]]:
    """Every command and its options; rubrics' commands are loaded when they are asked for."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.callback and not command.callback.__module__.startswith("onprompt."):
            continue  # of an installed plug-in
        yield f"{path} {name}", {option.opts[0] for option in command.params if option.opts[0].startswith("--")}
        if hasattr(command, "list_commands"):
            yield from commands(command, f"{path} {name}")


COMMANDS = dict(commands(get_command(app)))


def test_every_option_in_the_documents_exists() -> None:
    known = {"--config", "--help", "--install-completion", "--crops", "--measured", "--quiet", "--set"}.union(
        *COMMANDS.values()
    )
    texts = [text_of(page) for page in PAGES if page.parent.name in ("", "docs") and page.name != "CHANGELOG.md"]
    named = {name for text in texts for name in re.findall(r"(?<=[ `])--[a-z][\w-]*", text)}
    assert named - known <= THEIRS
    assert len(named & known) > 15


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_list_of_commands(command: str) -> None:
    listed = text_of(Path("docs/commands.md"))
    assert re.search(rf"`{command}\b", listed)


def heading_of(line: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_and_pictures_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if target.startswith("http"):
            continue
        path, _, heading = target.partition("#")
        file = ROOT / page.parent / path if path else ROOT / page
        assert file.exists(), target
        headings = (
            [heading_of(line) for line in file.read_text().splitlines() if line.startswith("#")] if heading else []
        )
        assert not heading or heading in headings, target


def test_every_package_is_in_the_architecture() -> None:
    table = text_of(Path("docs/architecture.md")).partition("## Packages")[2]
    named = re.findall(r"`([\w.]+)`", "\n".join(line for line in table.splitlines() if line.startswith("| `")))
    assert {name for name in MAY if not name.startswith("__")} - set(named) == set()


def test_quoted_code_is_that_of_the_examples() -> None:
    quotes = re.findall(
        r"\(examples/plugin/(\S+\.py)\):\n\n```python\n(.*?)```", text_of(Path("CONTRIBUTING.md")), flags=re.S
    )
    assert len(quotes) == 7
    for file, code in quotes:
        source = [line.rstrip() for line in (ROOT / "examples" / "plugin" / file).read_text().splitlines()]
        for line in code.splitlines():
            assert line.strip() in ("", "...") or any(other.startswith(line) for other in source), (file, line)
