"""Calls from Python on arrays in a GPU's memory, through the fake driver: the device of the arrays is the
current one while the code runs, and only then."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays_on_gpu import DOUBLED, ByDLPack, ByInterface, ByTensor
from fake_torch import CAPTURING_STREAM, Launch, make_torch

import hbc
from hbc.cli.api import library
from hbc.codegen.build import gpu

from .conftest import Machine

pytestmark = pytest.mark.parametrize("loader", ["cuda-bindings"])  # which has no part in this


@pytest.fixture
def kernel(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Any:
    assert machine.folder
    monkeypatch.setenv("FAKE_CUDA_COUNT", "3")
    return hbc.compile(DOUBLED, target="cuda").build()


@pytest.fixture
def ran_on(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The device that was current at each run of the code since."""
    driver, found = gpu.started_driver(), list[int]()
    code = kernel._library
    for entry in ("dense_device", "strided_device"):
        real = getattr(code, entry)

        def noted(*given: Any, real: Any = real) -> Any:
            found.append(driver.fake_current())
            return real(*given)

        monkeypatch.setattr(code, entry, noted)
    return found


@pytest.mark.parametrize("kind", [ByInterface, ByDLPack, ByTensor])
def test_the_device_of_the_arrays_is_current(kernel: Any, ran_on: list[int], kind: Any) -> None:
    driver = gpu.started_driver()
    source = np.random.default_rng(4)
    for device in (0, 2, 1, 2):
        a = source.normal(size=(5, 24)).astype(np.float32)
        out = np.full((5, 24), 7, np.float32)
        for part in (slice(None), slice(8, 16)):
            kernel(kind(a[:, part], device), out=kind(out[:, part], device), stream=0)
            np.testing.assert_array_equal(out[:, part], a[:, part] * 2)
        assert ran_on[-2:] == [device, device]
        assert driver.fake_depth() == 0, "what was current before is again"


def test_arrays_that_do_not_say_where_they_lie(kernel: Any, ran_on: list[int]) -> None:
    """As Numba's: the driver knows."""
    driver = gpu.started_driver()
    arrays = [np.ones((2, 8), np.float32) for _ in range(4)]
    for n, array in enumerate(arrays):
        if n < 3:
            driver.fake_lies(n, ctypes.c_uint64(array.ctypes.data), ctypes.c_uint64(array.nbytes))
    held = [ByInterface(a, 0) for a in arrays]
    for one in held:
        del one.device
    for device in (2, 0, 1):
        kernel(ByInterface(arrays[3], device), out=held[device])
        assert (arrays[device] == 2).all()
    assert ran_on == [2, 0, 1]
    with pytest.raises(hbc.ArgumentError, match="`A` on cuda:1, `O` on cuda:2"):
        kernel(held[1], out=held[2])


def test_a_device_that_is_current_stays(kernel: Any, ran_on: list[int]) -> None:
    driver, context = gpu.started_driver(), ctypes.c_void_p()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1)
    driver.cuCtxPushCurrent_v2(context)
    try:
        a, out = np.ones((2, 8), np.float32), np.zeros((2, 8), np.float32)
        kernel(ByInterface(a, 1), out=ByInterface(out, 1))
        kernel(ByInterface(a, 2), out=ByInterface(out, 2))
        assert ran_on == [1, 2]
        assert (driver.fake_depth(), driver.fake_current()) == (1, 1)
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))


def test_devices_that_cannot_be_used(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.ones((2, 8), np.float32)
    with pytest.raises(hbc.ArgumentError, match="`A` on cuda:1, `O` on cuda:2"):
        kernel(ByInterface(a, 1), out=ByInterface(a.copy(), 2))
    with pytest.raises(
        hbc.ArgumentError, match=r"there is no device cuda:5(.|\n)*cuda:0, cuda:1, cuda:2"
    ):
        kernel(ByInterface(a, 5), out=ByInterface(a.copy(), 5))
    monkeypatch.setenv("FAKE_CUDA_MAJOR", "8")
    said = "on cuda:2, which is sm_80; the code is for sm_90(.|\n)*CUDA_VISIBLE_DEVICES=2"
    with pytest.raises(hbc.ArgumentError, match=said):
        kernel(ByInterface(a, 2), out=ByInterface(a.copy(), 2))


def test_dlpack_that_does_not_fit(kernel: Any) -> None:
    a, out = np.ones((2, 8), np.float32), np.ones((2, 8), np.float32)
    for array, said in (
        (ByDLPack(a.astype(np.float64), 0), "`A` holds float64, but is declared f32"),
        (ByDLPack(a[0], 0), "`A` has 2 dimensions"),
        (ByDLPack(a, 0, kind=10), r"`A` lies on a device \(10:0\) that hbc has no code for"),
    ):
        with pytest.raises(hbc.ArgumentError, match=said):
            kernel(array, out=ByDLPack(out, 0))


def test_host_arrays_go_to_the_current_device(kernel: Any, tmp_path: Path) -> None:
    assert tmp_path
    a = np.random.default_rng(4).normal(size=(5, 8)).astype(np.float32)
    np.testing.assert_array_equal(kernel(a), a * 2)


def gpu_examples() -> list[str]:
    text = (Path(__file__).resolve().parents[4] / "docs/python.md").read_text()
    return re.findall(r"^```python gpu\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", gpu_examples(), ids=["custom_op", "graph"])
def test_examples_of_the_documentation(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    """With as much of torch as they use; the code is the product's, on the processor."""
    assert machine.folder
    capturing: list[list[Launch]] = []
    real = library._function

    def noted(loaded: Any, name: str, parameters: list[Any]) -> Any:
        entry = real(loaded, name, parameters)
        if not name.endswith("_device"):
            return entry

        def launched(*given: Any) -> Any:
            if not capturing:
                return entry(*given)
            assert given[-1] == CAPTURING_STREAM, "it is not part of the graph"
            capturing[-1].append((entry, given))
            return 0

        return launched

    monkeypatch.setattr(library, "_function", noted)
    monkeypatch.setitem(sys.modules, "torch", make_torch(capturing))
    exec(compile(example, "docs/python.md", "exec", dont_inherit=True), {})
