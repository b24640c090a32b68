"""Pins `hoist_storage`: where memory is allocated, how much, and that results are as without it."""

from __future__ import annotations

import pytest
from outlines import agrees, lowered, outline, with_schedule

from hbc.cli.pipeline import load_pipeline
from hbc.frontend.directives.schedule import apply_schedule
from hbc.frontend.regions.hoisted import lifted
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F32, I32, INDEX, Memory, Type

BLUR = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
require H >= 1 and W >= 1
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x] = rows[y - 1, x] + 2.0 * rows[y, x] + rows[y + 1, x]
"""
TRIANGLE = """
size   W, H
input  A: f32[H]
output O: f32[H, W]
require H >= 1
reduce k in H
f[i] = A[i] * A[i]
O[y, x] = 0
O[y, x] += f[k] where k <= y
"""
GROWING = """
size   W, H
input  A: f32[H, W]
output O: f32[H]
require W >= H
f[y, x] = A[y, x] * 2.0
O[t] = f[0, 0] + f[t, 0] + f[0, t] + f[t, t / 2]
"""
PAIRS = """
size   W, H
input  I: i32[H, W]
output O: i32[H, W]
(p[y, x], q[y, x]) = (I[y, x] + 1, u8(I[y, x]))
O[y, x] = p[y, x] * 3 + i32(q[y, x])
"""


@pytest.mark.parametrize(
    ("program", "schedule", "memory"),
    [
        (BLUR, "O.split(y, yo, yi, 4) rows.compute_at(O, yo).hoist_storage_root()", ["rows[6 * W] heap"]),
        (BLUR, "O.tile(y, x, yo, xo, yi, xi, 4, 8) rows.compute_at(O, xo).hoist_storage(O, yo)",
         ["  rows[48] stack", "  rows[40] stack"]),
        (BLUR, "O.split(y, yo, yi, 4).parallel(yo) rows.compute_at(O, yi).hoist_storage(O, yo)",
         ["  rows[3 * W] heap", "  rows[3 * W] heap"]),
        (BLUR, "O.split(y, yo, yi, 4) rows.store_at(O, yo).compute_at(O, yi).hoist_storage_root()",
         ["rows[4 * W] heap"]),
        (BLUR, "O.vectorize(x, 8) rows.compute_at(O, y).hoist_storage_root().store_in(heap)"
               ".reorder_storage(x, y)", ["rows[3 * W] heap"]),
        (BLUR, "O.split(y, yo, yi, 4) I.in(rows).compute_at(rows, y).hoist_storage(O, yo)"
               " rows.compute_at(O, yo)",
         ["  I_in_rows[W] heap", "  rows[6 * W] heap", "  I_in_rows[W] heap",
          "  rows[5 * W] heap"]),
        (TRIANGLE, "f.compute_at(O.update, y).hoist_storage_root()", ["f[H] heap"]),
        (GROWING, "f.compute_at(O, t).hoist_storage_root()", ["f[max(max((H + 1) / 2, H) * H, 0)] heap"]),
        (PAIRS, "O.split(y, yo, yi, 4) p.compute_at(O, yo).hoist_storage_root()",
         ["q[4 * W] heap", "p[4 * W] heap"]),
    ],
)  # fmt: skip
def test_memory_and_results(program: str, schedule: str, memory: list[str]) -> None:
    text = outline(lowered(program, schedule))
    assert [x for x in text.split("\n") if x.endswith((" heap", " stack"))] == memory
    agrees(program, schedule)


def test_what_data_decide_is_not_hoisted() -> None:
    """Regions have sizes of bounds, not of data; were one of data, there would be no bound outside."""
    program = with_schedule(BLUR, "rows.compute_at(O, y).hoist_storage_root()")
    pipeline = load_pipeline(Source("blur.hb", program), {})
    f = apply_schedule(pipeline, pipeline.schedules[0])[1]["rows"]
    many = ir.Cast(INDEX, ir.Load("I", ir.Var("y"), Type(I32)))
    inner = ir.Allocate("rows", F32, ir.Var("n"), Memory.HEAP, ir.Comment("rows"))
    loop = ir.For(
        "y", ir.const_index(0), ir.Var("H"), ir.LoopKind.SERIAL, ir.LetStmt("n", many, inner)
    )
    with pytest.raises(HbcError) as raised:
        lifted(f, frozenset({"rows"}), loop)
    (found,) = raised.value.diagnostics
    assert found.message == (
        "how much memory `rows` needs at most is not known where it is hoisted to"
    )
    assert found.span is not None and found.hint


def test_scalar_code_gives_the_same() -> None:
    agrees(
        BLUR, "O.tile(y, x, yo, xo, yi, xi, 3, 5) rows.compute_at(O, xo).hoist_storage_root()", "c"
    )
