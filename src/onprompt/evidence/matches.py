"""The checks of each object of a prompt, and the protocol's `match_score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onprompt.types import Check, Outcome, Scene, Sighting, Thing

if TYPE_CHECKING:
    from onprompt.settings import Settings

WEAK = 0.25  # confidence from which a sighting is shown, and may make up for one that is missing


@dataclass(frozen=True, slots=True)
class Match:
    """An object of the prompt, the sightings chosen for it, and its checks, the object's own first."""

    thing: Thing
    chosen: tuple[Sighting, ...]
    checks: tuple[Check, ...]

    @property
    def first(self) -> Check:
        return self.checks[0]

    @property
    def outcome(self) -> Outcome:
        return self.first.outcome

    @property
    def confidence(self) -> float:
        return self.first.confidence

    @property
    def is_object(self) -> bool:
        """Whether the prompt names an object, not only text."""
        return self.first.claim.kind == "object"

    @property
    def there(self) -> bool:
        """Whether the object was found, with any confidence, and not just a substitute."""
        substitute = self.outcome is Outcome.MISMATCH and self.is_object
        return self.outcome is not Outcome.MISSING and not substitute

    @property
    def is_other_person(self) -> bool:
        """Whether a person is of another sex or age than was asked for, which says more than "only a person"."""
        wrong = (Outcome.MISMATCH, Outcome.PARTIAL)
        return any(check.claim.kind in ("sex", "age") and check.outcome in wrong for check in self.checks)

    @property
    def verifiable(self) -> bool:
        """Whether anything about the object could be checked: text on an unknown object can be, for example."""
        return any(check.outcome is not Outcome.UNVERIFIABLE for check in self.checks)

    @property
    def details(self) -> tuple[Check, ...]:
        """The checks of attributes and relations."""
        return tuple(check for check in self.checks if check.claim.kind not in ("object", "count"))

    @property
    def count(self) -> float:
        """The score of the count; 1 if none was asked for or it is unverifiable."""
        counts = (check for check in self.checks if check.claim.kind == "count")
        return next((check.score for check in counts if check.outcome is not Outcome.UNVERIFIABLE), 1.0)

    def score(self, settings: Settings, elements_only: bool = False) -> float:
        """`match_score`: class, count and attributes with the protocol's weights; 0 if the object is missing.

        A score of low confidence is multiplied by it, so that a weak sighting can't earn full marks.
        `elements_only` leaves out actions and relations.
        """
        if self.outcome is Outcome.MISSING:
            return 0.0
        if self.thing.absent:
            return self.first.score * self.first.weight
        if not self.is_object or self.outcome is Outcome.UNVERIFIABLE:
            return weighted_mean(self.details)  # text anywhere, or on an unknown object
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        parts = zip(weights, self.parts(elements_only), strict=True)
        return self.first.weight * sum(weight * part for weight, part in parts)

    def parts(self, elements_only: bool = False) -> tuple[float, float, float]:
        """The scores of class, count and attributes; 0 for the attributes of a substitute."""
        if not self.there:
            return self.first.score, float(self.thing.count.low <= 1), 0.0
        counted = [check for check in self.details if not (elements_only and check.claim.is_interaction)]
        return self.first.score, self.count, weighted_mean(counted)


def weighted_mean(checks: Sequence[Check]) -> float:
    """The mean score of the verifiable checks, 1 if there is none; a check of low confidence weighs less."""
    verifiable = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    total = sum(check.weight for check in verifiable)
    return sum(check.weight * check.score for check in verifiable) / total if total else 1.0


def group_by_object(scene: Scene, checks: Sequence[Check]) -> list[Match]:
    """The checks of a verdict by object."""
    matches = []
    for index, thing in enumerate(scene.things):
        own = tuple(check for check in checks if check.thing == index)
        matches.append(Match(thing, own[0].chosen, own))
    return matches
