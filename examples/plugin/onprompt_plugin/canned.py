"""A backend: answers every question with the name of the model. `--model canned/"Score: 4"`."""

from collections.abc import Mapping

from onprompt.settings import Settings
from onprompt.types import Answer, Question


def load(model: str, settings: Settings) -> "CannedBackend":  # noqa: ARG001 every backend is given them
    """The backend for a model."""
    return CannedBackend(model)


class CannedBackend:
    """A model that always says the same."""

    def __init__(self, words: str) -> None:
        self.words = words

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": "canned", "model": self.words}

    def ask(self, question: Question) -> Answer:  # noqa: ARG002 it does not listen
        """The answer. Raise `ServerTrouble` where asking again may help, `Rejected` where it won't."""
        return Answer(self.words, model="canned")

    def close(self) -> None:
        """It holds nothing."""
