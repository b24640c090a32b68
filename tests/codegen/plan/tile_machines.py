"""What runs kernels with tiles in these tests: compiled code, emulated, by the soft header, or natively."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from hbc.codegen.build.amx_emulator import SOFT_FLAGS, load_emulator
from hbc.codegen.build.load import load
from hbc.codegen.build.processor import cpu_features, missing_features, runs_here
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import Compiler, all_compilers, build
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Expr
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.interp import run as interpret
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.meaning.verify import verify

AMX = TARGETS["amx"]
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
TIMEOUT = 120  # seconds, for a process with sanitizers


@dataclass(frozen=True, slots=True)
class TileMachine:
    """`emulated`: real instructions that trap. `soft`: plain C under the sanitizers. `native`: what
    ships, where the processor has the instructions."""

    way: str
    compiler: str

    def __str__(self) -> str:
        return f"{self.way}-{self.compiler}"


MACHINES = [TileMachine("emulated", "gcc"), TileMachine("emulated", "clang"),
            TileMachine("soft", "gcc"), TileMachine("native", "gcc")]  # fmt: skip


@functools.cache
def compiler(name: str) -> Compiler | None:
    return next((c for c in all_compilers() if c.kind == name), None)


def why_not(machine: TileMachine) -> str | None:
    """Why this machine cannot run such code, None when it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "code for AMX needs x86-64 Linux"
    if compiler(machine.compiler) is None:
        return f"no {machine.compiler}"
    if not runs_here(TARGETS["avx512"]):
        return (
            "the vectors of the target amx need AVX-512, or AVX2 for C functions that stand for it"
        )
    if machine.way == "native" and (missing := missing_features(AMX)):
        return f"this processor has no {', '.join(missing)}"
    if machine.way == "native" and not is_permitted():
        return "this processor has AMX, and the system does not permit it"
    return None


@functools.cache
def is_permitted() -> bool:
    """Whether Linux permits this process to use tiles, from now on."""
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    return int(ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data)) == 0


def source_of(kernel: Kernel) -> CSource:
    verify(kernel, "written by hand")
    return emit_c(kernel, AMX)


def outputs_of(
    kernel: Kernel, sizes: Mapping[str, int], inputs: Mapping[str, Array], machine: TileMachine,
    folder: Path,
) -> dict[str, Array]:  # fmt: skip
    """The outputs that the compiled kernel writes over poison. Skips the test where the processor lacks
    instructions of the kernel that nothing is to stand for."""
    arrays = {**inputs, **poisoned_outputs(kernel, sizes)}
    found = compiler(machine.compiler)
    out = folder / f"{machine}.so"
    source, target = for_this_processor(source_of(kernel), AMX, emulate=machine.way == "emulated")
    if machine.way == "native":
        needs = {f.cpuinfo for i in kernel.instructions for f in i.needs}
        if missing := sorted(needs - cpu_features()):
            pytest.skip(f"this processor has no {', '.join(missing)}")
    if machine.way != "soft":
        load_emulator().install()
        build(source, target, out, compiler=found, extra=STRICT)
        load(out, kernel)(sizes, arrays)
    else:
        build(source, target, out, compiler=found, sanitize=True, extra=(*STRICT, *SOFT_FLAGS))
        _run_apart(kernel, out, sizes, arrays, folder)
    return {a.name: arrays[a.name] for a in kernel.arguments if a.output}


def interpreted(
    kernel: Kernel, sizes: Mapping[str, int], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs that the interpreter gives."""
    arrays = {**inputs, **poisoned_outputs(kernel, sizes)}
    interpret(kernel, sizes, arrays)
    return {a.name: arrays[a.name] for a in kernel.arguments if a.output}


def poisoned_outputs(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, Array]:
    arrays = {}
    for a in kernel.arguments:
        if a.output:
            arrays[a.name] = np.empty(extents_of(a.extents, sizes), numpy_dtype(a.element))
            arrays[a.name].view(np.uint8)[...] = 0xA5
    return arrays


def extents_of(extents: tuple[Expr, ...], sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(int(evaluate(e, dict(sizes), {})[0]) for e in extents)


_CHILD = """
import ctypes, json, sys
from pathlib import Path
library, function, sizes, arrays = json.loads(sys.argv[1])
held = []
for path in arrays:
    data = Path(path).read_bytes()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    at = libc.malloc(ctypes.c_size_t(len(data)))
    ctypes.memmove(at, data, len(data))
    held.append((path, at, len(data)))
entry = ctypes.CDLL(library)[function]
code = entry(*map(ctypes.c_int64, sizes), *(ctypes.c_void_p(at) for _, at, _ in held))
for path, at, length in held:
    Path(path).write_bytes(ctypes.string_at(at, length))
sys.exit(code and 1)
"""


def _run_apart(
    kernel: Kernel, library: Path, sizes: Mapping[str, int], arrays: Mapping[str, Array],
    folder: Path,
) -> None:  # fmt: skip
    """Calls the dense entry in a process that starts with the sanitizers; arrays lie in memory
    whose ends they watch."""
    from json import dumps

    from hbc.codegen.c.abi import ordered

    paths = []
    for a in ordered(kernel):
        paths.append(folder / f"{a.name}.bin")
        paths[-1].write_bytes(np.ascontiguousarray(arrays[a.name]).tobytes())
    request = [str(library), kernel.name, [sizes[s.name] for s in kernel.sizes], [*map(str, paths)]]
    environment = {**os.environ, "LD_PRELOAD": _runtimes(), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, dumps(request)],
        capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for a, path in zip(ordered(kernel), paths, strict=True):
        array = arrays[a.name]
        array.view(np.uint8).reshape(-1)[...] = np.frombuffer(path.read_bytes(), np.uint8)


@functools.cache
def _runtimes() -> str:
    """What the process must load first."""
    gcc = compiler("gcc")
    assert gcc is not None
    names = []
    for library in ("libasan.so", "libubsan.so"):
        command = [*gcc.command, f"-print-file-name={library}"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        names.append(answer.stdout.strip())
    return " ".join(names)
