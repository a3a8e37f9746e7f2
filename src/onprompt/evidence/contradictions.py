"""Checks that contradict what a model says: measured, not estimated, and the opposite of its words."""

import re
from collections.abc import Sequence

from onprompt.evidence.beliefs import MATCHER, NO_SOURCE
from onprompt.language import canonical
from onprompt.types import Check, Found, Outcome

WRONG = (Outcome.MISSING, Outcome.MISMATCH)


def contradicting(checks: Sequence[Check], stated: Sequence[Check], faultless: bool) -> tuple[int, ...]:
    """The places of the checks that contradict a model: by the list that it gave, or by a score without a fault."""
    claims = [(names_in(claim.claim.value), claim.outcome) for claim in stated]
    return tuple(
        place
        for place, check in enumerate(checks)
        if is_firm(check) and (contradicts(check, claims) or (faultless and check.outcome in WRONG))
    )


def contradicts(check: Check, claims: Sequence[tuple[set[str], Outcome]]) -> bool:
    """Whether a model says the opposite of the same object."""
    said = {outcome for names, outcome in claims if check.claim.name in names}
    if check.outcome in WRONG:
        return check.claim.kind in ("object", "count") and said == {Outcome.MATCHED}
    return check.claim.kind == "object" and not check.claim.negated and said == {Outcome.MISSING}


def is_firm(check: Check) -> bool:
    """Whether a check was measured, and decided."""
    decided = check.outcome in (*WRONG, Outcome.MATCHED)
    measured = check.source not in (MATCHER, NO_SOURCE) and check.finding.kind is not Found.ESTIMATED
    return decided and measured


def names_in(phrase: str) -> set[str]:
    """The canonical names that a phrase may end with: "two red dogs" may be about a dog."""
    words = re.findall(r"\w+", phrase.lower())
    return {canonical(" ".join(words[start:])) for start in range(len(words))}
