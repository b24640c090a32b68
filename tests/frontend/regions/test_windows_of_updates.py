"""Windows of Funcs with updates slide where each update touches its own point; else all is computed anew."""

from __future__ import annotations

from random import Random

import pytest
from outlines import agrees, lowered, outline, with_schedule

from hbc.cli.pipeline import load_pipeline
from hbc.frontend.directives.loop_tree import loop_tree
from hbc.ir.ground.source import Source

ONE = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
rows[y, x] = I[y, x]
rows[y, x] *= 2
O[y, x]    = rows[y, x] + rows[min(y + 1, H - 1), x]
"""
STENCILS = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
reduce j in 3
reduce i in -1 .. 2
rows[y, x] = 0
rows[y, x] += P[y, x + i] * f32(i + 2)
rows[y, x] = max(rows[y, x], P[y, x]) where x % 3 != 1
sums[y, x] = rows[y, x] / 2
sums[y, x] += rows[y + j - 1, x]
O[y, x]    = sums[y, x] + sums[y + 1, x]
"""
BESIDE = ONE.replace("rows[y, x] *= 2", "rows[y, 0] += rows[y, 1 % W]")
KEPT = "rows.store_root().compute_at(O, y)"


def test_new_rows_alone_are_computed() -> None:
    """After the first iteration one row, by both steps."""
    loops = outline(
        lowered(
            STENCILS.replace("sums[y + 1, x]", "0"),
            "rows.store_root().compute_at(O, y); sums.compute_at(O, y)",
        )
    )
    assert "rows[4 * W] heap" in loops
    assert "rows_y_new = select(y == 0, y - 1, y + 1)" in loops


@pytest.mark.parametrize("seed", range(12))
def test_schedules_agree_with_the_oracle(seed: int) -> None:
    agrees(STENCILS, _schedule(Random(seed)))


def _schedule(c: Random) -> str:
    """Both Funcs stored around where they are computed, at random; some loops split, vectorized, unrolled."""
    pieces = c.choice(["", f"O.split(y, yo, yi, {c.choice([2, 3, 4])}); "])
    outer, inner = ("yo", "yi") if pieces else ("y", "y")
    lines = [pieces]
    for f in ("rows", "sums"):
        store = c.choice(["store_root()", *(["store_at(O, yo)"] if pieces else [])])
        lines.append(
            f"{f}.{store}.compute_at(O, {c.choice([inner, outer] if 'root' in store else [inner])}); "
        )
        for stage in (f, f"{f}.update(0)", *(["rows.update(1)"] if f == "rows" else [])):
            how = c.choice(
                [
                    "",
                    "vectorize(x, 4)",
                    "vectorize(x, 8, tail = guard)",
                    "unroll(x, 2)",
                    "reorder(x, y)",
                ]
            )
            lines.append(f"{stage}.{how}; " if how else "")
    return "".join(lines) + c.choice(["O.vectorize(x, 8)", "O.unroll(x, 2)"])


def test_what_touches_other_points_is_computed_anew_and_the_loops_say_so() -> None:
    assert "_new" not in outline(lowered(BESIDE, KEPT))
    agrees(BESIDE, KEPT)
    said = _tree(BESIDE)
    assert "reused" not in said
    assert (
        "store rows here, and computed anew each time: its update touches other points of it than"
        in said
    )


def test_what_slides_is_reused_in_the_loops() -> None:
    assert "store rows here, reused by the loops inside" in _tree(ONE)


def _tree(program: str) -> str:
    p = load_pipeline(Source("kept.hb", with_schedule(program, KEPT)), {})
    return loop_tree(p, p.schedules[0])
