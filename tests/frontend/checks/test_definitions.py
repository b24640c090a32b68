"""Pins what definitions become: types, adapted literals, updates, scans, the order of Funcs."""

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Op
from hbc.ir.lang.show import show

HEAD = """
size M, N
input A: f32[M, N]
input I: i32[N]
input U: u8[N]
input H: bf16[N]
input F: bool[N]
reduce r in N, t in 2 .. N
"""


def pipeline(text: str, **settings: str) -> Pipeline:
    return check(parse(Source("test.hb", HEAD + text)), settings)


def output(definitions: str, of: str, **settings: str) -> Func:
    """The Func that defines an output of the given type over N elements."""
    return pipeline(f"output B: {of}[N]\n{definitions}", **settings).func("B")


@pytest.mark.parametrize(
    ("value", "of", "typed"),
    [
        ("A[0, x] + 1", "f32", "A.f32(0, x) + 1.0:f32"),
        ("A[0, x] * 0.1", "f32", "A.f32(0, x) * 0.1:f32"),
        ("2 * (3 + 4)", "i32", "14:i32"),
        ("-1", "i32", "-1:i32"),
        ("1", "f32", "1.0:f32"),
        ("U[x] + 1", "u8", "U.u8(x) + 1:u8"),
        ("U[x] + I[x]", "i32", "i32(U.u8(x)) + I.i32(x)"),
        ("H[x]", "f32", "f32(H.bf16(x))"),
        ("H[x] * A[0, x]", "f32", "f32(H.bf16(x)) * A.f32(0, x)"),
        ("u8(I[x])", "u8", "u8(I.i32(x))"),
        ("u8(-1)", "u8", "255:u8"),
        ("i8(300.7)", "i8", "127:i8"),
        ("f32(x)", "f32", "f32(x)"),
        ("select(A[0, x] > 0, 1, 0)", "i32", "select(A.f32(0, x) > 0.0:f32, 1:i32, 0:i32)"),
        ("select(A[0, x] > 0, 1, A[0, x])", "f32",
         "select(A.f32(0, x) > 0.0:f32, 1.0:f32, A.f32(0, x))"),
        ("clamp(I[x], 0, 255)", "i32", "min(max(I.i32(x), 0:i32), 255:i32)"),
        ("min(I[x], 1, 2)", "i32", "min(min(I.i32(x), 1:i32), 2:i32)"),
        ("exp(1) * A[0, x]", "f32", "2.7182817:f32 * A.f32(0, x)"),
        ("sqrt(A[0, x])", "f32", "sqrt(A.f32(0, x))"),
        ("abs(-3) + I[x]", "i32", "3:i32 + I.i32(x)"),
        ("pi", "f64", "3.141592653589793:f64"),
        ("I[x] >> 2", "i32", "I.i32(x) >> 2:i32"),
        ("x / 2 % 3", "i64", "x / 2 % 3"),
        ("not F[x] and true or F[x]", "bool", "~F.bool(x) & true | F.bool(x)"),
        ("F[x] == F[0]", "bool", "F.bool(x) == F.bool(0)"),
        ("let k = 2 in k * A[0, x]", "f32", "2.0:f32 * A.f32(0, x)"),
    ],
)  # fmt: skip
def test_values(value: str, of: str, typed: str) -> None:
    assert show(output(f"B[x] = {value}", of).pure) == typed


def test_let_gets_a_name_of_its_own() -> None:
    found = show(output("B[x] = let t2 = A[0, x] in t2 * t2", "f32").pure)
    assert "t2_1" in found


@pytest.mark.parametrize(
    ("definitions", "of"),
    [
        ("f[x] = 0\nf[x] += A[0, r]", "f32"),
        ("f[x] = 0\nf[x] += U[r]", "u8"),
        ("f[x] = 0\nf[x] += U[r]\nf[x] += I[r]", "i32"),
        ("f[x] = 0\nf[x] = f[x] + f32(U[r])", "f32"),
        ("f[x] = 0\nf[x] += 1", "i32"),
        ("f[x] = 0.0\nf[x] += 1", "f32"),
        ("f[x] = -inf\nf[x] max= A[0, r]", "f32"),
        ("f: f64[x] = 0\nf[x] += A[0, r]", "f64"),
        ("f[x] = false\nf[x] |= F[r]", "bool"),
        ("f[x] = H[x]", "bf16"),
        ("f[x] = x", "i64"),
    ],
)
def test_element_types(definitions: str, of: str) -> None:
    p = pipeline(f"output B: {of}[N]\n{definitions}\nB[x] = f[x]")
    assert p.func("f").element.name == of


@pytest.mark.parametrize(
    ("op", "meaning"),
    [("+=", Op.ADD), ("*=", Op.MUL), ("min=", Op.MIN), ("max=", Op.MAX), ("|=", Op.OR),
     ("&=", Op.AND), ("^=", Op.XOR), ("=", None)],
)  # fmt: skip
def test_update_operators(op: str, meaning: Op | None) -> None:
    (update,) = output(f"B[x] = 0\nB[x] {op} I[r] where r > 1", "i32").updates
    assert update.op is meaning
    assert [v.name for v in update.reduce] == ["r"]
    assert update.condition is not None
    assert show(update.condition) == "r > 1"
    if meaning is not None:
        assert show(update.value).startswith(("B.i32(x)", "min(B", "max(B"))


def test_reduction_variables_keep_their_declared_order() -> None:
    f = output("B[x] = 0\nB[x] += I[r] * I[t - 2]\nB[r] = I[t]", "i32")
    assert [[v.name for v in u.reduce] for u in f.updates] == [["r", "t"], ["r", "t"]]


def test_a_scan() -> None:
    p = pipeline("output B: f32[M, N]\nB[y, x] = A[y, x]\nB[y, t] += 0.5 * B[y, t - 1]")
    (update,) = p.func("B").updates
    assert show(update.indices[1]) == "t"
    assert show(update.reduce[0].start) == "2"


def test_a_histogram() -> None:
    p = pipeline("output B: i32[256]\nB[v] = 0\nB[U[r]] += 1")
    assert show(p.func("B").updates[0].indices[0]) == "i64(U.u8(r))"
    assert p.requirements == ()


def test_a_scatter_beside_a_pure_variable() -> None:
    p = pipeline("output B: i32[M, 256]\nB[y, v] = 0\nB[y, U[r]] += i32(y)")
    assert len(p.func("B").updates) == 1


def test_callees_come_first_and_unused_funcs_are_dropped() -> None:
    p = pipeline("output B: f32[N]\nB[x] = g[x]\ng[x] = f[x]\nf[x] = A[0, x]\nh[x] = g[x]")
    assert [f.name for f in p.funcs] == ["f", "g", "B"]


def test_a_pure_variable_may_share_the_name_of_a_reduction_variable() -> None:
    p = pipeline("output B: f32[N]\nf[r] = A[0, r]\nB[x] = 0\nB[x] += f[r]")
    assert p.func("f").variables == ("r",)


def test_several_outputs() -> None:
    p = pipeline("output B: f32[N]\noutput C: i32[N]\nB[x] = f32(C[x])\nC[x] = I[x]")
    assert [f.name for f in p.funcs] == ["C", "B"]
    assert [o.name for o in p.outputs] == ["B", "C"]
