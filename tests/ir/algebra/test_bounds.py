"""Pins bounds, alignment and prove: sound by brute force, precise where lowering depends on it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import trees
from hypothesis import given, settings

from hbc.ir.algebra.bounds import Facts, Interval, alignment, bounds, constant_bounds, prove
from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import Binary, Expr, Op, Var, const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import free_variables


def interval(low: str | None, high: str | None) -> Interval:
    return Interval(*(None if x is None else read_expr(x) for x in (low, high)))


RANGES = {
    "N": interval("0", None),
    "W": interval("1", None),
    "i": interval("0", "N - 1"),
    "j": interval("4 * i", "4 * i + 3"),
    "k": interval("min(8 * i, W - 8)", "min(8 * i, W - 8) + 7"),
    "data_i64": interval("-20", "20"),
}


def point(r: Random) -> dict[str, Any]:
    """Values within RANGES."""
    size, width = r.randint(1, 9), r.randint(1, 40)
    i = r.randint(0, size - 1)
    j, k = 4 * i + r.randint(0, 3), min(8 * i, width - 8) + r.randint(0, 7)
    return {"N": size, "W": width, "i": i, "j": j, "k": k, "t": 0}


def number(e: Expr, env: dict[str, Any]) -> int:
    return int(trees.value_of(e, env)[0])


def small_index(r: Random) -> Expr:
    while True:
        e = trees.index(r, 4)
        if "b1" not in show(e) and "v_" not in show(e):
            return e


@settings(max_examples=400)
@given(trees.randoms)
def test_bounds_hold(r: Random) -> None:
    e = small_index(r)
    found = bounds(e, RANGES)
    low, high = constant_bounds(e, RANGES)
    for end in (found.lo, found.hi):
        assert end is None or not free_variables(end) & {"i", "j", "k"}
    for _ in range(8):
        env = point(r)
        value = number(e, env)
        assert low is None or low <= value, (show(e), env)
        assert high is None or value <= high, (show(e), env)
        assert found.lo is None or number(found.lo, env) <= value, (show(e), show(found.lo), env)
        assert found.hi is None or value <= number(found.hi, env), (show(e), show(found.hi), env)


@settings(max_examples=300)
@given(trees.randoms)
def test_vector_bounds_hold_for_all_lanes(r: Random) -> None:
    e = trees.strided(r, 3, r.choice([2, 4, 6, 8]))
    if "v_" in show(e) or "b1" in show(e):
        return
    found = bounds(e, RANGES)
    env = point(r)
    lanes = trees.value_of(e, env)
    assert found.lo is None or number(found.lo, env) <= lanes.min()
    assert found.hi is None or lanes.max() <= number(found.hi, env)


@settings(max_examples=400)
@given(trees.randoms)
def test_what_is_proved_holds(r: Random) -> None:
    op = r.choice([Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE])
    condition = Binary(op, small_index(r), small_index(r))
    known = Binary(Op.LE, Var(r.choice(["N", "i", "j"])), Var(r.choice(["W", "k", "N"])))
    facts = Facts(RANGES).with_condition(known)
    answer = prove(condition, facts)
    for _ in range(8):
        env = point(r)
        if answer is not None and number(known, env):
            assert bool(number(condition, env)) is answer, (show(condition), show(known), env)


@settings(max_examples=300)
@given(trees.randoms)
def test_alignment_holds(r: Random) -> None:
    e = small_index(r)
    known = {"i": (4, 1), "N": (6, 0)}
    modulus, remainder = alignment(e, known)
    for _ in range(5):
        env = point(r) | {"i": 4 * r.randint(-3, 3) + 1, "N": 6 * r.randint(-3, 3)}
        value = number(e, env)
        assert value == remainder if modulus == 0 else value % modulus == remainder, show(e)


TILED = {
    "W": interval("1", None),
    "H": interval("0", None),
    "xo": interval("0", "(W + 31) / 32 - 1"),
    "xi": interval("0", "31"),
}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("32 * xo + xi - 32 * xo", "0", "31"),
        ("min(32 * xo, W - 32) + xi - min(32 * xo, W - 32)", "0", "31"),
        ("min(32 * xo, W - 32) + xi", "min(W - 32, 0)", "W - 1"),
        # A mirrored index stays inside; half of an odd sum is rounded the right way.
        ("min((xi - 9) % (2 * W), 2 * W - 1 - (xi - 9) % (2 * W))", "0", "W - 1"),
        ("max(xi, 8 - xi)", "4", "31"),
        ("max(xi, 9 - xi)", "5", "31"),
        ("min(xi, 9 - xi)", "-22", "4"),
        ("max(min(xi - 1, 9), 0)", "0", "9"),
        ("(32 * xo + xi) / 32 - xo", "0", "0"),
        ("xi % H", "0", "max(H - 1, 0)"),
        ("xi * H", "0", "31 * H"),
        ("select(xi < 3, xi, 5)", "0", "31"),
        ("ramp(xi, 2, 8)", "0", "45"),
        ("x2(ramp(8 * xi, 1, 8))", "0", "255"),
        ("i64(min(xi:u8, 9:u8))", "0", "9"),
        ("i64(max(xi:i16, -2:i16)) + W", "W - 2", "W + 32767"),
    ],
)
def test_symbolic_bounds(text: str, low: str, high: str) -> None:
    found = bounds(read_expr(text), TILED)
    assert (show_end(found.lo), show_end(found.hi)) == (low, high)


@pytest.mark.parametrize(
    ("text", "where", "low", "high"),
    [
        ("32 * xo + xi", "32 * xo + xi < W", "0", "W - 1"),
        ("32 * xo + xi + 2", "32 * xo + xi < W", "2", "W + 1"),
        ("(32 * xo + xi) / 2", "32 * xo + xi < W", "0", "(W + 1) / 2 - 1"),
        ("xi", "2 * xi >= W", "(W + 1) / 2", "31"),
        ("xi", "2 * xi <= 9", "0", "4"),
        ("xi - 2", "xi >= 2 & xi < 20", "0", "17"),
        ("yi", "32 * xo + xi < W", "0", "7"),
    ],
)
def test_symbolic_bounds_under_a_condition(text: str, where: str, low: str, high: str) -> None:
    facts = Facts({**TILED, "yi": interval("0", "7")}).with_condition(read_expr(where))
    found = bounds(read_expr(text), facts)
    assert (show_end(found.lo), show_end(found.hi)) == (low, high)


@pytest.mark.parametrize("op", [">>", "<<", "|", "^"])
def test_what_has_no_linear_form_has_an_end(op: str) -> None:
    found = bounds(read_expr(f"xi {op} W"), TILED)
    assert (found.lo, found.hi) == (None, None)


def test_bits_of_indices() -> None:
    for text, low, high in (
        ("(xi & 7) + W", "W", "W + 7"), ("xi >> 2", "0", "7"), ("xi & W", "0", None),
    ):  # fmt: skip
        found = bounds(read_expr(text), TILED)
        assert (show_end(found.lo), show_end(found.hi)) == (low, high)


def show_end(e: Expr | None) -> str | None:
    return None if e is None else show(e)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("min(32 * xo, W - 32) + xi < W", True),
        ("32 * xo < W", True),
        ("32 * xo + xi < W", None),
        ("max(min(32 * xo + xi - 1, W - 1), 0) < W", True),
        ("max(min(32 * xo + xi - 1, W - 1), 0) >= 0", True),
        ("xi >= 32", False),
        ("xi / 8 <= 3", True),
        ("(32 * xo + xi) % 32 == xi", True),
        ("W >= 1 & xi < 32", True),
        ("W < 1 | xi > 31", False),
        ("~(xi < 32)", False),
        ("ramp(xi, 1, 8) < x8(39)", True),
        ("min(W, H) <= W", True),
        ("W <= max(W, H)", True),
        ("W != W + 1", True),
        ("(W + 1) / 2 - (W - xi) / 2 <= 16", True),
        ("(W + 1) / 2 - (W - xi) / 2 <= 15", None),
        ("(W + 2) / 3 >= (W - xi) / 3", True),
        ("5 * (W / 4) - 5 * ((W + 4) / 4) == -5", True),
        ("x:u8 <= 255:u8", True),
        ("i32(x:u8) < 0:i32", False),
    ],
)
def test_proofs(text: str, answer: bool | None) -> None:
    assert prove(read_expr(text), TILED) is answer


def test_a_window_of_the_last_piece() -> None:
    """What is divided is the least of two: so is the quotient, which the rest may cancel."""
    ranges = {"n": interval("1", "64"), "p": interval("0", "7")}
    rows = read_expr("(min(8 * p, n - 8) + 7) / 8 - p + 2")
    assert constant_bounds(rows, ranges)[1] == 2


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("T <= W", "W - T >= 0"),
        ("T <= W & H < T", "H < W"),
        ("W == 2 * H", "W >= H"),
        ("~(W < 64)", "W - 32 >= xi"),
    ],
)
def test_proofs_from_conditions(known: str, text: str) -> None:
    facts = Facts({**TILED, "T": interval("1", None)}).with_condition(read_expr(known))
    assert prove(read_expr(text), facts) is True


def test_conditions_on_memory_are_not_taken() -> None:
    condition = read_expr("A.i64[0] < 5")
    assert prove(condition, Facts().with_condition(condition)) is None


def test_a_name_bound_anew_is_forgotten() -> None:
    facts = Facts(TILED).with_condition(read_expr("xi < 3")).with_range("W", interval("7", "7"))
    assert prove(read_expr("xi < 3"), facts) is True
    assert prove(read_expr("32 * xo < W"), facts) is None


def test_values_of_buffers() -> None:
    facts = {"N": interval("0", None), "begin": interval("0", "N - 1")}
    found = bounds(read_expr("i64(begin.i32[7]) + 2"), facts)
    assert (show_end(found.lo), show_end(found.hi)) == ("2", "N + 1")
    assert prove(read_expr("begin.i64[7] < N"), facts) is True


def test_nothing_depends_on_a_name_without_bounds() -> None:
    facts = {"W": interval("0", None), "g": Interval(None, None)}
    found = bounds(read_expr("min(g, W - 3)"), facts)
    assert (show_end(found.lo), show_end(found.hi)) == (None, "W - 3")
    assert show_end(bounds(read_expr("g + W - g"), facts).lo) == "W"


def test_constant_bounds_of_a_vector() -> None:
    assert constant_bounds(const(3, INDEX.with_lanes(4)), {}) == (3, 3)
    assert constant_bounds(const_index(5), {}) == (5, 5)
