"""NEON has no masked loads and stores: small functions that touch the live lanes of adjacent elements."""

from __future__ import annotations

from hbc.codegen.neon.types import fill, mask_kind, mask_type, q, register_lanes, spill, vector_type
from hbc.codegen.neon.words import live_count
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type, unsigned_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.lane_masks import mask
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.vectors.take import integer

_LOAD = """\
/* The elements whose lanes are live, the others 0. */
static inline {v} {name}(const {t} *p, {argument})
{{
    {t} lanes[{whole}] = {{0}};
{setup}    for (int i = 0; i < {lanes}; ++i)
        if ({live})
            lanes[i] = p[i];
    return {result};
}}
"""
_STORE = """\
/* The lanes that are live. */
static inline void {name}({t} *p, {argument}, {v} x)
{{
    {t} lanes[{whole}];
    {spill};
{setup}    for (int i = 0; i < {lanes}; ++i)
        if ({live})
            p[i] = lanes[i];
}}
"""


def masked_load(at: str, live: ir.Expr, t: DType, unit: Unit) -> str:
    """Adjacent elements from the address `at` on; nothing else is read."""
    lanes = live.type.lanes
    suffix, parts, argument = _liveness(live, t, unit)
    text = _LOAD.format(
        name=(name := f"load_{suffix}_{t}x{lanes}"), v=vector_type(t, lanes), t=c_type(t),
        lanes=lanes, whole=register_lanes(t, lanes), result=fill(t, lanes, "lanes"), **parts,
    )  # fmt: skip
    return f"{unit.prelude.add(name, text)}({at}, {argument})"


def masked_store(at: str, live: ir.Expr, t: DType, value: str, unit: Unit) -> str:
    """The call that stores the live lanes of `value` from the address `at` on."""
    lanes = live.type.lanes
    suffix, parts, argument = _liveness(live, t, unit)
    text = _STORE.format(
        name=(name := f"store_{suffix}_{t}x{lanes}"), v=vector_type(t, lanes), t=c_type(t),
        lanes=lanes, whole=register_lanes(t, lanes), spill=spill(t, lanes, "lanes", "x"), **parts,
    )  # fmt: skip
    return f"{unit.prelude.add(name, text)}({at}, {argument}, {value})"


def _liveness(live: ir.Expr, t: DType, unit: Unit) -> tuple[str, dict[str, str], str]:
    """How such a function is told which lanes are live, and what it is told: the first n, or a mask."""
    lanes = live.type.lanes
    count = live_count(live, tuple(range(lanes)))
    if count is not None:
        parts = {"argument": "int64_t n", "setup": "", "live": "i < n"}
        return "first", parts, str(scalar(count, unit))
    width = min(t.bits, 128 // lanes)
    held = integer(width)
    store = f"vst1{q(held, lanes)}_{mask_kind(width)}"
    array = f"{unsigned_type(width)} live[{register_lanes(held, lanes)}];"
    parts = {
        "argument": f"{mask_type(width, lanes)} mask",
        "setup": f"    {array}\n    {store}(live, mask);\n",
        "live": "live[i]",
    }
    return "live", parts, mask(live, width, unit)
