"""Kernels with schedules for a GPU, the sizes to try them at, and how they are lowered."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS

FOLDER = Path(__file__).resolve().parent / "kernels"
CUDA = TARGETS["cuda"]

Sizes = dict[str, int]


def _sizes(names: str, *rows: tuple[int, ...]) -> tuple[Sizes, ...]:
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


# Nothing, one, less than a tile, tiles and a piece of one, tiles alone.
SIZES: dict[str, tuple[Sizes, ...]] = {
    "gemm": _sizes("MNK", (0, 3, 2), (1, 1, 1), (3, 5, 0), (17, 36, 11), (16, 32, 17)),
    "pipelined": _sizes("MNK", (0, 3, 2), (3, 5, 0), (9, 17, 7), (9, 33, 23), (8, 32, 12)),
    "conv1d": _sizes("HWT", (1, 1, 1), (2, 7, 3), (1, 130, 19), (1, 128, 35)),
    "blur": _sizes("HW", (1, 1), (5, 3), (17, 41), (16, 64)),
    "softmax": _sizes("MN", (1, 1), (3, 70), (33, 5), (2, 128)),
    "transpose": _sizes("MN", (1, 1), (33, 65), (64, 32)),
    "scan": _sizes("NC", (0, 3), (1, 1), (9, 37), (4, 64)),
    "histogram": _sizes("N", (0,), (1,), (70,)),
    "atomics": _sizes("MN", (0, 3), (1, 1), (13, 15), (70, 16)),
    "resident": _sizes("MNK", (0, 3, 2), (18, 21, 11), (16, 32, 8)),
    "row_products": _sizes("HG", (1, 1), (3, 5), (11, 17), (8, 16)),
    "row_reductions": _sizes("MK", (1, 1), (37, 21), (64, 32)),
    "padded": _sizes("HW", (1, 1), (5, 33), (4, 32)),
    "mirror": _sizes("MN", (1, 32), (8, 64), (4, 96)),
}


@cache
def pipeline_of(name: str) -> Pipeline:
    """The checked program of that name."""
    return load_pipeline(FOLDER / f"{name}.hb", {})


def scheduled(name: str, lines: str) -> Kernel:
    """The kernel of a program with these lines as its schedule."""
    text = (FOLDER / f"{name}.hb").read_text(encoding="utf-8").partition("schedule")[0]
    source = Source(f"{name}.hb", f"{text}\nschedule s for cuda {{ {lines} }}")
    p = check(parse(source), {})
    return lower_to_kernel(p, p.schedules[0], CUDA)


def lowered(
    name: str, schedule: str | None, after: Callable[[str, Kernel], None] | None = None,
    before: str | None = None,
) -> Kernel:  # fmt: skip
    """Its kernel for a GPU; with no schedule as the defaults have it."""
    return (
        _whole(name, schedule)
        if after is before is None
        else _lowered(name, schedule, after, before)
    )


@cache
def _whole(name: str, schedule: str | None) -> Kernel:
    """Lowered once for all tests of a process."""
    return _lowered(name, schedule, None, None)


def _lowered(
    name: str, schedule: str | None, after: Callable[[str, Kernel], None] | None, before: str | None
) -> Kernel:
    p = pipeline_of(name)
    chosen = next((s for s in p.schedules if s.name == schedule), None)
    assert schedule is None or chosen is not None
    return lower_to_kernel(p, chosen, CUDA, after, before=before)


def schedules() -> list[tuple[str, str | None]]:
    """Every program with each of its schedules, and without one."""
    found: list[tuple[str, str | None]] = []
    for name in SIZES:
        found += [(name, None), *((name, s.name) for s in pipeline_of(name).schedules)]
    return found
