"""A folder of images, with prompts beside them: GenEval's layout, prompt.txt or NAME.txt, or else the files' names."""

from __future__ import annotations

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
from onprompt.runs.datasets import Record, Table

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tiff", ".tif", ".avif"}
BESIDE, METADATA, SAMPLES = "prompt.txt", "metadata.jsonl", "samples"
NUMBER = re.compile(r"\d+|\(\d+\)")
SEED = re.compile(r"seed\W*\d+|\d{5,}", re.IGNORECASE)  # no prompt ends with a number of five digits
HASH = re.compile(r"(?=.*\d)[0-9a-f]{6,}", re.IGNORECASE)
# What programs call their files by themselves: sample_151_1.jpg, ComfyUI_00001_.png
NO_PROMPT = {"sample", "image", "img", "output", "out", "result", "generated", "gen", "grid", "comfyui", "tmp", "test"}
Images = Callable[[], Iterator[str]]  # the paths of images below a folder; one that ends with / can't be listed


def load(data: str) -> Table:
    """The images of a folder and of those below it."""
    return table("folder", Path(data), partial(walk, Path(data)))


def table(kind: str, root: Path, images: Images) -> Table:
    """Images below a folder, with their prompts."""
    count = sum(1 for _ in images())
    if not count:
        raise UserError(f"no images in {root} ({' '.join(sorted(SUFFIXES))}); a table in it is DATA by its own name")
    source = next((cells["source"] for cells in found(root, images, named=False) if cells["source"]), "")
    several = alike((path, "") for path in images())
    several = several and alike((cells["id"], str(cells["prompt"])) for cells in found(root, images, not source))
    fixed = {"image": "the files", "prompt": source or "the file name"}
    if source == METADATA:
        fixed["category"] = f"tag in {METADATA}"
    if several:
        fixed["model"] = "the first folder"

    def records(_: Sequence[str]) -> Iterator[Record]:
        for cells in found(root, images, not source):
            path = cells["id"].encode(errors="replace").decode()
            model = {"model": path.partition("/")[0]} if several else {}
            lost = cells["unlisted"]
            yield Record(path, lost or {**cells, "id": path, **model}, rest_lost=bool(lost))

    return Table(
        kind if source else f"{kind}, prompt from the file name", tuple(fixed), records, count=count, fixed=fixed
    )


def found(root: Path, images: Images, named: bool) -> Iterator[dict[str, Any]]:
    """What is known of each image; where it is `named`, the file's name is its prompt."""
    for folder, paths in groupby(images(), lambda path: path.rpartition("/")[0] if path[-1] != "/" else path):
        if folder.endswith("/"):
            yield {"id": folder, "source": "", "prompt": "", "unlisted": UserError("the folder can't be listed")}
            continue
        shared = {"source": "", "category": "", **({} if named else said_of(root, folder))}
        for path in paths:
            own = None if named else words_in((root / path).with_suffix(".txt"))
            cells = {**shared, "prompt": own, "source": "NAME.txt"} if own is not None else shared
            missing = UserError(f"no prompt: neither {BESIDE} nor {Path(path).stem}.txt is beside it")
            prompt = from_name(Path(path).stem) if named else cells.get("prompt", missing)
            yield {**cells, "id": path, "image": str(root / path), "prompt": prompt, "unlisted": None}


def said_of(root: Path, folder: str) -> dict[str, Any]:
    """What is said of all images of a folder: by GenEval's metadata, or by the nearest prompt.txt."""
    here = (root / folder).absolute()
    if here.name == SAMPLES and (here.parent / METADATA).is_file():
        return {"source": METADATA, **geneval(here.parent / METADATA)}
    for place in (here, *here.parents):
        words = words_in(place / BESIDE)
        if words is not None:
            return {"source": BESIDE, "prompt": words}
        if place == root.absolute():
            break
    return {}


def geneval(path: Path) -> dict[str, Any]:
    """GenEval's prompt and its tag."""
    words = words_in(path)
    try:
        value = json.loads(words) if isinstance(words, str) else words
    except (ValueError, RecursionError) as error:
        value = UserError(f"{path.parent.name}/{path.name} is no JSON: {error}")
    if isinstance(value, dict):
        return {"prompt": value.get("prompt"), "category": value.get("tag")}
    return {"prompt": value if isinstance(value, UserError) else UserError(f"{path} holds no prompt")}


def words_in(path: Path) -> str | UserError | None:
    """What a text file says; the error where it can't be read, and None where there is none."""
    try:
        return path.read_text("utf-8-sig").strip() or UserError(f"{path.name} is empty")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        return UserError(f"{path.name} can't be read: {error}")


def from_name(stem: str) -> str | UserError:
    """`a_red_cup_on_a_table_0` is "a red cup on a table": one number, one seed and one hash at the end are left out."""
    words = re.sub(r"[\s_-]+", " ", stem).strip().split(" ")
    endings = [(SEED, 2), (SEED, 1), (HASH, 1), (NUMBER, 1)]
    while ending := next((each for each in endings if each[0].fullmatch(" ".join(words[-each[1] :]))), None):
        del words[-ending[1] :]
        endings = [each for each in endings if each[0] is not ending[0]]
    if any(not word.isdigit() and word.lower() not in NO_PROMPT for word in words if word):
        return " ".join(words)
    return UserError(f"no prompt can be read from the name {stem!r}, and no {BESIDE} or {stem}.txt is beside it")


def alike(items: Iterable[tuple[str, str]]) -> bool:
    """Whether there are several first folders that hold the same files with the same prompts: one for each model."""
    sums: dict[str, Any] = {}
    for path, prompt in items:
        first, slash, rest = path.partition("/")
        if not slash:
            return False
        sums.setdefault(first, hashlib.sha256()).update(f"{rest}\0{prompt}\0".encode(errors="surrogatepass"))
    return len(sums) > 1 and len({each.digest() for each in sums.values()}) == 1


def walk(root: Path, deepest: float = float("inf")) -> Iterator[str]:
    """The paths of all images below a folder, in natural order; no folder is entered twice, so links can't loop."""
    waiting, seen = [""], set()
    while waiting:
        folder = waiting.pop()
        try:
            place = (root / folder).stat()
            files, folders = listing(root / folder)
        except OSError:
            if not folder:
                raise
            yield folder
            continue
        if (place.st_dev, place.st_ino) in seen:
            continue
        seen.add((place.st_dev, place.st_ino))
        yield from (folder + name for name in files)
        if folder.count("/") < deepest:
            waiting.extend(f"{folder}{name}/" for name in reversed(folders))


def listing(folder: Path) -> tuple[list[str], list[str]]:
    """The names of images and of folders, those that are links last; what is hidden is left out."""
    with os.scandir(folder) as entries:
        kept = [(entry.name, is_folder(entry), entry.is_symlink()) for entry in entries if entry.name[0] != "."]
    folders = sorted((link, natural(name), name) for name, inside, link in kept if inside)
    names = {name for name, inside, _ in kept if not inside}
    if METADATA in names and any(name == SAMPLES for *_, name in folders):
        names = set()  # GenEval puts a grid of all samples here
    images = [name for name in names if os.path.splitext(name)[1].lower() in SUFFIXES]  # noqa: PTH122 (ten times Path)
    return sorted(images, key=natural), [name for *_, name in folders]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or a link to one; a link to itself is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def natural(name: str) -> tuple[list[str | int], str]:
    """The order in which 2 comes before 10."""
    parts: list[str | int] = [int(part) if index % 2 else part for index, part in enumerate(re.split(r"(\d+)", name))]
    return parts, name
