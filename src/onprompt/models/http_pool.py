"""HTTP within limits: one deadline for all that a call waits for, and a ceiling on what a response unpacks to.

On http.client: it takes a third of httpx's processor time for a request, which counts with a hundred in progress.
"""

import base64
import io
import selectors
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.message import Message
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi

from onprompt.errors import SettingsError

MAX_RESPONSE_BYTES = 16 * 2**20  # 2,048 tokens, each with 20 alternatives and their probabilities, are about 4 MiB
MAX_RAW_BYTES = 2 * MAX_RESPONSE_BYTES  # with headers and the sizes of chunks, whatever these claim
PIECE = 2**18  # bytes read at a time
IDLE_SECONDS = 5  # after which a connection is not used again: servers close theirs
GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
TOO_LARGE = f"the response is larger than {MAX_RESPONSE_BYTES >> 20} MiB"
PLAIN = ("", "identity")
COMPRESSED = ("gzip", "x-gzip", "deflate")
Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Late(Exception):
    """The deadline of the call has passed."""


class Unreachable(Exception):
    """No connection, or one that broke before the response began."""


class BadResponse(Exception):
    """A response that can't be read, or not to its end."""


class Response(NamedTuple):
    """What a server answered."""

    status: int
    headers: Message
    content: bytes

    @property
    def text(self) -> str:
        """The body as text, whatever it claims to be."""
        return self.content.decode(errors="replace")


class Deadline(threading.local):
    """When the call of a thread must have ended, on the monotonic clock."""

    end = float("inf")

    def left(self) -> float:
        """The seconds that are left; raises if there are none."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise Late
        return left


deadline = Deadline()


class DeadlineReader(io.RawIOBase):
    """Reads one response, never waits longer than to the deadline of the call, and takes no endless one."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.raw, self.received = sock, sock.makefile("rb", buffering=0), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self.sock.settimeout(deadline.left())
        count = cast(io.RawIOBase, self.raw).readinto(buffer)
        self.received += count or 0
        if self.received > MAX_RAW_BYTES:
            raise BadResponse(TOO_LARGE)
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


