"""Every error that onprompt raises on purpose; `exit_code` is that of the command line."""

from typing import Any


class OnpromptError(Exception):
    """The base class: catch it to catch everything that onprompt raises on purpose."""

    exit_code = 1


class UserError(OnpromptError):
    """Invalid input; the message says what to change."""

    exit_code = 2


class ImageError(UserError):
    """The image is unreadable or too large; `kind` says why in a word or two."""

    def __init__(self, message: str, kind: str = "unreadable") -> None:
        super().__init__(message)
        self.kind = kind


class PromptError(UserError):
    """The prompt is empty or too long."""


class SettingsError(UserError):
    """A setting is unknown, of the wrong type or out of range."""


class PluginError(UserError):
    """Unknown plug-in, or its extra is not installed."""


class NotFound(UserError):
    """A run has no such sample."""


class WeightsError(OnpromptError):
    """A model file is unavailable or can't be trusted."""

    exit_code = 3


class NotFetched(WeightsError):
    """No source delivered the file."""


class WrongHash(WeightsError):
    """The file differs from the pinned one."""


class UntrustedFile(WeightsError):
    """The file holds something that its reader refuses."""


class BackendError(OnpromptError):
    """A model can't be asked."""

    exit_code = 4


class ServerTrouble(BackendError):
    """The server is busy, slow, down or broken, by `kind`; `retry_after` is the wait in seconds that it asks for."""

    def __init__(self, kind: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retry_after = kind, retry_after


class Rejected(BackendError):
    """The server refuses the request; asking again won't help."""


class BudgetSpent(BackendError):
    """The next question would exceed the budget."""


class UnreadableAnswer(OnpromptError):
    """A model's answer has no readable score. `text` is the raw answer; `kind` is one of KINDS."""

    exit_code = 5
    KINDS = (
        *("refusal", "content_filter", "truncated", "empty"),  # no answer, or only part of one
        *("off_scale", "two_scores", "no_score", "bad_json", "wrong_fields", "wrong_id"),
    )

    def __init__(self, kind: str, reason: str, text: str = "") -> None:
        super().__init__(f"unreadable answer: {reason} ({kind})")
        self.kind, self.reason, self.text = kind, reason, text
        self.answers: tuple[Any, ...] = ()  # all answers to the question, of types.Answer

    @property
    def spent(self) -> tuple[int, int, float | None]:
        """What the answers took that are not cached: input tokens, output tokens and, if known, dollars."""
        paid = [answer.usage for answer in self.answers if not answer.cached]
        known = [usage.cost for usage in paid if usage.cost is not None]
        cost = sum(known) if known else None
        return sum(usage.tokens_in for usage in paid), sum(usage.tokens_out for usage in paid), cost


class StoreError(OnpromptError):
    """A run file or the answer store can't be used."""

    exit_code = 6


class GateFailed(OnpromptError):
    """A run does not meet the conditions that were set for it."""

    exit_code = 7
