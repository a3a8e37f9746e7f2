"""Runs as people start them: files of which many are broken, and places that can't be written."""

from __future__ import annotations

import io
import json
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from onprompt.runs.reading import Run
from tests.runs.commands import onprompt

pytestmark = pytest.mark.slow


def encoded(kind: str) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.arange(48 * 48 * 3, dtype=np.uint8).reshape(48, 48, 3)).save(file, kind)
    return file.getvalue()


def header(width: int, height: int) -> bytes:
    """The beginning of a PNG of any size."""
    parts = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"IDAT" + zlib.compress(b"")
    chunks = [struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)) for data in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


BROKEN = {
    **{"empty": b"", "text": b"not a picture at all", "noise": random.Random(0).randbytes(500)},
    **{"cut_png": encoded("PNG")[:200], "cut_jpeg": encoded("JPEG")[:300], "cut_gif": encoded("GIF")[:60]},
    **{"giant": header(200_000, 200_000), "headless": encoded("PNG")[8:], "thin": header(1, 50)},
}


def test_a_thousand_files_of_which_two_hundred_are_broken(tmp_path: Path) -> None:
    good, rows = encoded("PNG"), []
    ways = [*BROKEN, "missing"]
    for index in range(1000):
        way = ways[index // 5 % 10] if index % 5 == 0 else ""
        name = f"{index}-{way or 'good'}.png"
        if way != "missing":
            (tmp_path / name).write_bytes(BROKEN[way] if way else good)
        rows.append(f"{name},a cat of {index}")
    (tmp_path / "data.csv").write_text("\n".join(["image,prompt", *rows]))
    (tmp_path / "said.jsonl").write_text(json.dumps({"text": "(3)"}))
    model = ("--model", f"replay/{tmp_path / 'said.jsonl'}")
    result = onprompt("run", tmp_path / "data.csv", "--out", tmp_path / "run.sqlite", *model)
    assert result.returncode == 1, result.stderr
    first, *kinds = result.stdout.splitlines()
    assert first == f"800 verdicts, 200 errors: {tmp_path / 'run.sqlite'}"
    assert sorted(line.partition(", for example: ")[0].strip() for line in kinds) == [
        *("20 × empty image", "20 × image too large", "20 × image too small", "20 × missing image"),
        *("40 × damaged image", "80 × not an image"),
    ]
    errors = [row for row in Run(tmp_path / "run.sqlite").rows() if row.error]
    assert all(row.id.partition("-")[0] in row.message for row in errors), "each names its file"
    shown = onprompt("show", tmp_path / "run.sqlite").stdout
    assert "800 verdicts on 1,000 samples" in shown
    figures = "mean value 0.750 [0.750, 0.750], mean score 3.000 [3.000, 3.000] over 800 prompts; scores: 800 × (3)"
    assert figures in shown


def test_places_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(encoded("PNG"))
    (tmp_path / "data.csv").write_text("image,prompt\ncat.png,a cat\n")
    (tmp_path / "said.jsonl").write_text(json.dumps({"text": "(3)"}))
    for out in (tmp_path, "/proc/run.sqlite", tmp_path / "cat.png" / "run.sqlite"):
        result = onprompt("run", tmp_path / "data.csv", "--out", out, "--model", f"replay/{tmp_path / 'said.jsonl'}")
        assert result.returncode == 6, (out, result.stderr)
        assert "Traceback" not in result.stderr
