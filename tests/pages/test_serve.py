"""The JSON API and its page, over real HTTP: verdicts by recorded answers and by a model's server on loopback."""

import base64
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image
from pydantic import SecretStr

from onprompt.pages.serve import JobQueue, Offer, Service, create_app
from onprompt.report.recipe import command_line
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.settings import Settings
from onprompt.wording.terminal import shell_word
from tests.judges.jury.servers import says
from tests.models.backends.server import KEY, Reply, Scripted
from tests.pages.conftest import Serve, serving

SAID = [
    {"contains": '"edit_id"', "text": json.dumps({})},
    {"contains": "Reasoning:", "text": "Reasoning: All is there.\nScore: 5"},
    {"contains": "", "text": "All is well.\n(3)"},
]
HOSTILE = 'it\'s "a" cat; $(rm -rf /) `id` \\ \n\t\x1b[2J\u202e <script>{{ 7*7 }}</script> -- é 猫'


def picture(width: int = 8, height: int = 8, kind: str = "PNG", colour: object = 99) -> str:
    file = io.BytesIO()
    Image.new("L", (width, height), colour).save(file, kind)  # type: ignore[arg-type]
    return base64.b64encode(file.getvalue()).decode()


def bomb() -> str:
    """A PNG of 121 megapixels in 15 kB."""
    file = io.BytesIO()
    Image.new("1", (11_000, 11_000)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def replaying(folder: Path, **more: Any) -> Settings:
    (folder / "said.jsonl").write_text("\n".join(json.dumps(line) for line in SAID) + "\n")
    usual = {"model": f"replay/{folder / 'said.jsonl'}", "answers": folder / "answers.sqlite"}
    return Settings(**{**usual, **more})


def service(settings: Settings, workers: int = 2, waiting: int = 4) -> Service:
    models = settings.models or tuple(filter(None, [settings.model]))
    return Service(Offer(settings, models), JobQueue(workers, waiting))


@pytest.fixture
def client(serve: Serve, tmp_path: Path) -> httpx2.Client:
    return serve(create_app(service(replaying(tmp_path))), max_bytes=2_000_000)


def test_a_verdict_is_the_document_of_the_command_line(client: httpx2.Client, tmp_path: Path) -> None:
    answer = client.post("/v1/verify", json={"image": picture(), "prompt": "a cat", "id": "one"})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["score"], answer.json()["sample"]["id"]) == (3, "one")
    (tmp_path / "cat.png").write_bytes(base64.b64decode(picture()))
    command = [sys.executable, "-m", "onprompt", "verify", "cat.png", "a cat", "--json"]
    command += ["--model", f"replay/{tmp_path / 'said.jsonl'}"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=tmp_path).stdout)
    same = ("format", "score", "value", "factors", "summary", "judge", "rubric", "prompt")
    assert [answer.json()[name] for name in same] == [printed[name] for name in same]


def test_every_rubric_has_an_endpoint(client: httpx2.Client) -> None:
    assert client.post("/v1/rate", json={"image": picture(), "prompt": "a cat"}).json()["score"] == 5
    unreadable = client.post("/v1/edit", json={"before": picture(), "after": picture(), "instruction": "more cats"})
    assert (unreadable.status_code, unreadable.json()["error"]) == (502, "UnreadableAnswer")
    schema = client.get("/openapi.json").json()
    assert {"/v1/verify", "/v1/rate", "/v1/edit", "/v1/vqascore", "/v1/judges", "/v1/health"} == set(schema["paths"])
    assert schema["components"]["schemas"]["EditRequest"]["required"] == ["before", "after", "instruction"]
    offered = client.get("/v1/judges").json()
    assert offered["rubrics"]["rate"] == ["evidence", "claims", "jury", "vlm"]
    assert client.get("/v1/health").json() == {"status": "ready", "unfinished": 0, "room": 6}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"prompt": "a cat"}, "image: Field required"),
        ({"image": "never base64!", "prompt": "a cat"}, "image is not base64"),
        ({"image": "", "prompt": "a cat"}, "empty"),
        ({"image": base64.b64encode(b"<svg onload=alert(1)>").decode(), "prompt": "a cat"}, "not an image"),
        ({"image": base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 99).decode(), "prompt": "a cat"}, "the picture"),
        ({"image": picture(1, 1), "prompt": "a cat"}, "too small"),
        ({"image": bomb(), "prompt": "a cat"}, "pixels"),
        ({"image": picture(), "prompt": " "}, "the prompt is empty"),
        ({"image": picture(), "prompt": "x" * 10_001}, "10,001 characters"),
        ({"image": picture(), "prompt": "a cat", "frame": 3}, "has no frame 3"),
        ({"image": picture(), "prompt": "a cat", "frame": -1}, "frame"),
        ({"image": picture(), "prompt": "a cat", "judge": "oracle"}, "no judge 'oracle'"),
        ({"image": picture(), "prompt": "a cat", "models": ["openai/gpt-5.2"]}, "does not offer the model"),
        ({"image": picture(), "prompt": "a cat", "models": ["openai/a@http://evil.example"]}, "does not offer"),
        ({"image": picture(), "prompt": "a cat", "api_key": "secret"}, "api_key: Extra inputs"),
        ({"image": "/etc/passwd", "prompt": "a cat"}, "not base64"),
        ([1, 2], "the body"),
    ],
)
def test_what_is_not_valid_is_refused_and_not_repeated(client: httpx2.Client, body: Any, says: str) -> None:
    answer = client.post("/v1/verify", json=body)
    assert answer.status_code == 422, answer.text
    assert says in answer.json()["message"]
    assert len(answer.text) < 1200


