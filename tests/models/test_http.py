"""Requests to a server: incomplete, endless or no HTTP, through a proxy, over TLS, and keys that are sent back."""

import base64
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from onprompt.errors import ServerTrouble, SettingsError
from onprompt.models import http
from onprompt.models.http import WINDOW, HttpClient, hide_key, seconds_until
from tests.models.backends.server import Reply, Scripted

# Of no use to anybody: for localhost, signed by itself.
CERTIFICATE = """
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbiwkzr9Jl9N0QGYb
YExLHSoppLHuWu4dsZ4mXnazcWuhRANCAASH7bF5vRXEryqMeFq3z3ABC1Ce2ubF
ckLT15VMDdmpyyFbnccCokbzm2wdA/DoRUfM2nkEcm8q8wB77w2616aV
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUIEvYE8u0flzZ9RUlynyWw7mQRU0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNzA1NDIxNFoYDzIxMjYxMDI0
MDU0MjE0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASH7bF5vRXEryqMeFq3z3ABC1Ce2ubFckLT15VMDdmpyyFbnccCokbz
m2wdA/DoRUfM2nkEcm8q8wB77w2616aVo28wbTAdBgNVHQ4EFgQUpgSvJZIIp3/B
bFyKW/ezguXKpBkwHwYDVR0jBBgwFoAUpgSvJZIIp3/BbFyKW/ezguXKpBkwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAMIEyCOFNwUxGFilw7R1sJQuLeFVxmbuSL/v8wljEt5IAiEA
zwQGfyvQCSohdO6dozkBjhK/Sw+qKRHaRqMIDMGRcyw=
-----END CERTIFICATE-----
"""


def ask(url: str, seconds: float = 5) -> str:
    with closing(HttpClient(url, seconds, 2)) as client:
        return client.post("/v1", b"{}", {"Authorization": "Bearer k"}).text


@contextmanager
def listening(*answers: bytes) -> Iterator[tuple[str, list[socket.socket]]]:
    """A server that reads once on a connection, writes some bytes and closes it; its address, and what connected."""
    listener, connections = socket.create_server(("127.0.0.1", 0)), list[socket.socket]()

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            connections.append(connection)
            connection.recv(4096)
            connection.sendall(answer)
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", connections
        thread.join(5)


def test_a_connection_is_used_again_by_any_thread() -> None:
    replies = Reply("yes"), Reply("no", 500), Reply("yes")
    with Scripted(*replies) as server, closing(HttpClient(server.url, 5, 2)) as client:
        for _ in range(3):
            thread = threading.Thread(target=client.post, args=("/v1", b"{}", {}))
            thread.start()
            thread.join()
        assert (len(server.requests), len(server.open)) == (3, 1)


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    answers = [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno"] * 3
    with listening(*answers) as (url, connections), closing(HttpClient(url, 5, 2)) as client:
        for number in range(1, 4):
            assert client.post("/v1", b"{}", {}).text == "no"
            while connections[-1].fileno() >= 0:
                time.sleep(0.01)
            assert len(connections) == number


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nno", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999\r\n\r\nno", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nno", "IncompleteRead"),
        (b"220 mail.example ESMTP\r\n", "220 mail"),
        (b"", "closed connection without response"),
    ],
)
def test_an_incomplete_response_or_none(answer: bytes, said: str) -> None:
    # A server that closes before it has read the whole request resets the connection, whatever it has sent.
    with listening(answer) as (url, _), pytest.raises(ServerTrouble, match=rf"can't reach .*({said}|reset by peer)"):
        ask(url)


