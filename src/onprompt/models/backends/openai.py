"""OpenAI, and every server with its API: vLLM, SGLang, llama.cpp, Ollama, LM Studio and others."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from onprompt.errors import Rejected
from onprompt.models.http import HttpBackend, base64_image, token_count
from onprompt.models.reading import number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Part, Question, Usage

STOPS = {"content_filter": "filter", **dict.fromkeys((None, "", "stop", "eos", "eos_token", "stop_sequence"), "end")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
# OpenAI's newer models accept only the first name of the limit on an answer, other servers often only the second.
LIMITS = ("max_completion_tokens", "max_tokens")
TOP_LOGPROBS = 20  # OpenAI's maximum


class OpenAI(HttpBackend):
    """Chat completions with images."""

    backend = "openai"
    server = "https://api.openai.com/v1"
    endpoint = "/chat/completions"
    key_variables = ("OPENAI_API_KEY",)
    key_hint = ", or base_url for a server of your own"
    url_variable = "OPENAI_BASE_URL"
    response_name = "a chat completion"
    schema_option = "response_format"
    option_words: Mapping[str, Sequence[str]] = {
        "response_format": ("response_format", "json_schema", "structured output", "guided"),
        "logprobs": ("logprobs",),
        "temperature": ("temperature",),
        **{name: (name,) for name in LIMITS},
    }

    def __init__(self, model: str, settings: Settings) -> None:
        super().__init__(model, settings)
        self.needs_key = self.url == self.server
        self.limits = LIMITS if self.needs_key else LIMITS[::-1]

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key or 'none'}"}

    def options(self, question: Question) -> dict[str, Any]:
        limit = next((name for name in self.limits if name not in self.unsupported), None)
        if limit is None:  # without one, an answer may cost any amount
            raise Rejected("the server accepts no limit on the length of an answer")
        options: dict[str, Any] = {"temperature": question.temperature, limit: question.max_tokens}
        if question.logprobs or question.choices:
            options["logprobs"] = True
        if question.schema:
            schema = {"name": "verdict", "strict": True, "schema": json.loads(question.schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        return options

    def body(self, question: Question, options: Mapping[str, Any]) -> dict[str, Any]:
        more = {"top_logprobs": TOP_LOGPROBS} if "logprobs" in options else {}
        return {"model": self.model, "messages": [*map(self.message, question.messages)], **options, **more}

    def content(self, part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        return {"type": "image_url", "image_url": {"url": f"data:image/{part.format};base64,{base64_image(part)}"}}

    def parse(self, body: Any, question: Question) -> Answer:
        choices, model, used = body["choices"], str(body.get("model") or ""), body.get("usage") or {}
        usage = Usage(token_count(used.get("prompt_tokens")), token_count(used.get("completion_tokens")))
        message, stop = choices[0]["message"], STOPS.get(choices[0].get("finish_reason"), UNKNOWN_STOP)
        if message.get("refusal"):
            return Answer(str(message["refusal"]), "refusal", model, usage)
        text = message.get("content") or ""
        if isinstance(text, list):  # some servers send parts
            text = "".join(part.get("text") or "" for part in text)
        tokens = (choices[0].get("logprobs") or {}).get("content") or []
        pieces = [(str(token["token"]), alternatives(token)) for token in tokens]
        token_probs = number_spots(text, pieces, question.choices, question.words)
        return Answer(text, stop, model, usage, token_probs)


load = OpenAI


def alternatives(token: Mapping[str, Any]) -> dict[str, float]:
    """The probabilities of a token and of its alternatives."""
    candidates: Sequence[Mapping[str, Any]] = [token, *(token.get("top_logprobs") or [])]
    return {str(candidate["token"]): math.exp(min(0.0, float(candidate["logprob"]))) for candidate in candidates}
