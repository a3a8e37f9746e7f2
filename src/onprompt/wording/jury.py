"""What the members of a jury say, in words."""

from collections.abc import Mapping

from onprompt.types import Voice

NOTHING_CHECKED = "nothing could be checked"  # why the evidence, or a model asked by claim, has no say in a jury


def voice_words(voice: Voice) -> str:
    """`openai/gpt-5.2: score 3, value 0.75, weight 0.28. The image …`; or why there is no score."""
    if voice.value is None:
        return f"{voice.name}: no score: {voice.error}"
    flags = f" [{' '.join(voice.flags)}]" if voice.flags else ""
    scores = ", ".join(f"{name} {factor.score}" for name, factor in voice.factors.items())
    return f"{voice.name}: {scores}, value {voice.value:.2f}, weight {voice.weight:.2f}. {voice.summary}{flags}"


def jury_failed(errors: Mapping[str, str]) -> str:
    """Why a jury has no verdict."""
    return "no model of the jury gave a score: " + "; ".join(f"{name}: {error}" for name, error in errors.items())
