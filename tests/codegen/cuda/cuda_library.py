"""CUDA from `.hb` text, built for the processor alone, and calls of its entry points."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
from suite_tables import WHOLE

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.build.cuda_cpu import build
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

SCALE = """
kernel scale
size M, N
input A: f32[M, N]
output C: f32[M, N]
C[i, j] = 2 * A[i, j] + 1
schedule simt for cuda {
    C.tile(i, j, io, jo, ii, ji, 8, 32, tail = guard).gpu_blocks(io, jo).gpu_threads(ii, ji)
}
"""


@cache  # a test asks for the text, and then for what it does
def cuda_of(text: str, name: str = "k.hb") -> CudaSource:
    """The CUDA file for the first schedule that suits the target."""
    target = TARGETS["cuda"]
    p = check(parse(Source(name, text)), {})
    return emit_cuda(lower_to_kernel(p, choose_schedule(p, target.name, None), target), target)


ARCHITECTURES = ("sm_80", "sm_90")


def architectures(*case: str) -> tuple[str, ...]:
    """What nvcc compiles a case for, which takes it two seconds each: one of them, by the case's name, or
    both with HBC_TEST_TABLES=whole."""
    if WHOLE:
        return ARCHITECTURES
    return (ARCHITECTURES[crc32(" ".join(case).encode()) % len(ARCHITECTURES)],)


class CudaLibrary:
    """The kernel on the processor: there, device memory is memory."""

    def __init__(self, source: CudaSource, folder: Path, *flags: str) -> None:
        (folder / f"{source.name}.h").write_text(source.header)
        out = folder / f"{source.name}.so"
        build(source.text, out, "so", name=source.name, extra=(f"-I{folder}", "-Werror", *flags))
        self.name = source.name
        self.library = ctypes.CDLL(str(out))

    def again(self, copy: Path) -> CudaLibrary:
        """The same from a copy of the library's file, with a state of its own."""
        other = object.__new__(CudaLibrary)
        other.name, other.library = self.name, ctypes.CDLL(str(copy))
        return other

    def call(self, suffix: str, *arguments: object) -> int:
        """`NAME` and a suffix: sizes and strides as ints, arrays, None for a null pointer."""
        return int(self.library[f"{self.name}{suffix}"](*map(_passed, arguments)))

    def text(self, suffix: str, *arguments: int) -> str:
        explain = self.library[f"{self.name}{suffix}"]
        explain.restype = ctypes.c_char_p
        return str(explain(*map(ctypes.c_int, arguments)).decode())


def _passed(argument: object) -> object:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_void_p(None) if argument is None else ctypes.c_int64(argument)


def library(text: str, folder: Path) -> CudaLibrary:
    return CudaLibrary(cuda_of(text), folder)


def poisoned(shape: Sequence[int]) -> np.ndarray:
    """Floats whose bytes no kernel writes by chance."""
    array = np.empty(shape, np.float32)
    array.view(np.uint8)[...] = 0xA5
    return array
