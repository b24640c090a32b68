"""The children that run measuring programs, one for each thread, and the bandwidths that they measure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import resources
from pathlib import Path

from hbc.cli.runs.native import Native, Repeat
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import TARGETS

TIMEOUT = 120.0  # seconds for one measurement; each takes about a tenth of one
REPEAT = Repeat(warmups=1, least=3, seconds=0.05, most=50)
ROUNDS = 3
BYTES_PER_CALL = 1 << 28  # that a bandwidth is measured on, out of cache a quarter of it
MEMORY = "DRAM"  # the level beyond all caches
SHARED = "L3"  # the level that threads share
WIDTHS = (("avx512", {"avx512f"}), ("avx2", {"avx2"}), ("plain", set[str]()))


class Team:
    """As many child processes as threads, which all make the same call at the same time. `own`: only how long
    the thread ran itself counts."""

    def __init__(self, library: Path, threads: int, own: bool = False) -> None:
        self._repeat = replace(REPEAT, own=own)
        self._stack = ExitStack()
        from concurrent.futures import ThreadPoolExecutor  # here, since it takes 5 ms

        self._pool = self._stack.enter_context(ThreadPoolExecutor(threads))
        self._members = [
            self._stack.enter_context(Native(library, 1, TIMEOUT)) for _ in range(threads)
        ]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seconds(self, function: str, sizes: Sequence[int], scratch: Sequence[int]) -> float:
        """The best time of one thread; with several the median, for what they share, in the best of
        the rounds."""
        return min(self._round(function, sizes, scratch) for _ in range(ROUNDS))

    def _round(self, function: str, sizes: Sequence[int], scratch: Sequence[int]) -> float:
        calls = [
            self._pool.submit(member.time, function, sizes, scratch, self._repeat)
            for member in self._members
        ]
        times = [call.result() for call in calls]
        if len(times) == 1:
            return min(times[0])
        return max(statistics.median(one) for one in times)


def bandwidths(
    team: Team, function: str, arrays: int, threads: int, levels: Mapping[str, int]
) -> Iterator[tuple[str, float]]:
    """Bytes in a second of all threads for each level, which holds so many, and for memory: `function` of
    `bandwidth.c` walks over so many arrays."""
    memory = min(max(4 * max(levels.values()), 64 << 20), 256 << 20) // threads
    # Half of a level leaves room for everything else; of a shared one each thread takes its part.
    sets = {name: room // 2 // (threads if name == SHARED else 1) for name, room in levels.items()}
    for level, room in {**sets, MEMORY: memory}.items():
        bytes_ = max(room // 512 * 512, 512)
        rounds = max(1, BYTES_PER_CALL // bytes_ // (4 if level == MEMORY else 1))
        took = team.seconds(function, [bytes_, rounds], [bytes_ // arrays] * arrays)
        yield level, threads * bytes_ * rounds / took


def widest(kind: str) -> str:
    """The function that does it (`read`, `write`) with the widest vectors that there are."""
    return next(f"{kind}_{name}" for name, needs in WIDTHS if needs <= cpu_features())


def compiled(name: str, folder: Path) -> Path:
    """The library of a program that comes with hbc."""
    text = resources.files("hbc.cli.roof").joinpath(f"{name}.c").read_text(encoding="utf-8")
    return build(CSource(name, text, ""), TARGETS["c"], folder / f"{name}.so")
