"""Pins `fold_storage`: the memory that is left, and that results are as without it, at all sizes."""

from __future__ import annotations

import re
from random import Random

import pytest
from outlines import agrees, lowered, outline

STEPS = """
size   W, H
input  A: f32[W]
output O: f32[W]
require W >= 2 and H >= 0
reduce t in 1 .. H, x in 1 .. W - 1
u[s, i] = A[i]
u[t, x] = u[t - 1, x - 1] + 0.5 * u[t - 1, x + 1]
O[i] = u[H - 1, i]
"""
SECOND_ORDER = """
size   W, H
input  A: f32[W]
output O: f32[W]
require W >= 3 and H >= 2
reduce t in 2 .. H
E = clamp_edge(A)
u[s, i] = E[i] + f32(s)
u[t, i] = 1.5 * u[t - 1, i] - u[t - 2, i]
O[i] = u[H - 1, i] - u[H - 2, i]
"""
PLACED_INSIDE = """
size   W, H
input  A: f32[W, H]
output O: f32[W]
require H >= 1
reduce t in 1 .. H
u[i, s] = A[i, 0]
u[i, t] = 0.5 * u[i, t - 1] + A[i, t]
O[i] = u[i, H - 1]
"""
WINDOW = """
size   W, H
input  I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
require H >= 1 and W >= 1
rows[y, x] = P[y, x - 1] + P[y, x] + P[y, x + 1]
O[y, x] = rows[y - 1, x] + 2.0 * rows[y, x] + rows[y + 1, x]
"""
UPDATED = WINDOW.replace("O[y, x]", "reduce k in 3\nrows[y, x] += P[y + 1, x + k]\nO[y, x]")


@pytest.mark.parametrize(
    ("program", "schedule", "elements"),
    [
        (STEPS, "u.fold_storage(s, 2)", "2 * W"),
        (STEPS, "u.compute_root().fold_storage(s, 3)", "3 * W"),
        (STEPS, "u.fold_storage(s, 2) u.update.vectorize(x, 8)", "2 * W"),
        (STEPS, "u.fold_storage(s, 2) u.update.split(t, to, ti, 2).parallel(x)", "2 * W"),
        (STEPS, "u.fold_storage(s, 2).reorder_storage(i, s).vectorize(i, 4)", "2 * W"),
        (STEPS, "u.fold_storage(s, 2) u.update.specialize(W >= 8).vectorize(x, 8)", "2 * W"),
        (SECOND_ORDER, "u.fold_storage(s, 3) u.update.vectorize(i, 8)", "3 * W"),
        (SECOND_ORDER, "u.fold_storage(s, 3) u.update.reorder(i, t)", "3 * W"),
        (PLACED_INSIDE, "u.compute_at(O, i).fold_storage(s, 2)", "2"),
        (PLACED_INSIDE, "O.split(i, io, ii, 4).vectorize(ii) u.compute_at(O, io).fold_storage(s, 2)"
                        " u.update.reorder(t, i).vectorize(i)", "8"),
        (WINDOW, "rows.store_root().compute_at(O, y).fold_storage(y, 3)", "3 * W"),
        (WINDOW, "O.vectorize(x, 8) rows.store_root().compute_at(O, y).fold_storage(y, 5)"
                 ".vectorize(x, 8)", "5 * W"),
        (WINDOW, "O.split(y, yo, yi, 4) rows.store_root().compute_at(O, yo).fold_storage(y, 6)", "6 * W"),
        (WINDOW, "O.split(y, yo, yi, 4).parallel(yo) rows.store_at(O, yo).compute_at(O, yi)"
                 ".fold_storage(y, 3).vectorize(x, 4)", "3 * W"),
        (WINDOW, "O.tile(y, x, yo, xo, yi, xi, 2, 8) rows.store_at(O, yo).compute_at(O, xo)"
                 ".fold_storage(y, 4).fold_storage(x, 8)", "32"),
        (UPDATED, "rows.store_root().compute_at(O, y).fold_storage(y, 3)", "3 * W"),
    ],
)  # fmt: skip
def test_memory_and_results(program: str, schedule: str, elements: str) -> None:
    assert re.findall(r"[a-z]\[(.*)\]", outline(lowered(program, schedule)))[0] == elements
    agrees(program, schedule)


@pytest.mark.parametrize("seed", range(6))
def test_any_factor_that_is_taken_serves(seed: int) -> None:
    """Programs of several steps back and reads of several last steps: taken from the least factor on that
    holds them, and then right."""
    c = Random(seed)
    back, read = c.randint(1, 3), c.randint(0, 3)
    program = f"""
    size   W, H
    input  A: i32[W]
    output O: i32[W]
    require H >= 4 and W >= 1
    reduce t in {back} .. H, x in {c.randint(0, 2)} .. W
    u[s, i] = A[i] * 3
    u[t, x] = u[t - 1, x] * 5 - u[t - {back}, (x + 1) % W] where x % {c.randint(1, 3)} == 0
    O[i] = u[H - 1, i] + u[H - 1 - {read}, W - 1 - i]
    """
    least = max(back, read) + 1
    agrees(program, f"u.fold_storage(s, {least + c.randint(0, 2)}) u.update.vectorize(x, 4)")
