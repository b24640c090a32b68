"""Pins `async`: what two threads do in an iteration, in how much memory, and that results stay the same."""

from __future__ import annotations

import numpy as np
import pytest
from outlines import agrees, lowered, outline, with_schedule

import hbc
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.frontend.lowering.run_ahead import beside, run_ahead
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import F32, I32, INDEX, Memory, Type
from hbc.ir.lang.walk import nodes

BLUR = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
require H >= 1 and W >= 1
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x] = rows[y - 1, x] + 2.0 * rows[y, x] + rows[y + 1, x]
"""
CHAIN = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
require H >= 1 and W >= 1
P = clamp_edge(I)
a[y, x] = P[y, x - 1] + P[y, x + 1]
b[y, x] = a[y - 1, x] * 2.0 - a[y, x]
c[y, x] = b[y, x] + 1.0
O[y, x] = a[y, x] + b[y, x + 1] * c[y, x] + P[y - 2, x]
"""
SUMS = """
size   W, H
input  I: f32[H, W]
input  x: f32[W]
output O: f32[H]
reduce k in W, q in H
s[i] = 0.0
s[i] += I[i, k] * x[k]
O[i] = 0.0
O[q] += s[q] * s[H - 1 - q] where s[q] > -0.5
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
PAIRS = """
size   W, H
input  I: i32[H, W]
output O: i32[H, W]
(p[y, x], q[y, x]) = (I[y, x] + 1, u8(I[y, x]))
O[y, x] = p[y, x] * 3 + i32(q[y, x])
"""
TWICE = "rows[12 * W] heap"


@pytest.mark.parametrize(
    ("program", "schedule", "memory"),
    [
        (BLUR, "O.split(y, yo, yi, 4) rows.compute_at(O, yo).async()", [TWICE, "  rows[5 * W] heap"]),
        (BLUR, "rows.compute_at(O, y).vectorize(x, 8).async() O.vectorize(x, 8)", ["rows[6 * W] heap"]),
        (BLUR, "O.split(y, yo, yi, 4, tail = shift) rows.compute_at(O, yo).async()",
         [f"  {TWICE}", f"  {TWICE}"]),
        (BLUR, "O.tile(y, x, yo, xo, yi, xi, 4, 8) rows.compute_at(O, xo).async()",
         ["  rows[96] stack", "    rows[42] stack", "  rows[80] stack"]),
        (BLUR, "O.reorder(x, y) rows.compute_at(O, x).async()", ["rows[2 * H + 4] heap"]),
        (BLUR, "O.split(y, yo, yi, 4).partition(yo) rows.compute_at(O, yo).async()", None),
        (CHAIN, "O.split(y, yo, yi, 4).prefetch(I, yo, 1) a.compute_at(O, yo).async() b.compute_at(O, yo)"
                " c.compute_at(O, yi)", None),
        (BLUR, "O.split(y, yo, yi, 4).specialize(W >= 8).vectorize(x, 8) rows.compute_at(O, yo).async()",
         None),
        (BLUR, "O.split(y, yo, yi, 4) rows.compute_at(O, yo).reorder_storage(x, y).pad_storage(y, 8)"
               ".store_in(heap).async().trace()", None),
        (BLUR, "O.split(y, yo, yi, 4) I.in(rows).compute_at(O, yo).async() rows.compute_at(O, yi)", None),
        (BLUR, "O.split(y, yo, yi, 4) I.in(rows).compute_at(rows, y) rows.compute_at(O, yo).async()", None),
        (BLUR, "O.split(y, yo, yi, 8).split(yi, ym, yi, 3) rows.compute_at(O, ym).async()", None),
        (CHAIN, "O.split(y, yo, yi, 4) a.compute_at(O, yo).async() b.compute_at(O, yo).async()", None),
        (CHAIN, "O.split(y, yo, yi, 4) a.compute_at(O, yo).async() b.compute_at(O, yo)"
                " c.compute_at(O, yi)", None),
        (CHAIN, "a.compute_root() b.compute_at(O, y).async() c.compute_at(O, y)", None),
        (BLUR, "O.split(y, yo, yi, 4) I.in(rows).store_at(O, yo).compute_at(rows, y)"
               " rows.compute_at(O, yo).async()", None),
        (SUMS, "s.compute_at(O.update, q).async() s.update.atomic().vectorize(k, 4)", None),
        (SUMS, "O.update.split(q, qo, qi, 3) s.compute_at(O.update, qo).async()", None),
        (TRIANGLE, "f.compute_at(O.update, y).async()", ["f[2 * H] heap"]),
        (PAIRS, "O.split(y, yo, yi, 4) p.compute_at(O, yo).async()",
         ["p[8 * W] heap", "q[8 * W] heap", "  p[3 * W] heap", "  q[3 * W] heap"]),
    ],
)  # fmt: skip
def test_memory_and_results(program: str, schedule: str, memory: list[str] | None) -> None:
    text = outline(lowered(program, schedule))
    assert "parallel thread: 2" in text
    if memory is not None:
        lines = [x for x in text.split("\n") if x.endswith((" heap", " stack"))]
        assert [x.rstrip() for x in lines] == memory
    agrees(program, schedule)


def test_scalar_code_gives_the_same() -> None:
    agrees(BLUR, "O.tile(y, x, yo, xo, yi, xi, 3, 5) rows.compute_at(O, xo).async()", "c")


def test_neither_half_touches_what_the_other_does() -> None:
    """The elements of each half: those that one thread stores are none that the other loads."""
    kernel = lowered(BLUR, "O.split(y, yo, yi, 4) rows.compute_at(O, yo).async()")
    (two,) = [x for x in _loops(kernel.body) if x.var == "thread"]
    assert isinstance(two.body, ir.If) and two.body.otherwise is not None
    early, late = two.body.then, two.body.otherwise
    stored = {n.buffer for n in _all(early) if isinstance(n, ir.Store)}
    assert stored == {"rows"}
    assert not any(isinstance(n, ir.Load) and n.buffer == "rows" for n in _all(early))
    assert not any(isinstance(n, ir.Store) and n.buffer == "rows" for n in _all(late))


def _all(s: ir.Stmt) -> list[ir.Node]:
    return list(nodes(s))


def _loops(s: ir.Stmt) -> list[ir.For]:
    return [n for n in _all(s) if isinstance(n, ir.For)]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_native_code_with_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    text = with_schedule(
        BLUR, "O.split(y, yo, yi, 4) rows.compute_at(O, yo).vectorize(x, 8).async()"
    )
    kernel = hbc.compile(text, target="c")
    random = np.random.default_rng(threads)
    for h, w in [
        (1, 1),
        (3, 9),
        (4, 8),
        (5, 7),
        (8, 16),
        (29, 33),
        *random.integers(1, 200, (6, 2)),
    ]:
        image = random.random((h, w), np.float32)
        padded = np.pad(image, 1, "edge")
        rows = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
        np.testing.assert_allclose(kernel(image), rows[:-2] + 2 * rows[1:-1] + rows[2:], rtol=1e-5)


def test_what_data_decide_has_no_two_buffers() -> None:
    """Regions have sizes of bounds, not of data; were one of data, none would be known around the loop."""
    many = ir.Cast(INDEX, ir.Load("I", ir.Var("y"), Type(I32)))
    fill = read_stmt("rows[0] = 1.0:f32")
    use = read_stmt("O[y] = rows.f32[0]")
    inner = ir.Allocate("rows", F32, ir.Var("n"), Memory.HEAP, beside(fill, use, "thread"))
    loop = ir.For(
        "y", ir.const_index(0), ir.Var("H"), ir.LoopKind.SERIAL, ir.LetStmt("n", many, inner)
    )
    with pytest.raises(HbcError) as raised:
        run_ahead(loop)
    (found,) = raised.value.diagnostics
    assert found.message.startswith("how much memory `rows` needs at most is not known")
    assert found.hint


def test_a_gpu_is_told_what_it_has() -> None:
    text = f"{BLUR} schedule s for cuda {{ rows.compute_at(O, y).async() }}"
    pipeline = load_pipeline(Source("blur.hb", text), {})
    with pytest.raises(HbcError, match="`async` is for the threads of a processor"):
        lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS["cuda"])
