"""Anthropic's models through the Messages API."""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

import anthropic
import httpx2

from onprompt.models.http import HttpBackend, httpx_client, token_count
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision import encode_image

STOPS = {"refusal": "refusal", **dict.fromkeys((None, "", "end_turn", "stop_sequence"), "end")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# By which words a server's error names an option.
OPTION_WORDS = {
    "temperature": ("temperature",),
    "output_config": ("output_config", "output_format", "output format", "structured output", "schema"),
}


class Anthropic(HttpBackend):
    """Messages with images."""

    backend = "anthropic"
    server = "https://api.anthropic.com"
    key_variables = ("ANTHROPIC_API_KEY",)
    url_variable = "ANTHROPIC_BASE_URL"
    response_name = "a message"
    schema_option = "output_config"
    option_words = OPTION_WORDS
    unsupported = frozenset({"logprobs"})  # not in the API

    def connect(self) -> anthropic.Client:
        return anthropic.Client(
            api_key=self.key or "none",
            base_url=self.url,
            max_retries=0,
            timeout=self.settings.timeout,
            http_client=httpx_client(self.url, self.settings),
        )

    def options(self, question: Question) -> dict[str, Any]:
        options: dict[str, Any] = {"temperature": question.temperature}
        if question.chances or question.choices:
            options["logprobs"] = True
        if question.schema:
            options["output_config"] = {"format": {"type": "json_schema", "schema": json.loads(question.schema)}}
        return options

    def send(self, question: Question, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        try:
            raw = self.client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=question.longest,
                messages=[*map(self.message, question.messages)],
                extra_body=options,  # the SDK has no temperature any more; older models still take it
            )
        except anthropic.APIError as error:
            problem = self.sdk_error(error, options)
        else:
            return self.parse_json(raw.http_response.content), raw.headers
        raise problem  # not inside `except`: the SDK's error holds the key and would become its context

    def sdk_error(self, error: anthropic.APIError, options: Iterable[str]) -> Exception:
        """An error of the SDK as one of ours."""
        if isinstance(error, anthropic.APIStatusError):
            return self.status_error(error.status_code, error.response.text, error.response.headers, options)
        if isinstance(error, anthropic.APITimeoutError):
            return self.timed_out()
        cause = error.__cause__ or error
        return self.unreachable(cause, isinstance(cause, httpx2.ReadError))

    def message(self, message: Message) -> dict[str, Any]:
        return {"role": message.role, "content": [self.content(part) for part in message.joined]}

    def content(self, part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        data = base64.b64encode(encode_image(part)).decode()
        return {"type": "image", "source": {"type": "base64", "media_type": f"image/{part.format}", "data": data}}

    def parse(self, body: Any, question: Question) -> Answer:  # noqa: ARG002
        used = body.get("usage") or {}
        usage = Usage(token_count(*map(used.get, INPUT_TOKENS)), token_count(used.get("output_tokens")))
        text = "".join(block["text"] for block in body["content"] if block["type"] == "text")  # without thinking
        return Answer(text, STOPS.get(body.get("stop_reason"), UNKNOWN_STOP), str(body.get("model") or ""), usage)


load = Anthropic
