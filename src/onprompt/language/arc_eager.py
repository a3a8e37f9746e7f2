"""Arc-eager parsing (Nivre 2003; non-monotonic, Honnibal and Johnson 2015): moves that build a dependency tree."""

from dataclasses import dataclass, field

SHIFT, REDUCE, LEFT, RIGHT, BREAK = "SDLRB"  # the first letter of a move's name


@dataclass(slots=True)
class State:
    """A sentence as far as it is parsed: words on the stack, and those to come, of which some came back."""

    length: int
    offset: int = 0  # of its first word among those of all sentences
    next: int = 0  # of the words that were never on the stack
    stack: list[int] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)
    heads: dict[int, int] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    children: tuple[dict[int, list[int]], dict[int, list[int]]] = field(default_factory=lambda: ({}, {}))
    unshiftable: set[int] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)  # of sentences

    @property
    def remaining(self) -> int:
        """The number of words to come."""
        return self.length - self.next + len(self.returned)

    @property
    def is_final(self) -> bool:
        return not self.stack and not self.remaining

    def stacked(self, at: int) -> int:
        """A word on the stack, from the top; -1 where there is none."""
        return self.stack[-1 - at] if at < len(self.stack) else -1

    def coming(self, at: int) -> int:
        """A word to come; -1 where there is none."""
        if at < len(self.returned):
            return self.returned[-1 - at]
        word = self.next + at - len(self.returned)
        return word if word < self.length else -1

    def last_child(self, word: int, right: bool) -> int:
        """The latest child on one side of a word; -1 where there is none."""
        found = self.children[right].get(word)
        return found[-1] if found else -1

    def context(self) -> list[int]:
        """The words that the next move depends on, as numbers among those of all sentences."""
        first, top = self.coming(0), self.stacked(0)
        around = [self.last_child(first, False), self.last_child(top, False), self.last_child(top, True)]
        words = first, self.coming(1), top, self.stacked(1), self.stacked(2), *around
        return [word + self.offset if word >= 0 else -1 for word in words]

    def valid(self) -> str:
        """The moves that are possible."""
        moves, remaining, first = "", self.remaining, self.coming(0)
        starts = first in self.starts
        if not self.stack or (remaining >= 2 and not starts and first not in self.unshiftable):
            moves += SHIFT
        if self.stack:
            moves += REDUCE
            if remaining and not starts:
                moves += LEFT + RIGHT
        second = self.coming(1)
        if remaining >= 2 and second == first + 1 and second not in self.starts:
            moves += BREAK
        return moves

    def apply(self, move: str) -> None:
        """Make a move, such as `S` or `L-nsubj`."""
        kind, _, label = move.partition("-")
        if kind == SHIFT:
            self.push()
        elif kind == REDUCE:
            top = self.stack.pop()
            if self.stack and top not in self.heads:
                self.unshiftable.add(top)
                self.returned.append(top)
        elif kind == LEFT:
            first = self.coming(0)
            self.attach(first, self.stack.pop(), label)
            self.unshiftable.discard(first)
        elif kind == RIGHT:
            self.attach(self.stack[-1], self.coming(0), label)
            self.push()
        else:
            self.starts.add(self.coming(1))

    def push(self) -> None:
        """The next word to the stack."""
        if self.returned:
            self.stack.append(self.returned.pop())
        else:
            self.stack.append(self.next)
            self.next += 1

    def attach(self, head: int, child: int, label: str) -> None:
        """Add an arc, in place of the child's earlier one."""
        if (before := self.heads.get(child)) is not None:
            siblings = self.children[child > before][before]
            if siblings[-1] == child:
                siblings.pop()
        self.children[child > head].setdefault(head, []).append(child)
        self.heads[child], self.labels[child] = head, label
