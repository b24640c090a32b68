"""Room for Python's frames: the same results, without memory coming and going."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hbc.cli.show.frames import with_room

resource = pytest.importorskip("resource", reason="faults are counted on Unix alone")


def to_and_fro(depth: int, times: int) -> None:
    """Calls at every depth up to one, so that the end of a chunk is among them."""
    for _ in range(times):
        pass_by()
    if depth:
        to_and_fro(depth - 1, times)


def pass_by() -> None:
    pass_on()


def pass_on() -> None:
    """A frame of its own."""


def faults(depth: int) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    to_and_fro(depth, 100)
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="it is CPython that has chunks")
def test_frames_come_without_new_memory() -> None:
    with ThreadPoolExecutor(1) as thread:  # which has no frames around these
        thread.submit(with_room, lambda: faults(800)).result()  # the pages of the chunk itself
        assert thread.submit(with_room, lambda: faults(800)).result() < 100
        if sys.version_info < (3, 13):
            assert thread.submit(faults, 800).result() > 300  # or there is nothing to be had


def test_results_and_failures_come_through() -> None:
    assert with_room(lambda: [1]) == [1]

    def fail() -> None:
        raise ValueError("of a call inside")

    with pytest.raises(ValueError, match="of a call inside"):
        with_room(fail)


def test_recursion_goes_beyond_the_room() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        with_room(lambda: to_and_fro(9_000, 1))
    finally:
        sys.setrecursionlimit(limit)
