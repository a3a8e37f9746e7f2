"""Made prompts as files: ours, GenEval's, and the bare texts."""

import json
from collections.abc import Sequence
from pathlib import Path

from onprompt.errors import UserError
from onprompt.prompt_sets.made import Made, geneval_metadata
from onprompt.report.document import scene_objects

TABLE, GENEVAL, TEXTS = "prompts.jsonl", "evaluation_metadata.jsonl", "prompts.txt"


def write(made: Sequence[Made], folder: Path) -> None:
    """Three files, line by line the same prompts; the table says where each image is expected."""
    tables = {
        TABLE: [json.dumps(row(each), ensure_ascii=False) for each in made],
        GENEVAL: [json.dumps(geneval_metadata(each)) for each in made],
        TEXTS: [each.prompt for each in made],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if existing := [name for name in tables if (folder / name).exists()]:
            raise UserError(f"{folder / existing[0]} exists already; choose another folder with --out")
        for name, lines in tables.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UserError(f"can't write to {folder}: {error.strerror or error}") from error


def row(made: Made) -> dict[str, object]:
    """A line of the table that `onprompt run` reads once the images are there."""
    name = f"{made.number:05}"
    about = {"id": name, "image": f"images/{name}.png", "prompt": made.prompt, "category": made.category}
    return about | {"objects": scene_objects(made.scene)}
