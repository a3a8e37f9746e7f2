"""How well prompts are read: `python bench/language.py DATA [--teacher PYTHON]`.

DATA/prompts holds DSG's prompts (dsg1k.csv). Recall and precision against their hand-made tuples, in all and by source;
recall by kind of attribute; texts; milliseconds a prompt, growth with length, seconds to load. Given the Python of an
environment that has the teacher (training/README.md), the same rules also read the teacher's trees, and the time of
both parsers is taken in turns.
"""

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import onprompt.language.parser as parser_module
from onprompt.language import parse
from onprompt.language.dependency_parser import Word
from onprompt.language.tree import build_tree, dependency_trees
from onprompt.report.document import scene_document
from onprompt.settings import load

TEACHER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import en_core_web_sm
from spacy.tokens import Doc
nlp = en_core_web_sm.load(disable=["ner"])
def parse(words):
    doc = Doc(nlp.vocab, words=words)
    for _, pipe in nlp.pipeline:
        doc = pipe(doc)
    return doc
parse(["warm", "up"])
sentences = json.load(open(sys.argv[1]))
start = time.perf_counter()
docs = [parse(words) for words in sentences]
seconds = time.perf_counter() - start
rows = [[(t.tag_, t.dep_, t.lower_ if t.lemma_ == "-PRON-" else t.lemma_, t.head.i) for t in doc] for doc in docs]
json.dump({"seconds": seconds, "trees": rows}, sys.stdout)
"""
IRREGULAR = {
    **{"people": "person", "children": "child", "feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose"},
    **{"knives": "knife", "wolves": "wolf", "leaves": "leaf", "shelves": "shelf", "loaves": "loaf", "wives": "wife"},
    **{"halves": "half", "scarves": "scarf"},
}


def singular(word):
    """A crude singular, the same for both sides."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("men"):
        return word[:-3] + "man"
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def bag(text):
    """The words of a text."""
    return {singular(word) for word in re.findall(r"[\w-]+", str(text).lower())}


def body(row):
    """The parts of a tuple: attribute - color (dog, red) → dog, red."""
    return row["tuple"].split("(", 1)[-1].rstrip(")").split(",")


def score(rows, scene, count):
    """Hits and totals of one prompt, added to `count`."""
    things = [each for each in scene["objects"] if not each["absent"]]
    names = [bag(each["object"]) | bag(each["canonical"]) for each in things]
    heads = [bag(each["canonical"]) | bag(each["object"].split()[-1]) for each in things]
    said = set().union(*(bag(row["tuple"].split("(", 1)[-1]) for row in rows))
    for row in rows:
        if row["category_broad"] == "entity" and (wanted := bag(body(row)[0].split("'s ")[-1])):
            count["entity asked"] += 1
            count["entity found"] += any(head & wanted for head in heads)
    count["entity given"] += len(heads)
    count["entity right"] += sum(bool(head & said) for head in heads)
    attributes(rows, things, names, count)
    relations(rows, scene["objects"], count)
    for row in rows:
        if row["category_detailed"] == "text rendering" and len(parts := body(row)) > 1:
            count["text asked"] += 1
            count["text found"] += any(bag(text) & bag(" ".join(parts[1:])) for text in scene["text"])


def attributes(rows, things, names, count):
    """Attributes and numbers."""
    given = [
        (n, bag(v)) for n, each in zip(names, things, strict=True) for vs in each["attributes"].values() for v in vs
    ]
    wanted = []
    for row in rows:
        parts = body(row)
        if row["category_broad"] == "attribute" and len(parts) > 1:
            thing, value = bag(parts[0]), bag(" ".join(parts[1:]))
            wanted.append((thing, value))
            hit = any(n & thing and v & value for n, v in given)
            hit = hit or (row["category_detailed"] == "type" and any(n & thing and n & value for n in names))
            for kind in ("attribute", f"attribute, {row['category_detailed']}"):
                count[f"{kind} asked"] += 1
                count[f"{kind} found"] += hit
        if row["category_detailed"] == "count" and (number := re.search(r"==\s*(\d+)", " ".join(parts))):
            count["count asked"] += 1
            exact = any(
                n & bag(parts[0]) and each["count"] == int(number[1]) for n, each in zip(names, things, strict=True)
            )
            count["count found"] += exact
    for n, v in given:
        right = any(n & thing and v & value for thing, value in wanted)
        count["attribute right"] += right
        count["attribute given"] += right or any(v & value for _, value in wanted)


def relations(rows, things, count):
    """Pairs of things, and which way they are related."""
    names = [bag(each["object"]) | bag(each["canonical"]) for each in things]
    pairs = {(i, each["target"]) for i, thing in enumerate(things) for each in thing["relations"]}
    wanted = [(bag(p[0]), bag(p[1])) for row in rows if row["category_broad"] == "relation" and len(p := body(row)) > 2]
    for a, b in wanted:
        forward = any(names[i] & a and names[j] & b for i, j in pairs)
        count["relation asked"] += 1
        count["relation found"] += forward or any(names[i] & b and names[j] & a for i, j in pairs)
        count["relation forward"] += forward
    for i, j in pairs:
        right = any((names[i] & a and names[j] & b) or (names[i] & b and names[j] & a) for a, b in wanted)
        inside = any(names[i] & (a | b) for a, b in wanted) and any(names[j] & (a | b) for a, b in wanted)
        count["relation right"] += right
        count["relation given"] += right or inside


