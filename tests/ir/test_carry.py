"""Scans of a GPU's threads keep what they look back to in registers; other loops stay as they are."""

from __future__ import annotations

import pytest

from hbc.ir.carry import carry
from hbc.ir.kernel import Kernel
from hbc.ir.read import read_stmt
from hbc.ir.show import show
from hbc.ir.simplify import simplify_stmt


def carried(text: str) -> str:
    body = read_stmt(f"blocks b from 0 count 4 {{ threads u from 0 count 8 {{ {text} }} }}")
    return show(simplify_stmt(carry(Kernel("k", (), (), (), (), body)).body))


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
