"""How much a run at given sizes must do: arithmetic by the peak that limits it, and bytes.

Counted is the algorithm, each Func computed once at each point that is needed: whatever a schedule
recomputes is its own cost. `+ - * / % min max` and each math function count one operation, on
floats and on integers narrower than 64 bits; casts, comparisons, selects and index arithmetic count
none. A product of 8-bit integers and its sum are `u8s8` work, one of bf16 or f16 is `bf16` or `f16`
work, f64 is `f64`, all else counts at the rate of `f32`, whose vectors have as many lanes as those of 32-bit
integers. The bytes are those of every input read once and every output written once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hbc.cli.files.sizes import extents
from hbc.cli.runs.needed import count, needed_boxes, stages
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BF16, F16, F64, I64, DType
from hbc.ir.lang.walk import nodes

Funcs = Mapping[str, Func]

COUNTED = frozenset({ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.DIV, ir.Op.MOD, ir.Op.MIN, ir.Op.MAX})


@record
class Work:
    """Operations by kind of peak (`f32 f64 f16 bf16 u8s8`), bytes that must move, and whether the
    arithmetic is on floats (flops) or on integers (ops)."""

    operations: Mapping[str, int]
    bytes: int
    floating: bool

    @property
    def total(self) -> int:
        return sum(self.operations.values())


def count_work(p: Pipeline, sizes: Mapping[str, int]) -> Work:
    """The work of one run of the algorithm at the given sizes."""
    operations: dict[str, int] = {}
    floating = 0
    boxes = needed_boxes(p, sizes)
    funcs = {func.name: func for func in p.funcs}
    for func in p.funcs:
        if func.name not in boxes or func.table_shape is not None:
            continue
        for values, ranges in stages(func, boxes[func.name], sizes):
            points = math.prod(count(r) for r in ranges.values())
            for value in values:
                for kind, is_float in _counted(value, funcs):
                    operations[kind] = operations.get(kind, 0) + points
                    floating += points if is_float else -points
    arrays = (*p.inputs, *p.outputs)
    moved = sum(math.prod(extents(a, sizes)) * a.element.bytes for a in arrays)
    return Work(operations, moved, floating >= 0)


def _counted(value: ir.Expr, funcs: Funcs) -> list[tuple[str, bool]]:
    """The kind of each operation in an expression, and whether it is on floats."""
    kinds = []
    for node in nodes(value):
        match node:
            case ir.Binary(op=op) if op in COUNTED and node.type.element != I64:
                kinds.append((_kind(node, funcs), node.type.element.is_float))
            case ir.Call(name=name, type=t) if name is not ir.MathOp.REINTERPRET:
                kinds.append((_by_type(t.element), True))
            case ir.Unary(op=ir.UnaryOp.ABS, a=a) if a.type.element != I64:
                kinds.append((_by_type(a.type.element), a.type.element.is_float))
            case _:
                pass
    return kinds


def _kind(e: ir.Binary, funcs: Funcs) -> str:
    if e.op is ir.Op.MUL:
        return _product_kind(e, funcs)
    if e.op is ir.Op.ADD:
        for term in (_uncast(e.a), _uncast(e.b)):
            if isinstance(term, ir.Binary) and term.op is ir.Op.MUL:
                return _product_kind(term, funcs)
    return _by_type(e.type.element)


def _product_kind(e: ir.Binary, funcs: Funcs) -> str:
    a, b = _origin(e.a, funcs), _origin(e.b, funcs)
    if a == b and a in (BF16, F16):
        return a.name
    if a.is_int and b.is_int and a.bits == b.bits == 8:
        return "u8s8"
    return _by_type(e.type.element)


def _by_type(element: DType) -> str:
    return "f64" if element == F64 else "f32"


def _origin(e: ir.Expr, funcs: Funcs) -> DType:
    """The type of an operand before it was cast, here or in a Func that does nothing else."""
    e = _uncast(e)
    while isinstance(e, ir.Access) and e.name in funcs and not funcs[e.name].updates:
        cast = _uncast(funcs[e.name].value(e.part))
        if not isinstance(cast, ir.Access):
            break
        e = cast
    return e.type.element


def _uncast(e: ir.Expr) -> ir.Expr:
    while isinstance(e, ir.Cast):
        e = e.value
    return e
