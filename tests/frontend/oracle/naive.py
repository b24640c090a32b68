"""The meaning of a checked program once more: element by element, in order, at the declared types."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from full_range import random_full_range

from hbc.frontend.checks.check import check
from hbc.frontend.oracle.points import Stored
from hbc.frontend.oracle.program import Program
from hbc.frontend.oracle.region import regions
from hbc.frontend.oracle.value import Value
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import (
    COMPARISONS,
    Access,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Let,
    Select,
    Unary,
    Var,
)
from hbc.ir.lang.types import DType
from hbc.ir.meaning import arith_scalar
from hbc.ir.meaning.interp_code import Code
from hbc.ir.meaning.interp_expr import literal
from hbc.ir.meaning.numpy_types import numpy_dtype

Array = np.ndarray[Any, Any]
Points = dict[tuple[int, ...], Any]


def pipeline(text: str, **settings: str) -> Pipeline:
    """The checked program of a `.hb` text."""
    return check(parse(Source("test.hb", text)), settings)


def random_inputs(p: Pipeline, sizes: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
    """Random arrays for every input."""
    rng = np.random.default_rng(seed)
    program = Program(p, sizes, {})
    return {
        i.name: random_full_range(i.element, tuple(program.number(e) for e in i.extents), rng)
        for i in p.inputs
    }


def evaluate(
    p: Pipeline, sizes: Mapping[str, int], inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Every output, in plain loops."""
    values: dict[str, Points] = {}
    types = {i.name: i.element for i in p.inputs} | {f.name: f.element for f in p.funcs}
    for name, array in inputs.items():
        plain = array.tolist() if array.dtype.kind in "iub" else array
        values[name] = {at: _at(plain, at) for at in np.ndindex(array.shape)}
    with np.errstate(all="ignore"):
        for f in p.funcs:
            _func(p, f.name, sizes, values, types)
        return {o.name: _output(p, o.name, sizes, values, types) for o in p.outputs}


def _at(nested: Any, at: tuple[int, ...]) -> Any:
    for n in at:
        nested = nested[n]
    return nested


def _func(
    p: Pipeline, name: str, sizes: Mapping[str, int], values: dict[str, Points],
    types: Mapping[str, DType],
) -> None:  # fmt: skip
    f = p.func(name)
    boxes = _boxes(p, sizes, values, types).get(name)
    if boxes is None:
        return
    if f.table_shape is not None:
        values[name] = dict(zip(np.ndindex(f.table_shape), f.cells, strict=True))
        return
    values[name] = {}
    spans = [range(lo, hi + 1) for lo, hi in boxes[0]]
    for at in itertools.product(*spans):
        env = {**sizes, **dict(zip(f.variables, at, strict=True))}
        values[name][at] = _value(f.pure, env, values)
    for update, box in zip(f.updates, boxes[1:], strict=True):
        reduce = [
            (r.name, _value(r.start, sizes, values), _value(r.extent, sizes, values))
            for r in update.reduce
        ]
        pure = [
            (v, range(box[n][0], box[n][1] + 1))
            for n, v in enumerate(f.variables)
            if update.indices[n] == Var(v)
        ]
        loops = [range(start, start + extent) for _, start, extent in reduce]
        names = [r[0] for r in reduce] + [v for v, _ in pure]
        for at in itertools.product(*loops, *(r for _, r in pure)):
            env = {**sizes, **dict(zip(names, at, strict=True))}
            if update.condition is None or _value(update.condition, env, values):
                place = tuple(_value(i, env, values) for i in update.indices)
                values[name][place] = _value(update.value, env, values)


def _boxes(
    p: Pipeline, sizes: Mapping[str, int], values: Mapping[str, Points], types: Mapping[str, DType]
) -> dict[str, tuple[tuple[tuple[int, int], ...], ...]]:
    program = Program(p, sizes, {})
    targets = {o.name: tuple((0, program.number(e) - 1) for e in o.extents) for o in p.outputs}
    targets |= {
        f.name: tuple((0, n - 1) for n in f.table_shape)
        for f in p.funcs
        if f.table_shape is not None
    }
    for name, points in values.items():
        if name not in {f.name for f in p.funcs}:
            shape = tuple(n + 1 for n in max(points))
            data = np.array(list(points.values())).reshape(shape)
            data = data.astype(np.float64) if types[name].is_float else data.astype(np.int64)
            program.stored[name] = Stored(name, types[name], Value(data), (0,) * len(shape), shape)

    def compute(inner: Program, boxes: Mapping[str, Any]) -> None:
        for name, box in boxes.items():
            data = np.array(
                [values[name][at] for at in itertools.product(*(range(a, b + 1) for a, b in box))]
            )
            shape = tuple(b - a + 1 for a, b in box)
            inner.stored[name] = Stored(
                name, types[name], Value(data.reshape(shape)), tuple(a for a, _ in box), shape
            )

    return regions(program, targets, compute)


def _value(e: Expr, env: Mapping[str, Any], values: Mapping[str, Points]) -> Any:
    def at(x: Expr) -> Any:
        return _value(x, env, values)

    match e:
        case Const(value=value, type=t):
            code = Code()
            text = literal(code, value, t.element)
            return code.objects.get(text, value)
        case Var(name=name):
            return env[name]
        case Cast(type=t, value=value):
            source = value.type.element
            return (
                at(value)
                if source == t.element
                else arith_scalar.cast(source, t.element)(at(value))
            )
        case Binary(op=op, a=a, b=b):
            if op in COMPARISONS:
                x, y = at(a), at(b)
                return bool(
                    {
                        "<": x < y,
                        "<=": x <= y,
                        ">": x > y,
                        ">=": x >= y,
                        "==": x == y,
                        "!=": x != y,
                    }[op]
                )
            return arith_scalar.binary(op, a.type.element)(at(a), at(b))
        case Unary(op=uop, a=a):
            return arith_scalar.unary(uop, a.type.element)(at(a))
        case Select(condition=c, a=a, b=b):
            return at(a) if at(c) else at(b)
        case Access(name=name, indices=indices):
            return values[name][tuple(at(i) for i in indices)]
        case Call(name=fn, args=args, type=t):
            return arith_scalar.call(fn, args[0].type.element, t.element)(at(args[0]))
        case Let(name=name, value=value, body=body):
            return _value(body, {**env, name: at(value)}, values)
        case _:
            raise AssertionError(e)


def _output(
    p: Pipeline, name: str, sizes: Mapping[str, int], values: Mapping[str, Points],
    types: Mapping[str, DType],
) -> Array:  # fmt: skip
    image = next(o for o in p.outputs if o.name == name)
    shape = tuple(Program(p, sizes, {}).number(e) for e in image.extents)
    out = np.zeros(shape, numpy_dtype(types[name]))
    for at in np.ndindex(shape):
        out[at] = values[name][at]
    return out
