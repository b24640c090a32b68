"""The syntax tree of instruction descriptions: one dataclass for each rule of `isa.lark`."""

from __future__ import annotations

from dataclasses import field

from hbc.frontend.text import ast
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span


@record
class Property:
    """`name value` inside braces; a block is a tuple of properties."""

    name: ast.Ident
    value: ast.Ident | ast.Number | ast.Text | tuple[Property, ...]
    span: Span = field(compare=False, repr=False)


@record
class Feature:
    """`feature NAME { ... }`: something that a processor has or lacks."""

    name: ast.Ident
    properties: tuple[Property, ...]
    span: Span = field(compare=False, repr=False)


@record
class Place:
    """`place NAME { ... }`: a register file."""

    name: ast.Ident
    properties: tuple[Property, ...]
    span: Span = field(compare=False, repr=False)


@record
class Target:
    """`target NAME "about" uses FEATURE, ...`."""

    name: ast.Ident
    about: ast.Text
    uses: tuple[ast.Ident, ...]
    span: Span = field(compare=False, repr=False)


@record
class Operand:
    """`name: type[extents]`."""

    name: ast.Ident
    type: ast.Ident
    extents: tuple[ast.Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class Bounded:
    """`size NAME, ... <= most step step`: extents that may be less than the register holds."""

    names: tuple[ast.Ident, ...]
    most: ast.Number
    step: ast.Number | None
    span: Span = field(compare=False, repr=False)


@record
class Rounding:
    """`rounding { ... }`: in which order the sum is taken, and how each step rounds."""

    properties: tuple[Property, ...]
    span: Span = field(compare=False, repr=False)


@record
class Fragment:
    """`fragment a[row, column]`: which of the operand's elements is which of a lane's."""

    name: ast.Ident
    indices: tuple[ast.Expr, ...]
    span: Span = field(compare=False, repr=False)


@record
class InShared:
    """`shared a, b`: the instruction reads these operands from shared memory."""

    names: tuple[ast.Ident, ...]
    span: Span = field(compare=False, repr=False)


@record
class Emit:
    """`emit [COMPILER] [asm] "template"`."""

    compiler: ast.Ident | None
    is_asm: bool
    template: ast.Text
    span: Span = field(compare=False, repr=False)


@record
class Cost:
    """`cost { ... }`."""

    properties: tuple[Property, ...]
    span: Span = field(compare=False, repr=False)


@record
class Needs:
    """`needs FEATURE, ...`."""

    features: tuple[ast.Ident, ...]
    span: Span = field(compare=False, repr=False)


Meaning = Bounded | ast.Reduce | Rounding | Fragment | InShared | ast.Definition
Clause = Emit | Cost | Needs


@record
class Instruction:
    """`instruction NAME(operands) in PLACE { meaning } clauses`."""

    name: ast.Ident
    operands: tuple[Operand, ...]
    place: ast.Ident
    body: tuple[Meaning, ...]
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


Described = Feature | Place | Target | Instruction


@record
class Descriptions:
    described: tuple[Described, ...]
    source: Source = field(compare=False, repr=False)
