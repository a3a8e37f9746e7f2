"""Anthropic's models through the Messages API."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onprompt.models.http import HttpBackend, base64_image, token_count
from onprompt.types import Answer, Part, Question, Usage

VERSION = "2026-10-21"  # of the API
STOPS = {"refusal": "refusal", **dict.fromkeys((None, "", "end_turn", "stop_sequence"), "end")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic(HttpBackend):
    """Messages with images."""

    backend = "anthropic"
    server = "https://api.anthropic.com"
    endpoint = "/v1/messages"
    key_variables = ("ANTHROPIC_API_KEY",)
    url_variable = "ANTHROPIC_BASE_URL"
    response_name = "a message"
    schema_option = "output_config"
    option_words: Mapping[str, Sequence[str]] = {
        "temperature": ("temperature",),
        "output_config": ("output_config", "output_format", "output format", "structured output", "schema"),
    }

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}", "anthropic-version": VERSION}

    def options(self, question: Question) -> dict[str, Any]:
        options: dict[str, Any] = {"temperature": question.temperature}
        if question.schema:
            options["output_config"] = {"format": {"type": "json_schema", "schema": json.loads(question.schema)}}
        return options

    def body(self, question: Question, options: Mapping[str, Any]) -> dict[str, Any]:
        messages = [*map(self.message, question.messages)]
        return {"model": self.model, "max_tokens": question.max_tokens, "messages": messages, **options}

    def content(self, part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        source = {"type": "base64", "media_type": f"image/{part.format}", "data": base64_image(part)}
        return {"type": "image", "source": source}

    def parse(self, body: Any, question: Question) -> Answer:  # noqa: ARG002
        used = body.get("usage") or {}
        usage = Usage(token_count(*map(used.get, INPUT_TOKENS)), token_count(used.get("output_tokens")))
        text = "".join(block["text"] for block in body["content"] if block["type"] == "text")  # without thinking
        return Answer(text, STOPS.get(body.get("stop_reason"), UNKNOWN_STOP), str(body.get("model") or ""), usage)


load = Anthropic
