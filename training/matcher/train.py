"""Train the matcher, from a JSONL of image and text to the file that the package ships:

    python training/matcher/train.py pairs.jsonl src/onprompt/vision/matcher.npz --corpus corpus.txt --store work

Each line has `image` (a path beside the file), `text`, and `kind`: captions of a `photo` train the towers; pictures of
other kinds, whose texts name their medium, tell artwork from photos. Photos named in kept_out.txt are left out, so that
bench/matcher.py can measure on them. Needs torch. The same seed gives the same file.
"""

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from features import augment, compute_features
from torch import nn
from torch.nn import functional

from onprompt.language import parse_many
from onprompt.settings import load
from onprompt.vision import backbone
from onprompt.vision.image import load_picture
from onprompt.vision.matchers.small import TEXT_FILES, load_embeddings
from onprompt.weights.cache import paths

VARIANTS = 3  # of each photo: as it is, in a mirror, cut
HELD_OUT = 300  # photos that early stopping and the probabilities are measured on
SEEDS, WIDTH, HIDDEN, KEPT = 2, 256, 512, 512  # towers side by side, their width; numbers kept of a picture
PASSES, LOOK_EVERY, BATCH, RATE, DECAY = 100, 10, 1024, 4e-3, 0.05
DROPPED, DROPPED_TEXT, DROPPED_INSIDE = 0.7, 0.5, 0.5
KNOWN, NEAREST, SHARE = 2000, 5, 0.5  # photos that a text may be near to, how many of them count, and how much
SOME = 2000  # photos that artwork is told from
RIDGE = 300.0
LIMIT = 5.0  # how many spreads a number may be from its mean
SMOOTHING = 0.1  # share of the target that all captions of a batch have in common
ARTWORK = r"\b(painting|watercolor|illustration|drawing|sketch|anime|cartoon|comic|minecraft|pixel art|psychedelic)\b"
PHOTO = r"^(photo|photograph)\b|\b(street|couch|snow|suitcase|frisbee|train|holding)\b"


class Tower(nn.Module):
    """A linear map and a two-layer one beside it, to a vector of length 1."""

    def __init__(self, size, dropped):
        super().__init__()
        self.dropped = nn.Dropout(dropped)
        self.skip = nn.Linear(size, WIDTH)
        self.inner = nn.Linear(size, HIDDEN)
        self.inside = nn.Dropout(DROPPED_INSIDE)
        self.out = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x):
        x = self.dropped(x)
        inner = self.inside(functional.gelu(self.inner(x), approximate="tanh"))
        return functional.normalize(self.skip(x) + self.out(inner), dim=-1)


def read_pairs(path):
    """Captions of each photo, and the texts of other pictures."""
    photos, others = defaultdict(list), defaultdict(list)
    for line in path.open():
        row = json.loads(line)
        (photos if row.get("kind", "photo") == "photo" else others)[path.parent / row["image"]].append(row["text"])
    return photos, others


def rarity(texts, table):
    """How rare each token is: the logarithm of texts over texts that have it."""
    counts, total = Counter(), 0
    for text in texts:
        counts.update(set(table.tokens(text)))
        total += 1
    return np.log((total + 1) / (np.array([counts[row] for row in range(len(table.vectors))]) + 1)).astype(np.float32)


def standardised(x, mean, spread):
    return np.clip((x - mean) / spread, -LIMIT, LIMIT).astype(np.float32)


def basis_of(x):
    """The directions in which pictures differ most, as many as are kept, scaled to a spread of 1 on average."""
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    best = vectors[:, ::-1][:, :KEPT]
    return (best / np.sqrt(values[::-1][:KEPT].mean())).astype(np.float32)


def loss_of(cosines, scale, shift):
    """Each pair by itself, right or wrong; and the right caption, or picture, among all of the batch."""
    size = len(cosines)
    right = torch.eye(size)
    logits = cosines * scale.exp()
    by_itself = -functional.logsigmoid((2 * right - 1) * (logits + shift)).sum(1).mean()
    target = (1 - SMOOTHING) * right + SMOOTHING / size
    return by_itself + functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)


def recall(image, text, pictures, captions):
    """How often a photo's caption is the best of as many photos' captions, a caption of each at a time."""
    with torch.no_grad():
        seen, told = image(pictures), [text(captions[:, k]) for k in range(captions.shape[1])]
    right = torch.arange(len(pictures))
    return float(np.mean([((seen @ texts.T).argmax(1) == right).float().mean().item() for texts in told]))


