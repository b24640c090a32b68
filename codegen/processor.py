"""What this processor can do: its features, the targets whose code it runs, and those it can imitate."""

from __future__ import annotations

import functools
import platform
import re
import subprocess
from pathlib import Path

from hbc.ir.target import X86, Target

CPUINFO = Path("/proc/cpuinfo")

# Features that C functions can stand for (`soft_vectors`), and those that they are made of, as
# /proc/cpuinfo spells them.
SOFT = frozenset({
    "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512vbmi",
    "avx_vnni",
})  # fmt: skip
_SOFT_NEEDS = frozenset({"avx2", "fma", "f16c", "bmi2"})


@functools.cache
def cpu_features() -> frozenset[str]:
    """Feature names as Linux spells them (`avx512bw`, `fma`, `asimddp`); empty when unknown."""
    if CPUINFO.exists():
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
        return frozenset(found[1].split()) if found else frozenset()
    if platform.system() == "Darwin":
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


def sysctl(name: str) -> str:
    """What macOS says of itself; "" elsewhere."""
    try:
        done = subprocess.run(["sysctl", "-n", name], capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace")
