"""Plain prompts with a known answer: is the score one that the protocol's words allow? `python bench/plain.py DATA`

DATA holds coco/photos.jsonl. Cases are made from people's boxes, outlines and captions, and from pictures drawn here
(`plain_cases.py` says by which rules). Prints one JSON line: the share that is right by kind, its mean over the kinds,
how many cases there are of each, and which scores were given. --cases writes every case with its verdict.

--people takes the prompts of plain_prompts.csv in place of that, on photos and generated images (DATA/t2i): the scores
that a person accepts were written by looking at the pictures and by the protocol, before anything was measured on them.
"""

import argparse
import csv
import json
import os
import random
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import plain_cases
from plain_photos import Case

from onprompt import verify

COLUMNS = ("kind", "detail", "source", "prompt", "allowed", "score", "value", "summary")


def chosen(data, limit, seed):
    """At most so many cases of each kind, in an order that only depends on the seed."""
    by_kind = defaultdict(dict)
    for case in plain_cases.every(data, seed):
        by_kind[case.kind][case.detail, case.source, case.prompt] = case
    for kind, cases in by_kind.items():
        found = list(cases.values())
        random.Random(f"{seed} {kind}").shuffle(found)
        yield from found[: limit or None]


def accepted(data):
    """The prompts whose scores a person has written."""
    with Path(__file__).with_name("plain_prompts.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            allowed = frozenset(map(int, row["accepted"].split("/")))
            picture = partial(Path, data / row["image"])
            yield Case(row["kind"], row["note"], row["image"], row["prompt"], allowed, picture)


def judged(case):
    verdict = verify(case.picture(), case.prompt)
    allowed = "/".join(map(str, sorted(case.allowed)))
    shown = verdict.score, round(verdict.value, 3), verdict.summary
    return dict(zip(COLUMNS, (case.kind, case.detail, case.source, case.prompt, allowed, *shown), strict=True))


def summary(rows, seconds):
    right, number, said = Counter(), Counter(), defaultdict(Counter)
    for row in rows:
        number[row["kind"]] += 1
        right[row["kind"]] += str(row["score"]) in row["allowed"].split("/")
        said[row["kind"]][row["score"]] += 1
    share = {kind: round(right[kind] / number[kind], 3) for kind in number}
    return {
        "what": "plain",
        "cases": len(rows),
        "right": round(sum(share.values()) / len(share), 3),
        "right_of_all": round(right.total() / len(rows), 3),
        **share,
        "n": dict(number),
        "said": {kind: dict(sorted(scores.items())) for kind, scores in said.items()},
        "s_per_case": round(seconds / len(rows), 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=30, help="cases of each kind; 0: all")
    parser.add_argument("--cases", type=Path, metavar="OUT.csv")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", action="store_true", help="the prompts of plain_prompts.csv")
    options = parser.parse_args()
    data, start, rows = options.data, time.perf_counter(), []
    cases = accepted(data) if options.people else chosen(data, options.limit, options.seed)
    with (options.cases or Path(os.devnull)).open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for case in cases:
            rows.append(judged(case))
            writer.writerow(rows[-1])
    print(json.dumps(summary(rows, time.perf_counter() - start)))


main()
