"""Where on a GPU the values of a Func live: in a block's shared memory, with a thread, or on the heap."""

from __future__ import annotations

from hbc.frontend.plans.place_on_gpu import Place
from hbc.frontend.plans.plan import FuncPlan
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES, Memory

MOST_SHARED = 227 * 1024  # bytes: sm_90 has that much for one block, others have less
MOST_REGISTERS = 256 * 1024  # bytes of all the registers of a block's threads
MOST_PRIVATE = 64 * 1024  # bytes of a thread; beyond its registers they lie in the device's memory


def memory_in(f: FuncPlan, size: ir.Expr, place: Place) -> Memory:
    """Where the schedule says, else where its place suggests. HbcError where the number of elements
    is no constant, and for what does not fit."""
    if place is Place.HOST:
        return Memory.HEAP
    shared = place is Place.BLOCK and f.memory in (Memory.AUTO, Memory.SHARED)
    name = f.func.name
    if not isinstance(size, ir.Const):
        where = "in shared memory" if shared else "with a thread"
        raise error(
            f"`{name}` cannot be {where}: how many elements it needs is not a constant", f.span,
            f"compute `{name}` at a loop inside a split with a constant factor, or at the root",
        )  # fmt: skip
    needed = int(size.value) * f.func.element.bytes
    what, most = "a thread", MOST_PRIVATE
    if place is Place.BLOCK:
        what = "shared memory" if shared else "the registers of a block"
        most = MOST_SHARED if shared else MOST_REGISTERS
    if needed > most:
        raise error(
            f"`{name}` needs {needed:,} bytes, and {what} has room for {most:,}", f.span,
            "compute a smaller piece of it at a time, or all of it at the root",
        )  # fmt: skip
    if shared:
        return Memory.SHARED
    if f.memory in TILES:
        return f.memory
    return Memory.REGISTER if place is Place.BLOCK else Memory.STACK