class DeadlineSocket:
    """What http.client reads a response from."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def makefile(self, _mode: str) -> io.BufferedReader:
        """A file to read all of the response from."""
        return io.BufferedReader(DeadlineReader(self.sock))


def begin_response(sock: socket.socket, *args: Any, **options: Any) -> HTTPResponse:
    """The response that http.client is going to read."""
    return HTTPResponse(cast(socket.socket, DeadlineSocket(sock)), *args, **options)


class HttpPool:
    """Connections to one server, for many threads. They follow no redirect, which would take the key elsewhere."""

    def __init__(self, url: str, seconds: float, kept: int) -> None:
        self.parts, self.seconds, self.kept = urlsplit(url), seconds, kept
        self.proxy = proxy_for(self.parts)
        self.headers = {"Accept-Encoding": "gzip", **(credentials(self.proxy) if self.read_by_proxy else {})}
        self.idle: list[tuple[HTTPConnection, float]] = []
        self.open, self.lock = set[HTTPConnection](), threading.Lock()

    def request(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """The whole response, within the deadline; Late, Unreachable or BadResponse."""
        deadline.end = time.monotonic() + self.seconds
        connection, begun = self.take(), False
        try:
            if not connection.sock:
                connection.timeout = deadline.left()
                connection.connect()
            connection.sock.settimeout(deadline.left())
            connection.request(method, self.target(path), body, {**headers, **self.headers})
            response = connection.getresponse()
            begun = True
            content = read(response)
        except BaseException as error:
            self.drop(connection)
            if isinstance(error, Late | TimeoutError):
                raise Late from None
            if isinstance(error, HTTPException | OSError | ValueError):
                raise (BadResponse if begun else Unreachable)(str(error) or type(error).__name__) from None
            raise
        self.give_back(connection)
        return Response(response.status, response.headers, content)

    def take(self) -> HTTPConnection:
        """A connection that is idle and still open, or a new one."""
        while True:
            with self.lock:
                connection, since = self.idle.pop() if self.idle else (None, 0.0)
            if connection is None:
                connection = self.new_connection()
                with self.lock:
                    self.open.add(connection)
                return connection
            if time.monotonic() - since < IDLE_SECONDS and not is_readable(connection.sock):
                return connection
            self.drop(connection)

    def give_back(self, connection: HTTPConnection) -> None:
        """Keep a connection for the next call, unless the server closed it or there are enough."""
        with self.lock:
            keep = connection.sock is not None and connection in self.open and len(self.idle) < self.kept
            if keep:
                self.idle.append((connection, time.monotonic()))
        if not keep:
            self.drop(connection)

    def drop(self, connection: HTTPConnection) -> None:
        """Close a connection for good."""
        with self.lock:
            self.open.discard(connection)
        connection.close()

    def close(self) -> None:
        """Close all connections; calls in progress fail."""
        with self.lock:
            idle, self.idle = {connection for connection, _ in self.idle}, []
            busy, self.open = self.open - idle, set()
        for connection in idle:
            connection.close()
        for connection in busy:
            with suppress(OSError, AttributeError):  # its thread may be closing it already
                connection.sock.shutdown(socket.SHUT_RDWR)

    def new_connection(self) -> HTTPConnection:
        """A connection to the server or its proxy, not yet open."""
        near = self.proxy or self.parts
        address = (near.hostname or "", near.port or (443 if near.scheme == "https" else 80))
        secure = self.parts.scheme == "https"
        made = HTTPSConnection(*address, context=tls()) if secure else HTTPConnection(*address)
        made.response_class = begin_response  # type: ignore[assignment]
        if self.proxy and secure:
            made.set_tunnel(self.parts.hostname or "", self.parts.port or 443, credentials(self.proxy))
        return made

    def target(self, path: str) -> str:
        """What the first line of a request names: the whole URL where a proxy reads it."""
        return f"http://{self.parts.netloc.rpartition('@')[2]}{path}" if self.read_by_proxy else path

    @property
    def read_by_proxy(self) -> bool:
        """Whether a proxy reads the requests, as it does without TLS."""
        return self.proxy is not None and self.parts.scheme == "http"


def proxy_for(server: SplitResult) -> SplitResult | None:
    """The proxy that the system's settings name for a server."""
    address = None if proxy_bypass(server.hostname or "") else getproxies().get(server.scheme)
    if not address:
        return None
    proxy = urlsplit(address if "//" in address else f"http://{address}")
    if proxy.scheme != "http":
        raise SettingsError(f"the proxy {proxy.scheme}://{proxy.hostname or ''} is not supported: use one with http://")
    return proxy


def credentials(proxy: SplitResult | None) -> dict[str, str]:
    """The header that a proxy with a password wants."""
    if not (proxy and proxy.username):
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


@cache
def tls() -> ssl.SSLContext:
    """Certificates of the system, which may know a company's own, and of certifi, for systems that have none."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def is_readable(sock: socket.socket) -> bool:
    """Whether something arrived on an idle connection: its end, or nothing that belongs to a request."""
    with Selector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def read(response: HTTPResponse) -> bytes:
    """The body, unpacked; BadResponse if it is too large or incomplete."""
    encoding = (response.getheader("content-encoding") or "").strip().lower()
    if encoding not in (*PLAIN, *COMPRESSED):
        raise BadResponse(f"the response has the encoding {encoding[:40]!r}, which was not asked for")
    content = bytearray()
    for piece in pieces(response) if encoding in PLAIN else unpack(pieces(response)):
        content += piece
        if len(content) > MAX_RESPONSE_BYTES:
            raise BadResponse(TOO_LARGE)
    return bytes(content)


def pieces(response: HTTPResponse) -> Iterator[bytes]:
    """The body as it comes."""
    while piece := response.read(PIECE):
        yield piece
    if response.length:
        raise BadResponse("the response ends too early")


def unpack(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What was compressed, in pieces of a limited size, however much comes out of one chunk."""
    unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
    try:
        for chunk in chunks:
            while chunk and not unpacker.eof:
                yield unpacker.decompress(chunk, MAX_RESPONSE_BYTES)
                chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise BadResponse(f"the response can't be unpacked: {error}") from None
    if not unpacker.eof:
        raise BadResponse("the compressed response ends too early")
