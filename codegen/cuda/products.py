"""Products that read shared memory themselves, and go on while threads do other things.

ptx_hold(acc);
ptx_wgmma_fence();
ptx_wgmma_m64n128k16_f32_f16<0, 1>(acc, ptx_wgmma_operand(&A_in_acc[..], 2 * 16, 1024, 1024), ..);
ptx_wgmma_commit();
ptx_wgmma_wait<1>();
ptx_hold(acc);
"""

from __future__ import annotations

from hbc.codegen.gpu.swizzle import split_place, swizzle_bits
from hbc.codegen.text.instruction_text import fill
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.swizzled import swizzled_index
from hbc.codegen.text.unit import MUL, Buffer, Text, Unit
from hbc.ir.algebra.linear import Linear, linear, minus, of_atom, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.instruction import Instruction, Place, SharedRows
from hbc.ir.vectors.lane_offsets import lane_offsets


def product_statement(s: ir.Fence | ir.CopyCommit | ir.CopyWait, unit: Unit) -> None:
    """Prints what the place of the kernel's asynchronous instructions has for it. Registers of sums are held
    where they are: before a fence, what was stored to them must be there, and behind a wait, what is read."""
    place = next((i.place for i in unit.instructions.values() if i.place.asynchronous), None)
    if place is None or place.asynchronous is None:
        raise InternalError("codegen: a wait for products that are not asynchronous")
    texts, hold = place.asynchronous, place.asynchronous.hold
    match s:
        case ir.Fence(kind=ir.FenceKind.STORES):
            lines = [_shared(place).fence]
        case ir.Fence(sums=sums):
            lines = [*(fill(hold, {"register": unit.buffers[b].text}) for b in sums), texts.fence]
        case ir.CopyCommit():
            lines = [texts.commit]
        case ir.CopyWait(most=most, sums=sums):
            lines = [fill(texts.wait, {"most": str(most)})]
            lines += [fill(hold, {"register": unit.buffers[b].text}) for b in sums]
    for line in lines:
        unit.out.line(line)


def _shared(place: Place) -> SharedRows:
    if place.shared is None:
        raise InternalError(
            f"codegen: `{place.name}` does not say how operands lie in shared memory"
        )
    return place.shared


def shared_operand(x: ir.Load, i: Instruction, unit: Unit) -> str:
    """What the instruction is given of an operand in shared memory."""
    rows, held, flat = _shared(i.place), unit.buffers[x.buffer], lane_offsets(x.index)
    if held.swizzle is None or not held.swizzle.line or flat is None:
        raise InternalError(f"codegen: `{x.buffer}` does not lie as `{i.name}` reads it")
    boxes = held.swizzle.lines > rows.rows  # whose pieces of rows lie below each other
    start, more = _apart(linear(simplify(add(flat[0], flat[1][0]))), held, unit)
    values = {
        "pointer": f"&{held.text}[{scalar(start, unit)}]",
        "more": f"{held.element.bytes} * {more.at(MUL)}",
        "across": str(held.swizzle.lines * rows.row_bytes),
        "down": str(
            rows.rows * (rows.row_bytes if boxes else held.swizzle.row * held.element.bytes)
        ),
    }
    return fill(rows.operand, values)


def _apart(index: Linear, held: Buffer, unit: Unit) -> tuple[ir.Expr, Text]:
    """A place as the one of a piece of rows, and how many elements further it is, which is a constant where
    the compiler has written out the loops around."""
    assert held.swizzle is not None
    pieces, known = split_place(index, swizzle_bits(held.swizzle, held.element))
    for atom, c in pieces.terms:
        if isinstance(atom, ir.Var) and atom.name in unit.unrolled:
            known = plus(known, of_atom(atom, c))
    known = plus(known, Linear(pieces.constant))
    more = swizzled_index(
        to_expr(known), held.swizzle, held.element, unit.prelude, lambda e: scalar(e, unit)
    )
    return simplify(to_expr(minus(index, known))), more
