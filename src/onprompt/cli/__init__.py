"""The command line. A command is a few lines that call the API; results go to stdout, everything else to stderr."""

import io
import sys

from onprompt.cli import (  # noqa: F401 each adds its commands
    comparing,
    judging,
    models,
    running,
    serving,
    showing,
)
from onprompt.cli.app import app, echo_error
from onprompt.errors import OnpromptError

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; an expected error is one message and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without → shows ? instead of failing
    try:
        app(windows_expand_args=False)  # a pattern in quotes is for `run`, and a prompt may hold a * or a ?
    except OnpromptError as error:
        echo_error(f"onprompt: {error}")
        sys.exit(error.exit_code)
    except OSError as error:  # stdout can't be written
        sys.exit(f"onprompt: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit(130)
