"""`review` and `serve`: pages on a local server."""

from __future__ import annotations

from typing import Annotated

import typer

from onprompt.cli.app import RunPath, app, echo
from onprompt.cli.judging import Budget, JudgeName, Models, judge_settings

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")]
Token = Annotated[
    str,
    typer.Option(envvar="ONPROMPT_WEB_TOKEN", help="Token that browsers must send. Default: random; none on loopback."),
]


@app.command()
def review(
    run_file: RunPath,
    blind: Annotated[bool, typer.Option("--blind", help="Hide the judge's verdicts.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token: Token = "",
) -> None:
    """Rate a run's verdicts in the browser, by keyboard. Ratings are saved in the run file."""
    from onprompt.pages.server import Place, check_installed, run

    check_installed()
    from onprompt.pages.review import ReviewDesk, create_app

    run(create_app(ReviewDesk(run_file, blind=blind)), Place(host, port, token), echo)


@app.command()
def serve(
    model: Models = None,
    judge: JudgeName = "",
    budget: Budget = None,
    workers: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="Judge N samples at a time.")] = 1,
    queue: Annotated[int, typer.Option(min=0, max=10_000, metavar="N", help="Number of requests that may wait.")] = 16,
    max_upload: Annotated[
        int, typer.Option(min=1, max=1000, metavar="MB", help="Size of the largest request, in MB.")
    ] = 32,
    host: Host = "127.0.0.1",
    port: Port = 8766,
    token: Token = "",
) -> None:
    """Serve a page to try onprompt, and a JSON API, on this machine."""
    from onprompt.pages.server import Place, check_installed, run

    check_installed()
    from onprompt.pages.serve import JobQueue, Offer, Service, create_app
    from onprompt.settings import Settings

    settings = judge_settings(judge, model, budget=budget)
    offer = Offer(settings, settings.models or tuple(filter(None, [settings.model])))
    shown = ["--detector", settings.detector] if settings.detector != Settings().detector else []
    service = Service(offer, JobQueue(workers, queue), shown)
    place = Place(host, port, token, max_upload * 10**6)
    run(create_app(service), place, echo, service.queue.stop)
