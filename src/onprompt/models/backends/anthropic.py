"""Anthropic's models, by its Messages API."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anthropic

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models import http
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision.image import encode_image

SERVER = "https://api.anthropic.com"
STOPS = {"refusal": "refusal", **dict.fromkeys((None, "", "end_turn", "stop_sequence"), "end")}
CUT = "length"  # whatever else the server says: the answer may not have come to its end
# Options that a model may not know, by the words with which the server says so.
WORDS = {
    "temperature": ("temperature",),
    "output_config": ("output_config", "output_format", "output format", "structured output", "schema"),
}
TAKEN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def load(model: str, settings: Settings) -> Anthropic:
    """The backend for a model's name."""
    return Anthropic(model, settings)


class Anthropic(http.Speaker):
    """Messages with pictures."""

    backend = "anthropic"
    schema = "output_config"

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.key = model, http.key_of(settings, "ANTHROPIC_API_KEY")
        self.url, self.settings = http.url_of(settings, "ANTHROPIC_BASE_URL") or SERVER, settings
        self.address = http.address(self.url)
        self.refused = frozenset({"logprobs"})  # the protocol has none

    def connected(self) -> anthropic.Anthropic:
        if not self.key:
            raise Rejected("no key for Anthropic: set ANTHROPIC_API_KEY")
        return anthropic.Anthropic(
            api_key=self.key,
            base_url=self.url,
            max_retries=0,
            timeout=self.settings.timeout,
            http_client=http.client(self.settings),
        )

    def options(self, question: Question) -> dict[str, Any]:
        return options_of(question)

    def read(self, body: Any, question: Question) -> Answer:  # noqa: ARG002 the form is the same for all
        return answer_of(body)

    def sent(self, question: Question, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        """The body and the headers of the response."""
        messages = [message(each) for each in question.messages]
        try:
            raw = self.client.messages.with_raw_response.create(
                model=self.model,
                max_tokens=question.longest,
                messages=messages,
                extra_body=options,  # the SDK has no parameter for the temperature any more; older models know it
            )
        except anthropic.AnthropicError as error:
            trouble = http.sdk_trouble(anthropic, error, options, WORDS, self)
        else:
            return http.parsed(raw.http_response.content, self.address), raw.headers
        raise trouble  # here and not above, so that it does not carry the SDK's error, which holds the key


def options_of(question: Question) -> dict[str, Any]:
    """All that is asked for beside the messages and their length."""
    options: dict[str, Any] = {"temperature": question.temperature}
    if question.chances or question.choices:
        options["logprobs"] = True
    if question.schema:
        options["output_config"] = {"format": {"type": "json_schema", "schema": json.loads(question.schema)}}
    return options


def message(message: Message) -> Any:
    """A message as the protocol wants it."""
    return {"role": message.role, "content": [content(part) for part in message.joined]}


def content(part: Part) -> dict[str, Any]:
    """A text or a picture."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(encode_image(part)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": f"image/{part.format}", "data": data}}


def answer_of(body: Any) -> Answer:
    """What the response says; ServerTrouble where it is not of the protocol's form."""
    with suppress(*http.MALFORMED):
        used = body.get("usage") or {}
        usage = Usage(sum(int(used.get(name) or 0) for name in TAKEN), int(used.get("output_tokens") or 0))
        said = "".join(block["text"] for block in body["content"] if block["type"] == "text")  # thoughts are left out
        text, model = said, str(body.get("model") or "")
        return Answer(text, STOPS.get(body.get("stop_reason"), CUT), model, usage)
    raise ServerTrouble("broken", "the server's JSON is not a message")
