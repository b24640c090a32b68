"""Sketches: what data must move where, with holes, as the frontend makes and the synthesizer reads it.

Arrays hold terms, by number. A sketch is a list of single-assignment statements and goals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span
from hbc.ir.moves.gather import Shape
from hbc.ir.moves.index_expr import IndexExpr

Cells = NDArray[np.int32]

# Numbers of terms: the identity of folds, no value, and from FIRST on those of `Terms`.
ZERO_TERM = 0
NO_TERM = 1
FIRST_TERM = 2

# Parameters that say where elements are, and what they may be: along which axes lanes are counted (-1:
# the last), and how many bits an element has.
RESERVED = {"lane_axes": (1, 2, 3, -1), "bits": (8, 16, 32, 64)}

SYMBOL = "symbol"  # the operation of a term that is no fold


@record
class Term:
    """A symbol, or the multiset that a fold makes: its elements sorted, without zeros."""

    operation: str
    name: str = ""
    elements: tuple[int, ...] = ()


class Terms:
    """Gives equal terms equal numbers."""

    def __init__(self) -> None:
        self._terms: list[Term] = []
        self._numbers: dict[Term, int] = {}

    def __len__(self) -> int:
        """One more than the largest number."""
        return FIRST_TERM + len(self._terms)

    def __getitem__(self, number: int) -> Term:
        return self._terms[number - FIRST_TERM]

    def symbol(self, name: str) -> int:
        return self._number(Term(SYMBOL, name))

    def find_symbol(self, name: str) -> int | None:
        return self._numbers.get(Term(SYMBOL, name))

    def fold(self, operation: str, elements: Iterable[int]) -> int:
        """The multiset without zeros: 0 when it is empty, undefined when an element is."""
        kept = tuple(sorted(e for e in elements if e != ZERO_TERM))
        if not kept:
            return ZERO_TERM
        return NO_TERM if NO_TERM in kept else self._number(Term(operation, "", kept))

    def show(self, number: int) -> str:
        """As it is written: `x3`, `x1*w0 + x2*w1`, `fold{a, b}`."""
        if number == ZERO_TERM:
            return "0"
        if number == NO_TERM:
            return "_"
        term = self[number]
        if term.operation == SYMBOL:
            return term.name
        shown = [self.show(e) for e in term.elements]
        if term.operation in ("+", "*") and len(shown) > 1:
            nested = [f"({s})" if " " in s else s for s in shown]
            return (" + " if term.operation == "+" else "*").join(nested)
        return f"fold{{{', '.join(shown)}}}"

    def _number(self, term: Term) -> int:
        known = self._numbers.get(term)
        if known is None:
            known = self._numbers[term] = len(self)
            self._terms.append(term)
        return known


Option = int | str | tuple["Option", ...]


@record
class SetReference:
    """A set of gathers by name, with its options: built in, or defined in the sketch."""

    name: str
    options: Mapping[str, Option]
    span: Span


@record
class Binder:
    """A variable that a set ranges over: from `first` up to `end` (exclusive), or the listed values.
    `each`: so many neighbouring output elements choose a value together; None: all of them."""

    name: str
    first: IndexExpr | None
    end: IndexExpr | None
    listed: tuple[IndexExpr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    each: IndexExpr | None = None


@record
class Family:
    """The gathers `body`, one for each value of the binders for which `condition` holds. `spelling`:
    the code of an instruction that does this (see `ir/moves/instruction_table.py`), of that `cost`."""

    variables: tuple[str, ...]
    body: IndexExpr
    binders: tuple[Binder, ...]
    condition: IndexExpr | None
    span: Span
    text: str  # the body as written, for printing
    spelling: str = ""
    cost: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One gather for each row: locations of the arguments, as the user listed them."""

    rows: NDArray[np.int32]
    span: Span


@record
class Delegate:
    """The gathers of another set, whose options are expressions over this one's."""

    name: str
    options: tuple[tuple[str, IndexExpr | str | tuple[IndexExpr, ...]], ...]
    span: Span


@record
class Parameter:
    """An argument of a set. Extents that are plain names are bound by it, others are checked."""

    name: str
    extents: tuple[IndexExpr, ...] | None
    span: Span


@record
class SetDefinition:
    """A set of gathers defined in the text. An option without a default must be given."""

    name: str
    options: tuple[tuple[str, Option | None], ...]
    parameters: tuple[Parameter, ...] | None  # None: whatever the sets it consists of take
    extents: tuple[IndexExpr, ...] | None  # of the output; None: those of the statement
    parts: tuple[Family | Table | Delegate, ...]
    single: bool  # `gather`: one, usable without a hole
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """An array of known terms."""

    name: str
    shape: Shape
    cells: Cells
    span: Span


@record
class Apply:
    """One gather of a set, applied. `shape` is None where the text does not give it."""

    name: str
    shape: Shape | None
    chosen_from: SetReference
    arguments: tuple[str, ...]
    hole: bool
    span: Span


@record
class Fold:
    """Packs the last `length` elements of each row of the last axis (None: all) into a multiset."""

    name: str
    shape: Shape | None
    argument: str
    length: int | None
    operation: str
    span: Span


Statement = Literal | Apply | Fold


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """`target` must hold `cells`; where they are undefined, anything may be."""

    target: str
    shape: Shape
    cells: Cells
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A whole `.sf` file, parameters substituted."""

    name: str
    terms: Terms
    statements: tuple[Statement, ...]
    goals: tuple[Goal, ...]
    definitions: Mapping[str, SetDefinition]
    constants: Mapping[str, Option]  # the parameters: index expressions of sets may name them
    source: Source
    places: Mapping[str, Span] = field(default_factory=dict)  # of the parameters
