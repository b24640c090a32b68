"""Fragments whose elements every lane knows: arrays of what one lane has, and the instructions on them.

__align__(16) float acc[4];
__align__(16) __half A_tile[8];
ptx_ldmatrix_x4(ptx_words(A_tile), &A_shared[640 * warp + lane % 16 * 40 + lane / 16 * 8]);
ptx_mma_m16n8k16_f32_f16(acc, ptx_words(A_tile), ptx_words(B_tile), acc);
C[C_stride0 * (lane / 4) + lane % 4 * 2] = acc[0];
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hbc.codegen.c_scalar import element
from hbc.codegen.instruction_text import statement
from hbc.codegen.names import Binding
from hbc.codegen.spelling import c_type
from hbc.codegen.unit import Unit
from hbc.ir.diag import InternalError
from hbc.ir.fragment_kinds import FragmentKind
from hbc.ir.matrix_loads import matrix_load
from hbc.ir.nodes import (
    Allocate,
    Expr,
    For,
    Instruct,
    Load,
    LoopKind,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.simplify import simplify
from hbc.ir.thread_elements import evaluated
from hbc.ir.walk import map_stmt, rewrite

LANE = "lane"
"""The C variable of a thread's number in its warp."""
_HERE = "lane of the warp"  # its name in the IR


def lane_view(s: Stmt, kinds: Mapping[str, FragmentKind]) -> Stmt:
    """The statement where lanes index what they have of such fragments by the number of the element.
    Only for printing: it means something for one lane alone."""
    return _outside(s, kinds) if kinds else s


def _outside(s: Stmt, kinds: Mapping[str, FragmentKind]) -> Stmt:
    if isinstance(s, For) and s.kind is LoopKind.LANE:
        return _inside(s, s.var, kinds)
    return map_stmt(s, lambda e: e, lambda c: _outside(c, kinds))


def _inside(s: Stmt, lane: str, kinds: Mapping[str, FragmentKind]) -> Stmt:
    def expr(e: Expr) -> Expr:
        if isinstance(e, Load) and e.buffer in kinds:
            return replace(e, index=_element(e.index, lane, kinds[e.buffer]))
        return e

    s = map_stmt(s, lambda e: rewrite(e, expr), lambda c: _inside(c, lane, kinds))
    if isinstance(s, Store) and s.buffer in kinds:
        return replace(s, index=_element(s.index, lane, kinds[s.buffer]))
    return s


def _element(index: Expr, lane: str, kind: FragmentKind) -> Expr:
    """The number that the element at an index has in its lane."""
    if isinstance(index, Ramp):
        return replace(index, base=_element(index.base, lane, kind))
    number = evaluated(index, {lane: np.arange(len(kind.elements))})
    if number is not None:
        for e, held in enumerate(kind.elements.T):
            if np.array_equal(held, np.broadcast_to(number, held.shape)):
                return const_index(e)
    raise InternalError("codegen: a lane touches elements of others")


def declare_lanes(s: Allocate, name: str, kind: FragmentKind, unit: Unit) -> None:
    """Prints the array of a lane's elements."""
    unit.out.line(f"__align__(16) {c_type(s.element)} {name}[{kind.count}];")


def whole_statement(s: Store, kinds: Mapping[str, FragmentKind], unit: Unit) -> bool:
    """Prints what one instruction does to whole fragments; False for other statements."""
    if isinstance(s.value, Instruct):
        i = unit.instructions[s.value.name]
        names = {}
        for o, x in zip(i.operands, s.value.args, strict=True):
            if not isinstance(x, Load) or x.buffer not in kinds:
                return False
            names[o.name] = unit.buffers[x.buffer].text
        unit.out.line(statement(i, "", names))
        return True
    if s.buffer not in kinds or s.value.type.lanes != kinds[s.buffer].elements.size:
        return False
    loads = matrix_load(s.value, kinds[s.buffer])
    address = None if loads is None else loads.address(Var(_HERE))
    if loads is None or address is None:
        raise InternalError(f"codegen: no instruction fills the fragment `{s.buffer}`")
    unit.scope.push()
    unit.scope.bind(_HERE, Binding(LANE, nonnegative=True))
    row = element(loads.buffer, simplify(address), unit)
    unit.scope.pop()
    name = f"ptx_ldmatrix_{'trans_' if loads.transposed else ''}x{loads.count}"
    target = unit.buffers[s.buffer].text
    unit.out.line(f"{name}(ptx_words({target}), &{row});")
    return True
