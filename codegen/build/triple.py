"""Machines that `--triple` names, by processor, system and ABI: what fits them, which compilers make code for
them, and what their files are called."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec

from hbc.codegen.build.cross import cross_commands, host_machine
from hbc.codegen.build.toolchain import Compiler, Output, first_compiler, spelled
from hbc.codegen.c.build_text import LICENCE, build_comment, msvc_comment
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, ToolError, UsageError, did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.lang.target import ARM, GPU, RISCV, TARGETS, X86, Target

LINUX, WINDOWS, MACOS = "linux", "windows", "macos"
MSVC = "msvc"
# The ABIs of each system, the usual one first, and its processors.
_ABIS = {LINUX: ("gnu", "musl"), WINDOWS: ("gnu", MSVC), MACOS: ("",)}
_MACHINES = {LINUX: (X86, ARM, RISCV), WINDOWS: (X86, ARM), MACOS: (X86, ARM)}
_SUFFIXES: dict[str, dict[str, str]] = {WINDOWS: {"so": ".dll"}, MACOS: {"so": ".dylib"}}
_VENDORS = ("pc", "unknown", "apple", "w64", "none")
# As others write them.
_SPELLINGS = {
    "amd64": X86,
    "x64": X86,
    "arm64": ARM,
    "darwin": MACOS,
    "macosx": MACOS,
    "win32": WINDOWS,
}
_HOSTS = {"linux": LINUX, "win32": WINDOWS, "darwin": MACOS}
_OLDEST_MACOS = "11"


@record
class Triple:
    """`machine` as targets name it."""

    machine: str
    system: str
    abi: str

    def __str__(self) -> str:
        return "-".join(part for part in (self.machine, self.system, self.abi) if part)


def known_triples() -> list[Triple]:
    return [Triple(m, s, abi) for s, abis in _ABIS.items() for m in _MACHINES[s] for abi in abis]


def triple_named(text: str) -> Triple:
    """`x86_64-windows-gnu`, and as others write it: `x86_64-w64-mingw32`, `arm64-apple-darwin23`. UsageError
    for a machine that hbc does not know."""
    first, *said = text.lower().replace("mingw32", "windows-gnu").split("-")
    plain = [part.rstrip("0123456789.") for part in said if part not in _VENDORS]
    parts = [_SPELLINGS.get(part, part) for part in plain]
    machine = _SPELLINGS.get(first, first)
    if len(parts) == 1 and parts[0] in _ABIS:
        parts.append(_ABIS[parts[0]][0])
    found = Triple(machine, *parts) if len(parts) == 2 else None
    if found is None or found not in known_triples():
        names = [str(t) for t in known_triples()]
        hint = did_you_mean(text, names) or f"there are {', '.join(names)}"
        raise UsageError(Diagnostic(f"there is no triple `{text}`", hint=hint))
    return found


def check_fits(target: Target, triple: Triple) -> None:
    """UsageError for a target whose code is for another processor."""
    if target.machine == GPU:
        hint = "leave --triple out: nvcc compiles for the system that it runs on"
        raise UsageError(Diagnostic(f"`{target.name}` code is for GPUs", hint=hint))
    if target.machine not in ("", triple.machine):
        fit = [n for n, t in TARGETS.items() if t.machine in ("", triple.machine)]
        raise UsageError(
            Diagnostic(
                f"`{target.name}` makes code for {target.machine}, and `{triple}` is none",
                hint=f"use --target with one of: {', '.join(fit)}",
            )
        )


def check_asks(
    source: CSource, target: Target, triple: Triple, fallback: bool, alone: bool = True
) -> None:
    """UsageError for code that asks the system for what only Linux gives, and does nothing without.
    `alone`: it is not one of several targets."""
    asked = [f.name for f in source.asks if f.permission is not None]
    if asked and triple.system != LINUX and not fallback:
        said = f"`{target.name}` code asks Linux for {asked[0]}: elsewhere each call returns an error code"
        others = f"leave `{target.name}` out of --targets"
        hint = "add --fallback scalar, or name another --target" if alone else others
        raise UsageError(Diagnostic(said, hint=hint))


def for_triple(source: CSource, target: Target, triple: Triple) -> CSource:
    """The same with the command for that machine in its first comment."""
    given = source.name, target, source.flags, source.parallel
    if triple.abi == MSVC:
        made = msvc_comment(*given)
    else:
        command = _customary(triple)
        by_zig = command[0] == "zig"  # which has no OpenMP, and traps on what C leaves undefined
        flags = [spelled(f, "zig" if by_zig else "gcc") for f in (*target.flags, *source.flags)]
        flags += ["-fno-sanitize=all"] if by_zig else []
        at = replace(target, flags=tuple(flags))
        made = build_comment(source.name, at, (), source.parallel and not by_zig, command)
    # Before the licence, a file that chooses among others says what it is linked with.
    end = f"\n * {LICENCE}"
    usual, own = build_comment(*given).removesuffix(end), made.removesuffix(end)
    return replace(source, text=source.text.replace(usual, own, 1))


def _customary(triple: Triple) -> tuple[str, ...]:
    """The command that most would have for it; the same wherever hbc runs."""
    if triple.system == MACOS:
        return "clang", "-target", _apple(triple)
    if triple.system == WINDOWS and triple.machine == X86:
        return (f"{triple.machine}-w64-mingw32-gcc",)
    if triple.system == LINUX and triple.abi == "gnu" and triple.machine != RISCV:
        return (f"{triple.machine}-linux-gnu-gcc",)
    return "zig", "cc", "-target", str(triple)


def _apple(triple: Triple) -> str:
    return f"{'arm64' if triple.machine == ARM else triple.machine}-apple-macos{_OLDEST_MACOS}"


def compiler_for(triple: Triple) -> Compiler:
    """$CC, else the compiler here that makes code for it. ToolError names what to install."""
    if wanted := shlex.split(os.environ.get("CC", "")):
        commands = [tuple(wanted)]
    else:
        commands = _commands(triple)
    if found := first_compiler(commands):
        return found
    if triple.abi == MSVC:
        hint = f"write the C with --emit c and compile it with `cl`, or name x86_64-{WINDOWS}-gnu"
    else:
        hint = "`pip install 'hbc[zig]'` compiles for all of them; CC names another compiler"
    raise ToolError(Diagnostic(f"no C compiler here makes code for `{triple}`", hint=hint))


def _commands(triple: Triple) -> list[tuple[str, ...]]:
    commands: list[tuple[str, ...]] = []
    here = triple.machine == host_machine() and triple.system == _HOSTS.get(sys.platform)
    if triple.system == LINUX and triple.abi == "gnu":
        if here:
            commands += [("gcc",), ("clang",), ("cc",)]
        else:
            commands += [c for c in cross_commands(triple.machine) if "ziglang" not in c]
    elif triple.system == WINDOWS and triple.abi == "gnu":
        commands.append((f"{triple.machine}-w64-mingw32-gcc",))
    elif triple.system == MACOS and sys.platform == "darwin":
        commands.append(("clang", "-target", _apple(triple)))
    commands = [c for c in commands if shutil.which(c[0])]
    if triple.abi != MSVC and find_spec("ziglang"):
        commands.append((sys.executable, "-m", "ziglang", "cc", "-target", str(triple)))
    return commands


def file_name(pattern: str, name: str, output: Output, triple: Triple | None) -> str:
    """What a library or object is called there: `.dll` and `.dylib` for `.so`."""
    written = pattern.format(name)
    own = _SUFFIXES.get(triple.system, {}).get(output) if triple else None
    return written.rpartition(".")[0] + own if own else written
