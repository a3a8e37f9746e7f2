"""Requests that no browser sends, to real `serve` and `review` servers: each is answered, and the run stays whole."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2
from PIL import Image

from onprompt.runs.file import RunFile
from tests.hostile.damage import ODD, damaged_bytes, damaged_json
from tests.hostile.run_files import SAMPLES, whole

REQUESTS, AT_ONCE = 60, 8
ANSWER, STOP = 30.0, 12.0  # seconds until an answer, until a server ends
DELIBERATE = 502  # the model's answer can't be read, or there is none
PARTS = (
    *("0", "-1", "1.0", "1e3", "0x10", "1_0", "+1", " 1", "", "NaN", "null", "²", "１", "٣", "½", "flagged", "random"),
    *("9" * 19, "9" * 5000, str(2**63 - 1), str(2**63), str(-(2**63) - 1), *ODD),
)
HEADERS = {
    "Origin": ("null", "http://[", "//", "http://evil.example", "http://127.0.0.1:99999", "é", "\x80"),
    "Cookie": ('a={"b": 1}; ', "=;;=", "onprompt_token_1=x; é=1", '"', "a=b, c=d", "\x7f"),
    "Sec-Fetch-Site": ("cross-site", "none", "é"),
    "Expect": ("100-continue",),
    "Authorization": ("Bearer", "Basic x", "é"),
    "Content-Type": ("application/json; charset=utf-16", "text/plain", "", "é", "a/b/c"),
    "Content-Length": ("", "0", "-1", "1_0", "+1", "²", "9" * 40),
    "X-Long": ("x" * 10, "x" * 1_000, "x" * 60_000),
    "Upgrade": ("websocket",),
    "Host": ("localhost", "127.0.0.1:99999", "evil.example", "", "[", "é"),
}
UNSURE = {"X-Long", "Upgrade", "Host", "Content-Length"}  # a server may hang up on these, or wait for more
REVIEW = {"rater": "Ada", "scores": {"score": 3}, "checks": {"0": "matched"}, "comment": "so", "blind": False}
FILTERS = "rater=Ada&queue=all&model=m&category=c&score=1&unreviewed=1&blind=1&finished=1"


class Exchange(NamedTuple):
    """What a client sends to a server, and how."""

    server: str
    parts: list[bytes]  # one after the other
    is_whole: bool  # a request in right form, sent to its end: it must be answered
    leaves: bool  # the client hangs up and reads nothing


def request(chance: Random) -> tuple[str, str, str, Any]:
    """A server, a method, an address and a body as they should be."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (chance.randrange(256),) * 3).save(file, chance.choice(("PNG", "JPEG")))
    data = damaged_bytes(chance, file.getvalue()) if chance.random() < 0.3 else file.getvalue()
    picture = base64.b64encode(data).decode()
    number = chance.randint(1, SAMPLES)
    prompt = {"image": picture, "prompt": "two cats on a red mat", "id": "a", "frame": 0, "major": ["cats"]}
    edit = {"before": picture, "after": picture, "instruction": "make it red", "mask": picture}
    usual = (
        *[("serve", "POST", "/v1/verify", prompt)] * 5,
        ("serve", "POST", "/v1/edit", edit),
        *[("serve", "POST", "/jobs/verify", {"request": prompt, "names": {"image": "a.png"}})] * 2,
        *(("serve", "GET", path, None) for path in ("/", "/docs", "/v1/health", "/jobs/job", "/jobs/job/image/a")),
        *[("review", "POST", f"/review/{number}", REVIEW)] * 4,
        ("review", "POST", "/undo", {"rater": "Ada"}),
        *(("review", "GET", f"{path}?{FILTERS}", None) for path in ("/", "/review", f"/review/{number}")),
        *(("review", "GET", path, None) for path in (f"/image/{number}/image", "/assets/style.css")),
    )
    return chance.choice(usual)


