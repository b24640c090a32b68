"""Fragments whose elements every lane knows: arrays of what one lane has, and the instructions on them.

__align__(16) float acc[4];
__align__(16) __half A_tile[8];
ptx_ldmatrix_x4(ptx_words(A_tile), &A_shared[640 * warp + lane % 16 * 40 + lane / 16 * 8]);
ptx_mma_m16n8k16_f32_f16(acc, ptx_words(A_tile), ptx_words(B_tile), acc);
C[C_stride0 * (lane / 4) + lane % 4 * 2] = acc[0];
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hbc.codegen.cuda.products import shared_operand
from hbc.codegen.fragments.fragment_kinds import FragmentKind
from hbc.codegen.fragments.matrix_loads import matrix_load
from hbc.codegen.gpu.swizzle import split_place, swizzle_bits
from hbc.codegen.text.instruction_text import statement
from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import element, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.ir.algebra.bounds import Facts, Interval
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.lane_at import at_lane
from hbc.ir.algebra.linear import Linear, linear, minus, of_atom, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, mul
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.walk import map_stmt, rewrite
from hbc.ir.meaning.fragment_layout import position
from hbc.ir.vectors.lane_offsets import lane_offsets

LANE = "lane"
"""The C variable of a thread's number in its warp."""
GROUP_LANE = "group_lane"
"""That of its number in a group of four warps."""
GROUP_NUMBER = "group"
"""And of the number of that group, which the compiler is told to be the same for all lanes of a warp."""
WORD_BITS = 32
"""Of a register."""
_HERE = "lane of the warp"  # its name in the IR
_LANES = Facts({_HERE: Interval(ir.const_index(0), ir.const_index(WARP - 1))})


def lane_view(s: ir.Stmt, kinds: Mapping[str, FragmentKind]) -> ir.Stmt:
    """The statement where lanes index what they have of such fragments by the number of the element.
    Only for printing: it means something for one lane alone."""
    return _outside(s, kinds) if kinds else s


def _outside(s: ir.Stmt, kinds: Mapping[str, FragmentKind]) -> ir.Stmt:
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.LANE:
        return _inside(s, s.var, kinds)
    return map_stmt(s, lambda e: e, lambda c: _outside(c, kinds))


