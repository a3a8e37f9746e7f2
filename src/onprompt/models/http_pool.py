"""HTTP within limits: one deadline for all that a call waits for, and a bound on what a response brings."""

import io
import socket
import ssl
import threading
import time
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

from onprompt.errors import ServerTrouble, SettingsError

MAX_RESPONSE_BYTES = 16 * 2**20  # 2,048 tokens, each with 20 alternatives and their probabilities, are about 4 MiB
MAX_RAW_BYTES = 2 * MAX_RESPONSE_BYTES  # with headers and the sizes of chunks, whatever these claim
TOO_LARGE = f"the response is larger than {MAX_RESPONSE_BYTES >> 20} MiB"


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
            raise TimeoutError
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
            raise ValueError(TOO_LARGE)
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
        parts, self.seconds, self.address = urlsplit(url), seconds, public_address(url)
        self.deadline, self.connections = Deadline(), set[HTTPConnection]()
        self.server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        options: dict[str, Any] = {"maxsize": kept, "retries": False, "timeout": seconds}
        proxy = proxy_for(parts)
        self.manager = urllib3.ProxyManager(**proxy, **options) if proxy else urllib3.PoolManager(**options)
        kind = Secure if parts.scheme == "https" else Plain
        pool = self.manager.connection_from_url(self.server)
        pool.ConnectionCls = cast(Any, partial(kind, deadline=self.deadline, connections=self.connections))

    def request(self, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """The whole response to a POST, within the deadline; or ServerTrouble."""
        self.deadline.end, response = time.monotonic() + self.seconds, None
        sent = {**headers, "Accept-Encoding": "identity"}  # packed, a small response could be endless
        try:
            response = self.manager.urlopen(
                "POST", self.server + path, body=body, headers=sent, redirect=False, preload_content=False
            )
            if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
                raise ValueError("the response is compressed, which was not asked for")
            content = response.read(MAX_RESPONSE_BYTES + 1, decode_content=False)
            if len(content) > MAX_RESPONSE_BYTES:
                raise ValueError(TOO_LARGE)
            response.read()  # its end, which may be missing
        except BaseException as error:
            if response:
                response.close()
            if not isinstance(error, HTTPError | HTTPException | OSError | ValueError):
                raise
            trouble = self.trouble(error, begun=response is not None)
        else:
            response.release_conn()
            return Response(response.status, response.headers, content)
        raise trouble  # not inside `except`: what was sent holds the key and would become its context

    def trouble(self, error: Exception, begun: bool) -> ServerTrouble:
        """Why there is no response, or not all of it."""
        if isinstance(error, TimedOut | TimeoutError) and not isinstance(error, NewConnectionError):
            return ServerTrouble("timeout", f"no complete response from {self.address} within {self.seconds:g} s")
        cause: BaseException = error
        while isinstance(cause, HTTPError) and (inner := cause.__cause__ or cause.__context__):
            cause = inner  # the words of the outer ones name Python objects
        failed = "can't read the response of" if begun else "can't reach"
        return ServerTrouble("connection", f"{failed} {self.address}: {cause or type(cause).__name__}")

    def close(self) -> None:
        """Close all connections; calls in progress fail."""
        for connection in list(self.connections):
            with suppress(OSError, AttributeError):  # its thread may be closing it already
                connection.sock.shutdown(socket.SHUT_RDWR)
        self.manager.clear()


def public_address(url: str) -> str:
    """A URL without credentials and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"


def proxy_for(server: SplitResult) -> dict[str, Any]:
    """The proxy that the system's settings name for a server, with its password, as urllib3 takes it."""
    address = None if proxy_bypass(server.hostname or "") else getproxies().get(server.scheme)
    if not address:
        return {}
    proxy = urlsplit(address if "//" in address else f"http://{address}")
    if proxy.scheme != "http":
        raise SettingsError(f"the proxy {proxy.scheme}://{proxy.hostname or ''} is not supported: use one with http://")
    user = f"{unquote(proxy.username or '')}:{unquote(proxy.password or '')}"
    headers = urllib3.make_headers(proxy_basic_auth=user) if proxy.username else {}
    return {"proxy_url": f"http://{proxy.hostname}:{proxy.port or 80}", "proxy_headers": headers}


@cache
def tls() -> ssl.SSLContext:
    """Certificates of the system, which may know a company's own, and of certifi, for systems that have none."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
