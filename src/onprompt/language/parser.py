"""Step 1: from a prompt to a Scene, by a lexicon and rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from onprompt.language import lexicon as lex
from onprompt.language.ontology import canonical, singular
from onprompt.language.tokens import Tag, Token, normalised, tokenised
from onprompt.settings import Settings
from onprompt.types import Attribute, Count, Relation, Scene, Thing

IN_PHRASE = {Tag.QUANTITY, Tag.DETERMINER, Tag.ATTRIBUTE, Tag.NOUN}


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that may name a thing: quantity, attributes, nouns."""

    tokens: tuple[Token, ...]

    @property
    def nouns(self) -> list[str]:
        return [token.text for token in self.tokens if token.tag is Tag.NOUN]

    @property
    def attributes(self) -> list[Attribute]:
        return [token.attribute for token in self.tokens if token.attribute]

    @property
    def count(self) -> Count | None:
        return next((token.count for token in self.tokens if token.count), None)

    @property
    def text(self) -> str:
        words = (f'"{token.text}"' if token.tag is Tag.TEXT else token.text for token in self.tokens)
        return " ".join(words).replace(" ,", ",")


def parse(prompt: str, settings: Settings) -> Scene:
    """What the prompt asks for."""
    text = normalised(prompt, settings)
    builder = Builder()
    for item in phrases(tokenised(text, settings)):
        builder.take(item)
    builder.end_sentence()
    vague = any((lex.SOME | lex.MANY).intersection(thing.count.words.split()) for thing in builder.things)
    flags = {"ambiguous_quantifier": vague, "no_objects": not builder.things}
    return Scene(text, tuple(builder.things), tuple(flag for flag, holds in flags.items() if holds))


def phrases(tokens: list[Token]) -> Iterator[Phrase | Token]:
    """Tokens that belong to one noun phrase, taken together; all other tokens as they are."""
    pending: list[Token] = []
    for token, following in itertools.pairwise([*tokens, Token(Tag.STOP, "")]):
        if pending and belongs(token, following, pending[-1]):
            pending.append(replace(token, attribute=Attribute("text", token.text)) if token.tag is Tag.TEXT else token)
            continue
        begins = token.tag in (Tag.QUANTITY, Tag.DETERMINER, Tag.ATTRIBUTE) and any(p.tag is Tag.NOUN for p in pending)
        if pending and (token.tag not in IN_PHRASE or begins):
            yield Phrase(tuple(with_noun(pending)))
            pending = []
        if token.tag in IN_PHRASE:
            pending.append(token)
        else:
            yield token
    if pending:
        yield Phrase(tuple(with_noun(pending)))


def belongs(token: Token, following: Token, before: Token) -> bool:
    """Whether a token stands inside a phrase: the "and" of a black and white cat, the words of a "STOP" sign."""
    if token.tag in (Tag.JOIN, Tag.PAUSE):
        return before.tag is following.tag is Tag.ATTRIBUTE
    return token.tag is Tag.TEXT and before.tag is not Tag.NOUN and following.tag is Tag.NOUN


def with_noun(tokens: list[Token]) -> list[Token]:
    """`an orange`: where a noun is missing, the last word serves if it can be one."""
    last = tokens[-1]
    named = any(token.tag is Tag.NOUN for token in tokens)
    opened = tokens[0].tag in (Tag.QUANTITY, Tag.DETERMINER)
    if named or not opened or last.text not in lex.ALSO_NOUNS:
        return tokens
    return [*tokens[:-1], Token(Tag.NOUN, last.text)]


