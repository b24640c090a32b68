"""Pins the verifier: well-formed kernels pass, and each kind of mistake is named with its pass."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import statements
import trees
from hypothesis import given, settings

from hbc.ir.algebra.simplify import simplify_kernel
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.nodes import Block, Const, For, Gather, Let, LoopKind, Marks, Store, const_index
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.types import F32
from hbc.ir.meaning.verify import verify

HEAD = """kernel k
size N
input A: f32[N, N]
output C: f32[N]
table W: i64[2] = [1, 2]
check N > 0, "no elements"
"""


@settings(max_examples=60)
@given(trees.randoms)
def test_right_kernels_pass(r: Random) -> None:
    k = statements.kernel(r)
    verify(k, "lower")
    verify(simplify_kernel(k), "rotate")


def test_a_right_kernel_passes() -> None:
    body = """
    for i from 0 count N {
        let at = i * A_stride0 + W.i64[0] in
        C[i] = A.f32[at]
    }
    for i from 0 count N {
        allocate t: f32[4] in stack {
            t[ramp(0, 1, 4) if ramp(i, 1, 4) < x4(N)] = x4(1.0:f32)
            C[i] = reduce<+>(t.f32x4[ramp(0, 1, 4)], 1)
        }
    }"""
    verify(read_kernel(f"{HEAD}{{{body}\n}}"), "share")


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("C[i] = 1.0:f32", "`i` is not defined here: i"),
        ("C[0] = 1:i32", "`C` holds f32, not i32"),
        ("D[0] = 1:i32", "there is no buffer `D`"),
        ("C[0] = D.f32[0]", "there is no buffer `D`"),
        ("C[0] = f32(A.i32[0])", "`A` holds f32"),
        ("C[0:i32] = 1.0:f32", "the index of a store is i32, not i64"),
        ("C[ramp(0, 1, 4)] = 1.0:f32", "the index of a store is i64x4, not i64"),
        ("C[0] = 1.0:f32 + 1:i32", "`+` of f32 and i32"),
        ("C[0] = 1.0:f32 & 1.0:f32", "`&` of f32"),
        ("C[0] = f32(true + false)", "`+` of bool"),
        ("C[0] = ~1.0:f32", "`~` of f32"),
        ("C[0] = select(N, 1.0:f32, 2.0:f32)", "a condition of i64, not bool"),
        ("C[0] = select(true, 1.0:f32, 2:i32)", "a select between f32 and i32"),
        ("C[0] = f32x4(1)", "a cast of 1 lanes to 4"),
        ("C[0] = exp(1:i32)", "`exp` gives i32"),
        ("C[0] = f32(300:u8)", "300 is not a u8"),
        ("C[0] = A.f32(0, 0)", "an Access after lowering"),
        ("C[ramp(0, 1, 4)] = A.f32x4[ramp(0, 1, 4) if true]", "a mask of bool for 4 lanes"),
        ("C[ramp(0, 1, 4) if true] = x4(1.0:f32)", "the mask of a store is bool, not boolx4"),
        ("C[ramp(x2(0), 1, 4)] = x8(1.0:f32)", "a ramp of i64x2 with strides of i64"),
        ("C[0] = reduce<+>(x6(1.0:f32), 4)", "a reduction of 6 lanes to 4"),
        ("C[0] = gather(x4(1.0:f32), [4])", "a gather of lane 4 of 4"),
        ("C[0] = reduce<->(x4(1.0:f32), 1)", "a reduction with `-`"),
        ("C[0] = gather(x4(1.0:f32), [-2])", "a gather of lane -2 of 4"),
        ("C[0] = x1(1.0:f32)", "a broadcast to 1"),
        ("C[ramp(0, 1, 1)] = 1.0:f32", "a ramp of 1"),
        ("C[0] = f32(ramp(1.0:f32, 1.0:f32, 4))", "a ramp of f32 with strides of f32"),
        ("C[0] = -true", "`-` of bool"),
        ("C[0] = abs(true)", "`abs` of bool"),
        ("C[0] = f32(1:i32 << 1.0:f32)", "`<<` of i32 and f32"),
        ("C[0] = f32(1.0:f32 >> 1.0:f32)", "`>>` of f32"),
        ("C[0] = reinterpret<f32>(1:i64)", "`reinterpret` gives f32"),
        ("C[0] = 0.1:f64", "`C` holds f32, not f64"),
        ("C[0] = A.f32[0:i32]", "an index of i32 for 1 lanes"),
        ("C[0] = A.f32[i]", "`i` is not defined here"),
        ("C[0] = f32(N:i32)", "`N` is i64, not i32"),
        ("allocate t: f32[4] in stack { } t[0] = 1.0:f32", "there is no buffer `t`"),
        ("for i from 0 count 4 { } C[i] = 1.0:f32", "`i` is not defined here"),
        ("let t = 1 in { } C[t] = 1.0:f32", "`t` is not defined here"),
        ("for i from 0 count 1.0:f32 { }", "an index of a For is f32, not i64"),
        ("allocate t: f32[true] in stack { }", "an index of a Allocate is bool, not i64"),
        ("prefetch A.f32[true]", "an index of a Prefetch is bool, not i64"),
        ('assert 1, "no"', "an assertion is i64, not bool"),
        ("prefetch D.f32[0]", "there is no buffer `D`"),
        ("for i from 0 count 4 { for i from 0 count 4 { } }", "`i` is bound where it has"),
        ("let N = 3 in C[0] = 1.0:f32", "`N` is bound where it has"),
        ("C[0] = f32(let N = 3 in N)", "`N` is bound where it has"),
        ('for i from 0 count 4 { assert true, "no" }', "an assertion inside a loop"),
        ("if N { }", "the condition of an if is i64, not bool"),
        ("allocate C: f32[4] in stack { }", "`C` is allocated where a buffer of that name lives"),
        ("{ { } { } } C[0] = 1.0:f32", "a Block directly inside a Block"),
        ("prefetch A.i32[0]", "`A` holds f32, not i32"),
        ("vector i from 0 count 4 { C[i] = 1.0:f32 }", "a vector loop is left"),
        ("unroll i from 0 count 4 { C[i] = 1.0:f32 }", "a unroll loop is left"),
    ],
)
def test_mistakes_are_named(body: str, mistake: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(read_kernel(f"{HEAD}{{\n{body}\n}}"), "unroll")
    assert str(caught.value).startswith(f"after `unroll`: {mistake}")


def test_what_a_text_cannot_say() -> None:
    """Trees that no text reads as."""
    zero, one = const_index(0), Const(1.0, F32(1))
    for s, mistake in (
        (Store("C", zero, Const(0.1, F32(1))), "0.1 is not a f32"),
        (Store("C", zero, Const(True, F32(1))), "True is not a f32"),
        (Store("C", zero, Gather(one, ())), "a gather of no lanes"),
        (For("i", zero, zero, LoopKind.SERIAL, Block(()), marks=Marks(stages=0)), "0 stages"),
        (
            For("i", zero, zero, LoopKind.SERIAL, Block(()), marks=Marks(version=1)),
            "a loop of kind",
        ),
        (Store("C", zero, Let("t", zero, Let("t", zero, one))), "`t` is bound where it has"),
    ):
        with pytest.raises(InternalError, match=f"after `lower`: {mistake}"):
            verify(replace(read_kernel(f"{HEAD}{{\n}}"), body=s), "lower")


@pytest.mark.parametrize(
    ("head", "mistake"),
    [
        ("size N\ninput A: f32[M]\n", "`M` is not defined here: M"),
        ('size N\noutput C: f32[N]\ncheck M > 0, "no"\n', "`M` is not defined here: M"),
        ('size N\noutput C: f32[N]\ncheck N, "no"\n', "a check is i64, not bool"),
    ],
)
def test_mistakes_before_the_body(head: str, mistake: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(read_kernel(f"kernel k\n{head}{{\n}}"), "lower")
    assert str(caught.value).startswith(f"after `lower`: {mistake}")


def test_loops_may_stay_until_their_pass() -> None:
    k = read_kernel(f"{HEAD}{{ vector i from 0 count 4 {{ C[i] = 1.0:f32 }} }}")
    verify(k, "simplify")
    with pytest.raises(InternalError, match="after `vectorize`"):
        verify(k, "vectorize")
