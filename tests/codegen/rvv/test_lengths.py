"""RVV code on registers of the least length that its target asks for, and on longer ones. (`codegen/vector`
has every operation with `rvv` on registers of 128 bits.)"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cast_cases import all_cases
from lanes import LANES, disagreements
from operator_cases import plain_cases

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, F32

LENGTHS = [("rvv", 256), ("rvv", 512), ("rvv256", 256), ("rvv256", 1024), ("rvv512", 512)]


@pytest.fixture(params=LENGTHS, ids=lambda p: f"{p[0]}-on-{p[1]}")
def target(request: pytest.FixtureRequest, riscv: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its name, while the emulator has registers of so many bits."""
    name, bits = request.param
    monkeypatch.setenv("QEMU_CPU", f"rv64,v=true,vext_spec=v1.0,vlen={bits}")
    return str(name)


def test_operators_and_casts(target: str, tmp_path: Path) -> None:
    cases = [*all_cases(), *(case for t in DTYPES.values() for case in plain_cases(t))]
    assert disagreements(cases, target, LANES, tmp_path) == []


# Elements evenly apart and neighbours under a mask, lanes reversed and repeated, sums of lanes.
KERNEL = """\
size   W
input  A: f32[3 * W + 16]
output O: f32[W]
output S: f32[W]
O[x] = A[3 * x] + A[x / 2] * A[W - 1 - x] + select(A[x] > 0.0, sqrt(A[x]), A[x + 1])
reduce k in 16
S[x]  = 0
S[x] += A[x + k] * 0.5

schedule fast for rvv, c {
    O.split(x, xo, xi, 16, tail = mask).vectorize(xi)
    S.update.split(k, ko, ki, 8).atomic().vectorize(ki)
}
"""


@pytest.mark.parametrize("width", [1, 15, 16, 67])
def test_a_kernel_at_odd_sizes(target: str, width: int, tmp_path: Path) -> None:
    p = check(parse(Source("odd.hb", KERNEL)), {})
    machine = TARGETS[target]
    source = emit_c(lower_to_kernel(p, choose_schedule(p, target, None), machine), machine)
    a = np.random.default_rng(width).uniform(-1, 1, 3 * width + 16).astype(np.float32)
    shapes = {"O": ((width,), F32), "S": ((width,), F32)}
    with Native(build_callable(source, machine, tmp_path), 1, 60) as native:
        found = native.call(source.name, [width], {"A": a}, shapes, guarded=True).outputs
    x = np.arange(width)
    with np.errstate(invalid="ignore"):
        chosen = np.where(a[x] > 0, np.sqrt(a[x]), a[x + 1])
    expected = a[3 * x] + a[x // 2] * a[width - 1 - x] + chosen
    assert np.allclose(found["O"], expected, rtol=1e-6, atol=1e-6)
    sums = np.array([a[i : i + 16].sum(dtype=np.float64) * 0.5 for i in x])
    assert np.allclose(found["S"], sums, rtol=1e-5, atol=1e-5)
