"""Makes a sketch of a `.sf` syntax tree: parameters substituted, expressions cut into statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import PurePath

import numpy as np

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.index import integer, option_value, shape
from hbc.frontend.sketch.params import Parameters
from hbc.frontend.sketch.parse import parse_sketch
from hbc.frontend.sketch.sets import FORMULAS, define_set, formula_gather, inline_gather
from hbc.frontend.sketch.terms import TermScope, evaluate_terms
from hbc.ir.ground.diag import Note, did_you_mean, error
from hbc.ir.ground.source import Source, Span
from hbc.ir.moves.gather import Shape
from hbc.ir.moves.sketch import (
    NO_TERM,
    SYMBOL,
    Apply,
    Cells,
    Fold,
    Goal,
    Literal,
    Option,
    SetDefinition,
    SetReference,
    Sketch,
    Statement,
    Terms,
)

Reader = Callable[[str, Span], Source]  # finds an imported file, or raises HbcError


def load_sketch(source: Source, settings: Mapping[str, str], reader: Reader) -> Sketch:
    """The sketch of a text. HbcError for every mistake that can be seen without searching."""
    return Elaborator(source, settings, reader).sketch()


def load_sets(
    source: Source, settings: Mapping[str, str], reader: Reader
) -> tuple[Mapping[str, SetDefinition], Mapping[str, Option]]:
    """The sets that a file defines, and its parameters: of a prelude, which has no goal."""
    elaborator = Elaborator(source, settings, reader)
    elaborator.run(parse_sketch(source))
    elaborator.parameters.refuse_unknown()
    return elaborator.definitions, elaborator.parameters.values


class Elaborator:
    """Holds what has been defined so far."""

    def __init__(self, source: Source, settings: Mapping[str, str], reader: Reader) -> None:
        self.source = source
        self.reader = reader
        self.parameters = Parameters(settings)
        self.terms = Terms()
        self.statements: list[Statement] = []
        self.literals: dict[str, Literal] = {}
        self.variables: dict[str, str] = {}  # as the text calls them -> name of the statement
        self.spans: dict[str, Span] = {}
        self.definitions: dict[str, SetDefinition] = {}
        self.goals: list[ast.Goal] = []
        self.imported: set[str] = set()  # the names of files
        self.read: list[str] = []  # those that are being read, the innermost last
        self.later: dict[str, Span] = {}  # the arrays of the file that is read, by name

    def sketch(self) -> Sketch:
        self.run(parse_sketch(self.source))
        self.parameters.refuse_unknown()
        if not self.goals:
            end = len(self.source.text.rstrip())
            raise error(
                "this sketch has no goal", Span(self.source, end, end + 1),
                "say what must come out: `goal out == [i in 4] x[i]`",
            )  # fmt: skip
        goals = self.checked_goals()
        name = PurePath(self.source.name).stem
        return Sketch(
            name, self.terms, tuple(self.statements), goals, self.definitions,
            self.parameters.values, self.source, self.parameters.spans,
        )  # fmt: skip

    def include(self, path: str, span: Span) -> None:
        """Runs a file where it is imported first. HbcError for one that is being read."""
        source = self.reader(path, span)
        if source.name == self.source.name or source.name in self.read:
            raise error(f"`{path}` is imported by itself", span, "name another file, or none")
        if source.name not in self.imported:
            self.imported.add(source.name)
            self.read.append(source.name)
            self.run(parse_sketch(source))
            self.read.pop()

    def run(self, file: ast.File) -> None:
        outside = self.later
        self.later = {s.name: s.span for s in file.statements if isinstance(s, ast.Define)}
        for statement in file.statements:
            match statement:
                case ast.Param():
                    self.parameters.declare(statement)
                case ast.Import(path, span):
                    self.include(path, span)
                case ast.Set():
                    self.define(statement)
                case ast.Define():
                    self.statement(statement, "")
                case ast.Goal():
                    self.goals.append(statement)
        self.later = outside

    def define(self, node: ast.Set) -> None:
        if node.name in self.definitions:
            previous = Note("it is defined here", self.definitions[node.name].span)
            raise error(f"there are two sets `{node.name}`", node.span, None, previous)
        self.definitions[node.name] = define_set(node, self.parameters.values)

    # Statements

    def statement(self, node: ast.Define, prefix: str) -> None:
        if node.name in self.variables and self.variables[node.name] == prefix + node.name:
            previous = Note("it is defined here", self.spans[prefix + node.name])
            raise error(f"`{node.name}` is defined twice", node.span, None, previous)
        if node.name in self.parameters.values:
            raise error(f"`{node.name}` is a parameter already", node.span)
        extents = shape(node.shape, self.parameters.values, node.span)
        name = prefix + node.name
        if isinstance(node.value, ast.Block):
            self.block(node.value, name, extents, node.span)
        else:
            self.value(node.value, name, extents, node.span)
        self.variables[node.name] = name
        self.spans[name] = node.span

    def block(self, block: ast.Block, name: str, extents: Shape, span: Span) -> None:
        """Names defined inside are forgotten outside."""
        outside, literals = dict(self.variables), dict(self.literals)
        for definition in block.definitions:
            self.statement(definition, f"{name}.")
        self.value(block.result, name, extents, span)
        made = self.literals.get(name)
        self.variables, self.literals = outside, literals
        if made is not None:
            self.literals[name] = made

    def value(self, expr: ast.Expr | None, name: str, extents: Shape | None, span: Span) -> None:
        """Adds the statements that compute `expr`; the last one is called `name`."""
        values = self.parameters.values
        match expr:
            case None:
                assert extents is not None
                self.literal(name, extents, self.symbols(name, extents), span)
            case ast.Call():
                self.apply(expr, name, extents, span)
            case ast.Lambda():
                made, arrays = inline_gather(f"{name}.gather", expr)
                self.definitions[made.name] = made
                read = tuple(self.variable(array, at) for array, at in arrays.items())
                self.gather(name, extents, made.name, read, span)
            case ast.Fold(_, ast.Name(unknown, at), _, _) if unknown not in self.variables:
                self.variable(unknown, at)
            case ast.Fold(operation, operand, length, _) if self.is_array(operand):
                argument = self.argument(operand, f"{name}.in")
                count = None if length is None else integer(length, values)
                self.statements.append(Fold(name, extents, argument, count, operation, expr.span))
            case ast.Name(other, at) if other in self.variables or not self.is_literal(expr):
                self.gather(name, extents, "reshape", (self.variable(other, at),), span)
            case _:
                cells = evaluate_terms(expr, self.term_scope(None))
                wanted = cells.shape if extents is None else extents
                if cells.shape != wanted:
                    raise error(
                        f"this array has the shape {list(cells.shape)}, and `{name}` is declared as"
                        f" {list(wanted)}", expr.span,
                    )  # fmt: skip
                self.literal(name, wanted, cells, span)

    def apply(self, call: ast.Call, name: str, extents: Shape | None, span: Span) -> None:
        if (
            call.function in FORMULAS
            and call.arguments
            and isinstance(call.arguments[0], ast.Lambda)
        ):
            made = formula_gather(f"{name}.gather", call, call.arguments[0])
            self.definitions[made.name] = made
            if len(call.arguments) != 2:
                raise error(f"it is written `{call.function}(\\i, j. ...)(array)`", call.span)
            reference = SetReference(made.name, {}, call.span)
            arguments: tuple[ast.Expr, ...] = call.arguments[1:]
        else:
            values = self.parameters.values
            options = {}
            for option in call.options:
                if option.name in options or option.value is None:
                    raise error(f"option `{option.name}` needs one value", option.span)
                options[option.name] = option_value(option.value, values)
            reference = SetReference(call.function, options, call.span)
            arguments = call.arguments
        names = tuple(self.argument(a, f"{name}.{n}") for n, a in enumerate(arguments))
        self.statements.append(Apply(name, extents, reference, names, call.hole, call.span))

    def gather(
        self,
        name: str,
        extents: Shape | None,
        function: str,
        arguments: tuple[str, ...],
        span: Span,
    ) -> None:
        reference = SetReference(function, {}, span)
        self.statements.append(Apply(name, extents, reference, arguments, False, span))

    def argument(self, expr: ast.Expr, name: str) -> str:
        """The name of the statement that holds `expr`, made where it is no plain name."""
        if isinstance(expr, ast.Name):
            return self.variable(expr.name, expr.span)
        self.value(expr, name, None, expr.span)
        return name

    def variable(self, name: str, span: Span) -> str:
        variable = self.variables.get(name)
        if variable is None and name in self.later:
            note = Note("it is defined here", self.later[name])
            hint = "statements are in the order in which they run: no array is made of itself"
            raise error(f"`{name}` is used before it is defined", span, hint, note)
        if variable is None:
            hint = did_you_mean(name, self.variables) or "arrays are defined before they are used"
            raise error(f"there is no array `{name}`", span, hint)
        return variable

    # Terms

    def is_array(self, expr: ast.Expr) -> bool:
        """Whether a fold's operand is computed, and no list of terms."""
        match expr:
            case ast.Name(name, _):
                return name in self.variables
            case ast.Call() | ast.Lambda():
                return True
            case ast.Fold(_, operand, _, _):
                return self.is_array(operand)
            case _:
                return False

    def is_literal(self, expr: ast.Expr) -> bool:
        return isinstance(expr, ast.Name) and expr.name in self.parameters.values

    def symbols(self, name: str, extents: Shape) -> Cells:
        """x0, x1, ... or, of several dimensions, x0_0, x0_1, ..."""
        cells = np.empty(extents, dtype=np.int32)
        for index in np.ndindex(*extents):
            cells[index] = self.terms.symbol(name + "_".join(map(str, index)))
        return cells

    def literal(self, name: str, extents: Shape, cells: Cells, span: Span) -> None:
        made = Literal(name, extents, cells, span)
        self.statements.append(made)
        self.literals[name] = made

    def reshaped(self) -> dict[str, Literal]:
        """The literals, and those that are only seen in another shape."""
        known = dict(self.literals)
        for statement in self.statements:
            match statement:
                case Apply(name, tuple(shape), SetReference("reshape"), (argument,), False) if (
                    argument in known and "reshape" not in self.definitions
                ):
                    cells = known[argument].cells
                    if cells.size == prod(shape):
                        known[name] = Literal(name, shape, cells.reshape(shape), statement.span)
        return known

    def term_scope(self, symbols: frozenset[int] | None) -> TermScope:
        literals = self.reshaped()
        arrays = {name: literals[f] for name, f in self.variables.items() if f in literals}
        computed = frozenset(self.variables) - frozenset(arrays)
        return TermScope(self.terms, self.parameters.values, arrays, symbols, computed)

    def checked_goals(self) -> tuple[Goal, ...]:
        held = {
            int(cell)
            for statement in self.statements if isinstance(statement, Literal)
            for cell in np.unique(statement.cells) if cell > NO_TERM
        }  # fmt: skip
        symbols = frozenset(number for number in held if self.terms[number].operation == SYMBOL)
        scope = self.term_scope(symbols)
        goals: list[Goal] = []
        for node in self.goals:
            target = self.variable(node.target, node.span)
            cells = evaluate_terms(node.value, scope)
            self.refuse_contradiction(target, cells, node, goals)
            goals.append(Goal(target, cells.shape, cells, node.span))
        return tuple(goals)

    def refuse_contradiction(
        self, target: str, cells: Cells, node: ast.Goal, before: list[Goal]
    ) -> None:
        for other in before:
            if other.target != target or other.cells.size != cells.size:
                continue
            both = (other.cells.reshape(-1), cells.reshape(-1))
            differ = np.flatnonzero(
                (both[0] != both[1]) & (both[0] != NO_TERM) & (both[1] != NO_TERM)
            )
            if differ.size:
                at = int(differ[0])
                first, second = (self.terms.show(int(c[at])) for c in both)
                place = ", ".join(map(str, np.unravel_index(at, other.shape)))
                raise error(
                    f"two goals contradict each other: `{node.target}[{place}]` is to be {first}"
                    f" and {second}", node.span, None, Note("the other goal", other.span),
                )  # fmt: skip
