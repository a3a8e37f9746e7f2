"""Batches of what several threads want from one network."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from onprompt.vision.hub.batching import SharedBatches
from onprompt.vision.runtime import LatestValues


def test_what_comes_while_a_batch_runs_is_in_the_next() -> None:
    sizes: list[int] = []
    first, go_on = threading.Event(), threading.Event()

    def run(items: Sequence[int]) -> list[int]:
        sizes.append(len(items))
        first.set()
        assert go_on.wait(30)
        return [item * item for item in items]

    batches = SharedBatches(run, 4)
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(batches, [1])]
        assert first.wait(30)
        futures += [pool.submit(batches, [n, 10 * n]) for n in range(2, 7)]
        while len(batches.queue) < 10:
            threading.Event().wait(0.001)
        go_on.set()
        assert [future.result(30) for future in futures] == [[1], *([n * n, 100 * n * n] for n in range(2, 7))]
    assert sizes == [1, 4, 4, 2]
    assert batches([]) == []


def test_a_bad_item_fails_alone() -> None:
    def run(items: Sequence[int]) -> list[float]:
        return [1 / item for item in items]

    batches = SharedBatches(run, 8)
    with pytest.raises(ZeroDivisionError):
        batches([1, 2, 0, 4])
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(batches, [item]) for item in (1, 0, 2, 4)]
        errors = [type(future.exception()) for future in futures]
    assert errors == [type(None), ZeroDivisionError, type(None), type(None)]


def test_a_batch_that_is_too_large_is_halved() -> None:
    sizes = []

    def run(items: Sequence[int]) -> list[int]:
        sizes.append(len(items))
        if len(items) > 3:
            raise MemoryError
        return list(items)

    assert SharedBatches(run, 8)(range(8)) == list(range(8))
    assert sizes == [8, 4, 2, 2, 4, 2, 2]


def test_the_values_that_were_used_last_are_kept() -> None:
    values: LatestValues[str, int] = LatestValues(2)
    values.put("a", 1)
    values.put("b", 2)
    assert values.get("a") == 1
    values.put("c", 3)
    assert [values.get(key) for key in "abc"] == [1, None, 3]
