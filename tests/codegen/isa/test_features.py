"""The probes of features say what the system says."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from isa_machines import DESCRIBED
from isa_program import missing

from hbc.codegen.build.processor import processor_features
from hbc.ir.lang.target import Feature

X86 = """#include <cpuid.h>
#include <stdio.h>
static unsigned found(unsigned leaf, unsigned subleaf, int which, int bit)
{
    unsigned r[4] = {0};
    __get_cpuid_count(leaf, subleaf, r, r + 1, r + 2, r + 3);
    return r[which] >> bit & 1;
}
"""
ARM = """#include <stdio.h>
#include <sys/auxv.h>
static unsigned found(unsigned long leaf, int bit) { return getauxval(leaf) >> bit & 1; }
"""
REGISTERS = ("eax", "ebx", "ecx", "edx")


def features(machine: str) -> list[Feature]:
    return [f for f in DESCRIBED.features if f.machine == machine]


def probed(head: str, calls: Sequence[str], command: Sequence[str], folder: Path) -> Path:
    """The program that prints 0 or 1 for each call."""
    lines = "".join(f'    printf("%u\\n", {call});\n' for call in calls)
    source, out = folder / "probe.c", folder / "probe"
    source.write_text(f"{head}int main(void)\n{{\n{lines}    return 0;\n}}\n", encoding="ascii")
    subprocess.run([*command, str(source), "-o", str(out)], check=True)
    return out


def names(chosen: Sequence[Feature], command: Sequence[str]) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {f.name for f, bit in zip(chosen, done.stdout.split(), strict=True) if bit == "1"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="this is no x86-64 processor")
def test_x86(tmp_path: Path) -> None:
    if reason := missing("gcc"):
        pytest.skip(reason)
    known = features("x86_64")
    calls = [
        f"found({f.bit.leaf}, {f.bit.subleaf}, {REGISTERS.index(f.bit.register)}, {f.bit.bit})"
        for f in known
    ]
    program = probed(X86, calls, ["gcc"], tmp_path)
    wanted = {f.name for f in known if f.cpuinfo in processor_features()}
    assert names(known, [str(program)]) == wanted


@pytest.mark.parametrize(
    ("processor", "wanted"),
    [
        ("max", {"dotprod", "i8mm", "bf16"}),
        ("neoverse-n1", {"dotprod"}),
        ("cortex-a53", set()),
    ],
)
def test_arm(processor: str, wanted: set[str], tmp_path: Path) -> None:
    if reason := missing("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        pytest.skip(reason)
    known = features("aarch64")
    calls = [f"found({f.bit.leaf}, {f.bit.bit})" for f in known]
    program = probed(ARM, calls, ["aarch64-linux-gnu-gcc", "-static"], tmp_path)
    assert names(known, ["qemu-aarch64", "-cpu", processor, str(program)]) == wanted
