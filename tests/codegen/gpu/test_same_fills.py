"""Shared arrays that hold already what a statement would put there."""

from __future__ import annotations

import pytest

from hbc.codegen.gpu.same_fills import drop_repeated_fills
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import For, LoopKind
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.walk import nodes

FILL = (
    "for {v} from 0 count 4 {{\nlanes {l} from 0 count 32 {{\ns[32 * {v} + {l}] = {value}\n}}\n}}"
)
FIRST = FILL.format(v="u", l="l", value="a.f32[32 * u + l + j]")
AGAIN = FILL.format(v="v", l="m", value="a.f32[j + m + 32 * v]")
OTHER = FILL.format(v="v", l="m", value="a.f32[j + m + 32 * v + 1]")


def fills(text: str) -> int:
    """How many are left."""
    s = read_stmt(f"allocate s: f32[128] in shared {{\n{text}\n}}")
    made = drop_repeated_fills(Kernel("k", (), (), (), (), s))
    return sum(isinstance(n, For) and n.kind is LoopKind.LANE for n in nodes(made.body))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{FIRST}\nc[0] = s.f32[0]\n{AGAIN}\nc[1] = s.f32[0]", 1),
        (f"{FIRST}\nfor r from 0 count 3 {{\nc[r] = s.f32[r]\n{AGAIN}\n}}\n{AGAIN}", 3),
        (f"{FIRST}\nfor r from 0 count 3 {{\n{AGAIN}\nc[r] = s.f32[r]\n}}", 2),
        (f"{FIRST}\nif j < 3 {{\n{AGAIN}\nc[0] = s.f32[0]\n}}", 1),
        (f"if j < 3 {{\n{FIRST}\n}}\n{AGAIN}", 2),
        (f"{FIRST}\n{OTHER}\n{AGAIN}", 3),
        (f"{FIRST}\na[0] = s.f32[0]\n{AGAIN}", 2),
        (f"{FIRST}\ns[0] = 1:f32\n{AGAIN}", 2),
        (f"{FIRST}\nlet j = n in {{\n{AGAIN}\n}}", 2),
    ],
)
def test_what_is_left(text: str, left: int) -> None:
    assert fills(text) == left
