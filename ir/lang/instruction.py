"""Instruction records: operands, meaning as a contraction table, rounding, text, cost and features.

They are made from text by `frontend/isa/*.py`; selection, code generation and the interpreter read
nothing else. One meaning covers them all: the accumulator gains, at each point of the table's loops,
the product of the factors there, in the order and with the rounding that `Rounding` states.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import Feature
from hbc.ir.lang.types import DType, Memory


class Kind(StrEnum):
    """Which operands a loop moves (C the accumulator, A and B the factors)."""

    I = "i"  # noqa: E741  C and A: rows
    J = "j"  # C and B: columns
    K = "k"  # A and B, summed
    BATCH = "batch"  # C, A and B: one after the other, or one lane each
    SUM = "sum"  # one of A and B, summed
    REPEAT = "repeat"  # C alone


class Overflow(StrEnum):
    WRAPS = "wraps"
    SATURATES = "saturates"  # the sum is exact and saturates once, at the end


class Product(StrEnum):
    FUSED = "fused"  # multiply-add with one rounding
    ROUNDED = "rounded"  # the product rounds, then the sum does


class Mode(StrEnum):
    NEAREST = "nearest"  # ties to even
    ODD = "odd"  # truncate, and set the last bit if that lost something


class Subnormals(StrEnum):
    KEPT = "kept"
    FLUSHED = "flushed"  # operands and results become zeros of their sign


class Order(StrEnum):
    ASCENDING = "ascending"
    DESCENDING = "descending"


@record
class Rounding:
    """How the machine takes the sum of an element's terms, which are numbered as the reduction
    variables run, the last one fastest.

    Integers: exact, then `overflow`. Floats: blocks of `group` terms (0: all of them) are added to the
    accumulator one after the other. In a block, term q belongs to chain q modulo `chains`; the
    chains start at zero (with rounded products: at their first product), are added from left to right,
    and the sum is added to the accumulator. With no chains, each term is added to the accumulator.
    Every operation rounds to the accumulator's type.
    """

    overflow: Overflow = Overflow.WRAPS
    product: Product = Product.FUSED
    mode: Mode = Mode.NEAREST
    subnormals: Subnormals = Subnormals.KEPT
    order: Order = Order.ASCENDING
    chains: int = 0
    group: int = 0


@record
class Size:
    """An extent that may be any multiple of `step` up to `most`."""

    name: str
    most: int
    step: int = 1


@record
class Operand:
    """Extents are expressions over the sizes. `function`: what is done to each element before it is
    multiplied."""

    name: str
    element: DType
    extents: tuple[ir.Expr, ...]
    function: ir.MathOp | None = None


@record
class Row:
    """A loop of the meaning: its extent and the stride, in elements, with which it moves each operand,
    in the order of the operands. Strides are over the sizes and, in a place of several rows, over
    `row_stride(operand)`, which the code that loads the operand is free to choose."""

    name: str
    kind: Kind
    extent: ir.Expr
    strides: tuple[ir.Expr, ...]


@record
class BulkCopies:
    """How boxes of arrays are copied to such rows by one instruction: arrays of at most `dims` dimensions
    whose rows begin at multiples of `align` bytes, boxes of at most `box` elements along each. C
    statements: `begin` makes a {signal} that {arrivals} threads come to in each turn; `expect` comes to
    it, and says how many {bytes} land in this turn; `copy` takes the box that begins {at} so many
    elements, innermost dimension first, of the array that the tensor {map} describes, to {pointer};
    `wait` is until the {turn} of this number, from 0, is over; `end` ends the signal, whose memory may
    then hold something else."""

    dims: int
    box: int
    align: int
    begin: str
    expect: str
    copy: str
    wait: str
    end: str


@record
class SharedRows:
    """How operands lie in shared memory for instructions that read them there: pieces of `rows` rows of
    `row_bytes` bytes one after the other, along the rows of the array first; in row r of a piece, unit u
    of `unit` bytes lies where unit u ^ r would. `operand` is a C expression over {pointer}, {more}, the bytes
    from there to the first element, {across} and {down}, those from a piece to the next in its rows, and to
    the one below.
    `fence` is a C statement: what its thread stored is seen by such reads behind the next barrier.
    `bulk`: how whole boxes come there."""

    rows: int
    row_bytes: int
    unit: int
    operand: str
    fence: str
    bulk: BulkCopies | None = None


@record
class Asynchrony:
    """C statements for instructions whose results are not there at once: the `fence` before the first,
    behind which registers are theirs; the end of a group; the `wait` for all groups but the latest {most};
    and `hold`, by which a compiler leaves a {register} of sums where it is, before a fence, behind a wait."""

    fence: str
    commit: str
    wait: str
    hold: str


@record
class Place:
    """A register file: `count` registers of `rows` rows of `row_bytes` bytes. `types` are the C types
    of a register by element type or kind; `load`, `stream` (past the first cache) and `store` are C
    statements over {register}, {pointer} and {stride} (bytes) for registers that are numbers;
    `constraint` is that of gcc's asm.
    `lanes` of a warp, or of a group of warps, share a register where that is more than 1. `shared`: how
    operands lie that instructions read from shared memory; `asynchronous`: results are waited for."""

    name: str
    machine: str
    memory: Memory
    count: int
    rows: int
    row_bytes: int
    header: str
    types: tuple[tuple[str, str], ...] = ()
    constraint: str = ""
    load: str = ""
    store: str = ""
    stream: str = ""
    lanes: int = 1
    shared: SharedRows | None = None
    asynchronous: Asynchrony | None = None

    def c_type(self, element: DType) -> str | None:
        """The C type of a register of such elements; None where registers are numbers."""
        types = dict(self.types)
        kind = "int" if element.is_int else "float"
        return types.get(element.name) or types.get(kind)


@record
class Template:
    """A C statement, or assembler text, over {operand}; `compiler` None serves all."""

    compiler: str | None
    is_asm: bool
    text: str
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Cost:
    """Cycles until the result can be read, and how many begin in a cycle."""

    latency: float
    per_cycle: float


@record
class Columns:
    """Which column of the sums each column of the instruction `of` is."""

    of: str
    order: tuple[int, ...]


@record
class Instruction:
    """`accumulator` and `factors` are positions among the operands; rows stand as the variables of the
    accumulator, then those of the reduction, outermost first. `fragments`, in a place of lanes: for each
    operand the indices of its elements over the lane and the number of the element in it (see
    `fragment_layout`). `shared`: the positions of the operands that it reads from shared memory, as its
    place says they lie; of those it has no indices. `columns`: what it is, where it is a described one with
    its columns in another order."""

    name: str
    place: Place
    operands: tuple[Operand, ...]
    accumulator: int
    factors: tuple[int, ...]
    sizes: tuple[Size, ...]
    rows: tuple[Row, ...]
    rounding: Rounding
    templates: tuple[Template, ...]
    cost: Cost
    needs: tuple[Feature, ...]
    fragments: tuple[tuple[ir.Expr, ...], ...] = ()
    shared: tuple[int, ...] = ()
    columns: Columns | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(self.name)  # no two have one; of all that it holds it takes long

    def template(self, compiler: str) -> Template:
        """What to print for this compiler; the checker has seen to it that there is one."""
        own = [t for t in self.templates if t.compiler == compiler]
        return (own or [t for t in self.templates if t.compiler is None])[0]


@record
class InstructionTarget:
    """A target and the features that its code may use. Code probes those of the instructions in it."""

    name: str
    about: str
    uses: tuple[Feature, ...]


@record
class InstructionSet:
    """Everything that the description files say, each in the order of the files."""

    instructions: tuple[Instruction, ...]
    targets: tuple[InstructionTarget, ...]
    places: tuple[Place, ...] = ()
    features: tuple[Feature, ...] = ()

    def of_target(self, name: str) -> tuple[Instruction, ...]:
        """The instructions all of whose features the target uses."""
        uses = {f.name for t in self.targets if t.name == name for f in t.uses}
        return tuple(i for i in self.instructions if {f.name for f in i.needs} <= uses)
