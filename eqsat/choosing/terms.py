"""What a statement adds up: terms, the factors of each, and how messages name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from hbc.eqsat.graph.encode import exact
from hbc.eqsat.tensors.tensor import (
    Apply,
    Band,
    Line,
    Masked,
    Read,
    Reduce,
    Tensor,
    Uniform,
    parts,
    strides_along,
)
from hbc.ir.lang import nodes as ir

FUNCTIONS_OF_FACTORS = frozenset({str(ir.MathOp.TF32)})


def sums(x: Tensor) -> Iterator[Reduce]:
    """The reductions, the outermost first."""
    if isinstance(x, Reduce):
        yield x
    for p in parts(x):
        yield from sums(p)


def sums_varying(value: Tensor) -> bool:
    """Whether it sums what differs from term to term."""
    return any(not strides_along(r.value).isdisjoint(r.dims) for r in sums(value))


def terms(x: Tensor) -> Iterator[Tensor]:
    """What is added: through sums and further reductions."""
    match x:
        case Reduce(op=ir.Op.ADD, value=value) | Masked(value=value):
            yield from terms(value)
        case Apply(node=ir.Binary(op=ir.Op.ADD | ir.Op.SUB), args=(a, b)):
            yield from (t for t in (*terms(a), *terms(b)) if strides_along(t))
        case _:
            yield x


def differs(x: Tensor) -> bool:
    """Whether one of the `terms` is subtracted."""
    match x:
        case Reduce(value=value) | Masked(value=value):
            return differs(value)
        case Apply(node=ir.Binary(op=ir.Op.ADD | ir.Op.SUB), args=(a, b)):
            return subtracts(x) or differs(a) or differs(b)
        case _:
            return False


def without_masks(x: Tensor) -> Tensor:
    while isinstance(x, Masked):
        x = x.value
    return x


def is_product(x: Apply) -> bool:
    return isinstance(x.node, ir.Binary) and x.node.op is ir.Op.MUL


def subtracts(x: Apply) -> bool:
    return isinstance(x.node, ir.Binary) and x.node.op is ir.Op.SUB


def factors_of(x: Tensor) -> Iterator[Tensor]:
    inner = without_masks(x)
    if isinstance(inner, Apply) and is_product(inner):
        for a in inner.args:
            yield from factors_of(a)
    else:
        yield x


def leaf_of(x: Tensor) -> Tensor:
    """The factor before it was widened."""
    x = without_masks(x)
    while isinstance(x, Apply) and isinstance(x.node, ir.Cast):
        below = without_masks(x.args[0])
        if not exact(below.element, x.element):
            break
        x = below
    return x


def rounding(x: Tensor) -> str:
    """The name of the function where a factor is an array that instructions round by themselves."""
    match x:
        case Apply(node=ir.Call(name=name), args=(Read(),)) if str(name) in FUNCTIONS_OF_FACTORS:
            return str(name)
        case _:
            return ""


def described(x: Tensor) -> str:
    match x:
        case Apply(node=node):
            return f"`{_operator(node)}`"
        case Read(buffer=buffer):
            return f"`{buffer}`"
        case Uniform() | Line() | Masked() | Reduce() | Band():
            return "a number"
        case _:
            assert_never(x)


def written(x: Tensor) -> str:
    inner = leaf_of(x)
    return f"{inner.buffer}[..]" if isinstance(inner, Read) else ".."


def _operator(node: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call) -> str:
    match node:
        case ir.Cast(type=t):
            return f"{t.element}(..)"
        case ir.Binary(op=op):
            return str(op)
        case ir.Unary(op=unary):
            return str(unary)
        case ir.Call(name=name):
            return f"{name}(..)"
        case ir.Select():
            return "select(..)"
        case _:
            assert_never(node)
