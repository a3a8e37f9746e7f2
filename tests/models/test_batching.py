"""Batches of questions from many threads, with a network that is a sleep."""

import time
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from onprompt.models.batching import Batcher, Pending


class TooLarge(Exception):
    pass


class Slow:
    """Doubles numbers; negative ones fail, in the step that their size says."""

    too_large = (TooLarge,)

    def __init__(self, holds: int = 99) -> None:
        self.holds = holds
        self.batches: list[list[int]] = []
        self.prepared: list[int] = []

    def prepare(self, request: int) -> int:
        if request == -1:
            raise KeyError("prepare")
        self.prepared.append(request)
        return request

    def group(self, prepared: int) -> tuple[Hashable, int]:
        return prepared % 2, prepared

    def stage(self, batch: Sequence[int]) -> list[int]:
        if -2 in batch:
            raise ValueError("stage")
        return list(batch)

    def answer(self, staged: list[int]) -> list[int]:
        time.sleep(0.01)
        if len(staged) > self.holds:
            raise TooLarge
        self.batches.append(staged)
        if -4 in staged:
            raise ValueError("answer")
        return [2 * number for number in staged]


def asked(work: Slow, numbers: Sequence[int], largest: int = 8) -> list[int | BaseException | None]:
    batcher: Batcher[int, int, list[int], int] = Batcher(work, largest)

    def ask(number: int) -> int:
        return batcher.ask(number)

    with ThreadPoolExecutor(len(numbers)) as pool:
        asking = [pool.submit(ask, number) for number in numbers]
        return [future.exception(20) or future.result() for future in asking]


def test_everybody_gets_the_answer_to_his_question() -> None:
    work = Slow()
    assert asked(work, range(40)) == [2 * number for number in range(40)]
    assert len(work.batches) < 20
    assert all(len(batch) <= 8 and len({number % 2 for number in batch}) == 1 for batch in work.batches)
    assert all(batch == sorted(batch) for batch in work.batches)


def test_the_oldest_takes_along_those_of_like_length() -> None:
    batcher: Batcher[int, int, list[int], int] = Batcher(Slow(), 3)
    batcher.pending = [Pending(number, *batcher.steps.group(number)) for number in (100, 2, 104, 4, 7, 102)]
    assert [item.prepared for item in batcher.due_batch()] == [100, 102, 104]


def test_a_batch_that_is_not_full_waits_for_those_who_come_and_for_the_network() -> None:
    batcher: Batcher[int, int, list[int], int] = Batcher(Slow(), 3)
    batcher.pending = [Pending(number, *batcher.steps.group(number)) for number in (2, 4)]
    assert len(batcher.due_batch()) == 2
    batcher.preparing = 1
    assert not batcher.due_batch()
    batcher.preparing, batcher.running = 0, 1
    assert not batcher.due_batch()


@pytest.mark.parametrize("broken", [-1, -2, -4])
def test_a_broken_question_fails_alone(broken: int) -> None:
    *good, bad = asked(Slow(), [*range(0, 16, 2), broken])
    assert good == [2 * number for number in range(0, 16, 2)]
    assert isinstance(bad, KeyError if broken == -1 else ValueError)


def test_what_is_too_large_is_halved_and_stays_so() -> None:
    work = Slow(holds=2)
    assert asked(work, range(0, 64, 2), largest=16) == [2 * number for number in range(0, 64, 2)]
    assert max(len(batch) for batch in work.batches) == 2


def test_what_is_too_large_alone_is_told() -> None:
    assert isinstance(asked(Slow(holds=0), [2])[0], TooLarge)


def test_work_goes_on_after_an_error() -> None:
    batcher: Batcher[int, int, list[int], int] = Batcher(Slow(), 4)
    for _ in range(3):
        with pytest.raises(ValueError, match="answer"):
            batcher.ask(-4)
        assert batcher.ask(5) == 10


def test_after_its_end_nothing_is_asked() -> None:
    work = Slow()
    batcher: Batcher[int, int, list[int], int] = Batcher(work, 4)
    with ThreadPoolExecutor(9) as pool:
        asking = [pool.submit(batcher.ask, number) for number in range(9)]
        while len(work.prepared) < len(asking):
            time.sleep(0.001)
        batcher.close()
        assert [future.result(10) for future in asking] == [2 * number for number in range(9)]
    assert not any(thread.is_alive() for thread in batcher.threads)
    with pytest.raises(RuntimeError, match="closed"):
        batcher.ask(5)
