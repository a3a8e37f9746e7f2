"""A folder of images with prompts: GenEval's layout, prompt.txt or NAME.txt, or else the file names."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.files import read_file
from onprompt.runs.datasets import Record, Table

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tiff", ".tif", ".avif"}
PROMPT_FILE, METADATA, SAMPLES = "prompt.txt", "metadata.jsonl", "samples"
MAX_TEXT = 2**24  # bytes of a file with a prompt
# At the end of a name: a hash, a seed (no prompt ends with a number of five digits), and a number.
ENDING = re.compile(r"( (?=\S*\d)[0-9a-f]{6,})?( seed\W*\d+| \d{5,})?( \d+| \(\d+\))?$", re.IGNORECASE)
# The default file names of programs: sample_151_1.jpg, ComfyUI_00001_.png
NO_PROMPT = {"sample", "image", "img", "output", "out", "result", "generated", "gen", "grid", "comfyui", "tmp", "test"}


def load(data: str) -> Table:
    """The images of a folder and its subfolders, with their prompts."""
    root = Path(data)
    count = sum(1 for _ in walk(root))
    if not count:
        raise UserError(f"no images in {root} ({' '.join(sorted(SUFFIXES))}); if a table is in it, name that file")
    cells = (cells for _, cells in read_images(root, by_name=False))
    source = next((str(each["source"]) for each in cells if "source" in each), "")
    read = partial(read_images, root, by_name=not source)
    # File names alone settle it for most folders, and are much faster to read than prompts.
    by_model = same_files((path, "") for path in walk(root)) and same_files((p, str(c["prompt"])) for p, c in read())
    fixed = {"image": "the files", "prompt": source or "the file name"}
    if source == METADATA:
        fixed["category"] = f"tag in {METADATA}"
    if by_model:
        fixed["model"] = "the first folder"

    def records(_: Sequence[str]) -> Iterator[Record]:
        for path, cells in read():
            name = path.encode(errors="replace").decode()
            yield name, {**cells, "id": name, "model": name.partition("/")[0] if by_model else ""}

    return Table("folder", tuple(fixed), records, count=count, fixed=fixed)


def read_images(root: Path, by_name: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each image with its prompt, which is the file's name if `by_name`."""
    for folder, paths in groupby(walk(root), os.path.dirname):
        shared = {} if by_name else folder_prompt(root, folder)
        for path in paths:
            stem = Path(path).stem
            missing = UserError(f"no prompt: there is no {PROMPT_FILE} or {stem}.txt beside the image")
            cells = {"image": str(root / path), "prompt": prompt_from_name(stem) if by_name else missing, **shared}
            own = None if by_name else read_text((root / path).with_suffix(".txt"))
            yield path, cells if own is None else {**cells, "prompt": own, "source": "NAME.txt"}


def folder_prompt(root: Path, folder: str) -> dict[str, Any]:
    """The prompt of all images in a folder: from GenEval's metadata, or the nearest prompt.txt."""
    here = (root / folder).absolute()
    if here.name == SAMPLES and (here.parent / METADATA).is_file():
        return {"source": METADATA, **geneval_prompt(here.parent / METADATA)}
    for place in (here, *here.parents):
        if (words := read_text(place / PROMPT_FILE)) is not None:
            return {"source": PROMPT_FILE, "prompt": words}
        if place == root.absolute():
            break
    return {}


def geneval_prompt(path: Path) -> dict[str, Any]:
    """The prompt and the category in GenEval's metadata of a prompt."""
    words = read_text(path)
    try:
        value = json.loads(words) if isinstance(words, str) else words
    except (ValueError, RecursionError) as error:
        value = UserError(f"{path.parent.name}/{path.name}: invalid JSON: {error}")
    if isinstance(value, dict):
        return {"prompt": value.get("prompt"), "category": value.get("tag")}
    return {"prompt": value if isinstance(value, UserError) else UserError(f"{path} has no prompt")}


def read_text(path: Path) -> str | UserError | None:
    """The contents of a text file; an error if it is unreadable, None if there is none."""
    try:
        return read_file(path, MAX_TEXT).decode("utf-8-sig").strip() or UserError(f"{path.name} is empty")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        return UserError(f"can't read {path.name}: {error}")


def prompt_from_name(stem: str) -> str | UserError:
    """`a_red_cup_on_a_table_0` is "a red cup on a table": a hash, a seed and a number at the end are dropped."""
    words = ENDING.sub("", " " + re.sub(r"[\s_-]+", " ", stem).strip(), count=1).split()
    if any(not word.isdigit() and word.lower() not in NO_PROMPT for word in words):
        return " ".join(words)
    return UserError(f"no prompt in the file name {stem!r}, and no {PROMPT_FILE} or {stem}.txt beside the image")


def same_files(items: Iterable[tuple[str, str]]) -> bool:
    """Whether several first folders hold the same files with the same prompts: one folder per model."""
    digests: dict[str, Any] = {}
    for path, prompt in items:
        first, slash, rest = path.partition("/")
        if not slash:
            return False
        digests.setdefault(first, hashlib.sha256()).update(f"{rest}\0{prompt}\0".encode(errors="surrogatepass"))
    return len(digests) > 1 and len({digest.digest() for digest in digests.values()}) == 1


def walk(root: Path) -> Iterator[str]:
    """The paths of all images below a folder; hidden ones are left out, links can't loop."""
    seen = set()
    for place, folders, names in os.walk(root, onerror=refuse, followlinks=True):
        status = os.stat(place)  # noqa: PTH116 (ten times Path)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if name[0] != ".")
        if METADATA in names and SAMPLES in folders:  # where GenEval puts a grid of all samples
            continue
        below = os.path.relpath(place, root)
        for name in sorted(names):
            if os.path.splitext(name)[1].lower() in SUFFIXES and name[0] != ".":  # noqa: PTH122
                yield name if below == "." else f"{below}/{name}"


def refuse(error: OSError) -> None:
    """A folder that can't be listed ends the walk: nobody would notice its missing images."""
    raise UserError(f"can't list {error.filename}: {error.strerror}") from error
