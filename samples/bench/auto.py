"""How fast automatic schedules are beside those of the samples: in one process, in turns, by the own time
of the thread, so that other programs on the machine disturb little."""

from __future__ import annotations

import argparse
import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from unit_pair import aligned, packed

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.prepare import Compiled, Runner, build_for_calls, choose, compile_chosen
from hbc.cli.runs.native import output_shapes
from hbc.codegen.c.by_value import by_value
from hbc.ir.meaning.numpy_types import element_of, numpy_dtype

TURN = 0.03  # seconds of calls of which the quickest counts
LEAST = 3  # calls of a turn
WINDOWS = 12  # turns of each


@dataclass
class Contender:
    """A schedule's code on its arrays, and the seconds of the quickest call of each turn. `keeps` lives as
    long."""

    call: Callable[[], int]
    keeps: tuple[Any, ...]
    turns: list[float] = field(default_factory=list)


def contender(
    kernel: Path, settings: dict[str, str], target: str | None, example: str | None,
    schedule: str | None, folder: Path,
) -> Contender:  # fmt: skip
    """Built and bound. SystemExit where a call fails."""
    made: Compiled = compile_chosen(choose(kernel, settings, target, schedule))
    library, _ = build_for_calls(made, folder, Runner())
    p = made.chosen.pipeline
    run = gather_inputs(p, settings, choose_example(p, example), {})
    loaded, name = ctypes.CDLL(str(library)), made.source.name
    sizes = list(run.sizes.values())
    outputs = [aligned(s, numpy_dtype(e)) for s, e in output_shapes(p, run.sizes).values()]
    inputs = [np.ascontiguousarray(a) if a.ndim else a for a in run.inputs.values()]
    for n, i in enumerate(p.inputs):
        if i.name in made.source.packs:
            inputs[n] = packed(loaded, f"{name}_", i.name, sizes, inputs[n])
    function = getattr(loaded, f"{name}_packed" if made.source.packs else name)
    given = [ctypes.c_int64(n) for n in sizes] + [argument(a) for a in (*inputs, *outputs)]
    if function(*given):
        raise SystemExit(f"{kernel}: a call failed")
    return Contender(lambda: function(*given), (inputs, outputs, loaded))


def argument(a: np.ndarray[Any, Any]) -> object:
    """As the C function takes it."""
    element = element_of(a.dtype)
    if a.ndim == 0 and element is not None:
        return by_value(element.name, a.tobytes())
    return ctypes.c_void_p(a.ctypes.data)


def measure(
    kernel: Path, settings: dict[str, str], target: str | None, example: str | None,
    schedules: Sequence[str | None], rounds: int,
) -> list[Contender]:  # fmt: skip
    """A contender for each schedule, measured."""
    with tempfile.TemporaryDirectory(prefix="hbc-auto-") as folder:
        found = []
        for number, schedule in enumerate(schedules):
            place = Path(folder) / str(number)
            place.mkdir()
            found.append(contender(kernel, settings, target, example, schedule, place))
        for _ in range(rounds):
            for c in found:
                c.turns.append(turn(c.call))
        return found


def turn(call: Callable[[], int]) -> float:
    """The quickest of a few calls, by the thread's own time."""
    begin, took, count = time.perf_counter(), float("inf"), 0
    while count < LEAST or time.perf_counter() - begin < TURN:
        start = time.thread_time()
        call()
        took = min(took, time.thread_time() - start)
        count += 1
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--example")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--schedules", default="hand,auto", help="of hand, auto, none, or names")
    parser.add_argument("--rounds", type=int, default=WINDOWS)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # before a library asks
    settings = dict(text.split("=", 1) for text in given.set)
    names = given.schedules.split(",")
    chosen = tuple(None if n == "hand" else n for n in names)
    print(f"{'kernel':<28}" + "".join(f"{n + ' ms':>12}" for n in names) + f"{'ratio':>8}")
    ratios = []
    for kernel in given.kernels:
        found = measure(kernel, settings, given.target, given.example, chosen, given.rounds)
        pairs = zip(found[0].turns, found[1].turns, strict=True)
        ratios.append(median(a / b for a, b in pairs))
        times = "".join(f"{min(c.turns) * 1e3:>12.3f}" for c in found)
        print(f"{kernel.stem:<28}{times}{ratios[-1]:>8.2f}", flush=True)
    if len(ratios) > 1:
        print(f"{'median':<28}{'':>{12 * len(names)}}{median(ratios):>8.2f}")


if __name__ == "__main__":
    main()
