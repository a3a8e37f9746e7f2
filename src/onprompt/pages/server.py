"""A local server: who may ask it, what the browser may do with an answer, and how it starts and stops.

All this is checked before anything else sees a request.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from onprompt.errors import PluginError, UserError
from onprompt.pages.rendering import policy

if TYPE_CHECKING:
    import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Pictures that were dropped on a page are shown from the browser's memory (blob:) before they are sent.
RULES = {"img_src": "'self' data: blob:", "connect_src": "'self'", "form_action": "'self'"}
PAGE_POLICY = policy(**RULES)  # as a page itself may state it
HEADERS = (
    (b"content-security-policy", policy(**RULES, frame_ancestors="'none'").encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
COOKIE = "onprompt_token"
SAFE = ("GET", "HEAD")
OWN_SITE = ("", "same-origin", "none")  # what browsers say of requests by the page itself, or by the address bar
NOT_LET_IN = "this server needs its token: open the address that it printed when it started"
BODY_SECONDS = 60  # in which a request must arrive
TOGETHER = 8  # times the size of the largest request: what all requests that are still arriving may take
MAX_VALUES = 20_000  # in the JSON of a request; a prompt of 10,000 characters is within it, whatever they are
STRUCTURE = (b"[", b"{", b",", b":")  # what a value of JSON begins with or follows: counted, it bounds keys and depth
CLOSE, RETRY = (b"connection", b"close"), (b"retry-after", b"5")
GRACE, END = 5, 3  # seconds that requests in progress have; then until the process ends, whatever its threads do
NEEDED = ("fastapi", "uvicorn")
MIN_TOKEN = 16  # characters


class Refused(Exception):
    """A request is not taken: its status, the reason, and more headers."""

    def __init__(self, status: int, reason: str, *more: tuple[bytes, bytes]) -> None:
        super().__init__(reason)
        self.status, self.reason, self.more = status, reason, more


class Gone(Exception):
    """The client closed its connection before its request had arrived."""


class Guard:
    """An application that only those see who may: right host, right origin, right token, and not too much at once."""

    def __init__(
        self, app: App, host: str, token: str = "", max_bytes: int = 2**20, seconds: float = BODY_SECONDS
    ) -> None:
        self.app, self.token, self.max_bytes, self.seconds = app, token, max_bytes, seconds
        self.arriving = 0  # bytes of all requests that have not arrived yet
        self.names = {"localhost", host, *([socket.gethostname()] if not is_loopback(host) else [])}
        self.too_large = f"the request is larger than {max_bytes / 1e6:g} MB"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":  # a web socket, which nothing here has
            return None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        cookie = f"{COOKIE}_{scope['server'][1]}"  # by the port: browsers send a cookie to all servers of a host
        try:
            self.check(scope, headers)
            if self.token:
                given = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
                if scope["method"] == "GET" and same(given.get("token", ""), self.token):
                    return await self.let_in(scope, given, cookie, send)
                if not any(same(value, self.token) for value in presented(headers, cookie)):
                    raise Refused(401, NOT_LET_IN)
        except Refused as refused:
            return await answer(send, refused.status, refused.reason)
        return await self.pass_on(scope, receive, send)

    def check(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuse a request under another name, by another site, or that is too large.

        A server is named by an address, which no DNS server can rebind, or by a name that it is known under.
        """
        host = headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if name not in self.names and not is_address(name):
            raise Refused(400, "this server is not known under that name")
        origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "")
        is_link = scope["method"] in SAFE and headers.get("sec-fetch-mode") == "navigate"
        foreign = scope["method"] not in SAFE and origin and origin.partition("://")[2] != host
        if foreign or (site not in OWN_SITE and not is_link):
            raise Refused(403, "requests of other sites are refused")
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > self.max_bytes:
            raise Refused(413, self.too_large)

    async def let_in(self, scope: Scope, given: dict[str, str], name: str, send: Send) -> None:
        """Turn the token of an address into a cookie, so that it stays in no history and no link."""
        del given["token"]
        path = f"/{quote(scope['path'].lstrip('/'))}"  # on this server, and no header of its own
        where = path + (f"?{urlencode(given)}" if given else "")
        cookie = f"{name}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        await answer(send, 303, "", [(b"location", where.encode()), (b"set-cookie", cookie.encode())])

    async def pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer a request that has arrived, with our headers."""
        begun, unread = False, list[bytes]()

        async def replay() -> MutableMapping[str, Any]:
            if unread:
                return {"type": "http.request", "body": unread.pop(), "more_body": False}
            return await receive()  # that the client is gone

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, own = True, {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(entry for entry in HEADERS if entry[0] not in own)]
            await send(message)

        try:
            unread.append(await self.body(receive))
            await self.app(scope, replay, with_headers)
        except Gone:
            return
        except Refused as refused:
            await answer(send, refused.status, refused.reason, refused.more)
        except asyncio.CancelledError:  # the server stops, and the time for requests in progress is over
            if begun:
                raise
            await answer(send, 503, "the server is stopping", [CLOSE])

    async def body(self, receive: Receive) -> bytes:
        """The whole body of a request; Refused if it is too large, too slow or too much beside the others."""
        taken = bytearray()
        try:
            async with asyncio.timeout(self.seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    more, part = message.get("more_body", False), message.get("body", b"")
                    taken += part
                    self.arriving += len(part)
                    if len(taken) > self.max_bytes:
                        raise Refused(413, self.too_large)
                    if self.arriving > TOGETHER * self.max_bytes:
                        raise Refused(429, "too many large requests are arriving; try again later", RETRY)
        except TimeoutError:
            raise Refused(408, f"the request took longer than {self.seconds:g} s to arrive", CLOSE) from None
        finally:
            self.arriving -= len(taken)
        if sum(map(taken.count, STRUCTURE)) > MAX_VALUES:
            raise Refused(413, f"the request has more than {MAX_VALUES:,} values")
        return bytes(taken)


async def answer(send: Send, status: int, text: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """A plain answer."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def presented(headers: dict[str, str], name: str) -> list[str]:
    """The tokens of a request, from its Authorization header or its cookies.

    Cookies of other applications on this host are sent, too, and need not be as Python's parser wants them.
    """
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return [value.strip()]
    cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return [value for key, _, value in cookies if key == name]


def same(given: str, token: str) -> bool:
    """Whether a token is the right one, in a time that tells nothing of it."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at an address."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(name: str) -> bool:
    """Whether a host is given by its address."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def check_installed() -> None:
    """Say which extra brings the web server, if it is not installed."""
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
    """Serve an application until Ctrl-C or SIGTERM; `on_start` receives its address, `on_stop` called when it stops."""
    host, token = place.host, choose_token(place.host, place.token)

    def stop() -> None:
        on_stop()
        end = threading.Timer(GRACE + END, os._exit, (0,))
        end.daemon = True
        end.start()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with listen(host, place.port) as listening, suppress(KeyboardInterrupt):
        before = signal.signal(signal.SIGTERM, interrupt)  # which uvicorn raises once more at the end
        try:
            server = make_server(Guard(app, host, token, place.max_bytes), stop)
            on_start(address_of(listening, host, token))
            server.run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def make_server(app: App, on_stop: Callable[[], object]) -> uvicorn.Server:
    """The server; it logs no request, since an address may hold a token."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            on_stop()  # before waiting for pending requests
            await super().shutdown(sockets)

    silent: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "date_header": False}
    return Server(uvicorn.Config(app, ws="none", lifespan="on", timeout_graceful_shutdown=GRACE, **silent))
