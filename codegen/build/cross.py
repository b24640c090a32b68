"""Other machines than this one: compilers that make code for them, emulators that run it."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from hbc.codegen.build.processor import machine_name
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.host.on_path import on_path
from hbc.ir.lang.target import ARM, RISCV, X86, Target

# Those that know the vector instructions of our targets, and a processor that has them all.
_EMULATORS = {
    ARM: ("qemu-aarch64", "max"),
    RISCV: ("qemu-riscv64", "rv64,v=true,vext_spec=v1.0,vlen={bits}"),
}
# Of cross compilers, what Debian 12 and Ubuntu 22.04 have does not know RVV 1.0.
_ONLY_ZIG = (RISCV,)
_NAMES = {"amd64": X86, "x64": X86, "arm64": ARM}  # as Windows and macOS say it


def host_machine() -> str:
    """This processor's architecture, as targets name it."""
    name = machine_name().lower()
    return _NAMES.get(name, name)


def is_foreign(machine: str) -> bool:
    """Whether code for `machine` ("" is any) does not run here as it is."""
    return machine not in ("", host_machine())


def cross_commands(machine: str) -> list[tuple[str, ...]]:
    """Commands that compile C for another machine, the preferred one first; what of them is not
    installed is left out. clang needs the C library that comes with gcc."""
    triple = f"{machine}-linux-gnu"
    commands: list[tuple[str, ...]] = []
    others = machine not in _ONLY_ZIG
    if others and on_path(f"{triple}-gcc"):
        commands.append((f"{triple}-gcc",))
    if others and on_path("clang") and Path(f"/usr/{triple}/include/stdio.h").exists():
        commands.append(("clang", f"--target={triple}"))
    if find_spec("ziglang"):
        commands.append((sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-musl"))
    return commands


def no_cross_compiler(machine: str) -> ToolError:
    """What to tell a user who has none."""
    zig = "`pip install 'hbc[zig]'`"
    gcc = f"install gcc-{machine.replace('_', '-')}-linux-gnu, or {zig}"
    hint = zig if machine in _ONLY_ZIG else gcc
    return ToolError(Diagnostic(f"no C compiler for {machine}", hint=hint))


def emulator(machine: str) -> tuple[str, ...]:
    """The command that runs programs of another machine. ToolError names what to install."""
    if machine not in _EMULATORS:
        raise ToolError(Diagnostic(f"this is no {machine} processor"))
    name, _ = _EMULATORS[machine]
    if on_path(name) is None:
        raise ToolError(
            Diagnostic(
                f"this is no {machine} processor, and there is no `{name}` to run its code",
                hint="install qemu-user",
            )
        )
    return (name,)


def has_emulator(machine: str) -> bool:
    """Whether there is a command that runs programs of this machine."""
    return machine in _EMULATORS and on_path(_EMULATORS[machine][0]) is not None


def emulated_environment(target: Target) -> dict[str, str]:
    """The emulated processor has every feature, and registers no longer than the target's, unless QEMU_CPU,
    which qemu reads, says otherwise."""
    _, processor = _EMULATORS[target.machine]
    return {"QEMU_CPU": os.environ.get("QEMU_CPU", processor.format(bits=target.vector_bits))}
