"""HTTP within limits, and what the backends that speak it share.

One deadline for all that a call waits for, a bound on what a response brings, errors in plain words, and no API key in
messages or answers.
"""

import base64
import datetime
import email.utils
import io
import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache, partial
from http.client import HTTPException, HTTPResponse
from importlib.metadata import version
from typing import Any, NamedTuple, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import certifi
import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TimedOut

from onprompt.errors import Rejected, ServerTrouble, SettingsError
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, SentImage, Usage
from onprompt.vision.image import encode_image

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


# ---- what the protocols share ---------------------------------------------------------------------------------------


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait after an error, if the server says."""
    milliseconds = headers.get("retry-after-ms")
    return seconds_until(f"{milliseconds}ms" if milliseconds else headers.get("retry-after", ""))


def seconds_until(value: str) -> float | None:
    """Seconds from now: `12`, `1.5s`, `20ms` or an HTTP date; else None."""
    if found := re.fullmatch(r"(\d{1,18}(?:\.\d+)?)(ms|s)?", value.strip()):
        return float(found[1]) * (0.001 if found[2] == "ms" else 1.0)
    with suppress(TypeError, ValueError):
        moment = email.utils.parsedate_to_datetime(value)
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp() - time.time())
    return None


HIDDEN = "[key]"
WINDOW = 8  # characters of a key that are hidden wherever they stand; a shorter key is a placeholder such as "none"


def hide_key(text: str, key: str) -> str:
    """A text without any 8 characters of a key that follow each other."""
    return key_pattern(key).sub(HIDDEN, text)


@lru_cache(maxsize=64)
def key_pattern(key: str) -> re.Pattern[str]:
    """Matches parts of a key and of its base64, at any of the three places in which it may begin there."""
    forms = [key]
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + key.encode()).decode().rstrip("=")
        whole = encoded[-(-before * 4 // 3) : len(encoded) - bool((before + len(key)) % 3)]  # letters of the key alone
        forms += [whole, whole.translate(str.maketrans("+/", "-_"))]
    parts = {re.escape(form[at : at + WINDOW]) for form in forms for at in range(len(form) - WINDOW + 1)}
    return re.compile(f"(?:(?={'|'.join(parts)}).)+.{{{WINDOW - 1}}}" if len(key) >= WINDOW else r"(?!)", re.DOTALL)


MAX_QUOTED, MAX_PAGE = 300, 10_000  # characters of a server's error message, and of the page in which it stands
BUSY = (429, 503, 529)
RETRYABLE = (408, 409, 425, *BUSY)
OPTION_ERRORS = (400, 404, 415, 422, 501)
# How servers say that they don't support an option.
UNSUPPORTED = (
    *("unsupported", "not support", "unknown", "unrecognized", "unrecognised", "not allowed", "not permitted"),
    *("not available", "not enabled", "deprecated", "unexpected", "extra inputs", "extra fields", "cannot find field"),
    *("not implemented", "invalid parameter", "not recognized", "is not valid", "only the default"),
)
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # raised by JSON of another shape
MAX_TOKENS = 10**8  # in one answer; no model takes or gives as many


class UnsupportedOption(Exception):
    """The server does not support the option named; the question can be asked without it."""


class HttpBackend:
    """A backend that speaks HTTP; subclasses know the protocol. No SDK: its work on a request takes as long as ours."""

    backend: str
    server: str
    endpoint: str  # the path below the server's URL
    key_variables: tuple[str, ...]
    key_hint: str = ""
    url_variable: str
    response_name: str
    schema_option: str  # constrains the answer to a JSON schema
    option_words: Mapping[str, Sequence[str]]  # by which words a server's error names an option
    needs_key = True
    unsupported: frozenset[str] = frozenset()

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.key = api_key(settings, *self.key_variables)
        self.url = base_url(settings, self.url_variable) or self.server
        self.pool = HttpPool(self.url, settings.timeout, settings.concurrency)
        self.address = self.pool.address

    def headers(self) -> dict[str, str]:
        """The headers of this protocol."""
        raise NotImplementedError

    def options(self, question: Question) -> dict[str, Any]:
        """The parameters that can be left out if the server does not support them."""
        raise NotImplementedError

    def body(self, question: Question, options: Mapping[str, Any]) -> dict[str, Any]:
        """What is sent, with the options that the server supports."""
        raise NotImplementedError

    def content(self, part: Part) -> dict[str, Any]:
        """A text or an image."""
        raise NotImplementedError

    def parse(self, body: Any, question: Question) -> Answer:
        """The answer in a response; may raise any of MALFORMED."""
        raise NotImplementedError

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": self.backend, "model": self.model, "server": self.address}

    def close(self) -> None:
        """Close the connections."""
        self.pool.close()

    def drop(self, option: str) -> None:
        """Leave an option out from now on. An update lost to another thread is learnt again."""
        self.unsupported = self.unsupported | {option}

    def ask(self, question: Question) -> Answer:
        """Send the question; again without each option that the server does not support."""
        if self.needs_key and not self.key:
            raise Rejected(f"no API key for {self.backend}: set {' or '.join(self.key_variables)}{self.key_hint}")
        start, wanted = time.monotonic(), self.options(question)
        while True:
            options = {name: value for name, value in wanted.items() if name not in self.unsupported}
            try:
                response = self.send(self.body(question, options), options)
                break
            except UnsupportedOption as error:
                self.drop(str(error))
        seconds = round(time.monotonic() - start, 3)
        body = self.parse_json(response)
        with suppress(*MALFORMED):
            answer = self.parse(body, question)
            return replace(
                answer,
                text=self.redact(answer.text),
                token_probs=tuple(
                    spot._replace(probabilities={self.redact(token): p for token, p in spot.probabilities.items()})
                    for spot in answer.token_probs
                ),
                model=self.redact(answer.model),
                usage=replace(checked_usage(answer), seconds=seconds),
                structured=self.schema_option in options,
                refused=tuple(sorted(wanted.keys() - options.keys())),
            )
        raise ServerTrouble("broken", f"{self.address} sent JSON that is not {self.response_name}")

    def parse_json(self, response: Response) -> Any:
        """The JSON in a response; the error quotes nothing of it, since it may hold the key."""
        with suppress(ValueError, RecursionError):
            return json.loads(response.content)
        raise ServerTrouble("broken", f"{self.address} did not send JSON")

    def send(self, body: Mapping[str, Any], options: Iterable[str]) -> Response:
        """The server's response, or UnsupportedOption."""
        parts = urlsplit(self.url)
        path = f"{parts.path.rstrip('/')}{self.endpoint}" + (f"?{parts.query}" if parts.query else "")
        headers = {"Content-Type": "application/json", "User-Agent": f"onprompt/{version('onprompt')}"}
        try:
            response = self.pool.request(path, json.dumps(body).encode(), headers | self.headers())
        except ServerTrouble as error:
            problem: Exception = ServerTrouble(error.kind, self.redact(str(error)))  # a server may send the key back
        else:
            if 200 <= response.status < 300:
                return response
            problem = self.status_error(response, options)
        raise problem  # not inside `except`, so that nothing else hangs on it

    def message(self, message: Message) -> dict[str, Any]:
        """A turn of the conversation."""
        return {"role": message.role, "content": [self.content(part) for part in message.joined]}

    def redact(self, text: str) -> str:
        """A text without the key, in case the server echoed it."""
        return hide_key(text, self.key)

    def status_error(self, response: Response, sent: Iterable[str]) -> Exception:
        """The error for a response that is none of success."""
        status, said = response.status, response.text.lower()
        if status in OPTION_ERRORS and any(word in said for word in UNSUPPORTED):  # else its value may be the problem
            for option in sent:
                if any(word in said for word in self.option_words.get(option, ())):
                    return UnsupportedOption(option)
        quoted = self.redact(" ".join(response.text[:MAX_PAGE].split()))[:MAX_QUOTED]
        message = f"{self.address} returned status {status}" + (f": {quoted}" if quoted else "")
        if status in RETRYABLE or status >= 500:
            return ServerTrouble("busy" if status in BUSY else "server", message, retry_after(response.headers))
        return Rejected(f"{message} (check the API key)" if status in (401, 403) else message)


