"""Pins params, types, settings, tables, aliases, boundary helpers, kernel names and examples."""

import math

import numpy as np
import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError, UsageError
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Const
from hbc.ir.lang.show import show
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype


def pipeline(text: str, name: str = "test.hb", fix: bool = False, **settings: str) -> Pipeline:
    return check(parse(Source(name, text)), settings, fix)


COPY = "size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i]\n"


@pytest.mark.parametrize(
    ("file", "kernel"),
    [
        ("gemm_f32.hb", "gemm_f32"),
        ("some/where/01_copy.hb", "kernel_01_copy"),
        ("a-b c.hb", "a_b_c"),
        ("int.hb", "int_kernel"),
        ("exp.hb", "exp_kernel"),
        ("<string>", "kernel"),
    ],
)
def test_kernel_names(file: str, kernel: str) -> None:
    assert pipeline(COPY, file).name == kernel
    assert pipeline("kernel chosen\n" + COPY, file).name == "chosen"


@pytest.mark.parametrize(
    ("of", "default", "given", "value"),
    [
        ("f32", "0.5", None, 0.5),
        ("f32", "1", None, 1.0),
        ("f32", "0.5", "0.1", 0.10000000149011612),
        ("f64", "0.5", "1e-3", 0.001),
        ("i32", "2 * 3", None, 6),
        ("i32", "7 / 2", None, 3),
        ("u8", "1", "0xff", 255),
        ("bool", "true", "false", False),
        ("f32", "-inf", None, -math.inf),
    ],
)
def test_params(of: str, default: str, given: str | None, value: float) -> None:
    text = f"param p: {of} = {default}\noutput B: {of}[4]\nB[i] = p\n"
    p = pipeline(text) if given is None else pipeline(text, p=given)
    pure = p.func("B").pure
    assert isinstance(pure, Const)
    assert pure.value == value
    assert pure.type.element.name == of


@pytest.mark.parametrize("of", ["i64", "i32", "u8"])
def test_params_in_extents_and_reductions(of: str) -> None:
    p = pipeline(
        f"param T: {of} = 4\nsize N\ninput A: f32[N + T - 1]\noutput B: f32[N]\nreduce r in T\n"
        "B[i] = 0\nB[i] += A[i + r]",
        T="8",
    )
    assert show(p.inputs[0].extents[0]) == "N + 7"
    assert show(p.func("B").updates[0].reduce[0].extent) == "8"


def test_type_params() -> None:
    text = "type T = bf16\nsize N\ninput A: T[N]\noutput B: f32[N]\nB[i] = f32(A[i]) * f32(T(2))"
    assert pipeline(text).inputs[0].element.name == "bf16"
    assert pipeline(text, T="f16").inputs[0].element.name == "f16"


@pytest.mark.parametrize(("of", "group"), [("u8", 4), ("bf16", 2), ("f32", 1)])
def test_params_that_follow_from_a_type(of: str, group: int) -> None:
    text = (
        "type T = f16\nparam g: i32 = 4 / bytes(T)\nsize K, N\ninput A: T[K / g, N, g]\n"
        "output B: T[K / g, N]\nB[k, i] = A[k, i, g - 1]"
    )
    assert [show(e) for e in pipeline(text, T=of).inputs[0].extents][2] == f"{group}"


def test_sizes_are_fixed_only_on_demand() -> None:
    assert pipeline(COPY, N="64").sizes[0].fixed is None
    assert pipeline(COPY, fix=True, N="64").sizes[0].fixed == 64


def test_wrong_settings_are_usage_errors() -> None:
    with pytest.raises(UsageError) as raised:
        pipeline(COPY, M="3")
    assert raised.value.exit_code == 2


def leaves(f: Func) -> list[float]:
    """The cells of a table, in row-major order."""
    return [float(value) for value in f.cells]


def test_a_table_of_cells() -> None:
    f = pipeline(
        "table W: f32[2, 3] = [[1, 2, 3], [4, 5, 0.5 * 2]]\noutput B: f32[2]\nB[i] = W[i, 2]"
    ).func("W")
    assert f.table_shape == (2, 3)
    assert leaves(f) == [1, 2, 3, 4, 5, 1]


def test_a_table_of_a_formula() -> None:
    f = pipeline(
        "table D: f64[2, 4] [u, x] = cos(pi * (2 * x + 1) * u / 8)\n"
        "output B: f64[2]\nB[i] = D[i, 3]"
    ).func("D")
    wanted = [math.cos(math.pi * (2 * x + 1) * u / 8) for u in range(2) for x in range(4)]
    assert leaves(f) == wanted


