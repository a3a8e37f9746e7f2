"""Who may ask, and what the browser may do with the answer: checked before anything else sees a request."""

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from onprompt.pages.rendering import policy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Pictures that were dropped on a page are shown from the browser's memory (blob:) before they are sent.
RULES = {"img_src": "'self' data: blob:", "connect_src": "'self'", "form_action": "'self'"}
HEADERS = (
    (b"content-security-policy", policy(**RULES, frame_ancestors="'none'").encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
COOKIE = "onprompt_token"
SAFE = ("GET", "HEAD")
OWN_SITE = ("", "same-origin", "none")  # what browsers say of requests by the page itself, or by the address bar
NOT_LET_IN = "this server needs its token: open the address that it printed when it started"


def page_policy() -> str:
    """The policy as a page itself may state it."""
    return policy(**RULES)


class TooLarge(Exception):
    """A request has more bytes than are taken."""


class Guard:
    """An application that only those see who may: right host, right origin, right token, and not too much at once."""

    def __init__(self, app: App, host: str, token: str = "", max_bytes: int = 2**20) -> None:
        self.app, self.token, self.max_bytes = app, token, max_bytes
        self.names = {"localhost", host, *([socket.gethostname()] if not is_loopback(host) else [])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":  # a web socket, which nothing here has
            return None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        status, reason = self.refusal(scope, headers)
        if not status and self.token:
            given = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            if scope["method"] == "GET" and same(given.get("token", ""), self.token):
                return await self.let_in(scope, given, send)
            if not same(presented(headers, cookie_name(scope)), self.token):
                status, reason = 401, NOT_LET_IN
        if status:
            return await answer(send, status, reason)
        return await self.pass_on(scope, receive, send)

    def refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str]:
        """Why a request is refused; 0 if it is not."""
        host = headers.get("host", "")
        if not self.is_ours(host):
            return 400, "this server is not known under that name"
        origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "")
        is_link = scope["method"] in SAFE and headers.get("sec-fetch-mode") == "navigate"
        if scope["method"] not in SAFE and origin and urlsplit(origin).netloc != host:
            return 403, "requests of other sites are refused"
        if site not in OWN_SITE and not is_link:
            return 403, "requests of other sites are refused"
        if int_or_zero(headers.get("content-length", "")) > self.max_bytes:
            return 413, self.too_large
        return 0, ""

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server: an address, which no DNS server can rebind, or a known name."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.names or is_address(name)

    async def let_in(self, scope: Scope, given: dict[str, str], send: Send) -> None:
        """Turn the token of an address into a cookie, so that it stays in no history and no link."""
        del given["token"]
        path = f"/{quote(scope['path'].lstrip('/'))}"  # on this server, and no header of its own
        where = path + (f"?{urlencode(given)}" if given else "")
        cookie = f"{cookie_name(scope)}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        more = [(b"location", where.encode()), (b"set-cookie", cookie.encode())]
        await answer(send, 303, "", more)

    async def pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer, with our headers; a body that is too large ends the request."""
        taken, begun = 0, False

        async def limited() -> MutableMapping[str, Any]:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.max_bytes:
                raise TooLarge
            return message

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, own = True, {name for name, _ in message["headers"]}
                more = [*HEADERS, (b"cache-control", b"no-store")]
                message["headers"] = [*message["headers"], *(entry for entry in more if entry[0] not in own)]
            await send(message)

        try:
            await self.app(scope, limited, with_headers)
        except TooLarge:
            if not begun:
                await answer(send, 413, self.too_large)

    @property
    def too_large(self) -> str:
        """Why so many bytes are refused."""
        return f"the request is larger than {self.max_bytes / 1e6:g} MB"


async def answer(send: Send, status: int, text: str, more: list[tuple[bytes, bytes]] | None = None) -> None:
    """A plain answer."""
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"cache-control", b"no-store"),
        *HEADERS,
        *(more or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def cookie_name(scope: Scope) -> str:
    """The name of the cookie, by the port: browsers send a cookie to all servers of a host."""
    return f"{COOKIE}_{scope['server'][1]}"


def presented(headers: dict[str, str], name: str) -> str:
    """The token of a request, from its Authorization header or its cookie."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def same(given: str, token: str) -> bool:
    """Whether a token is the right one, in a time that tells nothing of it."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at an address."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(name: str) -> bool:
    """Whether a host is given by its address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def int_or_zero(text: str) -> int:
    """A number in a header."""
    return int(text) if text.isascii() and text.isdigit() else 0
