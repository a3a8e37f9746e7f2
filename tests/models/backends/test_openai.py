"""OpenAI's protocol against a real server on loopback."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import SecretStr

from onprompt.errors import Rejected
from onprompt.models.backends.openai import OpenAI, load
from onprompt.models.reading import choice_probabilities, expected_score
from onprompt.settings import Settings
from onprompt.types import Question
from tests.models.backends.server import (
    KEY,
    PLAIN,
    SCHEMA,
    STRUCTURED,
    Contract,
    Received,
    Reply,
    Scripted,
    conversation,
    size_of,
)

MODEL = "vlm-test"


def completion(content: Any, stop: str | None = "stop", **more: Any) -> dict[str, Any]:
    """A response with one choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": stop, **more}
    usage = {"prompt_tokens": 1200, "completion_tokens": 34}
    return {"object": "chat.completion", "model": f"{MODEL}-1", "choices": [choice], "usage": usage}


def complaint(words: str) -> Reply:
    return Reply({"error": {"message": words, "type": "invalid_request_error"}}, 400)


def token(text: str, chance: float, **others: float) -> dict[str, Any]:
    """A token with its probability, and others that might have stood there."""
    top = [{"token": name, "logprob": math.log(p)} for name, p in {text: chance, **others}.items()]
    return {"token": text, "logprob": math.log(chance), "top_logprobs": top}


