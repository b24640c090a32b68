"""Plans: how one instruction, repeated, does a contraction.

A contraction is a table with a row for each dimension of the statement; an instruction is such a
table with fixed or bounded extents. A plan gives to each row of the instruction a dimension of the same
kind, or a part of one; what is left of the dimensions becomes loops around the instruction. That the
instruction's operands move where the statement's do not is no obstacle: the value is then repeated.
UNIT (section III-B) calls the condition array access isomorphism.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from hbc.eqsat.tensor import Dim, Dims
from hbc.ir.build import const_value
from hbc.ir.contraction import number
from hbc.ir.instruction import Instruction, Kind

SUMMED = frozenset({Kind.K, Kind.SUM})


@dataclass(frozen=True, slots=True)
class Contraction:
    """C += sum over `summed` of A * B: all dimensions, and those along which A and B move."""

    outputs: Dims
    summed: Dims
    a: frozenset[Dim]
    b: frozenset[Dim]


@dataclass(frozen=True, slots=True)
class Part:
    """`extent` steps along a dimension, each of `step` points: what one row of the instruction covers."""

    dim: Dim
    extent: int
    step: int


@dataclass(frozen=True, slots=True)
class Plan:
    """`parts` are by the instruction's rows; None for a row of extent 1 that covers nothing. `outer`
    are the loops around it, those over outputs first. `swapped`: the statement's A is the
    instruction's second factor."""

    instruction: Instruction
    sizes: tuple[tuple[str, int], ...]
    parts: tuple[Part | None, ...]
    outer: tuple[Part, ...]
    swapped: bool

    @property
    def count(self) -> int:
        """How often the instruction runs for one execution of the statement."""
        return prod(p.extent for p in self.outer)

    @property
    def cycles(self) -> float:
        """Of the instructions alone, when nothing else limits them."""
        return self.count / self.instruction.cost.per_cycle


def plans(c: Contraction, i: Instruction) -> Iterator[Plan]:
    """Every plan with the largest sizes that fit, for each way to assign the dimensions."""
    for swapped in (False, True):
        first, second = (c.b, c.a) if swapped else (c.a, c.b)
        choices = [_dims_of(n, i, c, first, second) for n in range(len(i.rows))]
        for chosen in product(*choices):
            plan = _plan(c, i, chosen, swapped)
            if plan is not None:
                yield plan


def _dims_of(
    row: int, i: Instruction, c: Contraction, a: frozenset[Dim], b: frozenset[Dim]
) -> list[Dim | None]:
    """The dimensions of the row's kind: summed or not, and moving no factor that the row leaves in
    place. None stands for none."""
    r = i.rows[row]
    moves_a, moves_b = (const_value(r.strides[f]) != 0 for f in i.factors)
    of_kind = c.summed if r.kind in SUMMED else c.outputs
    fit = [d for d in of_kind if (moves_a or d not in a) and (moves_b or d not in b)]
    return [*fit, None]


def _plan(
    c: Contraction, i: Instruction, chosen: tuple[Dim | None, ...], swapped: bool
) -> Plan | None:
    sizes = _sizes(i, chosen)
    if sizes is None:
        return None
    covered: dict[Dim, int] = {}
    parts: list[Part | None] = []
    for r, d in zip(reversed(i.rows), reversed(chosen), strict=True):
        extent = number(r.extent, sizes)
        if d is None:
            parts.append(None)
            continue
        step = covered.get(d, 1)
        parts.append(Part(d, extent, step))
        covered[d] = step * extent
    outer = tuple(
        Part(d, d.extent // covered.get(d, 1), covered.get(d, 1)) for d in (*c.outputs, *c.summed)
    )
    loops = tuple(p for p in outer if p.extent > 1)
    return Plan(i, tuple(sizes.items()), tuple(reversed(parts)), loops, swapped)


def _sizes(i: Instruction, chosen: tuple[Dim | None, ...]) -> dict[str, int] | None:
    """The largest sizes with which the rows divide their dimensions; None when none do."""
    sizes = {s.name: s.step for s in i.sizes}
    if not _divides(i, chosen, sizes):
        return None
    for s in i.sizes:
        for value in range(s.most - s.most % s.step, s.step, -s.step):
            if _divides(i, chosen, {**sizes, s.name: value}):
                sizes[s.name] = value
                break
    return sizes


def _divides(i: Instruction, chosen: tuple[Dim | None, ...], sizes: Mapping[str, int]) -> bool:
    """Whether the rows cut each dimension into equal parts, and those without one have extent 1."""
    covered: dict[Dim, int] = {}
    for r, d in zip(i.rows, chosen, strict=True):
        extent = number(r.extent, sizes)
        if d is None:
            if extent != 1:
                return False
        else:
            covered[d] = covered.get(d, 1) * extent
    return all(d.extent % n == 0 for d, n in covered.items())
