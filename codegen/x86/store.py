"""Vector stores, and the sums of lanes that become scalars."""

from __future__ import annotations

from hbc.codegen.plan.register_arrays import VALUES
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Text, Unit
from hbc.codegen.x86.hold import held
from hbc.codegen.x86.lane_loop import each_live_lane
from hbc.codegen.x86.mask import mask, register_mask
from hbc.codegen.x86.run import address
from hbc.codegen.x86.spilled_mask import SpilledMask
from hbc.codegen.x86.types import (
    all_lanes,
    prefix,
    register_bits,
    register_lanes,
    resize,
    set1,
    setr,
    spill,
    suffix,
    vector_type,
    width_prefix,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, F32, F64, I8, I32, I64, U8, DType, Memory
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take


def store_vector(s: ir.Store, unit: Unit) -> None:
    """Prints a vector store."""
    if unit.buffers[s.buffer].memory is Memory.REGISTER:
        _register(s, unit)
        return
    t, lanes = s.value.type.element, s.value.type.lanes
    known = lane_offsets(s.index)
    if known is not None and known[1] == tuple(range(known[1][0], known[1][0] + lanes)):
        _contiguous(s, add(known[0], known[1][0]), unit)
    elif t.bits >= 32 and t != BOOL and unit.target.vector_bits == 512 and known is not None:
        _scatter(s, known[0], known[1], unit)
    else:
        _by_lane(s, unit)


def value_text(e: ir.Expr, unit: Unit) -> str:
    """The value as it lies in memory: bools as bytes 0 and 1."""
    if e.type.element != BOOL:
        return unit.printers.vector(e, unit)
    lanes = e.type.lanes
    condition, p = mask(e, 8, unit), prefix(U8, lanes)
    if unit.target.vector_bits == 512:
        return f"{p}_maskz_set1_epi8({condition}, 1)"
    return f"{p}_and_si{register_bits(U8, lanes)}({condition}, {set1(U8, lanes, '1')})"


def _register(s: ir.Store, unit: Unit) -> None:
    name = register(s.buffer, s.index, unit)
    if name is None:
        raise InternalError(f"codegen: `{s.buffer}` is in registers but written at other lanes")
    value = s.value
    if s.mask is not None:
        value = ir.Select(s.mask, value, ir.Load(s.buffer, s.index, value.type))
    text = unit.printers.vector(value, unit)
    if VALUES in s.buffer:
        text = held(text, value, unit)
    unit.out.line(f"{unit.undeclared.pop(name, '')}{name} = {text};")


def _contiguous(s: ir.Store, base: ir.Expr, unit: Unit) -> None:
    t, lanes = s.value.type.element, s.value.type.lanes
    narrow = t.bits < 32 or lanes * t.bits < 128
    if s.mask is not None and narrow and unit.target.vector_bits < 512:
        _by_lane(s, unit)
        return
    at, value = address(s.buffer, base, unit), value_text(s.value, unit)
    p = prefix(t, lanes)
    if s.mask is None:
        if t.name in ("f32", "f64") and lanes * t.bits >= 128:
            unit.out.line(f"{p}_storeu_{suffix(t)}({at}, {value});")
        else:
            unit.out.line(f"{_storer(t, lanes, unit)}({at}, {value});")
        return
    condition = register_mask(s.mask, t, unit)
    if unit.target.vector_bits == 512:
        unit.out.line(f"{p}_mask_storeu_{suffix(t)}({at}, {condition}, {value});")
    else:
        pointer = at if t.is_float else f"({'int' if t.bits == 32 else 'long long'} *){at}"
        unit.out.line(f"{p}_maskstore_{suffix(t)}({pointer}, {condition}, {value});")


def _storer(t: DType, lanes: int, unit: Unit) -> str:
    size, name = lanes * t.bits, f"store_{t}x{lanes}"
    held = U8 if t == BOOL else t
    if size >= 128:
        body = f"    {spill(t, lanes, 'p', 'x')};\n"
    else:
        holder = {16: "uint16_t", 32: "int32_t", 64: "int64_t"}[size]
        whole = {"f32": "_mm_castps_si128(x)", "f64": "_mm_castpd_si128(x)"}.get(t.name, "x")
        take = f"_mm_cvtsi128_si{64 if size == 64 else 32}({whole})"
        body = f"    const {holder} bits = ({holder}){take};\n    memcpy(p, &bits, sizeof bits);\n"
    text = (
        f"static inline void {name}({c_type(t)} *p, {vector_type(held, lanes)} x)\n{{\n{body}}}\n"
    )
    return unit.prelude.add(name, text)


def _scatter(s: ir.Store, base: ir.Expr, offsets: tuple[int, ...], unit: Unit) -> None:
    """AVX-512: 32-bit offsets from the lane nearest to the start of memory."""
    t, lanes = s.value.type.element, s.value.type.lanes
    low = min(offsets)
    if max(offsets) - low >= 1 << 31:
        _by_lane(s, unit)
        return
    at, value = address(s.buffer, add(base, low), unit), unit.printers.vector(s.value, unit)
    index = setr32(lanes, [o - low for o in offsets])
    live = None if s.mask is None else mask(s.mask, t.bits, unit)
    if live is None and lanes < register_lanes(t, lanes):
        live = all_lanes(lanes)
    name = f"{prefix(t, lanes)}_{'mask_' if live else ''}i32scatter_{suffix(t)}"
    condition = f"{live}, " if live else ""
    unit.out.line(f"{name}({at}, {condition}{index}, {value}, {t.bits // 8});")


def setr32(lanes: int, values: list[int]) -> str:
    return setr(I32, lanes, [str(v) for v in values])


def _by_lane(s: ir.Store, unit: Unit) -> None:
    """The lanes through an array, one by one."""
    t, lanes = s.value.type.element, s.value.type.lanes
    unit.scope.push()
    with unit.out.braces():
        value = value_text(s.value, unit)
        array = unit.scope.fresh("lanes")
        unit.out.line(f"{c_type(t)} {array}[{register_lanes(t, lanes)}];")
        unit.out.line(f"{spill(t, lanes, array, value)};")
        name = unit.buffers[s.buffer].text

        def put(lane: str, at: str) -> str:
            return f"{name}[{at}] = {array}[{lane}];"

        if s.mask is not None:
            each_live_lane(s.index, SpilledMask(s.mask, t, unit), unit, put)
        else:
            for lane in range(lanes):
                unit.out.line(put(str(lane), str(scalar(Take()(s.index, (lane,)), unit))))
    unit.scope.pop()


def reduce_lanes(e: ir.VectorReduce, unit: Unit) -> Text:
    """All lanes of a native vector folded into a scalar."""
    t, lanes = e.value.type.element, e.value.type.lanes
    if t == BOOL:
        return Text(_reduce_mask(e.op, e.value, lanes, unit))
    value = unit.printers.vector(e.value, unit)
    return Text(f"{_reducer(e.op, t, lanes, unit)}({value})")


def _reduce_mask(op: ir.Op, e: ir.Expr, lanes: int, unit: Unit) -> str:
    condition = mask(e, 8, unit)
    if unit.target.vector_bits != 512:
        p = prefix(I8, lanes)
        condition = f"((unsigned){p}_movemask_epi8({condition}) & {all_lanes(lanes)})"
    if op in (ir.Op.OR, ir.Op.MAX, ir.Op.ADD):
        return f"({condition} != 0)"
    if op in (ir.Op.AND, ir.Op.MIN, ir.Op.MUL):
        return f"({condition} == {all_lanes(lanes)})"
    return f"(__builtin_popcountll({condition}) & 1)"


def _reducer(op: ir.Op, t: DType, lanes: int, unit: Unit) -> str:
    """A function that halves the vector until one lane is left."""
    name = f"reduce_{op.name.lower()}_{t}x{lanes}"
    lines, n = [f"{vector_type(t, lanes)} x0"], lanes
    body: list[str] = []
    step = 0
    while n > 1:
        n //= 2
        bits = register_bits(t, 2 * n)
        low, high = _halves(f"x{step}", t, n, bits)
        unit.scope.push()
        a, b = ir.Var(f"low{step}", t(n)), ir.Var(f"high{step}", t(n))
        names = [unit.scope.declare(v.name) for v in (a, b)]
        v = vector_type(t, n)
        body.append(f"    const {v} {names[0]} = {low}, {names[1]} = {high};")
        step += 1
        body.append(f"    const {v} x{step} = {unit.printers.vector(ir.Binary(op, a, b), unit)};")
        unit.scope.pop()
    body.append(f"    return {_first_lane(f'x{step}', t)};")
    head = f"static inline {c_type(t)} {name}({', '.join(lines)})"
    return unit.prelude.add(name, "\n".join([head, "{", *body, "}", ""]))


def _halves(x: str, t: DType, n: int, bits: int) -> tuple[str, str]:
    """The low and the high n lanes of a register of `bits`."""
    if n * t.bits >= 128:
        low = resize(x, t, bits, bits // 2)
        extract = {
            (512, "f32"): "extractf32x8_ps", (512, "f64"): "extractf64x4_pd",
            (256, "f32"): "extractf128_ps", (256, "f64"): "extractf128_pd",
            (256, ""): "extracti128_si256",
        }.get((bits, t.name if t in (F32, F64) else ""), "extracti64x4_epi64")  # fmt: skip
        return low, f"{width_prefix(bits)}_{extract}({x}, 1)"
    cast = {"f32": "ps", "f64": "pd"}.get(t.name)
    whole = f"_mm_cast{cast}_si128({x})" if cast else x
    moved = f"_mm_bsrli_si128({whole}, {n * t.bits // 8})"
    return x, f"_mm_castsi128_{cast}({moved})" if cast else moved


def _first_lane(x: str, t: DType) -> str:
    if t in (F32, F64):
        return f"_mm_cvtss_f32({x})" if t == F32 else f"_mm_cvtsd_f64({x})"
    if t == I64:
        return f"_mm_cvtsi128_si64({x})"
    return f"({c_type(t)})_mm_cvtsi128_si32({x})"
