"""How well juries agree with people: `python bench/jury.py DATA [--cache FILE]`. Nobody is asked.

DATA holds images that people rated (`t2i`, `edit`), and the scores that models gave to them (`answers`, 0 to 10). The
evidence is measured here (some minutes; `--cache` keeps it), all else is arithmetic with the functions of the product.

What is chosen is chosen without what it is measured on: for the images of each fold of prompts by each generating
model, on the other prompts and models, and for a single judge on the other judges. `--json` for all figures.
"""

import argparse
import csv
import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from onprompt.models.voices import known_weights, shares

TASKS = {"Text-To-Image": ("t2i", "prompt"), "Text-Guided_IE": ("edit", "uid"), "Mask-Guided_IE": ("edit", "uid")}
STRONG = ("gpt4o", "gpt4v", "gemini")
WEAK = ("llava", "qwenvl", "blip2")
EVIDENCE_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
WEAK_WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
FOLDS = 5
USED = 0.2  # the default of jury_evidence_weight
APART = 0.33  # ratings that are at least so far apart are a pair


class Task:
    """Rated images of one kind, and what every judge says of them; None where it says nothing."""

    def __init__(self, name, data, cache):
        folder, self.key = TASKS[name]
        rows = list(csv.DictReader((data / folder / f"{name}.csv").open()))
        said = defaultdict(dict)
        for row in csv.DictReader((data / "answers" / f"{name}.csv").open()):
            scores = [float(score) / 10 for score in row["scores"].split()]
            if row["shots"] == "0":
                said[row["judge"]][row["image"]] = float(np.prod(scores) ** (1 / len(scores)))
        self.rows = [row for row in rows if all(row["image"] in said[judge] for judge in STRONG)]
        said["evidence"] = evidence(name, folder, self.rows, data, cache)
        self.said = {judge: [values.get(row["image"]) for row in self.rows] for judge, values in said.items()}
        self.people = np.array([float(row["sc"]) for row in self.rows])
        groups = sorted({row["group"] for row in self.rows})
        np.random.default_rng(0).shuffle(groups)
        fold = {group: place % FOLDS for place, group in enumerate(groups)}
        self.cells = defaultdict(list)
        for place, row in enumerate(self.rows):
            self.cells[fold[row["group"]], row["model"]].append(place)

    def others(self, cell):
        """The images of other prompts and of other generating models."""
        return [
            p for other, places in self.cells.items() if other[0] != cell[0] and other[1] != cell[1] for p in places
        ]

    def value(self, place, weights, evidence_weight):
        """The value of a jury, as the product computes it."""
        heard = [(self.said[judge][place], w) for judge, w in weights.items() if self.said[judge][place] is not None]
        measured = self.said["evidence"][place]
        values = [value for value, _ in heard] + ([measured] if measured is not None and evidence_weight else [])
        parts = shares([weight for _, weight in heard], evidence_weight if measured is not None else 0.0)
        return sum(part * value for part, value in zip(parts, values, strict=True))

    def values(self, weights, evidence_weight, places=None):
        """The values of a jury for some images, or all."""
        return [
            self.value(place, weights, evidence_weight)
            for place in (range(len(self.rows)) if places is None else places)
        ]

    def spearman(self, values, places=None):
        """Agreement with people on some images."""
        return float(spearmanr(self.people if places is None else self.people[places], values)[0])

    def agreement(self, values):
        """Spearman over all, the share of pairs in people's order, and Spearman within each generating model."""
        groups, right, pairs = defaultdict(list), 0.0, 0
        for row, human, value in zip(self.rows, self.people, values, strict=True):
            groups[row[self.key]].append((human, value))
        for group in groups.values():
            for (one, a), (two, b) in itertools.combinations(group, 2):
                if abs(one - two) >= APART:
                    pairs += 1
                    right += 1 if (one - two) * (a - b) > 0 else 0.5 if a == b else 0
        return round(self.spearman(values), 3), round(right / pairs, 3), round(self.within(values), 3)

    def within(self, values):
        """Spearman within each generating model, averaged: what is left if a judge merely knows the model."""
        by_model = defaultdict(list)
        for place, row in enumerate(self.rows):
            by_model[row["model"]].append(place)
        found = [(self.spearman([values[p] for p in places], places), len(places)) for places in by_model.values()]
        return float(np.average([0.0 if np.isnan(rho) else rho for rho, _ in found], weights=[n for _, n in found]))

    def chosen(self, candidates, jury_of, tuned_on):
        """A jury's values, where each cell's candidate is the best for `tuned_on` on other prompts and models."""
        values, taken = [0.0] * len(self.rows), Counter()
        for cell, places in self.cells.items():
            rest = self.others(cell)
            scores = {
                each: np.mean([self.spearman(self.values(*make(each), rest), rest) for make in tuned_on])
                for each in candidates
            }
            best = max(candidates, key=scores.__getitem__)
            taken[best] += len(places)
            for place, value in zip(places, self.values(*jury_of(best), places), strict=True):
                values[place] = value
        return values, dict(sorted(taken.items()))


