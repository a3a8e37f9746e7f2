"""Phrases made one token each, before the dependency parser sees the sentence.

The parser only blurs phrases such as "to the left of", "a herd of" or "made of wood". Each becomes one token that knows
what it means and shows the parser a plain word, or is detached and not shown at all.
"""

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import attribute_of, comparison
from onprompt.language.detached_phrases import POSITIONS, RELATIONS, DetachedPhrases, Match
from onprompt.language.group_nouns import collapse_quantifier
from onprompt.language.ontology import singular
from onprompt.language.quantities import figure, ordinal, quantity
from onprompt.language.segmentation import Token, lower_words
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

COMPOUND_ATTRIBUTES = lex.Phrases(lex.COMPOUND_ATTRIBUTES)
YEARS = range(1800, 2101)
QUANTIFYING_NOUNS = lex.CONTAINERS | lex.GROUP_NOUNS | lex.MEASURE_NOUNS | lex.SORT_NOUNS

# Plain nouns that the dependency parser reads in place of names, texts and substances.
A_NAME, A_TEXT, A_SUBSTANCE = "Batman", "sign", "water"


class Chunker(DetachedPhrases):
    """One sentence, read from left to right."""

    def chunk(self) -> list[Token]:
        """The tokens of the sentence."""
        self.expand_adjectives()
        at = 0
        while at < len(self.tokens):
            token, size = self.token_at(at)
            self.done.append(token)
            at += size
            collapse_quantifier(self.done, self.word(at), self.settings)
        return self.done

    def token_at(self, at: int) -> tuple[Token, int]:
        """The token that begins at a word, and how many it replaces."""
        if self.tokens[at].text is None and self.words[at] != ",":
            for reader in (
                *(self.text, self.pose, self.direction, self.position, self.substance, self.vessel, self.dressed),
                *(self.time_of_day, self.artist, self.style, self.filler),
                *(self.state, self.quoted, self.relation, self.negation, self.one),
                *(self.described, self.count, self.proper_name, self.compound),
            ):
                if match := reader(at):
                    return match
        return self.tokens[at], 1

    # -- shortened phrases written in full

    def rewrite(self, tokens: list[Token]) -> None:
        """Put other tokens in place of the sentence's."""
        self.tokens, self.words = tokens, lower_words(tokens)

    def expand_adjectives(self) -> None:
        """`a black and a white cat` → a black cat and a white cat."""
        kinds = lex.KIND_OF_ATTRIBUTE
        for at in range(len(self.words) - 5):
            article, adjective, conjunction, other_article, other_adjective, noun = self.words[at : at + 6]
            pairs = {article, other_article} <= lex.ARTICLES and adjective in kinds and other_adjective in kinds
            if pairs and conjunction == "and" and is_noun(singular(noun)) and noun not in kinds:
                end = self.tokens[at + 1].end
                added = Token(self.tokens[at + 5].word, end, end)
                self.rewrite([*self.tokens[: at + 2], added, *self.tokens[at + 2 :]])

    # -- relations, negations, texts

    def relation(self, at: int) -> Match:
        """A relation of several words, with a plain preposition in its place."""
        if self.word(at + 1) == "than" and (name := lex.COMPARATIVES.get(self.word(at))):
            return self.replaced(at, 2, "near", relation=name)
        if self.word(at) == self.word(at + 2) == "as":
            return self.replaced(at, 3, "near", relation=" ".join(self.words[at : at + 3]))
        phrase = RELATIONS.at(self.words, at)
        if " " not in phrase:
            return None
        name = lex.RELATIONS[phrase]
        return self.replaced(at, len(phrase.split()), lex.STAND_INS.get(name, "near"), relation=name)

    def quoted(self, at: int) -> Match:
        """`the words "Happy Birthday"`, `the word HELLO`: the text is an object, and this is how it reads."""
        end = at + 1
        while self.is_quote(end) or (self.word(end) in {"and", ","} and self.is_quote(end + 1)):
            end += 1
        numbered = self.word(at) == "number" and self.word(at + 1)[:1].isdigit()  # "the number 42"
        end += numbered and end == at + 1
        if (self.word(at) not in lex.TEXT_NOUNS and not numbered) or end == at + 1:
            return None
        quotes = [token for token in self.tokens[at + 1 : end] if token.text or numbered]
        texts = tuple(Attribute("text", token.text or token.word) for token in quotes)
        return replace(self.tokens[at], word=A_TEXT, name="text", attributes=texts), end - at

    def negation(self, at: int) -> Match:
        """`not a`, `neither`, `no one`, `without any`, each with one plain word in its place."""
        word, following = self.word(at), self.word(at + 1)
        if word in {"nobody", "noone"} or (word, following) == ("no", "one"):
            return self.replaced(at, 1 + (word == "no"), "nobody", name="nobody")
        if word == "missing" and following in lex.ARTICLES | lex.DEFINITE and self.done:
            return self.replaced(at, 1, "without", relation="without")
        if word == "without" and following == "any":
            return self.replaced(at, 2, "without")
        size = self.negation_size(at)
        return self.replaced(at, size, "no") if size else None

    def negation_size(self, at: int) -> int:
        """How many words mean "no"; 0 if none."""
        word, following = self.word(at), self.word(at + 1)
        if word in {"neither", "nor"} and following not in lex.DEFINITE:  # "neither the cat": there is a cat
            return 2 if following in {"a", "an", "any", "of"} else 1
        if word not in {"not", "n't"}:
            return 0
        describing = following in lex.KIND_OF_ATTRIBUTE or following in lex.NUMBERS or following in lex.ARTICLES
        if word == "not" and self.word(at - 1) in {",", ""} and is_noun(singular(following)) and not describing:
            return 1  # "apples, not oranges"
        if following in {"a", "an", "any", "even"}:
            return 3 if self.word(at + 2) == "single" else 2
        return 0

    # -- "one"

    def one(self, at: int) -> Match:
        """`one`, `another one`, `the other`, `the first`, `a white one`: an object of a kind named before."""
        size = self.one_size(at)
        if not size:
            return None
        words = self.words[at : at + size]
        attributes = [Attribute("position", ordinal(word)) for word in words if ordinal(word)]
        number, after = figure(words[0]), self.word(at + size)
        token, _ = self.replaced(at, size, "one", one=True)
        prepositional = RELATIONS.at(self.words, at + size) or POSITIONS.at(self.words, at + size)
        if after in lex.KIND_OF_ATTRIBUTE and not prepositional:  # "one black and one white"
            attributes += [attribute for attribute in [attribute_of(after)] if attribute]
            size += 1
        count = Count(number, number, words[0], explicit=True) if number else None
        return replace(token, attributes=tuple(attributes), count=count), size

    def one_size(self, at: int) -> int:
        """How many words such a phrase has; 0 if it is none."""
        word, following, third = (self.word(at + n) for n in range(3))
        if word == "one" and self.one_stands_alone(at + 1):
            return 1
        if figure(word) and following == "of" and third in {"them", "which", "whom"}:
            return 3
        if word in {"the", "another"} and following == "one":
            return 2
        if word == "another":
            return int(self.one_stands_alone(at + 1))
        if word == "the" and (following == "other" or ordinal(following)):
            if third == "one":
                return 3
            return 2 if self.one_stands_alone(at + 2) or third.startswith("from") else 0
        return 0

    def one_stands_alone(self, after: int) -> bool:
        """Whether no noun follows "one": it ends, or goes on with a verb, a preposition, or an adjective alone."""
        word = self.word(after)
        if word == "of" or (word == "or" and self.word(after + 1) in {*lex.NUMBERS, "more"}):
            return False
        if self.ends_phrase(after):
            return True
        return word in lex.KIND_OF_ATTRIBUTE and word not in lex.COLOUR_NOUNS and self.ends_phrase(after + 1)

    # -- adjectives and quantities

    def is_opened(self) -> bool:
        """Whether a determiner or number stands right before."""
        return bool(self.done) and (self.done[-1].count is not None or self.follows(lex.DEFINITE))

    def described(self, at: int) -> Match:
        """`polka dot`, `stainless steel`: an adjective of two words; `the tallest`, which taggers take for a noun."""
        word, following = self.word(at), self.word(at + 1)
        if word in lex.COLOURS and following in lex.COLOUR_WORDS and not self.ends_phrase(at + 2):
            return self.adjective(at, 2, Attribute("color", word))
        compared = comparison(word)
        if compared and self.is_opened() and following != "than" and not self.ends_phrase(at + 1):
            return self.adjective(at, 1, compared)
        phrase = COMPOUND_ATTRIBUTES.at(self.words, at)
        size = len(phrase.split())
        if not phrase or self.ends_phrase(at + size):
            return None
        return self.adjective(at, size, Attribute(lex.COMPOUND_ATTRIBUTES[phrase], phrase))

    def count(self, at: int) -> Match:
        """A quantity: not the year of "a 1957 car", and "over" only where it can't be a place."""
        count = quantity(self.words, at, self.settings)
        if count is None:
            return None
        word, last = self.word(at), self.done[-1] if self.done else None
        if self.is_no_count(at, count):
            article = word in lex.ARTICLES
            return (replace(self.tokens[at], count=Count(1, 1, word)), 1) if article else None
        if last is not None and last.count is not None and last.count.words in lex.ARTICLES:
            return None
        if word in {"over", "under", "around", "about"} and last and not self.follows(lex.BEFORE_COMPARISONS):
            return None
        size = len(count.words.split())
        named = at > 1 and self.tokens[at - 1].word != self.words[at - 1]  # iPhone 15 Pro
        year = count.low in YEARS and not self.plural_follows(at + 1)
        if self.word(at + size) in lex.UNITS or (word.isdigit() and (named or year)):
            return None
        plain = (size == 1 and not count.explicit) or word == "one"
        stand_in = "a" if count.exact == 1 else "many" if count.high is None else "two"
        return self.replaced(at, size, self.tokens[at].word if plain else stand_in, count=count)

    def is_no_count(self, at: int, count: Count) -> bool:
        """A couple that nothing follows is two people."""
        words = count.words.split()
        if words[-1] not in lex.PAIRS:
            return False
        return self.ends_phrase(at + len(words)) or not self.plural_follows(at + len(words))

    def plural_follows(self, at: int) -> bool:
        """Whether a plural comes soon enough to be what is counted."""
        return any(singular(word) != word for word in self.words[at : at + 3])

    # -- names

    def proper_name(self, at: int) -> Match:
        """`Mount Fuji`, `the Statue of Liberty`: words with capitals, where these mean something; `body of water`."""
        name = " ".join(self.words[at : at + 3])
        quantifying = singular(self.word(at)) in QUANTIFYING_NOUNS
        if self.word(at + 1) == "of" and not quantifying and is_noun(name):
            return self.replaced(at, 3, A_SUBSTANCE, name=name)
        if not self.capitals_matter() or not self.is_capitalized(at) or self.word(at) in lex.NUMBERS:
            return None
        end = at + 1
        while self.is_capitalized(end) or (self.word(end) in lex.NAME_PARTICLES and self.is_capitalized(end + 1)):
            end += 1
        if end - at < 2:
            return None
        return self.replaced(at, end - at, A_NAME, name=" ".join(self.words[at:end]))

    def is_capitalized(self, at: int) -> bool:
        """Whether a word begins like a name; the first of a sentence only if it can't be a common word there."""
        if not 0 <= at < len(self.tokens) or self.is_quote(at):
            return False
        word, lower = self.tokens[at].word, self.words[at]
        common = lower in lex.SENTENCE_OPENERS or lower in lex.KIND_OF_ATTRIBUTE
        opens = at == 0 and common and lower not in lex.NAME_OPENERS  # but New York
        return word[0].isupper() and not opens and lower not in lex.NEVER_NAMES

    def capitals_matter(self) -> bool:
        """Whether most words have no capital, so that one means something."""
        words = [token.word for token in self.tokens if token.word[0].isalpha() and token.text is None]
        return sum(word[0].isupper() for word in words) <= 0.6 * len(words) or len(words) <= 3

    def compound(self, at: int) -> Match:
        """`stop sign`, `polar bear`: a known noun of several words, which the parser may tear apart."""
        for size in (3, 2):
            words = self.words[at : at + size]
            if len(words) < size or "of" in words:
                continue
            forms = {" ".join(words), " ".join([*words[:-1], singular(words[-1])])}
            if forms & lex.COMPOUNDS or (any(map(is_noun, forms)) and self.may_start_compound(at)):
                return self.replaced(at, size, self.tokens[at + size - 1].word, name=" ".join(words))
        return None

    def may_start_compound(self, at: int) -> bool:
        """Whether a word can be the first of a compound: not a colour, nor the riding of "man riding horse"."""
        word = self.word(at)
        if word in lex.RELATIONS or (word.endswith(("ing", "ed")) and not self.is_opened()):
            return False
        return lex.kind_of(word) in {None, "style", "shape"} or word in lex.MATERIAL_NOUNS