def base64_image(shown: SentImage) -> str:
    """An image as text."""
    return base64.b64encode(encode_image(shown)).decode()


def token_count(*counts: Any) -> int:
    """The tokens that a server says it has counted; -1 if that is no number of tokens."""
    given = [count for count in counts if count is not None]
    valid = all(isinstance(count, int) and 0 <= count <= MAX_TOKENS for count in given)
    return sum(given) if valid else -1


def checked_usage(answer: Answer) -> Usage:
    """The usage that a server states, or none, to be estimated, where it states none or nonsense."""
    used = answer.usage
    plausible = used.tokens_in > 0 and (used.tokens_out > 0 or (used.tokens_out == 0 and not answer.text))
    return used if plausible else Usage(estimated=True)


def api_key(settings: Settings, *variables: str) -> str:
    """The key from the settings or the environment; empty if there is none."""
    setting = settings.api_key.get_secret_value()
    key = (setting or next((os.environ[name] for name in variables if os.environ.get(name)), "")).strip()
    if not (key.isascii() and key.isprintable()):  # an HTTP library's error would quote it
        raise Rejected(f"the API key (api_key, {' or '.join(variables)}) contains invalid characters")
    return key


def base_url(settings: Settings, variable: str) -> str:
    """The server's URL from the settings or the environment; empty if there is none."""
    url = (settings.base_url or os.environ.get(variable, "")).strip()
    with suppress(ValueError):  # of a malformed host or port
        parts = urlsplit(url)
        if not url or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0):
            return url
    raise SettingsError(f"invalid server URL (base_url or {variable}): it must start with http:// or https://")
