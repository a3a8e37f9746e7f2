"""Edits by evidence. `python bench/edit.py DATA [--part people|factors|controls|scripted|words|time] [--cases OUT.csv]`

people      agreement with people's ratings: pooled Spearman, pairs of one instruction, and within each editor
factors     which combination of a model's two factors agrees best with people, on the recorded answers of models
controls    the unchanged image, another photo's instruction, a blank image, another photo: alignment of 3 or less
scripted    edits made by a script: right operation and target confirmed, and right edits above wrong ones
words       each justification has 15 to 30 words, on random images and instructions
time        an edit of two 1024-pixel images against one `verify`, in turn

Prints one JSON line for each part. DATA holds edit/*.csv, answers/*.csv and coco/photos.jsonl.
"""

import argparse
import csv
import json
import random
import statistics
import time
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from edit_cases import scripted, stored_again
from PIL import Image
from scipy.stats import spearmanr

import onprompt
from onprompt.types import Outcome

TASKS = ("Text-Guided_IE", "Mask-Guided_IE")
GOOD = 0.8  # rating from which people accept an edit
APART = 0.33  # ratings of two edits that differ by less are no pair
LOW = 3  # alignment that a control may get: wrong, or not done
FIGURES = ("pooled", "pairs", "within")
STRONG = ("gpt4o", "gpt4v", "gemini")  # models whose answers are given one by one
COMBINATIONS = {
    "mean": statistics.mean,
    "geometric mean": lambda scores: np.prod(scores) ** (1 / len(scores)),
    "minimum": min,
    "first": lambda scores: scores[0],
}
FACTORS = ("alignment", "completeness", "plausibility")


@cache
def rated(data, task):
    return list(csv.DictReader((data / f"edit/{task}.csv").open()))


def judged(data, row, **changes):
    """The verdict on a rated edit, with some inputs exchanged."""
    mask = data / "edit" / row["mask"] if row["mask"] else None
    inputs = {"before": data / "edit" / row["source"], "after": data / "edit" / row["image"]}
    return onprompt.edit(**inputs | {"instruction": row["instruction"], "mask": mask} | changes)


def spearman(pairs):
    """0 where either side is constant."""
    people, ours = zip(*pairs, strict=True)
    return 0.0 if len(set(people)) < 2 or len(set(ours)) < 2 else float(spearmanr(people, ours)[0])


def agreement(rows):
    """(instruction, editor, rating, value) of each edit → three figures."""
    by_text, by_editor = defaultdict(list), defaultdict(list)
    for text, editor, people, value in rows:
        by_text[text].append((people, value))
        by_editor[editor].append((people, value))
    pairs = [(a, b) for group in by_text.values() for a, b in combinations(group, 2) if abs(a[0] - b[0]) >= APART]
    right = [1 if (a[0] - b[0]) * (a[1] - b[1]) > 0 else 0.5 if a[1] == b[1] else 0 for a, b in pairs]
    inside = [spearman(group) for group in by_editor.values()]
    return {
        "pooled": round(spearman([row[2:] for row in rows]), 3),
        "pairs": round(statistics.mean(right), 3),
        "within": round(float(np.average(inside, weights=[len(group) for group in by_editor.values()])), 3),
    }


