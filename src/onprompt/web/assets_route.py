"""The style sheets and scripts of the pages, by their names."""

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response

from onprompt.web.rendering import asset


def add_assets(app: FastAPI) -> None:
    """`/assets/NAME`; any other name is not found."""

    @app.get("/assets/{name}", include_in_schema=False)
    def assets(name: str) -> Response:
        found = asset(name)
        return Response(found[0], media_type=found[1]) if found else PlainTextResponse("no such file", 404)
