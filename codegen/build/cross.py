"""Other machines than this one: compilers that make code for them, emulators that run it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.lang.target import ARM, X86

_EMULATORS = {ARM: "qemu-aarch64"}  # those that know the vector instructions of our targets
_NAMES = {"amd64": X86, "x64": X86, "arm64": ARM}  # as Windows and macOS say it


def host_machine() -> str:
    """This processor's architecture, as targets name it."""
    name = platform.machine().lower()
    return _NAMES.get(name, name)


def is_foreign(machine: str) -> bool:
    """Whether code for `machine` ("" is any) does not run here as it is."""
    return machine not in ("", host_machine())


def cross_commands(machine: str) -> list[tuple[str, ...]]:
    """Commands that compile C for another machine, the preferred one first; what of them is not
    installed is left out. clang needs the C library that comes with gcc."""
    triple = f"{machine}-linux-gnu"
    commands: list[tuple[str, ...]] = []
    if shutil.which(f"{triple}-gcc"):
        commands.append((f"{triple}-gcc",))
    if shutil.which("clang") and Path(f"/usr/{triple}/include/stdio.h").exists():
        commands.append(("clang", f"--target={triple}"))
    if find_spec("ziglang"):
        commands.append((sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-musl"))
    return commands


def no_cross_compiler(machine: str) -> ToolError:
    """What to tell a user who has none."""
    return ToolError(
        Diagnostic(
            f"no C compiler for {machine}",
            hint=f"install gcc-{machine.replace('_', '-')}-linux-gnu, or `pip install 'hbc[zig]'`",
        )
    )


def emulator(machine: str) -> tuple[str, ...]:
    """The command that runs programs of another machine. ToolError names what to install."""
    name = _EMULATORS.get(machine)
    if name is None:
        raise ToolError(Diagnostic(f"this is no {machine} processor"))
    if shutil.which(name) is None:
        raise ToolError(
            Diagnostic(
                f"this is no {machine} processor, and there is no `{name}` to run its code",
                hint="install qemu-user",
            )
        )
    return (name,)


def emulated_environment() -> dict[str, str]:
    """The emulated processor has every feature unless QEMU_CPU, which qemu reads, says otherwise."""
    return {"QEMU_CPU": os.environ.get("QEMU_CPU", "max")}
