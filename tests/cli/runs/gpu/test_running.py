"""Pins how kernels run through pycuda and cuda-bindings: results, times, memory, and what is said when
the machine, the driver or the kernel does not do it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from hbc.codegen.build import gpu

from .conftest import Machine

SCALE = """
kernel scale
size M, N
input A: f16[M, N]
output C: f32[M, N]
half[i, j] = f32(A[i, j]) * f32(A[i, j])
C[i, j] = half[i, j] + 1.0
schedule simt for cuda {
    C.tile(i, j, io, jo, ii, ji, 4, 32, tail = guard).gpu_blocks(io, jo).gpu_threads(ii, ji)
    half.compute_root()
}
example { M = 5; N = 37; A = random(1, -1, 1) }
"""
STAGED = """
kernel staged
size N
input A: f32[N, 24576]
output C: f32[N, 24576]
half[i, j] = A[i, j] / 2
C[i, j] = half[i, j] + half[i, 24575 - j]
schedule simt for cuda {
    C.split(j, jo, ji, 256).gpu_blocks(i).gpu_threads(ji)
    half.compute_at(C, i).store_in(shared)
}
example { N = 2; A = random(1) }
"""
RUN = ("--target", "cuda")
any_loader = pytest.mark.parametrize("loader", ["cuda-bindings"])  # where they do not differ


@pytest.fixture
def kernel(machine: Machine) -> Path:
    return machine.kernel(SCALE)


@pytest.mark.usefixtures("known_roofs")
def test_run(machine: Machine, kernel: Path) -> None:
    """From files, checked, written; and no memory, stream or context is left."""
    a = np.random.default_rng(3).uniform(-2, 2, (6, 50)).astype(np.float16)
    np.save(machine.folder / "a.npy", a)
    out = machine.folder / "c.npy"
    said = machine.hbc("run", kernel, *RUN, "--input", machine.folder / "a.npy", "--output", out)
    assert said.code == 0, said.err
    assert "scale for cuda, schedule simt, Fake GPU" in said.out
    np.testing.assert_array_equal(np.load(out), a.astype(np.float32) ** 2 + np.float32(1))
    assert " left" not in machine.log.read_text()


@pytest.mark.usefixtures("known_roofs")
def test_bench(
    machine: Machine, kernel: Path, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The median of what the events say: a run that takes long is timed alone."""
    monkeypatch.setenv("FAKE_CUDA_TICK", "2e-3")
    said = machine.hbc("bench", kernel, *RUN, "--json", "--seconds", "0")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["seconds_median"] == pytest.approx(2e-3)
    assert (found["calls"], found["gpu"], found["l2_flushed"]) == (7, "Fake GPU", False)
    assert found["roof"]["level"] == "L2"
    assert found["roof_share"] == pytest.approx(min(found["bytes"] / 2e12 / 2e-3, 1))
    assert machine.log.read_text().splitlines() == ["7 large fills"]


