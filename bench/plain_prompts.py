"""Prompts with the scores that a person accepts: how often is it one of them? `python bench/plain_prompts.py DATA`

DATA holds coco/ and t2i/. `plain_prompts.csv` has prompts, images and accepted scores, written by looking at the
pictures and by the protocol, before anything was measured on them. Prints one JSON line: the share of prompts with an
accepted score over all and by kind, and how many there are. --cases writes each prompt with its verdict.
"""

import argparse
import csv
import json
import os
import time
from collections import Counter
from pathlib import Path

from onprompt import verify

COLUMNS = ("kind", "image", "prompt", "accepted", "note", "score", "value", "summary")


def judged(row, data):
    verdict = verify(data / row["image"], row["prompt"])
    return row | {"score": verdict.score, "value": round(verdict.value, 3), "summary": verdict.summary}


def summary(rows, seconds):
    number = Counter(row["kind"] for row in rows)
    right = Counter(row["kind"] for row in rows if str(row["score"]) in row["accepted"].split("/"))
    return {
        "what": "plain prompts",
        "cases": len(rows),
        "right": round(right.total() / len(rows), 3),
        **{kind: round(right[kind] / number[kind], 3) for kind in number},
        "n": dict(number),
        "s_per_case": round(seconds / len(rows), 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cases", type=Path, metavar="OUT.csv")
    options = parser.parse_args()
    with Path(__file__).with_suffix(".csv").open(newline="") as file:
        prompts = list(csv.DictReader(file))
    start, rows = time.perf_counter(), []
    with (options.cases or Path(os.devnull)).open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in prompts:
            rows.append(judged(row, options.data))
            writer.writerow(rows[-1])
    print(json.dumps(summary(rows, time.perf_counter() - start)))


main()
