"""Google's Gemini models through the Gemini API."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from onprompt.models.http import HttpBackend, Response, base64_image, token_count
from onprompt.models.reading import number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Message, Part, Question, Usage

TOP_LOGPROBS = 20  # the maximum
FILTERED = (
    *("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
)
ENDED = (None, "", "STOP", "FINISH_REASON_UNSPECIFIED")
STOPS: dict[str | None, str] = {**dict.fromkeys(ENDED, "end"), **dict.fromkeys(FILTERED, "filter")}
UNKNOWN_STOP = "length"  # the answer may be incomplete
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"')  # in the details of an error


class Gemini(HttpBackend):
    """Contents with images."""

    backend = "gemini"
    server = "https://generativelanguage.googleapis.com"
    key_variables = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # in the order of Google's SDK
    url_variable = "GOOGLE_GEMINI_BASE_URL"
    response_name = "a response of the Gemini API"
    schema_option = "schema"
    option_words: Mapping[str, Sequence[str]] = {
        "temperature": ("temperature",),
        "logprobs": ("logprobs",),
        "schema": ("schema", "response_mime_type", "responsemimetype", "json mode", "controlled generation"),
    }

    def __init__(self, model: str, settings: Settings) -> None:
        super().__init__(model, settings)
        name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        self.endpoint = f"/v1/{quote(name)}:generateContent"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self.key}

    def options(self, question: Question) -> dict[str, dict[str, Any]]:
        """Each option with the parameters that it consists of."""
        options: dict[str, dict[str, Any]] = {"temperature": {"temperature": question.temperature}}
        if question.logprobs or question.choices:
            options["logprobs"] = {"responseLogprobs": True, "logprobs": TOP_LOGPROBS}
        if question.schema:
            schema = json.loads(question.schema)
            options["schema"] = {"responseMimeType": "application/json", "responseJsonSchema": schema}
        return options

    def body(self, question: Question, options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        config = {name: value for option in options.values() for name, value in option.items()}
        contents = [*map(self.message, question.messages)]
        return {"contents": contents, "generationConfig": {"maxOutputTokens": question.max_tokens, **config}}

    def message(self, message: Message) -> dict[str, Any]:
        role = "model" if message.role == "assistant" else "user"
        return {"role": role, "parts": [self.content(part) for part in message.joined]}

    def content(self, part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"text": part}
        return {"inlineData": {"mimeType": f"image/{part.format}", "data": base64_image(part)}}

    def retry_after(self, response: Response) -> float | None:
        stated = RETRY_DELAY.search(response.text)
        return super().retry_after(response) or (float(stated[1]) if stated else None)

    def parse(self, body: Any, question: Question) -> Answer:
        used, model = body.get("usageMetadata") or {}, str(body.get("modelVersion") or "")
        tokens_out = token_count(used.get("candidatesTokenCount"), used.get("thoughtsTokenCount"))
        usage = Usage(token_count(used.get("promptTokenCount")), tokens_out)
        if "candidates" not in body:
            return Answer("", "filter" if body["promptFeedback"]["blockReason"] else "end", model, usage)
        candidate = body["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
        pieces = tokens(candidate.get("logprobsResult") or {})
        token_probs = number_spots(text, pieces, question.choices, question.words)
        return Answer(text, STOPS.get(candidate.get("finishReason"), UNKNOWN_STOP), model, usage, token_probs)


load = Gemini


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
