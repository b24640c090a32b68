"""What kernels for several targets have in common is made once, and is what each would have had alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.once import Once
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.frontend.lowering.lower import lower
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show_kernel
from hbc.ir.lang.target import TARGETS, Target

SAMPLES = Path(__file__).parents[2] / "samples"
CPUS = ("c", "avx2", "avx512", "arm_dot")

KERNEL = """
size N
input A: f32[N]
output O: f32[N]
B[x] = A[x] * 2
O[x] = B[x] + 1
schedule wide for c, avx2, avx512, arm_dot { B.compute_root(); O.split(x, xo, xi, LANES).vectorize(xi) }
"""


@pytest.mark.parametrize("name", ["resize", "gemm_f32", "apps/unsharp"])
def test_kernels_are_those_made_alone(name: str) -> None:
    p = load_pipeline(SAMPLES / f"{name}.hb", {})
    schedule = next(s for s in p.schedules if not {"cuda", "amx"} & set(s.targets))
    shared = Once()
    for target in CPUS:
        together = lower_to_kernel(p, schedule, TARGETS[target], once=shared)
        assert show_kernel(together) == show_kernel(lower_to_kernel(p, schedule, TARGETS[target]))


def test_check_lowers_once_for_all_targets_with_vectors(
    hbc: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Scalar code has other loops."""
    lowered: list[bool] = []

    def counted(p: Pipeline, schedule: Schedule | None, target: Target) -> Kernel:
        lowered.append(target.vector_bits > 0)
        return lower(p, schedule, target)

    monkeypatch.setattr("hbc.cli.once.lower", counted)
    file = tmp_path / "several.hb"
    file.write_text(KERNEL.replace("LANES", "8"), "utf-8")
    assert hbc("check", str(file)).code == 0
    assert sorted(lowered) == [False, True]


def test_each_target_refuses_for_itself(hbc: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "wide.hb"
    file.write_text(KERNEL.replace("LANES", "2048"), "utf-8")
    done = hbc("check", str(file))
    assert done.code == 1
    assert "2048 lanes" in done.err
