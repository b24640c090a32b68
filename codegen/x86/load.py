"""Vector loads: contiguous, broadcast, permuted from a few contiguous ones, gathered, by lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from hbc.codegen.text.registers import Piece, holder, piece_of
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type, constant
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.codegen.x86.apart import elements_apart
from hbc.codegen.x86.lane_loop import each_live_lane
from hbc.codegen.x86.mask import mask
from hbc.codegen.x86.permute import permuted, shuffled, source
from hbc.codegen.x86.rows import load_rows, repeated_group
from hbc.codegen.x86.run import address, contiguous, load_text
from hbc.codegen.x86.spilled_mask import SpilledMask
from hbc.codegen.x86.types import (
    block_of,
    fill,
    prefix,
    register_bits,
    register_lanes,
    resize,
    set1,
    setr,
    suffix,
    zero,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, I32, DType, Kind, Memory
from hbc.ir.lang.walk import nodes
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import Take


def load(e: ir.Load, unit: Unit) -> str:
    """The C text of a vector load (of bytes, for bools)."""
    t, lanes = e.type.element, e.type.lanes
    if unit.buffers[e.buffer].memory is Memory.REGISTER:
        return _register(e, unit)
    known = lane_offsets(e.index)
    if known is None:
        return load_rows(e, unit) or _gather(e, unit)
    base, offsets = known
    base, offsets = add(base, offsets[0]), tuple(o - offsets[0] for o in offsets)
    if offsets == tuple(range(lanes)):
        return contiguous(e, base, unit)
    if not any(offsets) and (e.mask is None or _is_uniform(e.mask)):
        element = _lane_value(str(scalar(ir.Load(e.buffer, base, t(1)), unit)), t)
        if e.mask is not None:
            element = f"{scalar(e.mask.value, unit).at(LOGIC_OR)} ? {element} : 0"
        return set1(t, lanes, element)
    if (group := repeated_group(e, offsets)) is not None:
        return unit.printers.vector(group, unit)
    if e.mask is not None and not _is_uniform(e.mask):
        return load_rows(e, unit) or _by_lane(e, unit)
    text = permuted(lambda at, n: load_text(e.buffer, add(base, at), t, n, unit), t, offsets, unit)
    if text is None:
        return load_rows(e, unit) or _gather(e, unit)
    if e.mask is None:
        return text
    return f"({scalar(e.mask.value, unit).at(LOGIC_OR)} ? {text} : {zero(t, lanes)})"


def _is_uniform(mask: ir.Expr) -> TypeGuard[ir.Broadcast]:
    """Whether it is one condition for all lanes."""
    return isinstance(mask, ir.Broadcast) and mask.value.type.lanes == 1


def _lane_value(element: str, t: DType) -> str:
    """An element as the signed integer that set1 takes, without a sign-conversion warning."""
    if (t.is_float and t.bits >= 32) or t.kind is Kind.INT:
        return element
    signed = {8: "char", 16: "short", 32: "int"}[t.bits]
    return f"({signed}){element}"


def _register(e: ir.Load, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    piece, pieces = piece_of(e.index), unit.buffers[e.buffer].pieces
    name = register(e.buffer, e.index, unit)
    if name is None and piece is None:
        return _picked(e, pieces, unit)
    if name is None:
        assert piece is not None
        whole = holder(piece, pieces, t)
        if whole is None or e.mask is not None:
            raise InternalError(f"codegen: `{e.buffer}` is in registers but read at other lanes")
        return block_of(pieces[whole], t, whole[1], piece[1], (piece[0] - whole[0]) // piece[1])
    if e.mask is None:
        return name
    condition = mask(e.mask, t.bits, unit)
    if unit.target.vector_bits == 512:
        return f"{prefix(t, lanes)}_maskz_mov_{suffix(t)}({condition}, {name})"
    held = f"si{register_bits(t, lanes)}"
    if t.name in ("f32", "f64"):
        cast = f"{prefix(t, lanes)}_cast{held}_{suffix(t)}"
        return f"{prefix(t, lanes)}_and_{suffix(t)}({cast}({condition}), {name})"
    return f"{prefix(t, lanes)}_and_{held}({condition}, {name})"


def _picked(e: ir.Load, pieces: Mapping[Piece, str], unit: Unit) -> str:
    """Lanes of several registers, each as long as the result."""
    lanes = constant_lanes(e.index) or ()
    found = [(p, source(*p, lanes)) for p in sorted(pieces)]
    used = [(pieces[p], picks) for p, picks in found if max(picks) >= 0]
    text = shuffled([name for name, _ in used], [picks for _, picks in used], e.type.element, unit)
    if text is None or any(p[1] != len(lanes) for p, picks in found if max(picks) >= 0):
        raise InternalError(f"codegen: `{e.buffer}` is in registers but read at other lanes")
    return text


def _gather(e: ir.Load, unit: Unit) -> str:
    """Through an index vector where there is an instruction for it, else by lane."""
    t, lanes = e.type.element, e.type.lanes
    if e.mask is None and t.bits >= 32 and lanes * t.bits >= 128:
        base, index = _split(e.index)
        if index is not None:
            at = address(e.buffer, base, unit)
            return _gather_text(at, index, t, lanes, unit)
    return _by_lane(e, unit)


def _split(index: ir.Expr) -> tuple[ir.Expr, ir.Expr | None]:
    """The index as a scalar plus a vector that is not merely a ramp with an unknown step."""
    scalars: list[ir.Expr] = []
    vectors: list[ir.Expr] = []
    stack = [index]
    while stack:
        match stack.pop():
            case ir.Binary(op=ir.Op.ADD, a=a, b=b):
                stack += [b, a]
            case ir.Broadcast(value=v) if v.type.lanes == 1:
                scalars.append(v)
            case other:
                vectors.append(other)
    base: ir.Expr = ir.Const(0, index.type.with_lanes(1))
    for part in scalars:
        base = add(base, part)
    rest: ir.Expr | None = None
    for part in vectors:
        if not any(isinstance(n, ir.Cast | ir.Load) for n in nodes(part)):
            return base, None  # cheaper lane by lane
        rest = part if rest is None else ir.Binary(ir.Op.ADD, rest, part)
    return base, rest


def _gather_text(at: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    size, scale = t.bits * lanes, t.bits // 8
    if isinstance(index, ir.Cast) and index.value.type.element.is_int:
        narrow = index.value
        s = narrow.type.element
        if s.bits < 32 or s == I32:
            small = narrow if s == I32 else ir.Cast(I32(lanes), narrow)
            return _gather_call("i32", at, unit.printers.vector(small, unit), t, size, scale)
    if lanes * 64 <= unit.target.vector_bits:
        return _gather_call("i64", at, unit.printers.vector(index, unit), t, size, scale)
    half = lanes // 2
    low, high = (
        _gather_text(at, Take()(index, tuple(range(s, s + half))), t, half, unit) for s in (0, half)
    )
    return joined(low, high, t, half)


def joined(low: str, high: str, t: DType, half: int) -> str:
    """Two vectors of `half` lanes as one of twice as many."""
    size = t.bits * half
    if size == 128:
        name = {"f32": "", "f64": "d"}.get(t.name, "i")
        return f"_mm256_set_m128{name}({high}, {low})"
    if size == 64:
        return f"_mm_unpacklo_epi64({low}, {high})" if not t.is_float else (
            f"_mm_movelh_ps({low}, {high})"
        )  # fmt: skip
    insert = {"f32": "insertf32x8", "f64": "insertf64x4"}.get(t.name, "inserti64x4")
    return f"_mm512_{insert}({resize(low, t, 256, 512)}, {high}, 1)"


def _gather_call(kind: str, at: str, index: str, t: DType, size: int, scale: int) -> str:
    """The 256-bit forms take the pointer first, the 512-bit ones last."""
    lanes = size // t.bits
    wide = lanes * int(kind[1:]) if kind == "i64" else size
    name = f"{kind}gather_{suffix(t)}"
    if max(wide, size) == 512:
        return f"_mm512_{name}({index}, {at}, {scale})"
    p = "_mm256" if max(wide, size) == 256 else "_mm"
    pointer = at if t.is_float else f"(const {'int' if t.bits == 32 else 'long long'} *){at}"
    return f"{p}_{name}({pointer}, {index}, {scale})"


def _by_lane(e: ir.Load, unit: Unit) -> str:
    """Scalar loads put together; under a mask, through an array."""
    t, lanes = e.type.element, e.type.lanes
    name = unit.buffers[e.buffer].text
    if e.mask is None:
        places = [Take()(e.index, (lane,)) for lane in range(lanes)]
        if t != BOOL:
            text = elements_apart(e.buffer, places, t, lambda x: _lane_value(x, t), unit)
            if text is not None:
                return text
        parts = [scalar(place, unit) for place in places]
        return setr(t, lanes, [_lane_value(f"{name}[{part}]", t) for part in parts])
    array, live = unit.scope.fresh("lanes"), SpilledMask(e.mask, t, unit)
    nothing = constant(False if t == BOOL else 0, t) if t.bits != 16 else "0"
    unit.out.line(f"{c_type(t)} {array}[{register_lanes(t, lanes)}] = {{{nothing}}};")
    each_live_lane(e.index, live, unit, lambda lane, at: f"{array}[{lane}] = {name}[{at}];")
    return fill(t, lanes, array)
