"""OpenAI, and every server that speaks its language: vLLM, SGLang, llama.cpp, Ollama, LM Studio and others."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import openai

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models import http
from onprompt.models.reading import placed
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision.image import encode_image

SERVER = "https://api.openai.com/v1"
STOPS = {"content_filter": "filter", **dict.fromkeys((None, "", "stop", "eos", "eos_token", "stop_sequence"), "end")}
CUT = "length"  # whatever else a server says: the answer may not have come to its end
LIMITS = ("max_tokens", "max_completion_tokens")
ALTERNATIVES = 20  # the most probable tokens that are asked for: as many as OpenAI gives
# Options that a server may not know, by the words with which it says so.
WORDS = {
    "response_format": ("response_format", "json_schema", "structured output", "guided"),
    "logprobs": ("logprobs",),
    "temperature": ("temperature",),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_tokens": ("max_tokens",),
}


def load(model: str, settings: Settings) -> OpenAI:
    """The backend for a model's name."""
    return OpenAI(model, settings)


class OpenAI(http.Speaker):
    """Chat completions with pictures."""

    backend = "openai"
    schema = "response_format"
    other_name = False

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.key = model, http.key_of(settings, "OPENAI_API_KEY")
        url = http.url_of(settings, "OPENAI_BASE_URL")
        self.url, self.settings = url or SERVER, settings
        self.address = http.address(self.url)
        # OpenAI's newer models know the longer name only, other servers often just the shorter.
        self.refused = frozenset({"max_tokens"} if not url else {"max_completion_tokens"})

    def connected(self) -> openai.OpenAI:
        if not self.key and self.url == SERVER:
            raise Rejected("no key for OpenAI: set OPENAI_API_KEY, or base_url for a server of your own")
        return openai.OpenAI(
            api_key=self.key or "none",
            base_url=self.url,
            max_retries=0,
            timeout=self.settings.timeout,
            http_client=http.client(self.settings),
        )

    def options(self, question: Question) -> dict[str, Any]:
        return options_of(question)

    def refuse(self, option: str) -> None:
        super().refuse(option)
        if option in LIMITS:  # by its other name; without any limit an answer may cost whatever it likes
            if self.other_name:
                raise Rejected("the server takes no limit on the length of an answer")
            self.other_name, self.refused = True, self.refused - set(LIMITS) | {option}

    def read(self, body: Any, question: Question) -> Answer:
        return answer_of(body, question)

    def sent(self, question: Question, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        more = {"top_logprobs": ALTERNATIVES} if "logprobs" in options else {}
        messages: Any = [message(each) for each in question.messages]
        create: Any = self.client.chat.completions.with_raw_response.create
        try:
            raw = create(model=self.model, messages=messages, **options, **more)
        except openai.OpenAIError as error:
            trouble = http.sdk_trouble(openai, error, options, WORDS, self)
        else:
            return http.parsed(raw.http_response.content, self.address), raw.headers
        raise trouble  # here and not above, so that it does not carry the SDK's error, which holds the key


def options_of(question: Question) -> dict[str, Any]:
    """All that is asked for beside the messages."""
    options: dict[str, Any] = {
        "temperature": question.temperature,
        "max_completion_tokens": question.longest,
        "max_tokens": question.longest,
    }
    if question.chances or question.choices:
        options["logprobs"] = True
    if question.schema:
        schema = {"name": "verdict", "strict": True, "schema": json.loads(question.schema)}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    return options


def message(message: Message) -> Any:
    """A message as the protocol wants it."""
    return {"role": message.role, "content": [content(part) for part in message.joined]}


def content(part: Part) -> dict[str, Any]:
    """A text, or a picture as a data address."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(encode_image(part)).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/{part.format};base64,{data}"}}


def answer_of(body: Any, question: Question) -> Answer:
    """What the response says; ServerTrouble where it is not of the protocol's form."""
    with suppress(*http.MALFORMED):
        choices, model, used = body["choices"], str(body.get("model") or ""), body.get("usage") or {}
        usage = Usage(int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0))
        if choices == []:
            return Answer("", "end", model, usage)
        said, stop = choices[0]["message"], STOPS.get(choices[0].get("finish_reason"), CUT)
        if said.get("refusal"):
            return Answer(str(said["refusal"]), "refusal", model, usage)
        text = text_of(said.get("content"))
        tokens = (choices[0].get("logprobs") or {}).get("content") or []
        spots = placed(text, [(str(each["token"]), chances(each)) for each in tokens], question.choices)
        return Answer(text, stop, model, usage, spots)
    raise ServerTrouble("broken", "the server's JSON is not a chat completion")


def text_of(content: Any) -> str:
    """The text of a message, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content)
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def chances(token: Mapping[str, Any]) -> dict[str, float]:
    """The probabilities of a token and of what might have stood in its place."""
    all_of_them: Sequence[Mapping[str, Any]] = [token, *(token.get("top_logprobs") or [])]
    return {str(each["token"]): math.exp(min(0.0, float(each["logprob"]))) for each in all_of_them}