def test_a_chunk_of_negative_size_does_not_pass_the_limit() -> None:
    endless = (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", bytes(2**24))
    with Scripted(Reply(endless=endless)) as server:
        start = time.monotonic()
        with pytest.raises(ServerTrouble, match="larger than 16 MiB"):
            ask(server.url, 20)
        assert time.monotonic() - start < 10


def test_closing_ends_a_call_in_progress_at_once() -> None:
    with Scripted(Reply("late", delay=30)) as server:
        client, ended = HttpClient(server.url, 30, 2), list[Exception]()

        def wait() -> None:
            try:
                client.post("/v1", b"{}", {})
            except ServerTrouble as error:
                ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        client.close()
        thread.join(5)
        assert "can't reach" in str(ended[0])


def test_a_proxy_with_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted(Reply("yes")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pass%40word@"))
        assert ask("http://models.invalid/here?x=1") == "yes"
        assert proxy.requests[0].path == "http://models.invalid/here/v1?x=1"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic bWU6cGFzc0B3b3Jk"
    monkeypatch.setenv("https_proxy", "socks5://me:secret@127.0.0.1:1080")
    with pytest.raises(SettingsError, match=r"the proxy socks5://127\.0\.0\.1 is not supported"):
        HttpClient("https://models.invalid", 5, 2)


def test_tls_with_a_certificate_that_is_trusted_and_one_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.pem"
    file.write_text(CERTIFICATE.strip())
    with Scripted(Reply("yes")) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        url = server.url.replace("http:", "https:")
        http.tls.cache_clear()
        with pytest.raises(ServerTrouble, match="CERTIFICATE_VERIFY_FAILED"):
            ask(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        http.tls.cache_clear()
        assert ask(url) == "yes"
        with tunnel(server.url) as (proxy, heard):
            monkeypatch.setenv("https_proxy", proxy.replace("//", "//me:pass%40word@"))
            assert ask(url.replace("127.0.0.1", "localhost")) == "yes"
        assert heard[0].startswith(f"CONNECT localhost:{url.rpartition(':')[2]} ")
        assert "proxy-authorization: Basic bWU6cGFzc0B3b3Jk" in heard[0]
        assert "Bearer" not in heard[0]
    http.tls.cache_clear()


@contextmanager
def tunnel(url: str) -> Iterator[tuple[str, list[str]]]:
    """A proxy that connects whoever asks for it with a server; its address, and what it was told."""
    listener, heard = socket.create_server(("127.0.0.1", 0)), list[str]()

    def pipe(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # one side may be gone
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with listener.accept()[0] as client, socket.create_connection(("127.0.0.1", port)) as server:
            heard.append(client.recv(65536).decode())
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=pipe, args=(server, client))
            back.start()
            pipe(client, server)
            back.join()

    thread, port = threading.Thread(target=serve), int(url.rpartition(":")[2])
    thread.start()
    with listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
        thread.join(5)


@pytest.mark.parametrize("value", ["1000000000", "1000000000000", "999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_wait_without_measure_is_no_time_in_the_past(value: str) -> None:
    wait = seconds_until(value)
    assert wait is not None
    assert wait > 1e8


# -- keys --------------------------------------------------------------------------------------------------------------

KEY = "sk-secret-0123456789abcdef/+~"


@pytest.mark.parametrize("length", [WINDOW, WINDOW + 5])
def test_any_part_of_a_key_is_hidden(length: int) -> None:
    for start in range(len(KEY) - length + 1):
        assert hide_key(f"wrong key: {KEY[start : start + length]}!", KEY) == "wrong key: [key]!"
    assert hide_key(f"{KEY} and {KEY}", KEY) == "[key] and [key]"


@pytest.mark.parametrize("before", ["", "x", "yz", "user:", "Bearer "])
def test_a_key_in_base64_is_hidden_wherever_it_begins(before: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(f"{before}{KEY}".encode()).decode().rstrip("=")
        hidden = hide_key(f"authorization: {encoded}.", KEY)
        assert "[key]" in hidden
        left = hidden.removeprefix("authorization: ").replace("[key]", "")
        assert len(left) <= -(-len(before) * 4 // 3) + 4, (
            "what is left is of the words before it, or of no whole letter"
        )


def test_what_is_no_key_stays() -> None:
    text = "The image shows a secret door, sk-1 and 012345. " * 100
    assert hide_key(text, KEY) == text
    assert hide_key("none at all", "none") == "none at all", "a placeholder"
