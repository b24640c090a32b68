"""Operations on x86 registers as templates: those of AVX2, and what AVX-512 F/BW/DQ/VL has instead, at
every width.

Their words, of an element type and lanes (see `words` in `types.py`):

    {p} {s} {w}       _mm256, ps or epi32, ps or si256
    {u} {x}           epu32 where the sign matters; epi64x where set1 of 128 and 256 bits wants that
    {b} {bits}        of an element, of the register
    {sr} {least}      srl or sra; the least signed integer
    {m} {all}         the k-mask type of so many lanes, and all of them
    {masked}{inside}  `mask_` and the lanes that there are, where the register has more
"""

from __future__ import annotations

from hbc.codegen.vector.machine import (
    FLOATS,
    INTEGERS,
    MASKS,
    NARROW,
    NUMBERS,
    SMALL,
    Template,
    rows,
)
from hbc.codegen.x86.functions import (
    by_mask,
    extreme,
    first_lanes,
    high_halves,
    of_bits,
    times_constant,
    twice,
)

_ONES = "{p}_set1_{x}(-1)"
_PREDICATES = {
    "lt": "_CMP_LT_OQ", "le": "_CMP_LE_OQ", "gt": "_CMP_GT_OQ", "ge": "_CMP_GE_OQ",
    "eq": "_CMP_EQ_OQ", "ne": "_CMP_NEQ_UQ",
}  # fmt: skip
_ROUND = {"floor": "NEG_INF", "ceil": "POS_INF", "round": "NEAREST_INT"}
_LEAST = {"u8": "-128", "u16": "-32768", "u32": "INT32_MIN", "u64": "INT64_MIN"}
# AVX2 compares signed integers for == and >; the rest follows.
_EQUAL, _GREATER = "{p}_cmpeq_epi{b}({0}, {1})", "{p}_cmpgt_epi{b}({0}, {1})"
_LESS = "{p}_cmpgt_epi{b}({1}, {0})"


def _not(text: str) -> str:
    return f"{{p}}_xor_{{w}}({text}, {_ONES})"


def _of_unsigned(template: str, least: str) -> str:
    """The comparison of signed integers with both operands moved down by half their range."""
    for n in "01":
        template = template.replace(
            f"{{{n}}}", f"{{p}}_xor_{{w}}({{{n}}}, {{p}}_set1_{{x}}({least}))"
        )
    return template


def _flipped(operation: str, bits: str) -> str:
    """The operation on `a` and `b` with these bits of them, and then of the result, flipped."""
    x, y = (f"{{p}}_xor_{{w}}({v}, {{p}}_set1_{{s}}({bits}))" for v in "ab")
    return f"{{p}}_xor_{{w}}({operation}({x}, {y}), {{p}}_set1_{{s}}({bits}))"


