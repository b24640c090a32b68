"""What two accesses ask for depends on what is known around them, also where both have been seen before."""

from __future__ import annotations

from hbc.codegen.threads.access import ThreadAccess, nest_accesses
from hbc.codegen.threads.conflicts import Conflicts, SyncScope, UnsyncedAccess
from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.nodes import Const, Expr, For, Load, LoopKind, Store, Var, const_index
from hbc.ir.lang.types import F32

THREADS = 64
T, N = Var("t"), Var("n")


def access(store: bool, index: Expr) -> ThreadAccess:
    """Of each of the threads, in a nest of its own."""
    zero = Const(0.0, F32(1))
    body = Store("s", index, zero) if store else Store("r", T, Load("s", index, F32(1)))
    nest = For("t", const_index(0), const_index(THREADS), LoopKind.THREAD, body)
    (only,) = nest_accesses(nest, ["s"])
    return only


def at_least(least: int) -> Facts:
    return Facts({"n": Interval(const_index(least), const_index(3))})


def test_of_a_name_of_which_different_things_are_known() -> None:
    stored, read = access(True, T), access(False, add(T, mul(N, THREADS)))
    waiting = [UnsyncedAccess.of(stored)]
    expected = ((at_least(1), SyncScope.NONE), (at_least(0), SyncScope.BLOCK))
    for order in (expected, expected[::-1]):
        conflicts = Conflicts()
        for facts, level in order:
            assert conflicts.level(waiting, [read], facts) is level
