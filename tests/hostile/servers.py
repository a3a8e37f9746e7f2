"""Servers that answer with broken HTTP: an answer that is taken was sent, and nothing waits past its deadline."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

from pydantic import SecretStr

from onprompt.errors import OnpromptError
from onprompt.models.backends.openai import OpenAI
from onprompt.settings import Settings
from onprompt.types import Message, Question
from tests.hostile.damage import damaged_bytes

TIMEOUT, SLACK = 1.0, 3.0  # seconds
TEXT = "Step 5: all objects match.\n(4)"
KEY = "sk-hostile-0123456789abcdef"


def response(chance: Random) -> bytes:
    """A response, whole or broken."""
    choice = {"message": {"content": TEXT}, "finish_reason": "stop"}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}).encode()
    head = [f"HTTP/1.1 {chance.choice((200, 200, 200, 200, 429, 500, 302, 103))} OK", "content-type: application/json"]
    match chance.randrange(3):
        case 0:
            body = gzip.compress(body)
            head += ["content-encoding: gzip", f"content-length: {len(body)}"]
        case 1:
            odd = (b"-1", b"-%x" % len(body), b"7fffffffffffffff", b"0x4", b"_4")
            size = chance.choice((*([b"%x" % len(body)] * len(odd)), *odd))
            more = bytes(2**26) if size[:1] == b"-" and chance.random() < 0.3 else b""
            body = size + b"\r\n" + body + more + b"\r\n0\r\n\r\n"
            head += ["transfer-encoding: chunked"]
        case _:
            head += [f"content-length: {len(body)}"]
    whole = "\r\n".join([*head, "", ""]).encode() + body
    return damaged_bytes(chance, whole) if chance.random() < 0.95 else whole


def serve(listener: socket.socket, sent: bytes, stalls: bool) -> None:
    """Answer one request, then close the connection or leave it open."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        with suppress(OSError):  # it may have had enough
            connection.sendall(sent)
        if stalls:
            time.sleep(TIMEOUT)


def case(chance: Random, folder: Path) -> Counter[str]:
    """One request."""
    sent, stalls = response(chance), chance.random() < 0.1
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener, sent, stalls), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        settings = Settings(
            base_url=url, timeout=TIMEOUT, retries=0, answers=folder / "a.sqlite", api_key=SecretStr(KEY)
        )
        backend, start = OpenAI("m", settings), time.monotonic()
        try:
            answer = backend.ask(Question((Message("user", ("How good is it?",)),)))
        except OnpromptError as error:
            outcome = "key shown" if KEY in str(error) else "error"
        else:
            outcome = "answered" if answer.text == TEXT else "other text"
            plain = json.dumps(answer.text)[1:-1]
            known = sent.decode(errors="replace")
            assert not answer.text or b"gzip" in sent or plain in known or answer.text in known, (answer.text, sent)
        finally:
            backend.close()
            thread.join()
        assert outcome != "key shown"
        assert time.monotonic() - start < TIMEOUT + SLACK
    return Counter([outcome])
