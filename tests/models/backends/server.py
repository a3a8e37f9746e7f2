"""A real HTTP server on loopback that answers by a script, and what every backend must make of its answers."""

from __future__ import annotations

import base64
import gzip
import io
import json
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import certifi
import numpy as np
import pytest
from PIL import Image
from pydantic import SecretStr

from onprompt.errors import BackendError, Rejected, ServerTrouble, SettingsError
from onprompt.settings import Settings
from onprompt.types import Answer, Backend, Message, Question, SentImage
from onprompt.vision.image import load_picture

LINGER = struct.pack("ii", 1, 0)  # a socket that is closed with it resets its connection


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]  # by names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """What is answered: bytes and texts as they are, anything else as JSON."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0  # seconds before the first byte
    drip: float = 0.0  # seconds between the bytes of the body
    reset_after: int | None = None  # bytes of the body after which the connection is reset
    endless: tuple[bytes, bytes] | None = None  # in place of all that: raw bytes, and others that follow for ever

    @property
    def content(self) -> bytes:
        body = self.body if isinstance(self.body, bytes | str) else json.dumps(self.body)
        return body if isinstance(body, bytes) else body.encode()

    @property
    def kind(self) -> str:
        return "text/html" if isinstance(self.body, bytes | str) else "application/json"


Step = Reply | Callable[[Received], Reply]


class Scripted:
    """Gives the replies in their order, and the last again and again; a step may look at the request first."""

    def __init__(self, *script: Step) -> None:
        self.script, self.requests = script, list[Received]()
        self.lock, self.over, self.open = threading.Lock(), threading.Event(), set[socket.socket]()

    def __enter__(self) -> Self:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"scripted": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()  # whoever waits or drips stops
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        with self.lock:
            for connection in self.open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def reply(self, request: Received) -> Reply:
        """The next step of the script."""
        with self.lock:
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(request)
        return step if isinstance(step, Reply) else step(request)


