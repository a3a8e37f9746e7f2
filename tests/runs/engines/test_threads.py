"""Order, a bounded window, and an early end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from onprompt.runs.engines.threads import as_done, in_order


def test_results_come_in_order_however_long_each_takes() -> None:
    def work(number: int) -> int:
        time.sleep(0.002 * (number % 5))
        return number * number

    assert list(in_order(work, range(100), 8)) == [number * number for number in range(100)]


def test_as_many_at_a_time_as_there_are_slots() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def work(_: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1

    list(in_order(work, range(40), 5))
    assert most == 5


def test_nobody_runs_far_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    results = in_order(lambda number: number, items(), 2, ahead=6)
    assert next(results) == 1
    assert taken <= 8
    results.close()  # type: ignore[attr-defined]


def test_an_error_reaches_whoever_takes_the_results() -> None:
    def work(number: int) -> float:
        return 1 / number

    with pytest.raises(ZeroDivisionError):
        list(in_order(work, [1, 0, 1], 2))


def test_a_run_takes_what_is_done_and_never_runs_far_ahead() -> None:
    first, taken = threading.Event(), 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(50):
            taken += 1
            yield number

    def work(number: int) -> int:
        if number == 0:
            first.wait(5)  # a slow one holds up no other
        return number

    found = []
    for number in as_done(work, items(), 4):
        found.append(number)
        assert taken - len(found) < 8, "two for each thread"
        if len(found) == 20:
            assert 0 not in found
            first.set()
    assert sorted(found) == list(range(50))
    assert found != sorted(found)