@pytest.mark.parametrize(
    ("narrow", "low", "high"), [("u8", 0, 255), ("i8", -128, 127), ("u16", 0, 65535)]
)
def test_a_cell_is_narrowed_after_it_is_computed(narrow: str, low: int, high: int) -> None:
    """In a table's formula its indices are exact integers, as they are of 64 bits in a Func's."""
    f = pipeline(
        f"table t: {narrow}[400] [i] = {narrow}(i * i / 5 - 3)\noutput B: {narrow}[2]\nB[i] = t[i]"
    ).func("t")
    wrapped = [(i * i // 5 - 3 - low) % (high - low + 1) + low for i in range(400)]
    assert leaves(f) == wrapped


@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2", "bf16", "f16", "f32", "u8", "i16", "i32"])
@pytest.mark.parametrize("cast", [True, False])
def test_a_cell_is_rounded_once(kind: str, cast: bool) -> None:
    """What the indices say is computed in 64 bits, whatever type it is converted to."""
    formulas = {
        "(u * 37 + v) * v % 211": lambda u, v: (u * 37 + v) * v % 211,
        "let w = u * 9 + v in w - v * v % 7": lambda u, v: u * 9 + v - v * v % 7,
        "max(100 * v % 113, 3 * u + 1)": lambda u, v: max(100 * v % 113, 3 * u + 1),
        "select(v > 4, 11 * u + 100, v - u - u + 40)": lambda u, v: (
            11 * u + 100 if v > 4 else v - u - u + 40
        ),
    }
    for text, meant in formulas.items():
        value = f"{kind}({text})" if cast else text
        f = pipeline(
            f"table t: {kind}[9, 13] [u, v] = {value}\noutput B: {kind}[9]\nB[i] = t[i, 2]"
        ).func("t")
        exact = np.array([[meant(u, v) for v in range(13)] for u in range(9)])
        wanted = exact.astype(numpy_dtype(DTYPES[kind]))
        assert leaves(f) == wanted.astype(np.float64).ravel().tolist(), text


def test_a_named_value_of_a_formula_is_rounded() -> None:
    f = pipeline(
        "table t: bf16[50] [i] = let h = 0.1 * i in h\noutput B: bf16[50]\nB[i] = t[i]"
    ).func("t")
    wanted = (0.1 * np.arange(50)).astype(numpy_dtype(DTYPES["bf16"]))
    assert leaves(f) == wanted.astype(np.float64).tolist()


def test_a_table_of_a_table() -> None:
    f = pipeline(
        "table W: i32[3] = [5, 6, 7]\ntable V: f32[3] [i] = f32(W[2 - i]) / 2\n"
        "output B: f32[3]\nB[i] = V[i]"
    ).func("V")
    assert leaves(f) == [3.5, 3.0, 2.5]


@pytest.mark.parametrize(
    ("helper", "read"),
    [
        ("clamp_edge", "A.f32(min(max(i - 1, 0), N - 1))"),
        ("wrap", "A.f32((i - 1) % N)"),
        ("mirror", "A.f32(min((i - 1) % (N * 2), N * 2 - 1 - (i - 1) % (N * 2)))"),
        ("zero_edge",
         "select(0 <= i - 1 & i - 1 < N, A.f32(min(max(i - 1, 0), N - 1)), 0.0:f32)"),
    ],
)  # fmt: skip
def test_boundary_helpers(helper: str, read: str) -> None:
    head = "size N\ninput A: f32[N]\noutput B: f32[N]\n"
    direct = pipeline(f"{head}B[i] = {helper}(A)[i - 1]").func("B").pure
    alias = pipeline(f"{head}P = {helper}(A)\nB[i] = P[i - 1]").func("B").pure
    assert direct == alias
    assert show(direct) == read


def test_examples() -> None:
    p = pipeline(
        COPY + 'example { N = 2 * 8; A = random(1, -1, 0.5) }\nexample file { A = file("a.npy") }\n'
        "example flat { N = 3; A = constant(1.5) }\nexample up { N = 3; A = ramp() }"
    )
    assert [e.name for e in p.examples] == ["default", "file", "flat", "up"]
    assert p.examples[0].sizes == (("N", 16),)
    fills = [dict(e.fills)["A"] for e in p.examples]
    assert [(f.kind, f.args) for f in fills] == [
        ("random", (1, -1, 0.5)), ("file", ("a.npy",)), ("constant", (1.5,)), ("ramp", ()),
    ]  # fmt: skip


def test_mistakes_come_in_the_order_of_the_file() -> None:
    with pytest.raises(HbcError) as raised:
        pipeline("size N\noutput B: f32[N]\nB[i] = x\nrequire y > 1\nexample { Q = 1 }\n")
    starts = [d.span.start for d in raised.value.diagnostics if d.span]
    assert starts == sorted(starts)
    assert len(starts) == 4
