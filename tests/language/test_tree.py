"""Verb forms are English words; a word that is no verb stays as written."""

import pytest

from onprompt.language.tokens import Token
from onprompt.language.tree import Node
from onprompt.language.words import progressive


def verb(word: str, lemma: str) -> Node:
    return Node(0, Token(word, 0, len(word)), "VBP", "ROOT", lemma)


def test_regular_progressive() -> None:
    lemmas = "hold ride sit lie see open begin be play"
    assert " ".join(map(progressive, lemmas.split())) == (
        "holding riding sitting lying seeing opening beginning being playing"
    )


@pytest.mark.parametrize(
    ("word", "lemma", "form"),
    [
        *(("rides", "ride", "riding"), ("goes", "go", "going"), ("swing", "swing", "swinging")),
        *(("strumming", "strum", "strumming"), ("exiting", "exit", "exiting")),  # as written
        *(("bc", "bc", "bc"), ("setup", "setup", "setup"), ("woke", "woke", "woke")),  # no regular English verb
    ],
)
def test_progressive_is_an_english_word_or_the_word_as_written(word: str, lemma: str, form: str) -> None:
    assert verb(word, lemma).progressive == form
