"""What tensor expressions are worth, point by point, with NumPy; and which elements they read.

Values are arrays with one axis per dimension of the world, of extent 1 along which they do not vary.
Nothing here is taken from eqsat besides the names of the nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbc.eqsat.tensors.tensor import Apply, Band, Dim, Line, Masked, Read, Reduce, Tensor, Uniform
from hbc.ir.lang.build import const_value
from hbc.ir.lang.nodes import Binary, Call, Cast, Expr, Op, Select, Unary, UnaryOp, const_index
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import substitute
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = npt.NDArray[Any]
Touched = dict[str, set[int]]


@dataclass
class World:
    """The dimensions, one axis each; buffers and names by what they hold. `at` says where a
    dimension stands that is not to run along its axis."""

    dims: tuple[Dim, ...]
    buffers: Mapping[str, Array]
    names: Mapping[str, int] = field(default_factory=dict)
    at: Mapping[Dim, Array] = field(default_factory=dict)
    touched: Touched = field(default_factory=lambda: defaultdict(set))

    def along(self, d: Dim) -> Array:
        """0, 1, ... along its axis."""
        if d in self.at:
            return self.at[d]
        return np.arange(d.extent).reshape([d.extent if d == other else 1 for other in self.dims])

    @property
    def ones(self) -> list[int]:
        return [1] * len(self.dims)

    def number(self, e: Expr) -> Any:
        """A scalar of the names and constants."""
        known = {name: const_index(v) for name, v in self.names.items()}
        found = const_value(substitute(e, known))
        assert found is not None, f"{e} is not constant"
        return found

    def full(self, x: Array, dims: Iterable[Dim]) -> Array:
        """With all points along the dims written out."""
        wanted = set(dims)
        shape = [d.extent if d in wanted else n for d, n in zip(self.dims, x.shape, strict=True)]
        return np.broadcast_to(x, shape)


def evaluate(x: Tensor, w: World, live: Array | None = None) -> Array:
    """The value at every point. Elements read where `live` holds are noted as touched."""
    there = np.ones(w.ones, bool) if live is None else live
    with np.errstate(all="ignore"):
        return _value(x, w, there)


def _value(x: Tensor, w: World, live: Array) -> Array:
    match x:
        case Read(buffer=buffer):
            at = _moved(x, w)
            data = w.buffers[buffer]
            where, on = np.broadcast_arrays(at, live)
            w.touched[buffer].update(where[on].tolist())
            return data[np.clip(at, 0, len(data) - 1)]
        case Line():
            return _moved(x, w)
        case Uniform(value=e):
            return np.full(w.ones, w.number(e), numpy_dtype(e.type.element))
        case Masked(condition=condition, value=v):
            c = _value(condition, w, live)
            inner = _value(v, w, live & c)
            return np.where(c, inner, np.zeros((), inner.dtype))
        case Apply(node=node, args=args):
            return _applied(node, [_value(a, w, live) for a in args], args[-1].element)
        case Reduce(op=op, dims=dims, value=v):
            free = {d: where for d, where in w.at.items() if d not in dims}
            # A mask around a sum was a choice between values: the sum is computed everywhere.
            there = np.ones_like(live)
            inner = w.full(_value(v, replace(w, at=free), there), dims)
            axes = tuple(w.dims.index(d) for d in dims)
            return _reduced(op, inner, axes)
        case Band():
            return _band(x, w, live)


def _moved(x: Read | Line, w: World) -> Array:
    at = np.full(w.ones, w.number(x.base), np.int64)
    for d, stride in x.strides:
        at = at + int(w.number(stride)) * w.along(d)
    return at


def _band(x: Band, w: World, live: Array) -> Array:
    """The value at r = (t - d_step * d) / r_step where there is such an r, else 0."""
    offset = w.along(x.t) - x.d_step * w.along(x.d)
    r = offset // x.r_step
    there = (offset % x.r_step == 0) & (r >= 0) & (r < x.r.extent)
    at = {**w.at, x.r: np.clip(r, 0, x.r.extent - 1)}
    inner = _value(x.value, replace(w, at=at), live & there)
    return np.where(there, inner, np.zeros((), inner.dtype))


def _reduced(op: Op, x: Array, axes: tuple[int, ...]) -> Array:
    match op:
        case Op.ADD:
            return np.asarray(x.sum(axes, keepdims=True, dtype=x.dtype))
        case Op.MAX:
            return np.asarray(x.max(axes, keepdims=True))
        case Op.MIN:
            return np.asarray(x.min(axes, keepdims=True))
        case _:
            raise AssertionError(f"no rule is about a reduction with `{op}`")


BINARY = {
    Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply, Op.MIN: np.minimum,
    Op.MAX: np.maximum, Op.LT: np.less, Op.LE: np.less_equal, Op.GE: np.greater_equal,
    Op.EQ: np.equal, Op.AND: np.bitwise_and,
}  # fmt: skip
# The cosine stands for what is not 0 at 0; here it is a function of which sums are exact.
FUNCTIONS = {"floor": np.floor, "sqrt": np.sqrt, "cos": lambda x: x + x.dtype.type(1)}
UNARY = {UnaryOp.NEG: np.negative, UnaryOp.ABS: np.absolute, UnaryOp.NOT: np.invert}


def _applied(
    node: Cast | Binary | Unary | Select | Call, args: list[Array], element: DType
) -> Array:
    match node:
        case Cast(type=t):
            return cast(args[0], element, t.element)
        case Binary(op=op):
            a, b = args
            if a.dtype != b.dtype:
                raise TypeError(f"{a.dtype} {op} {b.dtype}")
            return np.asarray(BINARY[op](a, b))
        case Unary(op=uop):
            return np.asarray(UNARY[uop](args[0]))
        case Select():
            return np.where(*args)
        case Call(name="reinterpret", type=t):
            return np.ascontiguousarray(args[0]).view(numpy_dtype(t.element))
        case Call(name=name):
            return np.asarray(FUNCTIONS[str(name)](args[0]))


def cast(x: Array, source: DType, target: DType) -> Array:
    """Integers wrap, floats round; to an integer they are truncated, and saturate."""
    if source.is_float and target.is_int:
        low, high = target.limits
        return np.clip(np.trunc(x.astype(np.float64)), low, high).astype(numpy_dtype(target))
    if target.name == "bf16" and not source.is_float:
        return x.astype(np.float32).astype(numpy_dtype(target))
    return x.astype(numpy_dtype(target))


def same(got: Array, want: Array, where: Array | None = None) -> bool:
    """Whether two values are equal at all points, or at those of a condition, and of one type."""
    if got.dtype != want.dtype:
        return False
    a, b = np.broadcast_arrays(got, want)
    equal = (a == b) | ((a != a) & (b != b))
    return bool(np.all(equal if where is None else equal | ~where))
