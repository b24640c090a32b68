"""What this machine is: its processor and its caches, and the best target that it can run."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from hbc.codegen.build.processor import CPUINFO, can_run, cpu_features, sysctl
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.lang.target import TARGETS, Target

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
USUAL_CACHES = {1: 32 << 10, 2: 1 << 20, 3: 16 << 20}  # bytes, where the system does not say


@functools.cache
def cpu_name() -> str:
    """The processor's model name, as far as the system tells."""
    if CPUINFO.exists():
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
        match = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
        if match:
            return match[1].strip()
    import platform

    if sys.platform == "darwin":
        return sysctl("machdep.cpu.brand_string").strip() or platform.machine()
    return platform.processor() or platform.machine() or "unknown processor"


def cpu_count() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_key(*decide: object) -> str:
    """A name for what was measured on this processor, and what else it depends on."""
    facts = [*decide, cpu_name(), sorted(cpu_features())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


@functools.cache
def cache_bytes() -> dict[int, int]:
    """Bytes of the data cache at each level (1, 2, 3) that the first processor sees."""
    sizes = dict(USUAL_CACHES)
    for folder in sorted(CACHES.glob("index*")):
        try:
            if (folder / "type").read_text().strip() == "Instruction":
                continue
            level = int((folder / "level").read_text())
            match = re.match(r"(\d+)([KM]?)", (folder / "size").read_text())
        except (OSError, ValueError):
            continue
        if match:
            sizes[level] = int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2]]
    return sizes


def default_target(runs: Callable[[Target], bool] = can_run) -> Target:
    """The target without tensor instructions that has the widest vectors this machine can run: the
    default for a file without a schedule for a better one; of two with as wide ones, the later in the
    table. Only a schedule can place results where tensor instructions work. `runs`: what another machine
    than this one can run."""
    general = [t for t in TARGETS.values() if not t.instruction_sets and runs(t)]
    return max(reversed(general), key=lambda target: target.vector_bits)


def target_named(name: str | None, runs: Callable[[Target], bool] = can_run) -> Target:
    """The target of that name, or the default for None. UsageError when there is none."""
    if name is None:
        return default_target(runs)
    if name not in TARGETS:
        hint = did_you_mean(name, TARGETS) or f"the targets are {', '.join(TARGETS)}"
        raise UsageError(Diagnostic(f"there is no target `{name}`", hint=hint))
    return TARGETS[name]
