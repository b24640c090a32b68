"""The syntax tree of `.hb`: one dataclass for each rule of `hb.lark`, with the same name.

Chains of operators are folded by `PRECEDENCE`; parentheses leave no node. Trees compare without
their spans.
"""

from __future__ import annotations

from dataclasses import field

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span

# How tightly each binary operator binds. Comparisons do not chain; powers associate to the right and bind
# tighter than a sign before them, all others associate to the left.
PRECEDENCE: dict[str, int] = {
    "or": 1,
    "and": 2,
    "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8, ">>": 8,
    "+": 9, "-": 9,
    "*": 10, "/": 10, "%": 10,
    "**": 12,
}  # fmt: skip
COMPARISON = 4
POWER = 12
PREFIX: dict[str, int] = {"not": 3, "-": 11, "~": 11}

# Other spellings of the same operator.
SPELLINGS: dict[str, str] = {"&&": "and", "||": "or", "!": "not"}


@record
class Ident:
    """A name where it is declared or where only a name can stand."""

    text: str
    span: Span = field(compare=False, repr=False)


@record
class Name:
    """A name as an expression."""

    text: str
    span: Span = field(compare=False, repr=False)


@record
class Number:
    """A literal without sign: an int, or a float when it is written with a point or exponent. `1` and `1.0`
    are not the same."""

    value: int | float
    span: Span = field(compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number):
            return NotImplemented
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


@record
class Boolean:
    value: bool
    span: Span = field(compare=False, repr=False)


@record
class Text:
    """A string, without its quotes. Only examples take one."""

    value: str
    span: Span = field(compare=False, repr=False)


@record
class Access:
    """`name[indices]`."""

    name: Ident
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class MemberAccess:
    """`name[members][indices]`: a read of one Func of a family."""

    name: Ident
    members: tuple[Expr, ...]
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Call:
    """`name(args)`: a function, a cast, a boundary helper or the fill of an example."""

    name: Ident
    args: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class EdgeAccess:
    """`name(args)[indices]`, such as `clamp_edge(A)[y, x]`."""

    name: Ident
    args: tuple[Expr, ...]
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Unary:
    """A prefix operator, as spelled in `PREFIX`."""

    op: str
    a: Expr
    span: Span = field(compare=False, repr=False)


@record
class Binary:
    """A binary operator, as spelled in `PRECEDENCE`."""

    op: str
    a: Expr
    b: Expr
    span: Span = field(compare=False, repr=False)


@record
class Let:
    """`let name = value in body`."""

    name: Ident
    value: Expr
    body: Expr
    span: Span = field(compare=False, repr=False)


@record
class Reduction:
    """`name(over: term where condition)`, such as `sum(k: A[i, k] * x[k])`. Each of `over` names a
    variable that `reduce` declares, or is a `k in 0 .. K` of its own."""

    name: Ident
    over: tuple[Expr | Domain, ...]
    term: Expr
    condition: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class Tuple:
    """`(a, b)`: the values of several Funcs that are defined together."""

    items: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Inlined:
    """The body of the function `name` in the place of a call of it, which `call` covers. `expand` makes
    these; the parser does not."""

    name: str
    body: Expr
    call: Span = field(compare=False, repr=False)

    @property
    def span(self) -> Span:
        return self.call


Expr = (
    Name | Number | Boolean | Text | Access | MemberAccess | Call | EdgeAccess | Unary | Binary | Let
    | Reduction | Tuple | Inlined
)  # fmt: skip


@record
class Kernel:
    """`kernel name`, or, with a `body`, `kernel name { body }`: one of several of a file."""

    name: Ident
    span: Span = field(compare=False, repr=False)
    body: tuple[Statement, ...] | None = None


@record
class Sizes:
    names: tuple[Ident, ...]
    span: Span = field(compare=False, repr=False)


@record
class Param:
    name: Ident
    type: Ident
    default: Expr
    span: Span = field(compare=False, repr=False)


@record
class TypeParam:
    name: Ident
    default: Ident
    span: Span = field(compare=False, repr=False)


@record
class Input:
    """An array, or one number where there are no extents. `constant`: the same in many calls, so that what is
    made of it can be kept."""

    name: Ident
    type: Ident
    extents: tuple[Expr, ...]
    constant: bool
    span: Span = field(compare=False, repr=False)


@record
class Output:
    """`aliases`: the input whose memory it takes."""

    name: Ident
    type: Ident
    extents: tuple[Expr, ...]
    aliases: Ident | None
    span: Span = field(compare=False, repr=False)


@record
class Cells:
    """`[cell, cell, ...]`, nested once for each dimension of a table."""

    cells: tuple[Expr | Cells, ...]
    span: Span = field(compare=False, repr=False)


@record
class Table:
    """Either nested cells (`variables` is None) or one expression over `variables`."""

    name: Ident
    type: Ident
    extents: tuple[Expr, ...]
    variables: tuple[Expr, ...] | None
    value: Expr | Cells
    span: Span = field(compare=False, repr=False)


