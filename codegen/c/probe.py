"""Asking the processor, when the code runs, for the features that it needs: C from their records.

The entry points ask before they write anything. They, and whatever else runs on a processor that
lacks the features, are compiled without them: between the lines of `baseline`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.ir.ground.record import record
from hbc.ir.lang.target import ARM, RISCV

if TYPE_CHECKING:
    from hbc.ir.lang.target import Feature

FUNCTION = "missing_feature"
TEMPLATES = Path(__file__).parents[1] / "templates"
REGISTERS = ("eax", "ebx", "ecx", "edx")
ROWS = "    /* rows */\n"


@record
class _Machine:
    """`without`: the `target` attribute that takes back the extensions of the basic instruction set
    which a compiler may use unasked, and `without_clang`, clang's. `numbers`: a feature as the
    template's table has it."""

    template: str
    without: str
    without_clang: str
    numbers: Callable[[Feature], Sequence[object]]


def cpuid_bit(f: Feature) -> list[object]:
    """Leaf, subleaf, register and bit, which follow the code in a row of the table."""
    return [f.bit.leaf, f.bit.subleaf, REGISTERS.index(f.bit.register), f.bit.bit]


def _cpuid(f: Feature) -> list[object]:
    return [*cpuid_bit(f), hex(f.xcr0)]


def _permitted(f: Feature) -> list[object]:
    return [*_cpuid(f), -1 if f.permission is None else f.permission, f.emulated]


_NO_X86 = "no-sse3,no-bmi,no-bmi2,no-lzcnt,no-movbe,no-popcnt"
# clang before 16 knows no `arch=` here; these came between Armv8.0 and 8.2.
_NO_ARM = "no-lse,no-crc,no-rdm,no-dotprod,no-i8mm,no-bf16"
_CPUID = _Machine("probe_x86.h", _NO_X86, _NO_X86, _cpuid)
_PERMITTED = _Machine("probe_amx.h", _NO_X86, _NO_X86, _permitted)
_AUXILIARY = _Machine("probe_arm.h", "arch=armv8-a", _NO_ARM, lambda f: [f.bit.leaf, f.bit.bit])
_NO_VECTORS = "arch=rv64gc"  # gcc from 14 on, clang from 17 on, as the intrinsics
_VECTORS = _Machine("probe_riscv.h", _NO_VECTORS, _NO_VECTORS, lambda f: [f.bit.leaf, f.bit.bit])


def _machine(features: Sequence[Feature]) -> _Machine:
    if features[0].machine == ARM:
        return _AUXILIARY
    if features[0].machine == RISCV:
        return _VECTORS
    return _PERMITTED if any(f.permission is not None for f in features) else _CPUID


def missing_text(f: Feature) -> str:
    """What the error code of a missing feature means."""
    return f"this processor has no {f.name}, or the system does not permit it"


def probe(features: Sequence[Feature], codes: Sequence[str]) -> str:
    """The C function `missing_feature`, which returns the code of a feature that is missing."""
    machine = _machine(features)
    rows = []
    for f, code in zip(features, codes, strict=True):
        numbers = ", ".join(str(n) for n in machine.numbers(f))
        rows.append(f"    {{{code}, {numbers}}},\n")
    text = (TEMPLATES / machine.template).read_text(encoding="ascii")
    return text.replace(ROWS, "".join(rows))


def baseline(features: Sequence[Feature]) -> tuple[str, str]:
    """The lines around functions that any processor of the machine can execute."""
    machine = _machine(features)
    attribute = f'__attribute__((target("{machine.without_clang}")))'
    begin = (
        "#if defined(__clang__)\n"
        f"#pragma clang attribute push({attribute}, apply_to = function)\n"
        "#elif defined(__GNUC__)\n"
        f'#pragma GCC push_options\n#pragma GCC target("{machine.without}")\n#endif'
    )
    end = (
        "#if defined(__clang__)\n#pragma clang attribute pop\n"
        "#elif defined(__GNUC__)\n#pragma GCC pop_options\n#endif"
    )
    return begin, end
