"""Pins the canonical linear form: same value, one text for one form, readable."""

from __future__ import annotations

from random import Random

import pytest
import trees
from hypothesis import given, settings

from hbc.ir.algebra.linear import (
    canonical,
    coefficient,
    difference,
    linear,
    minus,
    plus,
    scaled,
    to_expr,
)
from hbc.ir.lang.nodes import Binary, Expr, Op, Var, const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show


@settings(max_examples=400)
@given(trees.randoms)
def test_value_is_kept_and_the_form_is_final(r: Random) -> None:
    e = trees.index(r, 5)
    form = linear(e)
    assert linear(to_expr(form)) == form
    simple = canonical(e)
    assert canonical(simple) is simple
    for _ in range(3):
        env = trees.values(r, e)
        want = trees.value_of(e, env)
        assert trees.agree(want, trees.value_of(to_expr(form), env)), show(e)
        assert trees.agree(want, trees.value_of(simple, env)), show(e)


@settings(max_examples=200)
@given(trees.randoms)
def test_arithmetic_on_forms(r: Random) -> None:
    a, b, n = trees.index(r, 3), trees.index(r, 3), r.randint(-3, 3)
    env = trees.values(r, Binary(Op.ADD, a, b))
    x, y = (int(trees.value_of(e, env)[0]) for e in (a, b))
    for form, value in (
        (plus(linear(a), linear(b), n), x + n * y),
        (minus(linear(a), linear(b)), x - y),
        (scaled(linear(a), n), n * x),
    ):
        assert int(trees.value_of(to_expr(form), env)[0]) == value
    d = difference(a, b)
    assert d is None or d == x - y


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4 * i + j + -1", "4 * i + j - 1"),
        ("-1 + j + i * 4", "4 * i + j - 1"),
        ("0 - i", "-i"),
        ("3 - 2 * i", "3 - 2 * i"),
        ("-2 * i - 3", "-2 * i - 3"),
        ("(i + 1) * (j - 1)", "i * j + j - i - 1"),
        ("(i + 1) * W - i * W", "W"),
        ("(32 * io + ii) * A_stride0 + k", "ii * A_stride0 + 32 * io * A_stride0 + k"),
        ("min(j, i) + max(i, j)", "max(i, j) + min(i, j)"),
        ("min(min(i, j), k)", "min(min(i, j), k)"),
        ("min(k, min(j, i + 0))", "min(min(i, j), k)"),
        ("(8 * i + 4 * j + 6) / 4", "2 * i + j + 1"),
        ("(2 * i + 2) % 4", "2 * ((i + 1) % 2)"),
        ("(W + 15) / 16 * 16", "16 * ((W + 15) / 16)"),
        ("i / 0 + i % 0", "0"),
        ("i / -2", "i / -2"),
        ("0 * i", "0"),
        ("A.i64[j + i + 0]", "A.i64[i + j]"),
        ("select(i + 0 < j, 1, 2)", "select(i < j, 1, 2)"),
    ],
)
def test_forms(text: str, wanted: str) -> None:
    assert show(to_expr(linear(read_expr(text)))) == wanted


def test_products_stay_products_when_simplifying() -> None:
    e = read_expr("(32 * io + ii) * A_stride0 + (k + 1)")
    assert show(canonical(e)) == "(ii + 32 * io) * A_stride0 + k + 1"


def test_difference_of_equal_texts_in_another_order() -> None:
    a, b = read_expr("min(32 * x, W - 32) + i + 7"), read_expr("i + min(W - 32, x * 32)")
    assert difference(a, b) == 7
    assert difference(Var("i"), Var("j")) is None
    assert difference(const_index(3), const_index(5)) == -2


def test_coefficients() -> None:
    form = linear(read_expr("4 * i - j + 7"))
    assert [coefficient(form, name) for name in "ijk"] == [4, -1, 0]


def test_a_long_sum_needs_no_deep_recursion() -> None:
    e: Expr = Var("i")
    for _ in range(5000):
        e = Binary(Op.ADD, e, Var("i"))
    assert show(to_expr(linear(e))) == "5001 * i"


def test_what_is_made_again_is_the_same_object() -> None:
    """So that its text and its form are known."""
    text = "min(x / 3 + 2 * y, (x - 4 * y) % 5) * z - max(z * y + 1, x / (y + 1))"
    once, again = to_expr(linear(read_expr(text))), to_expr(linear(read_expr(text)))
    assert once is again
