"""Statements that are run as they stand do what the interpreter's function of them does."""

from __future__ import annotations

from random import Random
from typing import Any, get_args

import numpy as np
import pytest
import statements
from hypothesis import given, settings
from trees import BUFFERS, INDEX_NAMES, agree, any_expr, randoms, value_of, values

from hbc.cli.instruction_set import instructions_of
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import Expr, Lanes, Var, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import BF16, F32, I8, I32, I64, U8, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import InterpError, run
from hbc.ir.meaning.interp_buffers import allocated, constant, holding
from hbc.ir.meaning.interp_direct import execute
from hbc.ir.meaning.interp_lanes import LANES
from hbc.ir.meaning.interp_value import Scope, number, value
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = np.ndarray[Any, Any]
ELEMENTS = 64
TYPES: dict[str, DType] = {"a": U8, "b": I8, "s": I32, "x": BF16, "y": BF16, "f": F32}
"""The arrays that the statements below work on; `s` and `f` are stored to."""


def directly(e: Expr, env: dict[str, Any]) -> Array:
    types = {n.name: n.type.element for n in nodes(e) if isinstance(n, Var)}
    given = {
        name: np.concatenate([number(x, types[name]) for x in np.atleast_1d(env[name])], axis=1)
        for name in types
        if name in env
    }
    buffers = {name: constant(name, data) for name, data in BUFFERS.items()}
    with np.errstate(all="ignore"):
        return value(e, Scope(given, buffers))


@settings(max_examples=300)
@given(randoms)
def test_values(r: Random) -> None:
    e = any_expr(r)
    env = values(r, e)
    assert agree(directly(e, env)[0], value_of(e, env))


@settings(max_examples=200)
@given(randoms)
def test_values_at_all_steps(r: Random) -> None:
    """With several values for a variable, the lanes are those for each."""
    e = any_expr(r)
    env = values(r, e)
    steps = {name: np.arange(3)[:, None] + env[name] for name in INDEX_NAMES[:2]}
    fixed = {name: number(env[name], I64) for name in (*INDEX_NAMES[2:], "t")}
    if any(isinstance(n, Var) and n.name not in env.keys() & {*INDEX_NAMES, "t"} for n in nodes(e)):
        return  # of other types
    buffers = {name: constant(name, data) for name, data in BUFFERS.items()}
    with np.errstate(all="ignore"):
        together = value(e, Scope({**fixed, **steps}, buffers))
    for n, lanes in enumerate(np.broadcast_to(together, (3, together.shape[1]))):
        own = env | {name: env[name] + n for name in steps}
        assert agree(np.ascontiguousarray(lanes), value_of(e, own))


@settings(max_examples=300)
@given(randoms)
def test_statements(r: Random) -> None:
    kernel = statements.kernel(r)
    sizes = {"N": r.randint(0, 9), "W": r.randint(0, 9)}
    out = allocated("out", np.full(statements.OUT, -7, np.int32), True)
    data = constant("data", np.arange(statements.OUT, dtype=np.int32) * 37 % 101)
    with np.errstate(all="ignore"):
        given = {name: number(n, I64) for name, n in sizes.items()}
        execute(kernel.body, Scope(given, {"data": data, "out": out}))
    np.testing.assert_array_equal(out.data, statements.result(kernel, sizes))


BEGIN = """
s[ramp(0, 1, 64)] = s_before.i32x64[ramp(0, 1, 64)]
f[ramp(0, 1, 64)] = f_before.f32x64[ramp(0, 1, 64)]
"""


