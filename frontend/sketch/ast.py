"""The syntax tree of `.sf` files: one dataclass for each rule of `sf.lark`."""

from __future__ import annotations

from dataclasses import field

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span


@record
class Number:
    value: int
    span: Span = field(compare=False, repr=False)


@record
class Name:
    name: str
    span: Span = field(compare=False, repr=False)


@record
class Blank:
    span: Span = field(compare=False, repr=False)


@record
class Unary:
    op: str
    operand: Expr
    span: Span = field(compare=False, repr=False)


@record
class Binary:
    op: str
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@record
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span = field(compare=False, repr=False)


@record
class Read:
    array: str
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Option:
    """`name=value`; a value left out is None."""

    name: str
    value: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class Call:
    """A gather, or a function of indices; `hole` where a `?` stands before it."""

    function: str
    hole: bool
    options: tuple[Option, ...]
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Fold:
    """`fold(+) operand`; `operation` is empty where none is given."""

    operation: str
    operand: Expr
    length: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class Multiset:
    """`fold{a, b}`"""

    operation: str
    elements: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Ellipsis:
    """`...` in a list, and what follows it without a comma."""

    last: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class List:
    items: tuple[Expr | Ellipsis, ...]
    span: Span = field(compare=False, repr=False)


@record
class Comprised:
    """`i in 32`"""

    name: str
    extent: Expr
    span: Span = field(compare=False, repr=False)


@record
class Comprehension:
    variables: tuple[Comprised, ...]
    body: Expr
    span: Span = field(compare=False, repr=False)


@record
class Lambda:
    variables: tuple[str, ...]
    body: Expr
    span: Span = field(compare=False, repr=False)


@record
class Block:
    definitions: tuple[Define, ...]
    result: Expr
    span: Span = field(compare=False, repr=False)


Expr = (
    Number | Name | Blank | Unary | Binary | Conditional | Read | Call | Fold | Multiset | List
    | Comprehension | Lambda
)  # fmt: skip


@record
class Param:
    """`allowed` is empty where any integer will do."""

    name: str
    value: Expr
    allowed: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Import:
    path: str
    span: Span = field(compare=False, repr=False)


@record
class Define:
    """`name: [shape] = value`; without a value the elements are symbols."""

    name: str
    shape: tuple[Expr, ...]
    value: Expr | Block | None
    span: Span = field(compare=False, repr=False)


@record
class Goal:
    target: str
    value: Expr
    span: Span = field(compare=False, repr=False)


@record
class Parameter:
    name: str
    shape: tuple[Expr, ...] | None
    span: Span = field(compare=False, repr=False)


@record
class Each:
    """`each` or `each(count)`: so many elements choose together."""

    count: Expr | None
    span: Span = field(compare=False, repr=False)


@record
class Binder:
    """`name in end`, `name in first .. end` or `name in {listed}`."""

    name: str
    first: Expr | None
    end: Expr | None
    listed: tuple[Expr, ...]
    each: Each | None
    span: Span = field(compare=False, repr=False)


@record
class Family:
    """`spelling` is the code of an instruction that does this, empty where none is given."""

    formula: Lambda
    binders: tuple[Binder, ...]
    condition: Expr | None
    spelling: str
    cost: int
    span: Span = field(compare=False, repr=False)


@record
class Table:
    rows: List
    span: Span = field(compare=False, repr=False)


@record
class Delegate:
    name: str
    options: tuple[Option, ...]
    span: Span = field(compare=False, repr=False)


@record
class Set:
    """`set` or, when `single`, `gather`."""

    name: str
    single: bool
    options: tuple[Option, ...]
    parameters: tuple[Parameter, ...] | None
    shape: tuple[Expr, ...] | None
    parts: tuple[Family | Table | Delegate, ...]
    span: Span = field(compare=False, repr=False)


Statement = Param | Import | Define | Goal | Set


@record
class File:
    statements: tuple[Statement, ...]
    source: Source = field(compare=False, repr=False)
