"""The trained spaCy pipeline as one file of plain arrays, which the package reads without spaCy.

`python training/parser/export.py training/parser/model`
"""

import json
import sys
from pathlib import Path

import numpy as np
import spacy
from spacy.symbols import IDS

TARGET = Path(__file__).parents[2] / "src" / "onprompt" / "language" / "parser.npz"


def layers(model, name):
    return [node for node in model.walk() if node.name == name]


def array(layer, name):
    return np.ascontiguousarray(layer.get_param(name), dtype=np.float32)


def tok2vec(nlp):
    model = nlp.get_pipe("tok2vec").model
    found = {}
    for index, embed in enumerate(layers(model, "hashembed")):
        found[f"embed.{index}"] = array(embed, "E")
        found[f"seed.{index}"] = np.uint32(embed.attrs["seed"])
    norms = layers(model, "layernorm")
    for index, (maxout, norm) in enumerate(zip(layers(model, "maxout"), norms, strict=True)):
        found |= {f"maxout.{index}.W": array(maxout, "W"), f"maxout.{index}.b": array(maxout, "b")}
        found |= {f"maxout.{index}.G": array(norm, "G"), f"maxout.{index}.shift": array(norm, "b")}
    return found


def softmax(nlp, name):
    (layer,) = layers(nlp.get_pipe(name).model, "softmax")
    return {f"{name}.W": array(layer, "W"), f"{name}.b": array(layer, "b")}


def transitions(nlp):
    model = nlp.get_pipe("parser").model
    lower, upper = model.get_ref("lower"), model.get_ref("upper")
    (reduce,) = layers(model.get_ref("tok2vec"), "linear")
    assert not model.attrs["unseen_classes"]
    return {
        **{f"parser.reduce.{name}": array(reduce, name) for name in ("W", "b")},
        **{f"parser.lower.{name}": array(lower, name) for name in ("W", "b", "pad")},
        **{f"parser.upper.{name}": array(upper, name) for name in ("W", "b")},
    }


def tables(nlp):
    moves, lemmatizer = nlp.get_pipe("parser").moves, nlp.get_pipe("lemmatizer")
    strings = nlp.vocab.strings
    trees = [
        [tree["prefix_len"], tree["suffix_len"], tree["prefix_tree"], tree["suffix_tree"]]
        if "prefix_len" in tree
        else [strings[tree["orig"]], strings[tree["subst"]]]
        for tree in (lemmatizer.trees[index] for index in range(len(lemmatizer.trees)))
    ]
    return {
        "moves": [moves.get_class_name(index) for index in range(moves.n_moves)],
        "tags": list(nlp.get_pipe("tagger").labels),
        "trees": trees,
        "lemmas": list(lemmatizer.labels),
        "symbols": IDS,  # words that spaCy numbers by a list in place of a hash
    }


def main():
    nlp = spacy.load(sys.argv[1], exclude=["tokenizer"])
    text = json.dumps(tables(nlp), ensure_ascii=False).encode()
    arrays = tok2vec(nlp) | softmax(nlp, "tagger") | softmax(nlp, "lemmatizer") | transitions(nlp)
    np.savez(TARGET, tables=np.frombuffer(text, dtype=np.uint8), **arrays)
    print(f"{TARGET}: {TARGET.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
