"""Bytes looked up in a table of up to 128: `tbl` of up to four registers, and `tbx` for what lies beyond."""

from __future__ import annotations

from hbc.codegen.neon.types import kind, q, vector_type
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.ir.lang.types import U8, DType
from hbc.ir.vectors.byte_table import BLOCK

AT_ONCE = 4  # registers that an instruction looks up in


def looked_up(table: str, extent: int, places: str, t: DType, lanes: int, unit: Unit) -> str | None:
    """The lanes of `table` (of `extent` bytes) at `places`, a vector of u8 that are all inside."""
    if lanes not in (8, 16):
        return None
    name, v, k = f"look_up_{t}x{lanes}_in_{extent}", vector_type(t, lanes), kind(t)
    lines, wide = [], q(t, lanes)
    for start in range(0, extent // BLOCK, AT_ONCE):
        n = min(AT_ONCE, extent // BLOCK - start)
        loads = [f"vld1q_{k}(p + {(start + j) * BLOCK})" for j in range(n)]
        element, many = c_type(t).removesuffix("_t"), f"x{n}" if n > 1 else ""
        held = f"{{{{{', '.join(loads)}}}}}" if many else loads[0]
        lines.append(f"const {element}x{BLOCK}{many}_t t{start} = {held};")
        if start == 0:
            lines.append(f"{v} r = vqtbl{n}{wide}_{k}(t{start}, i);")
        else:
            beyond = f"vsub{wide}_u8(i, vdup{wide}_n_u8({start * BLOCK}))"
            lines.append(f"r = vqtbx{n}{wide}_{k}(r, t{start}, {beyond});")
    body = "".join(f"    {line}\n" for line in [*lines, "return r;"])
    head = f"static inline {v} {name}(const {c_type(t)} *p, {vector_type(U8, lanes)} i)"
    text = f"{head}\n{{\n{body}}}\n"
    return f"{unit.prelude.add(name, text)}({table}, {places})"
