"""Every error that onprompt raises on purpose.

OnpromptError
├── UserError            the caller can mend it; the CLI exits with 2
│   ├── ImageError       the picture can't be read or is out of bounds
│   ├── PromptError      the prompt holds nothing to check or is out of bounds
│   ├── SettingsError    a setting is unknown, of the wrong kind or out of range
│   └── PluginError      no plug-in of that name, or its extra is not installed
└── WeightsError         a model file can't be had or can't be trusted; the CLI exits with 3
    ├── NotFetched       no source delivered the file
    ├── WrongHash        a file is there but is not the pinned one
    └── UntrustedFile    a file holds something that its reader refuses
"""


class OnpromptError(Exception):
    """The root: catching this catches all that onprompt raises on purpose."""

    exit_code = 1


class UserError(OnpromptError):
    """Something that the caller gave is wrong; the message says what to change."""

    exit_code = 2


class ImageError(UserError):
    """The picture can't be read or is out of bounds."""


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
