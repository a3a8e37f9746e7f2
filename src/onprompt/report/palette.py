"""The colours of outcomes in pictures and on pages: safe for colour-blind people, and dark enough for white text."""

from onprompt.types import Outcome

GOOD, WEAK, BAD, NEUTRAL = "#0b6b53", "#8a5800", "#b3361b", "#5b626b"
COLOURS = {
    Outcome.MATCHED: GOOD,
    Outcome.PARTIAL: WEAK,
    Outcome.LOW_CONFIDENCE: WEAK,
    Outcome.MISMATCH: BAD,
    Outcome.MISSING: BAD,
    Outcome.UNVERIFIABLE: NEUTRAL,
}
