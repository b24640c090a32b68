"""Pins simplify: the value is kept, a result simplifies to itself, no change is the same object."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import statements
import trees
from hypothesis import given, settings

from hbc.ir.algebra.bounds import Facts, Interval
from hbc.ir.algebra.simplify import simplify, simplify_kernel, simplify_stmt
from hbc.ir.lang.kernel import Check, Kernel, Size
from hbc.ir.lang.nodes import Block, const_index
from hbc.ir.lang.read import read_expr, read_kernel, read_stmt
from hbc.ir.lang.show import show, show_kernel


@settings(max_examples=500)
@given(trees.randoms)
def test_value_is_kept_and_the_result_is_final(r: Random) -> None:
    e = trees.any_expr(r)
    simple = simplify(e)
    assert simple.type == e.type
    assert simplify(simple) is simple, f"{show(e)}\n{show(simple)}\n{show(simplify(simple))}"
    for _ in range(3):
        env = trees.values(r, e)
        data = r.choice([trees.BUFFERS, trees.WIDE_BUFFERS])
        before, after = trees.value_of(e, env, data), trees.value_of(simple, env, data)
        assert trees.agree(before, after, signs=not trees.picks_zero(e)), (
            f"{show(e)}\n{show(simple)}\n{env}\n{before}\n{after}"
        )


@settings(max_examples=150)
@given(trees.randoms)
def test_kernels_do_the_same_and_the_result_is_final(r: Random) -> None:
    k = statements.kernel(r, 5)
    simple = simplify_kernel(k)
    assert simplify_kernel(simple) is simple, show_kernel(k)
    for _ in range(3):
        sizes = {"N": r.randint(0, 9), "W": r.randint(0, 9)}
        before, after = statements.result(k, sizes), statements.result(simple, sizes)
        assert np.array_equal(before, after), f"{show_kernel(k)}\n{show_kernel(simple)}\n{sizes}"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Index arithmetic.
        ("x * 4 + 3 - x * 3 - 4", "x - 1"),
        ("i * 8 + j + i * 8", "16 * i + j"),
        ("min(x * 32 + 31, W - 1) - 31", "min(32 * x, W - 32)"),
        ("(x * 4 + 6) / 4", "x + 1"),
        ("(x * 4 + y * 4 + 3) % 4", "3"),
        ("4 * (x / 4) + x % 4", "x"),
        ("x / 4 / 8", "x / 32"),
        ("max(x, max(y, x))", "max(x, y)"),
        ("max(x, min(x, y))", "x"),
        ("min(x / 4, max(2 * y, x / 4) + 1)", "x / 4"),
        ("max(x, min(max(min(x, y), z), x))", "x"),
        # Comparisons.
        ("i + 1 < N + 1", "i < N"),
        ("i <= N - 1", "i < N"),
        ("4 * i < 18", "i < 5"),
        ("2 * i == 3", "false"),
        ("0 < N - i", "i < N"),
        ("N >= N", "true"),
        # Vectors.
        ("ramp(b, 1, 4) + x4(c)", "ramp(b + c, 1, 4)"),
        ("ramp(0, 1, 4) * x4(3)", "ramp(0, 3, 4)"),
        ("ramp(ramp(b, 1, 4), x4(4), 2)", "ramp(b, 1, 8)"),
        ("ramp(x4(b), x4(0), 2)", "x8(b)"),
        ("x2(x4(v:f32))", "x8(v:f32)"),
        ("x4(a:f32) + x4(b:f32)", "x4(a:f32 + b:f32)"),
        ("ramp(32 * i, 1, 8) / x8(2)", "ramp(x2(16 * i), x2(1), 4)"),
        ("ramp(32 * i, 1, 8) % x8(2)", "x4(ramp(0, 1, 2))"),
        ("ramp(32 * i, 1, 8) / x8(16)", "x8(2 * i)"),
        ("ramp(x4(i), x4(1), 4) + x4(ramp(j, 1, 4))", "ramp(ramp(i + j, 1, 4), x4(1), 4)"),
        ("ramp(0, 1, 8) < x8(8)", "x8(true)"),
        ("A.f32x4[x4(i)]", "x4(A.f32[i])"),
        ("A.f32x4[ramp(i, 1, 4) if x4(false)]", "x4(0.0:f32)"),
        ("A.f32x4[ramp(i, 1, 4) if x4(true)]", "A.f32x4[ramp(i, 1, 4)]"),
        ("gather(v:f32x4, [0, 1, 2, 3])", "v:f32x4"),
        ("gather(gather(v:f32x4, [3, 2, 1, 0]), [1, -1])", "gather(v:f32x4, [2, -1])"),
        ("reduce<max>(x8(v:f32), 1)", "v:f32"),
        ("reduce<+>(x8(v:i32), 2)", "x2(v:i32 * 4:i32)"),
        ("exp(x4(v:f32))", "x4(exp(v:f32))"),
        # Conditions and selects.
        ("select(i < j, x, x)", "x"),
        ("select(i < j, select(i < j, x, y), z)", "select(i < j, x, z)"),
        ("select(~p:bool, a:f32, b:f32)", "select(p:bool, b:f32, a:f32)"),
        ("select(i < j, true, false)", "i < j"),
        ("p:bool & ~p:bool", "false"),
        ("p:bool & (p:bool & q:bool)", "p:bool & q:bool"),
        # Values.
        ("i32(i64(x:i32))", "x:i32"),
        ("f32(f64(x:f32)) * 1.0:f32", "x:f32"),
        ("u8(i32(x:u16))", "u8(x:u16)"),
        ("u8(f32(x:i16))", "u8(f32(x:i16))"),
        ("min(i32(x:u8), 255:i32)", "i32(x:u8)"),
        ("max(min(i32(x:u8), 300:i32), -5:i32)", "i32(x:u8)"),
        ("x:f32 / 4.0:f32", "x:f32 * 0.25:f32"),
        ("x:f32 / 3.0:f32", "x:f32 / 3.0:f32"),
        ("x:f8e4m3 / 256.0:f8e4m3", "x:f8e4m3 * 0.004:f8e4m3"),
        ("x:f8e4m3 / 0.00195:f8e4m3", "x:f8e4m3 / 0.002:f8e4m3"),  # no 512
        ("x:f8e5m2 / 0.00195:f8e5m2", "x:f8e5m2 * 5e+02:f8e5m2"),
        ("x:f32 + 0.0:f32", "x:f32 + 0.0:f32"),
        ("x:f32 * 0.0:f32", "x:f32 * 0.0:f32"),
        ("x:i32 * 0:i32", "0:i32"),
        ("(x:u8 + 200:u8) + 100:u8", "x:u8 + 44:u8"),
        ("0.1:f32 + 0.2:f32", "0.3:f32"),
        ("7:i32 / 0:i32", "0:i32"),
        ("let a = 3 in a + i", "i + 3"),
        ("let a = i * j in a * a", "let a = i * j in a * a"),
        ("let a = i * j in j", "j"),
    ],
)
def test_examples(text: str, wanted: str) -> None:
    assert show(simplify(read_expr(text))) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for i from 0 count 0 { A[i] = 1 }", "{\n}"),
        ("for i from N count -1 { A[i] = 1 }", "{\n}"),
        ("for i from 5 count 1 { A[i] = i }", "A[5] = 5"),
        ("if 1 < 2 { A[0] = 1 } else { A[1] = 1 }", "A[0] = 1"),
        ("if i < 2 { } else { A[1] = 1 }", "if i >= 2 {\n    A[1] = 1\n}"),
        ("if i < 2 { if i < 3 { A[1] = 1 } }", "if i < 2 {\n    A[1] = 1\n}"),
        ("let a = i in A[a] = a", "A[i] = i"),
        ("let a = i + j in A[0] = 1", "A[0] = 1"),
        ("{ { } A[0] = 1 { } }", "A[0] = 1"),
        ("for i from 0 count 8 { A[i % 8] = i / 8 }", "for i from 0 count 8 {\n    A[i] = 0\n}"),
        (
            "for i from 0 count 8 { A[max(min(i, 7), 0)] = 1 }",
            "for i from 0 count 8 {\n    A[i] = 1\n}",
        ),
        (
            "for i from 1 count 8 { A[(i + 7) / 8] = i / 9 }",
            "for i from 1 count 8 {\n    A[1] = 0\n}",
        ),
        (
            "for i from 1 count 8 { A[(8 * j + i - 1) / 8] = (i + 7) % 8 }",
            "for i from 1 count 8 {\n    A[j] = i - 1\n}",
        ),
        (  # the last piece of 1152 by threads
            "for o from 0 count 5 { let n = min(1152 - 256 * o, 256) in for t from 0 count 256 {"
            " if t < n { A[(256 * o + t) / 72 % 16] = 1 } } }",
            "for o from 0 count 5 {\n    let n = min(1152 - 256 * o, 256) in\n"
            "    for t from 0 count 256 {\n        if t < n {\n"
            "            A[(256 * o + t) / 72] = 1\n        }\n    }\n}",
        ),
        ("A[ramp(i, 1, 4) if x4(false)] = x4(1)", "{\n}"),
        ("A[ramp(i, 1, 4) if x4(true)] = x4(1)", "A[ramp(i, 1, 4)] = x4(1)"),
        ("allocate t: f32[4] in stack { }", "{\n}"),
        ('assert 1 < 2, "always"', "{\n}"),
        (
            "for i from 0 count N { if A.i64[0] < 5 { A[0] = 9 if A.i64[0] < 5 { B[0] = 1 } } }",
            "for i from 0 count N {\n    if A.i64[0] < 5 {\n        A[0] = 9\n"
            "        if A.i64[0] < 5 {\n            B[0] = 1\n        }\n    }\n}",
        ),
    ],
)
def test_statements(text: str, wanted: str) -> None:
    assert show(simplify_stmt(read_stmt(text))) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Sums and products wrap the same in any order.
        ("a.i64[r] + 1 - a.i64[r]", "1"),
        ("a.i64[r] < 5", "a.i64[r] < 5"),
        ("a.i64[r] < N - i", "a.i64[r] < N - i"),
        ("a.i64[r] <= a.i64[r]", "true"),
        ("min(a.i64[r], a.i64[r])", "a.i64[r]"),
        # Wrong for the greatest and least integers.
        ("a.i64[r] + 1 < a.i64[r]", "a.i64[r] + 1 < a.i64[r]"),
        ("8 * a.i64[r] / 8", "8 * a.i64[r] / 8"),
        ("min(a.i64[r] + 1, a.i64[r] + 2)", "min(a.i64[r] + 1, a.i64[r] + 2)"),
        ("i64(x:f32) - 1 < i64(x:f32)", "i64(x:f32) - 1 < i64(x:f32)"),
        # Narrower data does not reach so far.
        ("i64(a.i32[r]) + 1 > i64(a.i32[r])", "true"),
    ],
)
def test_wide_data_wraps(text: str, wanted: str) -> None:
    assert show(simplify(read_expr(text))) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # A remainder is no more than what it is a remainder of.
        (
            "let t = N % 4 in vector j from 0 count 4 {"
            " if j < t { A[j + N - t] = B.i64[min(max(j + N - t, 0), N - 1)] } }",
            "B.i64[j + N - t]",
        ),
        # The lanes of `j` share what is said of `i`: where it does not hold nothing is loaded.
        (
            "for m from 0 count (N + 3) / 4 { let n = min(N - 4 * m, 4) in"
            " vector i from 0 count 4 { vector j from 0 count 4 {"
            " if i < n & j < M { A[j + M * i + 4 * M * m] = B.i64[min(i + 4 * m, N - 1)] } } } }",
            "B.i64[i + 4 * m]",
        ),
    ],
)
def test_what_holds_for_lanes(body: str, wanted: str) -> None:
    head = "kernel k\nsize N\nsize M\ninput B: i64[N]\noutput A: i64[N * M]\n"
    shown = show_kernel(simplify_kernel(read_kernel(f"{head}{{\n{body}\n}}\n")))
    assert wanted in shown, shown


def test_facts_of_the_caller() -> None:
    facts = Facts({"W": Interval(const_index(8), None)})
    assert show(simplify(read_expr("min(W, 8) + max(W - 8, 0)"), facts)) == "W"


def test_checks_hold_in_the_body() -> None:
    body = read_stmt("if T <= W { A[0] = 1 }")
    check = Check(read_expr("T <= W"), "too wide")
    k = Kernel("k", (Size("T"), Size("W")), (), (), (check,), body)
    assert show(simplify_kernel(k).body) == "A[0] = 1"


def test_no_change_is_the_same_object() -> None:
    k = read_kernel(
        "kernel k\nsize N\noutput A: i64[N]\n{\n"
        "    for i from 0 count N {\n        A[i] = i\n        # done\n    }\n}\n"
    )
    assert simplify_kernel(k) is k
    assert simplify_stmt(Block(())) == Block(())
