"""Every error that onprompt raises on purpose.

OnpromptError
├── UserError            the caller can mend it; the CLI exits with 2
│   ├── ImageError       the picture can't be read or is out of bounds
│   ├── PromptError      the prompt holds nothing to check or is out of bounds
│   ├── SettingsError    a setting is unknown, of the wrong kind or out of range
│   └── PluginError      no plug-in of that name, or its extra is not installed
├── WeightsError         a model file can't be had or can't be trusted; the CLI exits with 3
│   ├── NotFetched       no source delivered the file
│   ├── WrongHash        a file is there but is not the pinned one
│   └── UntrustedFile    a file holds something that its reader refuses
├── BackendError         a model can't be asked; the CLI exits with 4
│   ├── ServerTrouble    it is busy, slow, down or broken: asking again may help
│   ├── Rejected         it won't take the request: a wrong key, an unknown model
│   └── BudgetSpent      the next question would cost more than is left
├── UnreadableAnswer     a model answered and no score can be read; the CLI exits with 5
└── StoreError           the store of answers can't be used; the CLI exits with 6
"""


class OnpromptError(Exception):
    """The root: catching this catches all that onprompt raises on purpose."""

    exit_code = 1


class UserError(OnpromptError):
    """Something that the caller gave is wrong; the message says what to change."""

    exit_code = 2


class ImageError(UserError):
    """The picture can't be read or is out of bounds: `kind` says in a word or two why."""

    def __init__(self, message: str, kind: str = "unreadable") -> None:
        super().__init__(message)
        self.kind = kind


class PromptError(UserError):
    """The prompt holds nothing to check or is out of bounds."""


class SettingsError(UserError):
    """A setting is unknown, of the wrong kind or out of range."""


class PluginError(UserError):
    """No plug-in of that name, or its extra is not installed."""


class WeightsError(OnpromptError):
    """A model file can't be had or can't be trusted."""

    exit_code = 3


class NotFetched(WeightsError):
    """No source delivered the file."""


class WrongHash(WeightsError):
    """A file is there but is not the pinned one."""


class UntrustedFile(WeightsError):
    """A file holds something that its reader refuses."""


class BackendError(OnpromptError):
    """A model can't be asked."""

    exit_code = 4


class ServerTrouble(BackendError):
    """Busy, slow, down or broken: `kind` says which; `retry_after` seconds the server wants to be left alone."""

    def __init__(self, kind: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.retry_after = kind, retry_after


class Rejected(BackendError):
    """The server won't take the request, and asking again won't help."""


class BudgetSpent(BackendError):
    """The next question would cost more than is left."""


class UnreadableAnswer(OnpromptError):
    """A model answered and no score can be read. Keeps the raw text; `kind` is one of KINDS."""

    exit_code = 5
    KINDS = (
        *("refusal", "content_filter", "truncated", "empty"),  # no answer, or not all of it
        *("off_scale", "two_scores", "no_score", "no_reasoning", "bad_json", "wrong_fields", "wrong_id"),
    )

    def __init__(self, kind: str, reason: str, text: str = "") -> None:
        super().__init__(f"no score can be read, so there is none: {reason} ({kind})")
        self.kind, self.reason, self.text = kind, reason, text
        self.spent: tuple[int, int, float | None] = (0, 0, None)  # tokens in, tokens out and dollars, if they are known


class StoreError(OnpromptError):
    """The store of answers can't be used."""

    exit_code = 6
