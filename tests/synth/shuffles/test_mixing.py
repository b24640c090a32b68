"""The bound by which transposes are minimal, against programs of random instructions: none makes what it
makes with fewer than the bound says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.moves.gather import UNDEFINED, ZERO
from hbc.synth.shuffles.mixing import mixing_bound


@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([2, 4, 8]), st.integers(2, 3))
def test_no_program_is_shorter(seed: int, count: int, lanes: int, operands: int) -> None:
    """Instructions that may make anything of their operands, so none that is described is stronger. Copies,
    zeros and what nobody wants are among it."""
    rng = np.random.default_rng(seed)
    sources = int(rng.integers(1, 5))
    values = [np.arange(lanes) + s * lanes for s in range(sources)]
    for _ in range(count):
        held = np.concatenate([values[v] for v in rng.integers(0, len(values), operands)])
        picked = (
            rng.permutation(len(held))[:lanes]
            if rng.random() < 0.8
            else rng.integers(0, len(held), lanes)
        )
        values.append(np.where(rng.random(lanes) < 0.1, ZERO, held[picked]))
    rows = np.stack(values[sources:])[rng.permutation(count)[: int(rng.integers(1, count + 1))]]
    wanted = np.where(rng.random(rows.shape) < rng.choice([0.0, 0.2]), UNDEFINED, rows).astype(
        np.int32
    )
    assert mixing_bound(wanted, {(1, 1), (operands, 1)}) <= count


@pytest.mark.parametrize(
    ("side", "size", "lanes", "least"),
    [
        (32, 4, 64, 256),
        (16, 4, 64, 64),
        (16, 4, 32, 96),
        (8, 4, 32, 24),
        (16, 1, 16, 64),
        (4, 4, 16, 8),
    ],
)
def test_transposes(side: int, size: int, lanes: int, least: int) -> None:
    """As many as the known programs have (x86: 16 x 16 f32 in 64 instructions of AVX-512)."""
    places = np.arange(side * side).reshape(side, side).T.reshape(-1, 1) * size + np.arange(size)
    rows = places.reshape(-1, lanes).astype(np.int32)
    assert mixing_bound(rows, {(1, 1), (2, 1)}) == least
    assert mixing_bound(rows, {(1, 1), (2, 2)}) == 2 * least
    assert mixing_bound(np.sort(rows.reshape(-1)).reshape(-1, lanes), {(2, 1)}) == 0
