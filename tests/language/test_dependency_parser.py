"""Our forward pass gives the trees of the spaCy pipeline whose weights it runs."""

from pathlib import Path

import pytest

from onprompt.language import dependency_parser
from onprompt.language.dependency_parser import Word

ODD = ["", "é", "’s", "--", "US$", "20", "A" * 150, "日本", "dep", "X", "NORM", "\ud800", "a b", "🙂"]


def test_it_says_what_spacy_says() -> None:
    """Each line of trees.txt is what training/parser/model says in spaCy 3: word, tag, label, lemma, head."""
    blocks = Path(__file__).with_name("trees.txt").read_text(encoding="utf-8").strip().split("\n\n")
    rows = [[line.split(" ") for line in block.split("\n")] for block in blocks]
    assert dependency_parser.parse_words([[row[0] for row in tree] for tree in rows]) == [
        [Word(tag, label, lemma, int(head)) for _, tag, label, lemma, head in tree] for tree in rows
    ]


def test_one_by_one_as_together() -> None:
    sentences = [
        ["two", "dogs", "run", "on", "a", "mat"],
        [],
        ["cat"],
        ["a", "red", "cup", ",", "a", "blue", "plate", "and", "three", "forks"],
    ]
    assert dependency_parser.parse_words(sentences) == [dependency_parser.parse_words([each])[0] for each in sentences]
    assert dependency_parser.parse_words([]) == []


@pytest.mark.parametrize("word", ODD)
def test_odd_words_are_parsed_too(word: str) -> None:
    (tree,) = dependency_parser.parse_words([["a", word, "dog"]])
    assert len(tree) == 3
    assert all(0 <= each.head < 3 for each in tree)


def test_hashes_are_murmurs() -> None:
    assert dependency_parser.hash_text("coffee") == 3197928453018144401  # as spaCy's documentation has it
    assert dependency_parser.shape("Hello, WORLD 2026!") == "Xxxxx, XXXX dddd!"