def fit(variants, captions, held_pictures, held_captions, seed):
    """One pair of towers, as it was when it did best on the photos held out."""
    pictures = variants[0]
    torch.manual_seed(seed)
    order = np.random.default_rng(seed)
    image, text = Tower(pictures.shape[1], DROPPED), Tower(captions.shape[2], DROPPED_TEXT)
    scale, shift = nn.Parameter(torch.tensor(np.log(10.0), dtype=torch.float32)), nn.Parameter(torch.tensor(-6.0))
    optimiser = torch.optim.AdamW([*image.parameters(), *text.parameters(), scale, shift], lr=RATE, weight_decay=DECAY)
    batch = min(BATCH, len(pictures))
    steps = PASSES * (len(pictures) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + 1, pct_start=0.15)
    best = (-1.0, None)
    for number in range(1, PASSES + 1):
        image.train()
        text.train()
        shuffled = order.permutation(len(pictures))
        for start in range(0, len(pictures) - batch + 1, batch):
            mine = shuffled[start : start + batch]
            chosen = captions[mine, order.integers(0, captions.shape[1], batch)]
            shown = variants[order.integers(0, len(variants), batch), mine]
            loss = loss_of(image(shown) @ text(chosen).T, scale, shift)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        if number % LOOK_EVERY == 0:
            image.eval()
            text.eval()
            found = recall(image, text, held_pictures, held_captions)
            print(f"seed {seed}, pass {number}: loss {loss.item():.2f}, recall@1 held out {found:.3f}", flush=True)
            if found >= best[0]:
                best = (found, [{k: v.clone() for k, v in tower.state_dict().items()} for tower in (image, text)])
    image.load_state_dict(best[1][0])
    text.load_state_dict(best[1][1])
    return image.eval(), text.eval()


def stack_seeds(towers, side):
    """The towers' numbers, seeds side by side, as the package reads them."""
    states = [tower.state_dict() for tower in towers]
    named = {"in": "inner.weight", "skip": "skip.weight", "out": "out.weight"}
    found = {f"{side}.{name}": np.stack([state[key].numpy().T for state in states]) for name, key in named.items()}
    found[f"{side}.in_bias"] = np.stack([state["inner.bias"].numpy() for state in states])
    found[f"{side}.bias"] = np.stack([state["skip.bias"].numpy() for state in states])
    return found


def line_through(right, wrong):
    """Steepness and shift of the logistic curve that gives the probability of `right`, both equally likely before."""
    x = torch.tensor(np.concatenate([right, wrong]), dtype=torch.float64)
    y = torch.tensor(np.concatenate([np.ones(len(right)), np.zeros(len(wrong))]))
    weight = torch.where(y > 0, 0.5 / len(right), 0.5 / len(wrong))
    line = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=200, line_search_fn="strong_wolfe")

    def step():
        optimiser.zero_grad()
        odds = line[0] * x + line[1]
        loss = functional.binary_cross_entropy_with_logits(odds, y, weight=weight, reduction="sum")
        loss.backward()
        return loss

    optimiser.step(step)
    return line.detach().numpy()


def artwork(x, y):
    """What tells artwork from photos: ridge regression with a constant, which comes last; both kinds weigh the same."""
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    weight = np.where(y > 0, 0.5 / y.sum(), 0.5 / (1 - y).sum()) * len(y)
    scaled = x * weight[:, None]
    return np.linalg.solve(scaled.T @ x + RIDGE * np.eye(x.shape[1]), scaled.T @ (2 * y - 1))


def artwork_of(x, pictures, texts, photo_rows):
    """The probe and its curve, which is measured on pictures of texts that it was not fitted on."""
    drawn = np.array([bool(re.search(ARTWORK, text)) for text in texts], dtype=bool)
    used = drawn | np.array([bool(re.search(PHOTO, text)) for text in texts], dtype=bool)
    if not drawn.any():
        return np.zeros(x.shape[1]), np.array([0.0, -9.0])  # nothing to tell artwork by: all are photos
    rows = np.concatenate([np.array(pictures)[used], photo_rows])
    y = np.concatenate([drawn[used], np.zeros(len(photo_rows))]).astype(float)
    groups = np.concatenate([np.array(texts)[used], np.array([f"photo {k % 9}" for k in range(len(photo_rows))])])
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    held = np.zeros(len(rows))
    for fold in range(8):
        out = np.isin(groups, names[fold::8])
        *probe, constant = artwork(x[rows[~out]], y[~out])
        held[out] = x[rows[out]] @ probe + constant
    line = line_through(held[y > 0], held[y == 0])
    surely = line[0] * held + line[1] >= np.log(0.8 / 0.2)
    print(
        f"artwork, on pictures of other texts: AUC {auc(held[y > 0], held[y == 0]):.3f}; surely artwork are "
        f"{surely[y > 0].mean():.2f} of {int(y.sum())} and {surely[y == 0].mean():.3f} of {int((1 - y).sum())} photos"
    )
    *probe, constant = artwork(x[rows], y)
    return np.array(probe), np.array([line[0], line[1] + line[0] * constant])


def artwork_probe(photos, others, scaled, store):
    """What tells pictures of other kinds from photos, by the classifier's last layer but one."""
    named = sorted(others)
    shown = np.concatenate([photos, *(compute_features(named, 1, store) if named else [])])
    rows = np.arange(len(shown))
    texts = [others[path][0] for path in named]
    return artwork_of(scaled(shown)[:, : backbone.HIDDEN], rows[len(photos) :], texts, rows[: len(photos)])


