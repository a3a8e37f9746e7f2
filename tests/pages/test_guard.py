"""Who is let in: hosts, origins, tokens and sizes, over real HTTP."""

import select
import socket
import subprocess
import sys
from collections.abc import MutableMapping
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

from onprompt.errors import UserError
from onprompt.pages.server import Receive, Send, address_of, choose_token, listen
from tests.pages.conftest import Serve


async def echo(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    """Answers with the number of bytes that it was sent."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def test_every_answer_has_a_strict_policy(serve: Serve) -> None:
    client = serve(echo)
    for answer in (client.get("/"), client.get("/", headers={"Host": "evil.example"})):
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_a_server_answers_under_its_own_names_only(serve: Serve) -> None:
    client = serve(echo)
    names = {
        400: ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::1", "a b"],
        200: ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765"],
    }
    for status, hosts in names.items():
        assert {client.get("/", headers={"Host": host}).status_code for host in hosts} == {status}


def test_other_sites_can_neither_post_nor_read(serve: Serve) -> None:
    client = serve(echo)
    for origin in ("http://evil.example", "null", "http://localhost:1", "http://["):
        assert client.post("/", headers={"Origin": origin}).status_code == 403
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site}
        assert client.post("/", headers=headers).status_code == 403
        assert client.get("/", headers={**headers, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


def test_the_page_itself_can_and_so_can_a_service(serve: Serve) -> None:
    client = serve(echo)
    own = f"http://{client.base_url.host}:{client.base_url.port}"
    assert client.post("/", headers={"Origin": own, "Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.post("/").status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200


def test_too_much_is_refused_announced_or_not(serve: Serve) -> None:
    client = serve(echo, max_bytes=1000)
    assert client.post("/", content=b"x" * 1000).text == "1000"
    assert client.post("/", content=b"x" * 1001).status_code == 413
    chunks = client.post("/", content=(b"x" * 300 for _ in range(4)))
    assert (chunks.status_code, chunks.text) == (413, "the request is larger than 0.001 MB")


def test_json_of_too_many_values_is_not_even_parsed(serve: Serve) -> None:
    client = serve(echo)
    for body in (b"[" * 20_001, b'{"a":1,' * 10_001, b"[" + b"1," * 20_000 + b"1]"):
        answer = client.post("/", content=body)
        assert (answer.status_code, answer.text) == (413, "the request has more than 20,000 values")


def upload(client: httpx2.Client, sent: bytes, size: int) -> socket.socket:
    """A connection that has sent a part of a body."""
    connection = socket.create_connection((client.base_url.host, client.base_url.port or 0), timeout=20)
    connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size + sent)
    return connection


def test_who_sends_too_slowly_is_told_and_hung_up_on(serve: Serve) -> None:
    with upload(serve(echo, seconds=0.5), b"x", 10) as connection, connection.makefile("rb") as answer:
        told = answer.read()  # to the end, which comes only once it is closed
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"the request took longer than 0.5 s to arrive" in told


def test_requests_that_arrive_together_have_a_limit_together(serve: Serve) -> None:
    client = serve(echo, max_bytes=1000)
    with ExitStack() as stack:
        connections = [stack.enter_context(upload(client, b"x" * 999, 1000)) for _ in range(9)]
        ready, _, _ = select.select(connections, [], [], 20)
        assert ready[0].recv(100).startswith(b"HTTP/1.1 429 ")
        for connection in connections:
            if connection is not ready[0]:
                connection.sendall(b"x")
                assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert client.post("/", content=b"x" * 1000).text == "1000"


def test_a_token_is_needed_and_becomes_a_cookie(serve: Serve) -> None:
    client = serve(echo, host="0.0.0.0", token="a-long-secret-token")
    assert client.get("/").status_code == 401
    assert client.get("/?token=wrong").status_code == 401
    assert client.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/", headers={"Cookie": 'onprompt_token="\\'}).status_code == 401
    assert client.get("/", headers={"Authorization": "Bearer a-long-secret-token"}).status_code == 200
    first = client.get("/page?token=a-long-secret-token&rater=Ada%26Bo")
    assert (first.status_code, first.headers["location"]) == (303, "/page?rater=Ada%26Bo")
    for odd, path in (("//evil.example/", "/evil.example/"), ("/%0d%0aX-Odd:%20y", "/%0D%0AX-Odd%3A%20y")):
        redirect = client.get(f"{client.base_url}{odd}?token=a-long-secret-token")
        assert (redirect.status_code, redirect.headers["location"]) == (303, path)
    assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
    ours = first.headers["set-cookie"].split(";")[0]
    name = ours.partition("=")[0]
    for cookie in (ours, f'other={{"a": 1}}; {ours}; more', f"\xe9=1; {ours}", f"{name}=stale; {ours}"):
        assert client.get("/", headers={b"Cookie": cookie.encode("latin-1")}).status_code == 200, cookie
    assert client.get("/", headers={"Cookie": f"x{ours}"}).status_code == 401
    by_name = {"Host": f"{socket.gethostname()}:99", "Authorization": "Bearer a-long-secret-token"}
    assert client.get("/", headers=by_name).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_who_needs_a_token() -> None:
    assert choose_token("127.0.0.1") == choose_token("localhost") == choose_token("::1") == ""
    assert len(choose_token("0.0.0.0")) >= 32
    assert len(choose_token("192.168.1.5")) >= 32
    assert choose_token("127.0.0.1", "sixteen-letters-") == "sixteen-letters-"
    with pytest.raises(UserError, match="could guess it"):
        choose_token("0.0.0.0", "short")
    with pytest.raises(UserError, match="letters, digits"):
        choose_token("0.0.0.0", "a; Domain=evil.example; x")


def test_where_it_listens() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert address_of(first, "127.0.0.1", "") == f"http://127.0.0.1:{port}/"
        assert address_of(first, "0.0.0.0", "secret") == f"http://{socket.gethostname()}:{port}/?token=secret"
        first.listen()
        with pytest.raises(UserError, match=f"can't listen on 127.0.0.1, port {port}"):
            listen("127.0.0.1", port)
    with pytest.raises(UserError, match="can't listen"):
        listen("no.such.host.invalid", 0)


def test_a_missing_extra_answers_with_what_brings_it() -> None:
    code = "import sys; sys.modules['fastapi'] = None; sys.argv = ['onprompt', 'serve']"
    run = [sys.executable, "-c", f"{code}; from onprompt.cli import main; main()"]
    found = subprocess.run(run, capture_output=True, text=True)
    told = "onprompt: this command needs fastapi: pip install 'onprompt[web]'\n"
    assert (found.returncode, found.stderr) == (2, told)
