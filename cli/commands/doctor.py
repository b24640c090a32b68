"""`hbc doctor`: what is there of the tools that hbc can use, and what each missing one would bring."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import TypeVar

import click

from hbc.cli.show.options import json_option
from hbc.ir.ground.diag import HbcError

_X = TypeVar("_X")
Found = tuple[str, str | None, str]  # what it is, what there is of it, what it would bring

# Modules that need not be there: what to install, and what for.
MODULES = {
    "pycuda": ("hbc[cuda]", "runs CUDA kernels on a GPU"),
    "cuda": ("hbc[cuda-bindings]", "the same, and installs without a compiler"),
    "ziglang": ("hbc[zig]", "a C compiler where there is none"),
    "matplotlib": (
        "hbc[plots]",
        "figures of `hbc tune --plot`, `hbc bench --plot` and samples/bench",
    ),
    "pygls": ("hbc[lsp]", "`hbc lsp`, which serves editors"),
    "distributed": ("hbc[fleet]", "`hbc tune --workers`, which measures on other machines"),
    "soundfile": ("hbc[sound]", "FLAC and OGG files for `hbc run`; WAV needs nothing"),
    "scipy": ("hbc[bench]", "a peer of samples/bench"),
    "cv2": ("hbc[bench]", "OpenCV, a peer of samples/bench"),
    "halide": ("hbc[bench]", "Halide, a peer of samples/bench"),
    "mkdocs": ("hbc[docs]", "the documentation as a site: make docs"),
}


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """Say which compilers, emulators, GPUs and Python packages are there, and what the missing ones
    would bring. Only a C compiler is needed, to run kernels; to write C nothing is."""
    from hbc.cli.show.report import print_facts, print_json

    rows = list(found())
    if as_json:
        print_json([{"what": w, "found": f, "brings": b} for w, f, b in rows])
        return
    print_facts(
        f"Python {sys.version.split()[0]}",
        [(what, there or f"missing: {brings}") for what, there, brings in rows],
    )


def found() -> Iterator[Found]:
    """A row for each thing; None where it is missing."""
    from hbc.cli.machine import default_target
    from hbc.codegen.build.gpu import gpu_facts
    from hbc.codegen.build.toolchain import cross_compilers, find_compiler, has_openmp
    from hbc.ir.lang.target import ARM, RISCV

    yield "target", f"{default_target().name}, unless a file has a schedule for a better one", ""
    compiler = _tried(find_compiler)
    yield (
        "C compiler",
        str(compiler) if compiler else None,
        "run, verify and bench: gcc, clang or hbc[zig]",
    )
    able = compiler is not None and has_openmp(compiler)
    yield "OpenMP", "parallel loops have threads" if able else None, "threads of parallel loops"
    for machine, name, code in ((ARM, "ARM", "arm_dot"), (RISCV, "RISC-V", "rvv")):
        crossing = cross_compilers(machine)
        brings = f"builds {code} code to be verified"
        yield f"{name} compiler", str(crossing[0]) if crossing else None, brings
        yield (
            f"{name} emulator",
            _tried(partial(_emulator, machine)),
            f"runs {code} code: qemu-user",
        )
    yield "nvcc", shutil.which("nvcc"), "ptx, cubin and libraries for GPUs: NVIDIA's CUDA toolkit"
    yield (
        "GPU",
        _tried(lambda: gpu_facts().name),
        "runs CUDA kernels; the CPU verifies them (--on-cpu)",
    )
    for module, (package, brings) in MODULES.items():
        there = "installed" if find_spec(module) else None
        yield module, there, f"{brings}: pip install '{package}'"


def _emulator(machine: str) -> str:
    from hbc.codegen.build.cross import emulator

    return " ".join(emulator(machine))


def _tried(ask: Callable[[], _X]) -> _X | None:
    try:
        return ask()
    except HbcError:
        return None
