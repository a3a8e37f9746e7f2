"""Build the documentation as a site: `python docs/build_site.py [OUT]`, by default in site/. A broken link is an error.

Zensical reads one folder. Pages that live beside what they describe, and pages generated from the code, are put there
first.
"""

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import typer

from onprompt.cli import app
from onprompt.settings import Settings

ROOT = Path(__file__).parent.parent
# Documents that live beside what they describe, and their pages.
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
    "bench/README.md": "benchmarks.md",
    "plugins/onprompt-hub/README.md": "hub.md",
    "plugins/onprompt-yolo/README.md": "yolo.md",
    "training/README.md": "training.md",
    "src/onprompt/language/MODEL.md": "parser-model.md",
    "src/onprompt/vision/MATCHER.md": "matcher.md",
    "src/onprompt/vision/PERSON_KIND.md": "person-kind.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
COMMANDS = re.compile(r"^```(\n(?:# |cp |docker |export |make |onprompt |pip |python |uvx ))", re.MULTILINE)
FIELD = re.compile(r"^    (\w+(?::| =) .*[^\s,([{])  # (.+)$", re.MULTILINE)  # of a class, with its comment
SETTINGS = """# Settings

Every setting with its default, from the code. They come from `onprompt.toml` in the current folder, the environment
(`ONPROMPT_NAME`) or `--set NAME=VALUE`; `onprompt settings` shows those in force, as a valid `onprompt.toml`.

| setting | default | |
|---|---|---|
"""


def build(out: Path) -> None:
    """Write the site into a folder, which is replaced."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".site-") as name:
        folder = Path(name)
        pages = folder / "docs"
        pages.mkdir()
        for path in (ROOT / "docs").iterdir():
            if path.suffix == ".md":
                (pages / path.name).write_text(relinked(path.read_text(), "docs"))
            elif path.suffix in (".css", ".jpg", ".js", ".svg"):
                shutil.copy(path, pages)
        for source, page in PAGES.items():
            (pages / page).write_text(relinked((ROOT / source).read_text(), posixpath.dirname(source)))
        (pages / "settings.md").write_text(SETTINGS + "\n".join(settings()) + "\n")
        (pages / "options.md").write_text("# Options of all commands\n\n" + "\n".join(options()) + "\n")
        for path in (ROOT / "src").rglob("*.py"):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(documented(path.read_text()))
        config = (ROOT / "docs" / "site.toml").read_text().replace('"src"', f'"{folder / "src"}"')
        (folder / "zensical.toml").write_text(config)
        subprocess.run([Path(sys.executable).parent / "zensical", "build", "--strict"], cwd=folder, check=True)
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(folder / "site", out)


def relinked(text: str, folder: str) -> str:
    """A document of some folder as a page: commands are colored, links lead to pages or stay as words."""

    def replace(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(folder, path))
        inside = file.removeprefix("docs/") if file.startswith("docs/") and (ROOT / file).exists() else None
        page = PAGES.get(file, inside)
        return f"{picture}[{words}]({page}{mark}{anchor})" if page else words

    return COMMANDS.sub(r"```sh\1", LINK.sub(replace, text))


def documented(code: str) -> str:
    """Code whose comments on fields are docstrings, which the reference shows."""
    return FIELD.sub(lambda found: f"    {found[1]}\n    {found[2]!r}", code)


def settings() -> Iterator[str]:
    """Every setting with its default and its reason, as rows."""
    for name, field in sorted(Settings.model_fields.items()):
        default = "" if name == "api_key" else field.get_default(call_default_factory=True)
        shown = str(default).replace(str(Path.home()), "~") or '""'
        yield f"| `{name}` | `{cell(shown)}` | {cell(field.description or '')} |"


def options() -> Iterator[str]:
    """Every command with its arguments and options, as its help has them."""
    for name, command in commands(typer.main.get_command(app), "onprompt"):
        context = click.Context(command)
        usage = [name, *(part.strip("{}") for each in command.params for part in each.get_usage_pieces(context))]
        yield f"## {name}\n\n{' '.join((command.help or '').split())}\n\n```\n{' '.join(usage)} [OPTIONS]\n```\n"
        rows = [row for each in command.params if (row := each.get_help_record(context))]
        if rows:
            yield "| option | |\n|---|---|"
            yield from (f"| `{cell(given.split(' <')[0])}` | {cell(words)} |" for given, words in rows)
            yield ""


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command, or the commands below a group, by their names."""
    context = click.Context(command)
    below = command.list_commands(context) if hasattr(command, "list_commands") else []
    if not below or command.invoke_without_command:
        yield name, command
    for each in below:
        yield from commands(command.get_command(context, each), f"{name} {each}")


def cell(text: str) -> str:
    """A text as the cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve())
