"""Starting and stopping a local server."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onprompt.errors import PluginError, UserError
from onprompt.web.guard import App, Guard, is_loopback

if TYPE_CHECKING:
    import uvicorn

GRACE = 5  # seconds that requests in progress have to end
END = 3  # more seconds until the process ends, whatever its threads do
NEEDED = ("fastapi", "uvicorn")
MIN_TOKEN = 16  # characters


def check_installed() -> None:
    """Say which extra brings the web server, if it is not installed."""
    from importlib.util import find_spec

    if missing := [name for name in NEEDED if not find_spec(name)]:
        raise PluginError(f"this command needs {', '.join(missing)}: pip install 'onprompt[web]'")


def choose_token(host: str, token: str = "") -> str:
    """The given token or, for a server that others can reach, a random one."""
    if token and len(token) < MIN_TOKEN:
        raise UserError(f"the token has {len(token)} characters; others could guess it: take at least {MIN_TOKEN}")
    if not token.isascii() or not all(sign.isalnum() or sign in "-_." for sign in token):
        raise UserError("the token may have letters, digits, -, _ and . only")
    return token or ("" if is_loopback(host) else secrets.token_urlsafe(24))


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes requests; port 0 takes any that is free."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as stack:
            made = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
            if sys.platform != "win32":  # where it would let two programs share the port
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen()  # who asks before the server is ready waits
            stack.pop_all()  # it stays open
    except OSError as error:
        raise UserError(f"can't listen on {host}, port {port}: {error.strerror or error}; see --host, --port") from None
    return made


def address_of(listening: socket.socket, host: str, token: str) -> str:
    """Where a browser finds the server; with the token, if it needs one."""
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104
    return f"http://{shown}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens, and who may ask it."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str = ""
    max_bytes: int = 2**20  # of a request


def run(app: App, place: Place, on_start: Callable[[str], None], on_stop: Callable[[], object] = bool) -> None:
    """Serve an application until Ctrl-C or SIGTERM; `on_start` is told its address, `on_stop` called when it stops."""
    host, token = place.host, choose_token(place.host, place.token)

    def stop() -> None:
        on_stop()
        end = threading.Timer(GRACE + END, os._exit, (0,))
        end.daemon = True
        end.start()

    with listen(host, place.port) as listening, suppress(KeyboardInterrupt):
        before = signal.signal(signal.SIGTERM, interrupt)  # which uvicorn raises once more at the end
        try:
            server = make_server(Guard(app, host, token, place.max_bytes), stop)
            on_start(address_of(listening, host, token))
            server.run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def interrupt(*_: object) -> None:
    """Stop as Ctrl-C does."""
    raise KeyboardInterrupt


def make_server(app: App, on_stop: Callable[[], object]) -> uvicorn.Server:
    """The server; it logs no request, since an address may hold a token."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            on_stop()  # before waiting for pending requests
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=GRACE,
    )
    return Server(config)
