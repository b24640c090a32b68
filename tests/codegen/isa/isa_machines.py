"""What described instructions are executed on: this processor, other encodings on it, emulated tiles, ARM
under qemu."""

from __future__ import annotations

import functools
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from isa_program import Program, build, missing

from hbc.codegen.build.amx_emulator import (
    AMX_OPTIONS,
    NATIVE_FLAGS,
    SOFT_FLAGS,
    build_emulator,
    trapping_intrinsics,
)
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.soft_vectors import FLAGS
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import Memory

DESCRIBED = load_instructions(builtin_descriptions())
HERE = Path(__file__).resolve().parent
QEMU = ("qemu-aarch64", "-cpu", "max")


@dataclass(frozen=True, slots=True)
class Machine:
    """`compiler` is whose templates are printed, `command` compiles them, `runner` starts programs.
    `emulated`: they are made to trap, so that the emulator executes them also where the processor could.
    `by_functions`: C functions stand for the instructions."""

    name: str
    compiler: str
    command: tuple[str, ...]
    executes: Callable[[Instruction], bool]
    flags: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()
    emulated: bool = False
    by_functions: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{Path(self.command[0]).name}"

    @property
    def instructions(self) -> list[Instruction]:
        found = [i for i in DESCRIBED.instructions if self.executes(i)]
        return [through_twin(i) for i in found] if self.name == "twins" else found


def is_tile(i: Instruction) -> bool:
    return i.place.memory is Memory.AMX_TILE


def is_vector(i: Instruction) -> bool:
    return i.place.machine == "x86_64" and not is_tile(i)


def is_arm(i: Instruction) -> bool:
    return i.place.machine == "aarch64"


def has_twin(i: Instruction) -> bool:
    return i.name.endswith("_vex")


def through_twin(i: Instruction) -> Instruction:
    """What AVX-VNNI does, with the needs of the same operation of AVX-512 (`evex_twins.h`)."""
    name = i.name.removesuffix("_vex")
    (twin,) = (j for j in DESCRIBED.instructions if j.name == name)
    return replace(i, needs=twin.needs)


MACHINES = [
    machine
    for compiler in ("gcc", "clang")
    for machine in (
        Machine("native", compiler, (compiler,), is_vector),
        Machine("twins", compiler, (compiler,), has_twin, ("-include", str(HERE / "evex_twins.h"))),
        Machine("functions", "clang", (compiler, *FLAGS), is_vector, by_functions=True),
        Machine("soft", compiler, (compiler,), is_tile, SOFT_FLAGS),
        Machine("emulated", compiler, (compiler,), is_tile, AMX_OPTIONS, emulated=True),
        Machine("tiles", compiler, (compiler,), is_tile, NATIVE_FLAGS),
    )
] + [
    Machine("qemu", "gcc", ("aarch64-linux-gnu-gcc", "-static"), is_arm, (), QEMU),
    Machine("qemu", "clang", ("clang", "--target=aarch64-linux-gnu", "-static"), is_arm, (), QEMU),
]


def lacking(machine: Machine, i: Instruction) -> str | None:
    """Why this machine cannot execute the instruction, or None."""
    if machine.name in ("native", "twins", "tiles"):
        lost = [f.name for f in i.needs if f.cpuinfo not in cpu_features()]
        return f"this processor has no {', '.join(lost)}" if lost else None
    return None


def tools_lacking(machine: Machine) -> str | None:
    """Why nothing can be built or run for this machine, or None."""
    if machine.name != "qemu" and platform.machine() != "x86_64":
        return f"this is no x86-64 processor but {platform.machine()}"
    tools = [machine.command[0], *machine.runner[:1]]
    if machine.name == "qemu":
        tools.append("aarch64-linux-gnu-gcc")  # clang uses its C library
    if reason := missing(*tools):
        return reason
    if machine.emulated:
        try:
            build_emulator()
        except ToolError as failure:
            return str(failure)
    return None


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def program(machine: Machine, runs_here: bool = True) -> Program:
    """The program with all instructions of the machine that can be executed here, or with the others:
    with the flags of both, compilers print encodings of the one for intrinsics of the other."""
    folder = tempfile.TemporaryDirectory(prefix="hbc-isa-")
    _FOLDERS.append(folder)
    chosen = [i for i in machine.instructions if (lacking(machine, i) is None) == runs_here]
    first = trapping_intrinsics() if machine.emulated else ""
    path = build(
        chosen, machine.command, machine.compiler, Path(folder.name), machine.flags,
        machine.by_functions, first,
    )  # fmt: skip
    environment = None
    if machine.emulated:
        environment = {**os.environ, "LD_PRELOAD": str(build_emulator())}
    return Program(path, machine.runner, environment)
