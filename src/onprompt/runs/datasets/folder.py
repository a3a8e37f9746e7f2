"""A folder of images with prompts: GenEval's layout, prompt.txt or NAME.txt, or else the file names."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.files import read_file
from onprompt.runs.datasets import Record, RestLost, Table

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tiff", ".tif", ".avif"}
PROMPT_FILE, METADATA, SAMPLES = "prompt.txt", "metadata.jsonl", "samples"
MAX_TEXT = 2**24  # bytes of a file with a prompt
NOT_LISTED = "can't list the folder"
# At the end of a name: a hash, a seed (no prompt ends with a number of five digits), and a number.
ENDING = re.compile(r"( (?=\S*\d)[0-9a-f]{6,})?( seed\W*\d+| \d{5,})?( \d+| \(\d+\))?$", re.IGNORECASE)
# The default file names of programs: sample_151_1.jpg, ComfyUI_00001_.png
NO_PROMPT = {"sample", "image", "img", "output", "out", "result", "generated", "gen", "grid", "comfyui", "tmp", "test"}
Images = Callable[[], Iterator[str]]  # the paths of images below a folder; one that ends with / can't be listed


def load(data: str) -> Table:
    """The images of a folder and its subfolders."""
    return image_table("folder", Path(data), partial(walk, Path(data)))


def image_table(kind: str, root: Path, images: Images) -> Table:
    """Images below a folder, with their prompts."""
    count = sum(1 for _ in images())
    if not count:
        raise UserError(f"no images in {root} ({' '.join(sorted(SUFFIXES))}); if a table is in it, name that file")
    cells = (cells for _, cells in read_images(root, images, by_name=False))
    source = next((known["source"] for known in cells if isinstance(known, dict) and known.get("source")), "")
    read = partial(read_images, root, images, by_name=not source)
    # File names alone settle it for most folders, and are much faster to read than prompts.
    prompts = ((line, str(cells["prompt"]) if isinstance(cells, dict) else "") for line, cells in read())
    by_model = same_files((path, "") for path in images()) and same_files(prompts)
    fixed = {"image": "the files", "prompt": source or "the file name"}
    if source == METADATA:
        fixed["category"] = f"tag in {METADATA}"
    if by_model:
        fixed["model"] = "the first folder"

    def records(_: Sequence[str]) -> Iterator[Record]:
        for line, cells in read():
            path = line.encode(errors="replace").decode()
            model = {"model": path.partition("/")[0]} if by_model else {}
            yield path, {**cells, "id": path, **model} if isinstance(cells, dict) else cells

    return Table(kind, tuple(fixed), records, count=count, fixed=fixed)


def read_images(root: Path, images: Images, by_name: bool) -> Iterator[Record]:
    """Each image with its prompt, which is the file's name if `by_name`."""
    for folder, paths in groupby(images(), lambda path: path.rpartition("/")[0] if path[-1] != "/" else path):
        if folder.endswith("/"):
            yield folder, RestLost(NOT_LISTED)
            continue
        shared = {} if by_name else folder_prompt(root, folder)
        for path in paths:
            stem = Path(path).stem
            missing = UserError(f"no prompt: there is no {PROMPT_FILE} or {stem}.txt beside the image")
            cells = {"prompt": prompt_from_name(stem) if by_name else missing, **shared}
            own = None if by_name else read_text((root / path).with_suffix(".txt"))
            if own is not None:
                cells |= {"prompt": own, "source": "NAME.txt"}
            yield path, {**cells, "image": str(root / path)}


def folder_prompt(root: Path, folder: str) -> dict[str, Any]:
    """The prompt of all images in a folder: from GenEval's metadata, or the nearest prompt.txt."""
    here = (root / folder).absolute()
    if here.name == SAMPLES and (here.parent / METADATA).is_file():
        words = read_text(here.parent / METADATA)
        name = f"{here.parent.name}/{METADATA}"
        try:
            value = json.loads(words) if isinstance(words, str) else words
        except (ValueError, RecursionError) as error:
            value = UserError(f"{name}: invalid JSON: {error}")
        if isinstance(value, dict):
            return {"source": METADATA, "prompt": value.get("prompt"), "category": value.get("tag")}
        none = UserError(f"{here.parent / METADATA} has no prompt")
        return {"source": METADATA, "prompt": value if isinstance(value, UserError) else none}
    for place in (here, *here.parents):
        words = read_text(place / PROMPT_FILE)
        if words is not None:
            return {"source": PROMPT_FILE, "prompt": words}
        if place == root.absolute():
            break
    return {}


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


def walk(root: Path, max_depth: float = float("inf")) -> Iterator[str]:
    """The paths of all images below a folder, in natural order; hidden ones are left out, links can't loop.

    Folders that can't be listed come last, and end with /.
    """
    seen, closed = set(), list[OSError]()
    for place, folders, names in os.walk(root, onerror=closed.append, followlinks=True):
        status, path = os.stat(place), below(root, place)  # noqa: PTH116 (ten times Path)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted((name for name in folders if name[0] != "."), key=natural)
        if not (METADATA in names and SAMPLES in folders):  # where GenEval puts a grid of all samples
            images = (name for name in names if os.path.splitext(name)[1].lower() in SUFFIXES and name[0] != ".")  # noqa: PTH122
            yield from (path + name for name in sorted(images, key=natural))
        if path.count("/") >= max_depth:
            folders.clear()
    for error in closed:
        if not (path := below(root, error.filename)):
            raise error
        yield path


def below(root: Path, folder: str) -> str:
    """The path of a folder below another, with / at its end; empty for the other itself."""
    path = os.path.relpath(folder, root)
    return "" if path == "." else f"{path}/"


def natural(name: str) -> tuple[list[str | int], str]:
    """A sort key by which 2 comes before 10."""
    parts: list[str | int] = [int(part) if index % 2 else part for index, part in enumerate(re.split(r"(\d+)", name))]
    return parts, name
