"""What is asked for: the scene of a prompt, the operations of an edit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """How many are asked for: `low` to `high`; `high` is None where there is no upper bound."""

    low: int = 1
    high: int | None = 1
    words: str = ""
    explicit: bool = False
    confidence: float = 1.0

    @property
    def exact(self) -> int | None:
        """The number, where there is just one."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property that the prompt gives to an object: ("color", "red"); `negated` where it rules it out ("not red")."""

    kind: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """How an object stands to another, given by its index in the scene; `negated` for "not next to"."""

    name: str
    target: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """An object that the prompt mentions."""

    phrase: str
    canonical: str
    count: Count = Count()
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()
    absent: bool = False
    mentioned: bool = False  # need not be there: the prompt only says where another object is not
    importance: float = 1.0  # its weight among the objects
    confidence: float = 1.0
    part_of: int | None = None  # the group that it is taken from: "two cats, one black"
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What the prompt asks for: things, and what is said of the picture as a whole ("a watercolor", "at night")."""

    prompt: str
    things: tuple[Thing, ...] = ()
    flags: tuple[str, ...] = ()
    properties: tuple[Attribute, ...] = ()

    def __repr__(self) -> str:
        things = ", ".join(f"{'no' if thing.absent else thing.count.low} × {thing.canonical}" for thing in self.things)
        prompt = self.prompt if len(self.prompt) <= 60 else f"{self.prompt[:59]}…"
        return f"<Scene {prompt!r}: {things or 'no objects'}>"

    @property
    def mentioned(self) -> frozenset[int]:
        """The objects that need not be there: the cat of "a dog not next to a cat"."""
        return frozenset(i for i, thing in enumerate(self.things) if thing.mentioned)

    @property
    def texts(self) -> tuple[str, ...]:
        """The words that are to be read in the picture."""
        there = [attribute for thing in self.things if not thing.absent for attribute in thing.attributes]
        return tuple(each.value for each in there if each.kind == "text" and not each.negated)


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that an instruction wants done to a picture.

    `operation` is add, remove, replace, recolor, restyle (medium, material, season, light), move, resize, count,
    background, action (what is done, or the state that something is in), text, or `other` where it can't be told.
    """

    operation: str
    phrase: str
    target: Thing | None = None  # what it is done to; its relations point into `source`
    source: Scene = Scene("")  # what the words say of the picture as it is
    scope: str = ""  # "all", "one", "left", "the woman's"
    value: str = ""  # the color, text, style, size, number or place, as written
    result: Scene = Scene("")  # what should be seen afterwards; what must be gone is an absent thing
    keep: tuple[Thing, ...] = ()  # what must stay as it is
    confidence: float = 1.0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """What is to be looked for, with what is known of the word.

    `same` are its synonyms with itself first, `members` what is a kind of it, `broader` what it is a kind of, `rivals`
    what it is easily taken for, and `split` a kind with the members that it is told from (person: man, woman, …).
    """

    label: str
    same: tuple[str, ...]
    members: frozenset[str] = frozenset()
    broader: tuple[str, ...] = ()
    rivals: frozenset[str] = frozenset()
    split: tuple[str, tuple[str, ...]] | None = None
    fine: bool = False  # small or many, so worth a closer look
    colored: bool = False  # asked for in a color, which may be unusual: worth a look without colors

    def may_be(self, word: str) -> bool:
        """Whether a word may be said of the same thing."""
        return word in self.same or word in self.members or word in self.broader
