"""A matcher: a text that names a colour describes a picture that has much of it. `--set matcher=colours`."""

from collections.abc import Sequence

from onprompt.settings import Settings
from onprompt.types import Matcher, Picture

COLOURS = ("red", "green", "blue")


def load(settings: Settings) -> "ColourMatcher":  # noqa: ARG001 every matcher is given them
    """The matcher."""
    return ColourMatcher()


class ColourMatcher(Matcher):
    """How much of a picture has the colours of a text."""

    def probabilities(self, picture: Picture, texts: Sequence[str]) -> list[float]:
        """For each text the largest share of a colour that it names; even where it names none."""
        pixels = picture.pixels.reshape(-1, 3)
        coloured = pixels.max(axis=1) - pixels.min(axis=1) > 60
        shares = {name: float((coloured & (pixels.argmax(axis=1) == i)).mean()) for i, name in enumerate(COLOURS)}
        return [max((shares[name] for name in COLOURS if name in text.lower()), default=0.5) for text in texts]

    def phrase_probabilities(self, picture: Picture, phrases: Sequence[str]) -> list[float]:
        """The same for a part of the picture."""
        return self.probabilities(picture, phrases)
