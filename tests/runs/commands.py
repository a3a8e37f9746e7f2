"""The command line in tests of runs: as a process, or in this one where nothing depends on that."""

import os
import subprocess
import sys

from typer.testing import CliRunner

from onprompt.cli import app


def onprompt(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "onprompt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=300)


def told(*arguments: object) -> tuple[int, str]:
    """A command's exit code, and all that it printed or raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return getattr(result.exception, "exit_code", result.exit_code), f"{result.output}{result.exception or ''}"
