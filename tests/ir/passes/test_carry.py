"""Scans keep what they look back to in registers; other loops stay as they are."""

from __future__ import annotations

import pytest

from hbc.ir.algebra.simplify import simplify_stmt
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show
from hbc.ir.passes.carry import carry


def carried(text: str) -> str:
    body = read_stmt(f"blocks b from 0 count 4 {{ threads u from 0 count 8 {{ {text} }} }}")
    return show(simplify_stmt(carry(Kernel("k", (), (), (), (), body), threads=True).body))


def test_two_iterations_back() -> None:
    text = carried(
        "for t from 2 count N { y[8 * t + u] = x.f32[t] + y.f32[8 * t + u - 16] * y.f32[8 * t + u - 8] }"
    )
    assert "y_kept[0] = y.f32[u + 8]" in text
    assert "y_kept[1] = y.f32[u]" in text
    assert "let y_new = x.f32[t] + y_kept.f32[0] * y_kept.f32[1] in" in text.replace(
        "y_kept.f32[1] * y_kept.f32[0]", "y_kept.f32[0] * y_kept.f32[1]"
    )
    assert "if N > 0" in text


def test_a_sum() -> None:
    text = carried("for t from 0 count 9 { y[u] = y.f32[u] + x.f32[t] }")
    assert "y_kept[0] = y_kept.f32[0] + x.f32[t]" in text
    assert text.index("y_kept[0] = y.f32[u]") < text.index("for t") < text.index("y[u] = y_kept")


@pytest.mark.parametrize(
    "loop",
    [
        "for t from 2 count 9 { y[t] = x.f32[t] }",  # looks at nothing
        "for t from 2 count 9 { y[t] = y.f32[t + 1] }",  # ahead
        "for t from 2 count 9 { y[t] = y.f32[t - 2] }",  # past what nobody is known to have
        "for t from 2 count 9 { y[t] = y.f32[t - 1] + y.f32[0] }",  # elsewhere
        "for t from 2 count 9 { y[0] = y.f32[1] + x.f32[t] }",  # another's
    ],
)
def test_what_stays(loop: str) -> None:
    assert "kept" not in carried(loop)


def on_a_processor(loop: str) -> str:
    kernel = Kernel("k", (), (), (), (), read_stmt(loop))
    return show(simplify_stmt(carry(kernel, threads=False).body))


def test_vectors_of_a_processor() -> None:
    """Also where the iteration does more than the store, which comes last."""
    text = on_a_processor(
        "for t from 2 count N { allocate z: f32[8] in stack {"
        " z[ramp(0, 1, 8)] = x.f32x8[ramp(8 * t, 1, 8)]"
        " y[ramp(8 * t, 1, 8)] = z.f32x8[ramp(0, 1, 8)] + y.f32x8[ramp(8 * t - 8, 1, 8)]"
        " * y.f32x8[ramp(8 * t - 16, 1, 8)] } }"
    )
    entry, loop = text.split("for t", 1)
    assert "y_kept[ramp(0, 1, 8)] = y.f32x8[ramp(8, 1, 8)]" in entry
    assert "y_kept[ramp(8, 1, 8)] = y.f32x8[ramp(0, 1, 8)]" in entry
    assert "y.f32x8" not in loop
    assert "y_kept[ramp(8, 1, 8)] = y_kept.f32x8[ramp(0, 1, 8)]" in loop
    assert loop.index("y[ramp(8 * t") < loop.rindex("y_kept[ramp(0, 1, 8)] = y_new")


@pytest.mark.parametrize(
    "loop",
    [
        # The next vector covers half of this one.
        "for t from 2 count 9 { y[ramp(4 * t, 1, 8)] = y.f32x8[ramp(4 * t - 4, 1, 8)] }",
        # Half of each of two.
        "for t from 2 count 9 { y[ramp(8 * t, 1, 8)] = y.f32x8[ramp(8 * t - 4, 1, 8)] }",
        # Every other element.
        "for t from 2 count 9 { y[ramp(8 * t, 2, 4)] = y.f32x4[ramp(8 * t - 8, 2, 4)] }",
        # Narrower than what was stored.
        "for t from 2 count 9 { y[ramp(8 * t, 1, 8)] = x8(y.f32[8 * t - 8]) }",
        # Two stores.
        "for t from 2 count 9 { y[2 * t + 1] = 1.0:f32 y[2 * t] = y.f32[2 * t - 2] }",
        # Perhaps not read at all, and then perhaps not there.
        "for t from 0 count 9 { allocate z: f32[1] in stack { z[0] = 0.0:f32"
        " if t > 0 { z[0] = y.f32[t - 1] } y[t] = z.f32[0] } }",
    ],
)
def test_what_stays_on_a_processor(loop: str) -> None:
    assert "kept" not in on_a_processor(loop)
