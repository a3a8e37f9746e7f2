"""Sentences as trees: spaCy with our own small pipeline, or one that the user names."""

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
from onprompt.language.nodes import Node
from onprompt.language.parse_fixes import mend
from onprompt.language.units import Unit

if TYPE_CHECKING:
    from spacy.language import Language

OURS = Path(__file__).with_name("model")
UNTOKENIZED = "onprompt.untokenized.v1"
WITHOUT_TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": UNTOKENIZED}}}  # whose rules take longer to load than ours
UNUSED = ("ner", "textcat", "entity_linker", "tokenizer")  # sentences come as lists of words


one_at_a_time = threading.Lock()  # spaCy makes no promise about threads, least of all while it is imported


def spacy_alone() -> ModuleType:
    """SpaCy without its command line, whose imports would take a third of a second and serve nobody here."""
    if "spacy" not in sys.modules:
        stand_in = ModuleType("spacy.cli.info")
        stand_in.info = None  # type: ignore[attr-defined]
        sys.modules |= {"spacy.cli": ModuleType("spacy.cli"), "spacy.cli.info": stand_in}
        importlib.import_module("spacy")
        del sys.modules["spacy.cli"], sys.modules["spacy.cli.info"]  # whoever wants it can still import it
    return sys.modules["spacy"]


@cache
def pipeline(name: str) -> Language:
    """The pipeline; loaded once."""
    spacy = spacy_alone()
    spacy.registry.tokenizers(
        UNTOKENIZED, func=lambda: lambda nlp: lambda text: spacy.tokens.Doc(nlp.vocab, text.split())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model of a slightly different spaCy version works
        try:
            nlp: Language = spacy.load(name or OURS, exclude=list(UNUSED), config=WITHOUT_TOKENIZER)
        except OSError as error:
            message = f"no spaCy pipeline {name!r} (setting parser): pip install it, or leave it out"
            raise SettingsError(message) from error
        except ValueError as error:
            raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) can't be loaded: {error}") from error
    if missing := {"parser", "tagger"} - set(nlp.pipe_names):
        raise SettingsError(f"the spaCy pipeline {name!r} (setting parser) has no {' and no '.join(sorted(missing))}")
    return nlp


def trees(sentences: Sequence[Sequence[Unit]], name: str) -> list[list[Node]]:
    """The nodes of each sentence, linked."""
    with one_at_a_time:
        nlp = pipeline(name)
        from spacy.tokens import Doc

        docs = [Doc(nlp.vocab, words=[unit.word for unit in units]) for units in sentences]
        return [linked(doc, units) for doc, units in zip(nlp.pipe(docs), sentences, strict=True)]


def linked(doc: object, units: Sequence[Unit]) -> list[Node]:
    """SpaCy's tokens as nodes."""
    tokens = list(doc)  # type: ignore[call-overload]
    nodes = [Node(t.i, unit, t.tag_, t.dep_, t.lemma_.lower()) for t, unit in zip(tokens, units, strict=True)]
    for node, token in zip(nodes, tokens, strict=True):
        node.head = nodes[token.head.i]
        if node.head is not node:
            node.head.children.append(node)
    for node in nodes:
        mend(node, nodes)
    return nodes