def people(data, out):
    """One number for each task was fitted (training/edits/fit.py); the weights come from the spread of the signals."""
    result = {}
    for task in TASKS:
        verdicts = [judged(data, row) for row in rated(data, task)]
        keys = [(row["uid"], row["model"], float(row["sc"])) for row in rated(data, task)]
        result[task] = {
            name: agreement([(*key, read(verdict)) for key, verdict in zip(keys, verdicts, strict=True)])
            for name, read in {
                "value": lambda verdict: verdict.value,
                **{name: (lambda verdict, name=name: verdict.measures[name]) for name in (*FACTORS, "preservation")},
            }.items()
        }
        quality = [float(row["pq"]) for row in rated(data, task)]
        result[task]["plausibility with quality"] = agreement(
            [(*key[:2], pq, v.measures["plausibility"]) for key, pq, v in zip(keys, quality, verdicts, strict=True)]
        )
        scores = np.array([verdict.factors["alignment"].score for verdict in verdicts])
        ratings = np.array([key[2] for key in keys])
        result[task]["alignment of accepted (5 or more, 2 or less), of failed (3 or less)"] = [
            round(float(np.mean(part)), 3)
            for part in (scores[ratings >= GOOD] >= 5, scores[ratings >= GOOD] <= 2, scores[ratings == 0] <= 3)
        ]
        result[task]["accepted, failed edits that pass alignment=4, 5, 6"] = {
            limit: [round(float(np.mean(scores[part] >= limit)), 3) for part in (ratings >= GOOD, ratings == 0)]
            for limit in (4, 5, 6)
        }
        by_score = defaultdict(list)
        for key, verdict in zip(keys, verdicts, strict=True):
            by_score[verdict.factors["alignment"].score].append(key[2])
        result[task]["ratings by alignment"] = {
            score: (round(statistics.mean(ratings), 2), len(ratings)) for score, ratings in sorted(by_score.items())
        }
        out += [(task, *key, verdict.value, verdict.summary) for key, verdict in zip(keys, verdicts, strict=True)]
    return result


def factors(data, out):
    """For each model and number of examples: pooled, pairs and within, by combination; and the mean over all."""
    result = {}
    for task in TASKS:
        rows, answers = {row["image"]: row for row in rated(data, task)}, defaultdict(list)
        for answer in csv.DictReader((data / f"answers/{task}.csv").open()):
            scores = tuple(map(float, answer["scores"].split()))
            if len(scores) == 2:
                answers[answer["judge"], answer["shots"]].append((rows[answer["image"]], scores))
        table = {
            (*judge, name): agreement([(r["uid"], r["model"], float(r["sc"]), combine(s)) for r, s in given])
            for judge, given in sorted(answers.items())
            for name, combine in COMBINATIONS.items()
        }
        out += [(task, *key, *figures.values()) for key, figures in table.items()]
        mean = {
            (name, figure): round(statistics.mean(f[figure] for key, f in table.items() if key[2] == name), 3)
            for name in COMBINATIONS
            for figure in FIGURES
        }
        single = {" ".join(key): list(f.values()) for key, f in table.items() if key[0] in STRONG}
        result[task] = {name: [mean[name, figure] for figure in FIGURES] for name in COMBINATIONS} | single
    return result


def controls(data, out):
    """Each instruction once."""
    rows, chance = list({row["uid"]: row for row in rated(data, TASKS[0])}.values()), random.Random(7)
    edited = rated(data, TASKS[0]) + rated(data, TASKS[1])
    scores = defaultdict(list)
    for row in rows:
        other = chance.choice([r for r in rows if r["group"] != row["group"]])
        source = data / "edit" / row["source"]
        blank = Image.new("RGB", Image.open(source).size, chance.choice(["white", "black", "gray", "navy"]))
        edit = chance.choice([r for r in edited if r["uid"] == row["uid"]])
        cases = {
            "unchanged": judged(data, row, after=source, mask=None),
            "other instruction": judged(data, edit, instruction=other["instruction"], mask=None),
            "blank": judged(data, row, after=blank, mask=None),
            "other photo": judged(data, row, after=data / "edit" / other["source"], mask=None),
        }
        for name, verdict in cases.items():
            scores[name].append(verdict.factors["alignment"].score)
            out.append((name, row["uid"], row["instruction"], verdict.value, verdict.summary))
    low = {name: round(statistics.mean(score <= LOW for score in given), 3) for name, given in scores.items()}
    return {"low": low, "scores": {name: dict(sorted(Counter(given).items())) for name, given in scores.items()}}


