"""Finds the gathers that a name stands for: built in, or defined in the sketch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import HbcError, did_you_mean, error
from hbc.ir.ground.source import Span
from hbc.ir.moves.gather import Locations, Shape
from hbc.ir.moves.index_expr import Argument, IndexExpr, Name, Scope, evaluate
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.sketch import (
    Delegate,
    Family,
    Option,
    Parameter,
    SetDefinition,
    SetReference,
    Table,
)
from hbc.synth.sets.built_in import BUILT_IN, REQUIRED, Options
from hbc.synth.sets.families import Part, family_rows, integers, too_large, united_set
from hbc.synth.sets.gather_set import GatherSet
from hbc.synth.sets.instructions import instruction_table
from hbc.synth.sets.layouts import Mismatch
from hbc.synth.sets.realizable import realizable, table_bits
from hbc.synth.sets.xforms import TooMany

DEEPEST = 50  # sets that stand for sets
REALIZABLE = "instructions"  # of={set}: of another set what the instructions of the sketch do


class Sets:
    """The sets of one sketch. `room` bounds the bytes of one of them."""

    def __init__(
        self, definitions: Mapping[str, SetDefinition], constants: Mapping[str, Option], room: int
    ) -> None:
        self.definitions = definitions
        self.constants = constants
        self.room = room
        self.tables: dict[int, InstructionTable] = {}  # by lanes
        self.realized: dict[object, GatherSet] = {}  # of `by_instructions`

    def find(
        self, reference: SetReference, inputs: Sequence[Shape], output: Shape | None, depth: int = 0
    ) -> GatherSet:
        """The gathers, equal ones once. HbcError at the reference for what does not suit."""
        name, span = reference.name, reference.span
        if depth > DEEPEST:
            raise error(f"the definition of `{name}` leads back to itself", span)
        definition = self.definitions.get(name)
        if definition is None and name == REALIZABLE:
            return self.by_instructions(reference, inputs, output, depth)
        if definition is not None:
            return self.defined(definition, reference, inputs, output, depth)
        built_in = BUILT_IN.get(name)
        if built_in is None:
            known = [*BUILT_IN, REALIZABLE, *self.definitions]
            hint = did_you_mean(name, known) or f"there are {', '.join(sorted(known))}"
            raise error(f"there is no set of gathers `{name}`", span, hint)
        options = with_defaults(reference, built_in.options, self.constants)
        if built_in.arguments and len(inputs) != built_in.arguments:
            raise error(f"`{name}` takes {built_in.arguments} array, not {len(inputs)}", span)
        try:
            made = built_in.make(inputs, output, Options(options, self.room))
        except TooMany as many:
            raise too_large(many.gathers, many.elements, many.needed, self.room, span) from None
        except Mismatch as mismatch:
            raise error(str(mismatch), span) from None
        if output is not None and made.output != output:
            raise error(
                f"`{name}` makes {list(made.output)} of {shown(inputs)}, and {list(output)} is declared",
                span,
            )
        return made

    def by_instructions(
        self, reference: SetReference, inputs: Sequence[Shape], output: Shape | None, depth: int
    ) -> GatherSet:
        """`instructions{of=set}`: the gathers of a set that take one instruction for each register."""
        of = with_defaults(reference, {"of": REQUIRED}, self.constants)["of"]
        key = (of, tuple(inputs), output)
        if key in self.realized:
            return self.realized[key]
        inner = SetReference(str(of), {}, reference.span)
        gathers = self.find(inner, inputs, output, depth + 1)
        lanes = gathers.output[-1] if gathers.output else 1
        if lanes not in self.tables:
            bits = table_bits(self.constants)
            table = instruction_table("", self.definitions, self.constants, lanes, bits)
            if not table.forms:
                raise error(
                    "no instructions are described here", reference.span,
                    'import those of a target: `import "avx512_moves.sf"`',
                )  # fmt: skip
            self.tables[lanes] = table
        if any(shape[-1:] != (lanes,) for shape in gathers.inputs):
            raise error(f"registers of {shown(gathers.inputs)} have other lanes", reference.span)
        self.realized[key] = realizable(gathers, self.tables[lanes])
        return self.realized[key]

    def defined(
        self, definition: SetDefinition, reference: SetReference, inputs: Sequence[Shape],
        output: Shape | None, depth: int,
    ) -> GatherSet:  # fmt: skip
        defaults: dict[str, object] = {
            name: REQUIRED if value is None else value for name, value in definition.options
        }
        options = with_defaults(reference, defaults, self.constants)
        names = {**self.constants, **options}
        arguments = bind_arguments(definition, inputs, names, reference.span)
        made_shape = output
        if definition.extents is not None:
            scope = Scope(integers(names))
            made_shape = tuple(int(evaluate(e, scope)) for e in definition.extents)
            if output is not None and made_shape != output:
                raise error(
                    f"`{definition.name}` makes {list(made_shape)} of {shown(inputs)}, and"
                    f" {list(output)} is declared", reference.span,
                )  # fmt: skip
        parts: list[Part] = []
        for part in definition.parts:
            match part:
                case Delegate(name, given, span):
                    passed = {key: self.passed(value, names) for key, value in given}
                    inner = SetReference(name, passed, reference.span)
                    gathers = self.find(inner, inputs, made_shape, depth + 1)
                    if len(definition.parts) == 1:
                        return gathers
                    parts.append((gathers.rows(np.arange(gathers.size)), gathers.formula))
                    made_shape = gathers.output
                case Table(rows, span):
                    parts.append(table_rows(rows, inputs, made_shape, span))
                case Family():
                    wanted = made_shape or _only_shape(inputs, reference.span)
                    parts.append(family_rows(part, integers(names), arguments, wanted, self.room))
        shape = made_shape or _only_shape(inputs, reference.span)
        return united_set(inputs, shape, parts)

    def passed(
        self, value: IndexExpr | str | tuple[IndexExpr, ...], names: Mapping[str, Option]
    ) -> Option:
        if isinstance(value, tuple):
            return tuple(self.passed(item, names) for item in value)
        if isinstance(value, str):
            return value
        if isinstance(value, Name):
            return names.get(value.name, value.name)
        return int(evaluate(value, Scope(integers(names))))


def with_defaults(
    reference: SetReference, defaults: Mapping[str, object], constants: Mapping[str, Option]
) -> dict[str, Option]:
    """The options of a reference. HbcError for unknown and for missing ones."""
    options: dict[str, Option] = {}
    for name in reference.options:
        if name not in defaults:
            listed_ = ", ".join(sorted(defaults)) or "none"
            hint = did_you_mean(name, defaults) or f"its options are: {listed_}"
            raise error(f"`{reference.name}` has no option `{name}`", reference.span, hint)
    for name, default in defaults.items():
        value = reference.options.get(name, default)
        if value is REQUIRED:
            raise error(f"`{reference.name}` needs the option `{name}`", reference.span)
        assert isinstance(value, int | str | tuple)
        options[name] = value
    return options


def bind_arguments(
    definition: SetDefinition, inputs: Sequence[Shape], names: dict[str, Option], span: Span
) -> dict[str, Argument]:
    """Where each parameter's array begins; adds the extents that it names to `names`."""
    if definition.parameters is None:
        return {}
    if len(definition.parameters) != len(inputs):
        raise error(
            f"`{definition.name}` takes {len(definition.parameters)} arrays, not {len(inputs)}",
            span,
        )
    arguments: dict[str, Argument] = {}
    start = 0
    for parameter, shape in zip(definition.parameters, inputs, strict=True):
        if parameter.extents is not None:
            _bind_extents(parameter, parameter.extents, shape, names, span)
        arguments[parameter.name] = Argument(shape, start)
        start += prod(shape)
    return arguments


