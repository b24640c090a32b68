"""The IR: expressions and statements. Nodes are frozen, never subclassed, never mutated. Their operators
and kinds stand in `operators`, and are found here too.

Meanings are those of `interp`. Integers wrap in their type (index arithmetic, of loop variables and
sizes, is taken never to: see `wide_data`); `/` and `%` floor, and give 0 for a zero
divisor; shifts take their amount modulo the width; float-to-integer casts truncate and saturate
(NaN gives 0); `min` and `max` propagate NaN as NumPy does. bf16 and f16 arithmetic rounds after
every operation. `Ramp`, `Broadcast` and `VectorReduce` are those of HARDBOILED, appendix A.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.ground.tree import Compound
from hbc.ir.lang.operators import ASSOCIATIVE as ASSOCIATIVE
from hbc.ir.lang.operators import COMPARISONS as COMPARISONS
from hbc.ir.lang.operators import BarrierScope as BarrierScope
from hbc.ir.lang.operators import FenceKind as FenceKind
from hbc.ir.lang.operators import LoopKind as LoopKind
from hbc.ir.lang.operators import MathOp as MathOp
from hbc.ir.lang.operators import Op as Op
from hbc.ir.lang.operators import UnaryOp as UnaryOp
from hbc.ir.lang.types import BOOL, CONDITION, INDEX, DType, Memory, Type

Lanewise = Type
"""The type of a node of as many lanes as its first operand: with another operand it changes with it."""


@record
class Const:
    """A scalar literal. `value` is an int, float or bool that the type can hold exactly."""

    value: int | float | bool
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Var:
    """A loop variable, size, stride or `Let` name."""

    name: str
    type: Type = INDEX
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Cast(Compound):
    """Conversion of every lane; `type.lanes == value.type.lanes`."""

    type: Lanewise
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Binary(Compound):
    """`a op b`, lane by lane; both operands have the same type."""

    op: Op
    a: Expr
    b: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        t = self.a.type
        return Type(BOOL, t.lanes) if self.op in COMPARISONS else t


@record
class Unary(Compound):
    op: UnaryOp
    a: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return self.a.type


@record
class Select(Compound):
    """Lane by lane `a` where `condition` holds, else `b`; both are evaluated."""

    condition: Expr
    a: Expr
    b: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return self.a.type


@record
class Access(Compound):
    """A Func or input at given coordinates, one index per dimension. Only before `lower`. `part`: which
    array of a Func of several values, by its name, when it is not the first."""

    name: str
    indices: tuple[Expr, ...]
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)
    part: str = ""

    @property
    def array(self) -> str:
        """The name of what holds the value."""
        return self.part or self.name


@record
class Load(Compound):
    """`buffer[index]` lane by lane, in elements; lanes whose `mask` is false give 0 and touch nothing."""

    buffer: str
    index: Expr
    type: Lanewise
    mask: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Call(Compound):
    """A math function of the language (see `MathOp`)."""

    name: MathOp
    args: tuple[Expr, ...]
    type: Lanewise
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Ramp(Compound):
    """base, base + stride, ...: `lanes` copies of (the lanes of) base, each a stride further."""

    base: Expr
    stride: Expr
    lanes: int
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        inner = self.base.type
        return Type(inner.element, inner.lanes * self.lanes)


@record
class Broadcast(Compound):
    """`lanes` copies of (all lanes of) value, one after the other."""

    value: Expr
    lanes: int
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        inner = self.value.type
        return Type(inner.element, inner.lanes * self.lanes)


@record
class VectorReduce(Compound):
    """Reduces each run of `value.lanes / lanes` adjacent lanes to one with `op`, in any order."""

    op: Op
    value: Expr
    lanes: int
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return Type(self.value.type.element, self.lanes)


@record
class Gather(Compound):
    """Lane i is lane `lanes[i]` of value; -1 gives 0. A constant swizzle."""

    value: Expr
    lanes: tuple[int, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return Type(self.value.type.element, len(self.lanes))


@record
class Let(Compound):
    """`body` with `name` standing for `value`."""

    name: str
    value: Expr
    body: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return self.body.type


@record
class Tuple(Compound):
    """The values of a Func of several, in the order of its arrays. Only before `lower`, and only as the
    whole value of a step."""

    items: tuple[Expr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return self.items[0].type


@record
class Move(Compound):
    """Data-movement marker: the value, now living in `target` instead of `source`."""

    source: Memory
    target: Memory
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    type: Type = field(init=False, compare=False, repr=False)

    def type_of(self) -> Type:
        return self.value.type


@record
class Instruct(Compound):
    """What the accumulator of a tensor instruction holds after one execution. `name` is that of one of
    the kernel's instructions, with these sizes; `args` are its operands, in its order, each all of
    an operand's elements in row-major order; `type` is the accumulator's."""

    name: str
    sizes: tuple[tuple[str, int], ...]
    args: tuple[Expr, ...]
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


LaneByLane = Cast | Binary | Unary | Select | Load | Call
"""Each lane is of the same lane of the operands."""
Lanes = Ramp | Broadcast | VectorReduce | Gather
"""Lanes are of others of the operands; which, is a row of `ir/meaning/interp_lanes.py`."""
Expr = Const | Var | Access | LaneByLane | Lanes | Let | Tuple | Move | Instruct


GPU_LOOPS = frozenset({LoopKind.BLOCK, LoopKind.THREAD, LoopKind.LANE})


@record
class Store(Compound):
    """`buffer[index] = value` lane by lane; lanes whose `mask` is false touch nothing. A copy that is
    `asynchronous` lands at a `CopyWait`; until then nobody may touch where it goes to. So does an
    `Instruct`; until then nobody may store to what it reads, and only others like it may touch the result.
    With `atomic` it is an update, `buffer[index] = buffer[index] atomic value`, one lane after the other and
    whatever other threads update meanwhile; with `warp`, all lanes of a warp come to it, each group of so
    many neighbours updates one element, and their values may be combined first; where a group is not the
    whole warp, nobody else touches its element meanwhile."""

    buffer: str
    index: Expr
    value: Expr
    mask: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    asynchronous: bool = False
    atomic: Op | None = None
    warp: int = 0


@record
class Prefetch(Compound):
    """A hint: fetch the line at `buffer[index]` into the cache of this `level`. It may be out of range."""

    buffer: str
    index: Expr
    element: DType
    level: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Marks:
    """What else a schedule asks of a loop. `stages` above 1: software pipelining, loads that many iterations
    less one ahead of their use. The outermost of a nest over BLOCKs that is `resident` runs on no more
    blocks than a GPU runs at once, so many on each multiprocessor (0: as there is room for), which take
    the iterations of the nest in turns; with `at_once`, its threads may have the registers that so many
    blocks on a multiprocessor leave them. `version` numbers nests over BLOCKs of which the host runs one.
    `parted`: 1 divides the loop where that decides conditions, 0 never. In text a mark has its number."""

    stages: int = 1
    resident: int | None = None
    at_once: int | None = None
    version: int = 0
    parted: int | None = None


NO_MARKS = Marks()


@record
class For(Compound):
    """`var` from `start` over `extent` iterations (none when extent <= 0). `note` names the
    schedule line that made the loop, for comments in the generated code. VECTOR and UNROLL loops
    have constant extents; once `vectorize` and `unroll` have run they are gone. A pass that makes a
    loop of another `replace`s what is otherwise, so that the marks stay."""

    var: str
    start: Expr
    extent: Expr
    kind: LoopKind
    body: Stmt
    note: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    marks: Marks = NO_MARKS


@record
class Block(Compound):
    """Statements in order. Never directly inside another Block."""

    body: tuple[Stmt, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class LetStmt(Compound):
    """`body` with `name` standing for `value`."""

    name: str
    value: Expr
    body: Stmt
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Swizzle:
    """Where in shared memory the elements of an array lie: within rows of `row` elements, units of `unit`
    elements change places, each row in its own way, so that a column lies in many banks. With `lines`,
    rows are cut into pieces of `line` elements, in which units change places, and those of so many rows
    lie together. All are powers of two. Indices do not show it: see `codegen/gpu/swizzle.py`."""

    unit: int
    row: int
    lines: int = 1
    line: int = 0


@record
class Allocate(Compound):
    """A fresh, uninitialised buffer of `extent` elements (an index expression), alive in `body`.
    Aligned to 64 bytes. `note` says which Func it holds and where that was scheduled; `holds` has the
    buffers that share it in turn, where several do."""

    buffer: str
    element: DType
    extent: Expr
    memory: Memory
    body: Stmt
    note: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    swizzle: Swizzle | None = None
    holds: tuple[str, ...] = field(default=(), compare=False)


@record
class If(Compound):
    condition: Expr
    then: Stmt
    otherwise: Stmt | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Assert(Compound):
    """Ends the kernel with the error `message` unless the condition holds. Only before any loop."""

    condition: Expr
    message: str
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Leave(Compound):
    """The innermost loop around, over `loop`, may end where the condition holds: what is left of it would
    change nothing. Who runs it may go on; so does a loop of another name, around copies of the body."""

    loop: str
    condition: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Barrier(Compound):
    """The threads of a GPU's block, or of each warp, wait here for one another, and see what the others
    stored before. It stands between loops over threads, never inside one. `note` says why."""

    scope: BarrierScope = BarrierScope.BLOCK
    note: str = field(default="", compare=False)


@record
class Fence(Compound):
    """A thread's own accesses before it are in order with what asynchronous products do behind it. As a
    barrier, it stands between loops over threads. `sums`: the fragments whose registers it is about."""

    kind: FenceKind
    sums: tuple[str, ...] = ()


@record
class CopyCommit(Compound):
    """Asynchronous copies so far, since the last one of these, are a group; or asynchronous `products`.
    As a barrier, it and `CopyWait` stand between a block's loops over threads."""

    products: bool = False


