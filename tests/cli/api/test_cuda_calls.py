"""Arrays in a GPU's memory, as far as a processor can tell: the code runs on the CPU, thread by
thread, and arrays claim to lie on a device."""

from typing import Any

import numpy as np
import pytest
from arrays_on_gpu import DOUBLED, cuda_array_interface

import hbc


class OnGpu:
    """Memory of this process that says it lies on a GPU."""

    def __init__(self, array: Any) -> None:
        self.kept = array
        self.__cuda_array_interface__ = cuda_array_interface(array)


@pytest.fixture(scope="module")
def kernel() -> Any:
    from hbc.codegen.build.cuda_cpu import find_cpp

    try:
        find_cpp()
    except hbc.ToolError as missing:
        pytest.skip(str(missing))
    return hbc.compile(DOUBLED, target="cuda", on_cpu=True)


@pytest.mark.parametrize("stream", [None, 0])
def test_device_arrays_go_through_the_device_entry(kernel: Any, stream: int | None) -> None:
    a = np.random.default_rng(3).normal(size=(33, 12)).astype("f4")
    out = np.full((33, 20), 5, "f4")
    kernel(OnGpu(a[:, :8]), out=OnGpu(out[:, 2:10]), stream=stream)
    assert np.array_equal(out[:, 2:10], a[:, :8] * 2)
    assert (out[:, :2] == 5).all() and (out[:, 10:] == 5).all()


def test_host_arrays_go_through_the_host_entry(kernel: Any) -> None:
    a = np.random.default_rng(4).normal(size=(5, 8)).astype("f4")
    assert np.array_equal(kernel(a), a * 2)


def test_host_and_device_do_not_mix(kernel: Any) -> None:
    a = np.ones((2, 8), "f4")
    with pytest.raises(hbc.ArgumentError, match="all arrays lie on one device"):
        kernel(a, out=OnGpu(a.copy()))
