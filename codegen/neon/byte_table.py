"""Bytes looked up in a table of up to 256: `tbl` of up to four registers, and `tbx` for what lies beyond."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.neon.types import kind, q, reinterpret, vector_type
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.ir.lang.types import U8, DType
from hbc.ir.vectors.byte_table import BLOCK

AT_ONCE = 4  # registers that an instruction looks up in


def looked_up(
    table: str, extent: int, places: Sequence[str], t: DType, lanes: int, unit: Unit
) -> str | None:
    """The lanes of `table` (of `extent` bytes) at `places`, vectors of u8 that are all inside."""
    if lanes not in (8, 16):
        return None
    name, v, k = f"look_up_{t}x{lanes}_in_{extent}", vector_type(t, lanes), kind(t)
    lines, wide, blocks = [], q(t, lanes), -(-extent // BLOCK)
    for start in range(0, blocks, AT_ONCE):
        n = min(AT_ONCE, blocks - start)
        loads = [_block(start + j, extent, t) for j in range(n)]
        element, many = c_type(t).removesuffix("_t"), f"x{n}" if n > 1 else ""
        held = f"{{{{{', '.join(loads)}}}}}" if many else loads[0]
        lines.append(f"const {element}x{BLOCK}{many}_t t{start} = {held};")
        if start == 0:
            lines.append(f"{v} r = vqtbl{n}{wide}_{k}(t{start}, i);")
        else:
            beyond = f"vsub{wide}_u8(i, vdup{wide}_n_u8({start * BLOCK}))"
            lines.append(f"r = vqtbx{n}{wide}_{k}(r, t{start}, {beyond});")
    if extent < BLOCK:
        lines.insert(0, f"const {c_type(t)} all[{BLOCK}] = {{{_listed(extent)}}};")
    body = "".join(f"    {line}\n" for line in [*lines, "return r;"])
    head = f"static inline {v} {name}(const {c_type(t)} *p, {vector_type(U8, lanes)} i)"
    text = f"{head}\n{{\n{body}}}\n"
    return f"{unit.prelude.add(name, text)}({table}, {_side_by_side(places, lanes)})"


def _listed(extent: int) -> str:
    return ", ".join(f"p[{n}]" for n in range(extent))


def _block(number: int, extent: int, t: DType) -> str:
    """The 16 bytes from there on. No element behind the table is read."""
    k, start = kind(t), min(number * BLOCK, extent - BLOCK)
    if start < 0:
        return f"vld1q_{k}(all)"
    loaded, before = f"vld1q_{k}(p + {start})", number * BLOCK - start
    return f"vextq_{k}({loaded}, vdupq_n_{k}(0), {before})" if before else loaded


def _side_by_side(parts: Sequence[str], lanes: int) -> str:
    """Bytes of so many lanes, from parts of 16 bits at least."""
    while len(parts) > 1:
        size = 8 * lanes // len(parts)
        parts = [
            _joined(low, high, size) for low, high in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def _joined(low: str, high: str, size: int) -> str:
    if size == 64:
        return f"vcombine_u8({low}, {high})"
    seen = (reinterpret(text, "u8", f"u{size}", 64) for text in (low, high))
    return reinterpret(f"vzip1_u{size}({', '.join(seen)})", f"u{size}", "u8", 64)
