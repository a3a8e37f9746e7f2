"""Tags, dependency trees and lemmas by a spaCy pipeline that the user names, in place of our own parser."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from onprompt.errors import SettingsError
from onprompt.language.dependency_tree import Word

if TYPE_CHECKING:
    from spacy.language import Language

UNTOKENIZED = "onprompt.untokenized.v1"
WITHOUT_TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": UNTOKENIZED}}}  # spaCy's takes longer to load than the model
UNUSED = ("ner", "textcat", "entity_linker", "tokenizer")  # sentences come as lists of words

lock = threading.Lock()  # spaCy is not documented as thread-safe, least of all while it is imported


def import_spacy() -> ModuleType:
    """SpaCy without its command line, whose imports would take a third of a second."""
    if "spacy" not in sys.modules:
        stand_in = ModuleType("spacy.cli.info")
        stand_in.info = None  # type: ignore[attr-defined]
        sys.modules |= {"spacy.cli": ModuleType("spacy.cli"), "spacy.cli.info": stand_in}
        try:
            importlib.import_module("spacy")
        finally:
            del sys.modules["spacy.cli"], sys.modules["spacy.cli.info"]  # so that it can still be imported
    return sys.modules["spacy"]


@cache
def pipeline(name: str) -> Language:
    """The pipeline of that name, loaded once."""
    try:
        spacy = import_spacy()
    except ImportError as error:
        message = f"the setting parser = {name!r} needs spaCy: pip install 'onprompt[spacy]', or leave it out"
        raise SettingsError(message) from error
    spacy.registry.tokenizers(
        UNTOKENIZED, func=lambda: lambda nlp: lambda text: spacy.tokens.Doc(nlp.vocab, text.split())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model of a slightly different spaCy version works
        try:
            nlp: Language = spacy.load(name, exclude=list(UNUSED), config=WITHOUT_TOKENIZER)
        except OSError as error:
            message = f"no spaCy pipeline {name!r} (setting parser): pip install it, or leave it out"
            raise SettingsError(message) from error
        except ValueError as error:
            raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) can't be loaded: {error}") from error
    if missing := {"parser", "tagger"} - set(nlp.pipe_names):
        raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) has no {' and no '.join(sorted(missing))}")
    return nlp


def parse_words(sentences: Sequence[Sequence[str]], name: str) -> list[list[Word]]:
    """The words of each sentence with tag, label, lemma and head."""
    with lock:
        nlp = pipeline(name)
        from spacy.tokens import Doc

        docs = nlp.pipe([Doc(nlp.vocab, words=list(words)) for words in sentences])
        return [[Word(token.tag_, token.dep_, token.lemma_, token.head.i) for token in doc] for doc in docs]