_HALF = "{p}_{sr}i_epi{b}({p}_xor_{w}(a, b), 1)"
# Bytes, of which there are no shifts: words are shifted, and what came from the neighbour is cleared.
_SHIFTED_BYTES = "{p}_and_{w}({p}_srli_epi16({0}, {1}), {p}_set1_epi8((char)(255 >> {1})))"
_SIGN = "{p}_set1_epi8((char)(128 >> {1}))"
_ORDERED: dict[str, str] = {
    "gt": _GREATER, "lt": _LESS, "le": _not(_GREATER), "ge": _not(_LESS),
}  # fmt: skip
_NUMBERS: tuple[tuple[str, str, Template], ...] = (
    ("add sub", NUMBERS, "{p}_{op}_{s}({0}, {1})"),
    ("mul div", FLOATS, "{p}_{op}_{s}({0}, {1})"),
    ("mul", "i16 u16 i32 u32", "{p}_mullo_{s}({0}, {1})"),
    ("min max", SMALL, "{p}_{op}_{u}({0}, {1})"),
    ("mul_by", "i16 u16", times_constant),
    # The second operand when either is NaN: right when the first is a number.
    ("min_number", FLOATS, "{p}_min_{s}({0}, {1})"),
    ("max_number", FLOATS, "{p}_max_{s}({0}, {1})"),
    ("min", FLOATS, extreme("min")),
    ("max", FLOATS, extreme("max")),
    ("fmadd fmsub fnmadd", FLOATS, "{p}_{op}_{s}({0}, {1}, {2})"),
    ("mulhi", "i16 u16", "{p}_mulhi_{u}({0}, {1})"),
    ("mulhi", "i32 u32", high_halves),
    ("mulround", "i16", "{p}_mulhrs_{s}({0}, {1})"),
    ("avgup", "u8 u16", "{p}_avg_{u}({0}, {1})"),
    ("avgup", "i8 i16", twice("avgup", _flipped("{p}_avg_epu{b}", "{least}"))),
    ("avgup", "i32 u32", twice("avgup", f"{{p}}_sub_{{s}}({{p}}_or_{{w}}(a, b), {_HALF})")),
    # The average of the complements, rounded up, is the complement of that which is rounded down.
    ("avg", "u8", twice("avg", _flipped("{p}_avg_{u}", "-1"))),
    ("avg", "i8", twice("avg", _flipped("{p}_avg_epu8", "127"))),
    ("avg", "i16 u16 i32 u32", twice("avg", f"{{p}}_add_{{s}}({{p}}_and_{{w}}(a, b), {_HALF})")),
    ("addsat", "i8 u8 i16 u16", "{p}_adds_{u}({0}, {1})"),
    ("subsat", "i8 u8 i16 u16", "{p}_subs_{u}({0}, {1})"),
    ("addsat", "u32", twice("addsat", "{p}_add_{s}(a, {p}_min_{u}(b, {p}_xor_{w}(a, {p}_set1_{s}(-1))))")),
    ("subsat", "u32", twice("subsat", "{p}_sub_{s}({p}_max_{u}(a, b), b)")),
    ("absd", "u8 u16", twice("absd", "{p}_or_{w}({p}_subs_{u}(a, b), {p}_subs_{u}(b, a))")),
    ("absd", "i8 i16 i32 u32", twice("absd", "{p}_sub_{s}({p}_max_{u}(a, b), {p}_min_{u}(a, b))")),
    ("and or xor", INTEGERS, "{p}_{op}_{w}({0}, {1})"),
    ("not", INTEGERS, "{p}_xor_{w}({0}, {p}_set1_epi32(-1))"),
    ("neg", INTEGERS, "{p}_sub_{s}({p}_setzero_{w}(), {0})"),
    ("neg", "f32", "{p}_xor_{s}({0}, {p}_set1_{s}(-0.0f))"),
    ("neg", "f64", "{p}_xor_{s}({0}, {p}_set1_{s}(-0.0))"),
    ("abs", "f32", "{p}_andnot_{s}({p}_set1_{s}(-0.0f), {0})"),
    ("abs", "f64", "{p}_andnot_{s}({p}_set1_{s}(-0.0), {0})"),
    ("abs", "i8 i16 i32", "{p}_abs_{s}({0})"),
    ("shl_by", "i16 u16 i32 u32 i64 u64", "{p}_slli_epi{b}({0}, {1})"),
    ("shr_by", "u16 u32 u64", "{p}_srli_epi{b}({0}, {1})"),
    ("shr_by", "i16 i32", "{p}_srai_epi{b}({0}, {1})"),
    ("shl_by", "i8 u8", "{p}_and_{w}({p}_slli_epi16({0}, {1}), {p}_set1_epi8((char)(255 << {1})))"),
    ("shr_by", "u8", _SHIFTED_BYTES),
    ("shr_by", "i8", f"{{p}}_sub_epi8({{p}}_xor_{{w}}({_SHIFTED_BYTES}, {_SIGN}), {_SIGN})"),
    ("shl", "i32 u32 i64 u64", "{p}_sllv_epi{b}({0}, {1})"),
    ("shr", "u32 u64", "{p}_srlv_epi{b}({0}, {1})"),
    ("shr", "i32", "{p}_srav_epi{b}({0}, {1})"),
    ("sqrt", FLOATS, "{p}_sqrt_{s}({0})"),
    ("rsqrt", "f32", "{p}_div_{s}({p}_set1_{s}(1.0f), {p}_sqrt_{s}({0}))"),
    ("rsqrt", "f64", "{p}_div_{s}({p}_set1_{s}(1.0), {p}_sqrt_{s}({0}))"),
    *(
        (op, FLOATS, f"{{p}}_{{round}}_{{s}}({{0}}, _MM_FROUND_TO_{to} | _MM_FROUND_NO_EXC)")
        for op, to in _ROUND.items()
    ),
)  # fmt: skip
_COMPARISONS: tuple[tuple[str, str, Template], ...] = (
    *(
        (op, FLOATS, f"{{p}}_cast{{s}}_si{{bits}}({{p}}_cmp_{{s}}({{0}}, {{1}}, {how}))")
        for op, how in _PREDICATES.items()
    ),
    ("eq", INTEGERS, _EQUAL),
    ("ne", INTEGERS, _not(_EQUAL)),
    *((op, "i8 i16 i32 i64", template) for op, template in _ORDERED.items()),
    *(
        (op, t, _of_unsigned(template, least))
        for t, least in _LEAST.items()
        for op, template in _ORDERED.items()
    ),
    ("select", FLOATS, by_mask("{p}_blendv_{s}({2}, {1}, {mask})")),
    ("select", f"{INTEGERS} {NARROW} {MASKS}", "{p}_blendv_epi8({2}, {1}, {0})"),
    ("select_zero keep", FLOATS, by_mask("{p}_and_{s}({mask}, {1})")),
    ("select_zero keep", f"{INTEGERS} {NARROW} bool", "{p}_and_{w}({0}, {1})"),
)
_LANE_MASKS: tuple[tuple[str, str, Template], ...] = (
    ("type", MASKS, "__m{bits}i"),
    ("element", MASKS, "int{b}_t"),
    ("spill", MASKS, "{p}_storeu_si{bits}((__m{bits}i *){0}, {1})"),
    ("lanes", MASKS, "{0}"),
    ("true", MASKS, _ONES),
    ("false", MASKS, "{p}_setzero_{w}()"),
    ("alike", MASKS, "{p}_set1_{x}({0})"),
    ("not", MASKS, _not("{0}")),
    ("and min mul", MASKS, "{p}_and_{w}({0}, {1})"),
    ("or max add", MASKS, "{p}_or_{w}({0}, {1})"),
    ("xor ne", MASKS, "{p}_xor_{w}({0}, {1})"),
    ("eq", MASKS, _not("{p}_xor_{w}({0}, {1})")),
    ("lt", MASKS, "{p}_andnot_{w}({0}, {1})"),
    ("gt", MASKS, "{p}_andnot_{w}({1}, {0})"),
    ("le", MASKS, f"{{p}}_or_{{w}}({_not('{0}')}, {{1}})"),
    ("ge", MASKS, f"{{p}}_or_{{w}}({{0}}, {_not('{1}')})"),
    ("test", "mask8", _not("{p}_cmpeq_epi8({0}, {p}_setzero_{w}())")),
    ("bytes", "mask", "{p}_and_{w}({0}, {p}_set1_epi8(1))"),
    ("any", "mask", of_bits("({bits} != 0)")),
    ("all", "mask", of_bits("({bits} == {all})")),
    ("odd", "mask", of_bits("(__builtin_popcountll({bits}) & 1)")),
)
AVX2_ROWS: dict[tuple[str, str], Template] = rows(*_NUMBERS, *_COMPARISONS, *_LANE_MASKS)

