"""Convolutions whose image is shuffled into overlapping windows: where that is chosen, and that it gives
what it should, up to the last element of the image."""

from __future__ import annotations

from itertools import product

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, Const, For, Gather, Instruct, Load
from hbc.ir.lang.walk import nodes

CONV = """
size H, W, T
input I: {a}[H, {s} * W + {q} * (T - 1) - {s} + 1]
input F: {b}[T]
output O: {sum}[H, W]
reduce r in T
acc[y, x] = 0
acc[y, x] += {sum}(F[r]) * {sum}(I[y, {s} * x + {q} * r])
O[y, x] = acc[y, x]
schedule s for {target} {{
    O.split(x, xo, xi, {width}, tail = shift).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update.split(r, ro, ri, {taps}).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(ri).vectorize(x, 16).unroll(x)
}}
"""
HALVES = {"a": "bf16", "b": "bf16", "sum": "f32", "target": "avx512bf16"}
BYTES = {"a": "u8", "b": "i8", "sum": "i32", "target": "avx512vnni"}
WORDS = {"a": "i16", "b": "i16", "sum": "i32", "target": "avx512vnni"}
PLAIN = {"s": 1, "q": 1, "width": 64, "taps": 32}


def names(k: Kernel) -> set[str]:
    return {n.buffer for n in nodes(k.body) if isinstance(n, Allocate)}


def shuffles(k: Kernel) -> int:
    """Registers sorted after one load of adjacent elements."""
    found = [n for n in nodes(k.body) if isinstance(n, Gather) and isinstance(n.value, Load)]
    return len(found)


@pytest.mark.parametrize("kind", [HALVES, BYTES, WORDS], ids=["bf16", "bytes", "words"])
@pytest.mark.parametrize(("s", "q"), [(1, 1), (2, 1), (1, 2), (3, 1)])
def test_results(kind: dict[str, object], s: int, q: int) -> None:
    """Whatever is chosen, for whole blocks and parts of them."""
    text = CONV.format(**(PLAIN | kind | {"s": s, "q": q}))
    p, kernels = compiled(text, str(kind["target"]))
    assert_selected(kernels["select"])
    for stage, (width, taps) in product(CHECKED, ((5, 7), (70, 32), (64, 33))):
        assert_agrees(p, kernels[stage], {"H": 1, "W": width, "T": taps})


@pytest.mark.parametrize("taps", [16, 64])
@pytest.mark.parametrize("kind", [HALVES, BYTES, WORDS], ids=["bf16", "bytes", "words"])
def test_windows_are_chosen(kind: dict[str, object], taps: int) -> None:
    """No banded matrix, and no product of zeros: as many as there are taps."""
    text = CONV.format(**(PLAIN | kind | {"taps": taps}))
    _, kernels = compiled(text, str(kind["target"]))
    assert not any("packed" in name for name in names(kernels["select"]))
    assert shuffles(kernels["hoist"]) > 0


def test_one_window_serves_several_steps() -> None:
    """Four blocks of outputs and two steps of the sum side by side take five windows, not eight."""
    text = CONV.format(**(PLAIN | HALVES)).replace(
        "split(r, ro, ri, 32)", "split(r, ro, ri, 32, tail = exact)"
    )
    _, kernels = compiled(text, "avx512bf16")
    inner = [
        n for n in nodes(kernels["hoist"].body)
        if isinstance(n, For) and not any(isinstance(m, For) for m in nodes(n.body))
    ]  # fmt: skip
    loops = [(sum(isinstance(m, Instruct) for m in nodes(n.body)), shuffles_in(n)) for n in inner]
    assert (8, 5) in loops


def shuffles_in(s: For) -> int:
    return sum(isinstance(n, Gather) and isinstance(n.value, Load) for n in nodes(s.body))


def test_a_matrix_is_banded_where_the_image_lies_apart() -> None:
    """Columns of an image: the elements of a window are rows of it apart."""
    text = CONV.format(**(PLAIN | HALVES)).replace("I[y, 1 * x + 1 * r]", "I[1 * x + 1 * r, y]")
    text = text.replace("[H, 1 * W + 1 * (T - 1) - 1 + 1]", "[W + T - 1, H]")
    p, kernels = compiled(text, "avx512bf16")
    assert_selected(kernels["select"])
    assert shuffles(kernels["hoist"]) == 0
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"H": 2, "W": 70, "T": 33})


DECIMATED = """
size N
input x: {a}[{s} * N + 32]
input h: {b}[32]
output y: {sum}[N]
reduce t in 32
acc[n] = 0
acc[n] += {sum}(x[{s} * n + t]) * {sum}(h[t])
y[n] = acc[n]
schedule s for {target} {{
    y.split(n, no, ni, 16).vectorize(ni)
    acc.compute_at(y, no).store_in(registers).vectorize(n)
    acc.update.atomic().vectorize(n).vectorize(t)
}}
"""


@pytest.mark.parametrize("s", [3, 4])
@pytest.mark.parametrize("kind", [HALVES, WORDS], ids=["bf16", "words"])
def test_windows_from_two_registers(kind: dict[str, object], s: int) -> None:
    """Two loads and a shuffle for 32 products, none of which is wasted."""
    p, kernels = compiled(DECIMATED.format(**kind, s=s), str(kind["target"]))
    for n in (16, 37):
        assert_agrees(p, kernels["hoist"], {"N": n})
    whole = next(n for n in nodes(kernels["select"].body) if isinstance(n, For))
    steps = [n for n in nodes(whole) if isinstance(n, For) and n is not whole]
    products = sum(isinstance(n, Instruct) for n in nodes(steps[0]))
    extent = steps[0].extent
    assert isinstance(extent, Const) and int(extent.value) * products == 16
