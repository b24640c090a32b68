"""Bank conflicts of accesses, against a count by hand of which words each lane wants."""

from __future__ import annotations

import pytest

from hbc.codegen.gpu.banks import BankUse, bank_uses
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_stmt

NEST = """
blocks b from 0 count 1 {{
    allocate s: {element}[{size}] in shared{swizzle} {{
        threads t from 0 count 64 {{ {access} }}
    }}
}}
"""


def use_of(access: str, element: str = "f32", size: int = 4096, swizzle: str = "") -> BankUse:
    text = NEST.format(element=element, size=size, swizzle=swizzle, access=access)
    (use,) = bank_uses(Kernel("k", (), (), (), (), read_stmt(text)))
    return use


@pytest.mark.parametrize(
    ("access", "bytes_", "wavefronts", "least"),
    [
        ("s[t] = 0.0:f32", 4, 1, 1),
        ("s[0] = 0.0:f32", 4, 1, 1),  # all the same word
        ("s[2 * t] = 0.0:f32", 4, 2, 1),
        ("s[32 * t] = 0.0:f32", 4, 32, 1),
        ("s[33 * t] = 0.0:f32", 4, 1, 1),
        ("s[32 * (t / 8) + t % 8] = 0.0:f32", 4, 4, 1),
        ("s[ramp(4 * t, 1, 4)] = x4(0.0:f32)", 16, 4, 4),
        ("s[ramp(32 * t, 1, 4)] = x4(0.0:f32)", 16, 32, 4),
        ("s[ramp(36 * t, 1, 4)] = x4(0.0:f32)", 16, 4, 4),
        ("s[ramp(2 * t, 1, 2)] = x2(0.0:f32)", 8, 2, 2),
        ("for i from 0 count 4 { s[32 * i + (i + 1) * t] = 0.0:f32 }", 4, 4, 1),  # the worst turn
    ],
)
def test_conflicts(access: str, bytes_: int, wavefronts: int, least: int) -> None:
    assert use_of(access) == BankUse("s", True, bytes_, wavefronts, least)


def test_halves_share_words() -> None:
    assert use_of("s[t] = 0.0:f16", "f16").wavefronts == 1
    assert use_of("s[64 * t] = 0.0:f16", "f16").wavefronts == 32


@pytest.mark.parametrize(
    ("access", "swizzle", "wavefronts"),
    [
        ("s[32 * t] = 0.0:f32", " swizzle 1 of 32", 1),
        ("s[32 * t] = 0.0:f32", " swizzle 4 of 32", 4),
        ("s[ramp(32 * t, 1, 4)] = x4(0.0:f32)", " swizzle 4 of 32", 4),
        ("s[ramp(16 * t, 1, 4)] = x4(0.0:f32)", " swizzle 4 of 16", 4),
        ("s[ramp(16 * t, 1, 4)] = x4(0.0:f32)", "", 16),
    ],
)
def test_swizzled(access: str, swizzle: str, wavefronts: int) -> None:
    assert use_of(access, swizzle=swizzle).wavefronts == wavefronts
