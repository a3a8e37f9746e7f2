"""What both applications are made of: pages in the shared design, and the files that they load."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response

from onprompt.errors import OnpromptError, UserError
from onprompt.pages import rendering
from onprompt.pages.server import PAGE_POLICY

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
SERVED = ("style.css", "web.css", "evidence.js", "review.js", "tryout.js")


def new_app(
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    refused: Callable[[Request, Exception], Response],
    **about: Any,
) -> FastAPI:
    """An application with style sheets and scripts under `/assets`; `refused` answers errors, and invalid requests."""
    app = FastAPI(docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan, **about)
    app.add_exception_handler(OnpromptError, refused)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:  # what it held is not repeated
        found = [f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}" for each in error.errors()]
        return refused(request, UserError("; ".join(found)[:1000]))

    @app.get("/assets/{name}", include_in_schema=False)
    def assets(name: str) -> Response:
        if name not in SERVED:
            return PlainTextResponse("no such file", 404)
        return Response(rendering.asset(name), media_type=TYPES[name.rpartition(".")[2]])

    return app


def render(template: str, **values: Any) -> str:
    """A page, or a part of one."""
    return rendering.render(template, csp=PAGE_POLICY, root="/assets/", home="/", **values)
