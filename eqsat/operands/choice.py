"""Statements, what instructions can make of them, and what is chosen.

A statement is `dest = value` over the points of a box. A choice splits the value into what an
instruction accumulates, `c + sum of a * b`, and the rest around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.tensors.plan import Plan
from hbc.eqsat.tensors.tensor import Dims, Read, ScalarMap, Tensor, map_scalars
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

CHOSEN = "the chosen instruction"
"""The buffer that the result of the instructions is read from in the rest."""


@record
class Statement:
    """`dest = value` for the points of the outputs where all of `mask` holds. What the value is where
    one of `dead` does not hold makes no difference. `zeros`: conditions, and arrays that are 0 where
    they do not hold. `local`: arrays in registers and tiles, which may be read anywhere. `by_zeros`: where a
    condition leaves out a product, one factor is 0 and the other any number."""

    outputs: Dims
    dest: Read
    value: Tensor
    mask: tuple[Tensor, ...] = ()
    dead: tuple[Tensor, ...] = ()
    zeros: tuple[tuple[Tensor, Tensor], ...] = ()
    local: tuple[Tensor, ...] = ()
    by_zeros: bool = False

    def mapped(self, f: ScalarMap) -> Statement:
        """With `f` applied to all bases and uniform values."""
        dest = map_scalars(self.dest, f)
        assert isinstance(dest, Read)
        mask, dead = (tuple(map_scalars(c, f) for c in cs) for cs in (self.mask, self.dead))
        zeros = tuple((map_scalars(c, f), map_scalars(x, f)) for c, x in self.zeros)
        local = tuple(map_scalars(x, f) for x in self.local)
        value = map_scalars(self.value, f)
        return Statement(self.outputs, dest, value, mask, dead, zeros, local, self.by_zeros)


@record
class Candidate:
    """`whole = c + sum over dims of a * b` in the element types of instructions; c None: 0."""

    types: str
    element: DType
    whole: Term
    c: Tensor | None
    dims: Dims
    a: Tensor
    b: Tensor


@record
class Choice:
    """The plan for a candidate, its estimated cycles, and those of them for packing operands. `rest`:
    the statement's value around it, which reads the buffer CHOSEN at the same points; None when the
    value is the candidate itself."""

    candidate: Candidate
    plan: Plan
    cycles: float
    packing: float
    rest: Tensor | None
    fired: tuple[tuple[str, int], ...]
    complete: bool = True  # False: a budget of the e-graph ran out
    number: int = 0  # the same for statements of one shape
    # What the marks for scalars in the choice of this number stand for.
    marks: Mapping[str, ir.Expr] = field(default_factory=dict, compare=False, repr=False)

    def mapped(self, f: ScalarMap) -> Choice:
        """With `f` applied to all bases and uniform values."""
        c = self.candidate
        start = None if c.c is None else map_scalars(c.c, f)
        new = replace(c, c=start, a=map_scalars(c.a, f), b=map_scalars(c.b, f))
        rest = None if self.rest is None else map_scalars(self.rest, f)
        marks = {name: f(e, None) for name, e in self.marks.items()}
        return replace(self, candidate=new, rest=rest, marks=marks)
