"""Sentences as dependency trees, with common errors fixed."""

from collections.abc import Sequence

from onprompt.language import dependency_parser
from onprompt.language.dependency_tree import Node, Word
from onprompt.language.parse_fixes import fix_parse
from onprompt.language.segmentation import Token


def dependency_trees(sentences: Sequence[Sequence[Token]]) -> list[list[Node]]:
    """The nodes of each sentence's tree."""
    words = [[token.word for token in tokens] for tokens in sentences]
    return [build_tree(*each) for each in zip(dependency_parser.parse_words(words), sentences, strict=True)]


def build_tree(words: Sequence[Word], tokens: Sequence[Token]) -> list[Node]:
    """Parsed words as nodes, with common errors fixed."""
    nodes = [
        Node(at, token, word.tag, word.label, word.lemma.lower())
        for at, (word, token) in enumerate(zip(words, tokens, strict=True))
    ]
    for node, word in zip(nodes, words, strict=True):
        node.head = nodes[word.head]
        if node.head is not node:
            node.head.children.append(node)
    for node in nodes:
        fix_parse(node, nodes)
    return nodes
