"""Google's Gemini models, by the Gemini API."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx2
from google import genai
from google.genai import errors, types

from onprompt.errors import Rejected, ServerTrouble
from onprompt.models import http
from onprompt.models.reading import placed
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, Usage
from onprompt.vision.image import encode_image

SERVER = "https://generativelanguage.googleapis.com"
SHORTEST = 10  # seconds: the server takes no shorter deadline, and the SDK would tell it ours
ALTERNATIVES = 20  # the most probable tokens that are asked for: as many as there may be
FILTERS = (
    "SAFETY",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
)
ENDS = (None, "", "STOP", "FINISH_REASON_UNSPECIFIED")
STOPS: dict[str | None, str] = {**dict.fromkeys(ENDS, "end"), **dict.fromkeys(FILTERS, "filter")}
CUT = "length"  # whatever else the server says: the answer may not have come to its end
KNOWN = {"candidates", "promptFeedback", "usageMetadata"}  # a response has at least one of them
# Options that a model may not know, by the words with which the server says so.
WORDS = {
    "temperature": ("temperature",),
    "logprobs": ("logprobs",),
    "schema": ("schema", "response_mime_type", "responsemimetype", "json mode", "controlled generation"),
}


def load(model: str, settings: Settings) -> Gemini:
    """The backend for a model's name."""
    return Gemini(model, settings)


class Gemini(http.Speaker):
    """Contents with pictures."""

    backend = "gemini"
    schema = "schema"

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.key = model, http.key_of(settings, "GOOGLE_API_KEY", "GEMINI_API_KEY")  # the SDK's order
        self.url, self.settings = http.url_of(settings, "GOOGLE_GEMINI_BASE_URL") or SERVER, settings
        self.address = http.address(self.url)

    def connected(self) -> genai.Client:
        if not self.key:
            raise Rejected("no key for Gemini: set GEMINI_API_KEY or GOOGLE_API_KEY")
        seconds, self.http = self.settings.timeout, http.client(self.settings)
        options = types.HttpOptions(
            base_url=self.url,
            timeout=math.ceil(seconds * 1000),
            headers={"X-Server-Timeout": str(max(SHORTEST, math.ceil(seconds)))},
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_client=self.http,
        )
        return genai.Client(vertexai=False, api_key=self.key, http_options=options)

    def close(self) -> None:
        super().close()
        if self.made:
            self.http.close()  # the SDK closes its own only

    def options(self, question: Question) -> dict[str, Any]:
        return options_of(question)

    def read(self, body: Any, question: Question) -> Answer:
        return answer_of(body, question)

    def sent(self, question: Question, options: Mapping[str, Mapping[str, Any]]) -> tuple[Any, Mapping[str, str]]:
        """The body and the headers of the response."""
        contents = [content(each) for each in question.messages]
        config = types.GenerateContentConfig(
            max_output_tokens=question.longest,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            should_return_http_response=True,  # as it came: the SDK's own reading fails on what it does not know
            **{name: value for option in options.values() for name, value in option.items()},
        )
        try:
            raw = self.client.models.generate_content(model=self.model, contents=contents, config=config)
        except (errors.APIError, httpx2.HTTPError, RecursionError, ValueError) as error:
            trouble = self.trouble(error, options)
        else:
            response = raw.sdk_http_response or types.HttpResponse()
            return http.parsed(response.body or "", self.address), response.headers or {}
        raise trouble  # here and not above, so that it does not carry the SDK's error, which holds the key

    def trouble(self, error: Exception, options: Mapping[str, Any]) -> Exception:
        """What an error of the SDK, or of what it sends with, stands for."""
        if isinstance(error, errors.APIError):
            response: Any = error.response
            if option := http.refused_option(error.code, response.text, options, WORDS):
                return http.Refused(option)
            headers = {"retry-after": delay(response.text), **response.headers}
            return http.trouble(error.code, response.text, headers, self.key)
        if isinstance(error, httpx2.TimeoutException):
            return http.too_slow(self.address)
        if isinstance(error, httpx2.HTTPError):
            return http.unreached(self.address, error, self.key)
        if isinstance(error, RecursionError | UnicodeDecodeError):  # the SDK could not read the server's error
            return ServerTrouble("broken", f"{self.address} answers with something that is not JSON")
        return Rejected(f"the SDK won't send the question: {http.without(self.key, str(error))}")


def options_of(question: Question) -> dict[str, dict[str, Any]]:
    """All that is asked for beside the messages and their length: each option with the fields that it takes."""
    options: dict[str, dict[str, Any]] = {"temperature": {"temperature": question.temperature}}
    if question.chances or question.choices:
        options["logprobs"] = {"response_logprobs": True, "logprobs": ALTERNATIVES}
    if question.schema:
        options["schema"] = {
            "response_mime_type": "application/json",
            "response_json_schema": json.loads(question.schema),
        }
    return options


def content(message: Message) -> types.Content:
    """A message as the protocol wants it."""
    return types.Content(role="model" if message.role == "assistant" else "user", parts=[*map(part_of, message.joined)])


def part_of(part: Part) -> types.Part:
    """A text or a picture."""
    if isinstance(part, str):
        return types.Part.from_text(text=part)
    return types.Part.from_bytes(data=encode_image(part), mime_type=f"image/{part.format}")


def answer_of(body: Any, question: Question) -> Answer:
    """What the response says; ServerTrouble where it is not of the protocol's form."""
    with suppress(*http.MALFORMED):
        used, model = body.get("usageMetadata") or {}, str(body.get("modelVersion") or "")
        out = int(used.get("candidatesTokenCount") or 0) + int(used.get("thoughtsTokenCount") or 0)
        usage = Usage(int(used.get("promptTokenCount") or 0), out)
        if body.get("candidates"):
            first = body["candidates"][0]
            parts = (first.get("content") or {}).get("parts") or []
            text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
            spots = placed(text, tokens(first.get("logprobsResult") or {}), question.choices)
            return Answer(text, STOPS.get(first.get("finishReason"), CUT), model, usage, spots)
        if body.keys() & KNOWN:
            blocked = (body.get("promptFeedback") or {}).get("blockReason")
            return Answer("", "filter" if blocked else "end", model, usage)
    raise ServerTrouble("broken", "the server's JSON is not a response of the Gemini API")


def tokens(result: Mapping[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """The tokens of an answer, each with the probabilities of itself and of what might have stood in its place."""
    chosen = result.get("chosenCandidates") or []
    others = [*(result.get("topCandidates") or []), *({} for _ in chosen)]
    pairs = zip(chosen, others, strict=False)
    return [(each.get("token") or "", chances([each, *(top.get("candidates") or [])])) for each, top in pairs]


def chances(candidates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The probabilities of tokens; a logarithm of 0 is left out by the server, as all zeros are."""
    return {each.get("token") or "": math.exp(min(0.0, float(each.get("logProbability") or 0))) for each in candidates}


def delay(body: str) -> str:
    """For how long the server wants to be left alone, by the details of its error: `34s`."""
    with suppress(*http.MALFORMED, RecursionError):
        details = json.loads(body)["error"]["details"]
        return next((str(each["retryDelay"]) for each in details if "retryDelay" in each), "")
    return ""
