"""Convolutions whose rows end within a block: the banded matrix under a mask of the outputs."""

from __future__ import annotations

from itertools import product

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

from hbc.ir.lang.nodes import Allocate, If, Instruct, Load
from hbc.ir.lang.walk import nodes

CONV = """
size H, W, T
input I: {a}[H, {s} * (W - 1) + {q} * (T - 1) + 1]
input F: {b}[T]
output O: {sum}[H, W]
reduce r in T
acc[y, x] = 0
acc[y, x] += {sum}(I[y, {s} * x + {q} * r]) * {sum}(F[r])
O[y, x] = acc[y, x]
schedule s for {target} {{
    O.split(x, xo, xi, {width}, tail = {tail}).vectorize(xi{lanes})
    acc.compute_at(O, xo).store_in({memory}).vectorize(x{lanes})
    acc.update.split(r, ro, ri, {step}{taps}).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(x{lanes}).vectorize(ri){unrolled}
}}
"""
TILES = {
    "target": "amx", "memory": "amx_tile", "width": 128, "lanes": "", "unrolled": "",
    "a": "bf16", "b": "bf16", "sum": "f32", "step": 4,
}  # fmt: skip
BYTES = TILES | {"a": "u8", "b": "i8", "sum": "i32", "step": 8}
LANES = {
    "target": "avx512vnni", "memory": "registers", "width": 16, "lanes": ", 16",
    "unrolled": "", "a": "u8", "b": "i8", "sum": "i32", "step": 8,
}  # fmt: skip


@pytest.mark.parametrize("taps", [", tail = exact", ""])
@pytest.mark.parametrize("s", [1, 2])
@pytest.mark.parametrize("tail", ["mask", "shift"])
@pytest.mark.parametrize("kind", [TILES, BYTES, LANES], ids=["bf16", "bytes", "lanes"])
def test_rows_that_end_within_a_block(
    kind: dict[str, object], tail: str, s: int, taps: str
) -> None:
    text = CONV.format(**kind, tail=tail, s=s, q=1, taps=taps)
    p, kernels = compiled(text, str(kind["target"]))
    assert_selected(kernels["select"])
    for stage, width in product(CHECKED, (1, 20, 127, 130)):
        assert_agrees(p, kernels[stage], {"H": 2, "W": width, "T": 8 if taps else 11})


@pytest.mark.parametrize(("s", "q"), [(1, 2), (1, 3), (2, 3), (3, 2), (2, 4)])
@pytest.mark.parametrize("tail", ["mask", "shift"])
@pytest.mark.parametrize("kind", [TILES, BYTES], ids=["bf16", "bytes"])
def test_taps_apart_that_end_within_a_step(
    kind: dict[str, object], tail: str, s: int, q: int
) -> None:
    """The last taps are a banded matrix, too, and what lies between those that count is all that is read."""
    p, kernels = compiled(CONV.format(**kind, tail=tail, s=s, q=q, taps=""), "amx")
    assert_selected(kernels["select"])
    products = [n for n in nodes(kernels["select"].body) if isinstance(n, Instruct)]
    assert all(dict(n.sizes)["N"] > 1 for n in products)
    for stage, width in product(CHECKED, (20, 130)):
        assert_agrees(p, kernels[stage], {"H": 2, "W": width, "T": 11})


@pytest.mark.parametrize("tail", ["mask", "shift"])
def test_a_tail_is_as_few_instructions_as_a_block(tail: str) -> None:
    """Not one product of a row and a column for each output of which there is only one row."""
    _, kernels = compiled(CONV.format(**TILES, tail=tail, s=1, q=1, taps=", tail = exact"), "amx")
    products = [n for n in nodes(kernels["select"].body) if isinstance(n, Instruct)]
    assert all(dict(n.sizes)["M"] == 8 for n in products)
    assert all(isinstance(a, Load) for n in products for a in n.args)


WHOLE = """
size H, W
input I: {a}[H, W + {taps} - 1]
input F: {b}[{taps}]
output O: {sum}[H, W]
reduce r in {taps}
acc[y, x] = 0
acc[y, x] += {sum}(I[y, x + r]) * {sum}(F[r])
O[y, x] = acc[y, x]
schedule s for amx {{
    O.tile(y, x, yo, xo, yi, xi, 2, 256, tail = shift).vectorize(yi).vectorize(xi)
    acc.compute_at(O, xo).store_in(amx_tile).vectorize(y).vectorize(x)
    acc.update.reorder(y, x, r).atomic().vectorize(y).vectorize(x).vectorize(r)
}}
"""


@pytest.mark.parametrize("taps", [20, 32, 64])
@pytest.mark.parametrize("kind", [TILES, BYTES], ids=["bf16", "bytes"])
def test_last_steps_end_with_the_band(kind: dict[str, object], taps: int) -> None:
    """The band is no multiple of what a product takes. Its last step is moved back, so that the image is read
    where it lies, and the band is 0 where that step and the one before would both count."""
    p, kernels = compiled(WHOLE.format(**kind, taps=taps), "amx")
    assert_selected(kernels["select"])
    whole = next(n for n in nodes(kernels["select"].body) if isinstance(n, If)).then
    copies = {n.buffer for n in nodes(whole) if isinstance(n, Allocate)}
    assert not any(name.startswith("I_packed") for name in copies)
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"H": 3, "W": 300})
