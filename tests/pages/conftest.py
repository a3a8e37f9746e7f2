"""Real servers on loopback, and runs to review."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import numpy as np
import pytest
from PIL import Image

from onprompt.api import judges
from onprompt.pages.server import App, Guard, listen, make_server
from tests.runs.test_run import judged, table

Serve = Callable[..., httpx2.Client]


@contextmanager
def serving(
    app: App,
    host: str = "127.0.0.1",
    token: str = "",
    max_bytes: int = 2**20,
    on_stop: Callable[[], object] = bool,
    seconds: float = 60,
) -> Iterator[str]:
    """The address of a server that runs an application in a thread."""
    with listen("127.0.0.1", 0) as listening:
        server = make_server(Guard(app, host, token, max_bytes, seconds), on_stop)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers; each answers through the client that is returned."""
    with ExitStack() as stack:

        def start(app: App, **options: object) -> httpx2.Client:
            address = stack.enter_context(serving(app, **options))  # type: ignore[arg-type]
            return stack.enter_context(httpx2.Client(base_url=address, timeout=60))

        yield start
    judges.close()


@pytest.fixture
def run_file(tmp_path: Path) -> Iterator[Path]:
    """A run of 30 samples on one picture, by recorded answers; its prompts are rude."""
    Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(tmp_path / "cat.png")
    judged(tmp_path, table(tmp_path, 30))
    yield tmp_path / "run.sqlite"
    judges.close()
