"""Who may ask, and what the browser may do with the answer: checked before anything else sees a request."""

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
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
BODY_SECONDS = 60  # in which a request must arrive
TOGETHER = 8  # times the size of the largest request: what all requests that are still arriving may take
MAX_VALUES = 20_000  # in the JSON of a request; a prompt of 10,000 characters is within it, whatever they are
STRUCTURE = (b"[", b"{", b",", b":")  # what a value of JSON begins with or follows: counted, it bounds keys and depth
CLOSE, RETRY = (b"connection", b"close"), (b"retry-after", b"5")


def page_policy() -> str:
    """The policy as a page itself may state it."""
    return policy(**RULES)


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
            if not any(same(value, self.token) for value in presented(headers, cookie_name(scope))):
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
        if scope["method"] not in SAFE and origin and origin.partition("://")[2] != host:
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
                more = [*HEADERS, (b"cache-control", b"no-store")]
                message["headers"] = [*message["headers"], *(entry for entry in more if entry[0] not in own)]
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

    @property
    def too_large(self) -> str:
        """Why so many bytes are refused."""
        return f"the request is larger than {self.max_bytes / 1e6:g} MB"


async def answer(send: Send, status: int, text: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """A plain answer."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def cookie_name(scope: Scope) -> str:
    """The name of the cookie, by the port: browsers send a cookie to all servers of a host."""
    return f"{COOKIE}_{scope['server'][1]}"


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
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def int_or_zero(text: str) -> int:
    """A number in a header."""
    return int(text) if text.isascii() and text.isdigit() else 0
