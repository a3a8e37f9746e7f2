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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
OTHERS: tuple[object, ...] = (
    [],
    [1],
    "a text",
    3,
    None,
    {},
    {"error": {"message": "no"}},
    {"answers": [{"text": "4"}]},
)
NO_JSON = ("", "{", '{"content": ', "<html><body>Sign in to the network</body></html>", b"\xff\xfe\x00", "[" * 100_000)


def shown() -> SentImage:
    """A picture of 20 × 10 pixels, sent with 16."""
    pixels = np.full((10, 20, 3), 200, dtype=np.uint8)
    return SentImage(load_picture(pixels, Settings()), 16, "png", 95)


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

    @pytest.mark.parametrize("status", [429, 503, 529])
    def test_a_busy_server(self, status: int) -> None:
        trouble = self.trouble(Reply({"error": {"message": "later"}}, status))
        assert (trouble.kind, trouble.retry_after) == ("busy", None)
        assert str(status) in str(trouble)
        assert "later" in str(trouble)

    @pytest.mark.parametrize(
        ("header", "value", "seconds"),
        [("retry-after", "7", 7), ("Retry-After", "1.5", 1.5), ("retry-after-ms", "250", 0.25)],
    )
    def test_a_busy_server_that_says_for_how_long(self, header: str, value: str, seconds: float) -> None:
        trouble = self.trouble(Reply({"error": {}}, 429, {header: value}))
        assert (trouble.kind, trouble.retry_after) == ("busy", seconds)

    @pytest.mark.parametrize("status", [500, 502, 504])
    @pytest.mark.parametrize("body", ["<h1>Bad gateway</h1>", {"error": {"message": "oops"}}])
    def test_a_server_that_fails(self, status: int, body: object) -> None:
        assert self.trouble(Reply(body, status)).kind == "server"

    def test_a_stall(self) -> None:
        start = time.monotonic()
        assert self.trouble(Reply(self.said("4"), delay=10), timeout=0.3).kind == "timeout"
        assert time.monotonic() - start < 2

    def test_a_drip(self) -> None:
        start = time.monotonic()
        assert self.trouble(Reply(self.said("4"), drip=0.1), timeout=0.3).kind == "timeout"
        assert time.monotonic() - start < 2

    @pytest.mark.parametrize(
        "endless",
        [
            (b"HTTP/1.1 200 OK\r\n", b"x-more: 1\r\n"),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        ],
        ids=["headers", "100 Continue", "chunks"],
    )
    def test_a_response_without_end(self, endless: tuple[bytes, bytes]) -> None:
        start = time.monotonic()
        assert self.trouble(Reply(endless=endless), timeout=0.3).kind == "timeout"
        assert time.monotonic() - start < 2

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
    def test_a_compressed_answer_was_not_asked_for(self, encoding: str) -> None:
        packed = gzip.compress(json.dumps(self.said("4")).encode())
        trouble = self.trouble(Reply(packed, headers={"content-encoding": encoding}))
        assert trouble.kind == "connection"
        assert "compressed, which was not asked for" in str(trouble)

    def test_no_compression_is_asked_for(self) -> None:
        _, (request,) = self.answer(PLAIN, Reply(self.said("4"), headers={"content-encoding": "identity"}))
        assert request.headers["accept-encoding"] == "identity"

    def test_a_reset_in_the_middle(self) -> None:
        assert self.trouble(Reply(self.said("4"), reset_after=10)).kind == "connection"

    def test_nobody_there(self) -> None:
        with Scripted(Reply()) as server:
            url = server.url
        with self.backend(url) as backend, pytest.raises(ServerTrouble, match=url) as caught:
            backend.ask(PLAIN)
        assert caught.value.kind == "connection"
        assert hides_the_key(caught.value)

    @pytest.mark.parametrize("body", NO_JSON)
    def test_no_json(self, body: str | bytes) -> None:
        assert self.trouble(Reply(body)).kind == "broken"

    @pytest.mark.parametrize("body", OTHERS)
    def test_json_of_another_form(self, body: object) -> None:
        assert self.trouble(Reply(json.dumps(body), headers={"content-type": "application/json"})).kind == "broken"

    @pytest.mark.parametrize(
        "body", [b"\xff\xfe\x00", "[" * 100_000, [1, 2], {"error": "a text"}, {"error": None}, None]
    )
    def test_an_error_that_is_itself_odd(self, body: object) -> None:
        assert self.trouble(Reply(body, 500)).kind in ("server", "broken")

    @pytest.mark.parametrize("status", [400, 401, 403, 404])
    @pytest.mark.parametrize("body", [f"the key {KEY} is wrong", {"error": {"message": f"wrong key: {KEY}"}}])
    def test_a_key_that_is_sent_back(self, status: int, body: object) -> None:
        error = self.error(Reply(body, status))
        assert isinstance(error, Rejected)
        assert "[key]" in str(error)

    @pytest.mark.parametrize("status", [429, 500])
    def test_a_key_that_is_sent_back_in_trouble(self, status: int) -> None:
        self.trouble(Reply(f"{KEY} and {KEY}", status))

    def test_a_key_in_what_is_no_answer(self) -> None:
        self.trouble(Reply(f"<p>{KEY}</p>"))
        self.trouble(Reply(json.dumps(KEY)))

    def test_a_key_in_the_answer(self) -> None:
        answer, _ = self.answer(PLAIN, Reply(self.said(f"the key is {KEY}")))
        assert answer.text == "the key is [key]"
        assert KEY not in repr(answer)

    def test_a_key_that_is_sent_back_in_part_or_encoded(self) -> None:
        for part in (KEY[:10], KEY[-8:], base64.b64encode(f"x:{KEY}".encode()).decode()):
            assert part not in str(self.error(Reply(f"the key {part} is wrong", 401)))
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
        assert not self.answer(PLAIN, Reply(self.said("4")))[0].usage.estimated

    def test_no_redirect_takes_the_key_elsewhere(self) -> None:
        with Scripted(Reply(self.said("4"))) as other:
            error = self.error(Reply("", 307, {"location": f"{other.url}/v1"}))
            assert isinstance(error, Rejected)
            assert not other.requests

    def test_a_large_answer(self) -> None:
        text = "A fine picture. " * 2**16
        answer, _ = self.answer(PLAIN, Reply(self.said(text)))
        assert answer.text == text

    def test_one_connection_for_many_questions(self) -> None:
        with Scripted(Reply(self.said("4"))) as server, self.backend(server.url) as backend:
            assert [backend.ask(PLAIN).text for _ in range(3)] == ["4"] * 3
            assert len(server.open) == 1

    @pytest.mark.parametrize("url", ["localhost:8000", "ftp://server", "http://", "http://[", "http://server:x"])
    def test_an_address_that_is_none(self, url: str) -> None:
        with pytest.raises(SettingsError, match="base_url"):
            self.load(Settings(base_url=url, api_key=SecretStr(KEY)))

    @pytest.mark.parametrize("key", [f"{KEY}\nx", f"{KEY}’"])
    def test_a_key_that_can_not_be_sent(self, key: str) -> None:
        with pytest.raises(Rejected) as caught:
            self.load(Settings(base_url="http://localhost", api_key=SecretStr(key)))
        assert hides_the_key(caught.value)
