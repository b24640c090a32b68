"""The one list of passes, from loops as they are lowered to a kernel ready to be printed.

`hbc passes` shows it, and docs/architecture.md has it as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hbc.codegen.gpu.legalize import gpu_legalize
from hbc.ir.algebra.simplify import simplify_kernel
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, Target
from hbc.ir.movement.bit_fields import bit_fields
from hbc.ir.movement.move import move
from hbc.ir.movement.reverse import reverse
from hbc.ir.passes.carry import carry
from hbc.ir.passes.forward import forward
from hbc.ir.passes.hoist import hoist, hoist_and_share
from hbc.ir.passes.jam import jam
from hbc.ir.passes.legalize import legalize
from hbc.ir.passes.partition import partition
from hbc.ir.passes.promote import promote
from hbc.ir.passes.roll import roll
from hbc.ir.passes.rotate import rotate
from hbc.ir.passes.share import share
from hbc.ir.passes.unroll import unroll
from hbc.ir.passes.unroll_limit import refuse_long
from hbc.ir.passes.vector_math import expand_math
from hbc.ir.passes.vectorize import vectorize
from hbc.ir.passes.wide_loads import widen_loads
from hbc.ir.vectors.integers import integers
from hbc.ir.vectors.lane_limit import refuse_wide

Run = Callable[[Kernel, Target], Kernel]


@record
class When:
    """What a pass runs for. `says` goes behind "for"; "" is everything. `kernel` is None where the target
    alone decides."""

    says: str
    target: Callable[[Target], bool]
    kernel: Callable[[Kernel], bool] | None = None

    def holds(self, kernel: Kernel, target: Target) -> bool:
        return self.target(target) and (self.kernel is None or self.kernel(kernel))


@record
class Pass:
    """A pass by its name in `--dump-after` and `--time`. Of several with one name, which stand next to
    each other, at most one runs. `says` is what it does, and why here."""

    name: str
    run: Run
    when: When
    says: str


def has_tensor_instructions(target: Target) -> bool:
    return bool(target.instruction_sets or target.isa)


@record
class OnKernel:
    """A pass that is the same for any target, so that kernels for several run it once. `refuse` raises
    HbcError where a target cannot bear what it would make."""

    run: Callable[[Kernel], Kernel]
    refuse: Callable[[Kernel, Target], None] | None = None

    def __call__(self, kernel: Kernel, target: Target) -> Kernel:
        if self.refuse is not None:
            self.refuse(kernel, target)
        return self.run(kernel)


ALWAYS = When("", lambda _: True)
GPUS = When("GPUs", lambda t: t.machine == GPU)
CPUS = When("CPUs", lambda t: t.machine != GPU)
WIDE = When("vectors of 512 bits", lambda t: t.vector_bits == 512)
TENSORS = When("targets with tensor instructions", has_tensor_instructions)
SELECTED = When(
    "kernels with tensor instructions", has_tensor_instructions, lambda k: bool(k.instructions)
)


def on_kernel(run: Callable[[Kernel], Kernel]) -> Run:
    """For a pass that does not ask for the target."""
    return OnKernel(run)


def on_body(run: Callable[[ir.Stmt], ir.Stmt]) -> Run:
    """For a pass that only sees the statements."""
    return OnKernel(lambda kernel: kernel.map_body(run))


def on_gpu(name: str) -> Run:
    """The pass of that name in `gpu_passes`, which is imported when it runs."""

    def run(kernel: Kernel, _: Target) -> Kernel:
        from hbc.cli.gpu_passes import GPU_PASSES

        return GPU_PASSES[name](kernel)

    return run


def lowered(kernel: Kernel, _: Target) -> Kernel:
    """What `lower` has made before any of these runs."""
    return kernel


def refuse_vectors(kernel: Kernel, target: Target) -> None:
    """HbcError where loops would become too long a text, or vectors of too many lanes, for the target."""
    kernel.map_body(lambda s: refuse_wide(refuse_long(s, target), target))


def carried(kernel: Kernel, target: Target) -> Kernel:
    return carry(kernel, target.machine == GPU)


def select_instructions(kernel: Kernel, target: Target) -> Kernel:
    """The kernel with the tensor instructions of its target; warnings go to stderr."""
    from hbc.cli.instruction_set import instructions_of
    from hbc.cli.show.report import show_diagnostics
    from hbc.eqsat.choosing.report import Record, cut_short
    from hbc.eqsat.choosing.select import select

    records: list[Record] = []
    selected = select(kernel, instructions_of(target), records)
    show_diagnostics(cut_short(records))
    placed = target.machine == GPU and selected.instructions
    return on_gpu("selected")(selected, target) if placed else selected


PASSES: Final[tuple[Pass, ...]] = (
    Pass("lower", lowered, ALWAYS,
        "Loops of the schedule, each Func computed where it is needed."),
    Pass("simplify", on_kernel(simplify_kernel), ALWAYS,
        "The rules of `ir/algebra`, until none fits."),
    Pass("partition", on_body(partition), ALWAYS,
        "Loops run apart near their ends where a condition fails or an index meets a limit. Before masks."),
    Pass("whole-pieces", on_gpu("whole-pieces"), GPUS,
        "Fragments that no condition leaves elements out of are computed without it. Before vectors."),
    Pass("once", on_gpu("once"), GPUS,
        "A loop of one iteration at most becomes a condition."),
    Pass("vectorize", OnKernel(lambda k: k.map_body(vectorize), refuse_vectors), ALWAYS,
        "Vectors for loops. Before `unroll`, which then copies one vector statement."),
    Pass("unroll", on_body(unroll), ALWAYS,
        "A copy of the body for each iteration."),
    Pass("fold-tables", on_gpu("fold-tables"), GPUS,
        "Elements of constant tables become constants, now that unrolled indices are."),
    Pass("simplify-vectors", on_kernel(simplify_kernel), ALWAYS,
        "The same rules again, on vectors."),
    Pass("whole-fills", on_gpu("whole-fills"), GPUS,
        "Copies of vectors: places from data once, zeros beyond rows. Before fragments are loaded there."),
    Pass("private-tiles", on_gpu("private-tiles"), GPUS,
        "A block's fragments as each warp has them. While a vector statement still says all that it does."),
    Pass("select", select_instructions, TENSORS,
        "Tensor instructions by equality saturation, and what they read, packed."),
    Pass("forward", on_kernel(forward), SELECTED,
        "A copy whose elements are read once goes away: the reader reads the original."),
    Pass("jam", on_body(jam), SELECTED,
        "Neighbouring loops of products, or of packs, become one, now that every product has its loops."),
    Pass("roll", on_kernel(roll), SELECTED,
        "Long vector copies become loops over rows. Before they are cut into too many registers."),
    Pass("expand-math", expand_math, CPUS,
        "`exp`, `exp2` and `tanh` of vectors as arithmetic. (`log`, `sin` and `cos` are functions in C.)"),
    Pass("integers", integers, CPUS,
        "Divisions of vectors as products and shifts; averages, saturation as such; equal factors once."),
    Pass("legalize", gpu_legalize, GPUS,
        "Lanes become statements of their own, copies accesses of 16 bytes at most; fragments stay whole."),
    Pass("legalize", legalize, CPUS,
        "Vectors are cut into those that the machine has."),
    Pass("bit-fields", on_kernel(bit_fields), CPUS,
        "Lanes that are a few bits of bytes, by shifts of words. When vectors are those of the machine."),
    Pass("carry", carried, ALWAYS,
        "Scans keep in registers what the next iterations look back to."),
    Pass("gather-updates", on_gpu("gather-updates"), GPUS,
        "A thread or warp adds up its own atomic updates first."),
    Pass("promote", on_kernel(promote), ALWAYS,
        "Small arrays with constant indices become registers. When accesses have their final width."),
    Pass("reverse", reverse, CPUS,
        "Statements that mostly load backwards go forwards, and are reversed once. Before loads are shared."),
    Pass("share", on_kernel(share), ALWAYS,
        "What straight-line code computes or loads twice gets a name."),
    Pass("move", move, CPUS,
        "Vectors of elements apart become whole loads, stores, shuffles. After `share`, which joins loads."),
    Pass("wide-loads", on_kernel(widen_loads), WIDE,
        "Loads of elements close together become one, shuffled. After `share`, which joins equal loads."),
    Pass("bulk-copies", on_gpu("bulk-copies"), GPUS,
        "One instruction copies boxes of arrays where the host finds that strides allow. Before layouts."),
    Pass("begin-products", on_gpu("begin-products"), GPUS,
        "Products that run on while threads go on are begun, and waited for. Before copies run ahead."),
    Pass("rotate", on_gpu("rotate"), GPUS,
        "Copies to shared memory run ahead where `pipeline` asks for it."),
    Pass("rotate", on_body(rotate), CPUS,
        "Loads run ahead where `pipeline` asks for it. After `share`, when each stands once."),
    Pass("hoist", on_body(hoist), GPUS,
        "Memory from the heap is asked for once, before the loop. When all that can be is in registers."),
    Pass("hoist", on_kernel(hoist_and_share), CPUS,
        "The same, and what is not alive at once shares it."),
    Pass("reuse-shared", on_gpu("reuse-shared"), GPUS,
        "Arrays of a block that are not alive together share memory."),
    Pass("fragment-lanes", on_gpu("fragment-lanes"), GPUS,
        "What each lane does to its own elements of fragments. The last that knows whole fragments."),
    Pass("row-registers", on_gpu("row-registers"), GPUS,
        "Lanes keep the rows in registers that they have elements of. When all loops over lanes are there."),
    Pass("aligned-launches", on_gpu("aligned-launches"), GPUS,
        "The host tests strides that loops of blocks would. When all wide accesses are there."),
    Pass("barriers", on_gpu("barriers"), GPUS,
        "Threads wait where one needs what another stored. After everything that moves an access."),
)  # fmt: skip
"""In the order in which they run."""

NAMES: Final[tuple[str, ...]] = tuple(dict.fromkeys(p.name for p in PASSES))
