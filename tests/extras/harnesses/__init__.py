"""Tests inside the harnesses and trackers themselves, in an environment of their own."""

import pytest

# What these libraries leave open, or will do otherwise one day, is theirs to mend.
THEIRS = [
    *(pytest.mark.filterwarnings(f"ignore::{kind}Warning") for kind in ("Deprecation", "Future", "User", "Resource")),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
