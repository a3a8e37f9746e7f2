"""The word lists: each tag is used, and every word stands once."""

import re
from collections import Counter
from pathlib import Path

import pytest

from onprompt.language import lexicon as lex

FILES = list(Path(lex.__file__).parent.rglob("*.py"))
USED = {name for path in FILES for name in re.findall(r"\blex\.([A-Z][A-Z_]+)\b", path.read_text(encoding="utf-8"))}


def test_every_tag_that_is_used_exists() -> None:
    assert not {name for name in USED if not hasattr(lex, name)}
    with pytest.raises(AttributeError, match="no tag 'colours'"):
        _ = lex.COLOURS


def test_every_tag_is_used() -> None:
    own = Path(lex.__file__).read_text(encoding="utf-8")
    united = {
        word.replace(" ", "_") for tags, words in lex.entries("lexicon.txt") if tags[0][0] == "@" for word in words
    }
    loaded = set(re.findall(r'"([a-z_]+)"', own))
    assert not {name for name in lex.TAGGED if name.upper() not in USED and name not in united | loaded}


def test_every_word_stands_once_and_has_no_tag_twice() -> None:
    lines = [(tags, words) for tags, words in lex.entries("lexicon.txt") if tags[0][0] != "@"]
    assert not [word for word, times in Counter(word for _, words in lines for word in words).items() if times > 1]
    names = [[tag.partition("=")[0] for tag in tags] for tags, _ in lines]
    assert not [tags for tags in names if len(set(tags)) < len(tags)]
    sets = Counter(frozenset(tags) for tags, _ in lines)
    assert not [tags for tags, times in sets.items() if times > 1], "one line for words with the same tags"


def test_notation() -> None:
    assert list(lex.expand("a_(red|blue)_cat")) == ["a red cat", "a blue cat"]
    assert list(lex.expand("(|a_)minimum_of")) == ["minimum of", "a minimum of"]
    assert lex.ARTICLES < lex.CLAUSE_STARTERS < lex.SENTENCE_OPENERS
    assert (lex.RELATIONS["beneath"], lex.RELATIONS["among"]) == ("under", "among")
    phrases = lex.Phrases(["next to", "next", "on top of"])
    found = [phrases.at(["a", "cat", "next", "to", "it"], 2), phrases.at(["next", "day"], 0), phrases.at(["on"], 0)]
    assert found == ["next to", "next", ""], "the longest"
