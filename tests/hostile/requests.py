"""Requests that no browser sends, to real `serve` and `review` servers: each is answered, no saved review is lost."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2
import numpy as np
from PIL import Image

from onprompt.runs.file import RunFile
from tests.hostile.damage import damaged_bytes, damaged_text
from tests.hostile.run_files import SAMPLES, whole

REQUESTS, AT_ONCE = 60, 8
ANSWER, STOP = 30.0, 12.0  # seconds until an answer, until a server ends
MEMORY = 600  # MB
DELIBERATE = 502  # the model's answer can't be read, or there is none
SAID = (
    {"contains": "Reasoning:", "text": "Reasoning: All is there.\nScore: 5"},
    {"contains": "", "text": "All is well.\n(3)"},
)
NUMBERS = (
    *("0", "1", "2", "-1", "-0", "1.0", "1e3", "0x10", "1_0", "+1", " 1", "", "NaN", "Infinity", "null", "true"),
    *("²", "１", "१", "٣", "Ⅷ", "½", "9" * 19, "9" * 40, "9" * 5000, str(2**63 - 1), str(2**63), str(-(2**63) - 1)),
)
ORIGINS = ("null", "http://[", "http://[::1", "//", "http://evil.example", "http://127.0.0.1:99999", "é", "\x80")
COOKIES = ('a={"b": 1}; ', "=;;=", "onprompt_token_1=x; é=1", '"', "a=b, c=d", "\x7f")
TYPES = ("application/json", "application/json", "application/json; charset=utf-16", "text/plain", "", "é", "a/b/c")


class Exchange(NamedTuple):
    """What a client sends to a server, and how."""

    server: str
    parts: tuple[bytes, ...]  # one after the other
    is_whole: bool  # a request in right form, sent to its end: it must be answered
    leaves: bool = False  # the client hangs up and reads nothing


def odd_text(chance: Random, text: str) -> str:
    """A text, more often than not with odd characters."""
    return damaged_text(chance, text) if chance.random() < 0.5 else text


def quoted(chance: Random, text: str) -> str:
    """A text as a part of an address."""
    return quote(text.encode(errors="surrogatepass"), safe=chance.choice(("", "/", "/%&=")))


def picture(chance: Random) -> str:
    """A picture in base64, whole or broken."""
    file = io.BytesIO()
    Image.fromarray(np.full((8, 8, 3), chance.randrange(256), np.uint8)).save(file, chance.choice(("PNG", "JPEG")))
    data = damaged_bytes(chance, file.getvalue()) if chance.random() < 0.3 else file.getvalue()
    text = base64.b64encode(data).decode()
    return odd_text(chance, text) if chance.random() < 0.2 else text


def odd_value(chance: Random) -> Any:
    """Any JSON."""
    odd: tuple[Any, ...] = (2**70, -1, 1e308, True, None, [], {}, [[1]], {"a": {}}, "\ud800")
    return chance.choice((chance.choice(NUMBERS), odd_text(chance, "a cat"), *odd))


def serve_request(chance: Random) -> tuple[str, str, Any]:
    """A method, a path and a body for `serve`."""
    rubric, name = chance.choice((*("verify", "rate") * 4, "edit", "none")), quoted(chance, odd_text(chance, "job"))
    if chance.random() < 0.3:
        paths = ("/", "/docs", "/v1/judges", "/v1/health", "/openapi.json", f"/jobs/{name}", f"/jobs/{name}/image/a")
        return chance.choice((*("GET",) * 9, "HEAD", "DELETE", "PUT", "get")), chance.choice(paths), None
    body = {name: picture(chance) for name in (("before", "after") if rubric == "edit" else ("image",))}
    body |= {"instruction" if rubric == "edit" else "prompt": odd_text(chance, "two cats on a red mat")}
    if chance.random() < 0.3:
        body[chance.choice(("id", "judge", "models", "frame", "major", "mask", "image", "more"))] = odd_value(chance)
    if chance.random() < 0.7:
        return "POST", f"/v1/{rubric}", body
    names = chance.choice(({}, {"image": "a.png"}, odd_value(chance)))
    return "POST", f"/jobs/{rubric}", {"request": body, "names": names}


def review_request(chance: Random) -> tuple[str, str, Any]:
    """A method, a path and a body for `review`."""
    number, rater = quoted(chance, chance.choice((*NUMBERS, *"123456789" * 3))), odd_text(chance, "Ada")
    if chance.random() < 0.5:
        names = ("rater", "queue", "model", "category", "score", "unreviewed", "blind", "finished", "token")
        usual = {"rater": rater, "queue": chance.choice(("all", "all", "all", "random", "flagged", "none"))}
        odd = [chance.choice(names) for _ in range(chance.randrange(3))]
        more = {name: chance.choice((*NUMBERS, odd_text(chance, "all"))) for name in odd}
        query = "&".join(f"{name}={quoted(chance, value)}" for name, value in {**usual, **more}.items())
        paths = ("/", "/review", f"/review/{number}", f"/image/{number}/image", f"/assets/{quoted(chance, rater)}")
        return chance.choice((*("GET",) * 9, "HEAD", "PATCH")), f"{chance.choice(paths)}?{query}", None
    body: dict[str, Any] = {"rater": rater, "scores": {"score": chance.choice((0, 3, 4, 5, odd_value(chance)))}}
    if chance.random() < 0.3:
        body[chance.choice(("rater", "scores", "checks", "comment", "blind", "more"))] = odd_value(chance)
    return "POST", chance.choice((f"/review/{number}", f"/review/{chance.randint(1, SAMPLES)}", "/undo")), body


def encoded(chance: Random, body: Any) -> bytes:
    """A body as bytes: JSON, or something like it; deep, wide, damaged."""
    depth, wide = chance.choice((100, 9_000, 100_000)), chance.choice((100, 90_000))
    match chance.randrange(20):
        case 0:
            return damaged_bytes(chance, json.dumps(body).encode())
        case 1:
            return b'{"image":' + b"[" * depth + b"]" * depth + b"}"
        case 2:
            return b"{" + b",".join(b'"k%d":1' % key for key in range(wide)) + b"}"
        case 3:
            return json.dumps(body).encode(chance.choice(("utf-16", "utf-32", "utf-8-sig")))
        case 4:
            return chance.choice(
                (b"", b"null", b"\xff", b'"\\ud800"', b'{"frame":%s}' % (b"9" * 5_000), b"x" * 3_000_000)
            )
        case _:
            return json.dumps(body).encode()


def exchange(chance: Random) -> Exchange:
    """One request, and how it is sent."""
    server = chance.choice(("serve", "review"))
    method, target, value = (serve_request if server == "serve" else review_request)(chance)
    body = b"" if value is None else encoded(chance, value)
    odd = {
        "Origin": chance.choice(ORIGINS),
        "Cookie": chance.choice(COOKIES),
        "Sec-Fetch-Site": chance.choice(("cross-site", "none", "é")),
        "Expect": "100-continue",
        "Authorization": chance.choice(("Bearer", "Basic x", "é")),
        "X-Long": "x" * chance.choice((10, 1_000, 60_000)),
        "Upgrade": "websocket",
    }
    headers = {"Host": "127.0.0.1" if chance.random() < 0.9 else odd_text(chance, "localhost")}
    headers |= {name: text for name, text in odd.items() if chance.random() < 0.05}
    is_whole, chunked = True, chance.random() < 0.3
    if value is not None:
        headers["Content-Type"] = chance.choice(TYPES) if chance.random() < 0.2 else "application/json"
        headers |= {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
        if chance.random() < 0.05:
            headers["Content-Length"], is_whole = chance.choice((*NUMBERS, str(len(body) + 10))), False
    size = chance.choice((1_000, 65_536, 10**7))
    parts = [body[at : at + size] for at in range(0, len(body), size)] if body else []
    if value is not None and chunked:
        parts = [b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b"")]
    head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{name}: {text}\r\n" for name, text in headers.items()) + "\r\n"
    first = head.encode("latin-1", "replace")
    if chance.random() < 0.05:
        first, is_whole = damaged_bytes(chance, first), False
    is_whole = is_whole and headers["Host"] == "127.0.0.1" and not headers.keys() & {"X-Long", "Upgrade"}
    sent = [first, *parts]
    how = chance.random()
    if how < 0.1:  # cut
        sent[-1] = sent[-1][: chance.randrange(len(sent[-1]) + 1)]
        return Exchange(server, tuple(sent), is_whole=False, leaves=True)
    if how < 0.2:
        return Exchange(server, tuple(sent), is_whole, leaves=True)
    return Exchange(server, tuple(sent), is_whole)


def outcome(port: int, asked: Exchange) -> str:
    """What came of a request; an assertion fails if it hangs, or is answered by an error that is no answer."""
    told = b""
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER) as connection:
        with suppress(ConnectionError):  # refused before all of it was sent; the answer can still be read
            for part in asked.parts:
                connection.sendall(part)
        if asked.leaves:
            return "hung up"
        if not asked.is_whole:
            with suppress(OSError):  # the server may have closed it
                connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while b"\r\n" not in told and (more := connection.recv(65536)):
                told = (told + more).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    if not told:
        assert not asked.is_whole, f"no answer to {asked.parts[0][:2000]!r}"
        return "closed"
    status = int(told.split()[1])
    assert status < 500 or status == DELIBERATE, f"{told[:2000]!r} to {asked.parts[0][:2000]!r}"
    return "done" if status < 400 else "refused"


@contextmanager
def running(folder: Path, command: str, *options: str) -> Iterator[tuple[int, int]]:
    """The port and the process id of a server, which must end when it is told to, without a traceback."""
    log = folder / f"{command}.txt"
    environment = os.environ | {"ONPROMPT_ANSWERS": str(folder / "answers.sqlite")}
    arguments = [sys.executable, "-m", "onprompt", command, *options, "--port", "0"]
    with log.open("w") as errors:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
    try:
        assert process.stdout
        yield int(process.stdout.readline().strip().rpartition(":")[2].strip("/")), process.pid
        process.terminate()
        assert process.wait(STOP) == 0
    finally:
        process.kill()
        process.communicate()
    told = log.read_text()  # uvicorn logs a traceback if it has refused the rest of a request that is being answered
    assert told.count("Traceback") == told.count("h11._util.LocalProtocolError"), told


def save_reviews(chance: Random, port: int, path: Path) -> Counter[str]:
    """Save reviews one by one: those that are acknowledged are in the file."""
    for number in range(SAMPLES):
        review = {"rater": "Saver", "scores": {"score": number % 5}, "comment": f"comment {number}"}
        answer = httpx2.post(f"http://127.0.0.1:{port}/review/{number + 1}", json=review, timeout=ANSWER)
        assert answer.status_code == 200, answer.text
        time.sleep(chance.uniform(0, 0.05))
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        found = {text for (text,) in database.execute("SELECT comment FROM present_reviews WHERE rater = 'Saver'")}
    assert found == {f"comment {number}" for number in range(SAMPLES)}
    with RunFile(path) as file:
        assert not file.damage()
    return Counter(saved=SAMPLES)


def megabytes(process: int) -> int:
    """The memory that a process has taken at most."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1000


def case(chance: Random, folder: Path) -> Counter[str]:
    """Two servers, and many requests to them at a time while somebody reviews."""
    path = folder / "run.sqlite"
    shutil.copy(whole(), path)
    (folder / "said.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in SAID))
    asked = [exchange(chance) for _ in range(REQUESTS)]
    model, limits = f"replay/{folder / 'said.jsonl'}", ("--workers", "2", "--queue", "8", "--max-upload", "2")
    with (
        running(folder, "serve", "--model", model, *limits) as (serve, judging),
        running(folder, "review", str(path)) as (review, reviewing),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        pending = [pool.submit(outcome, serve if each.server == "serve" else review, each) for each in asked]
        outcomes = save_reviews(chance, review, path)
        outcomes += Counter(each.result() for each in pending)
        deadline = time.monotonic() + ANSWER
        while httpx2.get(f"http://127.0.0.1:{serve}/v1/health", timeout=ANSWER).json()["unfinished"]:
            assert time.monotonic() < deadline, "the jobs of gone clients stay in the queue"
        assert httpx2.get(f"http://127.0.0.1:{review}/", timeout=ANSWER).status_code == 200
        assert max(megabytes(judging), megabytes(reviewing)) < MEMORY
    return outcomes
