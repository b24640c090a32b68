"""Proof by execution: a statement and what was chosen for it, run side by side in the interpreter.

The numbers are such that every order and rounding of sums gives the same: integers of the whole range,
which wrap, and floats that are small integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from hbc.eqsat.operands.check_sizes import Sizes, sizes, zeros
from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.perform import accumulated, output_points, perform, stored
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.tensors.points import address
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX, DType
from hbc.ir.lang.walk import (
    contains,
    map_children,
    map_stmt,
    nodes,
    nodes_of,
    substitute_stmt,
)
from hbc.ir.meaning.interp_buffers import InterpError, constant, holding
from hbc.ir.meaning.interp_direct import execute
from hbc.ir.meaning.interp_value import Scope, value
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

Places = Sequence[tuple[ir.Expr, ir.Expr | None]]
"""Indices of the destination, and where each is stored to."""


class CheckError(InternalError):
    """What was chosen computes something else than the statement."""


def check(s: ir.Store, statement: Statement, choice: Choice) -> bool:
    """Whether the statement could be run, and then its choice does the same. Raises CheckError."""
    if any(contains(n.index, ir.Load) for n in nodes_of(s, ir.Store, ir.Load)):
        s, statement, choice = _at_places(s, statement, choice)
    made = 0

    def fresh(base: str) -> str:
        nonlocal made
        made += 1
        return f"{base}#{made}"

    frames = Frames(fresh)
    with frames.inside(s) as frame:
        slices = list(output_points(choice.plan))
        some = slices if len(slices) < 3 else [slices[0], slices[-1]]  # all are alike but the last
        chosen = perform(choice, statement, fresh, frames.packed, some)
        chosen = substitute_stmt(frames.filled(frame, chosen), frames.places)
    wanted = [accumulated(choice.plan, at) for at in some]
    places = [(address(statement.dest, at), stored(statement, at)) for at in wanted]
    with np.errstate(all="ignore"):
        extents = sizes(s, statement)
        if extents is not None:
            _compare(s, statement, chosen, choice, extents, places)
    return extents is not None


def _at_places(
    s: ir.Store, statement: Statement, choice: Choice
) -> tuple[ir.Store, Statement, Choice]:
    """The same with variables for what data says of places: then it is known how far these go."""
    names: dict[ir.Expr, ir.Var] = {}

    def place(e: ir.Expr) -> ir.Expr:
        if e.type == INDEX and isinstance(e, ir.Cast | ir.Load) and contains(e, ir.Load):
            return names.setdefault(e, ir.Var(f"place {len(names)}"))
        return map_children(e, place)

    at = map_stmt(s, place, lambda inner: inner)
    assert isinstance(at, ir.Store)
    return at, statement.mapped(lambda e, _: place(e)), choice.mapped(lambda e, _: place(e))


def _compare(
    s: ir.Store, statement: Statement, chosen: ir.Stmt, choice: Choice, at: Sizes, places: Places
) -> None:
    """Runs both and compares what they store at the places."""
    extents = at.extents
    random = Random(7)  # NumPy's takes longer to import than to use
    elements = {n.buffer: n.type.element for n in nodes_of(s, ir.Load)}
    elements[s.buffer] = s.value.type.element
    inputs = {b: _numbers(t, extents[b], random) for b, t in elements.items()}
    used = choice.plan.instruction

    def scope() -> Scope:
        """With the arrays as they are before."""
        buffers = {b: constant(b, x) for b, x in inputs.items()}
        buffers[s.buffer] = holding(s.buffer, inputs[s.buffer].copy())
        return Scope(at.variables, buffers, {used.name: used})

    def after(body: ir.Stmt, places: Places) -> tuple[Array, Array]:
        """What the destination holds after it, and whether it is at one of the places."""
        contents = scope()
        there = holding(s.buffer, np.zeros(extents[s.buffer], np.bool_))
        for index, mask in places:
            given = [value(e, contents)[0] for e in (index, mask) if e is not None]
            there.store_lanes(given[0], np.ones_like(given[0], np.bool_), *given[1:])
        execute(body, contents)
        return contents.buffers[s.buffer].data, there.data

    everywhere = not (statement.mask or statement.dead)  # also where the store's mask does not hold
    live = [(s.index, None if everywhere else s.mask)]
    for buffer, index, nonzero in zeros(statement):
        before = scope()
        inputs[buffer][value(index, before)[~value(nonzero, before)]] = 0
    try:
        (want, by_statement), (got, by_choice) = after(s, live), after(chosen, places)
    except InterpError as failure:
        raise CheckError(f"select: with `{used.name}`, {failure}: {show(s)[:400]}") from failure
    both = by_statement & by_choice
    if not _same(s, want[both], got[both]):
        raise CheckError(
            f"select: `{used.name}` does not do what it was chosen for: {show(s)[:400]}"
        )


def _same(s: ir.Store, want: Array, got: Array) -> bool:
    """Sums of small integers are exact in any order. A literal with a fraction (0.1) makes them round: then
    they are as near as two orders of few terms."""
    floats = want.dtype.kind == "f"
    if np.array_equal(want, got, equal_nan=floats):
        return True
    if not floats or not any(isinstance(n, ir.Const) and n.value % 1 for n in nodes(s)):
        return False
    near = 16 * float(np.finfo(want.dtype).eps)
    largest = float(np.max(np.abs(want), initial=0, where=np.isfinite(want)))
    return np.allclose(got, want, rtol=near, atol=near * largest, equal_nan=True)


def _numbers(t: DType, n: int, random: Random) -> Array:
    dtype = np.dtype(numpy_dtype(t))
    if t.is_float or dtype == np.bool_:
        bits = np.frombuffer(random.randbytes(n), np.int8)
        return (bits % 7 - 3 if t.is_float else bits & 1).astype(dtype)
    return np.frombuffer(random.randbytes(n * dtype.itemsize), dtype).copy()