@record
class Require:
    condition: Expr
    message: str | None
    span: Span = field(compare=False, repr=False)


@record
class Interval:
    """`stop` or `start .. stop`, half open."""

    start: Expr | None
    stop: Expr
    span: Span = field(compare=False, repr=False)


@record
class Bound:
    name: Ident
    interval: Interval
    span: Span = field(compare=False, repr=False)


@record
class Domain:
    """One variable of a `reduce` line."""

    name: Ident
    interval: Interval
    span: Span = field(compare=False, repr=False)


@record
class Reduce:
    domains: tuple[Domain, ...]
    span: Span = field(compare=False, repr=False)


@record
class Target:
    """One of several Funcs on the left: `name[members][: type][indices]`."""

    name: Ident
    type: Ident | None
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)
    members: tuple[Expr, ...] = ()


@record
class Definition:
    """`name[members][: type][indices] op value [where condition]`; `op` is `=`, `+=`, `-=`, `min=`, ...
    `members` say which Func of a family it is. `others`: what stands behind the first on the left of
    `(a[x], b[x]) = ...`. `group`: the names of all, in one of the definitions that `expand` makes of it.
    `ends`: the reduction that the condition ends where it does not hold, as `while k: condition` says.
    `along`: reductions that an update runs over though what is left of it need not name them: that of
    `sum(k in 0 .. 4: 1)`, and what stands in the text of an update."""

    name: Ident
    type: Ident | None
    indices: tuple[Expr, ...]
    op: str
    value: Expr
    condition: Expr | None
    span: Span = field(compare=False, repr=False)
    members: tuple[Expr, ...] = ()
    others: tuple[Target, ...] = ()
    group: tuple[Ident, ...] = ()
    ends: Ident | None = None
    along: tuple[Ident, ...] = ()

    @property
    def defined(self) -> tuple[Ident, ...]:
        """The names on the left."""
        return (self.name, *(t.name for t in self.others))


@record
class Alias:
    """`name = value`, such as `P = clamp_edge(A)`."""

    name: Ident
    value: Expr
    span: Span = field(compare=False, repr=False)


@record
class Function:
    """`def name(parameters) = value`, or, with `variables`, `def name(parameters)[variables] = value`,
    which stands for a Func. `shape`: for each argument how many of the names in `(a, b)` it is, or 0 where it
    is one name."""

    name: Ident
    parameters: tuple[Ident, ...]
    variables: tuple[Expr, ...] | None
    value: Expr
    span: Span = field(compare=False, repr=False)
    shape: tuple[int, ...] = ()


@record
class Import:
    """`import "path"`."""

    path: Text
    span: Span = field(compare=False, repr=False)


@record
class Each:
    """`for domain, ... { body }`: the body for each value of the indices, the first outermost."""

    domains: tuple[Domain, ...]
    body: tuple[Definition | Alias | Each, ...]
    span: Span = field(compare=False, repr=False)


@record
class Range:
    """`[start ..]` or `[start .. stop]` behind the name of a family."""

    start: Expr
    stop: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class Option:
    """`name = value` among the arguments of a directive."""

    name: Ident
    value: Expr
    span: Span = field(compare=False, repr=False)


@record
class Step:
    """`.name` or `.name(args)` of a chain; `args` is None without parentheses."""

    name: Ident
    args: tuple[Expr | Line | Option, ...] | None
    span: Span = field(compare=False, repr=False)


@record
class Line:
    """`name.step.step(...)` in a schedule, or a stage as an argument of a directive. `members` say which
    Funcs of a family: one by its indices, several by a range, all where there are none."""

    name: Ident
    steps: tuple[Step, ...]
    span: Span = field(compare=False, repr=False)
    members: tuple[Expr, ...] | Range = ()


@record
class Schedule:
    """`lines` is None for `schedule auto`, which has no block. `condition`: the sizes that it is for."""

    name: Ident
    targets: tuple[Ident, ...]
    lines: tuple[Line, ...] | None
    span: Span = field(compare=False, repr=False)
    condition: Expr | None = None


@record
class Setting:
    name: Ident
    value: Expr
    span: Span = field(compare=False, repr=False)


@record
class Example:
    name: Ident | None
    settings: tuple[Setting, ...]
    span: Span = field(compare=False, repr=False)


Statement = (
    Kernel | Sizes | Param | TypeParam | Input | Output | Table | Require | Bound | Reduce
    | Definition | Alias | Function | Import | Each | Schedule | Example
)  # fmt: skip


@record
class File:
    """`imported`: the other sources that statements come from. `repeated`: what was written out for
    several members of a family, so that a mistake in it would be reported for each."""

    statements: tuple[Statement, ...]
    source: Source = field(compare=False, repr=False)
    imported: tuple[Source, ...] = field(default=(), compare=False, repr=False)
    repeated: tuple[Span, ...] = field(default=(), compare=False, repr=False)
