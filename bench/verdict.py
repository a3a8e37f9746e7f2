"""How well verdicts agree with people and with what is true: `python bench/verdict.py DATA [PART …]`

Parts: people (ratings of generated images and of captions), pairs (a photo's own caption against another photo's, and
against one with a word swapped), controls (empty pictures, own and others' captions). Without a part, all.
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
    parts = ["people", "pairs", "controls"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*parts, []])
    options = parser.parse_args()
    bench = Bench(options.data)
    for part in options.parts or parts:
        getattr(bench, part)()


main()
