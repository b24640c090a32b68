"""The bundle for machines with a GPU: made here, and run with the processor in a GPU's place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import CDLL, memmove
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hbc.codegen.build import cuda_cpu

BENCH = Path(__file__).parents[2] / "samples" / "bench"
SAMPLE = """
size M, N
input A: f16[M, N]
output B: f32[M, N]
B[i, j] = f32(A[i, j]) * 2.0
schedule simt for cuda { B.split(j, jo, ji, 32).gpu_blocks(i, jo).gpu_threads(ji) }
schedule wide for cuda { B.split(j, jo, ji, 64, tail = exact).gpu_blocks(i, jo).gpu_threads(ji) }
example { M = 3; N = 64 }
"""
ALIGNED = 256


class Stand:
    """The processor where run.py wants a GPU: device memory is memory."""

    arch = "sm_80"

    def __init__(self, nvcc: str) -> None:
        assert nvcc == "nvcc-of-the-test"
        self.waits = 0

    def about(self) -> dict[str, object]:
        return {"gpu": "none", "arch": self.arch, "l2_bytes": 0}

    def wait(self) -> None:
        self.waits += 1

    def copy_rate(self, size: int) -> float:
        return 1e9

    @contextmanager
    def arrays(self, host: Sequence[np.ndarray]) -> Iterator[list[int]]:
        held = [np.empty(a.nbytes + ALIGNED, np.uint8) for a in host]
        places = [-(-h.ctypes.data // ALIGNED) * ALIGNED for h in held]
        for place, a in zip(places, host, strict=True):
            memmove(place, a.ctypes.data, a.nbytes)
        yield places

    def read(self, array: np.ndarray, place: int) -> None:
        memmove(array.ctypes.data, place, array.nbytes)

    def peak(self, function: object) -> float:
        return 1e12

    def time(self, run: Callable[[], None], repeat: int, flush: bool = False) -> list[float]:
        waits = self.waits
        run()
        assert self.waits == waits  # the time of waiting is not the kernel's
        return [1e-3]


class Runtime:
    """CUDA's runtime library as far as times go: every launch takes the same."""

    def __init__(self, took: float) -> None:
        self.took, self.log = took, ""

    def note(self, letter: str) -> int:
        self.log += letter
        return 0

    def __getitem__(self, name: str) -> Callable[..., int]:
        letters = {"cudaMemset": "O", "cudaEventRecord": "E", "cudaEventSynchronize": "W"}
        if name == "cudaEventElapsedTime":
            return self.elapsed
        return lambda *arguments: self.note(letters.get(name, ""))

    def __getattr__(self, name: str) -> Callable[..., int]:
        return self[name]

    def elapsed(self, milliseconds: Any, start: object, end: object) -> int:
        launches = len(self.log.removesuffix("EW")) - len(self.log.removesuffix("EW").rstrip("L"))
        milliseconds._obj.value = 1e3 * self.took * launches
        return 0


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "samples").mkdir()
    (folder / "samples" / "twice.hb").write_text(SAMPLE)
    command = [sys.executable, BENCH / "gpu_bundle.py", "-o", folder / "made"]
    subprocess.run([*command, "--archs", "", "--samples", folder / "samples"], check=True)
    return folder / "made"


