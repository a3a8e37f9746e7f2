"""What the backends that speak HTTP share: limits on a response, errors in our words, and no key in either."""

from __future__ import annotations

import datetime
import email.utils
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from onprompt.errors import BackendError, Rejected, ServerTrouble, SettingsError
from onprompt.settings import Settings
from onprompt.types import Answer, Question, Spot

LARGEST = 32 * 2**20  # bytes of a response
BUSY = (408, 409, 425, 429, 503, 529)
UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
SHOWN = 300  # characters of a server's own words
HIDDEN = "[key]"
# How servers say that they don't know an option.
UNKNOWN = (
    *("unsupported", "not support", "unknown", "unrecognized", "unrecognised", "not allowed", "not permitted"),
    *("not available", "not enabled", "deprecated", "unexpected", "extra inputs", "extra fields", "cannot find field"),
    *("not implemented", "invalid parameter", "not recognized", "is not valid", "only the default"),
)
EPOCH = 1e9  # seconds from which a number is no wait, but a moment
SECRET = 8  # characters from which a key is one, and not a word like "none"
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # of a look into JSON of another form


class HttpBackend:
    """A backend that speaks HTTP: what its protocol calls things is its own, how it is asked is not."""

    backend: str
    model: str
    key: str
    address: str
    made: Any = None  # the client of the SDK
    making = threading.Lock()
    refused: frozenset[str] = frozenset()  # options that the server does not know
    schema: str  # the option that holds the model to a schema

    def options(self, question: Question) -> dict[str, Any]:
        """All that is asked for and could be left out."""
        raise NotImplementedError

    def sent(self, question: Question, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        """The body and the headers of the response; Refused for an option that the server does not know."""
        raise NotImplementedError

    def read(self, body: Any, question: Question) -> Answer:
        """What the body says; ServerTrouble where it is not of the protocol's form."""
        raise NotImplementedError

    def refuse(self, option: str) -> None:
        """Leave an option out from now on. Several threads may write here: what gets lost is learnt again."""
        self.refused = self.refused | {option}

    def connected(self) -> Any:
        """A client of the SDK; to make one takes a while, and who finds all answers in the store needs none."""
        raise NotImplementedError

    @property
    def client(self) -> Any:
        """The one client, whichever thread asks first."""
        with self.making:
            self.made = self.made or self.connected()
            return self.made

    def close(self) -> None:
        """Close the connections."""
        if self.made:
            self.made.close()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"backend": self.backend, "model": self.model, "server": self.address}

    def ask(self, question: Question) -> Answer:
        """One request; once more without an option that the server does not know."""
        start, wanted = time.monotonic(), self.options(question)
        while True:
            options = {name: value for name, value in wanted.items() if name not in self.refused}
            try:
                body, headers = self.sent(question, options)
                break
            except Refused as why:
                self.refuse(why.option)
        answer = self.read(body, question)
        return replace(
            answer,
            text=without(self.key, answer.text),
            spots=tuple(clean(self.key, spot) for spot in answer.spots),
            model=without(self.key, answer.model),
            usage=replace(answer.usage, seconds=round(time.monotonic() - start, 3)),
            structured=self.schema in options,
            refused=tuple(sorted(wanted.keys() - options.keys())),
            rest=rest(headers),
        )


def sdk_trouble(
    sdk: Any, error: Any, options: Iterable[str], words: Mapping[str, Sequence[str]], speaker: HttpBackend
) -> Exception:
    """What an error of OpenAI's or Anthropic's SDK stands for; they are made by one generator."""
    if isinstance(error, sdk.APIStatusError):
        status, said = error.status_code, error.response.text
        if option := refused_option(status, said, options, words):
            return Refused(option)
        return trouble(status, said, error.response.headers, speaker.key)
    if isinstance(error, sdk.APITimeoutError):
        return too_slow(speaker.address)
    return unreached(speaker.address, error.__cause__ or error, speaker.key)


class Bounded(httpx2.BaseTransport):
    """Sends requests whose responses must be whole in time: a server that drips can't hold anyone for ever."""

    def __init__(self, seconds: float, slots: int) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=slots)
        ways = {"": None, **{kind: url for kind, url in getproxies().items() if kind in ("http", "https")}}
        self.ways = {kind: httpx2.HTTPTransport(limits=limits, proxy=url) for kind, url in ways.items()}
        self.seconds = seconds

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + self.seconds
        way = "" if proxy_bypass(request.url.host) else request.url.scheme
        response = self.ways.get(way, self.ways[""]).handle_request(request)
        response.stream = Watched(response.stream, deadline)
        return response

    def close(self) -> None:
        for each in self.ways.values():
            each.close()


class Watched(httpx2.SyncByteStream):
    """A body that ends in an error where it comes too slowly or never ends."""

    def __init__(self, stream: Any, deadline: float) -> None:
        self.stream, self.deadline = stream, deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for chunk in self.stream:
            size += len(chunk)
            if time.monotonic() > self.deadline:
                raise httpx2.ReadTimeout("the response came too slowly")
            if size > LARGEST:
                raise httpx2.ReadError(f"the response is larger than {LARGEST >> 20} MiB")
            yield chunk

    def close(self) -> None:
        self.stream.close()


