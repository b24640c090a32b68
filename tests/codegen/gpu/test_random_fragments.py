"""Random products with sums in fragments agree with the oracle after every pass, or are refused."""

from __future__ import annotations

import pytest
from agreement import examine
from random_fragments import random_fragments


@pytest.mark.parametrize("seed", [0, 101, 102, 103, 104, 105])
def test_agrees(seed: int) -> None:
    case = random_fragments(seed)
    outcome = examine(case, native=False)
    assert outcome.kind != "failed", f"{outcome.where}\n{case.text}\n{outcome.detail}"
