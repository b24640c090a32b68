"""The C file being written: its text so far, the names in scope, the helpers it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from hbc.codegen.plan.alike import Routine, Use
from hbc.codegen.plan.register_arrays import RegisterArray
from hbc.codegen.plan.repeats import Repeats
from hbc.codegen.plan.tile_plan import NO_TILES, TilePlan
from hbc.codegen.text.names import Binding, Scope
from hbc.codegen.text.prelude import Prelude
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.accesses import Accesses
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import DType, Memory

if TYPE_CHECKING:
    from hbc.codegen.fragments.fragment_kinds import Fragment, FragmentKind

# C's operator precedences, high binds tight.
PRIMARY, UNARY, MUL, ADD, SHIFT, RELATION, EQUALITY = 15, 14, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, LOGIC_AND, LOGIC_OR, CONDITIONAL = 8, 7, 6, 5, 4, 3


@record
class Text:
    """A C expression and how tightly its outermost operator binds."""

    text: str
    binds: int = PRIMARY

    def at(self, least: int) -> str:
        """The text, in parentheses when it binds less tightly than `least`."""
        return self.text if self.binds >= least else f"({self.text})"

    def __str__(self) -> str:
        return self.text


@record
class Buffer:
    """An argument, table or allocation. `pieces` (registers only): the C variable that holds the
    lanes from an element offset on; `lanes`: of each, where they are an array, else 0. `swizzle`:
    where in shared memory the elements lie; `extent`: adjacent elements that there are, 0 if unknown."""

    text: str
    element: DType
    memory: Memory = Memory.HEAP
    pieces: dict[tuple[int, int], str] = field(default_factory=dict)
    lanes: int = 0
    swizzle: ir.Swizzle | None = None
    extent: int = 0


@mutable
class Cleanup:
    """Where heap buffers are freed: the label there, empty while no goto leads to it, and how many do."""

    label: str = ""
    jumps: int = 0


@mutable
class Called:
    """A function for several statements: its name, how often it is called, and what is known whoever calls,
    of its parameters and of the elements of its arrays."""

    routine: Routine
    name: str
    uses: int = 0
    known: list[Binding] = field(default_factory=list)
    extents: list[int] = field(default_factory=list)


def _no_vectors(e: ir.Expr, unit: Unit) -> str:
    raise InternalError(f"codegen: a vector of {e.type} in scalar code")


def _no_sums(e: ir.VectorReduce, unit: Unit) -> Text:
    raise InternalError(f"codegen: a reduction of {e.value.type} in scalar code")


def _no_names(name: str, e: ir.Expr, unit: Unit) -> None:
    raise InternalError(f"codegen: `{name}` is declared in scalar code")


def _no_stores(s: ir.Store, unit: Unit) -> None:
    raise InternalError(f"codegen: a store of {s.value.type} in scalar code")


def _nothing_special(s: ir.Stmt, unit: Unit) -> bool:
    return False


def _no_register(t: DType, lanes: int, *_: str) -> str:
    raise InternalError(f"codegen: a register of {lanes} {t} in scalar code")


@record
class Registers:
    """How a machine's vector registers are spelled, by element type and lanes: the C type, zeros, the
    lanes of the whole register, and the moves of the whole register to and from an array (after
    which come its name and, to store, the value). `in_arrays`: whether C has arrays of the type, which
    those of unknown size do not allow."""

    type: Callable[[DType, int], str]
    zero: Callable[[DType, int], str]
    lanes: Callable[[DType, int], int]
    spill: Callable[[DType, int, str, str], str]
    fill: Callable[[DType, int, str], str]
    in_arrays: bool = True


_NO_REGISTERS = Registers(
    _no_register, _no_register, lambda t, lanes: lanes, _no_register, _no_register
)


@record
class Printers:
    """How expressions and vector stores are printed for a machine. Scalars hold vectors (sums of
    lanes) and vectors hold scalars (broadcasts), so the printers of both reach each other through
    the unit. `special` prints a statement that the machine has its own way with, or says no. `machine`:
    the tables of its vectors (`codegen/vector/machine.py`)."""

    vector: Callable[[ir.Expr, Unit], str] = _no_vectors
    load: Callable[[ir.Load, Unit], str] = _no_vectors
    reduce: Callable[[ir.VectorReduce, Unit], Text] = _no_sums
    declare: Callable[[str, ir.Expr, Unit], None] = _no_names
    store: Callable[[ir.Store, Unit], None] = _no_stores
    registers: Registers = _NO_REGISTERS
    special: Callable[[ir.Stmt, Unit], bool] = _nothing_special
    machine: object = None


@mutable
class Unit:
    """What printing a statement needs to know and leaves behind.

    `codes`: the error code for a message, `memory` being the failed allocation. `read_names`: names
    that the body reads; others are not printed. `live`: heap buffers of a parallel region's iteration, to
    free on the way out. `region`: the label at the end of the parallel loop's body, when inside one.
    `cleanups`: outside of it, where heap buffers are freed, the innermost last; `labels`: how many of them
    a goto leads to. `jumps`: how many gotos set `status`. `undeclared`:
    register variables whose declaration (their type) is printed with their first assignment.
    `mask_widths`: bits of the lanes of each named mask, where masks are
    lanes. `instructions`: those of the kernel. `tile_names`: what tiles are called where
    their registers are configured; empty elsewhere. `tiles_of_thread`: they are for all iterations that
    a thread has of a parallel loop. `functions`: printed for this one to call.
    On a GPU, `threads`: those of the block; `offset`: bytes of dynamic shared memory given out so far,
    None when shared arrays are static; `dynamic_shared`: that of each kernel, in bytes; `index`: the C
    type of indices; `fragments`: those of its tensor cores; `repeats`: arrays of buffers.
    `turning`: numbers that change with each iteration of the loop around, and little else does.
    `unrolled`: those of loops that the compiler writes out, so that they are constants.
    `accesses`: which buffers the statements touch. `arrays`: those in registers that loops may index.
    `maps`: by box and array, what describes it to a GPU's copies in bulk; `signal`: what these land at."""

    target: Target
    codes: dict[str, str] = field(default_factory=dict)
    read_names: frozenset[str] = frozenset()
    out: Writer = field(default_factory=Writer)
    scope: Scope = field(default_factory=Scope)
    prelude: Prelude = field(default_factory=Prelude)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    region: str | None = None
    cleanups: list[Cleanup] = field(default_factory=list)
    labels: int = 0
    innermost: str = ""  # the variable of the loop that lines are in, where `break` ends that
    regions: int = 0  # how many there were, so that no two labels are the same
    jumps: int = 0
    parallel: bool = False
    undeclared: dict[str, str] = field(default_factory=dict)
    mask_widths: dict[str, int] = field(default_factory=dict)
    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    tiles: TilePlan = NO_TILES
    tile_names: Mapping[str, str] = field(default_factory=dict)
    tiles_of_thread: bool = False
    printers: Printers = field(default_factory=Printers)
    functions: list[Writer] = field(default_factory=list)
    threads: int = 1
    offset: int | None = None
    dynamic_shared: dict[str, int] = field(default_factory=dict)
    index: str = "int64_t"
    fragments: Mapping[str, Fragment | FragmentKind] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=Repeats)
    turning: set[str] = field(default_factory=set)
    unrolled: set[str] = field(default_factory=set)
    accesses: Accesses = field(default_factory=Accesses)
    arrays: dict[str, RegisterArray] = field(default_factory=dict)
    maps: dict[ir.BulkCopy, str] = field(default_factory=dict)
    signal: str = ""
    calls: Mapping[int, Use] = field(default_factory=dict)  # by the id of the statement
    called: dict[int, Called] = field(default_factory=dict)  # by the id of the routine

    @property
    def registers(self) -> Registers:
        return self.printers.registers

    @property
    def fused(self) -> bool:
        """Whether a*b+c is contracted to one rounding, as the targets with FMA do."""
        return self.target.vector_bits > 0
