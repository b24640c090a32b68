"""The space of schedules of a kernel for a GPU: a point of it, as JSON, becomes a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.frontend.automatic.points import Made
from hbc.frontend.automatic.rewritten import Rewritten, with_caches
from hbc.frontend.automatic.text import Line, schedule_text
from hbc.frontend.automatic.typical import typical_sizes
from hbc.frontend.automatic_gpu.compose import composed
from hbc.frontend.automatic_gpu.device import KEEPING
from hbc.frontend.automatic_gpu.fragments import tensor_dots
from hbc.frontend.automatic_gpu.products import kept_factors
from hbc.frontend.costs.choices import Choices, Point
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.costs.kinds import is_sum
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target, scheduled_for


@record
class GpuSpace:
    """All schedules of a kernel at its typical sizes. `name`: what they are called; `first`: the lines that
    they all begin with."""

    pipeline: Pipeline
    target: Target
    sizes: Mapping[str, int]
    dots: tuple[Dot, ...]
    name: str
    first: tuple[Line, ...]

    def made(self, point: Point, registers: int | None = None) -> Made:
        """The schedule of a point; what it does not name is chosen as `auto` does. `registers`: what a thread
        of it has, for the cycles, where a compiler has said so."""
        fixed = kept_factors(self.pipeline)
        choices = Choices({**point, **fixed})
        graph = inlined(self.pipeline, self.sizes, self.dots, choices, keeping=KEEPING, lanes=False)
        made = composed(graph, self.dots, registers)
        lines = (*self.first, *made.lines) if made.lines else ()
        text = schedule_text(self.name, scheduled_for(self.target), lines) if lines else ""
        asked = {n: o for n, o in choices.asked.items() if n not in fixed}
        taken = {n: o for n, o in choices.effective().items() if n not in fixed}
        about = ", ".join(made.about) or "a thread for each element"
        return Made(text, about, taken, asked, made.cycles or None, made.selects, {})


def gpu_space_of(
    p: Pipeline, target: Target, given: Mapping[str, str], name: str,
    instructions: Sequence[Instruction] = (),
) -> GpuSpace:  # fmt: skip
    """The space of a kernel at its typical sizes. Sums have a Func of their own, which threads can keep."""
    source = with_caches(
        Rewritten(p), [f.name for f in p.funcs if f.name in p.output_funcs and _sums(f)]
    )
    dots = tensor_dots(instructions)
    return GpuSpace(source.pipeline, target, typical_sizes(p, given), dots, name, source.lines)


def _sums(func: Func) -> bool:
    """Whether all steps but the first add along reductions."""
    return bool(func.updates) and is_sum(func) and all(u.reduce for u in func.updates)
