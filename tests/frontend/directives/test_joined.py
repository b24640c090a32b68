"""`compute_with`: steps in one nest of loops; each schedule is run against the oracle after every pass."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline

from hbc.frontend.checks.check import check
from hbc.frontend.directives.loop_tree import loop_tree
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

ALIKE = """
size   W, H
input  A: f32[H, W]
output O: f32[H, W]
output Q: f32[H, W]
edge = clamp_edge(A)
f[y, x] = edge[y, x - 1] + edge[y, x + 1]
g[y, x] = edge[y - 1, x] * f[y, x]
O[y, x] = f[y, x] + g[y, x]
Q[y, x] = g[y, x] - f[y, x]
"""

# f is needed from two rows before, h from none, g from one behind: and h reads the row of f before its own.
APART = """
size   W, H
input  A: f32[H, W]
output O: f32[H, W]
edge = clamp_edge(A)
f[y, x] = edge[y, x - 1] + edge[y, x + 1]
g[y, x] = edge[y - 1, x] * 2
h[y, x] = f[y - 1, x] * 3
O[y, x] = f[y - 2, x] + f[y, x + 1] + g[y + 1, x - 1] + h[y, x] + h[y + 1, x]
"""

STEPS = """
size   W, H
input  A: f32[H, W]
output O: f32[H, W]
edge = clamp_edge(A)
reduce r in 3, c in 3
f[y, x] = 0
f[y, x] += edge[y + r, x + c]
g[y, x] = 1
g[y, x] += edge[y + r, x + c] * f[y, x]
g[y, x] *= 0.5
O[y, x] = f[y, x] + g[y, x]
"""


@pytest.mark.parametrize(
    ("program", "schedule", "wanted"),
    [
        (
            ALIKE,
            "Q.compute_with(O, x)",
            """
            y: H
              x: W
                O = ..
                Q = ..
            """,
        ),
        (
            ALIKE,  # what both read is computed once for both
            "O.vectorize(x, 8); Q.compute_with(O, y); f.compute_at(Q, y)",
            """
            y: H
              f[W] heap
              x: W
                f = ..
              x: W / 8
                vector x_v: 8
                  O = ..
              x_tail = W % 8
              if x_tail > 0
                vector x_v: 8
                  if x_v < x_tail
                    O = ..
              x: W
                Q = ..
            """,
        ),
        (
            APART,
            "f.compute_root(); h.compute_root().compute_with(f, y); g.compute_root().compute_with(f, y)",
            """
            f[(H + 2) * (W + 1)] heap
            g[H * W] heap
            h[(H + 1) * W] heap
            y: H + 3 from -2
              if y < H
                x: W + 1
                  f = ..
              if y > 0
                x: W from -1
                  g = ..
              if y >= 0
                x: W
                  h = ..
            y: H
              x: W
                O = ..
            """,
        ),
        (
            STEPS,  # steps keep their order: those of f, then those of g
            "f.update.compute_with(f, x); g.update.compute_with(f.update, x); g.update(1).compute_with(f, x)",
            """
            f[H * W] heap
            g[H * W] heap
            y: H
              x: W
                g = ..
            y: H
              x: W
                f = ..
                r: 3
                  c: 3
                    f = ..
                r: 3
                  c: 3
                    g = ..
                g = ..
            y: H
              x: W
                O = ..
            """,
        ),
        (
            STEPS,  # different loops down to different places
            "f.compute_root(); g.compute_with(f, y); g.update.compute_with(f.update, x)",
            """
            f[H * W] heap
            g[H * W] heap
            y: H
              x: W
                f = ..
              x: W
                g = ..
            y: H
              x: W
                r: 3
                  c: 3
                    f = ..
                r: 3
                  c: 3
                    g = ..
            y: H
              x: W
                g = ..
            y: H
              x: W
                O = ..
            """,
        ),
    ],
    ids=["one body", "read by both", "different rows", "four steps", "in pairs"],
)
def test_loops(program: str, schedule: str, wanted: str) -> None:
    assert outline(lowered(program, schedule)) == expected(wanted)
    agrees(program, schedule, "avx512", "c")


TILES = "tile(y, x, yo, xo, yi, xi, 4, 8"


@pytest.mark.parametrize(
    ("program", "schedule"),
    [
        (
            ALIKE,
            f"O.{TILES}, tail = shift).vectorize(xi); f.compute_at(O, xo).vectorize(x, 8);"
            f"Q.{TILES}, tail = shift).vectorize(xi).compute_with(O, yi); g.compute_at(O, yi)",
        ),
        (
            ALIKE,  # a split of the leader's own, of a loop inside of what both share, does not divide
            f"O.{TILES}).split(yi, ya, yb, 3).vectorize(xi); f.compute_at(O, xo);"
            f"Q.{TILES}).vectorize(xi).compute_with(O, xo); g.compute_at(O, xo)",
        ),
        (
            ALIKE,
            "O.fuse(y, x, k).split(k, ko, ki, 8).vectorize(ki); f.compute_at(O, ko);"
            "Q.fuse(y, x, k).split(k, ko, ki, 8).vectorize(ki).compute_with(O, ki)",
        ),
        (
            ALIKE,
            "O.split(y, yo, yi, 4).vectorize(x, 8).parallel(yo);"
            "Q.split(y, yo, yi, 4).vectorize(x, 8).parallel(yo).compute_with(O, yi);"
            "f.store_at(O, yo).compute_at(O, yi).vectorize(x, 8)",
        ),
        (
            APART,  # of a parallel loop, what the same iteration makes; serial, what an earlier one did
            "O.parallel(y); f.store_root().compute_root(); g.compute_root().compute_with(f, x);"
            "h.compute_root().unroll(x, 4)",
        ),
        (
            APART,
            "f.compute_root().split(y, yo, yi, 4).vectorize(x, 8);"
            "g.compute_root().split(y, yo, yi, 4).vectorize(x, 8).compute_with(f, x_v);"
            "h.compute_root().split(y, yo, yi, 4).compute_with(f, yi)",
        ),
        (
            APART,  # a split of rows that does not divide is not taken out of the order of rows
            "f.compute_root().split(y, yo, yi, 4).split(yi, ya, yb, 3);"
            "h.compute_root().split(y, yo, yi, 4).split(yi, ya, yb, 3).compute_with(f, yb)",
        ),
        (
            APART,  # windows that slide together
            "O.vectorize(x, 8); f.store_root().compute_at(O, y).vectorize(x, 8);"
            "g.store_root().compute_at(O, y).vectorize(x, 8).compute_with(f, x); h.compute_at(O, y)",
        ),
        (
            STEPS,
            "O.split(y, yo, yi, 4).parallel(yo); f.compute_at(O, yi).vectorize(x, 8);"
            "g.compute_at(O, yi).vectorize(x, 8).compute_with(f, x);"
            "f.update.vectorize(x, 8).unroll(r).unroll(c);"
            "g.update.vectorize(x, 8).unroll(r).unroll(c).compute_with(f.update, x)",
        ),
    ],
    ids=[
        "shifted tiles", "own tail", "fused", "parallel strips", "row of another", "vectors apart",
        "ordered tails", "windows", "updates in strips",
    ],
)  # fmt: skip
def test_values(program: str, schedule: str) -> None:
    agrees(program, schedule)


def test_windows_that_are_alike_have_no_conditions() -> None:
    program = ALIKE.replace("* f[y, x]", "* 3").replace("g[y, x] - f[y, x]", "1")
    program = program.replace("f[y, x] + g[y, x]", "f[y, x] + g[y, x] + f[y - 1, x] + g[y - 1, x]")
    schedule = (
        "f.store_root().compute_at(O, y).vectorize(x, 8);"
        "g.store_root().compute_at(O, y).vectorize(x, 8).compute_with(f, x)"
    )
    found = outline(lowered(program, schedule))
    assert "if f_y" not in found and found.count("_y_new = ") == 1
    agrees(program, schedule)


def test_the_loops_that_are_shown() -> None:
    program = (
        f"{STEPS}schedule s for c {{ g.compute_with(f, y); g.update.compute_with(f.update, x) }}"
    )
    pipeline = check(parse(Source("steps.hb", program)), {})
    assert expected(
        """
        compute f (whole), g (whole)
          for y
            for x
              f[y, x] = ...
            for x
              g[y, x] = ...
          for y
            for x
              for r in 3
                for c in 3
                  f[y, x] += ...
              for r in 3
                for c in 3
                  g[y, x] += ...
          for y
            for x
              g[y, x] *= ...
        """
    ) in loop_tree(pipeline, pipeline.schedules[0])
