"""How the IR is written: the tables that `show` writes by and `read` reads by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from string import Formatter
from typing import Any, Final

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.read_tokens import tokens

# From the weakest; operators of one level group to the left, comparisons not at all.
_LEVELS: Final = (
    (ir.Op.OR,),
    (ir.Op.XOR,),
    (ir.Op.AND,),
    (ir.Op.EQ, ir.Op.NE, ir.Op.LT, ir.Op.LE, ir.Op.GT, ir.Op.GE),
    (ir.Op.SHL, ir.Op.SHR),
    (ir.Op.ADD, ir.Op.SUB),
    (ir.Op.MUL, ir.Op.DIV, ir.Op.MOD),
)
PRECEDENCE: Final = {op: level for level, ops in enumerate(_LEVELS, 1) for op in ops}
"""Of the operators between their operands; the others are written like calls."""
COMPARISON_LEVEL: Final = PRECEDENCE[ir.Op.EQ]
UNARY_LEVEL: Final = len(_LEVELS) + 1

CALLS: Final[dict[str, type[ir.Expr]]] = {
    "select": ir.Select,
    "ramp": ir.Ramp,
    "reduce": ir.VectorReduce,
    "gather": ir.Gather,
}
"""Nodes that are written `name(field, ..)`, of the fields but `span`; an operator stands before the others:
`reduce<+>(..)`."""
NAMES: Final = {cls: name for name, cls in CALLS.items()}


def operands_of(call: str) -> tuple[Part, ...]:
    """The fields that stand between the parentheses of one of `CALLS`."""
    held = (f for f in fields(CALLS[call]) if f.init and f.name not in ("op", "span"))
    return tuple(Part("", f.name, str(f.type)) for f in held)


@record
class Part:
    """Words as they stand, and the field behind them, if any. `kind` says how it is written: the annotation
    of the field, or what the form says where that does not tell."""

    words: str
    field: str
    kind: str


@record
class Form:
    """How a statement is written. `fixed`: fields that the words tell."""

    of: type[ir.Stmt]
    parts: tuple[Part, ...]
    fixed: Mapping[str, Any]

    @property
    def opening(self) -> tuple[str, ...]:
        """The words that it begins with."""
        return words(self.parts[0].words)

    def fits(self, s: ir.Stmt) -> bool:
        return all(getattr(s, name) == value for name, value in self.fixed.items())


def _form(of: type[ir.Stmt], text: str, **fixed: Any) -> Form:
    """`{field}` or `{field:kind}` is where a field stands."""
    holds = {"": "", **{f.name: str(f.type) for f in fields(of)}}
    parsed = ((w, f or "", kind) for w, f, kind, _ in Formatter().parse(text))
    return Form(of, tuple(Part(w, f, kind or holds[f]) for w, f, kind in parsed), fixed)


@cache
def words(text: str) -> tuple[str, ...]:
    """The words and signs of a text."""
    return tuple(token.text for token in tokens(text).tokens[:-1])


FORMS: Final = (
    *(
        _form(ir.For, kind + " {var} from {start} count {extent}{marks}{note:note} {body}", kind=kind)
        for kind in ir.LoopKind
    ),
    _form(ir.Allocate, "allocate {buffer}: {element}[{extent}] in {memory}{swizzle}{note:note} {body}"),
    _form(ir.If, "if {condition} {then}{otherwise}"),
    _form(ir.Assert, "assert {condition}, {message:text}"),
    _form(ir.Leave, "leave {loop} if {condition}"),
    _form(ir.Prefetch, "prefetch{level:level} {buffer}.{element}[{index}]"),
    _form(ir.Barrier, "barrier {scope}{note:note}"),
    _form(ir.Fence, "fence {kind}{sums}"),
    _form(ir.CopyCommit, "copies commit", products=False),
    _form(ir.CopyCommit, "products commit", products=True),
    _form(ir.CopyWait, "copies wait {most}{sums}", products=False),
    _form(ir.CopyWait, "products wait {most}{sums}", products=True),
    _form(ir.BulkGroup, "bulk to {signal}[{slot}] {body}"),
    _form(ir.BulkWait, "bulk wait {signal}[{slot}] turn {turn}"),
    _form(
        ir.BulkCopy,
        "bulk copy {buffer}[{start}] = {source}.{element} at {at} needed {needed}"
        " of {extents} by {strides} box {box}{otherwise}",
    ),
    _form(ir.Store, "{asynchronous:async}{warp:warp}{atomic}{buffer:first}[{index}{mask}] = {value}"),
)  # fmt: skip
"""All but a `Comment`, a `Block` and a `LetStmt`. The last begins with no word of its own."""
OPENINGS: Final = frozenset(
    {"async", "warp", "atomic", *(form.opening[0] for form in FORMS if form.opening)}
)
"""What tells a statement by its first word: a buffer of that name stands in backquotes there."""
