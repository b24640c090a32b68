"""`hbc tune --target cuda`: ranked by the model and the compiler's report; measured where there is a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.tuning import gpu_search, gpu_tune
from hbc.codegen.build.cuda_cpu import build
from hbc.codegen.build.gpu import GpuFacts
from hbc.codegen.build.nvcc import Resources
from hbc.codegen.cuda.source import CudaSource
from hbc.ir.ground.diag import Diagnostic, HbcError

Command = Callable[..., Any]

KERNEL = """size M, N, K
input A: f16[M, K]
input B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j] = acc[i, j]
example { M = 40; N = 33; K = 48; A = random(1, -1, 1); B = random(2, -1, 1) }
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    file = tmp_path / "product.hb"
    file.write_text(KERNEL)
    return file


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a compiler was asked for, which says 100, 99, 98, ... registers: it spills, then it fails."""
    asked: list[str] = []

    def build_cuda(
        source: CudaSource, out: Path, kind: str, archs: Sequence[str]
    ) -> list[Resources]:
        asked.append(source.text)
        if len(asked) == 2:
            raise HbcError(Diagnostic("too much shared memory"))
        spills = 8 if len(asked) == 1 else 0
        return [Resources("k", archs[0], 101 - len(asked), 0, spills, 4096, 64, 8, 25, "registers")]

    monkeypatch.setattr(gpu_search, "build_cuda", build_cuda)
    monkeypatch.setattr(gpu_tune, "find_nvcc", lambda: ("nvcc",))
    return asked


def test_without_a_gpu_nothing_is_measured(
    hbc: Command, kernel: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_tune, "gpu_count", lambda: 0)
    done = hbc("tune", kernel, "--target", "cuda", "--trials", "4", "--json", "--write")
    said = json.loads(done.out)
    assert said["measured"] is False
    assert said["gpu"] is None
    assert len(compiled) == len(said["tried"]) == 4
    spilling, refused, *rest = said["tried"]
    assert spilling["point"] == {}
    assert spilling["spills"] == 8
    assert refused["reason"] == "too much shared memory"
    assert all(w["cycles"] > 0 and w["occupancy"] == 25 and w["seconds"] is None for w in rest)
    assert said["best"]["point"] != {}  # what spills is behind all others
    assert said["best"]["cycles"] == min(w["cycles"] for w in rest)
    assert "nothing was measured: there is no GPU here" in done.err
    text = kernel.read_text()
    assert "schedule tuned_cuda for cuda {\n    # Chosen for sm_80 on " in text
    assert "; nothing was measured" in text
    assert "mma_accumulator" in text
    again = hbc("compile", kernel, "--target", "cuda", "--emit", "loops", "-o", "-")
    assert "schedule tuned_cuda" in again.out


def test_on_a_gpu_it_is_measured_and_compared(
    hbc: Command, kernel: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the processor, thread by thread, in the place of a GPU; one candidate is wrong there."""
    facts = GpuFacts("Test GPU", "sm_90", 1 << 20, 13000)
    monkeypatch.setattr(gpu_tune, "gpu_count", lambda: 1)
    monkeypatch.setattr(gpu_tune, "gpu_facts", lambda: facts)
    monkeypatch.setattr(gpu_tune, "find_loader", lambda: "")
    monkeypatch.setattr(gpu_tune, "GpuLibrary", lambda path, _: path)

    def library(source: CudaSource, arch: str) -> Path:
        assert arch == "sm_90"
        out = tmp_path / f"{len(compiled)}.so"
        (tmp_path / f"{source.name}.h").write_text(source.header)
        text = source.text.replace("ko = 0;", "ko = 1;") if len(compiled) == 1 else source.text
        return build(text, out, "so", name=source.name, extra=(f"-I{tmp_path}",))

    monkeypatch.setattr(gpu_tune, "build_cuda_cached", library)
    monkeypatch.setattr("hbc.cli.tuning.tune.cpu_count", lambda: 1)
    done = hbc("tune", kernel, "--target", "cuda", "--trials", "3")
    lines = done.out.splitlines()
    assert lines[0] == "product for cuda, Test GPU"
    assert "tried  3, of which 2 refused, in " in done.out
    assert "# Tuned on Test GPU on " in done.out
    assert "nothing was measured" not in done.out + done.err


def test_options_for_processors_are_refused(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    done = hbc("tune", kernel, "--target", "cuda", "--journal", tmp_path / "j")
    assert done.code == 2
    assert "--journal is for tunings on processors" in done.err
