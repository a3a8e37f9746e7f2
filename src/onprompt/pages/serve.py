"""`onprompt serve`: a page to try it out and a JSON API, with a bounded queue of what is judged."""

import asyncio
import base64
import binascii
import json
import logging
import re
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, create_model

from onprompt import plugins, stages
from onprompt.api import model_settings
from onprompt.errors import BackendError, ImageError, OnpromptError, UnreadableAnswer, UserError, WeightsError
from onprompt.pages.application import new_app, render
from onprompt.pages.verdict_view import CHANGED, VerdictView, change_map, encode, in_address, verdict_view
from onprompt.report.document import document
from onprompt.report.recipe import command_line
from onprompt.rubrics import DEFAULT
from onprompt.samples import Judges, asks, make_sample
from onprompt.settings import Settings
from onprompt.types import FRAME, IMAGE, NAMES, Asks, Rubric
from onprompt.vision.runtime import use_single_core
from onprompt.weights.cache import is_cached, paths


class QueueFull(OnpromptError):
    """As many samples are waiting as may."""


class Stopping(OnpromptError):
    """The server is about to stop."""


class Dropped(OnpromptError):
    """The client of a job is gone."""

    def __init__(self) -> None:
        super().__init__("this was not judged, since nobody waited for it any more; judge it again")


class Job:
    """One sample that is judged, and its stages so far. The result of its future may be an error."""

    def __init__(self, work: Callable[[], Any], pool: ThreadPoolExecutor) -> None:
        self.stages, self.dropped = ["wait"], False  # dropped: nobody waits for its result
        self.work: Callable[[], Any] | None = work
        self.future: Future[Any] = pool.submit(self.run)

    def enter(self, stage: str) -> None:
        """Note a stage, each only once, since several models may be asked; none for a client that is gone."""
        if self.dropped:
            raise Dropped
        if stage not in self.stages:
            self.stages.append(stage)

    def run(self) -> Any:
        work, self.work = self.work, None  # with the pictures that were sent, which are not kept
        try:
            with stages.watching(self.enter):
                return work() if work else None
        except Exception as error:
            return error


class JobQueue:
    """Judges samples by `workers` threads, with at most `waiting` more in the queue; more are refused at once."""

    def __init__(self, workers: int, waiting: int) -> None:
        self.workers, self.room, self.lock = workers, workers + waiting, threading.Lock()
        self.pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self.unfinished, self.stopping = 0, False

    def submit(self, work: Callable[[], Any]) -> Job:
        with self.lock:
            if self.stopping:
                raise Stopping("the server is stopping")
            if self.unfinished >= self.room:
                raise QueueFull(f"{self.room} samples are being judged or waiting; try again later")
            self.unfinished += 1
            job = Job(work, self.pool)
        job.future.add_done_callback(self.count_out)  # before anybody hears of the result: who does may ask again
        return job

    def count_out(self, _: Future[Any]) -> None:
        with self.lock:
            self.unfinished -= 1

    def result(self, job: Job) -> Any:
        if job.future.cancelled():
            return Stopping("the server is stopping") if self.stopping else Dropped()
        return job.future.result()

    def drop(self, job: Job) -> None:
        """End a job whose client is gone: at once if it waits, or else at its next stage."""
        job.dropped = True
        job.future.cancel()

    def stop(self, wait: bool = False) -> None:
        """Take no more and drop what is waiting; `wait` for what is in progress."""
        with self.lock:
            self.stopping = True
        self.pool.shutdown(wait=wait, cancel_futures=True)


LISTED = 100  # names in a list, at most
KINDS: dict[str, Any] = {
    IMAGE: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64", "format": "byte"})],
    NAMES: Annotated[list[str], Field(max_length=LISTED)],
    FRAME: Annotated[int, Field(ge=0)],
}


class JudgeRequest(BaseModel):
    """What all requests have beside the inputs of their rubric."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field("", max_length=1000, description="The sample's id.")
    judge: str = Field("", description="The judge (GET /v1/judges lists them); empty: the server's own.")
    models: list[str] = Field([], max_length=LISTED, description="Models to ask, of those that the server offers.")


def request_model(rubric: Rubric) -> type[JudgeRequest]:
    """The body of a request by a rubric."""
    fields: dict[str, Any] = {}
    for given in rubric.inputs:
        kind = KINDS.get(given.kind, str)
        about = f"{given.help} The bytes of its file, in base64." if given.kind == IMAGE else given.help
        needed = (kind, Field(description=about)), (kind | None, Field(None, description=about))
        fields[given.name] = needed[0 if given.required else 1]
    made = create_model(f"{rubric.name.title()}Request", __base__=JudgeRequest, **fields)
    made.__doc__ = rubric.help
    return made


@dataclass(frozen=True)
class Offer:
    """What a server lets others choose: its own settings, and the models that it may be made to pay for."""

    settings: Settings
    models: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [public_name(model) for model in self.models]

    def judges(self, rubric: Rubric) -> list[str]:
        alone = [name for name in plugins.names("judges") if asks(name) is Asks.NONE]
        asking = [name for name in plugins.names("judges") if name not in alone]
        return [*(alone if rubric.grade else ()), *(asking if rubric.text and self.models else ())]

    def choices(self, rubric: Rubric) -> list[dict[str, Any]]:  # the first is the server's own
        alone = [[model] for model in self.names]
        asked: dict[Asks, list[list[str]]] = {Asks.NONE: [[]], Asks.ONE: alone, Asks.SEVERAL: [self.names]}
        found = [{"judge": judge, "models": models} for judge in self.judges(rubric) for models in asked[asks(judge)]]
        return sorted(found, key=lambda choice: choice["judge"] != self.settings.judged_by)

    def settings_for(self, judge: str, models: Sequence[str], rubric: Rubric) -> Settings:
        """The settings of a request; an error for a judge or model that is not offered.

        A model's name may hold the address of a server, to which a key would be sent: only listed ones are asked.
        """
        own = dict(zip(self.names, self.models, strict=True))
        wanted = [public_name(name) for name in models]
        if unknown := [name for name in wanted if name not in own]:
            offered = ", ".join(own) or "none: start it with --model"
            raise UserError(f"this server does not offer the model {unknown[0][:200]!r}; it offers {offered}")
        if judge and judge not in self.judges(rubric):
            listed = ", ".join(self.judges(rubric)) or "none that can serve it"
            raise UserError(f"no judge {judge[:200]!r} for {rubric.name} here; there are: {listed}")
        usual: dict[Asks, tuple[str, ...]] = {Asks.NONE: (), Asks.ONE: self.models[:1], Asks.SEVERAL: self.models}
        asked = [own[name] for name in wanted] or usual[asks(judge) if judge else Asks.NONE]
        chosen = model_settings(judge, asked)
        return self.settings.model_copy(update={"judge": "", "model": "", "models": (), **chosen} if chosen else {})


def public_name(model: str) -> str:
    """A model, or an address, without the name and the password that its URL may hold."""
    return re.sub("://.*@", "://", model, flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict as it is answered and shown, with small copies of its pictures."""

    document: Mapping[str, Any]
    view: VerdictView
    command: str


