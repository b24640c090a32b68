"""Pins schedules of reductions and scans: `atomic`, `rfactor`, unrolled and vectorized updates."""

from __future__ import annotations

import pytest
from outlines import agrees, expected, lowered, outline
from small_programs import SCAN, SUMS

from hbc.ir.lang.show import show

PRODUCT = """
size   W, H
input  A: f32[H, W]
input  B: f32[W, H]
output C: f32[H, H]
reduce k in W
acc[i, j] = 0.0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]   = acc[i, j]
"""


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.update.atomic().vectorize(r, 8)",
            """
            y: H
              O = ..
            y: H
              r: W / 8
                vector r_v: 8
                  O = ..
              r_tail = W % 8
              if r_tail > 0
                vector r_v: 8
                  if r_v < r_tail
                    O = ..
            """,
        ),
        (
            "O.update.split(r, ro, ri, 4).unroll(ri)",
            """
            y: H
              O = ..
            y: H
              ro: W / 4
                unroll ri: 4
                  O = ..
              r_tail = W % 4
              if r_tail > 0
                ri: r_tail
                  O = ..
            """,
        ),
        (
            "O.update.reorder(r, y)",
            """
            y: H
              O = ..
            r: W
              y: H
                O = ..
            """,
        ),
        (
            "O.update.split(r, ro, ri, 8).rfactor(ri, u)",
            """
            O_u[8 * H] heap
            ro_n = (W + 7) / 8
            y: H
              u: 8
                O_u = ..
            y: H
              u: 8
                ro: ro_n
                  if 8 * ro + u < W
                    O_u = ..
            y: H
              O = ..
            y: H
              ri: 8
                O = ..
            """,
        ),
        (
            "O.update.split(r, ro, ri, 8).rfactor(ri, u); "
            "O_u.compute_at(O.update, y).vectorize(u); "
            "O_u.update.reorder(ro, u).vectorize(u)",
            """
            y: H
              O = ..
            y: H
              O_u[8] stack
              ro_n = (W + 7) / 8
              vector u: 8
                O_u = ..
              ro: ro_n
                vector u: 8
                  if 8 * ro + u < W
                    O_u = ..
              ri: 8
                O = ..
            """,
        ),
    ],
)
def test_sums(schedule: str, wanted: str) -> None:
    assert outline(lowered(SUMS, schedule)) == expected(wanted)
    agrees(SUMS, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "O.update.vectorize(y, 4)",
            """
            y: H
              O = ..
            y: H / 4
              vector y_v: 4
                t: W - 1 from 1
                  O = ..
            y_tail = H % 4
            if y_tail > 0
              vector y_v: 4
                if y_v < y_tail
                  t: W - 1 from 1
                    O = ..
            """,
        ),
        (
            "O.update.split(t, to, ti, 4)",
            """
            y: H
              O = ..
            y: H
              to: (W + 3) / 4 - 1
                ti: 4
                  O = ..
              t_tail = (W + 3) % 4
              if t_tail > 0
                ti: t_tail
                  O = ..
            """,
        ),
        (
            "O.update.reorder(t, y)",
            """
            y: H
              O = ..
            t: W - 1 from 1
              y: H
                O = ..
            """,
        ),
        (
            "O.update.parallel(y)",
            """
            y: H
              O = ..
            parallel y: H
              t: W - 1 from 1
                O = ..
            """,
        ),
    ],
)
def test_scans(schedule: str, wanted: str) -> None:
    assert outline(lowered(SCAN, schedule)) == expected(wanted)
    agrees(SCAN, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "C.tile(i, j, io, jo, ii, ji, 4, 8, tail = exact); "
            "acc.compute_at(C, jo); "
            "acc.update.reorder(k, i, j)",
            """
            check H % 4 == 0
            check H % 8 == 0
            io: H / 4
              jo: H / 8
                acc[32] stack
                i: 4 from 4 * io
                  j: 8 from 8 * jo
                    acc = ..
                k: W
                  i: 4 from 4 * io
                    j: 8 from 8 * jo
                      acc = ..
                ii: 4
                  ji: 8
                    C = ..
            """,
        ),
        (
            "C.reorder(j, i); "
            "B.in(acc).compute_at(C, j).reorder_storage(j, k); "
            "acc.compute_at(C, i)",
            """
            j: H
              B_in_acc[W] heap
              k: W
                B_in_acc = ..
              i: H
                acc[1] stack
                acc = ..
                k: W
                  acc = ..
                C = ..
            """,
        ),
    ],
)
def test_products(schedule: str, wanted: str) -> None:
    assert outline(lowered(PRODUCT, schedule)) == expected(wanted)
    agrees(PRODUCT, schedule)


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        (
            "C.tile(i, j, io, jo, ii, ji, 2, 8, tail = exact).vectorize(ji).unroll(ii); "
            "acc.compute_at(C, jo).vectorize(j).unroll(i); "
            "acc.update.reorder(k, i, j).vectorize(j).unroll(i)",
            """
            check H % 2 == 0
            check H % 8 == 0
            io: H / 2
              jo: H / 8
                acc[16] registers
                acc = .. x8
                acc = .. x8
                k: W
                  acc = .. x8
                  acc = .. x8
                C = .. x8
                C = .. x8
            """,
        ),
    ],
)
def test_a_block_lives_in_registers(schedule: str, wanted: str) -> None:
    assert outline(lowered(PRODUCT, schedule, "promote")) == expected(wanted)
    agrees(PRODUCT, schedule)


def test_lanes_are_added_up() -> None:
    """`atomic` makes one sum of eight lanes, `rfactor` eight sums that are added at the end."""
    atomic = show(lowered(SUMS, "O.update.atomic().vectorize(r, 8)", "simplify-vectors").body)
    assert "reduce<+>(I.f32x8[" in atomic
    schedule = (
        "O.update.split(r, ro, ri, 8, tail = exact).rfactor(ri, u); "
        "O_u.update.reorder(y, ro, u).vectorize(u)"
    )
    factored = lowered(SUMS, schedule, "simplify-vectors")
    assert "O_u.f32x8[" in show(factored.body)
    assert "reduce" not in show(factored.body)
