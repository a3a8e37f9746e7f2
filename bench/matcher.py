"""How well the matcher alone tells which text describes a picture:

    python bench/matcher.py DATA [--kept-out training/matcher/kept_out.txt] [PART …]

Agreement with people on photos (Flickr8k-Expert) and on generated images, the right caption among those of 300 photos
that were not trained on, captions with one word swapped, phrases, artwork, and time.
"""

import argparse
import csv
import itertools
import json
import random
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from graded import interval
from scipy.stats import kendalltau, rankdata, spearmanr
from timing import seconds

from onprompt.language import correct_spelling, parse_many
from onprompt.settings import load
from onprompt.vision.image import load_picture
from onprompt.vision.matchers.small import SmallMatcher

HERE = Path(__file__).parent
SWAPPED = {"noun": 0.75, "color": 0.65}  # what is swapped → how often the true caption is to win


def auc(right, wrong):
    ranks = rankdata(np.concatenate([right, wrong]))[: len(right)]
    return (ranks.sum() - len(right) * (len(right) + 1) / 2) / (len(right) * len(wrong))


class Bench:
    """The matcher with pictures by path."""

    def __init__(self, data, kept_out):
        self.data, self.settings = data, load()
        self.matcher = SmallMatcher(self.settings)
        captions = defaultdict(list)
        for row in map(json.loads, (data / "pairs/pairs.jsonl").open()):
            if row["kind"] == "photo":
                captions[data / "pairs" / row["image"]].append(row["text"])
        names = set(kept_out.read_text().split())
        self.captions = {path: texts for path, texts in captions.items() if path.name in names}

    def picture(self, path):
        return load_picture(path, self.settings)

    def cosines(self, pictures, texts):
        """Of pairs."""
        seen = np.stack([self.matcher.embed_image(self.picture(path)).vectors[0] for path in pictures])
        return (seen * self.matcher.embed_texts([correct_spelling(text) for text in texts])).sum(axis=1)

    def flickr(self):
        rows = list(csv.DictReader((self.data / "flickr8k/expert.csv").open()))
        found = self.cosines([self.data / "flickr8k" / row["image"] for row in rows], [row["caption"] for row in rows])
        rated = np.array([[int(row[name]) for name in ("e1", "e2", "e3")] for row in rows])

        def tau(chosen):
            return kendalltau(rated[chosen].ravel(), np.repeat(found[chosen], 3), variant="c")[0]

        print(f"flickr: Kendall tau-c, ratings stacked, {interval(tau, [row['group'] for row in rows])} (aim .50)")

    def generated(self):
        rows = list(csv.DictReader((self.data / "t2i/Text-To-Image.csv").open()))
        found = self.cosines([self.data / "t2i" / row["image"] for row in rows], [row["prompt"] for row in rows])
        rated = np.array([float(row["sc"]) for row in rows])
        prompts = [row["prompt"] for row in rows]
        print(f"generated: Spearman {interval(lambda k: spearmanr(rated[k], found[k])[0], prompts)} (aim .30)")
        pairs = [
            (a, b)
            for a, b in itertools.combinations(range(len(rows)), 2)
            if prompts[a] == prompts[b] and abs(rated[a] - rated[b]) >= 0.33
        ]
        right = np.array([0.5 + 0.5 * np.sign((rated[a] - rated[b]) * (found[a] - found[b])) for a, b in pairs])
        print(f"generated: pairs {interval(lambda k: right[k].mean(), [prompts[a] for a, _ in pairs])} (aim .58)")

    def retrieval(self):
        paths = sorted(self.captions)
        seen = np.stack([self.matcher.embed_image(self.picture(path)).vectors[0] for path in paths])
        told = [
            self.matcher.embed_texts([correct_spelling(self.captions[path][k]) for path in paths]) for k in range(5)
        ]
        right = np.arange(len(paths))
        one = [(seen @ texts.T).argmax(axis=1) == right for texts in told]
        back = [(seen @ texts.T).argmax(axis=0) == right for texts in told]
        any_of_five = (seen @ np.concatenate(told).T).argmax(axis=1) % len(paths) == right
        print(
            f"retrieval: a photo's caption first among {len(paths)} photos' with five each "
            f"{interval(lambda k: any_of_five[k].mean(), paths)} (aim .45), with one each {np.mean(one):.3f}; "
            f"the photo of a caption {np.mean(back):.3f}"
        )

    def swapped(self):
        """A noun or a colour of a caption replaced by one that no caption of the photo has."""
        for kind, aim in SWAPPED.items():
            cases = list(self.swaps(kind))
            own = self.cosines([path for path, _, _ in cases], [true for _, true, _ in cases])
            other = self.cosines([path for path, _, _ in cases], [false for _, _, false in cases])
            right = own > other
            groups = [str(path) for path, _, _ in cases]
            print(f"swapped {kind}: {interval(lambda k, r=right: r[k].mean(), groups)} of {len(right)} (aim {aim})")

    def swaps(self, kind):
        chance = random.Random(3)
        flat = [(path, text) for path in sorted(self.captions) for text in self.captions[path]]
        scenes = list(parse_many((text for _, text in flat), self.settings))
        named = [words_of(scene, kind) for scene in scenes]
        bank = sorted({word for words in named for word in words})
        for (path, text), words in zip(flat, named, strict=True):
            there = [word for word in words if re.search(rf"\b{word}\b", text.lower())]
            said = " ".join(self.captions[path]).lower()
            others = [word for word in bank if word not in said]
            if there and others:
                word = chance.choice(there)
                yield path, text.lower(), re.sub(rf"\b{word}\b", chance.choice(others), text.lower(), count=1)

    def phrases(self):
        """Nouns of a photo's captions against nouns of another photo's that this one's captions do not have."""
        paths = sorted(self.captions)
        nouns = {
            path: {word for scene in parse_many(self.captions[path], self.settings) for word in words_of(scene, "noun")}
            for path in paths
        }
        right, wrong = [], []
        for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
            own, others = sorted(nouns[path]), sorted(nouns[other] - nouns[path])
            picture = self.picture(path)
            right += self.matcher.phrase_probabilities(picture, own)
            wrong += self.matcher.phrase_probabilities(picture, others)
        print(
            f"phrases: nouns of a photo's captions against another's, AUC {auc(right, wrong):.3f}, mean chance "
            f"{np.mean(right):.2f} and {np.mean(wrong):.2f}"
        )

    def artwork(self):
        """Photos that are taken for artwork: how many lean to it, and how many surely."""
        rows = map(json.loads, (self.data / "coco/photos.jsonl").open())
        sets = {
            "COCO photos": [self.data / "coco" / row["image"] for row in rows],
            "Flickr8k-Expert photos": sorted((self.data / "flickr8k").rglob("*.jpg")),
        }
        for name, paths in sets.items():
            found = np.array([self.matcher.embed_image(self.picture(path)).artwork for path in paths])
            likely, surely = ((found >= line).mean() for line in (0.5, 0.8))
            print(f"artwork: of {len(found)} {name} {likely:.3f} more likely than not, {surely:.3f} surely")

    def time(self):
        """A picture's vectors and a text's, by themselves: no detector's pass is needed for them."""
        pictures = [self.picture(path) for path in sorted(self.captions)[:30]]
        fresh = [
            min(seconds(lambda p=p: SmallMatcher(self.settings).embed_image(p)) for _ in range(3)) for p in pictures
        ]
        again = seconds(lambda: [self.matcher.embed_image(picture) for picture in pictures for _ in range(100)]) / 3000
        self.matcher.embed_texts(["what loads the table"])
        text = seconds(lambda: self.matcher.embed_texts(["a dog runs over the grass"] * 100)) / 100
        print(
            f"time: {np.median(fresh) * 1000:.0f} ms a picture (aim 40), {again * 1e6:.0f} µs when it is known, "
            f"{text * 1000:.2f} ms a text"
        )


def words_of(scene, kind):
    """The plain words for the things of a scene, or for their colours."""
    if not hasattr(scene, "things"):
        return []
    if kind == "noun":
        return [thing.canonical for thing in scene.things if thing.canonical.isalpha()]
    return [attribute.value for thing in scene.things for attribute in thing.attributes if attribute.kind == kind]


def main():
    parts = ["flickr", "generated", "retrieval", "swapped", "phrases", "artwork", "time"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*parts, []])
    parser.add_argument("--kept-out", type=Path, default=HERE.parent / "training/matcher/kept_out.txt")
    options = parser.parse_args()
    bench = Bench(options.data, options.kept_out)
    for part in options.parts or parts:
        getattr(bench, part)()


main()
