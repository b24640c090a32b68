"""The tensor form of a vector expression has the value of the expression, lane by lane."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Dims,
    NotTensorError,
    Read,
    Reduce,
    Tensor,
    Uniform,
    box,
    tensor,
)
from hbc.ir.lang.build import broadcast, ramp
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import (
    Binary,
    Broadcast,
    Cast,
    Const,
    Expr,
    Gather,
    Load,
    Op,
    Ramp,
    Store,
    VectorReduce,
    const_index,
)
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.types import I32, I64
from hbc.ir.meaning.interp import run

Array = npt.NDArray[np.generic]
SIZE = 512


def lane_values(e: Expr, data: dict[str, Array]) -> Array:
    """The lanes of `e` by the interpreter."""
    lanes = e.type.lanes
    out = np.full(lanes, -77, np.int64)
    store = Store("out", Ramp(const_index(0), const_index(1), lanes), e)
    arguments = tuple(
        Argument(name, I32, (const_index(SIZE),), output=False) for name in sorted(data)
    )
    result = Argument("out", I64, (const_index(lanes),), output=True)
    run(Kernel("k", (), (*arguments, result), (), (), store), {}, {**data, "out": out})
    return out


def tensor_values(x: Tensor, dims: Dims, data: dict[str, Array]) -> Array:
    """The value of `x` at each point of the box, as an array with an axis for each dim."""
    match x:
        case Read(buffer=buffer, base=Const(value=base), strides=strides):
            at: Array = np.full([1] * len(dims), int(base), np.int64)
            for dim, stride in strides:
                assert isinstance(stride, Const)
                shape = [1] * len(dims)
                shape[dims.index(dim)] = dim.extent
                at = at + int(stride.value) * np.arange(dim.extent).reshape(shape)
            return data[buffer][at]
        case Uniform(value=Const(value=value)):
            return np.full([1] * len(dims), value, np.int64)
        case Apply(node=Cast(), args=(value,)):
            return tensor_values(value, dims, data).astype(np.int64)
        case Apply(node=Binary(op=op), args=(a, b)):
            left, right = tensor_values(a, dims, data), tensor_values(b, dims, data)
            return np.asarray(left + right if op is Op.ADD else left * right)
        case Reduce(dims=summed, value=value):
            inner = (*dims, *summed)
            full = np.broadcast_to(tensor_values(value, inner, data), [d.extent for d in inner])
            return np.asarray(full.sum(tuple(range(len(dims), len(inner)))))
        case _:
            raise AssertionError(x)


@st.composite
def indices(draw: st.DrawFn, extents: list[int]) -> Expr:
    """A strided index over the extents, its dims sometimes spelled as a sum."""
    e: Expr = const_index(draw(st.integers(0, 5)))
    for extent in reversed(extents):
        stride = draw(st.sampled_from([0, 0, 1, 2, 3, 7]))
        e = ramp(e, stride, extent) if stride else broadcast(e, extent)
    if draw(st.booleans()):
        other: Expr = const_index(draw(st.integers(0, 3)))
        for extent in reversed(extents):
            other = ramp(other, 1, extent) if draw(st.booleans()) else broadcast(other, extent)
        e = Binary(Op.ADD, e, other)
    return e


@st.composite
def expressions(draw: st.DrawFn, extents: list[int], depth: int = 3) -> Expr:
    """i64 arithmetic over the lanes of a box."""
    lanes = prod(extents)
    kind = draw(
        st.sampled_from(["load", "binary", "reduce", "copies", "number"][: 5 if depth else 1])
    )
    if kind == "load" or (kind == "copies" and len(extents) < 2):
        index = draw(indices(extents))
        return Cast(I64(lanes), Load(draw(st.sampled_from("AB")), index, I32(lanes)))
    if kind == "number":
        return broadcast(Const(draw(st.integers(-9, 9)), I64(1)), lanes)
    if kind == "copies":
        inner = draw(expressions(extents[1:], depth - 1))
        return Broadcast(inner, extents[0])
    if kind == "reduce":
        below = draw(st.sampled_from([[2], [3], [2, 2], [4]]))
        return VectorReduce(Op.ADD, draw(expressions([*extents, *below], depth - 1)), lanes)
    op = draw(st.sampled_from([Op.ADD, Op.MUL]))
    return Binary(op, draw(expressions(extents, depth - 1)), draw(expressions(extents, depth - 1)))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_same_value(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.sampled_from([2, 3, 4]), min_size=1, max_size=3))
    e = data.draw(expressions(extents))
    if e.type.lanes == 1:
        return
    arrays: dict[str, Array] = {
        name: np.random.default_rng(seed).integers(-100, 100, SIZE, dtype=np.int32)
        for seed, name in enumerate("AB")
    }
    dims = box(e)
    assert prod(d.extent for d in dims) == e.type.lanes
    value = tensor_values(tensor(e, dims), dims, arrays)
    lanes = np.broadcast_to(value, [d.extent for d in dims]).reshape(-1)
    np.testing.assert_array_equal(lanes, lane_values(e, arrays))


SPELLINGS = [
    "A.i32x12[ramp(x3(0), x3(5), 4)]",
    "A.i32x12[x12(5) * ramp(x3(0), x3(1), 4)]",
    "A.i32x12[ramp(x3(0), x3(2), 4) + ramp(x3(0), x3(3), 4)]",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_one_form(spelling: str) -> None:
    """However an index is spelled, its tensor is one and the same."""
    e = read_expr(spelling)
    dims = box(e)
    assert dims == (Dim("d0", 4), Dim("d1", 3))
    assert tensor(e, dims) == Read("A", I32, const_index(0), ((dims[0], const_index(5)),))


def test_broadcast_of_load_is_load_of_broadcast() -> None:
    a = read_expr("x4(A.i32x3[ramp(2, 1, 3)])")
    b = read_expr("A.i32x12[x4(ramp(2, 1, 3))]")
    dims = box(a, b)
    assert tensor(a, dims) == tensor(b, dims)


def test_what_has_no_strides_is_refused() -> None:
    load = read_expr("A.i32x4[ramp(0, 1, 4)]")
    swizzled = Gather(load, (3, 1, 0, 2))
    with pytest.raises(NotTensorError) as raised:
        box(swizzled)
    assert raised.value.part is swizzled


def test_sides_that_cross_are_refused() -> None:
    """Groups of 4 lanes and groups of 6 lanes have no common box."""
    e = read_expr("x3(A.i32x4[ramp(0, 1, 4)]) + x2(A.i32x6[ramp(0, 1, 6)])")
    with pytest.raises(NotTensorError, match="4 and 6 adjacent lanes"):
        box(e)
