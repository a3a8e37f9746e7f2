"""`onprompt serve`: a page to try it out, and the JSON API for services."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, create_model

from onprompt import plugins, stages
from onprompt.errors import BackendError, OnpromptError, UnreadableAnswer, UserError, WeightsError
from onprompt.pages.application import new_app, problems, render
from onprompt.pages.jobs import Dropped, Job, QueueFull, Stopping
from onprompt.pages.judging import JudgeRequest, Result, Service, request_model
from onprompt.rubrics import DEFAULT
from onprompt.types import Rubric
from onprompt.weights.cache import is_cached, paths

RETRY = 5  # seconds after which a service may ask again
LOOK = 0.1  # seconds between two looks at the stages of a job
# Example photos, shown if they are in the cache of model files, each with a prompt that is wrong about something.
EXAMPLES = {"coffee.png": "Two red cups on a table, and a laptop.", "astronaut.png": "A smiling woman in a red suit."}
STATUS: tuple[tuple[type[OnpromptError], int], ...] = (
    *((QueueFull, 429), (Stopping, 503), (Dropped, 410), (UserError, 422)),
    *((WeightsError, 503), (UnreadableAnswer, 502), (BackendError, 502)),
)
ABOUT = (
    "Does this image show what was asked for? A score, and the evidence for it. "
    "Images are sent as base64; a verdict is the JSON that the command line prints with --json."
)
LOG = logging.getLogger(__name__)


class Problem(BaseModel):
    """Why there is no verdict."""

    error: str = Field(description="The kind of error.")
    message: str = Field(description="What to change.")


class VerdictDocument(BaseModel):
    """A verdict; docs/json.md describes all of its fields."""

    model_config = ConfigDict(extra="allow")

    format: str
    rubric: str
    judge: str
    score: int | None = Field(description="On the rubric's scale; null where it has several factors.")
    value: float = Field(description="0 to 1.")
    summary: str
    factors: dict[str, Any]
    flags: list[str] = []
    checks: list[dict[str, Any]] = []


class Watched(BaseModel):
    """A request of the page, with the names of its files."""

    request: JudgeRequest
    names: dict[str, Annotated[str, Field(max_length=1000)]] = Field(default={}, max_length=10)


class Offered(BaseModel):
    """What can be asked for."""

    rubrics: dict[str, list[str]] = Field(description="The judges that can serve each rubric.")
    models: list[str] = Field(description="The models that can be asked.")


class Queued(BaseModel):
    """How busy the server is."""

    status: str
    unfinished: int = Field(description="Samples that are being judged or waiting.")
    room: int = Field(description="How many may be.")


ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": VerdictDocument},
    408: {"description": "The request took too long to arrive."},
    413: {"description": "The request is too large."},
    422: {"model": Problem, "description": "An input, a judge or a model is not valid, or a picture can't be read."},
    429: {"model": Problem, "description": "The queue is full; Retry-After says when to ask again."},
    502: {"model": Problem, "description": "The model can't be asked, or its answer can't be read."},
    503: {"model": Problem, "description": "The server is stopping, or a model file is not available."},
}


def create_app(service: Service) -> FastAPI:
    """The application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.stop)

    app = new_app(lifespan, title="onprompt", version=metadata.version("onprompt"), description=ABOUT)
    names = sorted(plugins.names("rubrics"), key=lambda name: name != DEFAULT)  # the usual one first
    rubrics: dict[str, Rubric] = {name: plugins.load("rubrics", name).RUBRIC for name in names}

    @app.exception_handler(OnpromptError)
    def failed(_: Request, error: OnpromptError) -> Response:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        return JSONResponse({"error": "ValidationError", "message": problems(error)}, 422)

    for rubric in rubrics.values():
        add_endpoint(app, service, rubric)
    add_pages(app, service, rubrics)
    return app


