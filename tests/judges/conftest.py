"""The server that tests of judges ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.claim_server import Serve, claim_server


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with claim_server(tmp_path) as start:
        yield start
