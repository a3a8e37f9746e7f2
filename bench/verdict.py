"""How well verdicts agree with people and with what is true: `python bench/verdict.py DATA [PART …]`

Parts: people (ratings of generated images and of captions), pairs (a photo's own caption against another photo's, and
against one with a word swapped), controls (empty pictures, own and others' captions), ablation (the same without one
stage at a time). Without a part, all but ablation, which only takes a few minutes more, since what was seen is kept.
Each figure has a 95 % interval from a bootstrap over prompts or photos, the aim, and the mean coverage.
"""

import argparse
import itertools
from collections import defaultdict
from pathlib import Path

import cases
import numpy as np
from graded import Graded, interval
from scipy.stats import kendalltau, spearmanr

from onprompt import verify

CONTROLS = 25  # prompts that each empty picture is judged by
# What is left out → the settings that leave it out, or the kinds of checks.
STAGES = {
    "counts": {"kinds": ("count",)},
    "color": {"kinds": ("color",)},
    "relations": {"kinds": ("relation",)},
    "sizes, places, shapes": {"kinds": ("size", "position", "shape")},
    "text": {"kinds": ("text",)},
    "the estimate of the whole": {"kinds": ("whole",)},
    "the matcher": {"settings": {"matcher": ""}},
}


class Bench(Graded):
    """Each part is a method."""

    def people(self):
        rows = list(cases.generated(self.data))
        graded = [self.grade(row["image"], row["text"]) for row in rows]
        rated, found = np.array([row["rated"][0] for row in rows]), np.array([each.value for each in graded])
        prompts, coverage = [row["group"] for row in rows], np.mean([each.coverage for each in graded])
        by = np.array([row["category"] for row in rows])
        spearman = interval(lambda k: spearmanr(rated[k], found[k])[0], prompts)
        print(
            f"generated images: Spearman {spearman} (aim .36), pairs {pairs(rows, rated, found)} (aim .66), coverage "
            f"{coverage:.2f}; Spearman of the score {spearmanr(rated, [each.score for each in graded])[0]:.3f}"
        )
        for name in sorted(set(by)):
            mine = by == name
            print(f"  {name.strip()}: n {mine.sum()}, Spearman {spearmanr(rated[mine], found[mine])[0]:.2f}")
        rows = list(cases.captioned(self.data))
        graded = [self.grade(row["image"], row["text"]) for row in rows]
        rated, found = np.array([row["rated"] for row in rows]), np.array([each.value for each in graded])

        def tau(k):
            return kendalltau(rated[k].ravel(), np.repeat(found[k], 3), variant="c")[0]

        coverage = np.mean([each.coverage for each in graded])
        print(
            f"Flickr8k-Expert: tau-c, ratings stacked, {interval(tau, [row['group'] for row in rows])} (aim .52), "
            f"coverage {coverage:.2f}"
        )

    def pairs(self):
        own = [(image, *self.both(image, true, false)) for image, true, false in cases.own_and_others(self.data)]
        print(f"own caption above another photo's: {wins(own)} of {len(own)} (aim .93)")
        by_kind = defaultdict(list)
        for kind, image, true, false in cases.swapped(self.data):
            by_kind[kind].append((image, *self.both(image, true, false)))
        for kind, found in by_kind.items():
            print(f"  {kind} swapped: {wins(found)} of {len(found)}")
        every = [row for found in by_kind.values() for row in found]
        print(f"swapped, all: {wins(every)} of {len(every)} (aim .75)")

    def both(self, image, true, false):
        return self.grade(image, true).value, self.grade(image, false).value

    def controls(self):
        prompts = sorted({row["text"] for row in cases.generated(self.data)})[:CONTROLS]
        verdicts = [verify(pixels, text) for pixels in cases.empty_pictures() for text in prompts]
        low = np.mean([verdict.score <= 1 for verdict in verdicts])
        print(f"empty pictures with 0 or 1: {low:.3f} of {len(verdicts)} (aim .99)")
        rows = list(cases.own_and_others(self.data))
        images = [str(image) for image, _, _ in rows]
        own = [self.grade(image, true) for image, true, _ in rows]
        other = [self.grade(image, false) for image, _, false in rows]
        for name, found, good, aim in (
            ("own captions with 3 or 4", own, lambda score: score >= 3, ".70, coverage .70"),
            ("other captions with 0 or 1", other, lambda score: score <= 1, ".85"),
        ):
            right = np.array([good(each.score) for each in found])
            covered, estimated = (np.mean([getattr(g, part) for g in found]) for part in ("coverage", "estimated"))
            print(
                f"{name}: {interval(lambda k, r=right: r[k].mean(), images)} of {len(found)} (aim {aim}); coverage "
                f"{covered:.2f}, of which estimated {estimated:.2f}"
            )

    def ablation(self):
        print("| without | generated: Spearman | pairs | photos: tau-c | own above other | swapped |")
        print("|---|---|---|---|---|---|")
        self.row("(nothing left out)")
        for name, change in STAGES.items():
            kept = self.settings
            self.left_out = change.get("kinds", ())
            self.settings = kept.model_copy(update=change.get("settings", {}))
            self.row(name)
            self.settings, self.left_out = kept, ()

    def row(self, name):
        made, told = list(cases.generated(self.data)), list(cases.captioned(self.data))
        found = np.array([self.grade(row["image"], row["text"]).value for row in made])
        rated = np.array([row["rated"][0] for row in made])
        photos = np.repeat([self.grade(row["image"], row["text"]).value for row in told], 3)
        tau = kendalltau([each for row in told for each in row["rated"]], photos, variant="c")[0]
        own = [(i, *self.both(i, a, b)) for i, a, b in cases.own_and_others(self.data)]
        swapped = [(i, *self.both(i, a, b)) for _, i, a, b in cases.swapped(self.data)]
        print(
            f"| {name} | {spearmanr(rated, found)[0]:.3f} | {pairs(made, rated, found).split()[0]} | {tau:.3f} | "
            f"{wins(own).split()[0]} | {wins(swapped).split()[0]} |",
            flush=True,
        )


def pairs(rows, rated, found):
    """How often the better rated of two images of one prompt has the higher value; equal ones count half."""
    right, groups = [], []
    for a, b in itertools.combinations(range(len(rows)), 2):
        if rows[a]["group"] == rows[b]["group"] and abs(rated[a] - rated[b]) >= 0.33:
            right.append(0.5 + 0.5 * np.sign((rated[a] - rated[b]) * (found[a] - found[b])))
            groups.append(rows[a]["group"])
    right = np.array(right)
    return interval(lambda k: right[k].mean(), groups)


def wins(rows):
    """How often the true text has the higher value; equal ones count half."""
    right = np.array([0.5 + 0.5 * np.sign(true - false) for _, true, false in rows])
    return interval(lambda k: right[k].mean(), [str(image) for image, _, _ in rows])


def main():
    parts = ["people", "pairs", "controls", "ablation"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*parts, []])
    options = parser.parse_args()
    bench = Bench(options.data)
    for part in options.parts or parts[:-1]:
        getattr(bench, part)()


main()
