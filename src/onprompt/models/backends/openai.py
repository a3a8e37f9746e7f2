"""OpenAI, and every server with its API: vLLM, SGLang, llama.cpp, Ollama, LM Studio and others."""

import base64
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

from onprompt.errors import Rejected
from onprompt.models.http import HttpBackend, http_pool, token_count
from onprompt.models.http_pool import BadResponse, HttpPool, Late, Unreachable
from onprompt.models.reading import number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision import encode_image

STOPS = {"content_filter": "filter", **dict.fromkeys((None, "", "stop", "eos", "eos_token", "stop_sequence"), "end")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
LENGTH_LIMITS = {"max_tokens", "max_completion_tokens"}
TOP_LOGPROBS = 20  # OpenAI's maximum
# By which words a server's error names an option.
OPTION_WORDS = {
    "response_format": ("response_format", "json_schema", "structured output", "guided"),
    "logprobs": ("logprobs",),
    "temperature": ("temperature",),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_tokens": ("max_tokens",),
}
# Who pays, for keys that belong to several, by the variables that OpenAI's own SDK reads.
ACCOUNT_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


class OpenAI(HttpBackend):
    """Chat completions with images."""

    backend = "openai"
    server = "https://api.openai.com/v1"
    key_variables = ("OPENAI_API_KEY",)
    key_hint = ", or base_url for a server of your own"
    url_variable = "OPENAI_BASE_URL"
    response_name = "a chat completion"
    schema_option = "response_format"
    option_words = OPTION_WORDS
    renamed_limit = False

    def __init__(self, model: str, settings: Settings) -> None:
        super().__init__(model, settings)
        self.needs_key = self.url == self.server
        parts = urlsplit(self.url)
        self.path = f"{parts.path.rstrip('/')}/chat/completions" + (f"?{parts.query}" if parts.query else "")
        # OpenAI's newer models accept only the longer name, other servers often only the shorter.
        self.unsupported = frozenset({"max_tokens" if self.needs_key else "max_completion_tokens"})

    def connect(self) -> HttpPool:
        """Without OpenAI's SDK, whose work on each request takes as long as all other."""
        return http_pool(self.url, self.settings)

    @cached_property
    def headers(self) -> dict[str, str]:
        account = {name: os.environ.get(variable, "") for name, variable in ACCOUNT_HEADERS.items()}
        headers = {"Authorization": f"Bearer {self.key or 'none'}", "Content-Type": "application/json"}
        version = f"onprompt/{metadata.version('onprompt')}"
        return {name: value for name, value in {**headers, **account, "User-Agent": version}.items() if value}

    def drop(self, option: str) -> None:
        super().drop(option)
        if option in LENGTH_LIMITS:  # use its other name: without a limit an answer may cost any amount
            if self.renamed_limit:
                raise Rejected("the server accepts no limit on the length of an answer")
            self.renamed_limit, self.unsupported = True, self.unsupported - LENGTH_LIMITS | {option}

    def options(self, question: Question) -> dict[str, Any]:
        options: dict[str, Any] = {"temperature": question.temperature}
        options |= dict.fromkeys(sorted(LENGTH_LIMITS), question.longest)
        if question.chances or question.choices:
            options["logprobs"] = True
        if question.schema:
            schema = {"name": "verdict", "strict": True, "schema": json.loads(question.schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        return options

    def send(self, question: Question, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        more = {"top_logprobs": TOP_LOGPROBS} if "logprobs" in options else {}
        body = {"model": self.model, "messages": [*map(self.message, question.messages)], **options, **more}
        try:
            response = self.client.request("POST", self.path, json.dumps(body).encode(), self.headers)
        except Late:
            problem: Exception = self.timed_out()
        except (Unreachable, BadResponse) as error:
            problem = self.unreachable(error, isinstance(error, BadResponse))
        else:
            if 200 <= response.status < 300:
                return self.parse_json(response.content), response.headers
            problem = self.status_error(response.status, response.text, response.headers, options)
        raise problem  # not inside `except`: what was sent holds the key and would become its context

    def message(self, message: Message) -> dict[str, Any]:
        return {"role": message.role, "content": [self.content(part) for part in message.joined]}

    def content(self, part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        data = base64.b64encode(encode_image(part)).decode()
        return {"type": "image_url", "image_url": {"url": f"data:image/{part.format};base64,{data}"}}

    def parse(self, body: Any, question: Question) -> Answer:
        choices, model, used = body["choices"], str(body.get("model") or ""), body.get("usage") or {}
        usage = Usage(token_count(used.get("prompt_tokens")), token_count(used.get("completion_tokens")))
        if choices == []:
            return Answer("", "end", model, usage)
        message, stop = choices[0]["message"], STOPS.get(choices[0].get("finish_reason"), UNKNOWN_STOP)
        if message.get("refusal"):
            return Answer(str(message["refusal"]), "refusal", model, usage)
        text = text_of(message.get("content"))
        tokens = (choices[0].get("logprobs") or {}).get("content") or []
        pieces = [(str(token["token"]), alternatives(token)) for token in tokens]
        spots = number_spots(text, pieces, question.choices, question.words)
        return Answer(text, stop, model, usage, spots)


load = OpenAI


def text_of(content: Any) -> str:
    """The text of a message, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content)
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def alternatives(token: Mapping[str, Any]) -> dict[str, float]:
    """The probabilities of a token and of its alternatives."""
    candidates: Sequence[Mapping[str, Any]] = [token, *(token.get("top_logprobs") or [])]
    return {str(candidate["token"]): math.exp(min(0.0, float(candidate["logprob"]))) for candidate in candidates}
