"""Anthropic's protocol against a real server on loopback."""

from __future__ import annotations

from typing import Any

from onprompt.models.backends.anthropic import Anthropic, load
from onprompt.settings import Settings
from tests.models.backends.server import (
    KEY,
    PLAIN,
    SCHEMA,
    STRUCTURED,
    Contract,
    Reply,
    Scripted,
    conversation,
    size_of,
)

MODEL = "claude-test"
TEMPERATURE = Reply({"type": "error", "error": {"message": "`temperature` is deprecated for this model."}}, 400)
FORMAT = Reply({"type": "error", "error": {"message": "output_config.format: not supported by this model"}}, 400)


def message(*blocks: Any, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    """A response: texts and other blocks."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    usage = {"input_tokens": 1200, "output_tokens": 34}
    return {"type": "message", "model": f"{MODEL}-1", "content": content, "stop_reason": stop, "usage": usage, **more}


class TestAnthropic(Contract):
    key_variables, url_variable = ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"
    endings = (
        *((message("I", stop=reason), "I", "end") for reason in ("end_turn", "stop_sequence", None)),
        *((message("I", stop=reason), "I", "length") for reason in ("max_tokens", "something new")),
        (message("I", stop="refusal"), "I", "refusal"),
        (message(), "", "end"),
        (
            message({"type": "thinking", "thinking": "5? No."}, {"type": "redacted_thinking", "data": "y"}, "4"),
            "4",
            "end",
        ),
    )
    almost = (
        {"content": "4"},
        {"content": None},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 4}]},
        {"content": [], "stop_reason": []},
    )

    def load(self, settings: Settings) -> Anthropic:
        return load(MODEL, settings)

    def said(self, text: str) -> Any:
        return message(text)

    def test_what_is_sent_and_what_comes_back(self) -> None:
        answer, requests = self.answer(conversation(0.5), Reply(message("Yes: ", "4")))
        sent = requests[0]
        assert (sent.method, sent.path) == ("POST", "/v1/messages")
        assert sent.headers["authorization"] == f"Bearer {KEY}"
        picture = sent.json["messages"][0]["content"].pop(1)
        assert sent.json == {
            "model": MODEL,
            "max_tokens": 77,
            "temperature": 0.5,
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "Look:"}, picture, {"type": "text", "text": "How good?"}],
                },
                {"role": "assistant", "content": [{"type": "text", "text": "Good."}]},
                {"role": "user", "content": [{"type": "text", "text": "Sure?"}]},
            ],
        }
        assert (picture["type"], picture["source"]["type"], picture["source"]["media_type"]) == (
            "image",
            "base64",
            "image/png",
        )
        assert size_of(picture["source"]["data"]) == (16, 8)
        assert (answer.text, answer.stop, answer.model, answer.structured) == ("Yes: 4", "end", f"{MODEL}-1", False)
        assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.refused) == (1200, 34, ())
        assert 0 < answer.usage.seconds < 5

    def test_held_to_a_schema(self) -> None:
        answer, requests = self.answer(STRUCTURED, Reply(message('{"score": 4}')))
        assert requests[0].json["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
        assert answer.structured
        assert answer.refused == ()

    def test_options_that_are_refused_are_left_out_from_then_on(self) -> None:
        script = (FORMAT, TEMPERATURE, Reply(message("4")))
        with Scripted(*script) as server, self.backend(server.url) as backend:
            first, second = backend.ask(STRUCTURED), backend.ask(STRUCTURED)
        assert [sorted(request.json) for request in server.requests] == [
            ["max_tokens", "messages", "model", "output_config", "temperature"],
            ["max_tokens", "messages", "model", "temperature"],
            ["max_tokens", "messages", "model"],
            ["max_tokens", "messages", "model"],
        ]
        for answer in (first, second):
            assert (answer.text, answer.structured) == ("4", False)
            assert answer.refused == ("output_config", "temperature")

    def test_what_is_read_from_a_cache_counts(self) -> None:
        usage = {
            "input_tokens": 5,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
            "output_tokens": 7,
        }
        answer, _ = self.answer(PLAIN, Reply(message("4", usage=usage)))
        assert (answer.usage.tokens_in, answer.usage.tokens_out) == (125, 7)
