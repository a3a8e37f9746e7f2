"""OpenAI's protocol against a real server on loopback."""

from __future__ import annotations

import math
from typing import Any

import pytest

from onprompt.errors import Rejected
from onprompt.models.backends.openai import OpenAI, load
from onprompt.models.reading import choice_probabilities, expected_score
from onprompt.settings import Settings
from onprompt.types import Message, Question
from tests.models.backends.server import KEY, PLAIN, SCHEMA, STRUCTURED, Contract, Reply, Scripted, shown, size_of

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
    def load(self, settings: Settings) -> OpenAI:
        return load(MODEL, settings)

    def said(self, text: str) -> Any:
        return completion(text)

    def test_what_is_sent_and_what_comes_back(self) -> None:
        turns = (
            Message("user", ("Look:", shown(), "How good?")),
            Message("assistant", ("Good.",)),
            Message("user", ("Sure?",)),
        )
        answer, requests = self.answer(Question(turns, max_tokens=77, temperature=0.5), Reply(completion("Yes: 4")))
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

    def test_a_limit_that_is_too_large_is_not_left_out(self) -> None:
        error = self.error(complaint("'max_tokens' is too large: 2048. This model's maximum context length is 1024."))
        assert isinstance(error, Rejected)
        assert "too large" in str(error)

    def test_a_limit_is_never_left_out(self) -> None:
        script = (complaint("'max_tokens' is not supported"), complaint("'max_completion_tokens' is not supported"))
        with pytest.raises(Rejected, match="no limit"):
            self.answer(PLAIN, *script)

    def test_a_key_among_the_probabilities(self) -> None:
        tokens = [token("4", 0.9, **{f"5{KEY}": 0.1})]
        answer, _ = self.answer(
            Question(PLAIN.messages, logprobs=True), Reply(completion("4", logprobs={"content": tokens}))
        )
        assert KEY not in repr(answer)

    def test_a_choice_that_the_model_does_not_make(self) -> None:
        tokens = [token("I", 0.99, Yes=0.001)]
        question = Question(PLAIN.messages, choices=("yes", "no"))
        answer, _ = self.answer(question, Reply(completion("I", logprobs={"content": tokens})))
        assert choice_probabilities(answer.token_probs, ("yes", "no")) is None

    def test_a_complaint_about_something_else_is_an_error(self) -> None:
        error = self.error(complaint("The model vlm-test does not exist."))
        assert isinstance(error, Rejected)
        assert "does not exist" in str(error)

    def test_probabilities_give_a_finer_score(self) -> None:
        tokens = [token("So", 0.9), token(" (", 0.9), token("4", 0.5, **{"3": 0.25, "Ⅳ": 0.2}), token(")", 0.99)]
        answer, _ = self.answer(
            Question(PLAIN.messages, logprobs=True), Reply(completion("So (4)", logprobs={"content": tokens}))
        )
        (spot,) = answer.token_probs
        assert (spot.start, spot.end) == (4, 5)
        assert expected_score(answer.token_probs, 4, range(5)) == pytest.approx((4 * 0.5 + 3 * 0.25) / 0.75, abs=1e-4)
        assert expected_score(answer.token_probs, 1, range(5)) is None

    def test_the_chance_of_a_choice(self) -> None:
        tokens = [token("Yes", 0.6, **{" yes": 0.1, "No": 0.1, "Maybe": 0.1}), token(".", 0.9)]
        question = Question(PLAIN.messages, choices=("yes", "no"))
        answer, requests = self.answer(question, Reply(completion("Yes.", logprobs={"content": tokens})))
        assert requests[0].json["top_logprobs"] == 20
        assert choice_probabilities(answer.token_probs, ("yes", "no")) == pytest.approx(
            {"yes": 0.7 / 0.8, "no": 0.1 / 0.8}, abs=1e-5
        )

    def test_tokens_that_are_not_the_text_place_nothing(self) -> None:
        tokens = [token("bytes:\\xe2", 0.9), token("4", 0.9)]
        answer, _ = self.answer(
            Question(PLAIN.messages, logprobs=True), Reply(completion("–4", logprobs={"content": tokens}))
        )
        assert (answer.text, answer.token_probs) == ("–4", ())

    @pytest.mark.parametrize(
        ("said", "stop"),
        [
            ("stop", "end"),
            ("length", "length"),
            ("content_filter", "filter"),
            ("something new", "length"),
            (None, "end"),
        ],
    )
    def test_why_it_ended(self, said: str | None, stop: str) -> None:
        answer, _ = self.answer(PLAIN, Reply(completion("I", said)))
        assert (answer.text, answer.stop) == ("I", stop)

    def test_a_refusal(self) -> None:
        body = completion(None)
        body["choices"][0]["message"]["refusal"] = "I can't judge that."
        answer, _ = self.answer(PLAIN, Reply(body))
        assert (answer.text, answer.stop) == ("I can't judge that.", "refusal")

    @pytest.mark.parametrize("content", [None, "", []])
    def test_nothing_said(self, content: Any) -> None:
        answer, _ = self.answer(PLAIN, Reply(completion(content)))
        assert (answer.text, answer.stop) == ("", "end")

    def test_an_empty_choice(self) -> None:
        answer, _ = self.answer(PLAIN, Reply({**completion("4"), "choices": []}))
        assert answer.text == ""

    def test_a_text_in_parts(self) -> None:
        answer, _ = self.answer(PLAIN, Reply(completion([{"type": "text", "text": "So "}, {"text": "4"}])))
        assert answer.text == "So 4"

    def test_no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with pytest.raises(Rejected, match="OPENAI_API_KEY"):
            load(MODEL, Settings()).ask(PLAIN)

    def test_a_server_of_ones_own_needs_no_key(self) -> None:
        from pydantic import SecretStr

        answer, requests = self.answer(PLAIN, Reply(completion("4")), api_key=SecretStr(""))
        assert answer.text == "4"
        assert requests[0].headers["authorization"] == "Bearer none"

    def test_who_pays_is_said_where_the_environment_names_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "")
        _, requests = self.answer(PLAIN, Reply(completion("4")))
        assert requests[0].headers["openai-organization"] == "org-1"
        assert requests[0].headers["content-type"] == "application/json"
        assert "openai-project" not in requests[0].headers

    def test_a_proxy_is_used_where_the_environment_names_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with Scripted(Reply(completion("4"))) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url)
            with self.backend("http://models.invalid/v1") as backend:
                assert backend.ask(PLAIN).text == "4"
            assert proxy.requests[0].path == "http://models.invalid/v1/chat/completions"
