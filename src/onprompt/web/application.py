"""What both applications are made of: our own templates in the shared design, and the files that they load."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from functools import cache
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute
from jinja2 import ChoiceLoader, Environment, PackageLoader

from onprompt.pages import rendering as shared
from onprompt.web.guard import page_policy

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
SHARED = ("style.css", "evidence.js")
OWN = ("web.css", "review.js", "tryout.js")


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


@cache
def environment() -> Environment:
    """The templates of this package, which can use the shared ones."""
    made = shared.environment()
    loaders = [PackageLoader("onprompt.web"), *([made.loader] if made.loader else [])]
    return made.overlay(loader=ChoiceLoader(loaders))


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return environment().get_template(template).render(csp=page_policy(), root="/assets/", home="/", **values)


@cache
def asset(name: str) -> tuple[str, str] | None:
    """A style sheet or script and its type; None for any other name."""
    if name in SHARED:
        return shared.asset(name), TYPES[name.rpartition(".")[2]]
    if name in OWN:
        own = resources.files("onprompt.web").joinpath("assets", name)
        return own.read_text("utf-8"), TYPES[name.rpartition(".")[2]]
    return None
