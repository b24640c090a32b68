"""The value of an expression as an array [steps, lanes], without making a function of it first.

`steps` is 1, or the number of steps that loops around it take at once, where it varies in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import operands
from hbc.ir.meaning import arith, arith_cast
from hbc.ir.meaning.instruction_semantics import executor
from hbc.ir.meaning.interp_buffers import Buffer
from hbc.ir.meaning.interp_lanes import LANES
from hbc.ir.meaning.numpy_types import Array, numpy_dtype


@record
class Scope:
    """What names stand for."""

    variables: Mapping[str, Array]
    buffers: Mapping[str, Buffer] = field(default_factory=dict)
    instructions: Mapping[str, Instruction] = field(default_factory=dict)

    def where(self, variables: Mapping[str, Array]) -> Scope:
        """With these besides."""
        return Scope({**self.variables, **variables}, self.buffers, self.instructions)


def number(x: float, element: DType) -> Array:
    """One number as a value."""
    if element.is_float:
        return arith_cast.round_to(np.full((1, 1), x, np.float64), element)
    return np.array([[x]], numpy_dtype(element))


def value(e: ir.Expr, scope: Scope) -> Array:
    """The lanes of `e`. Raises InterpError for what no kernel may do; called under
    `np.errstate(all="ignore")`."""
    match e:  # most nodes are of the first kinds
        case ir.Binary(op=op, a=a, b=b):
            return arith.binary(op, a.type.element)(value(a, scope), value(b, scope))
        case ir.Const(value=n, type=t):
            return number(n, t.element)
        case ir.Broadcast(value=v, lanes=lanes):
            copied = value(v, scope)[:, None].repeat(lanes, axis=1)
            return copied.reshape(len(copied), -1)
        case ir.Var(name=name):
            return scope.variables[name]
        case ir.Load():
            return _loaded(e, scope)
        case ir.Cast(type=t, value=v):
            x, source = value(v, scope), v.type.element
            return x if source == t.element else arith_cast.casting(source, t.element)(x)
        case ir.Select(condition=c, a=a, b=b):
            return np.where(value(c, scope), value(a, scope), value(b, scope))
        case ir.Unary(op=uop, a=a):
            return arith.unary(uop, a.type.element)(value(a, scope))
        case ir.Call(name=fn, args=args, type=t):
            meaning = arith.call(fn, args[0].type.element, t.element)
            return meaning(*(value(x, scope) for x in args))
        case ir.Let(name=name, value=v, body=body):
            return value(body, scope.where({name: value(v, scope)}))
        case ir.Move(value=v):
            return value(v, scope)
        case ir.Instruct(name=name, sizes=sizes, args=args):
            run = executor(scope.instructions[name], dict(sizes))
            given = in_step(*(value(x, scope) for x in args))
            return np.stack([run(*lanes) for lanes in zip(*given, strict=True)])
        case ir.Access(name=name):
            raise InternalError(f"the interpreter met the access of `{name}`: lower first")
        case ir.Tuple():
            raise InternalError("the interpreter met a tuple: lower first")
        case _:
            return LANES[type(e)](e)(*in_step(*(value(x, scope) for x in operands(e))))


def in_step(*values: Array) -> list[Array]:
    """The values with as many steps each."""
    steps = max(map(len, values))
    return [np.broadcast_to(x, (steps, x.shape[1])) for x in values]


def _loaded(e: ir.Load, scope: Scope) -> Array:
    buffer, at = scope.buffers[e.buffer], value(e.index, scope)
    if e.mask is None:
        return buffer.load_lanes(at.reshape(-1)).reshape(at.shape)
    at, mask = in_step(at, value(e.mask, scope))
    return buffer.load_masked(at.reshape(-1), mask.reshape(-1)).reshape(at.shape)
