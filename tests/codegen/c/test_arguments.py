"""Every error code is returned for its cause, before anything is written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from compiled import Library, compiled, is_untouched, poisoned

TEXT = """
kernel scale_rows
size   H, W
input  I: f32[H, W]
input  shift: i32[H]
output O: f32[H, W]
output P: f32[W]
require W <= 100, "the rows are too long"
bound  shift in 0 .. H
O[y, x] = I[shift[y], x]
P[x] = I[0, x] * 2
"""
H, W = 6, 10


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return compiled(TEXT, tmp_path_factory.mktemp("scale"))


class Arguments:
    """A right call; tests spoil one argument of it."""

    def __init__(self) -> None:
        self.sizes = [H, W]
        self.source: np.ndarray | int | None = np.arange(H * W, dtype=np.float32).reshape(H, W)
        self.shift: np.ndarray | int | None = np.arange(H, dtype=np.int32)[::-1].copy()
        self.outputs = [poisoned((H, W)), poisoned((W,))]
        self.passed: list[np.ndarray | int | None] = list(self.outputs)
        self.strides = [W, W]

    def dense(self, library: Library) -> int:
        return library.dense(*self.sizes, self.source, self.shift, *self.passed)

    def strided(self, library: Library) -> int:
        a, b = self.strides
        first, second = self.passed
        return library.strided(*self.sizes, self.source, a, self.shift, first, b, second)


def spoil_stride(a: Arguments) -> None:
    a.strides[0] = W - 1


def spoil_output_stride(a: Arguments) -> None:
    a.strides[1] = -W


def large_stride(a: Arguments) -> None:
    a.strides[0] = 1 << 62


def null_input(a: Arguments) -> None:
    a.source = None


def null_output(a: Arguments) -> None:
    a.passed[1] = None


def odd_address(a: Arguments) -> None:
    assert isinstance(a.source, np.ndarray)
    a.source = a.source.ctypes.data + 2


def negative_size(a: Arguments) -> None:
    a.sizes[0] = -1


def huge_size(a: Arguments) -> None:
    a.sizes[0] = (1 << 40) + 1


def too_wide(a: Arguments) -> None:
    a.sizes[1] = 101


def same_array(a: Arguments) -> None:
    a.source = a.outputs[0]


def last_byte(a: Arguments) -> None:
    a.passed[1] = a.outputs[0].ctypes.data + 4 * (H * W - 1)


def out_of_bound(a: Arguments) -> None:
    assert isinstance(a.shift, np.ndarray)
    a.shift[H - 1] = H


def negative_index(a: Arguments) -> None:
    assert isinstance(a.shift, np.ndarray)
    a.shift[0] = -1


BOTH = {
    null_input: "array `I` is null",
    null_output: "array `P` is null",
    odd_address: "array `I` is not aligned to its elements",
    negative_size: "size `H` is negative or above 2^40",
    huge_size: "size `H` is negative or above 2^40",
    too_wide: "the rows are too long",
    same_array: "output `O` overlaps `I`",
    last_byte: "output `P` overlaps `O`",
    out_of_bound: "",
    negative_index: "",
}
STRIDED = {
    spoil_stride: "array `I` has a stride smaller than the rows it steps over",
    spoil_output_stride: "array `O` has a stride smaller than the rows it steps over",
    large_stride: "array `I` has more bytes than 64-bit offsets can reach",
}


def test_right_arguments_are_accepted(scale: Library) -> None:
    for entry in (Arguments.dense, Arguments.strided):
        a = Arguments()
        assert entry(a, scale) == 0
        assert isinstance(a.source, np.ndarray)
        assert np.array_equal(a.outputs[0], a.source[::-1])
        assert np.array_equal(a.outputs[1], a.source[0] * 2)


@pytest.mark.parametrize("spoil", [*BOTH, *STRIDED], ids=lambda f: f.__name__)
def test_spoiled_arguments_are_refused(scale: Library, spoil: Callable[[Arguments], None]) -> None:
    for entry in (Arguments.dense, Arguments.strided) if spoil in BOTH else (Arguments.strided,):
        a = Arguments()
        spoil(a)
        code = entry(a, scale)
        assert code > 0
        assert {**BOTH, **STRIDED}[spoil] in scale.strerror(code)
        assert all(is_untouched(output) for output in a.outputs)
