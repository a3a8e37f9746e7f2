"""`onprompt review`: the pages on which people go through the verdicts of a run, and the answers of their browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from onprompt.errors import NotFound, OnpromptError, StoreError
from onprompt.runs.reviews import ANSWERS, MAX_COMMENT, MAX_NAME, Review, check_rater
from onprompt.web.application import new_app, render
from onprompt.web.review_desk import Filters, Queue, ReviewDesk

MAX_CHECKS = SHOWN = 100  # checks of one sample that can be corrected: a prompt of 10,000 characters has a thousand
# What a person says of a check: the key and the words of each answer.
SAID = dict(zip(ANSWERS, (("y", "holds"), ("p", "partly"), ("n", "wrong"), ("u", "can't tell")), strict=True))
HELP = (
    (("0", "…", "9"), "score; with several factors the marked one, and the next is marked"),
    (("f",), "mark another factor"),
    (("a",), "accept the judge's scores and go on"),
    (("c",), "go to the checks; again, or ↓ and ↑: to another one"),
    (("y", "p", "n", "u"), "the check under the cursor: holds, partly, wrong, can't tell; again: as judged"),
    (("m",), "comment; Esc leaves it"),
    (("→", "Enter"), "next"),
    (("←",), "previous"),
    (("z",), "undo the last thing you saved, wherever it was"),
    (("b",), "hide or show the boxes"),
    (("o",), "lay before and after over each other"),
    (("[", "]"), "move the slider between before and after"),
    (("?",), "these keys"),
)


class Saved(BaseModel):
    """All that a rater says of a sample."""

    model_config = ConfigDict(extra="forbid")

    rater: str = Field(max_length=MAX_NAME)
    scores: dict[str, int] = Field(default={}, max_length=100)
    checks: dict[str, str] = Field(default={}, max_length=MAX_CHECKS)
    comment: str = Field(default="", max_length=MAX_COMMENT)
    blind: bool = False


class Rater(BaseModel):
    """Who asks."""

    rater: str = Field(max_length=MAX_NAME)


def filters_of(
    queue: Queue = "all", model: str = "", category: str = "", score: str = "", unreviewed: bool = False
) -> Filters:
    """The filters in an address."""
    return Filters(queue, model, category, score, unreviewed)


Chosen = Annotated[Filters, Depends(filters_of)]
Number = Annotated[int, Path(ge=0, lt=2**63)]  # of a sample: what SQLite can look for


def create_app(desk: ReviewDesk) -> FastAPI:
    """The application for a run."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = new_app(lifespan, title="onprompt review", openapi_url=None)
    add_errors(app)
    add_pages(app, desk)
    add_actions(app, desk)
    return app


def add_errors(app: FastAPI) -> None:
    """What is wrong with a request, in a sentence."""

    @app.exception_handler(OnpromptError)
    def refused(_: Request, error: OnpromptError) -> Response:
        status = 409 if isinstance(error, StoreError) else 404 if isinstance(error, NotFound) else 422
        return PlainTextResponse(str(error), status)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        problems = [f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()]
        return PlainTextResponse("; ".join(problems)[:1000], 422)


def add_pages(app: FastAPI, desk: ReviewDesk) -> None:
    """The first page, and one for each sample."""
    common: dict[str, Any] = {"run": desk.path.name, "rubric": desk.rubric, "judge": desk.run.judge, "desk": desk.desk}

    @app.get("/", response_class=HTMLResponse)
    def start(finished: str = "") -> str:
        return render("start.html", finished=finished, **common, **desk.start())

    @app.get("/review")
    def first(rater: str, filters: Chosen, blind: bool = False) -> Response:
        name = check_rater(rater)
        number = desk.first(name, filters)
        query = filters.query(rater=name, blind=blind)
        where = f"/?{filters.query(finished=name)}" if number is None else f"/review/{number}?{query}"
        return RedirectResponse(where, 303)

    @app.get("/review/{number}", response_class=HTMLResponse)
    def sample(number: Number, rater: str, filters: Chosen, blind: bool = False) -> str:
        name = check_rater(rater)
        shown = desk.page(number, name, filters, blind)
        state = {"number": number, "rater": name, "query": filters.query(rater=name, blind=blind)}
        state["sample"] = shown["name"]
        state |= {key: shown[key] for key in ("scores", "checks", "comment", "judged", "blind")}
        answers = [(answer.value, key, words) for answer, (key, words) in SAID.items()]
        more = {"state": state, "rater": name, "filters": filters, "answers": answers, "help": HELP, "most": SHOWN}
        return render("sample.html", **common, **more, **shown)

    @app.get("/image/{number}/{name}")
    def image(number: Number, name: str) -> Response:
        try:
            return Response(
                desk.picture(number, name), media_type="image/jpeg", headers={"Cache-Control": "private, max-age=600"}
            )
        except OnpromptError as error:
            return PlainTextResponse(str(error), 404)


def add_actions(app: FastAPI, desk: ReviewDesk) -> None:
    """What a rater does; each is stored before it is answered."""

    @app.post("/review/{number}")
    def save(number: Number, saved: Saved) -> Response:
        review = Review(saved.scores, saved.checks, saved.comment, saved.blind)
        desk.save(number, check_rater(saved.rater), review)
        return JSONResponse({"complete": saved.scores.keys() == desk.rubric.factors.keys()})

    @app.post("/undo")
    def undo(who: Rater) -> Response:
        return JSONResponse({"number": desk.undo(check_rater(who.rater))})
