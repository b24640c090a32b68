"""What terms of the e-graph are worth: evaluated with NumPy over a box of dimensions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hbc.eqsat.egraph import Term

Array = npt.NDArray[np.generic]

DTYPES: Mapping[str, type[np.generic]] = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32,
    "u32": np.uint32, "i64": np.int64, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """Extents by bit number, buffers by number, scalars by number. Values are arrays with one axis
    per dimension, of extent 1 along which they do not vary."""

    extents: tuple[int, ...]
    buffers: tuple[Array, ...]
    scalars: tuple[np.generic, ...]

    def axis(self, bit: int) -> int:
        """The axis of a mask of one dimension."""
        return bit.bit_length() - 1

    def axes(self, mask: int) -> tuple[int, ...]:
        """The axes of a mask."""
        return tuple(n for n in range(len(self.extents)) if mask >> n & 1)

    def points(self, bit: int) -> Array:
        """0, 1, ... along one dimension."""
        axis = self.axis(bit)
        shape = [1] * len(self.extents)
        shape[axis] = self.extents[axis]
        return np.arange(self.extents[axis], dtype=np.int64).reshape(shape)


def evaluate(t: Term, w: World) -> Array:
    """The value of a term at every point."""
    match t:
        case Term("Read", (int(place), Term() as strides)):
            at: Array = np.zeros([1] * len(w.extents), np.int64)
            for bit, stride in stride_map(strides).items():
                at = at + stride * w.points(bit)
            return w.buffers[place][at]
        case Term("Scalar", (int(number),)):
            return np.reshape(w.scalars[number], [1] * len(w.extents))
        case Term("Cast", (str(name), Term() as x)):
            return evaluate(x, w).astype(DTYPES[name])
        case Term("Bin", (str(op), Term() as x, Term() as y)):
            return _binary(op, evaluate(x, w), evaluate(y, w))
        case Term("Reduce", ("+", int(mask), Term() as x)):
            value = evaluate(x, w)
            axes = w.axes(mask)
            shape = [w.extents[n] if n in axes else value.shape[n] for n in range(value.ndim)]
            total = np.broadcast_to(value, shape).sum(axes, keepdims=True, dtype=value.dtype)
            return np.asarray(total)
        case Term("Band", (Term() as x, int(d), int(s), int(r))):
            return _band(evaluate(x, w), w, d, s, r)
        case _:
            raise NotImplementedError(str(t))


def parsed(text: str) -> Term:
    """A term from its text, without the quotes of literals."""
    stack: list[list[Term | int | float | str]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            head, *args = stack.pop()
            stack[-1].append(Term(str(head), tuple(args)))
        else:
            literal = re.fullmatch(r"-?\d+", word)
            stack[-1].append(int(word) if literal else word.strip('"'))
    (term,) = stack[0]
    assert isinstance(term, Term)
    return term


def stride_map(t: Term) -> dict[int, int]:
    """The strides by mask."""
    match t:
        case Term("map-empty", ()):
            return {}
        case Term("map-insert", (Term() as rest, int(bit), int(stride))):
            return {**stride_map(rest), bit: stride}
        case _:
            raise NotImplementedError(str(t))


def _binary(op: str, x: Array, y: Array) -> Array:
    with np.errstate(over="ignore"):
        match op:
            case "+":
                return np.asarray(np.add(x, y, dtype=x.dtype, casting="equiv"))
            case "*":
                return np.asarray(np.multiply(x, y, dtype=x.dtype, casting="equiv"))
            case "-":
                return np.asarray(np.subtract(x, y, dtype=x.dtype, casting="equiv"))
            case _:
                raise NotImplementedError(op)


def _band(x: Array, w: World, d: int, t: int, r: int) -> Array:
    """At (d, t) what `x` is at r = t - d, or 0: point by point."""
    along, last = w.axis(r), w.extents[w.axis(r)]
    shape = [1 if n == along else x.shape[n] for n in range(x.ndim)]
    shape[w.axis(d)], shape[w.axis(t)] = w.extents[w.axis(d)], w.extents[w.axis(t)]
    result = np.zeros(shape, x.dtype)
    for point in np.ndindex(*shape):
        at = point[w.axis(t)] - point[w.axis(d)]
        if 0 <= at < last:
            source = [min(i, x.shape[n] - 1) for n, i in enumerate(point)]
            source[along] = at
            result[point] = x[tuple(source)]
    return result
