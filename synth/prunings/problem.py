"""The problem that a search solves: nodes with known shapes and sets of gathers, and a small universe.

Only terms that the goals contain matter. They are numbered from FIRST on; every other term is JUNK,
which may be moved and dropped but never reaches a goal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.diag import error
from hbc.ir.moves.gather import Gather, Shape, execute
from hbc.ir.moves.sketch import (
    NO_TERM,
    SYMBOL,
    ZERO_TERM,
    Apply,
    Fold,
    Goal,
    Literal,
    Sketch,
)
from hbc.synth.sets.gather_set import GatherSet
from hbc.synth.sets.sets import Sets, refuse_empty

Values = NDArray[np.int32]

ZERO = 0
JUNK = 1
FIRST = 2
ANYTHING = -1  # of a goal: no matter what

MOST_TERMS = 1 << 16  # states hold terms in 16 bits
TABLES_AT_A_TIME = 4  # possible, allowed, demanded, and one that is being made


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """An array that no choice changes: a literal, or `made` of the arguments."""

    name: str
    shape: Shape
    values: Values
    arguments: tuple[int, ...] = ()
    made: Gather | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One gather of a set, applied to the concatenated arguments. `hole`: it is to be chosen."""

    name: str
    shape: Shape
    arguments: tuple[int, ...]
    gathers: GatherSet
    hole: bool


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """A fold of each `length` elements."""

    name: str
    shape: Shape
    arguments: tuple[int, ...]
    length: int
    operation: str


Node = Known | Move | Pack


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A goal: the universe's number of each element, or ANYTHING."""

    node: int
    values: Values


@dataclass(frozen=True, slots=True)
class Packed:
    """A term of the universe that is a fold: its distinct elements with their multiplicities."""

    number: int
    operation: str
    elements: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return sum(times for _, times in self.elements)


