"""Things under construction: what has been named so far, and who is meant when it is named again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.ontology import broader
from onprompt.types import Attribute, Count, Relation, Thing

GENDER = {
    **dict.fromkeys(("he", "him", "his", "himself"), frozenset({"woman", "girl", "lady", "queen", "bride"})),
    **dict.fromkeys(("she", "her", "hers", "herself"), frozenset({"man", "boy", "king", "groom"})),
}


IN_MIND = 80  # things back that a word can refer to; it also keeps the time linear in the prompt's length


@dataclass(slots=True)
class Draft:
    """A thing that may still learn more about itself."""

    phrase: str
    canonical: str
    count: Count
    attributes: list[Attribute] = field(default_factory=list)
    relations: list[tuple[str, int]] = field(default_factory=list)
    absent: bool = False
    importance: float = 1.0
    confidence: float = 1.0
    part_of: int | None = None
    flags: tuple[str, ...] = ()
    definite: bool = False
    owned: bool = False
    subject: bool = False
    sentence: int = 0
    start: int = 0  # where in the prompt it is first named

    @property
    def plural(self) -> bool:
        return self.count.high != 1 and self.count.low != 1

    def thing(self, places: list[int]) -> Thing:
        """The finished thing; `places` are the new numbers of the old ones."""
        return Thing(
            self.phrase,
            self.canonical,
            self.count,
            tuple(dict.fromkeys(self.attributes)),
            tuple(Relation(name, places[target]) for name, target in dict.fromkeys(self.relations)),
            self.absent,
            self.importance,
            self.confidence,
            None if self.part_of is None else places[self.part_of],
            self.flags,
        )


class Drafts:
    """All things of a prompt in order of mention."""

    def __init__(self) -> None:
        self.all: list[Draft] = []
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.held: dict[int, list[tuple[str, int]]] = defaultdict(list)  # relations, by their target
        self.companies: list[list[int]] = []  # subjects that a sentence has together
        self.loose: list[Attribute] = []  # said of nobody by name: the tags of "cat, sleeping, fluffy"

    def add(self, draft: Draft) -> int:
        """One more thing."""
        self.all.append(draft)
        self.by_name[draft.canonical].append(len(self.all) - 1)
        return len(self.all) - 1

    def in_mind(self) -> range:
        """The things that a reader still has in mind."""
        return range(max(0, len(self.all) - IN_MIND), len(self.all))

    def things(self) -> tuple[Thing, ...]:
        """All things, in the order of the prompt."""
        order = sorted(range(len(self.all)), key=lambda index: (self.all[index].start, index))
        places = sorted(range(len(order)), key=order.__getitem__)
        return tuple(self.all[index].thing(places) for index in order)

    def settle(self, loose: list[Attribute]) -> None:
        """What was said of nobody by name is said of the first thing."""
        if self.all:
            self.all[0].attributes += [*loose, *self.loose]

    def meet(self, subjects: list[int]) -> None:
        """Remember who is spoken of together."""
        if len(group := sorted(dict.fromkeys(subjects))) > 1:
            self.companies.append(group)

    def describe(self, things: list[int], attribute: Attribute | None) -> None:
        """Give an attribute to things."""
        for index in things:
            if attribute is not None:
                self.all[index].attributes.append(attribute)

    def again(self, index: int, draft: Draft) -> None:
        """A thing is named again: what the new mention says is added to it."""
        known = self.all[index]
        known.attributes += draft.attributes
        known.sentence, known.subject = draft.sentence, draft.subject

    def relate(self, subjects: list[int], name: str, targets: list[int]) -> None:
        """Each subject stands to each target; nothing stands to itself."""
        for subject in subjects:
            for target in targets:
                if subject != target and all(t != target or n != name for n, t in self.all[subject].relations):
                    self.all[subject].relations.append((name, target))
                    self.held[target].append((name, subject))

    def known(self, draft: Draft) -> int | None:
        """The thing that is named again: "the cat" is the cat, unless what is said of it can't be true of both."""
        named = self.by_name[draft.canonical][-IN_MIND:]
        fitting = [
            index
            for index in named
            if not (other := self.all[index]).absent
            and agrees(other, draft)
            and not other.owned
            and (draft.definite or other.sentence != draft.sentence)  # "chair next to chair" are two
        ]
        if not fitting:
            return None
        asked = set(draft.attributes)
        return max(fitting, key=lambda index: (len(asked & set(self.all[index].attributes)), index))

    def group_of(self, name: str) -> int | None:
        """The group that one of its members is taken from: "two dogs … the larger dog"."""
        for index in reversed(self.by_name[name]):
            other = self.all[index]
            if not other.absent and other.part_of is None:
                return index if other.plural else None
        return None

    def had_before(self) -> int | None:
        """The last thing that somebody has: the balloon of "a girl with a balloon and a boy without one"."""
        lifeless = [i for i in self.in_mind() if not self.all[i].absent and not is_alive(self.all[i].canonical)]
        return lifeless[-1] if lifeless else None

    def kind_before(self) -> int | None:
        """The thing whose kind "one" repeats: the last group, else the last thing that can be counted."""
        present = [index for index in self.in_mind() if not self.all[index].absent]
        groups = [index for index in present if self.all[index].plural and self.all[index].count.explicit]
        countable = [
            index for index in present if self.all[index].count.words in lex.ARTICLES and self.all[index].subject
        ]
        counted = [index for index in present if self.all[index].count.words in lex.ARTICLES]
        return next(iter([*groups[-1:], *countable[-1:], *counted[-1:], *present[-1:]]), None)

    def meant_by(self, pronoun: str, here: list[int], before: int, living: bool = False) -> list[int]:
        """Whom a pronoun means: in this sentence or the last, subjects first; `here` are those it can't mean."""
        near = [
            index for index in self.in_mind() if index <= before and index not in here and not self.all[index].absent
        ]
        near.sort(key=lambda index: (-self.all[index].sentence, not self.all[index].subject, -index))
        if living:  # "its paw" is an animal's
            near = [index for index in near if is_alive(self.all[index].canonical)] or near
        fits = [index for index in near if self.fits(pronoun, self.all[index])]
        if pronoun not in links.PLURAL_PRONOUNS:
            return fits[:1]
        for group in (self.crowds(fits), self.company(near), fits[:1]):
            if group:
                return group
        people = [index for index in near if is_person(self.all[index].canonical)]
        return people[:1]

    def crowds(self, near: list[int]) -> list[int]:
        """The last plural that is alive."""
        return [index for index in near if is_alive(self.all[index].canonical)][:1]

    def company(self, near: list[int]) -> list[int]:
        """The subjects that some sentence has together: "a robot and a girl are sitting"."""
        return next((group for group in reversed(self.companies[-IN_MIND:]) if set(group) <= set(near)), [])

    def fits(self, pronoun: str, draft: Draft) -> bool:
        """Whether a pronoun may mean a thing."""
        if pronoun in links.PLURAL_PRONOUNS:
            return draft.plural
        if draft.plural:
            return False
        if pronoun in links.PERSONAL:
            return is_alive(draft.canonical) and draft.canonical not in GENDER.get(pronoun, ())
        return not is_person(draft.canonical)


def agrees(thing: Draft, other: Draft) -> bool:
    """Whether two mentions can be one: the red cup is not the blue one, and two cups are not three."""
    kinds = {attribute.kind for attribute in thing.attributes}
    if not all(each in thing.attributes or each.kind not in kinds or each.kind == "other" for each in other.attributes):
        return False
    if thing.count.explicit and other.count.explicit and thing.count.exact != other.count.exact:
        return False
    return other.plural or not thing.plural


def is_person(name: str) -> bool:
    """Whether a name is a person's."""
    return name == "person" or "person" in broader(name)


def is_alive(name: str) -> bool:
    """Whether a name is a person's or an animal's."""
    return is_person(name) or is_animal(name)


def is_animal(name: str) -> bool:
    """Whether a name is an animal's."""
    return name == "animal" or "animal" in broader(name)