_K_MASKS: tuple[tuple[str, str, Template], ...] = (
    ("type", "mask", "{m}"),
    ("bit", "mask", "{0} >> {1} & 1"),
    ("joined", "mask", "({m})({0} | ({m}){1} << {2})"),
    ("first", "mask", first_lanes),
    ("known", "mask", "{0}"),
    ("true", "mask", "{all}"),
    ("false", "mask", "0"),
    ("alike", "mask", "(({m})({0} ? {all} : 0))"),
    ("not", "mask", "({m})(~{0} & {all})"),
    ("and min mul", "mask", "({m})({0} & {1})"),
    ("or max add", "mask", "({m})({0} | {1})"),
    ("xor ne", "mask", "({m})({0} ^ {1})"),
    ("eq", "mask", "({m})(~({0} ^ {1}) & {all})"),
    ("lt", "mask", "({m})(~{0} & {1})"),
    ("gt", "mask", "({m})({0} & ~{1})"),
    ("le", "mask", "({m})((~{0} | {1}) & {all})"),
    ("ge", "mask", "({m})(({0} | ~{1}) & {all})"),
    ("test", "mask", "{p}_{masked}test_epi8_mask({inside}{0}, {p}_set1_epi8(-1))"),
    ("bytes", "mask", "{p}_maskz_set1_epi8({0}, 1)"),
    ("any", "mask", "({0} != 0)"),
    ("all", "mask", "({0} == {all})"),
    ("odd", "mask", "(__builtin_popcountll({0}) & 1)"),
)
_ALL = f"{NUMBERS} {NARROW}"
AVX512_ROWS: dict[tuple[str, str], Template] = AVX2_ROWS | rows(
    ("mul", "i64 u64", "{p}_mullo_{s}({0}, {1})"),
    ("min max", "i64 u64", "{p}_{op}_{u}({0}, {1})"),
    ("abs", "i64", "{p}_abs_{s}({0})"),
    ("shr_by", "i64", "{p}_srai_epi{b}({0}, {1})"),
    ("shl", "i16 u16", "{p}_sllv_epi{b}({0}, {1})"),
    ("shl", FLOATS, "{p}_scalef_{s}({0}, {1})"),
    ("shr", "u16", "{p}_srlv_epi{b}({0}, {1})"),
    ("shr", "i16 i64", "{p}_srav_epi{b}({0}, {1})"),
    *(
        (op, FLOATS, f"{{p}}_{{masked}}cmp_{{s}}_mask({{inside}}{{0}}, {{1}}, {how})")
        for op, how in _PREDICATES.items()
    ),
    ("lt le gt ge eq", INTEGERS, "{p}_{masked}cmp{op}_{u}_mask({inside}{0}, {1})"),
    ("ne", INTEGERS, "{p}_{masked}cmpneq_{u}_mask({inside}{0}, {1})"),
    ("select", _ALL, "{p}_mask_blend_{s}({0}, {2}, {1})"),
    ("select_zero keep", _ALL, "{p}_maskz_mov_{s}({0}, {1})"),
    *_K_MASKS,
)