class Builder:
    """Takes phrases and the words between them, from left to right, and links them."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self.main: list[int] = []  # whom verbs and "is red" speak of
        self.recent: list[int] = []  # whom "on the table" speaks of
        self.relation = ""  # waits for its object
        self.subjects: list[int] = []  # of that relation
        self.joined = self.absent = False
        self.was_absent = False  # of the thing just named
        self.last: Tag | None = Tag.STOP  # the word before, None for a phrase
        self.opening = True  # whether a part of the sentence begins here
        self.after_join = False
        self.position: Attribute | None = None  # "on the left a cup": waits for its thing
        self.carried = ""  # the word that carries an absence on: "no dogs and cats", "no hat or a scarf"

    def take(self, item: Phrase | Token) -> None:
        """One phrase or one word between phrases."""
        before, self.last = self.last, item.tag if isinstance(item, Token) else None
        self.after_join = before is Tag.JOIN
        self.opening = self.opening if before is Tag.VERB else before in (Tag.JOIN, Tag.PAUSE, Tag.STOP)
        if isinstance(item, Phrase):
            self.take_phrase(item)
        elif item.tag is Tag.RELATION:
            self.take_relation(lex.RELATIONS[item.text])
        elif item.text == "or":
            self.carried = "or" if self.was_absent else ""
        elif item.tag is Tag.VERB:
            self.take_verb(item.text)
        elif item.tag is Tag.TEXT:
            self.take_text(item.text)
        elif item.tag is Tag.POSITION and item.attribute:
            self.take_position(item.attribute)
        elif item.tag is Tag.ABSENCE:
            self.absent, self.relation = True, ""
        elif item.tag is Tag.JOIN:
            self.joined, self.carried = not self.relation, "and" if self.was_absent else ""
        elif item.tag is Tag.STOP:
            self.end_sentence()

    def end_sentence(self) -> None:
        """Nothing waits any longer: a place without a thing after it belongs to the one before."""
        if self.position:
            self.describe(self.recent[-1:], self.position)
        self.relation, self.main, self.recent = "", [], []
        self.was_absent, self.position = False, None

    def take_position(self, attribute: Attribute) -> None:
        """A place at the beginning of a part belongs to the thing that follows, else to the one before."""
        if self.opening:
            self.position = attribute
        else:
            self.describe(self.recent[-1:], attribute)

    def take_phrase(self, phrase: Phrase) -> None:
        """A thing; or more about one that has been named ("the cat is black", "the cat … the cat")."""
        if not phrase.nouns:
            for attribute in phrase.attributes:
                negated = Attribute(f"not {attribute.kind}", attribute.value)
                self.describe(self.main, negated if self.absent else attribute)
            self.absent = False
            return
        opened = phrase.tokens[0].tag
        self.absent |= self.carried == "or" and opened is not Tag.DETERMINER
        self.absent |= self.carried == "and" and opened not in (Tag.DETERMINER, Tag.QUANTITY)
        self.carried = ""
        if set(phrase.nouns) <= lex.FRAMES:  # "in the background" says nothing about what comes next
            self.relation, self.joined, self.absent = "", False, False
            return
        self.place(self.named_before(phrase) if not self.absent else None, phrase)

    def named_before(self, phrase: Phrase) -> int | None:
        """The thing that `the …` speaks of, if it has been named."""
        name = canonical(" ".join(phrase.nouns))
        if phrase.tokens[0].text != "the":
            return None
        asked = set(phrase.attributes)
        known = [i for i, thing in enumerate(self.things) if thing.canonical == name and not thing.absent]
        known = [i for i in known if not (self.relation and i in self.subjects) and agrees(self.things[i], asked)]
        if not known:
            return None
        best = max(known, key=lambda i: (len(asked & set(self.things[i].attributes)), i))
        for attribute in phrase.attributes:
            self.describe([best], attribute)
        return best

    def new_thing(self, phrase: Phrase) -> int:
        """One more thing."""
        count = phrase.count or unstated(phrase)
        attributes = [*phrase.attributes, *([self.position] if self.position else [])]
        if self.absent and count.explicit and count.low > 1:  # "not two cats" leaves open how many
            attributes.append(Attribute("not count", str(count.low)))
            count, self.absent = Count(0, None, confidence=0.5), False
        if lex.PAIRS.intersection(count.words.split()) and phrase.nouns[-1] in lex.PAIRED:
            count = replace(count, low=1, high=1)
        name, absent = canonical(" ".join(phrase.nouns)), self.absent or count.high == 0
        self.things.append(Thing(phrase.text, name, count, tuple(attributes), absent=absent))
        self.position = None
        self.absent = absent
        return len(self.things) - 1

    def place(self, known: int | None, phrase: Phrase) -> None:
        """Link a thing to what came before it."""
        index = self.new_thing(phrase) if known is None else known
        if self.relation and not self.absent:
            for subject in self.subjects:
                thing = self.things[subject]
                if subject != index:
                    self.things[subject] = replace(thing, relations=(*thing.relations, Relation(self.relation, index)))
            self.recent = [index]
        elif not self.absent:
            self.main = [*self.main, index] if self.joined and self.main == self.recent else [index]
            self.recent = list(self.main)
        else:
            self.recent = []  # nothing stands to what is not there
        self.was_absent = self.absent
        self.relation, self.joined, self.absent = "", False, False

    def take_relation(self, name: str) -> None:
        """`of` after a frame ("a photo of") has no subject and says nothing; "not on" is a relation of its own."""
        if name == "of" and self.is_medium():
            self.things.pop()
            self.main, self.recent, self.relation = [], [], ""
            return
        if self.absent and name not in {"with", *lex.DEEDS}:
            name, self.absent = f"not {name}", False
        if self.after_join:  # "left of a cat and above a bird" goes on about the dog
            self.recent = self.main
        speaks_of = self.main if not self.recent and name in lex.DEEDS else self.recent
        self.subjects = self.subjects if self.relation and self.subjects == self.main else speaks_of
        self.relation = name if self.subjects else ""

    def is_medium(self) -> bool:
        """Whether the prompt begins with a painting, say, and goes on with what it shows."""
        return len(self.things) == 1 and self.things[0].canonical in lex.MEDIA and not self.things[0].absent

    def take_verb(self, word: str) -> None:
        """What the subject does; its object, if one follows at once, is related to it by the verb."""
        self.was_absent, self.carried = False, ""
        if not word.endswith("ing"):
            return
        self.describe(self.main, Attribute("action", word))
        self.relation, self.subjects = (word, self.main) if self.main else ("", [])

    def take_text(self, text: str) -> None:
        """Quoted text is to be read on the thing just named, or anywhere."""
        kind = "not text" if self.absent or self.was_absent else "text"
        if self.was_absent and self.things[-1].absent and self.things[-1].canonical in map(canonical, lex.TEXT_NOUNS):
            self.things.pop()  # 'no text "HELLO"' speaks of these words only
        if not self.recent:
            self.things.append(Thing("text", "text", Count(1, None)))
            self.main = self.recent = [len(self.things) - 1]
        bearer = self.recent[-1]
        if self.things[bearer].phrase.split()[-1] in lex.TEXT_NOUNS:  # "the words 'Hello'": the words are the thing
            self.things[bearer] = replace(self.things[bearer], canonical="text", count=Count(1, None))
        self.describe([bearer], Attribute(kind, text))
        self.absent = self.was_absent = False

    def describe(self, indices: list[int], attribute: Attribute) -> None:
        """Give an attribute to things that have been named."""
        for index in indices:
            thing = self.things[index]
            if attribute not in thing.attributes:
                self.things[index] = replace(thing, attributes=(*thing.attributes, attribute))


def agrees(thing: Thing, attributes: set[Attribute]) -> bool:
    """Whether a thing may have these attributes too: the red cup is not the blue one."""
    kinds = {attribute.kind for attribute in thing.attributes}
    return all(attribute in thing.attributes or attribute.kind not in kinds for attribute in attributes)


def unstated(phrase: Phrase) -> Count:
    """Without a quantity: `the dog` is one, `dogs` are two or more, `grass` is any amount."""
    noun = phrase.nouns[-1]
    if singular(noun) != noun:
        return Count(2, None, confidence=0.5)
    return Count(1, 1, "the") if phrase.tokens[0].tag is Tag.DETERMINER else Count(1, None, confidence=0.5)
