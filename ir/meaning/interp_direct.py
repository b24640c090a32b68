"""Runs statements as they stand, on arrays: for what is run once, such as the check of a choice.

`interp` makes a function of a kernel first, which takes longer than to run a few statements. Here a
loop of which the order of steps makes no difference is run at once: its variable has a value for each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import contains, free_variables, nodes, own_expressions
from hbc.ir.meaning.instruction_semantics import summed_steps
from hbc.ir.meaning.interp_buffers import InterpError, allocated
from hbc.ir.meaning.interp_value import Scope, in_step, number, value
from hbc.ir.meaning.numpy_types import Array, poison

MOST_AT_ONCE = 1 << 20
"""Lanes of an expression in all steps of the loops around it."""
Steps = dict[str, Array]
"""The variables of loops at each of their steps."""


def execute(s: ir.Stmt, scope: Scope) -> None:
    """Runs a statement without asynchronous copies and atomic updates. Raises InterpError for what no
    kernel may do; called under `np.errstate(all="ignore")`."""
    match s:
        case ir.Block(body=body):
            for inner in body:
                execute(inner, scope)
        case ir.Store(atomic=None, asynchronous=False):
            _store(s, scope)
        case ir.For():
            _for(s, scope)
        case ir.LetStmt(name=name, value=v, body=body):
            execute(body, scope.where({name: value(v, scope)}))
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            if value(condition, scope).item():
                execute(then, scope)
            elif otherwise is not None:
                execute(otherwise, scope)
        case ir.Allocate(buffer=name, element=element, extent=extent, body=body):
            count = value(extent, scope).item()
            if count < 0:
                raise InterpError(f"allocation of `{name}` with {counted(count, 'element')}")
            new = allocated(name, poison(element, count), True)
            execute(body, replace(scope, buffers={**scope.buffers, name: new}))
        case ir.Assert(condition=condition, message=message):
            if not value(condition, scope).item():
                raise InterpError(message)
        case ir.Prefetch(index=index):
            if contains(index, ir.Load):  # the hint itself reads these
                value(index, scope)
        case ir.BulkCopy(otherwise=otherwise) if otherwise is not None:
            execute(otherwise, scope)
        case ir.Barrier() | ir.Comment() | ir.Leave():  # a loop may go on
            pass
        case _:
            raise InternalError(f"a {type(s).__name__} of this kind is run by `interp` alone")


def _store(s: ir.Store, scope: Scope) -> None:
    given = [value(s.index, scope), value(s.value, scope)]
    if s.mask is not None:
        given.append(value(s.mask, scope))
    scope.buffers[s.buffer].store_lanes(*(x.reshape(-1) for x in in_step(*given)))


def _for(s: ir.For, scope: Scope) -> None:
    steps, body = _nest(s, scope)
    stores = [inner for inner in body if isinstance(inner, ir.Store)]
    if len(stores) == len(body) and _at_once(stores, steps, scope):
        return
    start, count = (value(e, scope).item() for e in (s.start, s.extent))
    for n in range(start, start + count):
        execute(s.body, scope.where({s.var: number(n, INDEX.element)}))


def _nest(s: ir.For, scope: Scope) -> tuple[Steps, tuple[ir.Stmt, ...]]:
    """The steps of a loop and of those right inside that always take as many, and what they do."""
    loops: dict[str, tuple[int, int]] = {}
    count = 1
    inner: ir.Stmt = s
    while isinstance(inner, ir.For):
        names = inner.var, *free_variables(inner.start), *free_variables(inner.extent)
        if not loops.keys().isdisjoint(names):
            break
        first, extent = (value(e, scope).item() for e in (inner.start, inner.extent))
        if count * extent > MOST_AT_ONCE:
            break
        loops[inner.var] = first, max(extent, 0)
        count, inner = count * max(extent, 0), inner.body
    at = np.arange(count)[:, None]
    steps: Steps = {}
    for var, (first, extent) in reversed(loops.items()):
        steps[var] = first + at % max(extent, 1)
        at = at // max(extent, 1)
    return steps, inner.body if isinstance(inner, ir.Block) else (inner,)


def _at_once(stores: Sequence[ir.Store], steps: Steps, scope: Scope) -> bool:
    """Whether the stores could be done at all steps together, and were."""
    count = max(map(len, steps.values()), default=MOST_AT_ONCE + 1)
    if count == 0:
        return True
    plain = all(s.atomic is None and not s.asynchronous for s in stores)
    if not plain or count * max(map(_widest, stores), default=1) > MOST_AT_ONCE:
        return False
    stored = {s.buffer for s in stores}
    if len(stored) < len(stores) or any(_reads(own_expressions(s), stored) for s in stores):
        return _summed(stores, stored, steps, scope)
    for s in stores:
        _store(s, scope.where(steps))
    return True


def _widest(s: ir.Store) -> int:
    below = (n for e in own_expressions(s) for n in nodes(e))
    wide = (n.type.lanes for n in below if isinstance(n, ir.Broadcast | ir.Load | ir.Ramp))
    return max(wide, default=1)


def _reads(es: Iterable[ir.Expr], buffers: Collection[str]) -> bool:
    return any(isinstance(n, ir.Load) and n.buffer in buffers for e in es for n in nodes(e))


def _summed(stores: Sequence[ir.Store], stored: set[str], steps: Steps, scope: Scope) -> bool:
    """The same for instructions that add to elements which are the same at each step."""
    sums: dict[tuple[str, bytes], tuple[Array, Array]] = {}
    for s in stores:
        if not isinstance(s.value, ir.Instruct) or s.mask is not None:
            return False
        i = scope.instructions[s.value.name]
        own, *others = (s.value.args[n] for n in (i.accumulator, *i.factors))
        if own != ir.Load(s.buffer, s.index, own.type) or steps.keys() & free_variables(s.index):
            return False
        if _reads((s.index, *others), stored):
            return False
        at = value(s.index, scope).reshape(-1)
        key = s.buffer, at.tobytes()
        before = sums[key][1] if key in sums else scope.buffers[s.buffer].load_lanes(at)
        every = next(iter(steps.values()))
        _, *factors = in_step(every, *(value(e, scope.where(steps)) for e in others))
        after = summed_steps(i, s.value.sizes, before, factors)
        if after is None:
            return False
        sums[key] = at, after
    for buffer in stored:
        touched = np.sort(np.concatenate([at for (b, _), (at, _) in sums.items() if b == buffer]))
        if (touched[1:] == touched[:-1]).any():
            return False
    for (buffer, _), (at, after) in sums.items():
        scope.buffers[buffer].store_lanes(at, after)
    return True
