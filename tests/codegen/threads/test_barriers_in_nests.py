"""Barriers in nests of loops as deep as none of the samples: right, and found with little work."""

from __future__ import annotations

import pytest
from barrier_nests import kernel_of, nest
from block_runs import races

from hbc.codegen.threads.barriers import barriers
from hbc.codegen.threads.loops import Waiting
from hbc.codegen.threads.places import Place
from hbc.codegen.threads.walk import Walk
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Barrier, BarrierScope, Stmt
from hbc.ir.lang.walk import statements


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize(("depth", "width"), [(1, 3), (1, 6), (2, 3), (3, 3)])
def test_no_race(depth: int, width: int, resident: bool) -> None:
    for seed in range(3):
        made = barriers(nest(depth, width, seed, resident))
        assert races(made, {"N": 3}) == [], seed


# Copies and products of three stages in a block that stays: the loops have one name.
AHEAD = """
blocks b from 0 count N resident 0 { allocate s: f32[192] in shared { {
  for k from 0 count 2 { {
    threads t from 0 count 64 { async s[t + 64 * k] = A.f32[64 * (k + b) + t] }
    copies commit
  } }
  for k from 0 count N { {
    copies wait 1
    threads t from 0 count 64 { C[64 * b + t] = s.f32[63 - t + 64 * (k % 3)] }
    threads t from 0 count 64 { async s[t + 64 * ((k + 2) % 3)] = A.f32[64 * (k + b) + t] }
    copies commit
  } }
  copies wait 0
  for k from 0 count N % 3 { threads t from 0 count 64 { C[64 * b + t] = s.f32[63 - t + 64 * k] } }
} } }
"""


def _work(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> float:
    """How often each statement is gone through, on average."""
    count = 0
    stmt = Walk.stmt

    def counted(self: Walk, s: Stmt, waiting: Waiting, at: Place) -> tuple[Stmt, Waiting]:
        nonlocal count
        count += 1
        return stmt(self, s, waiting, at)

    with monkeypatch.context() as patch:
        patch.setattr(Walk, "stmt", counted)
        barriers(kernel)
    return count / sum(1 for _ in statements(kernel.body))


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize(("depth", "width"), [(1, 3), (3, 3), (5, 3), (8, 2), (3, 5), (20, 1)])
def test_work_grows_with_length_alone(
    depth: int, width: int, resident: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(4):
        assert _work(nest(depth, width, seed, resident), monkeypatch) < 4 * (depth + 1)


def test_work_for_loops_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _work(kernel_of(AHEAD), monkeypatch) < 20


def test_barrier_before_a_loop_is_of_the_block() -> None:
    """What the loop reads before its own barrier, a warp's does not do for."""
    made = barriers(
        kernel_of(
            """
            blocks b from 0 count 1 {
            allocate s: f32[64] in shared { allocate u: f32[128] in shared { {
              threads t from 0 count 64 { s[t] = A.f32[t] }
              for k from 0 count N { {
                threads t from 0 count 64 { { C[t] = s.f32[63 - t] u[t + 64 * (k % 2)] = A.f32[t] } }
                threads t from 0 count 64 { D[t] = u.f32[63 - t + 64 * (k % 2)] }
              } }
            } } } }
            """
        )
    )
    found = [x for x in statements(made.body) if isinstance(x, Barrier)]
    assert found == [Barrier(BarrierScope.BLOCK)] * 2
    assert races(made, {"N": 3}) == []
