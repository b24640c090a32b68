"""Compiles the C of movements and calls it; what this processor and its compilers can do."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated_moves import SYSROOT, Emulated, call_emulated, driver
from numpy.typing import NDArray

from hbc.codegen.build import run_tool
from hbc.codegen.build.cross import emulator
from hbc.codegen.build.processor import SOFT, cpu_features
from hbc.codegen.build.soft_vectors import FLAGS as SOFT_FLAGS
from hbc.codegen.build.soft_vectors import functions_for
from hbc.codegen.build.toolchain import Compiler, all_compilers, cross_compilers
from hbc.codegen.moves.file import SVE256
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import ARM

Array = NDArray[Any]

WARNINGS = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror")
FLAGS = {
    "avx512": ("-mavx512f", "-mavx512bw", "-mavx512vbmi"),
    "avx2": ("-mavx2",),
    "neon": (),
    "sve256": tuple(SVE256.flags.split()),
}
NEEDS = {"avx512": ("avx512f", "avx512bw", "avx512vbmi", "avx2"), "avx2": ("avx2",)}
# Of AArch64, and as which processor they are emulated: its registers are as long as the code says.
PROCESSORS = {"neon": "max", "sve256": "max,sve-default-vector-length=32"}
COMPILERS = [c for c in all_compilers() if c.kind in ("gcc", "clang")]


def compilers(target: str) -> list[Compiler]:
    """Those that make code for the target, the preferred one first."""
    if target not in PROCESSORS:
        return COMPILERS
    return [c for c in cross_compilers(ARM) if c.kind in ("gcc", "clang")]


def require(target: str, *features: str) -> None:
    """Skips, saying why, where this processor or its tools lack what the code needs, or features of their own
    for which no functions stand."""
    lacking = sorted(set(features) - cpu_features())
    if lacking:
        pytest.skip(f"this processor has no {', '.join(lacking)}")
    if target in PROCESSORS:
        try:
            emulator(ARM)
        except ToolError as missing:
            pytest.skip(str(missing))
        if not SYSROOT.exists() or not compilers(target):
            pytest.skip("there is no compiler, or no C library, for aarch64")
        return
    missing = sorted(set(NEEDS[target]) - cpu_features() - SOFT)
    if missing:
        pytest.skip(f"this processor has no {', '.join(missing)}")
    if not COMPILERS:
        pytest.skip("there is neither gcc nor clang")


def library(
    text: str, target: str, folder: Path, compiler: Sequence[str]
) -> ctypes.CDLL | Emulated:
    """The C file, compiled without a warning and loaded."""
    name = f"{Path(compiler[0]).name}{len(list(folder.iterdir()))}"
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    flags = FLAGS[target]
    if target not in PROCESSORS and not cpu_features().issuperset(
        NEEDS[target]
    ):  # C functions stand for what is missing
        text, flags = functions_for(text) + text, SOFT_FLAGS
    source.write_text(text, encoding="utf-8")
    command = [
        *compiler,
        *WARNINGS,
        *flags,
        "-fPIC",
        "-shared",
        str(source),
        "-o",
        str(made),
    ]
    done = run_tool.compile_with(command, made)  # kept from run to run: tests/suite
    assert done.returncode == 0, done.stderr[:4000]
    if target in PROCESSORS:
        return Emulated(made, driver(folder, compiler), PROCESSORS[target])
    return ctypes.CDLL(str(made))


def call(
    loaded: ctypes.CDLL | Emulated, name: str, inputs: Sequence[Array], outputs: Sequence[Array],
    blocks: int | None = None,
) -> None:  # fmt: skip
    """Calls the function of one block, or that of many."""
    if isinstance(loaded, Emulated):
        call_emulated(loaded, name if blocks is None else f"{name}_blocks", inputs, outputs, blocks)
        return
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *outputs)]
    if blocks is None:
        loaded[name](*pointers)
    else:
        loaded[f"{name}_blocks"](ctypes.c_size_t(blocks), *pointers)


def random_values(generator: np.random.Generator, count: int, dtype: str) -> Array:
    """Full-range integers; floats that are small whole numbers, whose sums and products are exact."""
    if dtype.startswith("f"):
        return generator.integers(-9, 10, size=count).astype({"f32": "f4", "f64": "f8"}[dtype])
    kind = np.dtype({"i": "i", "u": "u"}[dtype[0]] + str(int(dtype[1:]) // 8))
    raw = generator.integers(0, 256, size=count * kind.itemsize, dtype=np.uint8)
    return raw.view(kind)


def poisoned(like: Array, count: int) -> Array:
    """An output that holds what no test expects, and some room behind it that must stay."""
    made = np.empty(count + 64, dtype=like.dtype)
    made.view(np.uint8)[:] = 0xA5
    return made


def intact(array: Array, count: int) -> bool:
    return bool((array[count:].view(np.uint8) == 0xA5).all())
