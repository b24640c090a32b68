"""RISC-V code for qemu 7.2, that of Debian 12: it aborts at a conversion that truncates or rounds to odd,
unless an instruction before it in the same block used the rounding mode in effect (an assertion in
target/riscv/translate.c that an instruction sets the mode once at most).

What is executed is the same instruction, with such a one before it on the same page (where blocks end);
and no vectors of the C compiler's own.
"""

from __future__ import annotations

import re

NO_OTHER_VECTORS = ("-fno-vectorize", "-fno-slp-vectorize")
"""Options for clang and zig."""
_INCLUDE = "#include <riscv_vector.h>\n"
_ROUNDED = re.compile(
    r"__riscv_(vf([nw]?)cvt_(?:rtz_xu?|rod_f)_f_[vw])_([iuf])(\d+)(mf?)(\d)(?=\()"
)
_FUNCTION = """\
static inline {v} {name}({f} x, size_t n)
{{
    {v} y;
    __asm__ volatile(".p2align 4\\n\\tvsetvli zero, %2, {e}, ta, ma\\n\\t"
                     "fcvt.s.w ft0, zero\\n\\t{instruction} %0, %1"
                     : "=&vr"(y) : "vr"(x), "r"(n) : "ft0", "vl", "vtype");
    return y;
}}
"""


def for_old_qemu(text: str) -> str:
    """The code as qemu of any age executes it."""
    used = {m[0]: m for m in _ROUNDED.finditer(text)}
    functions = "".join(_function(m) for _, m in sorted(used.items()))
    text = _ROUNDED.sub(lambda m: f"own_{m[0].removeprefix('__riscv_')}", text)
    return text.replace(_INCLUDE, _INCLUDE + functions, 1)


def _function(m: re.Match[str]) -> str:
    stem, change, sign, bits, form, size = m.groups()
    width, eighths = int(bits), int(size) * 8 if form == "m" else 8 // int(size)
    other = {"n": 2, "w": 0.5, "": 1}[change]  # the float's width, by the integer's
    f_width, f_eighths = int(width * other), int(eighths * other)
    narrow = min((width, eighths), (f_width, f_eighths)) if change else (width, eighths)
    base = {"i": "int", "u": "uint", "f": "float"}[sign]
    return _FUNCTION.format(
        v=f"v{base}{width}{_group(eighths)}_t", name=f"own_{m[0].removeprefix('__riscv_')}",
        f=f"vfloat{f_width}{_group(f_eighths)}_t", e=f"e{narrow[0]}, {_group(narrow[1])}",
        instruction=stem.replace("_", "."),
    )  # fmt: skip


def _group(eighths: int) -> str:
    return f"m{eighths // 8}" if eighths >= 8 else f"mf{8 // eighths}"