@pytest.mark.usefixtures("known_roofs")
@any_loader
def test_short_runs_are_timed_together(
    machine: Machine, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CUDA_TICK", "8e-5")
    said = machine.hbc("bench", kernel, *RUN, "--json", "--seconds", "0")
    assert json.loads(said.out)["seconds_median"] == pytest.approx(1e-5)


@pytest.mark.usefixtures("known_roofs")
def test_the_cache_is_emptied(
    machine: Machine, kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run alone, then, beside what memory can do."""
    monkeypatch.setenv("FAKE_CUDA_TICK", "8e-5")
    said = machine.hbc("bench", kernel, *RUN, "--json", "--seconds", "0", "--flush-l2")
    found = json.loads(said.out)
    assert found["seconds_median"] == pytest.approx(8e-5)
    assert (found["roof"]["level"], found["l2_flushed"]) == ("DRAM", True)
    assert machine.log.read_text().splitlines() == ["7 large fills"]
    assert "L2 emptied" in machine.hbc("bench", kernel, *RUN, "--seconds", "0", "--flush-l2").out


@any_loader
def test_flush_needs_a_gpu(machine: Machine, kernel: Path) -> None:
    said = machine.hbc("bench", kernel, *RUN, "--on-cpu", "--flush-l2")
    assert (said.code, said.err) == (2, "error: --flush-l2 is for code that runs on a GPU\n")


def test_verify(machine: Machine, kernel: Path) -> None:
    """Odd sizes, rows that lie apart, and arrays with guards around them."""
    said = machine.hbc("verify", kernel, *RUN, "--trials", "6")
    assert said.code == 0, said.err
    assert " left" not in machine.log.read_text()


@any_loader
def test_the_second_time_nothing_is_compiled(machine: Machine, kernel: Path, fakes: Path) -> None:
    machine.hbc("verify", kernel, *RUN, "--trials", "1")
    # A file that is made again is another one; one that is used gets a new date.
    built = {f: f.stat().st_ino for f in (fakes / "cache").glob("scale-sm_90-*.so")}
    machine.hbc("verify", kernel, *RUN, "--trials", "1")
    assert built == {f: f.stat().st_ino for f in (fakes / "cache").glob("scale-sm_90-*.so")}


OUT = f"{SCALE.partition('example')[0]} example {{ M = 100; N = 1000; A = random(1) }}"


def failing(machine: Machine, text: str = SCALE) -> str:
    """The error of a run that must not succeed, which is one line."""
    said = machine.hbc("run", machine.kernel(text), *RUN)
    assert said.code == 4, said
    assert "Traceback" not in said.err
    return said.err.strip()


def test_a_kernel_fails(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's error, the kernel and its launch in one message."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "scale_C")
    said = machine.hbc("run", machine.kernel(SCALE), *RUN)
    assert "Traceback" not in said.err
    text = (
        "`scale` failed on the GPU: one of scale_half<<<(1, 1, 1), 256, 0 bytes of shared memory>>>, "
        "scale_C<<<(2, 2, 1), 128, 0 bytes of shared memory>>>: an illegal memory access was "
        "encountered (cudaErrorIllegalAddress) (CUDA_LAUNCH_BLOCKING=1 in the environment tells which)"
    )
    assert text in " ".join(said.err.split())


def test_no_room_for_an_array(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_ROOM", "300000")
    assert failing(machine, OUT) == (
        "error: `scale` failed on the GPU: no room for `C`, 0.4 MB: 0.1 of 0.3 MB are free\n"
        "hint: try smaller sizes"
    )


@any_loader
def test_a_block_too_large_for_the_device(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_ON_CPU_THREADS", "64")
    assert (
        "`scale` failed on the GPU: scale_half<<<(1, 1, 1), 256, 0 bytes of shared memory>>>: invalid "
        "configuration argument (cudaErrorInvalidConfiguration)"
    ) in " ".join(failing(machine).split())


@pytest.mark.usefixtures("known_roofs")
@any_loader
def test_more_shared_memory_than_the_device_has(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which that of another architecture would have had."""
    monkeypatch.setenv("CUDA_ON_CPU_SHARED", "65536")
    said = machine.hbc("run", machine.kernel(STAGED), *RUN)
    assert (
        "`staged` failed on the GPU: staged_C: 98304 bytes of shared memory for a block: invalid argument "
        "(cudaErrorInvalidValue)"
    ) in " ".join(said.err.split())


@any_loader
def test_no_room_for_a_temporary(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_ON_CPU_MEMORY", "300000")
    assert failing(machine, OUT) == (
        "error: `scale` failed on the GPU: device memory for `half`, 0.4 MB: out of memory"
        " (cudaErrorMemoryAllocation)\nhint: try smaller sizes"
    )


ON_CPU = "; `--on-cpu` lets the processor run the code"


@any_loader
def test_another_device(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    assert failing(machine) == (
        f"error: no GPU: CUDA_VISIBLE_DEVICES is `7`, which leaves none{ON_CPU}"
    )


@any_loader
def test_a_driver_that_does_not_start(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_INIT", "999")
    assert failing(machine) == f"error: no GPU: the driver says: unknown error{ON_CPU}"


@any_loader
def test_no_driver(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_DRIVER", "libcuda-that-is-nowhere.so")
    assert failing(machine) == f"error: no GPU: there is no NVIDIA driver here{ON_CPU}"


@any_loader
def test_an_old_driver(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_DRIVER", "12040")
    assert failing(machine) == (
        "error: the GPU's driver is of CUDA 12.4, too old for code of nvcc 13.0: update the driver, "
        "or name an nvcc of CUDA 12 with NVCC"
    )


@any_loader
def test_no_loader(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = {"pycuda": "nowhere_a", "cuda-bindings": "nowhere_b.c"}
    monkeypatch.setattr(gpu, "LOADERS", nowhere)
    what = "to run code on the GPU with: `pip install 'hbc[cuda]'`"
    assert failing(machine) == (f"error: there is neither pycuda nor cuda-bindings {what}{ON_CPU}")
    monkeypatch.setenv("HBC_CUDA_LOADER", "pycuda")
    assert failing(machine) == f"error: there is no pycuda {what}{ON_CPU}"
    monkeypatch.setenv("HBC_CUDA_LOADER", "torch")
    said = machine.hbc("run", machine.kernel(SCALE), *RUN)
    assert (said.code, said.err.splitlines()[0]) == (2, "error: HBC_CUDA_LOADER is `torch`")


def test_a_loader_that_cannot_be_imported(
    machine: Machine, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pycuda without libcurand says it."""
    package = (
        machine.folder / "broken" / {"pycuda": "pycuda", "cuda-bindings": "cuda/bindings"}[loader]
    )
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "driver.py").write_text("raise ImportError('libcurand.so.10: cannot open it')")
    paths = [str(machine.folder / "broken"), os.environ["PYTHONPATH"]]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    assert failing(machine) == (
        f"error: the GPU cannot be used through {loader}: libcurand.so.10: cannot open it"
    )


@any_loader
def test_verify_where_no_gpu_is(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor stands in, unasked."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    said = machine.hbc("verify", machine.kernel(SCALE), *RUN, "--trials", "1")
    assert said.code == 0, said.err
    assert "note: there is no GPU here: the CPU runs its threads" in said.err


@any_loader
def test_roofs_are_measured(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs that measure, on the processor and with almost nothing to do."""
    from hbc.cli.roof import gpu_roofs
    from hbc.cli.runs.native import Repeat
    from hbc.cli.show.report import progress

    monkeypatch.setenv("HBC_CACHE", str(machine.folder))
    monkeypatch.setattr(gpu_roofs, "TRIAL", 1)
    monkeypatch.setattr(gpu_roofs, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(gpu_roofs, "COPIED", 1 << 16)
    monkeypatch.setattr(gpu_roofs, "ROUNDS", 1)
    monkeypatch.setattr(gpu_roofs, "REPEAT", Repeat())
    with progress() as shown:
        roofs = gpu_roofs.gpu_roofs(shown, flushed=False)
        kept = gpu_roofs.gpu_roofs(shown, flushed=True)
    assert set(roofs.peaks) == set(kept.peaks) == set(gpu_roofs.PEAKS)
    assert roofs.bandwidths["DRAM"] == pytest.approx((1 << 16) / 1e-3)
    assert (roofs.levels, kept.levels) == ({"L2": 1 << 20}, {})
