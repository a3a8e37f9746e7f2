"""The Gemini API against a real server on loopback."""

from __future__ import annotations

import math
from typing import Any

import pytest

from onprompt.models.backends.gemini import Gemini, load
from onprompt.settings import Settings
from onprompt.types import Question
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

MODEL = "gemini-test"
LOGPROBS = Reply({"error": {"code": 400, "message": f"Logprobs is not enabled for models/{MODEL}"}}, 400)
JSON_MODE = Reply({"error": {"code": 400, "message": f"JSON mode is not enabled for models/{MODEL}"}}, 400)
RETRY = "type.googleapis.com/google.rpc.RetryInfo"


def response(*parts: Any, stop: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """A response: texts and other parts."""
    content = {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}
    usage = {"promptTokenCount": 1200, "candidatesTokenCount": 34, "thoughtsTokenCount": 100, "totalTokenCount": 1334}
    candidate = {"content": content, "finishReason": stop, **more}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": f"{MODEL}-001"}


def token(word: str, chance: float) -> dict[str, Any]:
    """A token with its logarithm, which the server leaves out where it is 0."""
    return {"token": word, "tokenId": 7, **({"logProbability": math.log(chance)} if chance < 1 else {})}


class TestGemini(Contract):
    key_variables, url_variable = ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL"
    endings = (
        *((response("I", stop=reason), "I", "end") for reason in ("STOP", None)),
        *((response("I", stop=reason), "I", "length") for reason in ("MAX_TOKENS", "OTHER", "SOMETHING_NEW")),
        *((response("I", stop=reason), "I", "filter") for reason in ("SAFETY", "RECITATION", "IMAGE_SAFETY")),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "", "filter"),
        ({"candidates": [{"finishReason": "STOP"}]}, "", "end"),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}, "", "end"),
        ({"candidates": [{"content": {"parts": []}}]}, "", "end"),
        (response({"text": "5? No.", "thought": True}, "4"), "4", "end"),
        ({"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}, "", "length"),
    )
    almost = (
        {"candidates": []},
        {"usageMetadata": {"promptTokenCount": 1}},
        {"candidates": "4"},
        {"candidates": [4]},
        {"candidates": [{"content": {"parts": "4"}}]},
        {"candidates": [{"content": {"parts": [{"text": 4}]}}]},
        {"candidates": [{"finishReason": []}]},
    )

    def load(self, settings: Settings) -> Gemini:
        return load(MODEL, settings)

    def said(self, text: str) -> Any:
        return response(text)

    def test_what_is_sent_and_what_comes_back(self) -> None:
        answer, requests = self.answer(conversation(0.0), Reply(response("Yes: ", "4")))
        sent = requests[0]
        assert (sent.method, sent.path) == ("POST", f"/v1/models/{MODEL}:generateContent")
        assert sent.headers["x-goog-api-key"] == KEY
        picture = sent.json["contents"][0]["parts"][1]
        assert sent.json == {
            "contents": [
                {"role": "user", "parts": [{"text": "Look:"}, picture, {"text": "How good?"}]},
                {"role": "model", "parts": [{"text": "Good."}]},
                {"role": "user", "parts": [{"text": "Sure?"}]},
            ],
            "generationConfig": {"maxOutputTokens": 77, "temperature": 0.0},
        }
        assert picture["inlineData"]["mimeType"] == "image/png"
        assert size_of(picture["inlineData"]["data"]) == (16, 8)
        assert (answer.text, answer.stop, answer.model, answer.structured) == ("Yes: 4", "end", f"{MODEL}-001", False)
        assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.refused) == (1200, 134, ())
        assert 0 < answer.usage.seconds < 5

    def test_held_to_a_schema(self) -> None:
        answer, requests = self.answer(STRUCTURED, Reply(response('{"score": 4}')))
        config = requests[0].json["generationConfig"]
        assert (config["responseMimeType"], config["responseJsonSchema"]) == ("application/json", SCHEMA)
        assert answer.structured
        assert answer.refused == ()

    def test_options_that_are_refused_are_left_out_from_then_on(self) -> None:
        question = Question(PLAIN.messages, schema=STRUCTURED.schema, logprobs=True)
        with Scripted(JSON_MODE, LOGPROBS, Reply(response("4"))) as server, self.backend(server.url) as backend:
            first, second = backend.ask(question), backend.ask(question)
        plain = ["maxOutputTokens", "temperature"]
        probable = ["logprobs", "maxOutputTokens", "responseLogprobs"]
        assert [sorted(request.json["generationConfig"]) for request in server.requests] == [
            [*probable[:2], "responseJsonSchema", "responseLogprobs", "responseMimeType", "temperature"],
            [*probable, "temperature"],
            plain,
            plain,
        ]
        for answer in (first, second):
            assert (answer.text, answer.structured, answer.refused) == ("4", False, ("logprobs", "schema"))

    def test_probabilities_of_digits(self) -> None:
        top = [{"candidates": [token("Score: ", 1)]}, {"candidates": [token("4", 0.75), token("3", 0.25)]}]
        result = {"chosenCandidates": [token("Score: ", 1), token("4", 0.75)], "topCandidates": top}
        question = Question(PLAIN.messages, logprobs=True)
        answer, requests = self.answer(question, Reply(response("Score: 4", logprobsResult=result)))
        config = requests[0].json["generationConfig"]
        assert (config["responseLogprobs"], config["logprobs"]) == (True, 20)
        assert answer.token_probs == ((7, 8, {"4": 0.75, "3": 0.25}),)

    def test_probabilities_of_words_and_choices(self) -> None:
        texts = ('{"1": "', "yes", '", "2": "', "no", '"}')
        result = {"chosenCandidates": [token(text, 1) for text in texts]}
        question = Question(PLAIN.messages, logprobs=True, words=("yes", "no"))
        answer, _ = self.answer(question, Reply(response("".join(texts), logprobsResult=result)))
        assert answer.token_probs == ((7, 10, {"yes": 1.0}), (19, 21, {"no": 1.0}))
        question, result = Question(PLAIN.messages, choices=("yes", "no")), {"chosenCandidates": [token("yes", 1)]}
        answer, _ = self.answer(question, Reply(response("yes", logprobsResult=result)))
        assert answer.token_probs == ((0, 3, {"yes": 1.0}),)

    @pytest.mark.parametrize(("headers", "seconds"), [({}, 34.5), ({"retry-after": "3"}, 3)])
    def test_how_long_it_is_busy_stands_in_the_body_too(self, headers: dict[str, str], seconds: float) -> None:
        details = [{"@type": "type.googleapis.com/google.rpc.Help"}, {"@type": RETRY, "retryDelay": "34.5s"}]
        trouble = self.trouble(Reply({"error": {"code": 429, "details": details}}, 429, headers))
        assert (trouble.kind, trouble.retry_after) == ("busy", seconds)
