"""A whole lowered program: what `lower` makes, every later pass rewrites and the backends print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

if TYPE_CHECKING:
    from hbc.ir.lang.instruction import Instruction


@record
class Size:
    """A size argument (int64, >= 0). `fixed` is its compile-time value, checked on entry; `usual` what most
    calls have: it decides what is fast, never what is right."""

    name: str
    fixed: int | None = None
    usual: int | None = field(default=None, compare=False, repr=False)


@record
class Packed:
    """What the bytes of an array hold, two each: integers of 4 bits, and how many there are in a row."""

    element: DType
    extent: ir.Expr


@record
class Argument:
    """An input or output array, row-major. `extents` are index expressions over the sizes. In the
    body its element (i0, .., in) lies at sum(i_d * Var(stride_name(d))), the last stride being 1.
    An input without extents is a scalar, passed by value: the body reads it as a Var of its type.
    `constant`: an input that is the same in many calls. `aliases`: an output that begins with the values
    of this input, which is no argument of its own. `packed`: what its bytes hold, for those who read it."""

    name: str
    element: DType
    extents: tuple[ir.Expr, ...]
    output: bool
    span: Span | None = field(default=None, compare=False, repr=False)
    constant: bool = False
    aliases: str = ""
    packed: Packed | None = field(default=None, compare=False, repr=False)

    @property
    def is_scalar(self) -> bool:
        return not self.extents

    @property
    def known_extent(self) -> int:
        """Of one dimension: its elements, which are adjacent; 0 where that is not known."""
        match self.extents:
            case (ir.Const(value=n),):
                return int(n)
        return 0

    def stride_name(self, dim: int) -> str:
        return f"{self.name}_stride{dim}"


@record
class Table:
    """A constant array known at compile time, row-major, referred to by Load like a buffer."""

    name: str
    element: DType
    shape: tuple[int, ...]
    values: tuple[int | float | bool, ...]


@record
class Check:
    """A condition over the sizes that the entry point tests before it writes anything."""

    condition: ir.Expr
    message: str


@record
class Gapless:
    """An argument whose rows `body` takes to follow each other along a dimension, where the condition over
    the sizes holds: its stride is that of the next dimension times as many values as that has."""

    name: str
    dim: int
    where: ir.Expr = ir.const_bool(True)


@record
class Kernel:
    """`body` reads the sizes, the arguments, their strides and the tables, and nothing else. It is
    not run when all outputs are empty. `instructions` are those that the body names.
    `assumes_finite`: an infinity or NaN in an input may reach more results than in the algorithm.
    `gapless`: arguments with gaps between these rows are copied before and after `body` is run."""

    name: str
    sizes: tuple[Size, ...]
    arguments: tuple[Argument, ...]
    tables: tuple[Table, ...]
    checks: tuple[Check, ...]
    body: ir.Stmt
    instructions: tuple[Instruction, ...] = ()
    assumes_finite: bool = False
    gapless: tuple[Gapless, ...] = ()

    @property
    def usual_sizes(self) -> dict[str, int]:
        """Those of most calls, as far as they are known."""
        return {s.name: s.usual for s in self.sizes if s.usual is not None}

    def map_body(self, rewrite: Callable[[ir.Stmt], ir.Stmt]) -> Kernel:
        """The kernel with a rewritten body; the same object when nothing changed."""
        body = rewrite(self.body)
        return self if body is self.body else replace(self, body=body)

    def instruction(self, name: str) -> Instruction:
        """The instruction of that name."""
        return next(i for i in self.instructions if i.name == name)
