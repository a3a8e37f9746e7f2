"""Sends what an SDK asks its httpx client to send through our own connections, which keep to limits."""

import httpx2

from onprompt.models.http_pool import BadResponse, HttpPool, Late, Unreachable

SET_BY_US = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")
UNPACKED = ("content-encoding", "content-length", "transfer-encoding")  # true of what came, not of what we hand on


class BoundedTransport(httpx2.BaseTransport):
    """An HttpPool for an httpx client."""

    def __init__(self, pool: HttpPool) -> None:
        self.pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name not in SET_BY_US}
        try:
            found = self.pool.request(request.method, request.url.raw_path.decode(), request.read(), headers)
        except Late:
            problem: httpx2.TransportError = httpx2.ReadTimeout("the deadline of the call has passed")
        except Unreachable as error:
            problem = httpx2.ConnectError(str(error))
        except BadResponse as error:
            problem = httpx2.ReadError(str(error))
        else:
            kept = [(name, value) for name, value in found.headers.items() if name.lower() not in UNPACKED]
            return httpx2.Response(found.status, headers=kept, content=found.content)
        raise problem  # not inside `except`: what was sent holds the key

    def close(self) -> None:
        self.pool.close()
