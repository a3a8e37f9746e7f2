"""The texts that Python makes of its strings: joined by +, += and join, put into f-strings, kept under names."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

# What gives back the text that it is called with, or on, as far as a copy of a prompt is concerned.
OF_ARGUMENT = {"cleandoc", "dedent", "str"}
OF_OBJECT = {"lstrip", "rstrip", "strip"}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
ROOM = 2**24  # characters of all that is put together: a name that is added to itself doubles each time
EMPTY: Mapping[str, ast.AST] = {}
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(slots=True)
class Text:
    """A text, the lines of its expression, and how it is used: as a piece of a longer one, or alone."""

    words: str
    line: int
    last: int
    piece: bool = False
    alone: bool = False


@dataclass(slots=True)
class Reader(ast.NodeVisitor):
    """Goes through a file in the order in which it runs, the bodies of functions after what is around them."""

    found: list[Text] = field(default_factory=list)
    known: dict[str, Text] = field(default_factory=dict)
    later: list[ast.AST] = field(default_factory=list)
    room: int = ROOM

    def read(self, source: str) -> None:
        """Find the texts of a file, as far as it is Python."""
        with warnings.catch_warnings(), suppress(*NO_PYTHON):
            warnings.simplefilter("ignore")  # about escapes in their strings
            self.enter(ast.parse(source))

    def enter(self, scope: ast.AST) -> None:
        """Read a scope, then those within it, which know its names."""
        self.later = []
        self.generic_visit(scope)
        within, outside = self.later, self.known
        for each in within:
            hidden = {node.arg for node in ast.walk(each) if isinstance(node, ast.arg)}
            self.known = {name: text for name, text in outside.items() if name not in hidden}
            self.enter(each)
        self.known = outside

    def visit(self, node: ast.AST) -> None:
        """Keep the outermost expression that is a text; go into all others."""
        if isinstance(node, SCOPES):
            self.later.append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            self.assign(node, node.value)
        elif isinstance(node, ast.Name) and node.id in self.known:
            self.known[node.id].alone = True
        elif not isinstance(node, ast.expr) or not self.keep(node, self.folded(node)):
            self.generic_visit(node)

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, value: ast.expr) -> None:
        """Remember a name's text, or forget what the name had."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign):
            words = self.together([node.target, value]) if isinstance(node.op, ast.Add) else None
        else:
            words = self.folded(value)
        text = self.keep(node, words)
        if text is None:
            self.visit(value)
        for name in (each.id for each in targets if isinstance(each, ast.Name)):
            self.known.pop(name, None)
            if text:
                self.known[name] = text

    def keep(self, node: ast.expr | ast.stmt, words: str | None) -> Text | None:
        """The text of an expression, if it is one."""
        if words is None:
            return None
        self.spend(len(words))
        self.found.append(Text(words, node.lineno, node.end_lineno or node.lineno))
        return self.found[-1]

    # ---- folding -----------------------------------------------------------------------------------------------------

    def folded(self, node: ast.AST) -> str | None:
        """The text of an expression; what is put in later stands in braces. None where it is no text."""
        match node:
            case ast.Constant(value=str(words)):
                return words
            case ast.Name(id=name) if name in self.known:
                self.known[name].piece = True
                return self.known[name].words
            case ast.JoinedStr(values=values):
                return self.together([ast.Constant(""), *values])
            case ast.FormattedValue(value=value):
                return self.folded(value)
            case ast.BinOp(op=ast.Add()):
                return self.together(summands(node))
            case ast.BinOp(op=ast.Mod(), left=left, right=right):
                return self.filled(left, "%s", right.elts if isinstance(right, ast.Tuple) else [right])
            case ast.Call(func=ast.Attribute(attr="join", value=between), args=[ast.List() | ast.Tuple() as joined]):
                separator = self.folded(between)
                return None if separator is None else self.together(joined.elts, separator)
            case ast.Call(func=ast.Attribute(attr="format", value=template), args=args, keywords=keywords):
                names = {str(place): each for place, each in enumerate(args)}
                names |= {each.arg: each.value for each in keywords if each.arg}
                return self.filled(template, "{}", args, names)
            case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in OF_OBJECT:
                return self.folded(value)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value]) if name in OF_ARGUMENT:
                return self.folded(value)
        return None

    def together(self, parts: Sequence[ast.AST], between: str = "") -> str | None:
        """Parts as one text, if any of them is a text."""
        told = [self.folded(each) for each in parts]
        if all(each is None for each in told):
            return None
        for part, words in zip(parts, told, strict=True):
            if words is None and isinstance(part, ast.Call):
                self.generic_visit(part)  # what a function of theirs makes of a text is another matter
        pieces = [put_in(part) if words is None else words for part, words in zip(parts, told, strict=True)]
        self.spend(sum(len(each) + len(between) for each in pieces))
        return between.join(pieces)

    def filled(
        self, template: ast.AST, mark: str, parts: Sequence[ast.AST], names: Mapping[str, ast.AST] = EMPTY
    ) -> str | None:
        """A template with its marks filled in their order, and its braces by their names."""
        text = self.folded(template)
        if text is None:
            return None
        marks = [(mark, part, 1) for part in parts] + [(f"{{{name}}}", part, -1) for name, part in names.items()]
        for each, part, most in marks:
            words = self.together([ast.Constant(""), part]) or ""
            self.spend(len(words) * text.count(each))
            text = text.replace(each, words, most)
        return text

    def spend(self, size: int) -> None:
        """Give up where texts grow out of all bounds."""
        self.room -= size
        if self.room < 0:
            raise MemoryError


def texts(reader: Reader) -> list[Text]:
    """All that was found, but for what is only ever a piece of a longer text."""
    return [text for text in reader.found if text.alone or not text.piece]


def summands(node: ast.AST) -> list[ast.AST]:
    """What is added up; in a loop, for a sum may have hundreds."""
    found: list[ast.AST] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def put_in(part: ast.AST) -> str:
    """A place for what is not known before the program runs."""
    return f"{{{ast.unparse(part.value if isinstance(part, ast.FormattedValue) else part)}}}"
