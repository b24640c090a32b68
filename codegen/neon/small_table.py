"""Elements looked up in a table of up to 256 bytes: `tbl` of up to four registers, and `tbx` for what lies
beyond. Those of 16 and 32 bits are as many bytes each."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.neon.types import kind, q, register_bits, reinterpret, vector_type
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import Printed
from hbc.ir.lang.types import I8, U8, DType
from hbc.ir.vectors.small_table import BLOCK, PLACES

AT_ONCE = 4  # registers that an instruction looks up in


def looked_up(
    table: str, extent: int, places: Printed, t: DType, lanes: int, unit: Unit
) -> str | None:
    """The lanes of `table` (of `extent` elements) at `places`, vectors that are all inside."""
    count = lanes * t.bytes
    if count not in (8, 16):
        return None
    of = t if t in (I8, U8) else U8
    name, v, k = f"look_up_{t}x{lanes}_in_{extent}", vector_type(of, count), kind(of)
    size, index = extent * t.bytes, PLACES[t.bits]
    lines, wide, blocks = [], q(of, count), -(-size // BLOCK)
    for start in range(0, blocks, AT_ONCE):
        n = min(AT_ONCE, blocks - start)
        loads = [_block(start + j, size, of) for j in range(n)]
        element, many = c_type(of).removesuffix("_t"), f"x{n}" if n > 1 else ""
        held = f"{{{{{', '.join(loads)}}}}}" if many else loads[0]
        lines.append(f"const {element}x{BLOCK}{many}_t t{start} = {held};")
        if start == 0:
            lines.append(f"{v} r = vqtbl{n}{wide}_{k}(t{start}, i);")
        else:
            beyond = f"vsub{wide}_u8(i, vdup{wide}_n_u8({start * BLOCK}))"
            lines.append(f"r = vqtbx{n}{wide}_{k}(r, t{start}, {beyond});")
    if size < BLOCK:
        lines.insert(0, f"const {c_type(of)} all[{BLOCK}] = {{{_listed(size)}}};")
    if t.bits > 8:
        lines = [*_bytes_of(t.bits, count), *lines]
    body = "".join(f"    {line}\n" for line in [*lines, "return r;"])
    given = "p, {} i" if t.bits == 8 else "q, {} x"
    head = f"static inline {v} {name}(const {c_type(t)} *{given.format(vector_type(index, lanes))})"
    text = f"{head}\n{{\n{body}}}\n"
    call = f"{unit.prelude.add(name, text)}({table}, {_side_by_side(places(), lanes, index)})"
    return call if t.bits == 8 else reinterpret(call, "u8", kind(t), register_bits(t, lanes))


def _bytes_of(bits: int, count: int) -> list[str]:
    """The table as bytes, and the places of all bytes of each element."""
    wide, bytes_ = "q" if count == 16 else "", range(bits // 8)
    times = sum(bits // 8 << 8 * n for n in bytes_)
    first = sum(n << 8 * n for n in bytes_)
    places = f"vmla{wide}_n_u{bits}(vdup{wide}_n_u{bits}({first:#x}), x, {times:#x})"
    return [
        "const uint8_t *p = (const uint8_t *)q;",
        f"const uint8x{count}_t i = {reinterpret(places, f'u{bits}', 'u8', 8 * count)};",
    ]


def _listed(extent: int) -> str:
    return ", ".join(f"p[{n}]" for n in range(extent))


def _block(number: int, extent: int, t: DType) -> str:
    """The 16 bytes from there on. No element behind the table is read."""
    k, start = kind(t), min(number * BLOCK, extent - BLOCK)
    if start < 0:
        return f"vld1q_{k}(all)"
    loaded, before = f"vld1q_{k}(p + {start})", number * BLOCK - start
    return f"vextq_{k}({loaded}, vdupq_n_{k}(0), {before})" if before else loaded


def _side_by_side(parts: Sequence[str], lanes: int, t: DType) -> str:
    """Integers of so many lanes, from parts of 16 bits at least."""
    while len(parts) > 1:
        size = t.bits * lanes // len(parts)
        parts = [
            _joined(low, high, size, kind(t))
            for low, high in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def _joined(low: str, high: str, size: int, kind: str) -> str:
    if size == 64:
        return f"vcombine_{kind}({low}, {high})"
    seen = (reinterpret(text, kind, f"u{size}", 64) for text in (low, high))
    return reinterpret(f"vzip1_u{size}({', '.join(seen)})", f"u{size}", kind, 64)