@dataclass
class Service:
    """What is offered, the queue of what is judged, and the judges at work."""

    offer: Offer
    queue: JobQueue
    options: Sequence[str] = ()  # of the command line that gives the same verdicts
    judges: Judges = field(default_factory=Judges)

    def submit(self, rubric: Rubric, body: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Job:
        """Queue a request that was checked; `names` are those of its files, for the command that gives the same."""
        settings = self.offer.settings_for(body.get("judge", ""), body.get("models", ()), rubric)
        return self.queue.submit(partial(self.judge, rubric, settings, body, names or {}))

    def judge(self, rubric: Rubric, settings: Settings, body: Mapping[str, Any], names: Mapping[str, str]) -> Result:
        """The verdict, and all that is shown of it; no picture may be too large or a bomb."""
        if self.queue.workers > 1:
            use_single_core()
        stages.enter("open")
        item = {each.name: body[each.name] for each in rubric.inputs if body.get(each.name) is not None}
        for name in item.keys() & set(rubric.image_inputs):
            try:
                item[name] = base64.b64decode(item[name], validate=True)
            except (binascii.Error, ValueError):
                raise ImageError(f"{name} is not base64", "not base64") from None
        sample = make_sample(rubric, settings, {"id": body.get("id") or "", **item})
        for picture in (sample.picture, *sample.pictures.values()):
            _ = picture.decoded
        verdict = self.judges.get(rubric, settings).judge(sample)
        stages.enter("draw")
        given = [names.get(name, "") for name in rubric.image_inputs if name in item]
        usual = not all(given) or len(set(given)) < len(given)  # pasted pictures share a name
        files = {name: f"{name}.png" if usual else names[name] for name in rubric.image_inputs if name in item}
        models = [public_name(name) for name in settings.models or filter(None, [settings.model])]
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        shown = {name: in_address(*encode(Image.fromarray(picture.pixels))) for name, picture in pictures.items()}
        if rubric.source_image:
            shown[CHANGED] = in_address(*encode(change_map(verdict.sample)))
        options = [public_name(word) for word in self.options]
        return Result(
            document(verdict),
            verdict_view(verdict, shown, rubric.factors),
            command_line(rubric, item | files, settings.judged_by, models, options),
        )

    def stop(self) -> None:
        for judge in list(self.judges.kept.values()):
            judge.stop()
        self.queue.stop(wait=True)
        self.judges.close()


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


class Watched(BaseModel):
    """A request of the page, with the names of its files."""

    request: JudgeRequest
    names: dict[str, Annotated[str, Field(max_length=1000)]] = Field(default={}, max_length=10)


ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "The verdict, as onprompt verify --json prints it."},
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

    about = {"title": "onprompt", "version": metadata.version("onprompt"), "description": ABOUT}
    app = new_app(lifespan, lambda _, error: problem(error), **about)
    names = sorted(plugins.names("rubrics"), key=lambda name: name != DEFAULT)  # the usual one first
    found: dict[str, Rubric] = {name: plugins.load("rubrics", name).RUBRIC for name in names}
    rubrics = {name: rubric for name, rubric in found.items() if rubric.text or rubric.grade}

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
        found = service.queue.result(job)
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
    """What the page receives about a job, a line of JSON each: stages as they begin, then the verdict or the error."""
    result, known = asyncio.wrap_future(job.future), 0
    try:
        while known < len(job.stages) or not result.done():
            if known < len(job.stages):
                known += 1
                stage = job.stages[known - 1]
                yield json.dumps({"stage": stages.WORDS.get(stage, stage)}) + "\n"
            else:
                await asyncio.wait([result], timeout=LOOK)
        found = service.queue.result(job)
        if isinstance(found, Result):
            html = render("result.html", view=found.view, command=found.command)
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
    def judges() -> dict[str, Any]:
        offered = {name: service.offer.judges(rubric) for name, rubric in rubrics.items()}
        return {"rubrics": offered, "models": service.offer.names}

    @app.get("/v1/health", summary="Whether the server takes requests.")
    def health() -> dict[str, Any]:
        queue = service.queue
        return {"status": "stopping" if queue.stopping else "ready", "unfinished": queue.unfinished, "room": queue.room}

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