def auc(right, wrong):
    """How often one that is right scores higher than one that is wrong."""
    return float((right[:, None] > wrong[None]).mean())


def phrases_of(captions, settings):
    """The things that captions name, in their words and by their plain names."""
    scenes = [scene for scene in parse_many(captions, settings) if hasattr(scene, "things")]
    return sorted({word for scene in scenes for thing in scene.things for word in (thing.phrase, thing.canonical)})


def phrase_line(pictures, captions, seen_as, told_as, known, settings):
    """The curve for phrases: the best of the whole and four parts, for own phrases and those of the next photo."""
    own = [phrases_of(texts, settings) for texts in captions]
    right, wrong = [], []
    for index, path in enumerate(pictures):
        rows = backbone.image_features(backbone.shrink(load_picture(augment(path, 0), settings).pixels), settings)
        others = [phrase for phrase in own[index - 1] if phrase not in own[index]]
        for into, phrases in ((right, own[index]), (wrong, others)):
            if phrases:
                into.append(fits(seen_as(rows), told_as(phrases), known).max(axis=0))
    return line_through(np.concatenate(right), np.concatenate(wrong))


def vectors(towers, rows):
    """Of all seeds side by side, of length 1."""
    with torch.no_grad():
        return np.concatenate([tower(rows).numpy() for tower in towers], axis=1) / len(towers) ** 0.5


def fits(pictures, texts, known):
    """Cosines, pictures down and texts across, less a share of each text's to the known photos that suit it best."""
    best = np.sort(known @ texts.T, axis=0)[-NEAREST:]
    return pictures @ texts.T - SHARE * best.mean(axis=0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", type=Path, help="more texts, a line each, to tell rare words from common ones")
    parser.add_argument("--store", type=Path, help="a folder to keep the pictures' numbers in")
    parser.add_argument(
        "--leave-out", type=Path, default=Path(__file__).with_name("kept_out.txt"), help="photos' names"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    options = arguments()
    start = time.time()
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    photos, others = read_pairs(options.pairs)
    left_out = set(options.leave_out.read_text().split())
    names = sorted(path for path in photos if path.name not in left_out)
    random.Random(options.seed).shuffle(names)
    if options.store:
        options.store.mkdir(parents=True, exist_ok=True)
    settings = load()
    versions = compute_features(names, VARIANTS, options.store)
    raw = versions[0]
    print(f"{len(names)} photos as numbers after {time.time() - start:.0f} s", flush=True)

    table = load_embeddings(paths(TEXT_FILES, settings)[TEXT_FILES[0]].parent)
    told = [text for path in names for text in photos[path]]
    rare = rarity([*told, *(options.corpus.open() if options.corpus else ())], table)
    least = min(len(photos[path]) for path in names)
    captions = np.stack([np.stack([table.features(t, rare) for t in photos[path][:least]]) for path in names])
    held, trained = slice(0, HELD_OUT), slice(HELD_OUT, None)
    mean, spread = raw[trained].mean(axis=0), raw[trained].std(axis=0) + 1e-3
    text_mean, text_spread = captions[trained].mean(axis=(0, 1)), captions[trained].std(axis=(0, 1)) + 1e-3
    basis = basis_of(standardised(raw[trained], mean, spread))

    def image_inputs(rows):
        return torch.tensor(standardised(rows, mean, spread) @ basis)

    def text_inputs(rows):
        return torch.tensor(standardised(rows, text_mean, text_spread))

    pictures, texts = torch.stack([image_inputs(rows) for rows in versions]), text_inputs(captions)
    towers = [
        fit(pictures[:, trained], texts[trained], pictures[0, held], texts[held], options.seed * 100 + seed)
        for seed in range(SEEDS)
    ]
    images, readers = zip(*towers, strict=True)
    known = vectors(images, pictures[0, trained][:KNOWN])
    whole = fits(vectors(images, pictures[0, held]), vectors(readers, texts[held][:, 0]), known)
    right = np.eye(len(whole), dtype=bool)
    probe, line = artwork_probe(
        raw[trained][:SOME], others, lambda rows: standardised(rows, mean, spread), options.store
    )
    weights = {
        "limit": np.float32(LIMIT),
        **{"image.mean": mean, "image.spread": spread, "image.basis": basis},
        **{"text.mean": text_mean, "text.spread": text_spread, "rarity": rare},
        **stack_seeds(images, "image"),
        **stack_seeds(readers, "text"),
        **{"whole": line_through(whole[right], whole[~right]), "artwork": probe, "artwork_line": line},
        **{"known": known, "nearest": np.float32(NEAREST), "share": np.float32(SHARE)},
        "phrase": phrase_line(
            names[held],
            [photos[path] for path in names[held]],
            lambda rows: vectors(images, image_inputs(rows)),
            lambda phrases: vectors(
                readers, text_inputs(np.stack([table.features(phrase, rare) for phrase in phrases]))
            ),
            known,
            settings,
        ),
    }
    np.savez_compressed(options.out, **{name: np.asarray(value).astype(np.float16) for name, value in weights.items()})
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB after {time.time() - start:.0f} s")


main()
