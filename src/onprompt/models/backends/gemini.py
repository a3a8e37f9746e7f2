"""Google's Gemini models through the Gemini API."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models.http import MALFORMED, HttpBackend, httpx_client, token_count
from onprompt.models.reading import number_spots
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision import encode_image

MIN_SERVER_TIMEOUT = 10  # seconds; the server rejects less, and the SDK would pass on our timeout
TOP_LOGPROBS = 20  # the maximum
FILTERED = (
    *("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
)
ENDED = (None, "", "STOP", "FINISH_REASON_UNSPECIFIED")
STOPS: dict[str | None, str] = {**dict.fromkeys(ENDED, "end"), **dict.fromkeys(FILTERED, "filter")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
RESPONSE_FIELDS = {"candidates", "promptFeedback", "usageMetadata"}  # a response has at least one of them
# By which words a server's error names an option.
OPTION_WORDS = {
    "temperature": ("temperature",),
    "logprobs": ("logprobs",),
    "schema": ("schema", "response_mime_type", "responsemimetype", "json mode", "controlled generation"),
}


class Gemini(HttpBackend):
    """Contents with images."""

    backend = "gemini"
    server = "https://generativelanguage.googleapis.com"
    key_variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # in the SDK's order
    url_variable = "GOOGLE_GEMINI_BASE_URL"
    response_name = "a response of the Gemini API"
    schema_option = "schema"
    option_words = OPTION_WORDS

    def connect(self) -> genai.Client:
        seconds, self.http = self.settings.timeout, httpx_client(self.url, self.settings)
        options = types.HttpOptions(
            base_url=self.url,
            timeout=math.ceil(seconds * 1000),
            headers={"X-Server-Timeout": str(max(MIN_SERVER_TIMEOUT, math.ceil(seconds)))},
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_client=self.http,
        )
        return genai.Client(vertexai=False, api_key=self.key, http_options=options)

    def close(self) -> None:
        super().close()
        if self.connection:
            self.http.close()  # the SDK closes only a client of its own

    def options(self, question: Question) -> dict[str, dict[str, Any]]:
        """Each option with the parameters that it consists of."""
        options: dict[str, dict[str, Any]] = {"temperature": {"temperature": question.temperature}}
        if question.chances or question.choices:
            options["logprobs"] = {"response_logprobs": True, "logprobs": TOP_LOGPROBS}
        if question.schema:
            schema = json.loads(question.schema)
            options["schema"] = {"response_mime_type": "application/json", "response_json_schema": schema}
        return options

    def send(self, question: Question, options: Mapping[str, Mapping[str, Any]]) -> tuple[Any, Mapping[str, str]]:
        config = types.GenerateContentConfig(
            max_output_tokens=question.longest,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            should_return_http_response=True,  # the SDK's own parser fails on fields that it does not know
            **{name: value for option in options.values() for name, value in option.items()},
        )
        contents = [*map(content, question.messages)]
        try:
            raw = self.client.models.generate_content(model=self.model, contents=contents, config=config)
        except (errors.APIError, httpx2.HTTPError, RecursionError, ValueError) as error:
            problem = self.sdk_error(error, options)
        else:
            response = raw.sdk_http_response or types.HttpResponse()
            return self.parse_json(response.body or ""), response.headers or {}
        raise problem  # not inside `except`: the SDK's error holds the key and would become its context

    def sdk_error(self, error: Exception, options: Mapping[str, Any]) -> Exception:
        """An error of the SDK or of its HTTP client as one of ours."""
        if isinstance(error, errors.APIError):
            response: Any = error.response
            headers = {"retry-after": retry_delay(response.text), **response.headers}
            return self.status_error(error.code, response.text, headers, options)
        if isinstance(error, httpx2.TimeoutException):
            return self.timed_out()
        if isinstance(error, httpx2.HTTPError):
            return self.unreachable(error, isinstance(error, httpx2.ReadError))
        if isinstance(error, RecursionError | UnicodeDecodeError):  # from the SDK's parsing of the server's error
            return ServerTrouble("broken", f"{self.address} did not send JSON")
        return Rejected(f"the Gemini SDK rejects the question: {self.redact(str(error))}")

    def parse(self, body: Any, question: Question) -> Answer:
        used, model = body.get("usageMetadata") or {}, str(body.get("modelVersion") or "")
        tokens_out = token_count(used.get("candidatesTokenCount"), used.get("thoughtsTokenCount"))
        usage = Usage(token_count(used.get("promptTokenCount")), tokens_out)
        if body.get("candidates"):
            candidate = body["candidates"][0]
            parts = (candidate.get("content") or {}).get("parts") or []
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            pieces = tokens(candidate.get("logprobsResult") or {})
            spots = number_spots(text, pieces, question.choices, question.words)
            return Answer(text, STOPS.get(candidate.get("finishReason"), UNKNOWN_STOP), model, usage, spots)
        if not body.keys() & RESPONSE_FIELDS:
            raise LookupError
        blocked = (body.get("promptFeedback") or {}).get("blockReason")
        return Answer("", "filter" if blocked else "end", model, usage)


load = Gemini


def content(message: Message) -> types.Content:
    """A message as the API takes it."""
    return types.Content(role="model" if message.role == "assistant" else "user", parts=[*map(part_of, message.joined)])


def part_of(part: Part) -> types.Part:
    """A text or an image."""
    if isinstance(part, str):
        return types.Part.from_text(text=part)
    return types.Part.from_bytes(data=encode_image(part), mime_type=f"image/{part.format}")


def tokens(result: Mapping[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """The tokens of an answer, each with the probabilities of itself and its alternatives."""
    chosen = result.get("chosenCandidates") or []
    tops = [*(result.get("topCandidates") or []), *({} for _ in chosen)]
    return [
        (token.get("token") or "", probabilities([token, *(top.get("candidates") or [])]))
        for token, top in zip(chosen, tops, strict=False)
    ]


def probabilities(candidates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Tokens with their probabilities; the server leaves out a log probability of 0, as it does all zeros."""
    log_probabilities = {token.get("token") or "": float(token.get("logProbability") or 0) for token in candidates}
    return {token: math.exp(min(0.0, value)) for token, value in log_probabilities.items()}


def retry_delay(body: str) -> str:
    """The delay in the details of an error, such as `34s`."""
    with suppress(*MALFORMED, RecursionError):
        details = json.loads(body)["error"]["details"]
        return next((str(detail["retryDelay"]) for detail in details if "retryDelay" in detail), "")
    return ""