def _bind_extents(
    parameter: Parameter, extents: tuple[IndexExpr, ...], shape: Shape, names: dict[str, Option],
    span: Span,
) -> None:  # fmt: skip
    if len(extents) != len(shape):
        raise error(
            f"`{parameter.name}` has {counted(len(extents), 'dimension')}, and the array {list(shape)} has"
            f" {len(shape)}", span,
        )  # fmt: skip
    for extent, actual in zip(extents, shape, strict=True):
        if isinstance(extent, Name) and extent.name not in names:
            names[extent.name] = actual
            continue
        wanted = int(evaluate(extent, Scope(integers(names))))
        if wanted != actual:
            raise error(f"an extent of `{parameter.name}` is {actual}, and must be {wanted}", span)


def table_rows(rows: Locations, inputs: Sequence[Shape], output: Shape | None, span: Span) -> Part:
    wanted = output or _only_shape(inputs, span)
    if rows.ndim != 2 or rows.shape[1] != prod(wanted):
        raise error(f"each row of this table must list {prod(wanted)} locations", span)
    count = sum(map(prod, inputs))
    if rows.max() >= count:
        raise error(f"this table names location {rows.max()}, and there are {count}", span)
    return rows, lambda row: f"row {row} of the table"


def shown(inputs: Sequence[Shape]) -> str:
    return " and ".join(str(list(shape)) for shape in inputs)


def _only_shape(inputs: Sequence[Shape], span: Span) -> Shape:
    if len(inputs) != 1:
        raise error(
            "the shape of the result must be given: name it in a statement of its own", span
        )
    return inputs[0]


def refuse_empty(gathers: GatherSet, reference: SetReference) -> HbcError | None:
    if gathers.size:
        return None
    return error(
        f"`{reference.name}` is empty here: there is nothing to choose from", reference.span
    )
