"""Large tables in C: the bytes of the values as a string, which compilers read sooner than numbers.

gcc 12 takes 2.8 s for a million floats between braces, and 0.8 s for their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer
from hbc.codegen.text.writer import Writer
from hbc.ir.lang.kernel import Table

MOST_WRITTEN = 1 << 16  # values of a table that are written as such
ROW = 32  # bytes in a line
HEAD = """\
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the bytes of the table {name} are those of a little-endian processor"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif"""
FOOT = "#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif"
_TEXTS = [chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in range(256)]


def write_around(table: Table, buffer: Buffer, out: Writer) -> tuple[str, str]:
    """Declares the array without its bytes, under a name that points at its values. The line that stands
    for the bytes, and these: nothing needs to look through them."""
    data, t = table_bytes(table), c_type(table.element)
    name, line = f"{buffer.text}_bytes", f"    @{buffer.text}@"
    out.blank()
    out.raw(HEAD.format(name=buffer.text))
    arrays = f"char bytes[{len(data) + 1}]; {t} values[{len(table.values)}];"
    out.raw(f"static const _Alignas(64) union {{ {arrays} }} {name} = {{")
    out.raw(line)
    out.raw("};")
    out.raw(FOOT)
    out.raw(f"static const {t} *const {buffer.text} = {name}.values;")
    rows = (data[start : start + ROW] for start in range(0, len(data), ROW))
    return line, "\n".join(f'    "{"".join([_TEXTS[b] for b in row])}"' for row in rows)


def with_bytes(text: str, data: Mapping[str, str]) -> str:
    """The text with what such lines stand for."""
    for line, rows in data.items():
        text = text.replace(f"{line}\n", f"{rows}\n", 1)
    return text


def table_bytes(table: Table) -> bytes:
    """The values as they lie in memory."""
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    return np.array(table.values, numpy_dtype(table.element)).tobytes()