def evidence(name, folder, rows, data, cache):
    """The values of the evidence judge by image; None where it has nothing to say."""
    known = cache.setdefault(name, {})
    missing = [row for row in rows if row["image"] not in known]
    if missing:
        import onprompt
        from onprompt.judges.jury import is_placeholder
        from onprompt.types import Verdict

        path = data / folder
        if folder == "t2i":
            items, rubric = [{"image": path / row["image"], "prompt": row["prompt"]} for row in missing], "verify"
        else:
            inputs = {"before": "source", "after": "image", "mask": "mask"}
            items = [
                {key: path / row[column] for key, column in inputs.items() if row[column]}
                | {"instruction": row["instruction"], "id": row["uid"]}
                for row in missing
            ]
            rubric = "edit"
        for row, found in zip(missing, onprompt.judge_many(rubric, items, judge="evidence"), strict=True):
            silent = not isinstance(found, Verdict) or is_placeholder(found)
            known[row["image"]] = None if silent else found.value
    return known


def alone(judge):
    """A judge and the evidence, by the weight of the evidence."""
    return lambda weight: ({judge: 1.0}, weight)


def with_weak(weight):
    """All six judges, the weak ones with a weight."""
    return dict.fromkeys(STRONG, 1.0) | dict.fromkeys(WEAK, weight), USED


def juries(task):
    """Every jury with its figures, and what was chosen for it."""
    three = dict.fromkeys(STRONG, 1.0)
    table = {"evidence": (task.agreement([value or 0.0 for value in task.said["evidence"]]), "")}
    for judge in STRONG:
        rest = [alone(other) for other in STRONG if other != judge]
        table[judge] = task.agreement(task.values({judge: 1.0}, 0.0)), ""
        table[f"{judge} + evidence"] = task.agreement(task.values({judge: 1.0}, USED)), f"weight {USED}"
        values, taken = task.chosen(EVIDENCE_WEIGHTS, alone(judge), rest)
        table[f"{judge} + evidence, weight chosen"] = task.agreement(values), f"images by weight {taken}"
    table["three"] = task.agreement(task.values(three, 0.0)), ""
    table["three + evidence"] = task.agreement(task.values(three, USED)), f"weight {USED}"
    values, taken = task.chosen(EVIDENCE_WEIGHTS, lambda weight: (three, weight), [alone(judge) for judge in STRONG])
    table["three + evidence, weight chosen"] = task.agreement(values), f"images by weight {taken}"
    table["… + weak, equal weights"] = task.agreement(task.values(*with_weak(1.0))), ""
    low = min(known_weights().values())
    table["… + weak, known weights"] = task.agreement(task.values(*with_weak(low))), f"weight {low}"
    values, taken = task.chosen(WEAK_WEIGHTS, with_weak, [with_weak])
    table["… + weak, weight chosen"] = task.agreement(values), f"images by weight {taken}"
    return table


def must_hold(table):
    """What is promised of generated images, and whether it holds."""
    rho = {name: figures[0] for name, (figures, _) in table.items()}
    gains = [rho[f"{judge} + evidence, weight chosen"] - rho[judge] for judge in STRONG]
    jury = rho["three + evidence, weight chosen"]
    lead = jury - max(rho[judge] for judge in STRONG)
    weak = rho["… + weak, known weights"] - rho["three + evidence"]
    yield f"three + evidence above the best of the three by {lead:+.3f} (at least .04)", lead >= 0.04
    yield f"evidence beside one model: {', '.join(f'{g:+.3f}' for g in gains)} (none below -.005)", min(gains) >= -0.005
    yield f"… on average {np.mean(gains):+.3f} (at least .015)", np.mean(gains) >= 0.015
    yield f"weak judges change it by {weak:+.3f} (at least -.010)", weak >= -0.01


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, help="file for the values of the evidence")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kept = options.cache and options.cache.is_file()
    cache = json.loads(options.cache.read_text()) if kept else {}
    tasks = {name: Task(name, options.data, cache) for name in TASKS}
    if options.cache:
        options.cache.write_text(json.dumps(cache))
    tables = {name: juries(task) for name, task in tasks.items()}
    if options.json:
        print(json.dumps(tables))
        return
    for name, table in tables.items():
        print(f"{name}, {len(tasks[name].rows)} images: Spearman, pairs, within model")
        for jury, ((rho, pairs, within), note) in table.items():
            print(f"  {jury:36} {rho:.3f} {pairs:.3f} {within:.3f}  {note}")
    for words, holds in must_hold(tables["Text-To-Image"]):
        print(f"{'holds' if holds else 'FAILS'}: {words}")


if __name__ == "__main__":
    main()
