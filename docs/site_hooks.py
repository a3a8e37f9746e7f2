"""Hooks of the documentation site: pages from other folders of the repository, and what is generated from the code."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

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
SETTINGS = """# Settings

Every threshold and weight, with its default. They come from `onprompt.toml` in the current folder, the environment
(`ONPROMPT_NAME`) or options; `onprompt settings` shows those in force, as a valid `onprompt.toml`."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from other folders, and the generated ones."""
    for source, page in PAGES.items():
        text = relinked((ROOT / source).read_text(), posixpath.dirname(source))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "settings.md", content="\n".join(settings_page())))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links out of the folder of documents lead to the pages made of their targets."""
    return markdown if page.file.generated_by else relinked(markdown, "docs")


def relinked(text: str, folder: str) -> str:
    """A document of some folder as a page; what has no page stays as words."""

    def replace(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(folder, path))
        inside = file.removeprefix("docs/") if file.startswith("docs/") and (ROOT / file).exists() else None
        page = PAGES.get(file, inside)
        return f"{picture}[{words}]({page}{mark}{anchor})" if page else words

    return LINK.sub(replace, text)


def settings_page() -> Iterator[str]:
    """Every setting with its default and its reason."""
    from onprompt.settings import Settings

    yield from (SETTINGS, "", "| setting | default | |", "|---|---|---|")
    for name, field in sorted(Settings.model_fields.items()):
        default = "" if name == "api_key" else shown(field.get_default(call_default_factory=True))
        yield f"| `{name}` | `{default}` | {(field.description or '').replace('|', '&#124;')} |"


def shown(value: Any) -> str:
    """A default on one line, without a folder of this machine."""
    text = str(value).replace(str(Path.home()), "~").replace("|", "\\|")
    return text or '""'
