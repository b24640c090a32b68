"""Tools for RISC-V: which compiler, and code for an emulator that aborts at some conversions."""

from __future__ import annotations

import pytest

from hbc.codegen.build import cross
from hbc.codegen.rvv.old_qemu import for_old_qemu
from hbc.ir.lang.target import RISCV


def test_gcc_and_clang_of_old_distributions_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross, "on_path", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(cross, "find_spec", lambda name: None)
    assert cross.cross_commands(RISCV) == []
    assert cross.no_cross_compiler(RISCV).diagnostics[0].hint == "`pip install 'hbc[zig]'`"


@pytest.mark.parametrize(
    ("called", "form", "inner"),
    [("vfcvt_rtz_x_f_v_i32m1", "vint32m1_t y(vfloat32m1_t", "e32, m1"),
     ("vfncvt_rtz_x_f_w_i16mf4", "vint16mf4_t y(vfloat32mf2_t", "e16, mf4"),
     ("vfncvt_rtz_xu_f_w_u32m4", "vuint32m4_t y(vfloat64m8_t", "e32, m4"),
     ("vfwcvt_rtz_x_f_v_i64m2", "vint64m2_t y(vfloat32m1_t", "e32, m1"),
     ("vfncvt_rod_f_f_w_f32mf2", "vfloat32mf2_t y(vfloat64m1_t", "e32, mf2")],
)  # fmt: skip
def test_conversions_have_types_and_lengths(called: str, form: str, inner: str) -> None:
    text = for_old_qemu(f"#include <riscv_vector.h>\n    y = __riscv_{called}(x, 4);\n")
    result, operand = form.split(" y(")
    assert f"static inline {result} own_{called}({operand} x, size_t n)" in text
    assert f"vsetvli zero, %2, {inner}, ta, ma" in text
    assert f"y = own_{called}(x, 4);" in text
    assert "__riscv_vf" not in text
