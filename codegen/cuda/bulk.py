"""Copies of boxes of arrays by one instruction each, and the signals in shared memory at which they land.

if (ptx_warp() == 0 && ptx_elected()) {
    ptx_signal_expect(&ko_landed[ko_ahead], 16384);
    ptx_bulk_copy(&A_in_acc[8192 * ko_ahead], A_map, &ko_landed[ko_ahead], 64 * ko + 128, 128 * ih);
}
ptx_signal_wait(&ko_landed[ko % 4], ko / 4);

The host says what it knows of each array in a tensor map:

const int64_t A_map_extents[] = {K, M}, A_map_strides[] = {2 * A_stride0};
const unsigned A_map_box[] = {64, 128};
CUtensorMap A_map;
if (unmapped(&A_map, "A", A, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, A_map_extents, A_map_strides, A_map_box))
    return GEMM_CUDA;
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from pathlib import Path

from hbc.codegen.c.stmt import braced, statement
from hbc.codegen.text.instruction_text import fill
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, mul
from hbc.ir.lang.instruction import BulkCopies, SharedRows
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import map_stmt, statements

FIRST = "ptx_warp() == 0 && ptx_elected()"
"""The thread that begins copies, and makes what they land at: one that ptxas knows to be alone."""

MAP = "const __grid_constant__ CUtensorMap "
"""The declaration of a parameter of a kernel that is a map."""
MAPS = (Path(__file__).parents[1] / "templates" / "cuda_maps.h").read_text(encoding="ascii")
_TYPES = {
    "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "u8": "UINT8", "i8": "UINT8",
    "u16": "UINT16", "i16": "UINT16", "u32": "UINT32", "i32": "INT32", "i64": "INT64", "u64": "UINT64",
}  # fmt: skip


def bulk_statement(s: ir.Stmt, unit: Unit) -> bool:
    """Prints a group of copies, one of them or a wait; False for other statements."""
    match s:
        case ir.BulkGroup(signal=signal, slot=slot, body=body):
            copies = [x for x in statements(body) if isinstance(x, ir.BulkCopy)]
            size = sum(prod(x.box) * x.element.bytes for x in copies)
            place = _signal(signal, slot, unit)
            with braced(f"if ({FIRST})", unit):
                text = _described(unit).expect
                unit.out.line(fill(text, {"signal": place, "bytes": str(size)}))
                around, unit.signal = unit.signal, place
                statement(body, unit)
                unit.signal = around
        case ir.BulkCopy():
            _copy(s, unit)
        case ir.BulkWait(signal=signal, slot=slot, turn=turn):
            values = {"signal": _signal(signal, slot, unit), "turn": str(scalar(turn, unit))}
            unit.out.line(fill(_described(unit).wait, values))
        case _:
            return False
    return True


def signals(s: ir.Allocate, name: str, unit: Unit) -> None:
    """What is done with an array of them, which has been declared: each is made, and where its body ends
    with a barrier, ended, so that the block may make it again."""
    unit.buffers[s.buffer] = Buffer(name, s.element, Memory.SIGNAL)
    texts, count = _described(unit), int(const_value(s.extent) or 0)
    _each(count, fill(texts.begin, {"signal": f"&{name}[e]", "arrivals": "1"}), unit)
    statement(s.body, unit)
    body = s.body.body if isinstance(s.body, ir.Block) else (s.body,)
    if isinstance(body[-1], ir.Barrier):
        _each(count, fill(texts.end, {"signal": f"&{name}[e]"}), unit)


def _each(count: int, text: str, unit: Unit) -> None:
    """Done to each of an array of signals by one thread."""
    unit.out.line(f"if ({FIRST})")
    unit.out.line(f"    for (int e = 0; e < {count}; ++e)")
    unit.out.line(f"        {text}")


def _copy(s: ir.BulkCopy, unit: Unit) -> None:
    """A box may be wider than the pieces that rows in shared memory have: a copy for each of these."""
    rows, held = _rows(unit), unit.buffers[s.buffer]
    per = rows.row_bytes // s.element.bytes
    piece = prod(s.box[:-1]) * per
    bulk = _described(unit)
    for n in range(s.box[-1] // per):
        start = scalar(simplify(add(s.start, n * piece)), unit)
        at = [simplify(add(s.at[-1], n * per)), *reversed(s.at[:-1])]
        values = {
            "pointer": f"&{held.text}[{start}]", "map": unit.maps[_map_key(s)], "signal": unit.signal,
            "at": ", ".join(f"(int)({scalar(e, unit)})" for e in at),
        }  # fmt: skip
        unit.out.line(fill(bulk.copy, values))


def _map_key(s: ir.BulkCopy) -> ir.BulkCopy:
    """What a tensor map depends on: copies of boxes of one size from one array have the same."""
    zero = ir.const_index(0)
    nowhere = (zero,) * len(s.box)
    return ir.BulkCopy("", zero, s.source, s.element, nowhere, nowhere, s.extents, s.strides, s.box)


def on_device(s: ir.Stmt) -> ir.Stmt:
    """The statement without what the host alone reads: how arrays lie stands in maps."""
    if not isinstance(s, ir.BulkCopy):
        return map_stmt(s, lambda e: e, on_device)
    nothing = (ir.const_index(0),) * len(s.box)
    return replace(s, extents=nothing, strides=nothing)


def _signal(name: str, slot: ir.Expr, unit: Unit) -> str:
    return f"&{unit.buffers[name].text}[{scalar(slot, unit)}]"


def _rows(unit: Unit) -> SharedRows:
    """How what is copied lies in shared memory."""
    found = (i.place.shared for i in unit.instructions.values())
    rows = next((x for x in found if x is not None and x.bulk is not None), None)
    if rows is None:
        raise InternalError("codegen: no instruction says how boxes come to shared memory")
    return rows


def _described(unit: Unit) -> BulkCopies:
    bulk = _rows(unit).bulk
    assert bulk is not None
    return bulk


def has_maps(kernel: Kernel) -> bool:
    """Whether anything is copied in boxes, for which the file has the functions of `cuda_maps.h`."""
    return any(isinstance(x, ir.BulkCopy) for x in statements(kernel.body))


def with_maps(nest: ir.For, unit: Unit) -> list[tuple[str, str]]:
    """The parameters of a kernel that are maps, as declarations and names, which `unit` knows from here."""
    arrays: list[tuple[str, str]] = []
    unit.maps = {}
    for s in statements(nest):
        if isinstance(s, ir.BulkCopy) and _map_key(s) not in unit.maps:
            name = unit.scope.fresh(f"{s.source}_map")
            unit.maps[_map_key(s)] = name
            arrays.append((f"{MAP}{name}", name))
    return arrays


def map_lines(unit: Unit) -> list[tuple[str, str]]:
    """For each map of the launch being printed the lines that declare it, and the condition by which the host
    finds that it cannot be made."""
    lines = []
    for key, name in unit.maps.items():
        source = unit.buffers[key.source]
        if source.memory is not Memory.AUTO:
            raise InternalError(f"codegen: boxes of `{key.source}`, which is no argument")
        size, rank = key.element.bytes, len(key.box)
        box = [min(key.box[-1], _rows(unit).row_bytes // size), *reversed(key.box[:-1])]
        extents = ", ".join(str(scalar(e, unit)) for e in reversed(key.extents))
        apart = [simplify(mul(e, size)) for e in reversed(key.strides[:-1])]
        strides = ", ".join(str(scalar(e, unit)) for e in apart) or "0"
        declared = (
            f"const int64_t {name}_extents[] = {{{extents}}}, {name}_strides[] = {{{strides}}};\n"
            f"const unsigned {name}_box[] = {{{', '.join(map(str, box))}}};\nCUtensorMap {name};"
        )
        kind = f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[key.element.name]}"
        given = f'&{name}, "{key.source}", {source.text}, {kind}, {rank}'
        lines.append((declared, f"unmapped({given}, {name}_extents, {name}_strides, {name}_box)"))
    return lines
