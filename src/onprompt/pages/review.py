"""`onprompt review`: the pages on which people go through the verdicts of a run, and the answers of their browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from onprompt.errors import NotFound, OnpromptError, StoreError
from onprompt.pages.application import new_app, problems, render
from onprompt.pages.review_desk import Filters, Queue, ReviewDesk, guidelines
from onprompt.runs.reviews import ANSWERS, MAX_COMMENT, MAX_NAME, Review, check_rater

MAX_CHECKS = SHOWN = 100  # checks of one sample that can be corrected: a prompt of 10,000 characters has a thousand
# The key of each answer to a check, and its words for objects, for edits, and for anything else.
KEYS = dict(zip(ANSWERS, "ypnu", strict=True))
WORDS = {
    "object": ("it is there", "in part", "not there", "can't tell"),
    "operation": ("done", "in part", "not done", "can't tell"),
    "": ("right", "in part", "wrong", "can't tell"),
}
HELP = (
    (("0", "…", "9"), "score; with several factors the marked one, and the next is marked"),
    (("f",), "mark another factor"),
    (("a",), "accept the judge's scores and go on"),
    (("v",), "show the judge's verdict, once you have scored"),
    (("c",), "go to the checks; again, or ↓ and ↑: to another one"),
    (("y", "p", "n", "u"), "the check under the cursor: right, in part, wrong, can't tell; again: no answer"),
    (("m",), "comment; Esc leaves it"),
    (("Enter",), "next, once you have scored"),
    (("→", "s"), "skip to the next"),
    (("←",), "previous"),
    (("z",), "undo the last thing you saved, wherever it was"),
    (("x",), "zoom"),
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


class Asked:
    """Who asks, for which verdicts, and whether the judge is hidden: for a sampling plan, unless it is chosen."""

    def __init__(
        self,
        rater: str,
        queue: Queue = "all",
        model: str = "",
        category: str = "",
        score: str = "",
        unreviewed: bool = False,
        part: int = 0,
        parts: int = 0,
        blind: Literal["", "0", "1"] = "",
    ) -> None:
        self.rater, self.blind = check_rater(rater), blind == "1" or (queue == "plan" and blind != "0")
        named = ("", "") if self.blind else (model, score)  # what would tell a blind rater about the samples
        self.filters = Filters(queue, named[0], category, named[1], unreviewed, part, parts)
        self.query = self.filters.query(rater=self.rater, blind="1" if self.blind else "0")


Query = Annotated[Asked, Depends()]
Number = Annotated[int, Path(ge=0, lt=2**63)]  # of a sample: what SQLite can look for


def create_app(desk: ReviewDesk) -> FastAPI:
    """The application for a run."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = new_app(lifespan, title="onprompt review", openapi_url=None)

    @app.exception_handler(OnpromptError)
    def refused(_: Request, error: OnpromptError) -> Response:
        status = 409 if isinstance(error, StoreError) else 404 if isinstance(error, NotFound) else 422
        return PlainTextResponse(str(error), status)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> Response:
        return PlainTextResponse(problems(error), 422)

    add_pages(app, desk)
    add_actions(app, desk)
    return app


def add_pages(app: FastAPI, desk: ReviewDesk) -> None:
    """The first page, one for each sample, one when all is done, and the guidelines."""
    levels, definitions = guidelines(desk.rubric)
    links = (("Review", "/"), ("Guidelines", "/guidelines"))
    common: dict[str, Any] = {"run": desk.path.name, "rubric": desk.rubric, "judge": desk.run.judge, "desk": desk.desk}
    common |= {"levels_said": levels, "definitions": definitions, "links": links, "current": "", "help": HELP}

    @app.get("/", response_class=HTMLResponse)
    def start() -> str:
        return render("start.html", **common | {"current": "Review"}, **desk.start())

    @app.get("/guidelines", response_class=HTMLResponse)
    def rules() -> str:
        return render("guidelines.html", **common | {"current": "Guidelines"})

    @app.get("/done", response_class=HTMLResponse)
    def done(asked: Query) -> str:
        where = desk.progress(asked.rater, asked.filters)
        return render("done.html", rater=asked.rater, query=asked.query, where=where, **common, **desk.start())

    @app.get("/review")
    def first(asked: Query) -> Response:
        number = desk.progress(asked.rater, asked.filters).following
        return RedirectResponse(f"/done?{asked.query}" if number is None else f"/review/{number}?{asked.query}", 303)

    @app.get("/review/{number}", response_class=HTMLResponse)
    def sample(number: Number, asked: Query) -> str:
        shown = desk.page(number, asked.rater, asked.filters, asked.blind)
        state = {name: shown[name] for name in ("scores", "checks", "comment", "judged", "locked", "draft")}
        state |= {"number": number, "rater": asked.rater, "query": asked.query, "blind": shown["hidden"]}
        more = {"rater": asked.rater, "filters": asked.filters, "blind": asked.blind or desk.desk.blind}
        return render("review.html", state=state, keys=KEYS, said=WORDS, most=SHOWN, **more, **common, **shown)

    @app.get("/image/{number}/{name}")
    def image(number: Number, name: str) -> Response:
        try:
            data = desk.picture(number, name)
        except OnpromptError as error:
            return PlainTextResponse(str(error), 404)
        return Response(data, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=600"})


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
