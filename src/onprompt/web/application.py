"""What both applications are made of: no page of a framework, and the files that our own pages load."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute

from onprompt.web.rendering import asset

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


class ThreadRequest(Request):
    """A request whose JSON is parsed by a thread, so that others are answered meanwhile."""

    async def json(self) -> Any:
        return await asyncio.to_thread(json.loads, await self.body())


class ThreadRoute(APIRoute):
    """A route that takes such requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_in_thread(request: Request) -> Response:
            return await handle(ThreadRequest(request.scope, request.receive))

        return handle_in_thread


def new_app(lifespan: Lifespan, **about: Any) -> FastAPI:
    """An application with style sheets and scripts under `/assets`; any other name there is not found."""
    app = FastAPI(docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan, **about)
    app.router.route_class = ThreadRoute

    @app.get("/assets/{name}", include_in_schema=False)
    def assets(name: str) -> Response:
        found = asset(name)
        return Response(found[0], media_type=found[1]) if found else PlainTextResponse("no such file", 404)

    return app