@record
class CopyWait(Compound):
    """Each thread waits until its groups have landed but for the latest `most`. `sums`: the fragments that
    products add to."""

    most: int
    products: bool = False
    sums: tuple[str, ...] = ()


@record
class BulkCopy(Compound):
    """Copies a box of the array `source` to `buffer`, whose rows lie one after the other from element `start`
    on. Per dimension, outermost first: where the box begins, how much of it is `needed`, the `extents` and
    `strides` of the array, the elements of the `box`. What is beyond the array is 0. `otherwise` does the
    same by threads; without it, this is one instruction, which lands at once, or with the others of its
    `BulkGroup`."""

    buffer: str
    start: Expr
    source: str
    element: DType
    at: tuple[Expr, ...]
    needed: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    box: tuple[int, ...]
    otherwise: Stmt | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class BulkGroup(Compound):
    """One thread begins the `BulkCopy`s in the body, which land together: then the slot of `signal`, an array
    in `Memory.SIGNAL`, has its next turn. As a barrier, it stands between a block's loops over threads."""

    signal: str
    slot: Expr
    body: Stmt


@record
class BulkWait(Compound):
    """All threads wait until the slot of `signal` has had its turn of this number, from 0."""

    signal: str
    slot: Expr
    turn: Expr


@record
class Comment(Compound):
    """A line for the reader of the generated code; no meaning."""

    text: str


Stmt = (
    Store | Prefetch | For | Block | LetStmt | Allocate | If | Assert | Leave | Barrier | CopyCommit
    | CopyWait | Fence | BulkCopy | BulkGroup | BulkWait | Comment
)  # fmt: skip
Node = Expr | Stmt


@lru_cache(typed=True)
def const_index(value: int) -> Const:
    return Const(value, INDEX)


def const_bool(value: bool) -> Const:
    return Const(value, CONDITION)
