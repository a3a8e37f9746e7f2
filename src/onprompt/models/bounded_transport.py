"""HTTP within limits: one deadline for all that a call waits for, and a ceiling on what a response unpacks to."""

import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import httpcore2
import httpx2

MAX_RESPONSE_BYTES = 16 * 2**20  # 2,048 tokens, each with 20 alternatives and their probabilities, are about 4 MiB
GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class Deadline(threading.local):
    """When the call of a thread must have ended, on the monotonic clock."""

    end = float("inf")

    def cut(self, timeout: float | None, late: type[Exception]) -> float | None:
        """A timeout that ends no later; raises if there is no time left."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise late("the deadline of the call has passed")
        return min(left, timeout if timeout is not None else left)


class BoundedTransport(httpx2.HTTPTransport):
    """A server that drips bytes can't hold a thread for ever, and one that sends a zip bomb can't fill the memory."""

    ENCODING: ClassVar = "gzip"  # the only compression that is asked for

    def __init__(self, seconds: float, **options: Any) -> None:
        super().__init__(**options)
        self.seconds, self.deadline = seconds, Deadline()
        # The one place through which connecting, sending and every kind of reading go.
        self._pool._network_backend = DeadlineBackend(self._pool._network_backend, self.deadline)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.deadline.end = time.monotonic() + self.seconds
        response = super().handle_request(request)
        encoding = response.headers.pop("content-encoding", "").strip().lower()
        response.stream = BoundedStream(response.stream, encoding)
        return response


class BoundedStream(httpx2.SyncByteStream):
    """A body, unpacked, that raises if it gets too large."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self.stream, self.encoding = stream, encoding

    def __iter__(self) -> Iterator[bytes]:
        if self.encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise httpx2.DecodingError(f"the response has the encoding {self.encoding[:40]!r}, which was not asked for")
        size = 0
        for chunk in self.stream if self.encoding in ("", "identity") else unpack(self.stream):
            size += len(chunk)
            if size > MAX_RESPONSE_BYTES:
                raise httpx2.ReadError(f"the response is larger than {MAX_RESPONSE_BYTES >> 20} MiB")
            yield chunk

    def close(self) -> None:
        self.stream.close()


def unpack(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What was compressed, in pieces of a limited size, however much comes out of one chunk."""
    unpacker = zlib.decompressobj(GZIP_OR_ZLIB)
    try:
        for chunk in chunks:
            while chunk and not unpacker.eof:
                yield unpacker.decompress(chunk, MAX_RESPONSE_BYTES)
                chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise httpx2.DecodingError(f"the response can't be unpacked: {error}") from None
    if not unpacker.eof:
        raise httpx2.DecodingError("the compressed response ends too early")


class DeadlineBackend(httpcore2.NetworkBackend):
    """Opens connections that keep to a deadline."""

    def __init__(self, backend: httpcore2.NetworkBackend, deadline: Deadline) -> None:
        self.backend, self.deadline = backend, deadline

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any
    ) -> httpcore2.NetworkStream:
        left = self.deadline.cut(timeout, httpcore2.ConnectTimeout)
        return DeadlineStream(self.backend.connect_tcp(host, port, left, *args, **options), self.deadline)

    def sleep(self, seconds: float) -> None:
        self.backend.sleep(seconds)


class DeadlineStream(httpcore2.NetworkStream):
    """A connection on which nothing waits longer than to the deadline of the call that uses it."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self.stream, self.deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.deadline.cut(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.deadline.cut(timeout, httpcore2.WriteTimeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        left = self.deadline.cut(timeout, httpcore2.ConnectTimeout)
        return DeadlineStream(self.stream.start_tls(ssl_context, server_hostname, left), self.deadline)

    def close(self) -> None:
        self.stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)
