"""Step 1: from a prompt to a Scene, by a lexicon and rules."""

from __future__ import annotations

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
        return " ".join(token.text for token in self.tokens)


def parse(prompt: str, settings: Settings) -> Scene:
    """What the prompt asks for."""
    text = normalised(prompt, settings)
    builder = Builder()
    for item in phrases(tokenised(text, settings)):
        builder.take(item)
    vague = any(lex.VAGUE.intersection(thing.count.words.split()) for thing in builder.things)
    flags = {"ambiguous_quantifier": vague, "no_objects": not builder.things}
    return Scene(text, tuple(builder.things), tuple(flag for flag, holds in flags.items() if holds))


def phrases(tokens: list[Token]) -> Iterator[Phrase | Token]:
    """Tokens that belong to one noun phrase, taken together; all other tokens as they are."""
    pending: list[Token] = []
    for token in tokens:
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

    def take(self, item: Phrase | Token) -> None:
        """One phrase or one word between phrases."""
        if isinstance(item, Phrase):
            self.take_phrase(item)
        elif item.tag is Tag.RELATION:
            self.take_relation(lex.RELATIONS[item.text])
        elif item.tag is Tag.VERB:
            self.take_verb(item.text)
        elif item.tag is Tag.TEXT:
            self.take_text(item.text)
        elif item.tag is Tag.POSITION and item.attribute:
            self.describe(self.recent[-1:], item.attribute)
        elif item.tag is Tag.ABSENCE:
            self.absent, self.relation = True, ""
        elif item.tag is Tag.JOIN:
            self.joined = not self.relation
        elif item.tag is Tag.STOP:
            self.relation, self.main, self.recent = "", [], []

    def take_phrase(self, phrase: Phrase) -> None:
        """A thing; or, without a noun, more about the subject."""
        if not phrase.nouns:
            for attribute in phrase.attributes:
                self.describe(self.main, attribute)
            return
        if set(phrase.nouns) <= lex.FRAMES:
            return
        index = len(self.things)
        count = phrase.count or unstated(phrase)
        self.things.append(
            Thing(phrase.text, canonical(" ".join(phrase.nouns)), count, tuple(phrase.attributes), absent=self.absent)
        )
        self.place(index)

    def place(self, index: int) -> None:
        """Link a new thing to what came before it."""
        if self.relation:
            for subject in self.subjects:
                thing = self.things[subject]
                self.things[subject] = replace(thing, relations=(*thing.relations, Relation(self.relation, index)))
            self.recent = [index]
        elif not self.absent:
            self.main = [*self.main, index] if self.joined and self.main == self.recent else [index]
            self.recent = list(self.main)
        self.relation, self.joined, self.absent = "", False, False

    def take_relation(self, name: str) -> None:
        """`of` after a frame ("a photo of") has no subject and says nothing."""
        self.subjects = self.subjects if self.relation and self.subjects == self.main else self.recent
        self.relation = name if self.subjects else ""

    def take_verb(self, word: str) -> None:
        """What the subject does; its object, if one follows at once, is related to it by the verb."""
        if not word.endswith("ing"):
            return
        self.describe(self.main, Attribute("action", word))
        self.relation, self.subjects = (word, self.main) if self.main else ("", [])

    def take_text(self, text: str) -> None:
        """Quoted text is to be read on the thing just named, or anywhere."""
        if not self.recent:
            self.things.append(Thing("text", "text", Count(1, None)))
            self.main = self.recent = [len(self.things) - 1]
        self.describe(self.recent[-1:], Attribute("text", text))

    def describe(self, indices: list[int], attribute: Attribute) -> None:
        """Give an attribute to things that have been named."""
        for index in indices:
            thing = self.things[index]
            if attribute not in thing.attributes:
                self.things[index] = replace(thing, attributes=(*thing.attributes, attribute))


def unstated(phrase: Phrase) -> Count:
    """Without a quantity: `the dog` is one, `dogs` are two or more, `grass` is any amount."""
    noun = phrase.nouns[-1]
    if singular(noun) != noun:
        return Count(2, None, confidence=0.5)
    return Count(1, 1, "the") if phrase.tokens[0].tag is Tag.DETERMINER else Count(1, None, confidence=0.5)