def client(settings: Settings) -> httpx2.Client:
    """What sends the requests of an SDK. It follows no redirect: a key in a header of its own would go along."""
    transport = Bounded(settings.timeout, settings.concurrency)
    return httpx2.Client(transport=transport, timeout=settings.timeout, follow_redirects=False)


def key_of(settings: Settings, *variables: str) -> str:
    """The key by settings or environment; empty where there is none."""
    given = settings.api_key.get_secret_value()
    key = (given or next((os.environ[name] for name in variables if os.environ.get(name)), "")).strip()
    if not (key.isascii() and key.isprintable()):  # the error of whoever can't send it would show it
        raise Rejected(f"the key (api_key, {' or '.join(variables)}) holds characters that no key has")
    return key


def url_of(settings: Settings, variable: str) -> str:
    """The server's address by settings or environment; empty where there is none."""
    url = (settings.base_url or os.environ.get(variable, "")).strip()
    with suppress(ValueError):  # brackets or a port that are none
        parts = urlsplit(url)
        if not url or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0):
            return url
    raise SettingsError(f"the server's address (base_url or {variable}) is not one of http:// or https://")


def address(url: str) -> str:
    """An address without what may be secret in it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path.rstrip('/')}"


def without(key: str, text: str) -> str:
    """A text in which the key does not stand, should a server have sent it back."""
    return text.replace(key, HIDDEN) if len(key) >= SECRET else text


def clean(key: str, spot: Spot) -> Spot:
    """A place in an answer in which the key does not stand."""
    return spot._replace(chances={without(key, token): chance for token, chance in spot.chances.items()})


def parsed(body: bytes | str, address: str) -> Any:
    """The JSON that a server sent; the error for what is none keeps nothing of it, since the key may be in it."""
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    raise ServerTrouble("broken", f"{address} answers with something that is not JSON")


def too_slow(address: str) -> ServerTrouble:
    """The error for a response that did not come, or not to its end, in time."""
    return ServerTrouble("timeout", f"no whole answer from {address} in time")


def unreached(address: str, reason: object, key: str) -> ServerTrouble:
    """The error for a connection that can't be made or breaks."""
    return ServerTrouble("connection", f"can't reach {address}: {without(key, str(reason))}")


def trouble(status: int, body: str, headers: Mapping[str, str], key: str) -> BackendError:
    """The error that a status of 400 or more stands for."""
    said = without(key, " ".join(body.split()))[:SHOWN]
    words = f"the server answers {status}" + (f": {said}" if said else "")
    if status in BUSY:
        return ServerTrouble("busy" if status in (429, 503, 529) else "server", words, retry_after(headers))
    if status >= 500:
        return ServerTrouble("server", words, retry_after(headers))
    if status in (401, 403):
        return Rejected(f"{words} (is the key right?)")
    return Rejected(words)


class Refused(Exception):
    """The server does not know an option; the answer is as good without it."""

    def __init__(self, option: str) -> None:
        super().__init__(option)
        self.option = option


def refused_option(status: int, body: str, sent: Iterable[str], words: Mapping[str, Sequence[str]]) -> str:
    """Which of the options that were sent a server complains of, by the words it uses for them; empty: none."""
    if status not in (400, 404, 415, 422, 501):
        return ""
    said = body.lower()
    if not any(word in said for word in UNKNOWN):
        return ""  # it may be known, and too large
    return next((name for name in sent if any(word in said for word in words.get(name, ()))), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server wants to be left alone."""
    if milliseconds := headers.get("retry-after-ms"):
        return seconds_of(f"{milliseconds}ms")
    return seconds_of(headers.get("retry-after", ""))


def rest(headers: Mapping[str, str]) -> float:
    """For how many seconds no further request would be taken, by the rate-limit headers of a good response."""
    waits = [0.0]
    for name, left in headers.items():
        if "ratelimit" in name and "remaining" in name and left.strip() == "0":
            reset = name.replace("remaining", "reset")
            waits.append(seconds_of(headers.get(reset, "")) or 0.0)
    return max(waits)


def seconds_of(words: str) -> float | None:
    """`12`, `1.5s`, `6m0s`, `20ms`, an HTTP date or an ISO time as seconds from now; None for anything else."""
    words = words.strip()
    if re.fullmatch(r"\d{1,18}(\.\d+)?", words):
        return from_now(float(words))
    if re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", words):
        return sum(float(number) * UNIT[unit] for number, unit in re.findall(r"([\d.]+)(ms|s|m|h)", words))
    when = date_of(words)
    return None if when is None else max(0.0, (when - datetime.datetime.now(datetime.UTC)).total_seconds())


def from_now(number: float) -> float:
    """Seconds, or a moment as seconds or milliseconds since 1970, as some servers have it."""
    if number < EPOCH:
        return number
    return max(0.0, (number / 1000 if number > 1000 * EPOCH else number) - time.time())


def date_of(words: str) -> datetime.datetime | None:
    """A moment as HTTP or ISO 8601 write it."""
    for reader in (email.utils.parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            found = reader(words)
        except (TypeError, ValueError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    return None
