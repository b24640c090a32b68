"""Tests on a GPU that inputs keep the `bound` the user states, before anything else is launched.

blocks b count 256 { threads t count 256 { bad[256 * b + t] = 0; for s { if .. { bad[..] = 1 } } } }
one block: threads t count 256 { some[t] = max of bad[256 * t ..] }
one thread: any[0] = max of some
assert any[0] == 0                   # the host waits for this one number
"""

from __future__ import annotations

from functools import reduce

from hbc.frontend.lowering.bound_checks import out_of_bound
from hbc.frontend.program.funcs import Bound, Image, Pipeline
from hbc.frontend.regions.program import Scope
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, cast, const, eq, floordiv, ge, lt, maximum, mod, mul, or_
from hbc.ir.lang.types import I32, INDEX, Memory
from hbc.ir.lang.walk import block

BLOCKS = THREADS = 256
_ZERO = ir.const_index(0)
_NO, _YES = const(0, I32(1)), const(1, I32(1))


def with_device_bounds(pipeline: Pipeline, scope: Scope, body: ir.Stmt) -> ir.Stmt:
    """`body` after launches that look at all values of each bounded input."""
    images = {i.name: i for i in pipeline.inputs if not i.is_scalar}
    for b in reversed(pipeline.bounds):
        if b.name in images:
            body = block(_check(images[b.name], b, scope), body)
    return body


def _check(image: Image, b: Bound, scope: Scope) -> ir.Stmt:
    word = image.name
    bad, some, outside = (scope.fresh(f"{word}_{n}") for n in ("bad", "some", "outside"))
    whole = block(
        _scan(image, b, scope, bad),
        _gathered(some, bad, THREADS, BLOCKS, scope),
        _gathered(outside, some, 1, THREADS, scope),
        ir.Assert(eq(ir.Load(outside, _ZERO, I32(1)), _NO), out_of_bound(b), b.span),
    )
    for name, count in ((outside, 1), (some, THREADS), (bad, BLOCKS * THREADS)):
        extent = ir.const_index(count)
        whole = ir.Allocate(name, I32, extent, Memory.HEAP, whole, f"bound {b.name}")
    return whole


def _scan(image: Image, b: Bound, scope: Scope, bad: str) -> ir.Stmt:
    """Each thread looks at every so manieth element of the array."""
    group, thread, step = (scope.fresh(f"{image.name}_{n}") for n in ("block", "thread", "step"))
    own = add(mul(ir.Var(group), THREADS), ir.Var(thread))
    count = simplify(reduce(mul, image.extents))
    number = add(mul(ir.Var(step), BLOCKS * THREADS), own)
    value = cast(INDEX, _element(image, number, scope))
    wrong = or_(lt(value, b.lo), ge(value, b.hi))
    look = ir.If(lt(number, count), ir.If(wrong, ir.Store(bad, own, _YES)))
    steps = floordiv(add(count, BLOCKS * THREADS - 1), BLOCKS * THREADS)
    each = block(
        ir.Store(bad, own, _NO), ir.For(step, _ZERO, simplify(steps), ir.LoopKind.SERIAL, look)
    )
    return _grid(group, BLOCKS, thread, THREADS, each)


def _element(image: Image, number: ir.Expr, scope: Scope) -> ir.Expr:
    """The value of an array by the number of the element, row by row."""
    indices: list[ir.Expr] = []
    for extent in reversed(image.extents[1:]):
        indices.append(mod(number, extent))
        number = floordiv(number, extent)
    at = scope.storages[image.name].offset((number, *reversed(indices)))
    return ir.Load(image.name, at, image.element(1))


def _gathered(to: str, of: str, threads: int, each: int, scope: Scope) -> ir.Stmt:
    """The greatest of every `each` flags, by so many threads of one block."""
    group, thread, n = (scope.fresh(f"{to}_{word}") for word in ("block", "thread", "n"))
    flag = ir.Load(of, add(mul(ir.Var(thread), each), ir.Var(n)), I32(1))
    larger = ir.Store(to, ir.Var(thread), maximum(ir.Load(to, ir.Var(thread), I32(1)), flag))
    loop = ir.For(n, _ZERO, ir.const_index(each), ir.LoopKind.SERIAL, larger)
    return _grid(group, 1, thread, threads, block(ir.Store(to, ir.Var(thread), _NO), loop))


def _grid(group: str, blocks: int, thread: str, threads: int, each: ir.Stmt) -> ir.Stmt:
    inner = ir.For(thread, _ZERO, ir.const_index(threads), ir.LoopKind.THREAD, each)
    return ir.For(group, _ZERO, ir.const_index(blocks), ir.LoopKind.BLOCK, inner)
