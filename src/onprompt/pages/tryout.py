"""`onprompt serve`: a page to try it out, and the JSON API for services."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, Field, create_model

from onprompt import stages
from onprompt.errors import BackendError, OnpromptError, UnreadableAnswer, UserError, WeightsError
from onprompt.pages.application import new_app, render
from onprompt.pages.jobs import Dropped, Job, QueueFull, Stopping
from onprompt.pages.judging import Result, Service, choices, installed_rubrics
from onprompt.pages.requests import JudgeRequest, Problem, VerdictDocument, request_model
from onprompt.types import Rubric

RETRY = 5  # seconds after which a service may ask again
STATUS: tuple[tuple[type[OnpromptError], int], ...] = (
    (QueueFull, 429),
    (Stopping, 503),
    (Dropped, 410),
    (UserError, 422),
    (WeightsError, 503),
    (UnreadableAnswer, 502),
    (BackendError, 502),
)
PROBLEMS: dict[int | str, dict[str, Any]] = {
    408: {"description": "The request took too long to arrive."},
    413: {"description": "The request is too large."},
    422: {"model": Problem, "description": "An input, a judge or a model is not valid, or a picture can't be read."},
    429: {"model": Problem, "description": "The queue is full; Retry-After says when to ask again."},
    502: {"model": Problem, "description": "The model can't be asked, or its answer can't be read."},
    503: {"model": Problem, "description": "The server is stopping, or a model file is not available."},
}
ABOUT = (
    "Does this image show what was asked for? A score, and the evidence for it. "
    "Images are sent as base64; a verdict is the JSON that the command line prints with --json."
)
LOG = logging.getLogger(__name__)


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


def create_app(service: Service) -> FastAPI:
    """The application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.stop)

    app = new_app(lifespan, title="onprompt", version=metadata.version("onprompt"), description=ABOUT)
    rubrics = installed_rubrics()
    add_errors(app)
    for rubric in rubrics.values():
        add_endpoint(app, service, rubric)
    add_information(app, service, rubrics)
    add_pages(app, service, rubrics)
    add_jobs(app, service)
    return app


def add_errors(app: FastAPI) -> None:
    """Errors as JSON; what a request held is not repeated."""

    @app.exception_handler(OnpromptError)
    def failed(_: Request, error: OnpromptError) -> Response:
        return problem(error)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        problems = [f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}" for each in error.errors()]
        return JSONResponse({"error": "ValidationError", "message": "; ".join(problems)[:1000]}, 422)


def problem(error: Exception) -> Response:
    """An error as JSON; of an unexpected one only that there was one, for its text may hold anything."""
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    known = isinstance(error, OnpromptError)
    if not known:
        LOG.error("a sample could not be judged", exc_info=error)
    message = str(error) if known else f"unexpected: {type(error).__name__}; the server's log has more"
    headers = {"Retry-After": str(RETRY)} if status == 429 else None
    return JSONResponse({"error": type(error).__name__, "message": message}, status, headers)


def add_endpoint(app: FastAPI, service: Service, rubric: Rubric) -> None:
    """`POST /v1/NAME`, which answers with the verdict; and the same for the page, which watches the stages."""
    body_type = request_model(rubric)

    async def judge(body: JudgeRequest, request: Request) -> Response:
        result = await finished(service.submit(rubric, body.model_dump()), service, request)
        return JSONResponse(result.document) if isinstance(result, Result) else problem(result)

    async def watch(watched: Watched) -> Response:
        job = service.submit(rubric, watched.request.model_dump(), watched.names)
        service.queue.get(job.id)  # from now on its page must ask for it
        return JSONResponse({"id": job.id}, 202)

    judge.__annotations__["body"] = body_type
    watch.__annotations__["watched"] = create_model("Watched", __base__=Watched, request=(body_type, ...))
    judge.__doc__ = rubric.help
    described: dict[int | str, dict[str, Any]] = {200: {"model": VerdictDocument}, **PROBLEMS}
    app.post(f"/v1/{rubric.name}", summary=rubric.help, responses=described, name=rubric.name)(judge)
    app.post(f"/jobs/{rubric.name}", include_in_schema=False)(watch)


async def finished(job: Job, service: Service, request: Request) -> Any:
    """What a job comes to: a result or an error. It is dropped if its client leaves before."""
    result, left = asyncio.wrap_future(job.future), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait([result, left], return_when=asyncio.FIRST_COMPLETED)
    finally:
        left.cancel()
    if result.done():
        return result.result()
    service.queue.drop(job)
    return Dropped()


def add_information(app: FastAPI, service: Service, rubrics: dict[str, Rubric]) -> None:
    """What is offered, and how busy the server is."""

    @app.get("/v1/judges", summary="The judges and models that this server offers.")
    def judges() -> Offered:
        offered = {name: service.offer.judges(rubric) for name, rubric in rubrics.items()}
        return Offered(rubrics=offered, models=service.offer.names)

    @app.get("/v1/health", summary="Whether the server takes requests.")
    def health() -> Queued:
        queue = service.queue
        return Queued(status="stopping" if queue.stopping else "ready", unfinished=queue.unfinished, room=queue.room)


def add_pages(app: FastAPI, service: Service, rubrics: dict[str, Rubric]) -> None:
    """The page to try it out, and the page that describes the API."""
    links = (("Try it", "/"), ("API", "/docs"))

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def start() -> str:
        offered = {name: choices(service.offer, rubric) for name, rubric in rubrics.items()}
        usable = {name: rubric for name, rubric in rubrics.items() if offered[name]}
        return render("tryout.html", rubrics=usable, offered=offered, links=links, current="Try it")

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def docs(request: Request) -> str:
        address = f"http://{request.headers['host']}"
        return render("api.html", schema=app.openapi(), address=address, links=links, current="API")


def add_jobs(app: FastAPI, service: Service) -> None:
    """What the page asks while it waits."""

    @app.get("/jobs/{name}", include_in_schema=False)
    def state(name: str) -> Response:
        job = service.queue.get(name)
        if job is None:
            return JSONResponse({"error": "Gone", "message": "this job is no longer kept; judge it again"}, 404)
        done = [stages.WORDS.get(stage, stage) for stage in list(job.stages)]
        if not job.future.done():
            return JSONResponse({"stages": done, "done": False})
        result = job.future.result()
        if not isinstance(result, Result):
            return problem(result)
        view = result.view_at(f"/jobs/{name}/")
        shown = render("result.html", view=view, command=result.command, code=result.code)
        return JSONResponse({"stages": done, "done": True, "html": shown, "document": result.document})

    @app.delete("/jobs/{name}", include_in_schema=False)
    def drop(name: str) -> Response:
        if job := service.queue.get(name):
            service.queue.drop(job)
        return Response(status_code=204)

    @app.get("/jobs/{name}/image/{picture}", include_in_schema=False)
    def image(name: str, picture: str) -> Response:
        job = service.queue.get(name)
        result = job.future.result() if job and job.future.done() else None
        if not isinstance(result, Result) or picture not in result.pictures:
            return PlainTextResponse("no such picture", 404)
        return Response(result.pictures[picture], media_type="image/jpeg")