class Handler(BaseHTTPRequestHandler):
    """What a scripted server does with a connection."""

    scripted: Scripted
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with self.scripted.lock:
            self.scripted.open.add(self.connection)
        try:
            super().handle()
        except (OSError, ValueError):  # the client has gone, or the server goes
            self.close_connection = True
        finally:
            with self.scripted.lock:
                self.scripted.open.discard(self.connection)

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.send(self.scripted.reply(Received(self.command, self.path, headers, body)))

    do_GET = do_POST  # noqa: N815

    def send(self, reply: Reply) -> None:
        content = reply.content
        self.scripted.over.wait(reply.delay)
        if reply.endless:
            start, more = reply.endless
            self.wfile.write(start)
            while not self.scripted.over.wait(0.05):
                self.wfile.write(more)
            return
        self.send_response(reply.status)
        for name, value in {
            "content-type": reply.kind,
            "content-length": str(len(content)),
            **reply.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.drip:
            self.trickle(content, reply.drip)
        else:
            self.wfile.write(content[: reply.reset_after])
        if reply.reset_after is not None:
            self.wfile.flush()
            self.scripted.over.wait(0.02)  # so that the client has read what came before
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
            self.connection.close()
            self.close_connection = True

    def trickle(self, content: bytes, seconds: float) -> None:
        for index in range(len(content)):
            if self.scripted.over.wait(seconds):
                return
            self.wfile.write(content[index : index + 1])

    def log_message(self, *_: object) -> None:
        pass


# ---- what every backend must do ------------------------------------------------------------------------------------

KEY = "sk-secret-0123456789abcdef"
PLAIN = Question((Message("user", ("How good is it?",)),))
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
STRUCTURED = Question(PLAIN.messages, schema=json.dumps(SCHEMA))
# What servers do wrong, and the kind of trouble that it is.
TROUBLES: dict[str, tuple[Reply, str]] = {
    "429": (Reply({"error": {"message": "later"}}, 429), "busy"),
    "503": (Reply(f"{KEY} and {KEY}", 503), "busy"),
    "529": (Reply(None, 529), "busy"),
    "500": (Reply({"error": {"message": f"oops {KEY}"}}, 500), "server"),
    "502": (Reply("<h1>Bad gateway</h1>", 502), "server"),
    "504": (Reply(b"\xff\xfe\x00", 504), "server"),
    "500, nested": (Reply("[" * 100_000, 500), "server"),
    "a stall": (Reply("4", delay=10), "timeout"),
    "a drip": (Reply("4" * 99, drip=0.1), "timeout"),
    "endless headers": (Reply(endless=(b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n")), "timeout"),
    "100 Continue": (Reply(endless=(b"", b"HTTP/1.1 100 Continue\r\n\r\n")), "timeout"),
    "endless chunks": (
        Reply(endless=(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n")),
        "timeout",
    ),
    "a reset": (Reply("4" * 99, reset_after=10), "connection"),
    "packed": (Reply(gzip.compress(b"4"), headers={"content-encoding": "gzip"}), "connection"),
    "a bomb": (
        Reply(gzip.compress(gzip.compress(bytes(2**26))), headers={"content-encoding": "gzip, gzip"}),
        "connection",
    ),
    **{
        f"no JSON: {body[:9]!r}": (Reply(body), "broken")
        for body in ("", "{", '{"content": ', f"<html>Sign in {KEY}</html>", b"\xff\xfe\x00", "[" * 100_000)
    },
    **{
        f"other JSON: {body!r}": (Reply(json.dumps(body)), "broken")
        for body in ([], [1], KEY, 3, None, {}, {"error": {"message": "no"}}, {"answers": [{"text": "4"}]})
    },
}


def shown() -> SentImage:
    """A picture of 20 × 10 pixels, sent with 16."""
    pixels = np.full((10, 20, 3), 200, dtype=np.uint8)
    return SentImage(load_picture(pixels, Settings()), 16, "png", 95)


def conversation(temperature: float) -> Question:
    """A question of three turns, the first with a picture."""
    first = Message("user", ("Look:", shown(), "How good?"))
    return Question((first, Message("assistant", ("Good.",)), Message("user", ("Sure?",))), "", 77, temperature)


def size_of(data: str) -> tuple[int, int]:
    """Width and height of a picture in base64, of either alphabet."""
    with Image.open(io.BytesIO(base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True))) as image:
        return image.size


def hides_the_key(error: BaseException) -> bool:
    """Whether the key is neither in the error nor in anything that hangs on it."""
    texts = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    return error.__cause__ is None and error.__context__ is None and not any(KEY in text for text in texts)


class Contract:
    """Tests of a backend, which its own class of tests inherits."""

    @pytest.fixture(autouse=True)
    def _one_authority(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Most of the time would go into reading certificates, which nobody asks for on loopback."""
        first, end, _ = Path(certifi.where()).read_text().partition("-----END CERTIFICATE-----")
        (tmp_path / "authority.pem").write_text(first + end + "\n")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))

    key_variables: tuple[str, ...]
    url_variable: str
    endings: Sequence[tuple[Any, str, str]]  # responses, each with its text and why it ended
    almost: Sequence[Any]  # what is no response, though like one

    def load(self, settings: Settings) -> Backend:
        raise NotImplementedError

    def said(self, text: str) -> Any:
        """A response of the server's that says a text."""
        raise NotImplementedError

    @contextmanager
    def backend(self, url: str, **settings: Any) -> Iterator[Backend]:
        backend = self.load(Settings(base_url=url, **{"api_key": SecretStr(KEY), "timeout": 5.0, **settings}))
        try:
            yield backend
        finally:
            backend.close()

    def answer(self, question: Question, *script: Step, **settings: Any) -> tuple[Answer, list[Received]]:
        """The answer to a question, and the requests that it took."""
        with Scripted(*script) as server, self.backend(server.url, **settings) as backend:
            return backend.ask(question), server.requests

    def error(self, *script: Step, **settings: Any) -> BackendError:
        """The error that a question ends in, after one request and no more."""
        with Scripted(*script) as server, self.backend(server.url, **settings) as backend:
            with pytest.raises((ServerTrouble, Rejected)) as caught:
                backend.ask(PLAIN)
            assert len(server.requests) == 1
        assert hides_the_key(caught.value)
        return caught.value

    def trouble(self, *script: Step, **settings: Any) -> ServerTrouble:
        error = self.error(*script, **settings)
        assert isinstance(error, ServerTrouble)
        return error

    @pytest.mark.parametrize("name", TROUBLES)
    def test_what_servers_do_wrong(self, name: str) -> None:
        reply, kind = TROUBLES[name]
        start = time.monotonic()
        assert self.trouble(reply, timeout=0.3 if kind == "timeout" else 5.0).kind == kind
        assert time.monotonic() - start < 2

    @pytest.mark.parametrize(("value", "seconds"), [("7", 7), ("1.5", 1.5), ("soon", None)])
    def test_a_busy_server_that_says_for_how_long(self, value: str, seconds: float | None) -> None:
        trouble = self.trouble(Reply({"error": {"message": "later"}}, 429, {"Retry-After": value}))
        assert (trouble.kind, trouble.retry_after) == ("busy", seconds)
        assert "returned status 429" in str(trouble)
        assert "later" in str(trouble)

    def test_what_was_said_and_why_it_ended(self) -> None:
        for body, text, stop in self.endings:
            answer, requests = self.answer(PLAIN, Reply(body))
            assert (answer.text, answer.stop, len(requests)) == (text, stop, 1), body

    def test_almost_a_response(self) -> None:
        for body in self.almost:
            assert self.trouble(Reply(body)).kind == "broken", body

    def test_nobody_there(self) -> None:
        with Scripted(Reply()) as server:
            url = server.url
        with self.backend(url) as backend, pytest.raises(ServerTrouble, match=f"can't reach {url}") as caught:
            backend.ask(PLAIN)
        assert caught.value.kind == "connection"
        assert hides_the_key(caught.value)

    @pytest.mark.parametrize("status", [400, 401, 403, 404])
    def test_a_key_that_is_sent_back(self, status: int) -> None:
        error = self.error(Reply({"error": {"message": f"wrong key: {KEY}"}}, status))
        assert isinstance(error, Rejected)
        assert "[key]" in str(error)

    def test_a_key_in_the_answer(self) -> None:
        for part in (KEY, KEY[:10], KEY[-8:], base64.b64encode(f"x:{KEY}".encode()).decode()):
            answer, _ = self.answer(PLAIN, Reply(self.said(f"it is {part}.")))
            assert "[key]" in answer.text
            assert part not in repr(answer)

    @pytest.mark.parametrize("count", [-5, "many", 0, None, 1.5, 10**12, []])
    def test_usage_that_is_none_or_nonsense_is_marked(self, count: object) -> None:
        body = self.said("4")
        for name in ("usage", "usageMetadata"):
            body |= {name: dict.fromkeys(body[name], count)} if name in body else {}
        answer, _ = self.answer(PLAIN, Reply(body))
        assert (answer.text, answer.usage.estimated) == ("4", True)
        assert answer.usage.tokens_in == answer.usage.tokens_out == 0

    def test_no_redirect_takes_the_key_elsewhere(self) -> None:
        with Scripted(Reply(self.said("4"))) as other:
            error = self.error(Reply("", 307, {"location": f"{other.url}/v1"}))
            assert isinstance(error, Rejected)
            assert not other.requests

    def test_a_large_answer_is_taken_whole_and_none_is_asked_to_be_packed(self) -> None:
        text = "A fine picture. " * 2**16
        answer, (request,) = self.answer(PLAIN, Reply(self.said(text), headers={"content-encoding": "identity"}))
        assert (answer.text, answer.usage.estimated) == (text, False)
        assert request.headers["accept-encoding"] == "identity"
        assert 0 < answer.usage.seconds < 5

    @pytest.mark.parametrize("url", ["localhost:8000", "ftp://server", "http://", "http://[", "http://server:x"])
    def test_an_address_that_is_none(self, url: str) -> None:
        with pytest.raises(SettingsError, match="base_url"):
            self.load(Settings(base_url=url, api_key=SecretStr(KEY)))

    @pytest.mark.parametrize("key", [f"{KEY}\nx", f"{KEY}’"])
    def test_a_key_that_can_not_be_sent(self, key: str) -> None:
        with pytest.raises(Rejected) as caught:
            self.load(Settings(base_url="http://localhost", api_key=SecretStr(key)))
        assert hides_the_key(caught.value)

    def test_who_answers_where_and_by_which_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        backend = self.load(Settings(base_url="http://user:word@server:8000/x/?key=secret", api_key=SecretStr(KEY)))
        kind = {"backend": backend.identity["backend"], "model": backend.identity["model"]}
        assert backend.identity == {**kind, "server": "http://server:8000/x"}
        for name in (*self.key_variables, self.url_variable):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(Rejected, match=" or ".join(self.key_variables)):
            self.load(Settings()).ask(PLAIN)
        for name in self.key_variables:
            with Scripted(Reply(self.said("4"))) as server, monkeypatch.context() as environment:
                environment.setenv(name, f" {KEY}\n")
                environment.setenv(self.url_variable, server.url)
                with closing(self.load(Settings())) as backend:
                    assert backend.ask(PLAIN).text == "4"
                assert KEY in str(server.requests[0].headers)