def test_what_is_no_json_or_too_large(client: httpx2.Client) -> None:
    headers = {"Content-Type": "application/json"}
    assert client.post("/v1/verify", content=b"{", headers=headers).status_code == 422
    assert client.post("/v1/verify", content=b"x" * 2_000_001, headers=headers).status_code == 413
    assert client.post("/v1/verify", content=zlib.compress(b"{}"), headers=headers).status_code == 400
    for depth, status in ((100_000, 413), (5_000, 400)):
        deep = b"[" * depth + b"]" * depth
        assert client.post("/v1/verify", content=deep, headers=headers).status_code == status
    chunks = (b"x" * 500_000 for _ in range(5))
    assert client.post("/v1/verify", content=chunks, headers=headers).status_code == 413
    assert client.get("/v1/verify").status_code == 405
    assert client.post("/v1/nothing", json={}).status_code == 404


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[tuple[Service, threading.Event, Scripted]]:
    """A service with room for one at work and one waiting, whose model answers when it is let."""
    let = threading.Event()

    def reply(_: object) -> Reply:
        let.wait(20)
        return says(4)

    with Scripted(reply) as server:
        more: dict[str, Any] = {
            "base_url": server.url,
            "api_key": SecretStr(KEY),
            "answers": tmp_path / "answers.sqlite",
        }
        yield service(Settings(model="openai/slow", **more), workers=1, waiting=1), let, server
        let.set()


def test_a_full_queue_says_when_to_ask_again(serve: Serve, slow: tuple[Service, threading.Event, Scripted]) -> None:
    judging, let, server = slow
    client = serve(create_app(judging))
    answers: list[httpx2.Response] = []

    def ask(number: int) -> None:
        answers.append(client.post("/v1/verify", json={"image": picture(), "prompt": f"{number} cats"}))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    for place, thread in enumerate(threads, 1):
        thread.start()
        wait_for(lambda place=place: judging.queue.unfinished == place)
    wait_for(lambda: server.requests)
    third = client.post("/v1/verify", json={"image": picture(), "prompt": "3 cats"})
    assert (third.status_code, third.headers["retry-after"]) == (429, "5")
    assert client.get("/v1/health").json()["unfinished"] == 2
    let.set()
    for thread in threads:
        thread.join()
    assert [answer.json()["score"] for answer in answers] == [4, 4]
    assert KEY not in json.dumps([answer.text for answer in answers])
    assert client.post("/v1/verify", json={"image": picture(), "prompt": "3 cats"}).status_code == 200


def watched(client: httpx2.Client, request: dict[str, Any], **names: str) -> list[dict[str, Any]]:
    """What a page is told, line by line."""
    answer = client.post("/watch/verify", json={"request": request, "names": names})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_whoever_waits_for_an_answer_when_it_stops_gets_one(slow: tuple[Service, threading.Event, Scripted]) -> None:
    judging, let, server = slow
    answers: dict[int, httpx2.Response] = {}

    def ask(number: int) -> None:
        body = {"image": picture(), "prompt": f"{number} cats"}
        answers[number] = httpx2.post(f"{address}/v1/verify", json=body, timeout=30)

    with serving(create_app(judging), on_stop=judging.queue.stop) as address:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
        for place, thread in enumerate(threads, 1):
            thread.start()
            wait_for(lambda place=place: judging.queue.unfinished == place and server.requests)
        threading.Timer(0.3, let.set).start()
    for thread in threads:
        thread.join()
    assert (answers[0].status_code, answers[0].json()["score"]) == (200, 4), "in progress"
    assert (answers[1].status_code, answers[1].json()["error"]) == (503, "Stopping"), "in the queue"