def _inside(s: ir.Stmt, lane: str, kinds: Mapping[str, FragmentKind]) -> ir.Stmt:
    def expr(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in kinds:
            return replace(e, index=_element(e.index, lane, kinds[e.buffer]))
        return e

    s = map_stmt(s, lambda e: rewrite(e, expr), lambda c: _inside(c, lane, kinds))
    if isinstance(s, ir.Store) and s.buffer in kinds:
        return replace(s, index=_element(s.index, lane, kinds[s.buffer]))
    return s


def _element(index: ir.Expr, lane: str, kind: FragmentKind) -> ir.Expr:
    """The number that the element at an index has in its lane."""
    if isinstance(index, ir.Ramp):
        lanes = lane_offsets(index)
        assert lanes is not None  # constant steps, as `fragment_lanes` makes them
        first = _element(lanes[0], lane, kind)
        return ir.Ramp(first, ir.const_index(1), index.type.lanes)
    number = evaluated(index, {lane: np.arange(len(kind.elements))})
    if number is not None:
        for e, held in enumerate(kind.elements.T):
            if np.array_equal(held, np.broadcast_to(number, held.shape)):
                return ir.const_index(e)
    raise InternalError("codegen: a lane touches elements of others")


def declare_lanes(s: ir.Allocate, name: str, kind: FragmentKind, unit: Unit) -> None:
    """Prints the array of a lane's elements."""
    unit.out.line(f"__align__(16) {c_type(s.element)} {name}[{kind.count}];")


def whole_statement(s: ir.Store, kinds: Mapping[str, FragmentKind], unit: Unit) -> bool:
    """Prints what one instruction does to whole fragments; False for other statements."""
    if isinstance(s.value, ir.Instruct):
        i = unit.instructions[s.value.name]
        names = {}
        for n, (o, x) in enumerate(zip(i.operands, s.value.args, strict=True)):
            if isinstance(x, ir.Load) and n in i.shared:
                names[o.name] = shared_operand(x, i, unit)
            elif isinstance(x, ir.Load) and x.buffer in kinds:
                names[o.name] = unit.buffers[x.buffer].text
            else:
                return False
        unit.out.line(statement(i, "", names))
        return True
    if s.buffer not in kinds or s.value.type.lanes != kinds[s.buffer].elements.size:
        return False
    loads = matrix_load(s.value, kinds[s.buffer])
    address = None if loads is None else loads.address(ir.Var(_HERE))
    if loads is None or address is None:
        raise InternalError(f"codegen: no instruction fills the fragment `{s.buffer}`")
    unit.scope.push()
    unit.scope.bind(_HERE, Binding(LANE, nonnegative=True))
    stays, turns = _apart(simplify(address), loads.buffer, unit)
    row = element(loads.buffer, stays, unit)
    size = unit.buffers[loads.buffer].element.bytes
    more = "" if const_value(turns) == 0 else f", {scalar(simplify(mul(turns, size)), unit)}"
    unit.scope.pop()
    name = f"ptx_ldmatrix_{'trans_' if loads.transposed else ''}x{loads.count}"
    target = unit.buffers[s.buffer].text
    unit.out.line(f"{name}(ptx_words({target}), &{row}{more});")
    if isinstance(s.value, ir.Load) and s.value.mask is not None:
        _clear(s, s.value.mask, kinds[s.buffer], unit)
    return True


def _apart(address: ir.Expr, buffer: str, unit: Unit) -> tuple[ir.Expr, ir.Expr]:
    """An index as the sum of what it is in all iterations, whose address nvcc computes once then, and
    what the turn of an iteration adds to it, swizzled or not."""
    held, whole = unit.buffers[buffer], linear(address)
    movable = whole
    if held.swizzle is not None:
        movable = split_place(whole, swizzle_bits(held.swizzle, held.element))[0]
    turns = Linear(0)
    for atom, count in movable.terms:
        if isinstance(atom, ir.Var) and atom.name in unit.turning:
            turns = plus(turns, of_atom(atom, count))
    return simplify(to_expr(minus(whole, turns))), to_expr(turns)


def _clear(s: ir.Store, mask: ir.Expr, kind: FragmentKind, unit: Unit) -> None:
    """Prints zeros into what the lane has of the elements that are not loaded under the mask: by words of
    32 bits, of which all halves or bytes are left but those."""
    target = unit.buffers[s.buffer].text
    per = WORD_BITS // s.value.type.element.bits
    unit.scope.push()
    unit.scope.bind(_HERE, Binding(LANE, nonnegative=True))
    for word, masks in enumerate(_lane_masks(mask, kind, per)):
        if all(const_value(m) == 1 for m in masks):
            continue
        kept = " | ".join(_kept(masks, unit))
        unit.out.line(f"ptx_words({target})[{word}] &= {kept};")
    unit.scope.pop()


def _lane_masks(mask: ir.Expr, kind: FragmentKind, per: int) -> Iterator[list[ir.Expr]]:
    """For each word of the lane, the conditions under which its elements are loaded."""
    places = [position(kind.instruction, kind.operand, ir.Var(_HERE), n) for n in range(kind.count)]
    there = [simplify(at_lane(mask, place), _LANES) for place in places]
    yield from (there[n : n + per] for n in range(0, kind.count, per))


def _kept(masks: Sequence[ir.Expr], unit: Unit) -> list[str]:
    """The bits of a word that are left, one term for each condition."""
    bits = WORD_BITS // len(masks)
    of: dict[ir.Expr, int] = {}
    for n, m in enumerate(masks):
        of[m] = of.get(m, 0) | ((1 << bits) - 1) << n * bits
    always = sum(b for m, b in of.items() if const_value(m) == 1)
    terms = []
    for m, b in of.items():
        if const_value(m) is None:
            terms.append(f"({scalar(m, unit).at(LOGIC_OR)} ? {b:#x}u : 0u)")
    return [*terms, *([f"{always:#x}u"] if always or not terms else [])]
