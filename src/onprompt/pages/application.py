"""What both applications are made of: pages in the shared design, and the files that they load."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute

from onprompt.pages import rendering
from onprompt.pages.guard import page_policy

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
SERVED = ("style.css", "web.css", "evidence.js", "review.js", "tryout.js")


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
        if name not in SERVED:
            return PlainTextResponse("no such file", 404)
        return Response(rendering.asset(name), media_type=TYPES[name.rpartition(".")[2]])

    return app


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return rendering.render(template, csp=page_policy(), root="/assets/", home="/", **values)


def problems(error: RequestValidationError) -> str:
    """What is wrong with a request; what it held is not repeated."""
    found = [f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}" for each in error.errors()]
    return "; ".join(found)[:1000]
