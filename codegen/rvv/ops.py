"""Operations on RVV registers as templates (RISC-V Vector C Intrinsics 1.0). Each names the lanes it is for.

Their words, of an element type and lanes (see `words` in `types.py`):

    {k} {n}       the suffix of the vector: f32m1, u8mf4; its lanes
    {ki} {ku}     that of integers as wide, and without a sign
    {v} {vi} {mask}   the C types of vectors, of integers as wide, of masks
    {b}           the ratio that says which masks: vbool{b}_t
    {s} {u}       `f` for floats and `s` for integers; `u` for integers without a sign
    {t} {one}     the suffix of an element, and of one register of them: f32, f32m1
    {w} {bytes}   bits of an element; the suffix of bytes with as many lanes
    {whole}       from here on floats are integers
    {least} {most}   the limits of integers
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.rvv.types import words
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import (
    FLOATS,
    INTEGERS,
    NARROW,
    NUMBERS,
    SMALL,
    Function,
    Template,
    rows,
)
from hbc.ir.lang.types import DType

_SIGNED, _UNSIGNED = "i8 i16 i32 i64", "u8 u16 u32 u64"


def defined(name: str, operands: str, *body: str) -> Function:
    """A function of its own, for what names an operand twice."""

    def printed(texts: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
        known, function = words(unit.target.vector_bits, t, lanes), f"{name}_{t}x{lanes}"
        parameters = ", ".join(f"{known['v']} {letter}" for letter in operands)
        lines = "".join(f"    {line.format(**known)}\n" for line in body)
        text = f"static inline {known['v']} {function}({parameters})\n{{\n{lines}}}\n"
        return f"{unit.prelude.add(function, text)}({', '.join(texts)})"

    return printed


def _extreme(op: str) -> Function:
    """NaN where an operand is: the instruction gives the other one."""
    a, b = (f"__riscv_vmfeq_vv_{{k}}_b{{b}}({x}, {x}, {{n}})" for x in "ab")
    return defined(
        op, "ab",
        f"const {{mask}} numbers = __riscv_vmand_mm_b{{b}}({a}, {b}, {{n}});",
        "const {v} nan = __riscv_vfadd_vv_{k}(a, b, {n});",
        f"return __riscv_vf{op}_vv_{{k}}_mu(numbers, nan, a, b, {{n}});",
    )  # fmt: skip


def _extreme_number(op: str) -> Function:
    """The same where a is a number."""
    return defined(
        f"{op}_number", "ab",
        "const {mask} number = __riscv_vmfeq_vv_{k}_b{b}(b, b, {n});",
        f"return __riscv_vf{op}_vv_{{k}}_mu(number, b, a, b, {{n}});",
    )  # fmt: skip


def _rounded(name: str, mode: str) -> Function:
    """By way of integers, keeping the sign of zeros."""
    return defined(
        name, "x",
        "const {v} size = __riscv_vfabs_v_{k}(x, {n});",
        "const {mask} parts = __riscv_vmflt_vf_{k}_b{b}(size, {whole}, {n});",
        f"const {{vi}} near = __riscv_vfcvt_x_f_v_{{ki}}_rm(x, __RISCV_FRM_{mode}, {{n}});",
        "return __riscv_vfsgnj_vv_{k}_mu(parts, x, __riscv_vfcvt_f_x_v_{k}(near, {n}), x, {n});",
    )  # fmt: skip


_FIRST = """\
/* The first n of {n} lanes. */
static inline {mask} first_x{n}(int64_t n)
{{
    const uint8_t live = (uint8_t)(n < 0 ? 0 : n > {n} ? {n} : n);
    return __riscv_vmsltu_vx_{bytes}_b{b}(__riscv_vid_v_{bytes}({n}), live, {n});
}}
"""


def _first_lanes(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    text = _FIRST.format(**words(unit.target.vector_bits, t, lanes))
    return unit.prelude.add(f"first_x{lanes}", text)


_SHIFTED = "__riscv_{op}_vv_{{k}}({{0}}, {amount}, {{n}})"
_AMOUNT = "__riscv_vreinterpret_v_{k}_{ku}({1})"


def _fold(op: str, start: str) -> str:
    """All lanes of integers, from a start on."""
    first = f"__riscv_vmv_s_x_{{one}}({start}, 1)"
    return (
        f"__riscv_vmv_x_s_{{one}}_{{t}}(__riscv_vred{op}_vs_{{k}}_{{one}}({{0}}, {first}, {{n}}))"
    )


ROWS: dict[tuple[str, str], Template] = rows(
    ("add sub mul", INTEGERS, "__riscv_v{op}_vv_{k}({0}, {1}, {n})"),
    ("add sub mul div", FLOATS, "__riscv_vf{op}_vv_{k}({0}, {1}, {n})"),
    ("min max", INTEGERS, "__riscv_v{op}{u}_vv_{k}({0}, {1}, {n})"),
    ("min", FLOATS, _extreme("min")),
    ("max", FLOATS, _extreme("max")),
    ("min_number", FLOATS, _extreme_number("min")),
    ("max_number", FLOATS, _extreme_number("max")),
    ("fmadd", FLOATS, "__riscv_vfmacc_vv_{k}({2}, {0}, {1}, {n})"),
    ("fmsub", FLOATS, "__riscv_vfmsac_vv_{k}({2}, {0}, {1}, {n})"),
    ("fnmadd", FLOATS, "__riscv_vfnmsac_vv_{k}({2}, {0}, {1}, {n})"),
    ("mulhi", SMALL, "__riscv_vmulh{u}_vv_{k}({0}, {1}, {n})"),
    # The high half twice and the top bit of the low one, rounded: VSMUL would saturate.
    ("mulround", "i16", defined(
        "mulround", "ab",
        "const {v} high = __riscv_vsll_vx_{k}(__riscv_vmulh_vv_{k}(a, b, {n}), 1, {n});",
        "const {v} low = __riscv_vand_vx_{k}("
        "__riscv_vsra_vx_{k}(__riscv_vmul_vv_{k}(a, b, {n}), 14, {n}), 3, {n});",
        "return __riscv_vadd_vv_{k}(high, "
        "__riscv_vsra_vx_{k}(__riscv_vadd_vx_{k}(low, 1, {n}), 1, {n}), {n});",
    )),
    ("avg", SMALL, "__riscv_vaadd{u}_vv_{k}({0}, {1}, __RISCV_VXRM_RDN, {n})"),
    ("avgup", SMALL, "__riscv_vaadd{u}_vv_{k}({0}, {1}, __RISCV_VXRM_RNU, {n})"),
    ("addsat", SMALL, "__riscv_vsadd{u}_vv_{k}({0}, {1}, {n})"),
    ("subsat", SMALL, "__riscv_vssub{u}_vv_{k}({0}, {1}, {n})"),
    ("absd", SMALL, defined(
        "absd", "ab",
        "return __riscv_vsub_vv_{k}(__riscv_vmax{u}_vv_{k}(a, b, {n}), "
        "__riscv_vmin{u}_vv_{k}(a, b, {n}), {n});",
    )),
    ("and or xor", INTEGERS, "__riscv_v{op}_vv_{k}({0}, {1}, {n})"),
    ("shl_by", INTEGERS, "__riscv_vsll_vx_{k}({0}, {1}, {n})"),
    ("shr_by", _SIGNED, "__riscv_vsra_vx_{k}({0}, {1}, {n})"),
    ("shr_by", _UNSIGNED, "__riscv_vsrl_vx_{k}({0}, {1}, {n})"),
    ("shl", _SIGNED, _SHIFTED.format(op="vsll", amount=_AMOUNT)),
    ("shr", _SIGNED, _SHIFTED.format(op="vsra", amount=_AMOUNT)),
    ("shl", _UNSIGNED, _SHIFTED.format(op="vsll", amount="{1}")),
    ("shr", _UNSIGNED, _SHIFTED.format(op="vsrl", amount="{1}")),
    ("neg", INTEGERS, "__riscv_vrsub_vx_{k}({0}, 0, {n})"),
    ("not", INTEGERS, "__riscv_vnot_v_{k}({0}, {n})"),
    ("neg abs", FLOATS, "__riscv_vf{op}_v_{k}({0}, {n})"),
    ("abs", _SIGNED,
     defined("abs", "x", "return __riscv_vmax_vv_{k}(x, __riscv_vrsub_vx_{k}(x, 0, {n}), {n});")),
    ("sqrt", FLOATS, "__riscv_vfsqrt_v_{k}({0}, {n})"),
    ("rsqrt", FLOATS, "__riscv_vfrdiv_vf_{k}(__riscv_vfsqrt_v_{k}({0}, {n}), 1, {n})"),
    ("floor", FLOATS, _rounded("floor", "RDN")),
    ("ceil", FLOATS, _rounded("ceil", "RUP")),
    ("round", FLOATS, _rounded("round", "RNE")),
    ("reduce_add", FLOATS,
     "__riscv_vfmv_f_s_{one}_{t}("
     "__riscv_vfredusum_vs_{k}_{one}({0}, __riscv_vfmv_s_f_{one}(-0.0f, 1), {n}))"),
    ("reduce_add", INTEGERS, _fold("sum", "0")),
    ("reduce_min", INTEGERS, _fold("min{u}", "{most}")),
    ("reduce_max", INTEGERS, _fold("max{u}", "{least}")),
    ("select", f"{NUMBERS} {NARROW} bool", "__riscv_vmerge_vvm_{k}({2}, {1}, {0}, {n})"),
    # The comparisons with NaN are false, but for !=.
    ("lt le gt ge", NUMBERS, "__riscv_vm{s}{op}{u}_vv_{k}_b{b}({0}, {1}, {n})"),
    ("eq ne", NUMBERS, "__riscv_vm{s}{op}_vv_{k}_b{b}({0}, {1}, {n})"),
    # Masks: a bit for each lane.
    ("type", "mask", "{mask}"),
    ("true", "mask", "__riscv_vmset_m_b{b}({n})"),
    ("false", "mask", "__riscv_vmclr_m_b{b}({n})"),
    ("alike", "mask", "({0} ? __riscv_vmset_m_b{b}({n}) : __riscv_vmclr_m_b{b}({n}))"),
    ("known", "mask", "__riscv_vlm_v_b{b}((const uint8_t *)(const uint64_t[]){{{0}}}, {n})"),
    ("first", "mask", _first_lanes),
    ("not", "mask", "__riscv_vmnot_m_b{b}({0}, {n})"),
    ("and min mul", "mask", "__riscv_vmand_mm_b{b}({0}, {1}, {n})"),
    ("or max add", "mask", "__riscv_vmor_mm_b{b}({0}, {1}, {n})"),
    ("xor ne", "mask", "__riscv_vmxor_mm_b{b}({0}, {1}, {n})"),
    ("eq", "mask", "__riscv_vmxnor_mm_b{b}({0}, {1}, {n})"),
    # These invert the second.
    ("gt", "mask", "__riscv_vmandn_mm_b{b}({0}, {1}, {n})"),
    ("lt", "mask", "__riscv_vmandn_mm_b{b}({1}, {0}, {n})"),
    ("ge", "mask", "__riscv_vmorn_mm_b{b}({0}, {1}, {n})"),
    ("le", "mask", "__riscv_vmorn_mm_b{b}({1}, {0}, {n})"),
    ("test", "mask", "__riscv_vmsne_vx_{bytes}_b{b}({0}, 0, {n})"),
    ("bytes", "mask", "__riscv_vmerge_vxm_{bytes}(__riscv_vmv_v_x_{bytes}(0, {n}), 1, {0}, {n})"),
    ("any", "mask", "(__riscv_vcpop_m_b{b}({0}, {n}) != 0)"),
    ("all", "mask", "(__riscv_vcpop_m_b{b}({0}, {n}) == {n})"),
    ("odd", "mask", "((__riscv_vcpop_m_b{b}({0}, {n}) & 1) != 0)"),
)  # fmt: skip
