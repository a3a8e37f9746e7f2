"""The jury whose weights are fitted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.jury.servers import Serve, jury_of_servers


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with jury_of_servers(tmp_path) as start:
        yield start
