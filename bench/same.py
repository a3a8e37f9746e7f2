"""Whether a verdict is the same however it is made: `python bench/same.py DATA`, where DATA/t2i holds the images.

Judges the same images one by one on all cores, one by one on one core, many at a time, with networks that were compiled
before and with new ones, and on a processor without instructions for eight bits or with shorter vectors, as far as the
environment variable ONEDNN_MAX_CPU_ISA can make believe so (on a processor that has no more, this shows nothing).
Compares the stored documents, byte for byte, and the scores. Ends with 1 if one differs where none may: shorter vectors
add up in another order.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from onprompt.settings import load
from onprompt.weights import cache

JUDGE = """
import json, os, sys
table, cores, way, detector = sys.argv[1:]
if cores == "one":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import onprompt
from onprompt import serial
from onprompt.settings import load
settings = load(detector=detector)
items = json.load(open(table, encoding="utf-8"))
many = onprompt.judge_many("verify", items, settings=settings)
single = (onprompt.verify(**item, settings=settings) for item in items)
for verdict in many if way == "many" else single:
    print(json.dumps([verdict.score, json.dumps(serial.dump(verdict), sort_keys=True)]))
"""
USUAL = {"cores": "all", "way": "single", "home": "", "isa": ""}
WAYS = {
    "one by one, on all cores": {},
    "again": {},
    "on one core": {"cores": "one"},
    "many at a time": {"way": "many"},
    "networks compiled anew": {"home": "empty"},
    "without instructions for eight bits": {"isa": "AVX512_CORE"},
    "with vectors half as long": {"isa": "AVX2"},
}
MAY_DIFFER = "with vectors half as long"


def judged(table, way, detector):
    """Score and document of each image."""
    way = USUAL | way
    arguments = [sys.executable, "-c", JUDGE, str(table), way["cores"], way["way"], detector]
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "weights").symlink_to(cache.folder(load()))
        env = os.environ | ({"ONEDNN_MAX_CPU_ISA": way["isa"]} if way["isa"] else {})
        env |= {"ONPROMPT_HOME": home} if way["home"] else {}
        done = subprocess.run(arguments, env=env, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pictures", type=int, default=40)
    parser.add_argument("--detector", default="coco")
    options = parser.parse_args()
    folder = options.data.resolve() / "t2i"
    with (folder / "Text-To-Image.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    rows = rows[:: max(1, len(rows) // options.pictures)][: options.pictures]
    items = [{"image": str(folder / row["image"]), "prompt": row["prompt"]} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "images.json"
        table.write_text(json.dumps(items), encoding="utf-8")
        found = {name: judged(table, way, options.detector) for name, way in WAYS.items()}
    first, failed = next(iter(found.values())), False
    for name, verdicts in found.items():
        documents = sum(ours == other for ours, other in zip(first, verdicts, strict=True))
        scores = sum(ours[0] == other[0] for ours, other in zip(first, verdicts, strict=True))
        failed = failed or (documents < len(first) and name != MAY_DIFFER)
        print(f"{name:36} {documents} of {len(first)} documents the same, {scores} scores")
    sys.exit(failed)


main()
