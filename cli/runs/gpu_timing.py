"""How long launches take on a GPU, by its own events.

The device overwrites its L2 cache before each measurement. Until that is done, the host has put the
launches into the stream, so that what the host takes for them is in no time. Where the cache is to be
as a run leaves it, one more run comes between; and short runs are timed a few at a time, because events
have a grain of half a microsecond.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from hbc.cli.runs.gpu_driver import Gpu, GpuError

SCRATCH = 256 << 20  # bytes to overwrite, at least: 80 us on the fastest card
BATCH, SHORT = 8, 1e-4  # runs shorter than so many seconds are timed so many at a time


def measured(gpu: Gpu, launch: Callable[[], None], repeat: Mapping[str, Any]) -> list[float]:
    """Seconds of a run, measured as often as `native.Repeat` says, after its warm-ups. With `flush` each
    finds the L2 cache empty. What `launch` raises, and GpuError."""
    for _ in range(repeat["warmups"]):
        launch()
    if repeat["most"] == 1:
        return [_timed(gpu, launch, 1)]
    first, flush = _timed(gpu, launch, 1), repeat["flush"]
    size = max(SCRATCH, 2 * gpu.l2_bytes())
    scratch = _scratch(gpu, size, needed=flush)
    batch = BATCH if first < SHORT and not flush else 1
    times: list[float] = []
    begin = time.perf_counter()
    try:
        while len(times) < repeat["least"] or (
            time.perf_counter() - begin < repeat["seconds"] and len(times) < repeat["most"]
        ):
            if scratch:
                gpu.fill(scratch, 0, size)
                if not flush:
                    launch()
            times.append(_timed(gpu, launch, batch))
    finally:
        if scratch:
            with suppress(GpuError):
                gpu.free(scratch)
    return times


def _scratch(gpu: Gpu, size: int, needed: bool) -> int:
    """Memory to overwrite; 0 where there is no room and it is not needed: times are a little longer."""
    try:
        return gpu.allocate(size)
    except GpuError as e:
        if needed or not e.out_of_memory:
            raise
        return 0


def _timed(gpu: Gpu, launch: Callable[[], None], count: int) -> float:
    start = gpu.record()
    for _ in range(count):
        launch()
    return gpu.seconds(start, gpu.record()) / count
