"""Models that estimate how likely a text describes an image: each module is one, with `load(settings)`."""
