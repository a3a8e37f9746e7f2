"""A real HTTP server on loopback that answers claims, with and without token probabilities."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import SecretStr

from onprompt.api import judges
from onprompt.settings import Settings
from onprompt.types import Check, Outcome, Verdict
from onprompt.wording import full_claim
from tests.models.backends.server import KEY, Received, Reply, Scripted, Step
from tests.models.backends.test_openai import complaint, completion, token

PIXELS = np.full((20, 30, 3), 128, dtype=np.uint8)
PROMPT = "two brown owls on a branch"
OWL, BRANCH = "This can be seen in the image: owl.", "This can be seen in the image: branch."
TWO, BROWN = "Counting every owl in the image gives exactly 2.", "In the image, each owl is brown."
ON = "In the image, each owl is on the branch."
SENTENCES = (OWL, TWO, BROWN, ON, BRANCH)
Serve = Callable[..., tuple[Settings, list[Received]]]


@contextmanager
def claim_server(folder: Path) -> Iterator[Serve]:
    """Settings for a server that answers by a script, and its requests."""
    servers: list[Scripted] = []

    def start(*script: Step, **settings: Any) -> tuple[Settings, list[Received]]:
        server = Scripted(*script)
        servers.append(server.__enter__())
        usual = {"judge": "claims", "model": "openai/test", "base_url": server.url, "api_key": SecretStr(KEY)}
        quick = {"answers": folder / "answers.sqlite", "timeout": 5.0, "backoff": 0.01, "retries": 1}
        return Settings(**{**usual, **quick, **settings}), server.requests

    try:
        yield start
    finally:
        judges.close()
        for server in servers:
            server.__exit__()


def asked(request: Received) -> list[str]:
    """The sentences of a question, in order."""
    said = request.json["messages"][0]["content"][-1]["text"]
    numbered = re.findall(r"^(\d+)\. (.*)$", said, re.MULTILINE)
    assert [number for number, _ in numbered] == [str(n) for n in range(1, len(numbered) + 1)]
    return [words for _, words in numbered] or re.findall(r"^Statement: (.*)$", said, re.MULTILINE)


def words_of(truth: Mapping[str, object], default: str = "yes") -> Step:
    """A server without probabilities, which answers by the sentence."""

    def step(request: Received) -> Reply:
        words = [str(truth.get(each, default)) for each in asked(request)]
        if "logprobs" in request.json:
            return complaint("logprobs are not supported")
        if "JSON" not in request.json["messages"][0]["content"][-1]["text"]:
            return Reply(completion(words[0]))
        return Reply(completion(json.dumps({str(n): word for n, word in enumerate(words, 1)})))

    return step


def chances_of(truth: Mapping[str, float], default: float = 0.9) -> Step:
    """A server with probabilities of "yes", by the sentence."""

    def step(request: Received) -> Reply:
        assert request.json["logprobs"] is True
        chances = [truth.get(each, default) for each in asked(request)]
        if "JSON" not in request.json["messages"][0]["content"][-1]["text"]:
            tokens = [yes_no(chances[0])]
        else:
            pieces = [
                [token(f'{", " if n > 1 else ""}"', 1.0), token(str(n), 1.0), token('": "', 1.0), yes_no(p)]
                for n, p in enumerate(chances, 1)
            ]
            tokens = [token("{", 1.0), *(t for four in pieces for t in (*four, token('"', 1.0))), token("}", 1.0)]
        text = "".join(each["token"] for each in tokens)
        return Reply(completion(text, logprobs={"content": tokens}))

    return step


def yes_no(chance: float) -> dict[str, Any]:
    """The likelier of yes and no as a token, of which a tenth of the probability is something else."""
    yes, no = 0.9 * chance, 0.9 * (1 - chance)
    return token("yes", yes, no=no) if yes >= no else token("no", no, yes=yes)


def checks(verdict: Verdict) -> dict[str, Check]:
    return {full_claim(check.claim): check for check in verdict.checks}


def outcomes(verdict: Verdict) -> dict[str, Outcome]:
    return {name: check.outcome for name, check in checks(verdict).items()}
