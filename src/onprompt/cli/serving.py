"""`review` and `serve`: pages on a local server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from onprompt.cli.app import RunPath, app, echo
from onprompt.cli.judging import Budget, DetectorName, JudgeName, Models, judge_settings
from onprompt.errors import UserError

Host = Annotated[str, typer.Option(help="The address to listen on; any but loopback needs a token.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")]
Token = Annotated[
    str,
    typer.Option(envvar="ONPROMPT_WEB_TOKEN", help="What browsers must present; by default random, on loopback none."),
]
Browser = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]


@app.command()
def review(
    run_file: RunPath,
    sample: Annotated[
        int, typer.Option(min=0, help="Make a sampling plan of this many verdicts, stratified by score and model.")
    ] = 0,
    precision: Annotated[
        float | None, typer.Option(help="Make a plan that measures agreement to ± this much, such as 0.1.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the plan: another seed, another sample.")] = 0,
    blind: Annotated[bool, typer.Option("--blind", help="Show nobody what the judge says.")] = False,
    show_raters: Annotated[bool, typer.Option("--show-raters", help="Show raters what the others say.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token: Token = "",
    browser: Browser = False,
) -> None:
    """Go through a run's verdicts in the browser, by keyboard; what people say is saved in the run file."""
    from onprompt.pages.server import Place, check_installed, run

    check_installed()
    from onprompt.pages.review import Desk, ReviewDesk, create_app
    from onprompt.runs.reviews import plan_words, size_for

    if sample and precision is not None:
        raise UserError("choose --sample or --precision, not both")
    desk = ReviewDesk(run_file, desk=Desk(blind, show_raters))
    size = size_for(precision) if precision is not None else sample
    if size:
        echo(plan_words(desk.make_plan(size, seed)), err=True)
    run(create_app(desk), Place(host, port, token), starting(browser))


def starting(browser: bool) -> Callable[[str], None]:
    """Says where the server is, and opens the browser if wanted."""

    def say(address: str) -> None:
        echo(f"{address}\nCtrl-C stops it.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    return say


@app.command()
def serve(
    model: Models = None,
    judge: JudgeName = "",
    budget: Budget = None,
    detector: DetectorName = "",
    workers: Annotated[int, typer.Option(min=1, max=256, help="How many samples are judged at a time.")] = 1,
    queue: Annotated[int, typer.Option(min=0, max=10_000, help="How many more may wait; others get a 429.")] = 16,
    max_upload: Annotated[int, typer.Option(min=1, max=1000, help="The largest request, in MB.")] = 32,
    host: Host = "127.0.0.1",
    port: Port = 8766,
    token: Token = "",
    browser: Browser = False,
) -> None:
    """Try it in the browser, and let services ask: a page and a JSON API on this machine."""
    from onprompt.pages.server import Place, check_installed, run

    check_installed()
    from onprompt.pages.serve import JobQueue, Offer, Service, create_app

    settings = judge_settings(judge, model, detector, budget)
    offer = Offer(settings, settings.models or tuple(filter(None, [settings.model])))
    service = Service(offer, JobQueue(workers, queue), ["--detector", detector] if detector else [])
    place = Place(host, port, token, max_upload * 10**6)
    run(create_app(service), place, starting(browser), service.queue.stop)