def arrays(whole: bool) -> dict[str, Array]:
    """`whole`: floats are whole numbers and small."""
    r = Random(5)
    made: dict[str, Array] = {}
    for name, t in TYPES.items():
        numbers = [r.randint(-3, 3) if whole else r.uniform(-3, 3) for _ in range(ELEMENTS)]
        made[name] = np.array(numbers).astype(numpy_dtype(t))
        if t.is_int:
            made[name] = np.frombuffer(r.randbytes(ELEMENTS * t.bits // 8), numpy_dtype(t)).copy()
    return made


def assert_same(text: str, target: str = "avx512vnni", whole: bool = True) -> None:
    """`s` and `f`, which have values before, hold the same after either."""
    body = read_stmt(f"{{{BEGIN}{text}}}")
    given = arrays(whole)
    given |= {f"{name}_before": given[name].copy() for name in "sf"}
    instructions = {i.name: i for i in instructions_of(TARGETS[target])}
    buffers = {
        name: allocated(name, x.copy(), True) if name in ("s", "f") else constant(name, x)
        for name, x in given.items()
    }
    with np.errstate(all="ignore"):
        execute(body, Scope({}, buffers, instructions))
    arguments = tuple(
        Argument(name, TYPES[name[0]], (const_index(x.size),), output=name in ("s", "f"))
        for name, x in given.items()
    )
    run(Kernel("k", (), arguments, (), (), body, tuple(instructions.values())), {}, given)
    for name in "sf":
        np.testing.assert_array_equal(buffers[name].data, given[name])


BYTES = "instruct<vpdpbusd_xmm:i32x4>(s.i32x4[{at}], a.u8x16[{a}], b.i8x16[{b}])"
HALVES = "instruct<vdpbf16ps_xmm:f32x4>(f.f32x4[{at}], x.bf16x8[{x}], y.bf16x8[{y}])"
SLIDING = {"at": "ramp(0, 1, 4)", "a": "ramp(4 * i + j, 1, 16)", "b": "ramp(3 * i, 1, 16)"}
MASKED = {
    "at": "ramp(0, 1, 4)",
    "x": "ramp(4 * i + j, 1, 8) if ramp(j, 1, 8) < x8(i + 3)",
    "y": "ramp(0, 7, 8)",
}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("buffer", "value", "target"),
    [("s", BYTES.format(**SLIDING), "avx512vnni"), ("f", HALVES.format(**MASKED), "avx512bf16")],
    ids=["bytes", "halves"],
)
def test_sums(buffer: str, value: str, target: str, whole: bool) -> None:
    """At once where all numbers are whole, step by step where sums round."""
    loop = "for i from 0 count 5 {{ for j from 1 count 3 {{ {} }} }}"
    one = f"{buffer}[ramp(0, 1, 4)] = {value}\n"
    assert_same(loop.format(one), target, whole)
    other = one.replace("ramp(0, 1, 4)", "ramp(8, 1, 4)")
    assert_same(loop.format(one + other + one), target, whole)
    overlapping = one.replace("ramp(0, 1, 4)", "ramp(2, 1, 4)")
    assert_same(loop.format(one + overlapping), target, whole)


@pytest.mark.parametrize(
    "text",
    [
        "for i from 0 count 20 { s[3 * i] = i32(a.u8[2 * i + 1]) }",
        "for i from 0 count 20 { s[i / 3] = i32(a.u8[i]) }",  # the last of three stays
        "for i from 1 count 20 { s[i] = s.i32[i - 1] + i32(a.u8[i]) }",
        "for i from 0 count 20 { s[i] = s.i32[2 * i] }",
        "for i from 0 count 0 { s[i] = 1:i32 }",
        "for i from 0 count 4 { for j from 0 count i { s[8 * i + j] = 1:i32 } }",
        "for i from 0 count 4 { s[ramp(i, 4, 4) if ramp(i, 1, 4) < x4(5)] = x4(7:i32) }",
        "for i from 0 count 4 { s[i] = i32(a.u8[i])\nf[i] = f32(b.i8[i]) }",
        "for i from 0 count 4 { s[i] = i32(a.u8[i])\nf[i] = f32(s.i32[3 - i]) }",
        "for i from 0 count 4 { s[i] = 1:i32\ns[i + 1] = 2:i32 }",
        "for i from 0 count 9 { s[0] = 3:i32 }",
    ],
)
def test_loops(text: str) -> None:
    """At once or not, as if one step came after the other."""
    assert_same(text)


@pytest.mark.parametrize("index", ["i - 1", "i + 60"])
def test_steps_outside_of_an_array_are_refused(index: str) -> None:
    s = read_stmt(f"for i from 0 count 8 {{ s[i] = s_before.i32[{index}] }}")
    given = arrays(whole=True)["s"]
    scope = Scope({}, {"s": holding("s", given.copy()), "s_before": constant("s_before", given)})
    with pytest.raises(InterpError, match="outside its 64 elements"):
        execute(s, scope)


def test_each_node_that_makes_lanes_has_a_meaning() -> None:
    assert set(LANES) == set(get_args(Lanes))
