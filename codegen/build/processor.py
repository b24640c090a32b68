"""What this processor can do: its features, the targets whose code it runs, and those it can imitate.

HBC_FEATURES=-amx_fp16,-avx512f takes features away: hbc, its children and the code that they run behave as
on a processor without them. None can be added: its instructions would not be executed.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.lang.target import TARGETS, X86, Target

if TYPE_CHECKING:
    from hbc.ir.lang.instruction import Instruction

CPUINFO = Path("/proc/cpuinfo")
PRETENCE = "HBC_FEATURES"  # the environment variable

# Features that C functions can stand for (`soft_vectors`), and those that they are made of, as
# /proc/cpuinfo spells them.
SOFT = frozenset({
    "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512vbmi",
    "avx_vnni",
})  # fmt: skip
_SOFT_NEEDS = frozenset({"avx2", "fma", "f16c", "bmi2"})

# Those that the AMX emulator stands for.
TILES = frozenset({"amx_tile", "amx_int8", "amx_bf16", "amx_fp16"})

# No processor has features that begin so without this one.
_BUILT_ON = {
    "avx": ("avx2", "avx512", "avx_", "f16c", "fma"),
    "avx2": ("avx512", "avx_"),
    "avx512f": ("avx512",),
    "amx_tile": ("amx_",),
}


def cpu_features() -> frozenset[str]:
    """Feature names as Linux spells them (`avx512bw`, `fma`, `asimddp`), less those that HBC_FEATURES takes
    away; empty when unknown. UsageError for a pretence that makes no sense."""
    pretended = os.environ.get(PRETENCE, "")
    return processor_features() - _taken_away(pretended, processor_features())


@functools.cache
def _taken_away(pretended: str, has: frozenset[str]) -> frozenset[str]:
    """`-avx512f,-amx_fp16`: those features, and what is built on them."""
    known = has | SOFT | TILES | {need for t in TARGETS.values() for need in t.needs}
    lost: set[str] = set()
    for word in re.split(r"[,\s]+", pretended.strip(", \t\n")):
        name = word.removeprefix("-")
        if not word:
            continue
        if word == name:
            hint = "`-NAME` takes one away; the instructions of one that is added would not run"
            raise UsageError(Diagnostic(f"{PRETENCE}: `{word}` does not begin with `-`", hint=hint))
        if name not in known:
            hint = did_you_mean(name, sorted(known)) or "names are those of /proc/cpuinfo"
            raise UsageError(Diagnostic(f"{PRETENCE}: there is no feature `{name}`", hint=hint))
        beginnings = _BUILT_ON.get(name, ())
        lost |= {name, *(f for f in known if f.startswith(beginnings))} if beginnings else {name}
    return frozenset(lost)


# AMD's family 19h (Zen 3, Zen 4) does vectors of 512 bits in two halves: "Software Optimization Guide for the
# AMD Zen4 Microarchitecture", publication 57647, section 2.11.
_HALVES = re.compile(
    r"^vendor_id\s*:\s*AuthenticAMD$.*?^cpu family\s*:\s*25$", re.MULTILINE | re.DOTALL
)


def in_halves() -> bool:
    """Whether this processor does a vector of 512 bits in two halves: vectors of 256 are as fast then."""
    text = CPUINFO.read_text(encoding="utf-8", errors="replace") if CPUINFO.exists() else ""
    return _HALVES.search(text) is not None


def machine_name() -> str:
    """As `platform.machine`, which takes 3 ms to import."""
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform

    return platform.machine()


@functools.cache
def processor_features() -> frozenset[str]:
    """What the processor has, whatever is pretended."""
    if CPUINFO.exists():
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
        flags = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
        if flags is not None:
            return frozenset(flags[1].split())
        isa = re.search(
            r"^isa\s*:\s*rv64([a-z0-9_]*)$", text, re.MULTILINE
        )  # RISC-V: rv64imafdcv_zvl256b
        letters, *longer = isa[1].split("_") if isa is not None else [""]
        return frozenset((*letters, *longer))
    if sys.platform == "darwin":
        said = sysctl("machdep.cpu.features") + " " + sysctl("machdep.cpu.leaf7_features")
        return frozenset(said.lower().replace(".", "_").split())
    return frozenset()


def missing_features(target: Target) -> tuple[str, ...]:
    """What the target needs and this processor does not have."""
    return tuple(need for need in target.needs if need not in cpu_features())


def can_run(target: Target) -> bool:
    """Whether this processor has every feature that the target needs."""
    return not missing_features(target)


def runs_here(target: Target) -> bool:
    """Whether the target's code runs here, with C functions for what this processor lacks."""
    return softened_features(target).issuperset(missing_features(target))


def softened_features(target: Target) -> frozenset[str]:
    """Those of the missing features that C functions stand for when the code runs here."""
    if target.machine != X86 or not cpu_features() >= _SOFT_NEEDS:
        return frozenset()
    return SOFT.intersection(missing_features(target))


def emulated_features(target: Target, instructions: Iterable[Instruction] = ()) -> frozenset[str]:
    """Those that the target and the instructions of a kernel need, this processor lacks and the AMX emulator
    stands for. With one of them, all tiles of the kernel are emulated: an instruction that traps cannot be
    done elsewhere than where its tiles are."""
    needs = {*target.needs, *(f.cpuinfo for i in instructions for f in i.needs)}
    return TILES.intersection(needs) - cpu_features()


def sysctl(name: str) -> str:
    """What macOS says of itself; "" elsewhere."""
    try:
        import subprocess  # here, since it takes 4 ms and Linux does without

        done = subprocess.run(["sysctl", "-n", name], capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace")
