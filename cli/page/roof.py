"""The roof over a kernel: what this machine can do at most at its number of operations a byte."""

from __future__ import annotations

import math
from collections.abc import Mapping

from hbc.cli.roof.roofs import Roofs, kept_roofs
from hbc.cli.runs.work import Work, count_work
from hbc.cli.show.report import seconds as shown
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.record import record

WIDTH, HEIGHT = 560.0, 260.0
LEFT, BOTTOM, RIGHT, TOP = 56.0, 34.0, 96.0, 14.0


@record
class Label:
    x: float
    y: float
    text: str


@record
class Slope:
    """What a level of memory allows, from a point to another."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: Label


@record
class Picture:
    """In pixels: the lines of memory and of arithmetic, each with its label, and the kernel's own."""

    slopes: tuple[Slope, ...]
    peaks: tuple[tuple[float, float, str], ...]
    kernel_x: float
    kernel_y: float
    across: tuple[Label, ...]
    up: tuple[Label, ...]
    said: str


def roof(p: Pipeline, sizes: Mapping[str, int], threads: int) -> Picture | str:
    """The picture, or why there is none."""
    if not sizes and p.sizes:
        return "The file has no example with sizes: there is no work to compare with the roof."
    roofs = kept_roofs(threads)
    if roofs is None:
        return "This machine's roof is not measured yet: `hbc bench` does that."
    try:
        work = count_work(p, sizes)
    except HbcError:
        return "How much work there is depends on data: there is no roof to compare it with."
    return (
        _drawn(work, roofs)
        if work.total and work.bytes
        else "The kernel computes nothing: it moves."
    )


def _drawn(work: Work, roofs: Roofs) -> Picture:
    kinds = [kind for kind in work.operations if kind in roofs.peaks] or ["f32"]
    intensity = work.total / work.bytes
    top = max(roofs.peak(kind) for kind in kinds)
    first = math.floor(math.log2(min(intensity, top / max(roofs.bandwidths.values())))) - 2
    last = math.ceil(math.log2(max(intensity, top / min(roofs.bandwidths.values())))) + 1
    low = min(roofs.bandwidths.values()) * 2.0**first
    floor, ceiling = math.floor(math.log10(low)), math.ceil(math.log10(top))

    def x(of: float) -> float:
        share = (math.log2(of) - first) / (last - first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(of: float) -> float:
        share = (math.log10(of) - floor) / (ceiling - floor)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)

    slopes = []
    free = 0.0  # the least y of the next label
    for name, rate in sorted(roofs.bandwidths.items(), key=lambda level: -level[1]):
        at = y(rate * 2.0**first)
        free = max(at - 3, free)
        label = Label(LEFT + 4, free, f"{name} {_giga(rate)}B/s")
        slopes.append(Slope(x(2.0**first), at, x(top / rate), y(top), label))
        free += 11
    peaks = [
        (y(roofs.peak(kind)), x(2.0**last), f"{kind} {_giga(roofs.peak(kind))}op/s")
        for kind in kinds
    ]
    seconds = roofs.seconds(work)
    by_memory = roofs.memory_seconds(work) > roofs.compute_seconds(work)
    level = roofs.level(work.bytes)
    return Picture(
        tuple(slopes), tuple(peaks), x(intensity), y(work.total / seconds),
        tuple(Label(x(2.0**n), HEIGHT - BOTTOM + 16, _power(n)) for n in range(first, last + 1, 2)),
        tuple(Label(LEFT - 6, y(10.0**n), f"{_giga(10.0**n)}op/s") for n in range(floor, ceiling + 1)),
        f"{_giga(work.total)} operations on {_giga(work.bytes)}B: {intensity:.3g} operations a byte. "
        f"{f'Moving bytes ({level})' if by_memory else 'Arithmetic'} is the limit: on "
        f"{'one thread' if roofs.threads == 1 else f'{roofs.threads} threads'} of this machine it takes at "
        f"least {shown(seconds)}.",
    )  # fmt: skip


def _power(n: int) -> str:
    return str(2**n) if n >= 0 else f"1/{2**-n}"


def _giga(n: float) -> str:
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= scale:
            return f"{n / scale:.3g} {unit}"
    return f"{n:.3g} "