def prompts_of(data):
    """DSG's prompts with their tuples."""
    found = defaultdict(list)
    with (data / "prompts/dsg1k.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["item_id"], " ".join(row["text"].split())].append(row)
    return dict(found)


def line(name, count):
    """One line of the table."""
    share = lambda a, b: f"{count[a] / count[b]:.3f}" if count[b] else "  –  "  # noqa: E731
    cells = [
        f"{share(f'{k} found', f'{k} asked')} at {share(f'{k} right', f'{k} given')}"
        for k in ("entity", "attribute", "relation")
    ]
    cells += [
        share("relation forward", "relation found"),
        share("count found", "count asked"),
        share("text found", "text asked"),
    ]
    return f"{name:22} " + "   ".join(cells)


def measure(prompts, settings, title):
    """The whole table for one way of making trees."""
    every, sources = Counter(), defaultdict(Counter)
    for (item, text), rows in prompts.items():
        one = Counter()
        score(rows, json.loads(json.dumps(scene_document(parse(text, settings)))), one)
        every += one
        sources[item.rsplit("_", 1)[0]] += one
    print(f"\n{title}\n{'':22} entities         attributes       relations        direction counts  texts")
    for source, count in sorted(sources.items()):
        print(line(source, count))
    print(line("all", every))
    return every


def sentences_of(prompts, settings):
    """The word lists that trees are made of."""
    found = []

    def keep(units):
        found.extend([unit.word for unit in each] for each in units)
        return dependency_trees(units)

    parser_module.dependency_trees = keep
    for _, text in prompts:
        parse(text, settings)
    parser_module.dependency_trees = dependency_trees
    return found


def taught(python, sentences):
    """The teacher's trees and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "sentences.json").write_text(json.dumps(sentences))
        done = subprocess.run([python, "-c", TEACHER, str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def with_teacher(python, prompts, settings):
    """The same rules on the teacher's trees, then both parsers' time in turns."""
    sentences = sentences_of(prompts, settings)
    known = {json.dumps(words): rows for words, rows in zip(sentences, taught(python, sentences)["trees"], strict=True)}

    def replay(units):
        found = []
        for each in units:
            words = [Word(*row) for row in known[json.dumps([unit.word for unit in each])]]
            found.append(build_tree(words, each))
        return found

    parser_module.dependency_trees = replay
    measure(prompts, settings, "the teacher's trees")
    parser_module.dependency_trees = dependency_trees
    turns = []
    for _ in range(5):
        theirs = taught(python, sentences)["seconds"]
        start = time.perf_counter()
        for _, text in prompts:
            parse(text, settings)
        turns.append((theirs, time.perf_counter() - start))
    ours, theirs = (1000 * statistics.median(t[k] for t in turns) / len(prompts) for k in (1, 0))
    print(f"\nms a prompt in turns, median of 5: the whole of ours {ours:.2f}, the teacher's trees alone {theirs:.2f}")


def speed(prompts, settings):
    """Warm milliseconds a prompt, growth with length, seconds to load."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _, text in prompts:
            parse(text, settings)
        times.append(1000 * (time.perf_counter() - start) / len(prompts))
    print(f"\nms a prompt, warm, median of 5 rounds over {len(prompts)}: {statistics.median(times):.2f}")
    sentence = "a red ball lies next to two dogs and a cat on the left. "
    settings = settings.model_copy(update={"max_prompt_characters": 100_000})
    for repeats in (10, 100, 800):
        start = time.perf_counter()
        parse(sentence * repeats, settings)
        seconds = time.perf_counter() - start
        print(f"{13 * repeats:6} words: {seconds:.3f} s, {1e6 * seconds / (13 * repeats):.0f} µs a word")
    code = (
        "import time; from onprompt.language import parse; from onprompt.settings import Settings;"
        "s = Settings(); t = time.perf_counter(); parse('a cat on a mat', s); print(time.perf_counter() - t)"
    )
    loads = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    print(f"first prompt of a process, with all loading, median of 5: {statistics.median(loads):.2f} s")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--teacher", help="the Python of an environment with en_core_web_sm 2.2.5")
    given = arguments.parse_args()
    settings = load()
    prompts = prompts_of(given.data)
    every = measure(prompts, settings, "our own trees")
    kinds = sorted(
        (k.removesuffix(" asked").removeprefix("attribute, "), every[k])
        for k in every
        if k.startswith("attribute, ") and k.endswith("asked")
    )
    print(
        "\nattributes by kind: "
        + ", ".join(f"{kind} {every[f'attribute, {kind} found'] / n:.2f} of {n}" for kind, n in kinds if n > 9)
    )
    if given.teacher:
        with_teacher(given.teacher, prompts, settings)
    speed(prompts, settings)


if __name__ == "__main__":
    main()
