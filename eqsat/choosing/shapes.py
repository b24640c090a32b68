"""Choices by the shape of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.eqsat.choosing.choose import choose
from hbc.eqsat.graph.graphs import Graphs
from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.fragments import multiple
from hbc.eqsat.operands.operand import REUSED
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.tensors.tensor import Read
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import INDEX, Memory
from hbc.ir.lang.walk import substitute

Scalar = tuple[ir.Expr, Read | None]
"""An expression, and the read that it is the place of."""
Copies = tuple[Statement, tuple[Instruction, ...], tuple[Choice, ...]]
"""What is chosen for a marked statement, over its marks."""


@mutable
class Shapes:
    """Choices by the shape of the statement, whatever the places of its arrays: the statements of an
    unrolled loop are chosen for once."""

    known: dict[tuple[Statement, tuple[str, ...]], tuple[Choice, ...]] = field(
        default_factory=dict
    )  # also by the names of the instructions
    marked: list[tuple[Statement, Choice]] = field(default_factory=list)  # by number, over marks
    graphs: Graphs = field(default_factory=Graphs)
    copies: dict[tuple[int, int, tuple[str, ...]], Copies] = field(default_factory=dict)
    scalars: dict[int, tuple[Statement, list[Scalar]]] = field(default_factory=dict)

    def choose(
        self,
        s: Statement,
        places: Mapping[str, ir.Expr],
        instructions: tuple[Instruction, ...],
        frames: Frames,
    ) -> tuple[Choice, ...]:
        """As `choose`, for a statement with marks for places, in these frames."""
        in_fragments = any(i.place.memory is Memory.WMMA for i in instructions)

        def mark(e: ir.Expr, of: Read | None) -> str:
            at = places.get(e.name, e) if isinstance(e, ir.Var) else e
            of_fragment = "" if of is None or not in_fragments else multiple(at, of.element)
            kept = of is not None and frames.is_kept(of.buffer)
            return of_fragment + (REUSED if kept or frames.is_reused(at) else "")

        if id(s) not in self.scalars:
            self.scalars[id(s)] = s, _scalars(s)
        marks = tuple(mark(e, of) for e, of in self.scalars[id(s)][1])
        key = id(s), id(instructions), marks
        if key not in self.copies:  # with both, whose ids are thus not used again
            self.copies[key] = s, instructions, self._chosen(s, marks, instructions)
        return tuple(c.mapped(lambda e, _: substitute(e, places)) for c in self.copies[key][2])

    def _chosen(
        self, s: Statement, marks: tuple[str, ...], instructions: tuple[Instruction, ...]
    ) -> tuple[Choice, ...]:
        names: dict[tuple[ir.Expr, str], ir.Var] = {}
        for (e, of), mark in zip(self.scalars[id(s)][1], marks, strict=True):
            names[e, _array(of)] = ir.Var(f"#{len(names)}{mark}", e.type)

        def abstract(e: ir.Expr, of: Read | None) -> ir.Expr:
            return names.get((e, _array(of)), e)

        shape = s.mapped(abstract)
        key = shape, tuple(i.name for i in instructions)
        if key not in self.known:
            choices = choose(shape, instructions, self.graphs)
            themselves: dict[str, ir.Expr] = {name.name: name for name in names.values()}
            first = len(self.marked)
            self.known[key] = tuple(
                replace(c, number=first + n, marks=themselves) for n, c in enumerate(choices)
            )
            self.marked += [(shape, c) for c in choices]
        given = {name.name: e for (e, _), name in names.items()}
        return tuple(c.mapped(lambda e, _: substitute(e, given)) for c in self.known[key])


def _array(of: Read | None) -> str:
    """Equal places in two arrays mean nothing."""
    return "" if of is None else of.buffer


def _scalars(s: Statement) -> list[Scalar]:
    """The places in a statement, and other scalars but literals: each once for each array."""
    scalars: dict[tuple[ir.Expr, str], Scalar] = {}

    def note(e: ir.Expr, of: Read | None) -> ir.Expr:
        if not isinstance(e, ir.Const) or e.type == INDEX:
            scalars.setdefault((e, _array(of)), (e, of))
        return e

    s.mapped(note)
    return list(scalars.values())