def problem(error: Exception) -> JSONResponse:
    """An error as JSON; of an unexpected one only that there was one, for its text may hold anything."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    known = isinstance(error, OnpromptError)
    if not known:
        LOG.error("a sample could not be judged", exc_info=error)
    message = str(error) if known else f"unexpected: {type(error).__name__}; the server's log has more"
    headers = {"Retry-After": str(RETRY)} if status == 429 else None
    return JSONResponse({"error": type(error).__name__, "message": message}, status, headers)


def add_endpoint(app: FastAPI, service: Service, rubric: Rubric) -> None:
    """`POST /v1/NAME`, which answers with the verdict; and the same for the page, which sees the stages as well."""
    body_type = request_model(rubric)

    async def judge(body: JudgeRequest, request: Request) -> Response:
        job = service.submit(rubric, body.model_dump())
        result, left = asyncio.wrap_future(job.future), asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait([result, left], return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
        if not result.done():  # the client left before
            service.queue.drop(job)
            return problem(Dropped())
        found = result.result()
        return JSONResponse(found.document) if isinstance(found, Result) else problem(found)

    async def watch(watched: Watched) -> Response:
        job = service.submit(rubric, watched.request.model_dump(), watched.names)
        return StreamingResponse(told(job, service), media_type="application/x-ndjson")

    judge.__annotations__["body"] = body_type
    watch.__annotations__["watched"] = create_model("Watched", __base__=Watched, request=(body_type, ...))
    judge.__doc__ = rubric.help
    app.post(f"/v1/{rubric.name}", summary=rubric.help, responses=ANSWERS, name=rubric.name)(judge)
    app.post(f"/watch/{rubric.name}", include_in_schema=False)(watch)


async def told(job: Job, service: Service) -> AsyncIterator[str]:
    """What the page is told of a job, a line of JSON each: the stages as they begin, then the verdict or the error."""
    result, known = asyncio.wrap_future(job.future), 0
    try:
        while known < len(job.stages) or not result.done():
            if known < len(job.stages):
                known += 1
                stage = job.stages[known - 1]
                yield json.dumps({"stage": stages.WORDS.get(stage, stage)}) + "\n"
            else:
                await asyncio.wait([result], timeout=LOOK)
        found = result.result()
        if isinstance(found, Result):
            html = render("result.html", view=found.view, command=found.command, code=found.code)
            yield json.dumps({"html": html, "document": found.document}) + "\n"
        else:
            yield bytes(problem(found).body).decode() + "\n"
    finally:
        if not result.done():  # the page is gone
            service.queue.drop(job)


def add_pages(app: FastAPI, service: Service, rubrics: dict[str, Rubric]) -> None:
    """What is offered, how busy the server is, the page to try it out, and the page that describes the API."""
    links = (("Try it", "/"), ("API", "/docs"))
    settings = service.offer.settings

    @app.get("/v1/judges", summary="The judges and models that this server offers.")
    def judges() -> Offered:
        offered = {name: service.offer.judges(rubric) for name, rubric in rubrics.items()}
        return Offered(rubrics=offered, models=service.offer.names)

    @app.get("/v1/health", summary="Whether the server takes requests.")
    def health() -> Queued:
        queue = service.queue
        return Queued(status="stopping" if queue.stopping else "ready", unfinished=queue.unfinished, room=queue.room)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def start() -> str:
        offered = {name: found for name, rubric in rubrics.items() if (found := service.offer.choices(rubric))}
        examples = {name: prompt for name, prompt in EXAMPLES.items() if is_cached(name, settings)}
        more = {"offered": offered, "examples": examples, "default": DEFAULT}
        return render("tryout.html", rubrics=rubrics, links=links, current="Try it", **more)

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def docs(request: Request) -> str:
        address = f"http://{request.headers['host']}"
        return render("api.html", schema=app.openapi(), address=address, links=links, current="API")

    @app.get("/example/{name}", include_in_schema=False)
    def example(name: str) -> Response:
        if name not in EXAMPLES or not is_cached(name, settings):
            return PlainTextResponse("no such picture", 404)
        return FileResponse(paths([name], settings)[name])
