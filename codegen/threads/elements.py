"""Which thread touches which element: the accesses of a nest as arrays of offsets and thread numbers.

An offset that depends on names from outside of the nest has them apart, in `base`: the rest is what
can be enumerated. Thread numbers come as the least and greatest that touch an element.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.threads.access import Counted, ThreadAccess
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables

Numbers = NDArray[np.int64]

MOST_PLACES = 1 << 22  # what is enumerated of one access; beyond, nothing is known
MOST_REMAINDERS = 64
NOBODY = 1 << 40


@record
class Elements:
    """The elements base + first + i, touched by threads of numbers low[i] .. high[i]; nobody touches
    those with low NOBODY and high -1."""

    base: Linear
    first: int
    low: Numbers
    high: Numbers


def elements(a: ThreadAccess) -> Elements | None:
    """What an access touches, or a little more; None where that cannot be told."""
    parts = offsets(a, a.digits, a.loops)
    if parts is None:
        return None
    base, at, axes = parts
    number = np.zeros((1,) * len(axes), np.int64)
    for digit, weight in zip(a.digits, a.weights, strict=True):
        number = number + weight * axes[digit.name]
    at, number = np.broadcast_arrays(at, number[..., None])
    flat, low = at.ravel(), number.ravel()
    first = int(flat.min())
    size = int(flat.max()) - first + 1
    if size > MOST_PLACES:
        return None
    least, most = np.full(size, NOBODY), np.full(size, -1)
    np.minimum.at(least, flat - first, low)
    np.maximum.at(most, flat - first, low + a.together - 1)
    return Elements(base, first, least, most)


def offsets(
    a: ThreadAccess, digits: Iterable[Counted], loops: Iterable[Counted]
) -> tuple[Linear, Numbers, dict[str, Numbers]] | None:
    """The part of an index that cannot be enumerated, the offsets besides it (the last axis has the
    lanes), and the values of each digit and loop along their axes. A digit that the index does not
    depend on has its least and greatest value alone."""
    if a.index is None:
        return None
    used = a.names
    counted: list[tuple[str, Numbers]] = []
    for d in digits:
        if d.extent is None:
            return None
        values = [0, d.extent - 1] if d.name not in used else range(d.extent)
        counted.append((d.name, np.array(values, np.int64)))
    for x in loops:
        if x.name in used:
            if x.extent is None:
                return None
            counted.append((x.name, np.arange(max(x.extent, 1))))
    form = linear(a.index)
    own = {name for name, _ in counted}
    mixed = {
        show(atom): remainders
        for atom, _ in form.terms
        if not own.isdisjoint(free_variables(atom))
        and not free_variables(atom) <= own
        and (remainders := _remainders(atom)) is not None
    }  # where other names are in it too, any remainder may be
    counted += mixed.items()
    if prod(len(v) for _, v in counted) * len(a.offsets) > MOST_PLACES:
        return None
    axes = {
        name: v.reshape([-1 if n == k else 1 for k in range(len(counted))])
        for n, (name, v) in enumerate(counted)
    }
    base, total = Linear(0), np.full((1,) * len(counted), form.constant, np.int64)
    for atom, c in form.terms:
        names = free_variables(atom)
        if names.isdisjoint(own):
            base = plus(base, of_atom(atom, c))
            continue
        value = axes.get(show(atom)) if not names <= own else evaluated(atom, axes)
        if value is None:
            return None
        total = total + c * value
    return base, total[..., None] + np.array(a.offsets, np.int64), axes


def _remainders(atom: ir.Expr) -> Numbers | None:
    """All values of a remainder by a small number."""
    match atom:
        case ir.Binary(op=ir.Op.MOD, b=ir.Const(value=d)) if 0 < d <= MOST_REMAINDERS:
            return np.arange(int(d))
        case _:
            return None


def differences(a: Linear, b: Linear) -> frozenset[int] | None:
    """All values that a - b may take, where they are few: constants, or remainders of counters."""
    gap = plus(a, b, -1)
    if gap.is_constant:
        return frozenset({gap.constant})
    names = sorted(set().union(*(free_variables(atom) for atom, _ in gap.terms)))
    divisors = [d for atom, _ in gap.terms for d in _divisors(atom)]
    period = int(np.lcm.reduce(divisors)) if divisors else 0
    if not 0 < period <= 64 or (2 * period) ** len(names) > MOST_PLACES:
        return None
    shape = (2 * period,) * len(names)
    counters = {
        name: np.arange(2 * period).reshape([-1 if n == k else 1 for k in range(len(names))])
        for n, name in enumerate(names)
    }
    total = np.full(shape, gap.constant)
    for atom, c in gap.terms:
        value = evaluated(atom, counters)
        if value is None:
            return None
        total = total + c * value
    # Sums of quotients and remainders that come back after one period do so for ever.
    if any((total != np.roll(total, period, axis)).any() for axis in range(len(names))):
        return None
    return frozenset(int(x) for x in np.unique(total))


def _divisors(atom: ir.Expr) -> list[int]:
    """The numbers that an atom divides by; [0] where it is no sum of quotients and remainders."""
    match atom:
        case ir.Var() | ir.Const():
            return []
        case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, a=a, b=ir.Const(value=d)) if d > 0:
            return [int(d), *(x * int(d) for x in _divisors(a))]
        case (
            ir.Binary(op=ir.Op.ADD | ir.Op.SUB, a=a, b=b)
            | ir.Binary(op=ir.Op.MUL, a=a, b=ir.Const() as b)
        ):
            return _divisors(a) + _divisors(b)
        case _:
            return [0]
