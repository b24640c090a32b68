"""C from `.hb` text, and calls of its entry points with whatever arguments a caller may pass."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.numpy_types import Array

STRICT = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def lowered(text: str, target: str = "c", name: str = "k.hb") -> Kernel:
    """The kernel after every pass, with the first schedule that suits the target."""
    p = check(parse(Source(name, text)), {})
    return lower_to_kernel(p, choose_schedule(p, target, None), TARGETS[target])


def emitted(text: str, target: str = "c", name: str = "k.hb") -> CSource:
    return emit_c(lowered(text, target, name), TARGETS[target])


@dataclass(frozen=True, slots=True)
class Library:
    """A compiled kernel. Entry points take sizes as ints and arrays as NumPy arrays, addresses or
    None; the strided one takes strides too."""

    kernel: Kernel
    library: ctypes.CDLL

    def dense(self, *arguments: object) -> int:
        return self._call(self.kernel.name, arguments)

    def strided(self, *arguments: object) -> int:
        return self._call(f"{self.kernel.name}_strided", arguments)

    def strerror(self, code: int) -> str:
        explain = self.library[f"{self.kernel.name}_strerror"]
        explain.restype = ctypes.c_char_p
        return str(explain(ctypes.c_int(code)).decode())

    def _call(self, name: str, arguments: Sequence[object]) -> int:
        return int(self.library[name](*map(_passed, arguments)))


def _passed(argument: object) -> object:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_void_p(None) if argument is None else ctypes.c_int64(argument)


def compiled(text: str, folder: Path, target: str = "c") -> Library:
    kernel = lowered(text, target)
    code, machine = for_this_processor(emit_c(kernel, TARGETS[target]), TARGETS[target])
    out = build(code, machine, folder / "k.so", extra=STRICT)
    return Library(kernel, ctypes.CDLL(str(out)))


def poisoned(shape: tuple[int, ...], dtype: object = np.float32) -> Array:
    """An array whose bytes no kernel writes by chance."""
    array = np.empty(shape, dtype)
    array.view(np.uint8)[...] = 0xA5
    return array


def is_untouched(array: Array) -> bool:
    return bool((np.ascontiguousarray(array).view(np.uint8) == 0xA5).all())
