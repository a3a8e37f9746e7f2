"""What both applications are made of: no page of a framework, and the files that our own pages load."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response

from onprompt.web.rendering import asset

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def new_app(lifespan: Lifespan, **about: Any) -> FastAPI:
    """An application with style sheets and scripts under `/assets`; any other name there is not found."""
    app = FastAPI(docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan, **about)

    @app.get("/assets/{name}", include_in_schema=False)
    def assets(name: str) -> Response:
        found = asset(name)
        return Response(found[0], media_type=found[1]) if found else PlainTextResponse("no such file", 404)

    return app