def asking(address: str, prompt: str, path: str = "/v1/verify") -> socket.socket:
    """A connection that has sent a request."""
    request = {"image": picture(), "prompt": prompt}
    body = json.dumps(request if path.startswith("/v1") else {"request": request}).encode()
    host, _, port = address.removeprefix("http://").strip("/").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def test_what_a_client_that_is_gone_has_asked_is_dropped(
    serve: Serve, slow: tuple[Service, threading.Event, Scripted]
) -> None:
    judging, let, server = slow
    client = serve(create_app(judging))
    address = str(client.base_url)
    with asking(address, "1 cat"):
        wait_for(lambda: server.requests)
        with asking(address, "2 cats"):
            wait_for(lambda: judging.queue.unfinished == 2)
        wait_for(lambda: judging.queue.unfinished == 1)
        with asking(address, "3 cats", "/watch/verify") as page:
            heard = b""
            while b"waiting for its turn" not in heard:
                heard += page.recv(10_000)
            assert (
                client.post("/watch/verify", json={"request": {"image": picture(), "prompt": "4"}}).status_code == 429
            )
        wait_for(lambda: judging.queue.unfinished == 1)
    let.set()
    wait_for(lambda: judging.queue.unfinished == 0)
    assert client.post("/v1/verify", json={"image": picture(), "prompt": "4 cats"}).status_code == 200
    assert ["1 cat" in str(each.json) for each in server.requests] == [True, False]


SLEEPY = """
import time
from onprompt.types import Judge

def load(settings, rubric):
    return Sleepy()

class Sleepy(Judge):
    def judge(self, sample):
        time.sleep(60)
"""


def test_sigterm_ends_the_server_in_seconds_whatever_is_judged(tmp_path: Path) -> None:
    (tmp_path / "sleepy.py").write_text(SLEEPY)
    (tmp_path / "sleepy-1.dist-info").mkdir()
    (tmp_path / "sleepy-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: sleepy\nVersion: 1\n")
    (tmp_path / "sleepy-1.dist-info" / "entry_points.txt").write_text("[onprompt.judges]\nsleepy = sleepy\n")
    with started("--judge", "sleepy", PYTHONPATH=str(tmp_path)) as (process, address):
        with asking(address, "a cat") as running, asking(address, "a dog") as waiting:
            wait_for(lambda: httpx2.get(f"{address}v1/health").json()["unfinished"] == 2)
            process.terminate()
            assert waiting.recv(100).startswith(b"HTTP/1.1 503 ")
            assert running.recv(100).startswith(b"HTTP/1.1 503 ")
        assert process.wait(timeout=10) == 0
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")


def test_the_first_requests_of_a_process_may_come_together(tmp_path: Path) -> None:
    replaying(tmp_path)
    with ExitStack() as stack:
        model = f"replay/{tmp_path / 'said.jsonl'}"
        _, address = stack.enter_context(started("--model", model, "--workers", "8"))
        connections = [stack.enter_context(asking(address, f"{number} cats")) for number in range(8)]
        assert [connection.recv(15) for connection in connections] == [b"HTTP/1.1 200 OK"] * 8