@pytest.fixture
def run(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The bundle's run.py, building for the processor."""
    monkeypatch.syspath_prepend(str(bundle))
    monkeypatch.setenv("NVCC", "nvcc-of-the-test")
    spec = spec_from_file_location("gpu_bundle_run", bundle / "run.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)

    def build(nvcc: str, kernel: dict[str, Any], arch: str, folder: Path) -> CDLL:
        source = bundle / kernel["source"]
        out = folder / f"{kernel['schedule']}.so"
        cuda_cpu.build(source.read_text(), out, "so", name="k", extra=(f"-I{source.parent}",))
        return CDLL(str(out))

    monkeypatch.setattr(module, "build", build)
    monkeypatch.setattr(module, "peaks", lambda nvcc, device, folder: {"f32": 1e12, "f16": 2e12})
    return module


def started(run: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> int:
    monkeypatch.setattr(sys, "argv", ["run.py", "-o", str(folder), *names])
    return int(run.main(Stand))


def test_results(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(run, tmp_path, monkeypatch) == 0
    kernels = json.loads((tmp_path / "gpu.json").read_text())["kernels"]
    assert [k["schedule"] for k in kernels] == ["simt", "wide"]
    for k in kernels:
        assert [c["sizes"] for c in k["checks"]] == [{"M": 3, "N": 64}]
        assert (k["checks"][0]["error"], k["wrong"], k["times"][0]["apart"]) == (0, False, 0)
        assert k["times"][0]["error"] is None  # nothing is known of this sample
    text = (tmp_path / "RESULTS.gpu.md").read_text()
    assert "nothing to compare with" in text
    assert "| twice | wide | M = 3, N = 64 | 1000.0 us |" in text


def test_one_schedule(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(run, tmp_path, monkeypatch, "wide") == 0
    kernels = json.loads((tmp_path / "gpu.json").read_text())["kernels"]
    assert [k["schedule"] for k in kernels] == ["wide"]


def test_rows_that_are_apart(run: ModuleType, bundle: Path, tmp_path: Path) -> None:
    """With a pitch, a kernel is timed on arrays whose rows begin at multiples of it."""
    kernel = json.loads((bundle / "bundle.json").read_text())["kernels"][0] | {"pitch": 32}
    library = run.build("", kernel, "", tmp_path)
    case = {"sizes": {"M": 3, "N": 61}, "shapes": {"A": [3, 61], "B": [3, 61]}}
    inputs = run.large_inputs(kernel, case)
    padded = run.pitched(inputs["A"], 32)
    assert padded.strides == (128, 2) and np.array_equal(padded[:, :61], inputs["A"])
    _, got = run.time_kernel(library, kernel, Stand("nvcc-of-the-test"), case, inputs, 1, False)
    assert np.array_equal(got, 2 * inputs["A"].astype(np.float32))


def test_check(
    run: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--check` compares and nothing else: no rate of the device, no time, no file."""
    for name in ("copy_rate", "time"):
        monkeypatch.setattr(Stand, name, None)
    assert started(run, tmp_path, monkeypatch, "--check") == 0
    assert capsys.readouterr().out == "twice simt: ok\ntwice wide: ok\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["built"]


def test_a_kernel_for_one_architecture(
    run: ModuleType, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is compiled for it, and left out on another."""
    assert run.arch_flags("sm_80") == ["-arch=sm_80"]
    assert run.arch_flags("sm_90a") == ["-gencode=arch=compute_90a,code=sm_90a"]
    known = json.loads((bundle / "bundle.json").read_text())
    known["kernels"][1]["arch"] = "sm_90a"
    shutil.copytree(bundle, tmp_path / "other")
    (tmp_path / "other" / "bundle.json").write_text(json.dumps(known))
    monkeypatch.setattr(run, "BUNDLE", tmp_path / "other")
    assert started(run, tmp_path, monkeypatch) == 0
    kernels = json.loads((tmp_path / "gpu.json").read_text())["kernels"]
    assert [k["schedule"] for k in kernels] == ["simt"]


def test_a_wrong_result_is_found(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = np.load

    def other(path: Path) -> dict[str, np.ndarray]:
        arrays = dict(loaded(path))
        arrays["B.value"] = arrays["B.value"] + 1
        return arrays

    monkeypatch.setattr(run.np, "load", other)
    assert started(run, tmp_path, monkeypatch, "--check") == 1
    assert started(run, tmp_path, monkeypatch) == 1


@pytest.mark.parametrize(
    ("took", "flush", "timed"),
    [(1e-5, False, "OLELLLLLLLLEW"), (1e-3, False, "OLELEW"), (1e-5, True, "LOELEW")],
)
def test_what_is_timed(bundle: Path, took: float, flush: bool, timed: str) -> None:
    """The device is busy when the launches come (O: it overwrites, L: launch, E: event, W: waiting)."""
    spec = spec_from_file_location("gpu_bundle_device", bundle / "gpu_device.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    runtime = Runtime(took)
    device = module.Device.__new__(module.Device)
    device.runtime = runtime
    seconds = device.time(lambda: runtime.note("L"), 2, flush)
    assert seconds == pytest.approx([took, took])
    assert runtime.log.endswith(timed * 2)


def test_no_gpu(bundle: Path) -> None:
    """One line, exit code 4: where there is no runtime library, and where there is no compiler."""
    for names in ({"NVCC": "/nowhere/bin/nvcc", "CUDA_VISIBLE_DEVICES": ""}, {"PATH": ""}):
        environment = {**os.environ, **names, "PYTHON": sys.executable}
        done = subprocess.run(
            [sys.executable, bundle / "run.py"], env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if "PATH" in names and Path("/usr/local/cuda/bin/nvcc").exists():
            continue
        assert (done.returncode, done.stderr.count("\n")) == (4, 1), done.stderr


def test_floors(bundle: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "gpu_floors.py", bundle],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Nothing here was run on a GPU" in done.stdout
    assert "| twice | simt | M = 3, N = 64 | 0.00 | 0.00 |" in done.stdout
