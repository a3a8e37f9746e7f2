"""Sentences as dependency trees, by spaCy: with the package's own small pipeline, or one that the user names."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from onprompt.errors import SettingsError
from onprompt.language.dependency_tree import Node
from onprompt.language.parse_fixes import fix_parse
from onprompt.language.segmentation import Token

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

DEFAULT_MODEL = Path(__file__).with_name("model")
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
        importlib.import_module("spacy")
        del sys.modules["spacy.cli"], sys.modules["spacy.cli.info"]  # so that it can still be imported
    return sys.modules["spacy"]


@cache
def pipeline(name: str) -> Language:
    """The pipeline of that name, loaded once."""
    spacy = import_spacy()
    spacy.registry.tokenizers(
        UNTOKENIZED, func=lambda: lambda nlp: lambda text: spacy.tokens.Doc(nlp.vocab, text.split())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model of a slightly different spaCy version works
        try:
            nlp: Language = spacy.load(name or DEFAULT_MODEL, exclude=list(UNUSED), config=WITHOUT_TOKENIZER)
        except OSError as error:
            message = f"no spaCy pipeline {name!r} (setting parser): pip install it, or leave it out"
            raise SettingsError(message) from error
        except ValueError as error:
            raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) can't be loaded: {error}") from error
    if missing := {"parser", "tagger"} - set(nlp.pipe_names):
        raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) has no {' and no '.join(sorted(missing))}")
    return nlp


def dependency_trees(sentences: Sequence[Sequence[Token]], name: str) -> list[list[Node]]:
    """The nodes of each sentence's tree."""
    with lock:
        nlp = pipeline(name)
        from spacy.tokens import Doc

        docs = [Doc(nlp.vocab, words=[token.word for token in tokens]) for tokens in sentences]
        return [build_tree(doc, tokens) for doc, tokens in zip(nlp.pipe(docs), sentences, strict=True)]


def build_tree(doc: Doc, tokens: Sequence[Token]) -> list[Node]:
    """SpaCy's tokens as nodes, with common errors fixed."""
    nodes = [Node(t.i, token, t.tag_, t.dep_, t.lemma_.lower()) for t, token in zip(doc, tokens, strict=True)]
    for node, parsed in zip(nodes, doc, strict=True):
        node.head = nodes[parsed.head.i]
        if node.head is not node:
            node.head.children.append(node)
    for node in nodes:
        fix_parse(node, nodes)
    return nodes
