"""The scene under construction: the objects named so far, and which of them is meant when one is named again."""

from collections import defaultdict
from dataclasses import dataclass, field

from onprompt.language import lexicon as lex
from onprompt.language.ontology import broader
from onprompt.types import Attribute, Count, Relation, Thing

MEMORY = 80  # objects back that a word can refer to; it also keeps the time linear in the prompt's length


@dataclass(slots=True)
class Draft:
    """An object under construction."""

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
        """The finished object; `places` are the new indices of the old ones."""
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


class SceneBuilder:
    """All objects of a prompt in order of mention; an object goes by its index."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.by_name: dict[str, list[int]] = defaultdict(list)
        self.incoming: dict[int, list[tuple[str, int]]] = defaultdict(list)  # relations, by their target
        self.joint_subjects: list[list[int]] = []  # of one sentence
        self.unattached: list[Attribute] = []  # the tags of "cat, sleeping, fluffy"

    def add(self, draft: Draft) -> int:
        """Add an object."""
        self.drafts.append(draft)
        self.by_name[draft.canonical].append(len(self.drafts) - 1)
        return len(self.drafts) - 1

    def recent(self) -> range:
        """The objects that a word can refer to."""
        return range(max(0, len(self.drafts) - MEMORY), len(self.drafts))

    def present(self) -> list[int]:
        """The recent objects that are not absent."""
        return [index for index in self.recent() if not self.drafts[index].absent]

    def things(self) -> tuple[Thing, ...]:
        """All objects, in the order of the prompt."""
        order = sorted(range(len(self.drafts)), key=lambda index: (self.drafts[index].start, index))
        places = sorted(range(len(order)), key=order.__getitem__)
        return tuple(self.drafts[index].thing(places) for index in order)

    def attach_to_first(self, attributes: list[Attribute]) -> None:
        """Give attributes without an object to the first one."""
        if self.drafts:
            self.drafts[0].attributes += [*attributes, *self.unattached]

    def join_subjects(self, subjects: list[int]) -> None:
        """Remember the subjects of a sentence, for "they"."""
        if len(group := sorted(dict.fromkeys(subjects))) > 1:
            self.joint_subjects.append(group)

    def describe(self, objects: list[int], attribute: Attribute | None) -> None:
        """Give an attribute to objects."""
        for index in objects:
            if attribute is not None:
                self.drafts[index].attributes.append(attribute)

    def relate(self, subjects: list[int], name: str, targets: list[int]) -> None:
        """Relate each subject to each target, but nothing to itself."""
        for subject in subjects:
            for target in targets:
                if subject != target and (name, target) not in self.drafts[subject].relations:
                    self.drafts[subject].relations.append((name, target))
                    self.incoming[target].append((name, subject))

    def place(self, draft: Draft) -> int:
        """The index of a draft: a known one if the same object is named again."""
        bare = not draft.count.words and not draft.plural
        if (draft.definite or bare) and not draft.absent and not draft.owned and draft.canonical != "text":
            index = self.find(draft)
            if index is not None:
                known = self.drafts[index]
                known.attributes += draft.attributes
                known.sentence, known.subject = draft.sentence, draft.subject
                return index
        if draft.definite and not draft.plural and not draft.owned:
            draft.part_of = self.group_of(draft.canonical)
        return self.add(draft)

    def find(self, draft: Draft) -> int | None:
        """The object that a draft names again: the last that it may be."""
        fitting = (
            index
            for index in reversed(self.by_name[draft.canonical][-MEMORY:])
            if not (other := self.drafts[index]).absent
            and agrees(other, draft)
            and not other.owned
            and (draft.definite or other.sentence != draft.sentence)  # "chair next to chair" are two
        )
        return next(fitting, None)

    def group_of(self, name: str) -> int | None:
        """The group that an object is part of: "two dogs … the larger dog"."""
        for index in reversed(self.by_name[name]):
            other = self.drafts[index]
            if not other.absent and other.part_of is None:
                return index if other.plural else None
        return None

    # -- anaphora: "one" and pronouns

    def last_possession(self) -> int | None:
        """The last lifeless object: the balloon of "a girl with a balloon and a boy without one"."""
        present = self.present()
        lifeless = sorted({*present} - {*self.living(present)})
        return lifeless[-1] if lifeless else None

    def antecedent_of_one(self) -> int | None:
        """The object whose kind "one" repeats: the last group, else the last that has an article."""
        present = [(index, self.drafts[index]) for index in self.present()]
        groups = [index for index, draft in present if draft.plural and draft.count.explicit]
        counted = [index for index, draft in present if draft.count.words in lex.ARTICLES]
        subjects = [index for index in counted if self.drafts[index].subject]
        ranked = [*groups[-1:], *subjects[-1:], *counted[-1:], *(index for index, _ in present[-1:])]
        return next(iter(ranked), None)

    def antecedents(self, pronoun: str, excluded: list[int], last: int, living: bool = False) -> list[int]:
        """The objects that a pronoun means, among those up to `last`: the nearest sentence first, then subjects."""
        near = [index for index in self.present() if index <= last and index not in excluded]
        near.sort(key=lambda index: (-self.drafts[index].sentence, not self.drafts[index].subject, -index))
        if living:  # "its paw" is an animal's
            near = self.living(near) or near
        fitting = [index for index in near if self.may_mean(pronoun, index)]
        if pronoun not in lex.PLURAL_PRONOUNS:
            return fitting[:1]
        groups = (group for group in reversed(self.joint_subjects[-MEMORY:]) if set(group) <= set(near))
        people = [index for index in near if is_person(self.drafts[index].canonical)]
        return next(groups, []) or fitting[:1] or people[:1]

    def living(self, indices: list[int]) -> list[int]:
        """Those of some objects that are alive."""
        return [index for index in indices if is_alive(self.drafts[index].canonical)]

    def may_mean(self, pronoun: str, index: int) -> bool:
        """Whether a pronoun may mean an object, by number and gender."""
        draft = self.drafts[index]
        if pronoun in lex.PLURAL_PRONOUNS or draft.plural:
            return draft.plural and pronoun in lex.PLURAL_PRONOUNS
        if pronoun in lex.PERSONAL_PRONOUNS:
            return is_alive(draft.canonical) and draft.canonical not in (
                lex.WOMEN if pronoun in lex.MASCULINE else lex.MEN
            )
        return not is_person(draft.canonical)


def agrees(draft: Draft, other: Draft) -> bool:
    """Whether two mentions can be one object: the red cup is not the blue one, and two cups are not three."""
    kinds = {attribute.kind for attribute in draft.attributes}
    contradicting = (a for a in other.attributes if a.kind in kinds - {"other"} and a not in draft.attributes)
    if next(contradicting, None):
        return False
    return other.plural or not draft.plural


def is_person(name: str) -> bool:
    """Whether a name is a person's."""
    return name == "person" or "person" in broader(name)


def is_animal(name: str) -> bool:
    """Whether a name is an animal's."""
    return name == "animal" or "animal" in broader(name)


def is_alive(name: str) -> bool:
    """Whether a name is a person's or an animal's."""
    return is_person(name) or is_animal(name)
