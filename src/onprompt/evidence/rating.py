"""Seed 001 on checks: the share of the elements that is shown, that of actions and relations, and why, in 20 words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onprompt.evidence.match import Match, asked_words, weighted_mean
from onprompt.settings import Settings
from onprompt.types import Outcome, Verdict

WORDS = 20


def rated(verdict: Verdict, matches: Sequence[Match], settings: Settings) -> Verdict:
    """The same evidence on the scale of 1 to 5."""
    shown = elements(matches, settings)
    related = relations(matches)
    return replace(
        verdict,
        score=rating(settings.prior if shown is None else shown, related, settings),
        summary=reasoning(matches),
        shares={"elements": shown, "relations": related},
    )


def rating(shown: float, related: float | None, settings: Settings) -> int:
    """The seed's five sentences over the two shares; where the prompt has no relation, its elements stand for it."""
    related = shown if related is None else related
    if shown >= settings.rate_all and related >= settings.rate_all:
        return 5  # all of the elements and all of the actions/relations
    if shown >= settings.rate_all and related > settings.rate_most:
        return 4  # all of the elements and most of the actions/relations
    if shown > settings.rate_most and related >= settings.rate_some:
        return 3  # most of the elements and at least one action/relation
    return 2 if max(shown, related) >= settings.rate_some else 1  # some elements, or none at all


def elements(matches: Sequence[Match], settings: Settings) -> float | None:
    """The share of the elements that is shown, each with its number and attributes; None where none can be told."""
    told = [match for match in matches if match.verifiable]
    total = sum(match.thing.importance for match in told)
    shown = sum(match.thing.importance * match.score(settings, elements_only=True) for match in told)
    return round(shown / total, 9) if total else None


def relations(matches: Sequence[Match]) -> float | None:
    """The share of the actions and relations that is shown; those of what is missing are not."""
    asked = [check for match in matches for check in match.checks if check.goes_on]
    told = [check for check in asked if check.outcome is not Outcome.UNVERIFIABLE]
    return round(weighted_mean(told), 9) if told else None


def reasoning(matches: Sequence[Match]) -> str:
    """What is missing, what is wrong and what is shown, in as many words as the seed allows."""
    missing = [name(match) for match in matches if match.outcome is Outcome.MISSING]
    wrong = [
        name(match) if check.kind == "object" else check.about(name(match))
        for match in matches
        for check in match.checks
        if check.outcome is Outcome.MISMATCH
    ]
    shown = [name(match) for match in matches if match.outcome in (Outcome.MATCHED, Outcome.PARTIAL)]
    unsure = [name(match) for match in matches if match.outcome is Outcome.LOW_CONFIDENCE]
    told = {"Missing": missing, "Wrong": wrong, "Shown": shown, "Unsure": unsure}
    parts = [f"{word}: {', '.join(dict.fromkeys(names))}." for word, names in told.items() if names]
    return in_few_words(parts or ["Nothing that the prompt asks for can be checked here."])


def name(match: Match) -> str:
    """An object by its plain name; an absence with its "no"."""
    return asked_words(match.thing) if match.thing.absent else match.thing.canonical


def in_few_words(parts: Sequence[str]) -> str:
    """As many whole parts as fit; what is too long by itself is cut."""
    words: list[str] = []
    for part in parts:
        if words and len(words) + len(part.split()) > WORDS:
            break
        words += part.split()
    return " ".join(words) if len(words) <= WORDS else " ".join([*words[: WORDS - 1], "…"])
