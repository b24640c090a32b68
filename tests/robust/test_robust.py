"""Variants of three kernels: each must map to tensor instructions and agree with its own oracle.

HBC_ROBUST_VARIANTS is how many of each kernel are tried; `make robust` takes 500. A failure names the
seed: `variant("gemm", 17)` is the program.
"""

from __future__ import annotations

import os

import pytest
from kernel_choices import KERNELS
from tensor_checks import assert_agrees, assert_selected, selected
from variants import variant

COUNT = int(os.environ.get("HBC_ROBUST_VARIANTS", "20"))


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("kernel", KERNELS)
def test_variant(kernel: str, seed: int) -> None:
    drawn = variant(kernel, seed)
    print(drawn.text, drawn.sizes)  # shown with a failure: what to repeat it with
    p, found = selected(drawn.text, drawn.target)
    assert_selected(found)
    assert_agrees(p, found, drawn.sizes, seed)


def test_variants_differ() -> None:
    for kernel in KERNELS:
        texts = {variant(kernel, seed).text for seed in range(40)}
        assert len(texts) >= 38
