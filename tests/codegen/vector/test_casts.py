"""Every conversion: float to integer saturates, integers wrap, halves round to nearest even."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from cast_cases import all_cases, cast
from lanes import LANES, QUICK, Case, Read, disagreements
from values import around_halves, bit_patterns

from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import Binary, Cast, Expr, Op
from hbc.ir.lang.types import BF16, DTYPES, F16, F32, F64, I32, I64, DType

HALVES = (F16, BF16)


def test_scalars(target: str, tmp_path: Path) -> None:
    assert disagreements(all_cases(), target, 1, tmp_path) == []


def test_vectors(vector_target: str, tmp_path: Path) -> None:
    assert disagreements(all_cases(), vector_target, LANES, tmp_path) == []


def clamped(source: DType, target: DType) -> Case:
    """To the limits of the target first, which some machines have in one."""

    def value(read: Read) -> Expr:
        a = read("a", source)
        low, high = (const(n, a.type) for n in target.limits)
        bounded = Binary(Op.MIN, Binary(Op.MAX, a, low), high)
        return Cast(target(a.type.lanes), bounded)

    return Case(f"{target}(clamp({source}))", value)


def test_clamped_integers(vector_target: str, tmp_path: Path) -> None:
    pairs = permutations([t for t in DTYPES.values() if t.is_int], 2)
    cases = [clamped(s, t) for s, t in pairs if _holds(s, t)]
    assert len(cases) > 10
    assert disagreements(cases, vector_target, LANES, tmp_path, (*QUICK, "-Wno-type-limits")) == []


def _holds(source: DType, target: DType) -> bool:
    """Whether the limits of the target are values of the source."""
    low, high = source.limits
    return low <= target.limits[0] and target.limits[1] <= high


@pytest.mark.parametrize("half", HALVES, ids=str)
def test_rounding_to_halves_at_every_tie(target: str, half: DType, tmp_path: Path) -> None:
    lanes = 1 if target == "c" else 16
    for wide in (F32, F64):
        given = {f"a_{wide}": around_halves(half, wide)}
        assert disagreements([cast(wide, half)], target, lanes, tmp_path, given=given) == []


def test_every_half_is_read_exactly(target: str, tmp_path: Path) -> None:
    lanes = 1 if target == "c" else 16
    cases = [cast(half, t) for half in HALVES for t in (F32, F64, I32, I64)]
    given = {f"a_{half}": bit_patterns(half) for half in HALVES}
    assert disagreements(cases, target, lanes, tmp_path, given=given) == []
