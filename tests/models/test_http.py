"""Connections to a server: kept, closed, through a proxy, over TLS."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onprompt.errors import ServerTrouble, SettingsError
from onprompt.models import http
from onprompt.models.http import HttpPool
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


def ask(pool: HttpPool) -> str:
    return pool.request("/v1", b"{}", {"Authorization": "Bearer k"}).text


class Raw:
    """Writes the same bytes on each connection once something was asked, and closes it, or not."""

    def __init__(self, answer: bytes, closes: bool) -> None:
        self.answer, self.closes, self.connections = answer, closes, list[socket.socket]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            connection.recv(4096)
            connection.sendall(self.answer)
            if self.closes:
                connection.close()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(5)
        for connection in self.connections:
            connection.close()


@pytest.fixture
def pools() -> Iterator[list[HttpPool]]:
    made: list[HttpPool] = []
    yield made
    for pool in made:
        pool.close()


def test_a_connection_is_used_again(pools: list[HttpPool]) -> None:
    with Scripted(Reply("yes")) as server:
        pools.append(HttpPool(server.url, 5, 2))
        assert [ask(pools[0]) for _ in range(3)] == ["yes"] * 3
        assert len(server.open) == 1


def test_a_connection_that_the_server_closed_is_not_used_again(pools: list[HttpPool]) -> None:
    server = Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno", closes=True)
    pools.append(HttpPool(server.url, 5, 2))
    for _ in range(3):
        assert ask(pools[0]) == "no"
        time.sleep(0.05)  # until the close has arrived
    server.close()
    assert len(server.connections) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nno", "IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nno", "IncompleteRead"),
    ],
)
def test_an_incomplete_response(pools: list[HttpPool], answer: bytes, said: str) -> None:
    server = Raw(answer, closes=True)
    pools.append(HttpPool(server.url, 5, 2))
    # A server that closes before it has read the whole request resets the connection, whatever it has sent.
    with pytest.raises(ServerTrouble, match=rf"can't read the response of .*({said}|reset by peer)"):
        ask(pools[0])
    server.close()


def test_no_http_at_all(pools: list[HttpPool]) -> None:
    server = Raw(b"220 mail.example ESMTP\r\n", closes=True)
    pools.append(HttpPool(server.url, 5, 2))
    with pytest.raises(ServerTrouble, match=r"can't reach .*220 mail"):
        ask(pools[0])
    server.close()


def test_closing_ends_a_call_in_progress_at_once() -> None:
    with Scripted(Reply("late", delay=30)) as server:
        pool, ended = HttpPool(server.url, 30, 2), list[Exception]()

        def wait() -> None:
            try:
                ask(pool)
            except ServerTrouble as error:
                ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        pool.close()
        thread.join(5)
        assert "can't reach" in str(ended[0])


def test_a_proxy_with_a_password(pools: list[HttpPool], monkeypatch: pytest.MonkeyPatch) -> None:
    with Scripted(Reply("yes")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:pass%40word@"))
        pools.append(HttpPool("http://models.invalid/v1", 5, 2))
        assert ask(pools[0]) == "yes"
        assert proxy.requests[0].path == "http://models.invalid/v1"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic bWU6cGFzc0B3b3Jk"


def test_a_proxy_of_another_kind_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://me:secret@127.0.0.1:1080")
    with pytest.raises(SettingsError, match=r"the proxy socks5://127\.0\.0\.1 is not supported"):
        HttpPool("https://models.invalid", 5, 2)


def test_tls_with_a_certificate_that_is_trusted_and_one_that_is_not(
    pools: list[HttpPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "server.pem"
    file.write_text(CERTIFICATE.strip())
    with Scripted(Reply("yes")) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        url = server.url.replace("http:", "https:")
        http.tls.cache_clear()
        pools.append(HttpPool(url, 5, 2))
        with pytest.raises(ServerTrouble, match="CERTIFICATE_VERIFY_FAILED"):
            ask(pools[0])
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        http.tls.cache_clear()
        pools.append(HttpPool(url, 5, 2))
        assert ask(pools[1]) == "yes"
    http.tls.cache_clear()


def test_a_chunk_of_negative_size_does_not_pass_the_limit(pools: list[HttpPool]) -> None:
    endless = (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", bytes(2**24))
    with Scripted(Reply(endless=endless)) as server:
        pools.append(HttpPool(server.url, 20.0, 1))
        start = time.monotonic()
        with pytest.raises(ServerTrouble, match="larger than 16 MiB"):
            ask(pools[0])
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("value", ["1000000000", "1000000000000", "999999999"])
def test_a_wait_without_measure_is_no_time_in_the_past(value: str) -> None:
    wait = http.retry_after({"retry-after": value})
    assert wait is not None
    assert wait > 1e8
