"""What executes AMX in these tests: driver.c in its builds, under the emulator or on the hardware."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amx_program import FLOAT_PRODUCTS, Program

from hbc.codegen.build.amx_emulator import (
    AMX_OPTIONS,
    NATIVE_FLAGS,
    SOFT_FLAGS,
    TEMPLATES,
    build_emulator,
    load_emulator,
    trapping_intrinsics,
)
from hbc.codegen.build.amx_library import Emulator
from hbc.codegen.build.processor import processor_features
from hbc.codegen.build.toolchain import Compiler, all_compilers

HERE = Path(__file__).parent
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{TEMPLATES}")
INTRINSICS = {
    "soft": SOFT_FLAGS,
    "trapped": ("-DTRAPPED", *AMX_OPTIONS, "-include", "trapped.h"),
    "native": NATIVE_FLAGS,
    "plain": ("-DPLAIN", *AMX_OPTIONS),
}
OWN = ("native", "plain")  # what the processor executes where it has AMX
DEFAULT_MODE = 0x1F80  # of MXCSR


@dataclass(frozen=True, slots=True)
class Build:
    """`intrinsics`: amx_soft.h, amx_intrinsics.h (`native`, or `trapped`: an emulator executes them
    everywhere) or those of the compiler (`plain`)."""

    intrinsics: str
    compiler: str

    def __str__(self) -> str:
        return f"{self.intrinsics}-{self.compiler}"


BUILDS = [Build(i, c) for i in INTRINSICS for c in ("gcc", "clang")]


def is_x86_64_linux() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64"


@functools.cache
def compiler(name: str) -> Compiler | None:
    return next((c for c in all_compilers() if c.kind == name), None)


def why_not(build: Build) -> str | None:
    """Why this machine cannot run such code, None when it can."""
    if build.intrinsics != "soft" and not is_x86_64_linux():
        return "AMX instructions need x86-64 Linux"
    if build.intrinsics in OWN and has_hardware() and not is_permitted():
        return "this processor has AMX, and the system does not permit it"
    return None if compiler(build.compiler) else f"no {build.compiler}"


@functools.cache
def emulator() -> Emulator:
    """The emulator in this process, installed."""
    loaded = load_emulator()
    loaded.install()
    return loaded


def has_hardware() -> bool:
    """Whether this processor executes AMX, but for what is made to trap. Not a matter of pretence."""
    return is_x86_64_linux() and "amx_tile" in processor_features()


@functools.cache
def is_permitted() -> bool:
    """Whether Linux permits this process to use tiles, from now on."""
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    return int(ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data)) == 0


@dataclass(slots=True)
class Machine:
    """driver.c as a library in this process."""

    build: Build
    library: ctypes.CDLL

    @property
    def is_hardware(self) -> bool:
        return self.build.intrinsics in OWN and has_hardware()

    def can(self, kind: str) -> bool:
        """Compilers have no intrinsic for fp16; some processors have no instruction."""
        bits = self.library.features()
        needed = 8 if kind == "tdpfp16ps" else 4 if kind in FLOAT_PRODUCTS else 3
        return bool(bits & needed) and not (self.build.intrinsics == "plain" and needed == 8)

    def run(self, program: Program) -> bytes:
        """The arena after the program, which must be without fault."""
        arena = ctypes.create_string_buffer(bytes(program.arena), len(program.arena))
        self.library.execute(arena, packed(program), len(program.steps))
        return arena.raw

    def run_in_mode(self, program: Program, mode: int) -> tuple[bytes, int]:
        """The same with this MXCSR; also what it is afterwards."""
        arena = ctypes.create_string_buffer(bytes(program.arena), len(program.arena))
        after = self.library.execute_in_mode(mode, arena, packed(program), len(program.steps))
        return arena.raw, after


def packed(program: Program) -> bytes:
    return b"".join(step.pack() for step in program.steps)


@dataclass(slots=True)
class Workshop:
    """Compiles into one folder, each thing once."""

    folder: Path
    made: dict[tuple[str, ...], Path] = field(default_factory=dict)

    def make(self, with_: Compiler, source: Path, name: str, *options: str) -> Path:
        """A program or library; warnings are errors."""
        key = (*with_.command, str(source), name, *options)
        if key not in self.made:
            out = self.folder / f"{len(self.made)}-{name}"
            self.compile(with_, [*options, str(source), "-o", str(out)])
            self.made[key] = out
        return self.made[key]

    def compile(self, with_: Compiler, options: Sequence[str]) -> None:
        command = [*with_.command, *STRICT, *options]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr

    def options(self, intrinsics: str) -> tuple[str, ...]:
        """What the compiler needs for these intrinsics."""
        (self.folder / "trapped.h").write_text(trapping_intrinsics(), encoding="ascii")
        return (f"-I{self.folder}", *INTRINSICS[intrinsics])

    def machine(self, build: Build) -> Machine:
        if build.intrinsics != "soft":
            emulator()  # before the library: it looks for the emulator when it is loaded
        with_ = known_compiler(build.compiler)
        options = ("-O2", "-fPIC", "-shared", *self.options(build.intrinsics))
        path = self.make(with_, HERE / "driver.c", f"{build}.so", *options)
        library = ctypes.CDLL(str(path))
        library.execute.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64)
        library.execute.restype = None
        library.features.restype = ctypes.c_uint
        if hasattr(library, "execute_in_mode"):
            library.execute_in_mode.restype = ctypes.c_uint
        return Machine(build, library)

    def program(self, build: Build, *options: str) -> Path:
        """driver.c as a program."""
        options = ("-DPROGRAM", "-O1", *self.options(build.intrinsics), *options)
        return self.make(known_compiler(build.compiler), HERE / "driver.c", str(build), *options)


def known_compiler(name: str) -> Compiler:
    found = compiler(name)
    assert found is not None
    return found


def run_alone(
    path: Path, program: Program, build: Build, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs the program of a build in a process of its own, the emulator preloaded where it needs one."""
    variables = {**os.environ, **environment}
    if build.intrinsics != "soft":
        variables["LD_PRELOAD"] = str(build_emulator(known_compiler(build.compiler)))
    return subprocess.run(
        [str(path)],
        input=request(program), env=variables, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def request(program: Program) -> bytes:
    """What driver.c reads when it is a program."""
    arena = struct.pack("<q", len(program.arena)) + bytes(program.arena)
    return arena + struct.pack("<q", len(program.steps)) + packed(program)
