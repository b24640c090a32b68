"""Writes the C functions that packs of compiled kernels call: layout changes that `hbc synth` finds.

`python -m hbc.cli.sketches.pack_functions` writes `codegen/templates/interleave_TARGET.h` again; a test
compares. The search takes a second or more, so kernels take the functions from these files.
"""

from __future__ import annotations

import re
from pathlib import Path

from hbc.cli.sketches.layout_moves import cheapest_moves
from hbc.cli.sketches.synth_code import movement_code, printer_of
from hbc.codegen.c.interleaved_rows import FUNCTIONS, function_name, template
from hbc.frontend.sketch.layout_spec import parse_spec
from hbc.ir.lang.types import DTYPES
from hbc.synth.prunings.watch import Watch

_TABLES = re.compile(r"^static const .*?;$", re.S | re.M)
_BODY = re.compile(r"^static inline void \w+_block\(.*?\)\n\{\n(.*?)^\}$", re.S | re.M)
_COMMENTS = re.compile(r"^ *// .*\n", re.M)


def pack_functions(target: str) -> str:
    """The text of a target's file."""
    about = "// Written by `python -m hbc.cli.sketches.pack_functions`: what `hbc synth --spec` finds.\n"
    bits = printer_of(target).register_bits
    functions = [_function(target, rows, dtype, bits) for rows, dtype in FUNCTIONS]
    return "\n".join([about, *functions])


def _function(target: str, rows: int, dtype: str, register_bits: int) -> str:
    """`rows` rows of memory of one register each, interleaved."""
    count = register_bits // DTYPES[dtype].bits
    spec = parse_spec(f"interleave(k={rows}, count={count}, {dtype})", register_bits)
    moves = cheapest_moves(spec, target, False, lambda: Watch(None))
    code = movement_code(moves.movement, target, spec.dtype, False, [])
    body = _BODY.search(code)
    assert body is not None
    element = f"{'u' * (dtype[0] == 'u')}int{DTYPES[dtype].bits}_t"
    pointers = [f"    const {element} *const x0 = from;"]
    pointers += [f"    const {element} *const x{r} = x{r - 1} + apart;" for r in range(1, rows)]
    tables = ["    " + table.replace("\n", "\n    ") for table in _TABLES.findall(code)]
    text = _COMMENTS.sub("", body.group(1))
    text = re.sub(r"\n\n+", "\n", text).strip("\n")
    return "\n".join(
        [
            f"// {rows} rows of {count} elements, `apart` elements apart: "
            f"{moves.instructions} instructions.",
            f"static inline void {function_name(rows, count, DTYPES[dtype].bits)}"
            "(void *to, const void *from, int64_t apart)",
            "{", *pointers, f"    {element} *const out = to;", *tables, text, "}\n",
        ]
    )  # fmt: skip


def main() -> None:
    """Writes all files beside the other templates."""
    for path in sorted({template(512), template(256)}):
        target = path.stem.removeprefix("interleave_")
        Path(path).write_text(pack_functions(target), encoding="ascii")


if __name__ == "__main__":
    main()
