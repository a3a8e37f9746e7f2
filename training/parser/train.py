"""Train the prompt parser on annotated lines, and measure it against its teacher on lines that it has not seen.

python train.py ANNOTATED.jsonl WORK OUT: ANNOTATED comes from annotate.py; WORK is a scratch folder; OUT receives the
trained pipeline (training/parser/model; then run export.py). Settings are in config.cfg. Deterministic on one machine.

Prompts are sloppier than captions, so the student also sees every line worse than its teacher did, with the tree the
teacher gave to the good version: without articles, capitals or full stop, numbers as figures, lines run together.
"""

import json
import random
import sys
from pathlib import Path

import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin

from onprompt.language.words import vocabulary

CONFIG = Path(__file__).with_name("config.cfg")
HELD_OUT = 40  # one line in so many is kept for measuring
FIGURES = {
    name: str(number)
    for number, name in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)
}
NOUNS = sorted(word for word in vocabulary().nouns if word.isalpha() and len(word) > 2)
ADJECTIVES = sorted(word for word in vocabulary().adjectives if word.isalpha() and len(word) > 2)
FIELDS = ("words", "tags", "heads", "deps", "lemmas")


def is_tree(heads):
    """Whether every word leads to a root."""
    for start in range(len(heads)):
        at, steps = start, 0
        while heads[at] is not None and heads[at] != at and steps <= len(heads):
            at, steps = heads[at], steps + 1
        if heads[at] != at:
            return False
    return True


def hyphenated(record):
    """Words that a hyphen joins as one word, since the parser reads `t-shirt` so; it hangs where its last part hung."""
    said, place, groups = record["words"], {}, []
    for at, word in enumerate(said):
        inner = word == "-" and 0 < at < len(said) - 1 and said[at - 1][-1].isalnum() and said[at + 1][0].isalnum()
        if groups and (inner or (said[groups[-1][-1]] == "-" and len(groups[-1]) > 1)):
            groups[-1].append(at)
        else:
            groups.append([at])
        place[at] = len(groups) - 1
    tops = [next((at for at in reversed(group) if record["heads"][at] not in group), group[-1]) for group in groups]
    whole = {field: [record[field][top] for top in tops] for field in FIELDS}
    whole["words"] = ["".join(said[at] for at in group) for group in groups]
    whole["lemmas"] = [
        word.lower() if len(group) > 1 else lemma
        for word, lemma, group in zip(whole["words"], whole["lemmas"], groups, strict=True)
    ]
    whole["heads"] = [place[record["heads"][top]] for top in tops]
    return whole


def without(record, drop):
    """The record less some words that nothing hangs on."""
    keep = [at for at in range(len(record["words"])) if at not in drop]
    place = {old: new for new, old in enumerate(keep)}
    less = {field: [record[field][at] for at in keep] for field in FIELDS}
    return less | {"heads": [place[head] for head in less["heads"]]}


def joined(records):
    """Several records as one text."""
    whole = {field: [] for field in FIELDS}
    for record in records:
        start = len(whole["words"])
        for field in FIELDS:
            whole[field] += [head + start for head in record[field]] if field == "heads" else record[field]
    return whole


def sloppy(record, rng):
    """The same line as somebody in a hurry writes it."""
    hung_on = {head for at, head in enumerate(record["heads"]) if head != at}
    bare, unstopped = rng.random() < 0.4, rng.random() < 0.5
    drop = {
        at
        for at, (word, dep) in enumerate(zip(record["words"], record["deps"], strict=True))
        if at not in hung_on
        and len(record["words"]) > 2
        and ((bare and dep == "det" and word.lower() in {"a", "an", "the"}) or (unstopped and word == "."))
    }
    less = without(record, drop)
    figures, lower = rng.random() < 0.2, rng.random() < 0.5
    said = [
        FIGURES.get(word.lower(), word) if figures and dep == "nummod" else word
        for word, dep in zip(less["words"], less["deps"], strict=True)
    ]
    return less | {"words": [word.lower() for word in said] if lower else said}


def plural(noun):
    """Of a noun."""
    return noun + ("es" if noun.endswith(("s", "x", "sh", "ch")) else "s")


def estranged(record, rng):
    """The same line with some of its nouns and adjectives exchanged for others of the language.

    The corpus holds few words; whoever writes prompts has many, and the student should trust their surroundings.
    """
    known = {"NN": NOUNS, "NNS": NOUNS, "JJ": ADJECTIVES}
    said, lemmas = list(record["words"]), list(record["lemmas"])
    for at, tag in enumerate(record["tags"]):
        if tag in known and rng.random() < 0.25:
            lemmas[at] = rng.choice(known[tag])
            said[at] = plural(lemmas[at]) if tag == "NNS" else lemmas[at]
    return record | {"words": said, "lemmas": lemmas}


def document(vocab, record):
    """A record as spaCy's gold."""
    return Doc(vocab, **{field: record[field] for field in FIELDS})


def split(lines):
    """Lines to learn from, lines to measure on."""
    records = [record for record in map(hyphenated, map(json.loads, lines)) if is_tree(record["heads"])]
    random.Random(1).shuffle(records)
    return [r for at, r in enumerate(records) if at % HELD_OUT], records[::HELD_OUT]


def main(annotated, work, out):
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    vocab, rng = spacy.blank("en").vocab, random.Random(2)
    learn, measure = split(Path(annotated).read_text().splitlines())
    bad = [estranged(sloppy(record, rng), rng) if rng.random() < 0.5 else sloppy(record, rng) for record in learn]
    texts = [*learn, *bad, *(joined(rng.sample(bad, rng.randint(2, 4))) for _ in range(len(bad) // 8))]
    rng.shuffle(texts)
    for name, records in {"learn": texts, "measure": measure, "sloppy": [sloppy(r, rng) for r in measure]}.items():
        DocBin(attrs=["TAG", "HEAD", "DEP", "LEMMA"], docs=[document(vocab, r) for r in records]).to_disk(
            work / f"{name}.spacy"
        )
    train(
        CONFIG,
        work / "runs",
        overrides={"paths.train": str(work / "learn.spacy"), "paths.dev": str(work / "sloppy.spacy")},
    )
    nlp = spacy.load(work / "runs" / "model-best")
    nlp.config["paths"] |= {"train": None, "dev": None}
    nlp.meta |= {"name": "onprompt_prompts", "license": "Apache-2.0", "description": "Trees for prompts and captions"}
    nlp.to_disk(out, exclude=["tokenizer"])  # sentences come as lists of words


if __name__ == "__main__":
    main(*sys.argv[1:4])
