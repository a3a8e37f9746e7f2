"""HTTP within limits: one deadline for all that a call waits for, and a bound on what a response brings."""

import io
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

from onprompt.errors import SettingsError

MAX_RESPONSE_BYTES = 16 * 2**20  # 2,048 tokens, each with 20 alternatives and their probabilities, are about 4 MiB
MAX_RAW_BYTES = 2 * MAX_RESPONSE_BYTES  # with headers and the sizes of chunks, whatever these claim
TOO_LARGE = f"the response is larger than {MAX_RESPONSE_BYTES >> 20} MiB"
PIECE = 2**18  # bytes read at a time
PLAIN, COMPRESSED = ("", "identity"), ("gzip", "x-gzip", "deflate")


class Late(Exception):
    """The deadline of the call has passed."""


class Unreachable(Exception):
    """No connection, or one that broke before the response began."""


class BadResponse(Exception):
    """A response that can't be read, or not to its end."""


class Response(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
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


class DeadlineReader(io.RawIOBase):
    """Reads one response, never waits longer than to the deadline of the call, and takes no endless one."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self.sock, self.raw, self.received, self.deadline = sock, sock.makefile("rb", buffering=0), 0, deadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What http.client, which takes this for a socket, reads all of the response from."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self.sock.settimeout(self.deadline.left())
        count = cast(io.RawIOBase, self.raw).readinto(buffer)
        self.received += count or 0
        if self.received > MAX_RAW_BYTES:
            raise BadResponse(TOO_LARGE)
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


class Plain(HTTPConnection):
    """A connection that keeps to the deadline of its pool, which can end it while a call waits for it."""

    def __init__(self, *args: Any, deadline: Deadline, connections: set[HTTPConnection], **options: Any) -> None:
        super().__init__(*args, **options)
        self.deadline, self.connections = deadline, connections

    def response_class(self, sock: socket.socket, *args: Any, **options: Any) -> HTTPResponse:  # type: ignore[override]
        """The response that http.client is going to read."""
        return HTTPResponse(cast(socket.socket, DeadlineReader(sock, self.deadline)), *args, **options)

    def connect(self) -> None:
        super().connect()
        self.connections.add(self)

    def close(self) -> None:
        self.connections.discard(self)
        super().close()


class Secure(Plain, HTTPSConnection):
    """The same over TLS."""

    def connect(self) -> None:
        self.ssl_context = tls()
        super().connect()


class HttpPool:
    """Connections to one server, for many threads. They follow no redirect, which would take the key elsewhere."""

    def __init__(self, url: str, seconds: float, kept: int) -> None:
        parts, self.seconds = urlsplit(url), seconds
        self.deadline, self.connections = Deadline(), set[HTTPConnection]()
        self.server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        options: dict[str, Any] = {"maxsize": kept, "retries": False, "timeout": seconds}
        if proxy := proxy_for(parts):
            options["proxy_headers"] = credentials(proxy)
            self.manager: urllib3.PoolManager = urllib3.ProxyManager(
                f"http://{proxy.hostname}:{proxy.port or 80}", **options
            )
        else:
            self.manager = urllib3.PoolManager(**options)
        kind = Secure if parts.scheme == "https" else Plain
        pool = self.manager.connection_from_url(self.server)
        pool.ConnectionCls = cast(Any, partial(kind, deadline=self.deadline, connections=self.connections))

    def request(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """The whole response, within the deadline; Late, Unreachable or BadResponse."""
        self.deadline.end, response = time.monotonic() + self.seconds, None
        sent = {**headers, "Accept-Encoding": "gzip"}
        try:
            response = self.manager.urlopen(
                method, self.server + path, body=body, headers=sent, redirect=False, preload_content=False
            )
            content = read(response)
        except BaseException as error:
            if response:
                response.close()
            if isinstance(error, Late | TimedOut | TimeoutError) and not isinstance(error, NewConnectionError):
                raise Late from None
            if isinstance(error, HTTPError | HTTPException | OSError | ValueError):
                raise (BadResponse if response else Unreachable)(innermost(error)) from None
            raise
        response.release_conn()
        return Response(response.status, response.headers, content)

    def close(self) -> None:
        """Close all connections; calls in progress fail."""
        for connection in list(self.connections):
            with suppress(OSError, AttributeError):  # its thread may be closing it already
                connection.sock.shutdown(socket.SHUT_RDWR)
        self.manager.clear()


def read(response: urllib3.BaseHTTPResponse) -> bytes:
    """The body, unpacked: not by urllib3, which takes one that was cut off. BadResponse if it is too large."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*PLAIN, *COMPRESSED):
        raise BadResponse(f"the response has the encoding {encoding[:40]!r}, which was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in COMPRESSED else None  # of gzip or zlib
    content = bytearray()
    while piece := response.read(PIECE, decode_content=False):
        try:
            content += unpacker.decompress(piece, MAX_RESPONSE_BYTES) if unpacker else piece
        except zlib.error as error:
            raise BadResponse(f"the response can't be unpacked: {error}") from None
        if len(content) > MAX_RESPONSE_BYTES or (unpacker and unpacker.unconsumed_tail):
            raise BadResponse(TOO_LARGE)
    if unpacker and not unpacker.eof:
        raise BadResponse("the compressed response ends too early")
    return bytes(content)


def innermost(error: BaseException) -> str:
    """The words of the error that others were made from: theirs name Python objects."""
    while isinstance(error, HTTPError) and (inner := error.__cause__ or error.__context__):
        error = inner
    return str(error) or type(error).__name__


def proxy_for(server: SplitResult) -> SplitResult | None:
    """The proxy that the system's settings name for a server."""
    address = None if proxy_bypass(server.hostname or "") else getproxies().get(server.scheme)
    if not address:
        return None
    proxy = urlsplit(address if "//" in address else f"http://{address}")
    if proxy.scheme != "http":
        raise SettingsError(f"the proxy {proxy.scheme}://{proxy.hostname or ''} is not supported: use one with http://")
    return proxy


def credentials(proxy: SplitResult) -> dict[str, str]:
    """The header that a proxy with a password wants."""
    if not proxy.username:
        return {}
    return urllib3.make_headers(proxy_basic_auth=f"{unquote(proxy.username)}:{unquote(proxy.password or '')}")


@cache
def tls() -> ssl.SSLContext:
    """Certificates of the system, which may know a company's own, and of certifi, for systems that have none."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