@dataclass(frozen=True, slots=True, eq=False)
class Universe:
    """`count` terms, ZERO and JUNK included; the numbers of the sketch's terms in it."""

    count: int
    packed: tuple[Packed, ...]
    numbers: dict[int, int]
    occurrences: NDArray[np.int64]  # how often each stands in the goals, nested ones too

    def of(self, cells: NDArray[np.int32]) -> Values:
        distinct, where = np.unique(cells.reshape(-1), return_inverse=True)
        mapped = [self.numbers.get(int(c), JUNK) for c in distinct]
        return np.array(mapped, dtype=np.int32)[where.reshape(-1)]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Nodes in an order in which arguments come first."""

    sketch: Sketch
    nodes: tuple[Node, ...]
    goals: tuple[Wanted, ...]
    universe: Universe

    @property
    def holes(self) -> tuple[int, ...]:
        return tuple(n for n, node in enumerate(self.nodes) if isinstance(node, Move) and node.hole)


Report = Callable[[str], None]


def build_problem(sketch: Sketch, room: int, report: Report = lambda text: None) -> Problem:
    """Finds shapes and sets. HbcError for what does not fit; `room` bounds the bytes of a set."""
    sets = Sets(sketch.definitions, sketch.constants, room)
    universe = make_universe(sketch)
    refuse_declared(sketch, universe, room)
    nodes: list[Node] = []
    numbers: dict[str, int] = {}
    for statement in sketch.statements:
        match statement:
            case Literal(name, shape, cells, _):
                nodes.append(Known(name, shape, universe.of(cells)))
            case Apply(name):
                report(name)
                nodes.append(_move(statement, nodes, numbers, sets))
            case Fold(name):
                nodes.append(_pack(statement, nodes, numbers))
        numbers[statement.name] = len(nodes) - 1
    refuse_giants(sketch, nodes, universe, room)
    goals = tuple(_wanted(goal, nodes, numbers, universe) for goal in sketch.goals)
    return Problem(sketch, tuple(nodes), goals, universe)


def refuse_declared(sketch: Sketch, universe: Universe, room: int) -> None:
    """The same as `refuse_giants` by the shapes that the text gives, before sets of them are made."""
    sizes = {s.name: prod(s.shape) for s in sketch.statements if s.shape is not None}
    read = sum(
        sizes.get(statement.name, 0) * sizes.get(argument, 0)
        for statement in sketch.statements
        if isinstance(statement, Apply) and statement.hole
        for argument in statement.arguments
    )
    refuse_tables(sketch, sum(sizes.values()), read, universe, room)


def refuse_giants(sketch: Sketch, nodes: Sequence[Node], universe: Universe, room: int) -> None:
    """HbcError where the tables of the analysis would not fit: which term can be where, and which
    location can come from which."""
    sizes = [prod(node.shape) for node in nodes]
    read = sum(
        size * sum(sizes[a] for a in node.arguments)
        for node, size in zip(nodes, sizes, strict=True)
        if isinstance(node, Move)
    )
    refuse_tables(sketch, sum(sizes), read, universe, room)


def refuse_tables(sketch: Sketch, locations: int, read: int, universe: Universe, room: int) -> None:
    """HbcError for so many locations, and pairs of one that is made and one that it may read."""
    needed = TABLES_AT_A_TIME * (locations * universe.count + read)
    if universe.count > MOST_TERMS or needed > room:
        raise error(
            f"this sketch has {locations:,} locations and {universe.count:,} terms: its tables take"
            f" {needed / 1e6:,.0f} MB",
            sketch.goals[0].span,
            f"the bound is {room / 1e6:,.0f} MB and {MOST_TERMS:,} terms: raise --memory, or make the"
            " arrays smaller",
        )


def _move(statement: Apply, nodes: Sequence[Node], numbers: dict[str, int], sets: Sets) -> Node:
    arguments = tuple(numbers[a] for a in statement.arguments)
    inputs = [nodes[a].shape for a in arguments]
    gathers = sets.find(statement.chosen_from, inputs, statement.shape)
    empty = refuse_empty(gathers, statement.chosen_from)
    if empty is not None:
        raise empty
    if not statement.hole and gathers.size > 1:
        raise error(
            f"`{statement.chosen_from.name}` is a set of {gathers.size} gathers", statement.span,
            f"write `?{statement.chosen_from.name}` to have one chosen",
        )  # fmt: skip
    constants = [node for node in (nodes[a] for a in arguments) if isinstance(node, Known)]
    if not statement.hole and len(constants) == len(arguments):
        made = gathers.gather(0)
        values = execute(made, [node.values for node in constants], ZERO, JUNK)
        return Known(statement.name, gathers.output, values.reshape(-1), arguments, made)
    return Move(statement.name, gathers.output, arguments, gathers, statement.hole)


def _pack(statement: Fold, nodes: Sequence[Node], numbers: dict[str, int]) -> Node:
    argument = numbers[statement.argument]
    source = nodes[argument].shape
    if not source:
        raise error("`fold` takes an array of at least one dimension", statement.span)
    length = source[-1] if statement.length is None else statement.length
    if length < 1 or source[-1] % length:
        raise error(f"{source[-1]} elements are no multiple of {length}", statement.span)
    shape = source[:-1] + ((source[-1] // length,) if length < source[-1] else ())
    if statement.shape is not None and statement.shape != shape:
        raise error(
            f"this fold makes {list(shape)} of {list(source)}, and {list(statement.shape)} is declared",
            statement.span,
        )
    return Pack(statement.name, shape, (argument,), length, statement.operation)


def _wanted(
    goal: Goal, nodes: Sequence[Node], numbers: dict[str, int], universe: Universe
) -> Wanted:
    number = numbers[goal.target]
    shape = nodes[number].shape
    if goal.shape != shape:
        raise error(
            f"the goal has the shape {list(goal.shape)}, and `{goal.target}` is {list(shape)}",
            goal.span,
        )
    values = universe.of(goal.cells)
    return Wanted(number, np.where(goal.cells.reshape(-1) == NO_TERM, ANYTHING, values))


def make_universe(sketch: Sketch) -> Universe:
    """The goals' terms and what they are made of. Where any fold has no operation, operations are
    not compared: they are annotations."""
    terms = sketch.terms
    compared = all_annotated(sketch)
    numbers: dict[int, int] = {ZERO_TERM: ZERO, NO_TERM: JUNK}
    keys: dict[object, int] = {}
    packed: list[Packed] = []
    occurrences: list[int] = [0, 0]

    def enter(term: int) -> int:
        if term in numbers:
            return numbers[term]
        made = terms[term]
        elements: tuple[tuple[int, int], ...] = ()
        operation = made.operation if compared or made.operation == SYMBOL else ""
        if made.operation != SYMBOL:
            inside = sorted(enter(e) for e in made.elements)
            elements = tuple((e, inside.count(e)) for e in dict.fromkeys(inside))
        number = keys.setdefault((operation, made.name, elements), FIRST + len(keys))
        if number == len(occurrences):
            occurrences.append(0)
            if elements:
                packed.append(Packed(number, operation, elements))
        numbers[term] = number
        return number

    for goal in sketch.goals:
        for cell in np.unique(goal.cells):
            enter(int(cell))
    universe = Universe(len(occurrences), tuple(packed), numbers, np.array(occurrences))
    return Universe(universe.count, universe.packed, numbers, _occurrences(sketch, universe))


def _occurrences(sketch: Sketch, universe: Universe) -> NDArray[np.int64]:
    """How often each term stands in the goals, itself and inside of others."""
    total = np.zeros(universe.count, dtype=np.int64)
    for goal in sketch.goals:
        np.add.at(total, universe.of(goal.cells), 1)
    # An element has a smaller number than what contains it.
    for term in sorted(universe.packed, key=lambda term: -term.number):
        for element, times in term.elements:
            total[element] += times * total[term.number]
    return total


def all_annotated(sketch: Sketch) -> bool:
    terms = sketch.terms
    in_goals = {int(cell) for goal in sketch.goals for cell in np.unique(goal.cells)}
    stack = [cell for cell in in_goals if cell > NO_TERM]
    seen: set[int] = set()
    while stack:
        number = stack.pop()
        if number in seen:
            continue
        seen.add(number)
        if terms[number].operation == "":
            return False
        stack += terms[number].elements
    return all(s.operation for s in sketch.statements if isinstance(s, Fold))