def encoded(chance: Random, body: Any) -> bytes:
    """A body as bytes: JSON with odd places, or something like it; deep, wide, damaged."""
    plain = json.dumps(damaged_json(chance, body) if chance.random() < 0.4 else body)
    if chance.random() < 0.75:
        return plain.encode()
    depth, wide = chance.choice((100, 9_000, 100_000)), chance.choice((100, 90_000))
    odd = (
        damaged_bytes(chance, plain.encode()),
        b'{"image":' + b"[" * depth + b"]" * depth + b"}",
        b"{" + b",".join(b'"k%d":1' % key for key in range(wide)) + b"}",
        plain.encode(chance.choice(("utf-16", "utf-32", "utf-8-sig"))),
        chance.choice((b"", b"null", b"\xff", b'"\\ud800"', b'{"frame":%s}' % (b"9" * 5_000), b"x" * 3_000_000)),
    )
    return chance.choice(odd)


def exchange(chance: Random) -> Exchange:
    """One request with something odd in it, and how it is sent."""
    server, method, target, value = request(chance)
    if chance.random() < 0.4:
        words, place = re.split(r"([/?&=])", target), chance.randrange(1, 20)
        odd = chance.choice(PARTS).encode(errors="surrogatepass")
        words[place % len(words)] = quote(odd, safe=chance.choice(("", "/", "/%&=")))
        target = "/" + "".join(words).lstrip("/")
    method = method if chance.random() < 0.9 else chance.choice(("HEAD", "DELETE", "PUT", "PATCH", "get"))
    odd_headers = {name: chance.choice(texts) for name, texts in HEADERS.items() if chance.random() < 0.05}
    headers, parts = {"Host": "127.0.0.1"}, []
    if value is not None:
        body, size = encoded(chance, value), chance.choice((1_000, 65_536, 10**7))
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if chance.random() < 0.3:
            del headers["Content-Length"]
            headers["Transfer-Encoding"] = "chunked"
            parts = [b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b"")]
    lines = "".join(f"{name}: {text}\r\n" for name, text in {**headers, **odd_headers}.items())
    first = f"{method} {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1", "replace")
    damaged, cut = chance.random() < 0.05, chance.random() < 0.1
    sent = [damaged_bytes(chance, first) if damaged else first, *parts]
    if cut:
        sent[-1] = sent[-1][: chance.randrange(len(sent[-1]) + 1)]
    is_whole = not (damaged or cut or odd_headers.keys() & UNSURE)
    return Exchange(server, sent, is_whole, cut or chance.random() < 0.1)


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
def running(folder: Path, command: str, *options: str) -> Iterator[int]:
    """The port of a server, which must end when it is told to, without a traceback."""
    log, environment = folder / f"{command}.txt", os.environ | {"ONPROMPT_ANSWERS": str(folder / "answers.sqlite")}
    arguments = [sys.executable, "-m", "onprompt", command, *options, "--port", "0"]
    with log.open("w") as errors:
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment)
    try:
        assert process.stdout
        yield int(process.stdout.readline().strip().rpartition(":")[2].strip("/"))
        process.terminate()
        assert process.wait(STOP) == 0
    finally:
        process.kill()
        process.communicate()
    told = log.read_text()  # uvicorn logs a traceback if it has refused the rest of a request that is being answered
    assert told.count("Traceback") == told.count("h11._util.LocalProtocolError"), told


def case(chance: Random, folder: Path) -> Counter[str]:
    """Two servers, and many requests to them at a time."""
    path, said = folder / "run.sqlite", folder / "said.jsonl"
    shutil.copy(whole(), path)
    said.write_text(json.dumps({"text": "All is well.\n(3)"}))
    asked = [exchange(chance) for _ in range(REQUESTS)]
    limits = ("--workers", "2", "--queue", "8", "--max-upload", "2")
    with (
        running(folder, "serve", "--model", f"replay/{said}", *limits) as serve,
        running(folder, "review", str(path)) as review,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        pending = [pool.submit(outcome, serve if each.server == "serve" else review, each) for each in asked]
        outcomes = Counter(each.result() for each in pending)
        deadline = time.monotonic() + ANSWER
        while httpx2.get(f"http://127.0.0.1:{serve}/v1/health", timeout=ANSWER).json()["unfinished"]:
            assert time.monotonic() < deadline, "the jobs of gone clients stay in the queue"
        assert httpx2.get(f"http://127.0.0.1:{review}/", timeout=ANSWER).status_code == 200
    with RunFile(path) as file:
        assert not file.damage()
    return outcomes
