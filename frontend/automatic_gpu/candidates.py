"""The schedules for a GPU to try for a program, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.automatic.candidates import Candidate
from hbc.frontend.automatic.text import schedule_text
from hbc.frontend.automatic.typical import typical_sizes
from hbc.frontend.automatic_gpu.compose import PLAIN, THREADS, Composed, composed
from hbc.frontend.automatic_gpu.device import KEEPING
from hbc.frontend.automatic_gpu.fragments import tensor_dots
from hbc.frontend.automatic_gpu.products import kept_factors
from hbc.frontend.costs.choices import Choices, Point
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target, scheduled_for

TRIED = 3  # blocks of a product by each kind of instruction


def gpu_candidates(
    p: Pipeline, target: Target, given: Mapping[str, str], name: str,
    instructions: Sequence[Instruction] = (),
) -> Iterator[Candidate]:  # fmt: skip
    """Schedules of that name, from the one that should be fastest on. Where all of them are refused, loops
    are mapped as they are without a schedule."""
    sizes = typical_sizes(p, given)
    dots = tensor_dots(instructions)
    seen: set[str] = set()
    for some in (dots, ()):
        graph = inlined(p, sizes, some, Choices(kept_factors(p)), keeping=KEEPING)
        for point in _points(
            composed(replace(graph, choices=(choices := Choices())), some), choices
        ):
            made = composed(replace(graph, choices=Choices(point)), some)
            text = schedule_text(name, scheduled_for(target), made.lines)
            if made.lines and text not in seen:
                seen.add(text)
                yield Candidate(
                    text, ", ".join(made.about) or "a thread for each element", made.selects
                )


def _points(first: Composed, choices: Choices) -> Iterator[Point]:
    """What is usual, then less: smaller blocks of all products, no tensor cores, no tiles of threads."""
    yield {}
    blocks = {
        n: options for n, options in choices.asked.items() if n.endswith((".block", ".threads"))
    }
    for rank in range(1, TRIED):
        yield {n: options[rank] for n, options in blocks.items() if rank < len(options)}
    for kind in (THREADS, PLAIN):
        wanted = {n: kind for n, options in choices.asked.items() if n.endswith(".by")}
        if wanted and not (kind == THREADS and not first.selects):
            yield wanted
    yield {n: False for n in choices.asked if n.endswith((".rows", ".elements"))}
