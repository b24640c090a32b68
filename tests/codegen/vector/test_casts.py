"""Every conversion: float to integer saturates, integers wrap, halves round to nearest even."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from cast_cases import all_cases, cast
from lanes import LANES, QUICK, Case, Read, disagreements
from values import around_halves, bit_patterns

from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import Binary, Cast, Expr, Op
from hbc.ir.lang.types import BF16, DTYPES, F8E4M3, F8E5M2, F16, F32, F64, I32, I64, DType
from hbc.ir.meaning.numpy_types import bits_dtype, numpy_dtype

HALVES = (F8E4M3, F8E5M2, F16, BF16)


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


@pytest.mark.parametrize("to", [F8E4M3, F8E5M2], ids=str)
def test_floats_of_8_bits_of_any_bits(target: str, to: DType, tmp_path: Path) -> None:
    """Of every half, and of f32 and f64 of all magnitudes."""
    rng, lanes = np.random.default_rng(8), 1 if target == "c" else 16
    given = {f"a_{half}": bit_patterns(half) for half in HALVES if half != to}
    for wide in (F32, F64):
        bits = rng.integers(0, 1 << wide.bits, 1 << 16, bits_dtype(wide).type)
        given[f"a_{wide}"] = bits.view(numpy_dtype(wide))
        given[f"a_{wide}"][::2] = np.exp2(rng.uniform(-20, 17, 1 << 15)) * rng.choice(
            [-1, 1], 1 << 15
        )
    sources = [DTYPES[name[2:]] for name in given]
    cases = [cast(source, to) for source in sources]
    assert disagreements(cases, target, lanes, tmp_path, given=given) == []
    with np.errstate(all="ignore"):
        reached = given["a_f32"].astype(numpy_dtype(to)).view(np.uint8)
    assert len(np.unique(reached)) > 200