class TestOpenAI(Contract):
    key_variables, url_variable = ("OPENAI_API_KEY",), "OPENAI_BASE_URL"
    endings = (
        *((completion("I", reason), "I", "end") for reason in ("stop", "eos", None)),
        *((completion("I", reason), "I", "length") for reason in ("length", "something new")),
        (completion("I", "content_filter"), "I", "filter"),
        (completion(""), "", "end"),
        (completion(None), "", "end"),
        (completion([{"type": "text", "text": "So "}, {"type": "thinking"}, {"text": "4"}]), "So 4", "end"),
        ({"choices": [{"message": {"content": None, "refusal": "I can't."}}]}, "I can't.", "refusal"),
    )
    almost = (
        {"choices": []},
        {"choices": "4"},
        {"choices": [{"message": "4"}]},
        {"choices": [{"message": {"content": 4}}]},
        {"choices": [{"message": {"content": "4"}, "finish_reason": []}]},
        completion("4", logprobs={"content": [4]}),
    )

    def load(self, settings: Settings) -> OpenAI:
        return load(MODEL, settings)

    def said(self, text: str) -> Any:
        return completion(text)

    def test_what_is_sent_and_what_comes_back(self) -> None:
        answer, requests = self.answer(conversation(0.5), Reply(completion("Yes: 4")))
        sent = requests[0]
        assert (sent.method, sent.path) == ("POST", "/chat/completions")
        assert sent.headers["authorization"] == f"Bearer {KEY}"
        assert {name: sent.json[name] for name in sent.json if name != "messages"} == {
            "model": MODEL,
            "max_tokens": 77,
            "temperature": 0.5,
        }
        first, second, third = sent.json["messages"]
        assert [part["type"] for part in first["content"]] == ["text", "image_url", "text"]
        head, data = first["content"][1]["image_url"]["url"].split(",")
        assert head == "data:image/png;base64"
        assert size_of(data) == (16, 8)
        assert second == {"role": "assistant", "content": [{"type": "text", "text": "Good."}]}
        assert third["content"][0]["text"] == "Sure?"
        assert (answer.text, answer.stop, answer.model, answer.structured) == ("Yes: 4", "end", f"{MODEL}-1", False)
        assert (answer.usage.tokens_in, answer.usage.tokens_out) == (1200, 34)

    def test_held_to_a_schema(self) -> None:
        answer, requests = self.answer(STRUCTURED, Reply(completion('{"score": 4}')))
        form = requests[0].json["response_format"]
        assert form == {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
        assert answer.structured

    def test_options_that_are_refused_are_left_out_from_then_on(self) -> None:
        script = (
            complaint("'response_format' of type 'json_schema' is not supported with this model."),
            complaint("You are not allowed to request logprobs from this model."),
            complaint("Unsupported value: 'temperature' does not support 0.0 with this model."),
            complaint("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            Reply(completion("4")),
        )
        question = Question(PLAIN.messages, schema=STRUCTURED.schema, logprobs=True)
        with Scripted(*script) as server, self.backend(server.url) as backend:
            answers = [backend.ask(question), backend.ask(question)]
        assert sorted(server.requests[0].json) == sorted(
            ["logprobs", "max_tokens", "messages", "model", "response_format", "temperature", "top_logprobs"]
        )
        assert sorted(server.requests[-1].json) == ["max_completion_tokens", "messages", "model"]
        assert len(server.requests) == 6
        for answer in answers:
            assert (answer.text, answer.structured, answer.token_probs) == ("4", False, ())
            assert set(answer.refused) >= {"logprobs", "response_format", "temperature"}

    def test_the_limit_is_renamed_for_all_threads_and_never_left_out(self) -> None:
        def longer_only(request: Received) -> Reply:
            return (
                complaint("'max_tokens' is not supported") if "max_tokens" in request.json else Reply(completion("4"))
            )

        with Scripted(longer_only) as server, self.backend(server.url) as backend, ThreadPoolExecutor(8) as pool:
            assert {answer.text for answer in pool.map(backend.ask, [PLAIN] * 8)} == {"4"}
        script = (complaint("'max_tokens' is not supported"), complaint("'max_completion_tokens' is not supported"))
        with pytest.raises(Rejected, match="no limit"):
            self.answer(PLAIN, *script)

    @pytest.mark.parametrize(
        "words",
        [
            "'max_tokens' is too large: 2048. This model's maximum context length is 1024.",
            "The model vlm-test does not exist.",
        ],
    )
    def test_a_complaint_about_something_else_is_an_error(self, words: str) -> None:
        error = self.error(complaint(words))
        assert isinstance(error, Rejected)
        assert words in str(error)

    def test_probabilities_give_a_finer_score(self) -> None:
        tokens = [token("So", 0.9), token(" (", 0.9), token("4", 0.5, **{"3": 0.25, f"5{KEY}": 0.2}), token(")", 0.99)]
        answer, _ = self.answer(
            Question(PLAIN.messages, logprobs=True), Reply(completion("So (4)", logprobs={"content": tokens}))
        )
        (spot,) = answer.token_probs
        assert (spot.start, spot.end) == (4, 5)
        assert KEY not in repr(answer)
        assert expected_score(answer.token_probs, 4, range(5)) == pytest.approx((4 * 0.5 + 3 * 0.25) / 0.75, abs=1e-4)
        assert expected_score(answer.token_probs, 1, range(5)) is None

    @pytest.mark.parametrize(
        ("first", "chances"),
        [
            (token("Yes", 0.6, **{" yes": 0.1, "No": 0.1, "Maybe": 0.1}), {"yes": 0.7 / 0.8, "no": 0.1 / 0.8}),
            (token("I", 0.99, Yes=0.001), None),
        ],
    )
    def test_the_chance_of_a_choice(self, first: dict[str, Any], chances: dict[str, float] | None) -> None:
        question = Question(PLAIN.messages, choices=("yes", "no"))
        said = completion(first["token"], logprobs={"content": [first]})
        answer, requests = self.answer(question, Reply(said))
        assert requests[0].json["top_logprobs"] == 20
        found = choice_probabilities(answer.token_probs, ("yes", "no"))
        assert found == (chances and pytest.approx(chances, abs=1e-5))

    def test_tokens_that_are_not_the_text_place_nothing(self) -> None:
        tokens = [token("bytes:\\xe2", 0.9), token("4", 0.9)]
        answer, _ = self.answer(
            Question(PLAIN.messages, logprobs=True), Reply(completion("–4", logprobs={"content": tokens}))
        )
        assert (answer.text, answer.token_probs) == ("–4", ())

    def test_a_server_of_ones_own_needs_no_key(self) -> None:
        answer, requests = self.answer(PLAIN, Reply(completion("4")), api_key=SecretStr(""))
        assert answer.text == "4"
        assert requests[0].headers["authorization"] == "Bearer none"