def script(data, out):
    """Each instruction with its own edit, and with a wrong one; of each photo one with the photo as it was."""
    named, above, low, kinds = defaultdict(list), defaultdict(list), defaultdict(list), Counter()
    nothing = []
    for number, (image, photo, edits) in enumerate(scripted(data)):
        for place, edit in enumerate(edits):
            other = edits[(place + 1) % len(edits)]
            right = onprompt.edit(photo, edit.after, edit.instruction)
            wrong = onprompt.edit(photo, other.after if edit.wrong is None else edit.wrong, edit.instruction)
            first, *details = [check for check in right.checks if check.thing == 0]
            own = first.outcome is Outcome.MATCHED and all(check.probability >= 0.5 for check in details)
            named[edit.kind].append(own)
            above[edit.kind].append(right.value > wrong.value)
            scores = [verdict.factors["alignment"].score for verdict in (right, wrong)]
            low[edit.kind].append((scores[0] >= 5, scores[1] <= 4))
            kinds[edit.kind] += 1
            row = (edit.kind, image, edit.instruction, other.instruction, own, right.value, wrong.value, *scores)
            out.append((*row, right.summary, wrong.summary))
            if place == number % len(edits):
                undone = onprompt.edit(photo, stored_again(photo), edit.instruction)
                nothing.append((undone.value < right.value, undone.factors["alignment"].score <= 3))
    every = {name: [x for group in groups.values() for x in group] for name, groups in (("n", named), ("a", above))}
    return {
        "edits": sum(kinds.values()),
        "named": round(statistics.mean(every["n"]), 3),
        "right above wrong": round(statistics.mean(every["a"]), 3),
        "nothing done: below right, 3 or less": [round(statistics.mean(e), 3) for e in zip(*nothing, strict=True)],
        "by kind: named, above, right 5 or more, wrong 4 or less, number": {
            kind: (
                *(round(statistics.mean(each[kind]), 3) for each in (named, above)),
                *(round(statistics.mean(part), 3) for part in zip(*low[kind], strict=True)),
                kinds[kind],
            )
            for kind in sorted(kinds)
        },
    }


def words(data, out, runs=2000):
    """Small random pictures and instructions made of random words, so that any clause may occur."""
    chance, counts = random.Random(7), Counter()
    texts = [row["instruction"] for task in TASKS for row in rated(data, task)]
    vocabulary = " ".join(texts).split()
    photos = sorted({data / "edit" / row["source"] for row in rated(data, TASKS[0])})
    pool = [Image.open(path).convert("RGB").resize((160, 120)) for path in photos]
    for number in range(runs):
        before, after = chance.choice(pool), chance.choice(pool)
        if chance.random() < 0.6:
            after = Image.blend(before, after, chance.choice([0.0, 0.1, 0.5]))
        text = " ".join(chance.choice(vocabulary) for _ in range(chance.choice([1, 3, 8, 40])))
        text = chance.choice(texts) if chance.random() < 0.5 else text
        verdict = onprompt.edit(before, after, text)
        for name in FACTORS:
            reason = verdict.factors[name].reason
            counts[len(reason.split())] += 1
            if number < 100:
                out.append((text, name, reason))
    return {"runs": runs, "shortest": min(counts), "max_tokens": max(counts)}


def timing(data, _, rounds=7):
    """Medians of runs in turn, after one of each."""
    row = rated(data, TASKS[0])[5]
    sizes = {}
    for name in ("source", "image"):
        sizes[name] = Image.open(data / "edit" / row[name]).convert("RGB").resize((1024, 1024))
    calls = {
        "edit": lambda: onprompt.edit(fresh(sizes["source"]), fresh(sizes["image"]), row["instruction"]),
        "verify": lambda: onprompt.verify(fresh(sizes["image"]), row["target_caption"]),
    }
    seconds = defaultdict(list)
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    median = {name: statistics.median(times[1:]) for name, times in seconds.items()}
    return {
        **{name: round(value, 3) for name, value in median.items()},
        "ratio": round(median["edit"] / median["verify"], 2),
    }


def fresh(image):
    """The same picture with one other pixel, so that nothing is cached."""
    copy = image.copy()
    copy.putpixel((random.randrange(1024), random.randrange(1024)), (random.randrange(256), 0, 0))
    return copy


PARTS = {"people": people, "factors": factors, "controls": controls, "scripted": script, "words": words, "time": timing}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--cases", type=Path)
    options = parser.parse_args()
    rows = []
    for part in options.part or PARTS:
        print(json.dumps({"what": part, **PARTS[part](options.data, rows)}), flush=True)
    if options.cases:
        with options.cases.open("w", newline="") as file:
            csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()
