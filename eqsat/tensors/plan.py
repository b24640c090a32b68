"""Plans: how one instruction, repeated, does a contraction.

A contraction is a table with a row for each dimension of the statement; an instruction is such a
table with fixed or bounded extents. A plan gives to each row of the instruction dimensions of the same
kind, or parts of them; what is left of the dimensions becomes loops around the instruction. That the
instruction's operands move where the statement's do not is no obstacle: the value is then repeated.
UNIT (section III-B) calls the condition array access isomorphism. Where an extent is no multiple of
the row's, the last step goes beyond its end and computes on zeros there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cache
from math import prod

from hbc.eqsat.tensors.tensor import Dim, Dims
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, mul
from hbc.ir.lang.instruction import Instruction, Kind, Row
from hbc.ir.meaning.contraction import extent_range, extents, largest, number

SUMMED = frozenset({Kind.K, Kind.SUM})


@record
class Contraction:
    """C += sum over `summed` of A * B: all dimensions, and those along which A and B move."""

    outputs: Dims
    summed: Dims
    a: frozenset[Dim]
    b: frozenset[Dim]


@record
class Part:
    """`extent` steps along a dimension, each of `step` points: what a row of the instruction covers of
    it, or a loop around the instruction. `last`: where its last step begins, if that is moved back to end
    with the dimension; the points that the step before it has covered count for nothing there."""

    dim: Dim
    extent: int
    step: int
    last: int | None = None

    def start(self, index: ir.Expr) -> ir.Expr:
        """Where a step begins. The number of the last one is a constant."""
        is_last = self.last is not None and const_value(index) == self.extent - 1
        return ir.const_index(self.last or 0) if is_last else mul(index, self.step)

    def covered(self, index: ir.Expr) -> int:
        """The first point of a step that none before it has covered, where that is not its start."""
        is_last = self.last is not None and const_value(index) == self.extent - 1
        return self.step * (self.extent - 1) if is_last else 0


Parts = tuple[Part, ...]


@record
class Plan:
    """`rows`: what each row of the instruction covers, outermost first; nothing for a row of which
    only the first point counts. `outer` are the loops around it, those over outputs first.
    `swapped`: the statement's A is the instruction's second factor. `shuffled`: the operands that are
    sorted in a register each time (see `windows`) rather than packed."""

    instruction: Instruction
    sizes: tuple[tuple[str, int], ...]
    rows: tuple[Parts, ...]
    outer: Parts
    swapped: bool
    shuffled: frozenset[int] = frozenset()

    @property
    def count(self) -> int:
        """How often the instruction runs for one execution of the statement."""
        return prod(p.extent for p in self.outer)

    @property
    def cycles(self) -> float:
        """Of the instructions alone, when nothing else limits them."""
        return self.count / self.instruction.cost.per_cycle

    @property
    def waste(self) -> float:
        """Points computed for each that is wanted: 1 when all extents divide."""
        covered: dict[Dim, int] = {}
        for p in (*self.outer, *(p for row in self.rows for p in row)):
            covered[p.dim] = covered.get(p.dim, 1) * p.extent
        pairs = zip(self.rows, extents(self.instruction, dict(self.sizes)), strict=True)
        idle = prod(extent for parts, extent in pairs if not parts)
        return idle * prod(n / d.extent for d, n in covered.items())


def goes_beyond(p: Part) -> bool:
    """Whether the last step of a loop over a sum ends behind its dimension."""
    return p.dim.reduced and p.extent * p.step > p.dim.extent


def moved_back(plan: Plan) -> Plan | None:
    """The same with last steps of sums that end with their dimensions, where all are as deep as the
    instruction is, or the dimension is not; None where no step goes beyond the end. What they read lies in
    memory as it is then, if all before it does; one of the factors has to be 0 at points that are covered
    twice."""
    full = largest(plan.instruction)
    deep = prod(number(r.extent, full) for r in plan.instruction.rows if r.kind in SUMMED)
    beyond = [p for p in plan.outer if goes_beyond(p)]
    if not beyond or any(p.step < deep < p.dim.extent for p in beyond):
        return None
    moved = (replace(p, last=p.dim.extent - p.step) if p in beyond else p for p in plan.outer)
    return replace(plan, outer=tuple(moved))


def with_instruction(p: Plan, i: Instruction) -> Plan:
    """The plan for another that is `planned` alike. (`replace` takes four times as long.)"""
    return Plan(i, p.sizes, p.rows, p.outer, p.swapped, p.shuffled)


@cache
def planned(i: Instruction) -> Hashable:
    """What of an instruction decides its plans, apart from itself."""
    moved = ((row.strides[f] for f in i.factors) for row in i.rows)
    moves = tuple(tuple(const_value(s) != 0 for s in own) for own in moved)
    return i.sizes, tuple((row.kind, row.extent) for row in i.rows), moves


def plans(c: Contraction, i: Instruction) -> Iterator[Plan]:
    """Plans for each way to assign the dimensions, with the largest sizes that fit; those with the
    factors swapped last."""
    for swapped in (False, True):
        first, second = (c.b, c.a) if swapped else (c.a, c.b)
        for rows in _assignments(len(i.rows) - 1, i, c, (first, second), {}):
            plan = _plan(c, i, rows, swapped)
            if plan is not None:
                yield plan


def _assignments(
    n: int,
    i: Instruction,
    c: Contraction,
    moves: tuple[frozenset[Dim], frozenset[Dim]],
    covered: dict[Dim, int],
) -> Iterator[tuple[Parts, ...]]:
    """What the rows up to the n-th cover, when those inside them cover so many points."""
    if n < 0:
        yield ()
        return
    row = i.rows[n]
    for parts in _choices(row, extent_range(i, row), _dims_of(row, i, c, moves), covered):
        after = dict(covered)
        for p in parts:
            after[p.dim] = p.step * p.extent
        for outer in _assignments(n - 1, i, c, moves, after):
            yield (*outer, parts)


def _dims_of(
    row: Row, i: Instruction, c: Contraction, moves: tuple[frozenset[Dim], frozenset[Dim]]
) -> list[Dim]:
    """The dimensions of the row's kind: summed or not, and moving no factor that the row leaves in
    place."""
    of_kind = c.summed if row.kind in SUMMED else c.outputs
    pairs = [(const_value(row.strides[f]) != 0, m) for f, m in zip(i.factors, moves, strict=True)]
    return [d for d in reversed(of_kind) if all(moved or d not in m for moved, m in pairs)]


def _choices(
    row: Row, range_: tuple[int, int, int], dims: list[Dim], covered: dict[Dim, int]
) -> Iterator[Parts]:
    """Ways to cover a row of an extent between the bounds: part of one dimension, or all that is
    left of one and part of another around it."""
    least, most, step = range_
    left = {d: _ceil(d.extent, covered.get(d, 1)) for d in dims}
    for d in dims:
        if left[d] == 1:
            continue
        at = covered.get(d, 1)
        extent = _cover(left[d], least, most, step)
        if row.kind in SUMMED and extent < most < left[d]:
            yield (Part(d, most, at),)  # as deep as can be, if not as even
        elif row.kind in SUMMED and extent == left[d] and extent * at > d.extent > 1:
            yield (Part(d, _ceil(extent, 2), at),)  # in two steps that stay inside, if one does not
        if extent >= left[d]:
            for e in dims:
                rest = most // left[d]
                if e != d and left[e] > 1 and rest > 1 and left[d] % step == 0:
                    more = _cover(left[e], _ceil(least, left[d]), rest, 1)
                    if left[e] % more == 0 and (least <= left[d] * more <= most):
                        yield (Part(e, more, covered.get(e, 1)), Part(d, left[d], at))
        yield (Part(d, extent, at),)
    yield ()


def _cover(left: int, least: int, most: int, step: int) -> int:
    """The extent to take of `left` points: a divisor between the bounds if one is large enough, else
    the extent that wastes least in as few steps."""
    steps = _ceil(left, most)
    best = _ceil(_ceil(left, steps), step) * step
    for extent in range(most - most % step, max(least, step) - 1, -step):
        if left % extent == 0:
            return extent if 2 * extent > best else max(best, least)
    return max(best, least)


def _plan(c: Contraction, i: Instruction, rows: tuple[Parts, ...], swapped: bool) -> Plan | None:
    sizes = _sizes(i, rows)
    if sizes is None or not all(
        _fills(parts, number(row.extent, sizes)) for parts, row in zip(rows, i.rows, strict=True)
    ):
        return None
    covered: dict[Dim, int] = {}
    for p in reversed([p for row in rows for p in row]):
        covered[p.dim] = max(covered.get(p.dim, 1), p.step * p.extent)
    dims = ((d, covered.get(d, 1)) for d in (*c.outputs, *c.summed))
    loops = tuple(Part(d, _ceil(d.extent, at), at) for d, at in dims if d.extent > at)
    return Plan(i, tuple(sizes.items()), rows, loops, swapped)


def _fills(parts: Parts, extent: int) -> bool:
    """Whether a row that is longer than what it covers goes beyond the end of the dimension with it."""
    if not parts or prod(p.extent for p in parts) == extent:
        return True
    return len(parts) == 1 and parts[0].step * parts[0].extent >= parts[0].dim.extent


def _sizes(i: Instruction, rows: tuple[Parts, ...]) -> dict[str, int] | None:
    """The least sizes whose rows hold what they cover; None where none is legal."""
    wanted = tuple(prod(p.extent for p in parts) for parts in rows)
    return _least_sizes(i, wanted)


@cache
def _least_sizes(i: Instruction, wanted: tuple[int, ...]) -> dict[str, int] | None:
    largest = {s.name: s.most for s in i.sizes}
    sizes: dict[str, int] = {}
    for s in i.sizes:
        values = range(s.step, s.most + 1, s.step)
        fits = (v for v in values if _holds(i, wanted, {**largest, **sizes, s.name: v}))
        value = next(fits, None)
        if value is None:
            return None
        sizes[s.name] = value
    return sizes if _holds(i, wanted, sizes) else None


def _holds(i: Instruction, wanted: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Whether each row is as long as what it covers, at least."""
    return all(n <= number(row.extent, sizes) for n, row in zip(wanted, i.rows, strict=True))


def _ceil(a: int, b: int) -> int:
    return -(-a // b)
