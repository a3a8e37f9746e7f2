"""The word lists: each is used, and no word is in two lists that exclude each other."""

import re
from collections import Counter
from pathlib import Path

import pytest

from onprompt.language import lexicon as lex

SOURCES = [path.read_text(encoding="utf-8") for path in Path(lex.__file__).parent.rglob("*.py")]
USED = {name for text in SOURCES for name in re.findall(r"\blex\.([A-Z][A-Z_]+)\b", text)}
LISTS = {name: text for name, text in lex.DATA.items() if isinstance(text, str)}
TEXTS = [*LISTS.values(), *(text for table in lex.DATA.values() if isinstance(table, dict) for text in table.values())]


def test_every_list_that_is_used_exists() -> None:
    assert not {name for name in USED if not hasattr(lex, name)}
    with pytest.raises(AttributeError, match="no list 'colors'"):
        _ = lex.COLORS


def test_every_list_and_table_is_used() -> None:
    included = {name for text in TEXTS for name in re.findall(r"@(\w+)", str(text))}
    loaded = set(re.findall(r'"@?([a-z_]+)"', Path(lex.__file__).read_text(encoding="utf-8")))
    assert not {name for name in lex.DATA if name not in included | loaded and name.upper() not in USED}


def test_no_entry_is_repeated_and_no_attribute_has_two_kinds() -> None:
    for name, text in LISTS.items():
        assert not [word for word, times in Counter(text.split()).items() if times > 1], name
    kinds = Counter(word for text in lex.DATA["attributes"].values() for word in lex.words(text))
    assert not [word for word, times in kinds.items() if times > 1]


def test_notation() -> None:
    assert lex.words("a_(red|blue)_cat dog") == {"a red cat", "a blue cat", "dog"}
    assert lex.words("(|a_)minimum_of") == {"minimum of", "a minimum of"}
    assert lex.words("@articles the") == {"a", "an", "another", "the"}


def test_the_longest_phrase_at_a_word_is_found() -> None:
    phrases = lex.Phrases(["next to", "next", "on top of"])
    assert phrases.at(["a", "cat", "next", "to", "it"], 2) == "next to"
    assert phrases.at(["next", "day"], 0) == "next"
    assert phrases.at(["on", "top"], 0) == ""
    assert phrases.at(["on"], 1) == ""