@contextmanager
def started(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own, and its address."""
    command = [sys.executable, "-m", "onprompt", "serve", "--port", "0", *options]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, **environment}, **pipes) as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_password_in_an_address_is_never_shown(serve: Serve, tmp_path: Path) -> None:
    with Scripted(says(4)) as first, Scripted(says(3)) as second:
        servers = [server.url.replace("//", "//someone:pass@word@") for server in (first, second)]
        models = tuple(f"openai/{name}@{url}" for name, url in zip("ab", servers, strict=True))
        more: dict[str, Any] = {"api_key": SecretStr(KEY), "answers": tmp_path / "answers.sqlite", "retries": 0}
        judging = service(Settings(models=models, jury_evidence_weight=0.0, **more))
        judging.options = ["--detector", servers[0]]
        client = serve(create_app(judging))
        offered = client.get("/v1/judges").json()["models"]
        assert offered == [f"openai/a@{first.url}", f"openai/b@{second.url}"]
        body = {"image": picture(), "prompt": "a cat"}
        chosen: list[dict[str, Any]] = [{}, {"models": offered}, {"judge": "vlm", "models": offered[1:]}]
        chosen += [{"models": list(models)}, {"judge": "claims", "models": offered[:1]}, {"models": ["openai/c"]}]
        answers = [client.post("/v1/verify", json={**body, **choice}) for choice in chosen]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 502, 422]
        assert [answer.json()["value"] for answer in answers[:3]] == [0.875, 0.875, 0.75]
        answers += [client.post("/watch/verify", json={"request": {**body, "models": offered}})]
        answers += [client.get(path) for path in ("/", "/docs", "/v1/judges")]
        sent = [str(request) for server in (first, second) for request in server.requests]
    answers += [client.post("/v1/verify", json={**body, "prompt": "a dog", **choice}) for choice in chosen]
    assert [answer.status_code for answer in answers[-len(chosen) :]] == [502, 502, 502, 502, 502, 422]
    assert "someone" not in "".join([*sent, *(answer.text for answer in answers)])
    assert "word@" not in "".join(answer.text for answer in answers)


def test_the_page_watches_a_job(client: httpx2.Client) -> None:
    *told, last = watched(client, {"image": picture(), "prompt": HOSTILE}, image="-<b>.png")
    stages = [each["stage"] for each in told]
    assert stages[:2] == ["waiting for its turn", "opening the images and loading the judge"]
    assert "asking the model" in stages
    assert "<script>" not in last["html"]
    assert "\u202e" not in last["html"]
    assert "\x1b" not in last["html"]
    assert '<img src="data:image/jpeg;base64,' in last["html"]
    assert client.post("/watch/verify", json={"request": {"image": picture()}}).status_code == 422
    assert watched(client, {"image": "never base64!", "prompt": "a cat"})[-1]["message"] == "image is not base64"


def test_pages_load_nothing_from_elsewhere_and_no_other_file_is_served(client: httpx2.Client) -> None:
    for path in ("/", "/docs"):
        page = client.get(path)
        assert page.status_code == 200
        assert "cdn" not in page.text
        assert page.text.count("<script") == page.text.count('<script defer src="/assets/')
        assert " style=" not in page.text
        assert " onclick" not in page.text
    for name in ("style.css", "web.css", "evidence.js", "tryout.js", "review.js"):
        assert client.get(f"/assets/{name}").status_code == 200
    assert client.get("/example/coffee.png").headers["content-type"] == "image/png"
    for name in ("picodet_m_416_coco_lcnet.onnx", "..%2fsaid.jsonl", "%2fetc%2fpasswd", "none.png"):
        assert client.get(f"/example/{name}").status_code == 404


@pytest.mark.parametrize("text", [HOSTILE, "-x.png", "it's", "", "a\u2028b", "\x7f\x80", "'$'\\'"])
def test_a_word_of_a_command_reaches_the_program_as_it_is(text: str) -> None:
    word = shell_word(text)
    assert all(letter.isprintable() for letter in word)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    found = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True, env=environment)
    assert found.stdout.decode() == text


def test_the_command_says_the_same() -> None:
    item = {"image": "-<b>.png", "prompt": HOSTILE, "major": ["a dog", "--help"]}
    command = command_line(VERIFY, item, "vlm", ["openai/gpt-5.2"], ["--detector", "coco"])
    echo = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    words = echo.stdout.decode().split("\0")[:-1]
    assert words[-3:] == ["--", "-<b>.png", HOSTILE]
    assert words[:2] == ["onprompt", "verify"]
    edited = {"before": "a.png", "after": "b.png", "instruction": "add a cat", "mask": "m.png"}
    assert command_line(EDIT, edited, "evidence", []) == (
        "onprompt edit --judge evidence --mask m.png a.png b.png 'add a cat'"
    )


def test_the_command_stops_cleanly(tmp_path: Path) -> None:
    replaying(tmp_path)
    model = f"replay/{tmp_path / 'said.jsonl'}"
    command = [sys.executable, "-m", "onprompt", "serve", "--model", model, "--port", "0"]
    environment = {**os.environ, "ONPROMPT_WEB_TOKEN": "a-token-of-enough-letters"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout
    address = process.stdout.readline().strip()
    base, _, token = address.partition("?token=")
    assert httpx2.get(base).status_code == 401
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.post(f"{base}v1/verify", json={"image": picture(), "prompt": "a cat"}, headers=headers, timeout=60)
    assert answer.json()["score"] == 3
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
