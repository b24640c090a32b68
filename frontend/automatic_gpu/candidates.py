"""The schedules for a GPU to try for a program, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.automatic.candidates import Candidate
from hbc.frontend.automatic.points import Made
from hbc.frontend.automatic_gpu.compose import PLAIN, THREADS
from hbc.frontend.automatic_gpu.points import gpu_space_of
from hbc.frontend.automatic_gpu.tensor import MMA
from hbc.frontend.costs.choices import Point
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target

TRIED = 3  # blocks of a product by each kind of instruction


def gpu_candidates(
    p: Pipeline, target: Target, given: Mapping[str, str], name: str,
    instructions: Sequence[Instruction] = (),
) -> Iterator[Candidate]:  # fmt: skip
    """Schedules of that name, from the one that should be fastest on. Where all of them are refused, loops
    are mapped as they are without a schedule."""
    space = gpu_space_of(p, target, given, name, instructions)
    seen: set[str] = set()
    for each in (space, replace(space, dots=())):
        for point in _points(each.made({})):
            made = each.made(point)
            if made.text and made.text not in seen:
                seen.add(made.text)
                yield Candidate(made.text, made.about, made.selects)


def _points(first: Made) -> Iterator[Point]:
    """What is usual, then less: smaller blocks of all products, warps instead of groups of them, no tensor
    cores, no tiles of threads."""
    yield {}
    blocks = {n: o for n, o in first.asked.items() if n.endswith((".groups", ".block", ".threads"))}
    for rank in range(1, TRIED):
        yield {n: options[rank] for n, options in blocks.items() if rank < len(options)}
    for kind in (MMA, THREADS, PLAIN):
        wanted = {n: kind for n, o in first.asked.items() if n.endswith(".by") and kind in o[1:]}
        if wanted and not (kind == THREADS and not first.selects):
            yield wanted
    for names in ((".window",), (".split",), (".rows", ".elements")):
        yield {n: False for n in first.asked if n.endswith(names)}
