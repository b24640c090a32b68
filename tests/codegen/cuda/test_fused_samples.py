"""Filters and attention for GPUs, with products of small matrices inside: they agree with the oracle on the
processor, at sizes with tails and without, and nvcc keeps their fragments in registers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sample_checks import CASES, SAMPLES, count_agreeing, cuda_of, spills

from hbc.cli.pipeline import load_pipeline
from hbc.frontend.oracle.oracle import evaluate

NAMES = ["attention", "attention_fused", "denoise", "recursive", "resize"]


@pytest.mark.parametrize("schedule", ["wmma", "simt"])
@pytest.mark.parametrize("name", NAMES)
def test_agrees(name: str, schedule: str, tmp_path: Path) -> None:
    """At any size."""
    assert ("mma_sync" in cuda_of(name, schedule).text) == (schedule == "wmma")
    assert count_agreeing(name, schedule, tmp_path) == len(CASES[name]["check"])


@pytest.mark.usefixtures("nvcc")
def test_resize_by_ldmatrix(tmp_path: Path) -> None:
    """All that is multiplied comes by 16 bytes, ahead of its use."""
    assert count_agreeing("resize", "mma", tmp_path) == len(CASES["resize"]["check"])
    assert spills("resize", "mma", tmp_path) == 0
    text = cuda_of("resize", "mma").text
    for kernel in ("resize_rows_block(", "resize_O_block("):
        loop = text[text.index(kernel) :]
        loop = loop[loop.index("__pipeline_wait_prior") :]
        loop = loop[: loop.index("ptx_mma_m16n16k16")]
        assert len(re.findall(r"__pipeline_memcpy_async\([^;]*\b16\);", loop)) == 2
        assert loop.count("= I_[") + loop.count("= rows[") + loop.count("= down[") == 0


@pytest.mark.parametrize(
    ("schedule", "depth"),
    [("mma", 64), ("mma", 32), ("mma", 128), ("wmma", 128), ("wgmma", 64), ("wgmma", 128)],
)
@pytest.mark.usefixtures("nvcc")
def test_attention_of_other_depths(schedule: str, depth: int, tmp_path: Path) -> None:
    """In one pass over the keys, with the sums so far in fragments."""
    settings = {"D": str(depth)}
    agreeing = count_agreeing("attention_fused", schedule, tmp_path, settings)
    assert agreeing == len(CASES["attention_fused"]["check"])
    assert spills("attention_fused", schedule, tmp_path, settings) == 0


@pytest.mark.parametrize(("schedule", "depth"), [("mma", "192"), ("wgmma", "256")])
def test_attention_of_great_depths(schedule: str, depth: str, tmp_path: Path) -> None:
    """Right; more than registers hold, but for 192 with indices of 32 bits."""
    settings = {"D": depth, "causal": "1", "N": "32" if schedule == "mma" else "64"}
    assert count_agreeing("attention_fused", schedule, tmp_path, settings, [{"B": 1, "L": 70}]) == 1


def test_attention_of_groups(tmp_path: Path) -> None:
    """Two heads of queries for each of keys and values, in bf16."""
    settings = {"T": "bf16", "G": "2"}
    assert count_agreeing("attention_fused", "wgmma", tmp_path, settings, [{"B": 4, "L": 70}]) == 1


@pytest.mark.parametrize("schedule", ["mma", "wgmma", "wmma", "simt"])
def test_causal_attention(schedule: str, tmp_path: Path) -> None:
    """A block ends with the last keys that its queries see, and masks those on the diagonal alone."""
    settings = {"causal": "1", "G": "2"}
    assert (
        count_agreeing("attention_fused", schedule, tmp_path, settings, [{"B": 2, "L": 200}]) == 1
    )
    text = cuda_of("attention_fused", schedule, settings).text
    ends = {"mma": "2 * io + 2;", "wgmma": "2 * io + 2;"}
    assert ends.get(schedule, "min_i64((L + 63) / 64, 2 * (io / 2) + 2);") in text
    assert "if (t <= " not in text  # sums ask no more
    assert schedule in ("wmma", "simt") or "t < 2 * io" in text  # keys before the diagonal


def test_a_query_sees_the_keys_up_to_its_own() -> None:
    """The algorithm, against NumPy."""
    p = load_pipeline(SAMPLES / "cuda" / "attention_fused.hb", {"causal": "1", "D": "16"})
    q, k, v = np.random.default_rng(8).uniform(-1, 1, (3, 1, 150, 16)).astype(np.float16)
    out = evaluate(p, {"B": 1, "L": 150}, {"Q": q, "K": k, "V": v})["O"].value
    scores = np.where(np.tri(150, dtype=bool), q[0].astype(float) @ k[0].T / 4, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    expected = weights @ v[0] / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(out[0], expected, atol=2e-3)


@pytest.mark.parametrize("schedule", ["mma", "wgmma"])
@pytest.mark.usefixtures("nvcc")
def test_causal_attention_stays_in_registers(schedule: str, tmp_path: Path) -> None:
    assert spills("attention_fused", schedule, tmp_path, {"causal": "1"}) == 0


def test_rows_of_scores_stay_with_their_lanes() -> None:
    """Four values of each kind a lane; of the scan two, which move instead of turning."""
    text = cuda_of("attention_fused", "mma").text
    for name, count in {"best": 4, "sum": 4, "less": 4, "most": 8}.items():
        assert f" float {name}[{count}];" in text
    assert "most[e + 4] = max_f32(most[e], best[e]);" in text
    assert "most[e] = most[e + 4];" in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("nvcc")
def test_no_spills(name: str, tmp_path: Path) -> None:
    assert spills(name, "wmma", tmp_path) == 0


def test_a_tile_goes_through_four_products() -> None:
    """Of a warp, one after the other; only the pixels of a block meet in its shared memory."""
    text = cuda_of("denoise", "wmma").text
    assert text.count("wmma::mma_sync(") == 4
    assert text.count("__syncthreads()") == 3
    assert "fabsf(cols_copy_0) < 0.2f" in text
