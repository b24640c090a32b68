"""Finds the gathers that a name stands for: built in, or defined in the sketch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from hbc.ir.diag import HbcError, did_you_mean, error
from hbc.ir.gather import Gather, Locations, Shape
from hbc.ir.gather_set import GatherSet, of_rows
from hbc.ir.index_expr import Argument, IndexExpr, Name, Scope, evaluate
from hbc.ir.sketch import (
    Delegate,
    Family,
    Option,
    Parameter,
    SetDefinition,
    SetReference,
    Table,
)
from hbc.ir.source import Span
from hbc.synth import conditions, layouts
from hbc.synth.families import Columns, family_rows, family_set
from hbc.synth.layouts import Mismatch
from hbc.synth.xforms import Axes, rots, xforms

REQUIRED = object()
DEEPEST = 50  # sets that stand for sets


class Options:
    """The options given, with defaults; asking for one in the wrong form is the user's mistake."""

    def __init__(self, values: Mapping[str, Option]) -> None:
        self.values = values

    def number(self, name: str) -> int:
        value = self.values[name]
        if not isinstance(value, int):
            raise Mismatch(f"option `{name}` is an integer, not `{value}`")
        return value

    def axis(self, name: str, shape: Shape) -> int:
        value = self.number(name)
        if not 0 <= value < len(shape):
            raise Mismatch(
                f"option `{name}` is {value}, and {list(shape)} has {len(shape)} dimensions"
            )
        return value

    def numbers(self, name: str) -> tuple[int, ...]:
        value = self.values[name]
        listed = value if isinstance(value, tuple) else (value,)
        numbers = tuple(v for v in listed if isinstance(v, int))
        if len(numbers) != len(listed):
            raise Mismatch(f"option `{name}` is a list of integers")
        return numbers

    def one_of(self, name: str, *words: Option) -> Option:
        value = self.values[name]
        if value not in words:
            raise Mismatch(f"option `{name}` is one of {', '.join(map(str, words))}, not `{value}`")
        return value


Maker = Callable[[Sequence[Shape], Shape | None, Options], GatherSet]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """`arguments` is how many arrays it takes (0: any), `options` their defaults, `many` whether it
    is a set to choose from."""

    make: Maker
    arguments: int
    options: Mapping[str, object]
    many: bool


def _one(gather: Gather, name: str) -> GatherSet:
    return of_rows(gather.inputs, gather.output, gather.index[None], lambda _: name)


def _xforms(inputs: Sequence[Shape], output: Shape | None, options: Options) -> GatherSet:
    (source,) = inputs
    wanted = source if output is None else output
    axes = Axes(*(options.axis(name, wanted) for name in ("main", "second", "out")))
    if axes.main == axes.second:
        raise Mismatch("options `main` and `second` name the same dimension")
    _same_but(source, wanted, axes.out)
    level = options.one_of("level", 1, 2, 3)
    inner = options.one_of("wrap", "inner", "outer") == "inner"
    return xforms(source, wanted, axes, level == 3, inner)


def _rots(inputs: Sequence[Shape], output: Shape | None, options: Options) -> GatherSet:
    (source,) = inputs
    wanted = source if output is None else output
    main = options.axis("main", wanted)
    _same_but(source, wanted, main)
    if wanted[main] > source[main]:
        raise Mismatch(f"`rots` cannot make {list(wanted)} of {list(source)}")
    level = options.one_of("level", 1, 2, 3)
    return rots(source, wanted, main, level == 3)


def _consts(options: Options, extent: int) -> tuple[int, ...]:
    """Level 1 and `none`: 0 alone; else those given, or 0, 1, -1, n, -n."""
    if options.one_of("level", 1, 2, 3) == 1 or options.values["consts"] == "none":
        return (0,)
    if options.values["consts"] == "default":
        return (0, 1, -1, extent, -extent)
    return options.numbers("consts")


def _select(inputs: Sequence[Shape], output: Shape | None, options: Options) -> GatherSet:
    (source,) = inputs
    if output is None:
        raise Mismatch("the shape must be given: name it in a statement of its own")
    axis = options.number("axis") % max(len(source), 1)
    _same_but(source, output, axis)
    dims = tuple(range(len(output))) if options.values["dims"] == "all" else options.numbers("dims")
    if not dims or any(not 0 <= d < len(output) for d in dims):
        raise Mismatch(f"option `dims` names dimensions of {list(output)}")
    return conditions.select(source, output, axis, dims, _consts(options, output[0]))


def _cond_keep(inputs: Sequence[Shape], output: Shape | None, options: Options) -> GatherSet:
    (source,) = inputs
    if output not in (None, source):
        raise Mismatch(f"`cond_keep` keeps the shape: {list(source)} is not {list(output or ())}")
    only = None
    dims = tuple(range(len(source)))
    if options.values["restrict"] != "none":
        restrict = options.numbers("restrict")
        if len(restrict) != 2 or not 0 <= restrict[0] < len(source):
            raise Mismatch("option `restrict` is [dimension, index]")
        only = (restrict[0], restrict[1])
        dims = tuple(d for d in dims if d != restrict[0])
    return conditions.keep(source, dims, _consts(options, source[0]), only)


def _same_but(source: Shape, output: Shape, axis: int) -> None:
    alike = len(source) == len(output) and all(
        source[d] == output[d] for d in range(len(source)) if d != axis
    )
    if not alike:
        raise Mismatch(f"{list(source)} and {list(output)} may differ in dimension {axis} only")


LEVEL = {"level": 3}
BUILT_IN: dict[str, BuiltIn] = {
    "reshape": BuiltIn(lambda i, o, _: _one(layouts.reshape(i[0], o), "reshape"), 1, {}, False),
    "transpose": BuiltIn(lambda i, o, _: _one(layouts.transpose(i[0]), "transpose"), 1, {}, False),
    "rot_idx": BuiltIn(
        lambda i, o, x: _one(layouts.rot_idx(i[0], x.number("by")), "rot_idx"), 1, {"by": 1}, False
    ),
    "stack": BuiltIn(lambda i, o, _: _one(layouts.stack(i), "stack"), 0, {}, False),
    "concat": BuiltIn(lambda i, o, _: _one(layouts.concatenate(i), "concat"), 0, {}, False),
    "broadcast": BuiltIn(
        lambda i, o, x: _one(layouts.broadcast(i[0], o, x.number("group")), "broadcast"),
        1, {"group": 0}, False,
    ),
    "load_rep": BuiltIn(lambda i, o, _: _one(layouts.load_rep(i[0], o), "load_rep"), 1, {}, False),
    "load_trunc": BuiltIn(
        lambda i, o, _: _one(layouts.load_trunc(i[0], o), "load_trunc"), 1, {}, False
    ),
    "load_grid_2d": BuiltIn(
        lambda i, o, _: _one(layouts.load_grid_2d(i[0], o), "load_grid_2d"), 1, {}, False
    ),
    "xforms": BuiltIn(
        _xforms, 1,
        {"main": REQUIRED, "second": REQUIRED, "out": REQUIRED, "wrap": "inner", **LEVEL}, True,
    ),
    "rots": BuiltIn(_rots, 1, {"main": REQUIRED, **LEVEL}, True),
    "general_select": BuiltIn(
        _select, 1, {"axis": REQUIRED, "dims": "all", "consts": "default", **LEVEL}, True
    ),
    "reg_select": BuiltIn(
        _select, 1, {"axis": -1, "dims": "all", "consts": "default", **LEVEL}, True
    ),
    "cond_keep": BuiltIn(
        _cond_keep, 1, {"restrict": "none", "consts": "default", **LEVEL}, True
    ),
}  # fmt: skip


class Sets:
    """The sets of one sketch. `room` bounds the bytes of one of them."""

    def __init__(
        self, definitions: Mapping[str, SetDefinition], constants: Mapping[str, Option], room: int
    ) -> None:
        self.definitions = definitions
        self.constants = constants
        self.room = room

    def find(
        self, reference: SetReference, inputs: Sequence[Shape], output: Shape | None, depth: int = 0
    ) -> GatherSet:
        """The gathers, equal ones once. HbcError at the reference for what does not suit."""
        name, span = reference.name, reference.span
        if depth > DEEPEST:
            raise error(f"the definition of `{name}` leads back to itself", span)
        definition = self.definitions.get(name)
        if definition is not None:
            return self.defined(definition, reference, inputs, output, depth)
        built_in = BUILT_IN.get(name)
        if built_in is None:
            known = [*BUILT_IN, *self.definitions]
            hint = did_you_mean(name, known) or f"there are {', '.join(sorted(known))}"
            raise error(f"there is no set of gathers `{name}`", span, hint)
        options = with_defaults(reference, built_in.options, self.constants)
        if built_in.arguments and len(inputs) != built_in.arguments:
            raise error(f"`{name}` takes {built_in.arguments} array, not {len(inputs)}", span)
        try:
            made = built_in.make(inputs, output, Options(options))
        except Mismatch as mismatch:
            raise error(str(mismatch), span) from None
        if output is not None and made.output != output:
            raise error(
                f"`{name}` makes {list(made.output)} of {shown(inputs)}, and {list(output)} is declared",
                span,
            )
        return made

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
        parts: list[tuple[Locations, Columns, str]] = []
        for part in definition.parts:
            match part:
                case Delegate(name, given, span):
                    passed = {key: self.passed(value, names) for key, value in given}
                    inner = SetReference(name, passed, reference.span)
                    found = self.find(inner, inputs, made_shape, depth + 1)
                    if len(definition.parts) == 1:
                        return found
                    parts.append(listed(found))
                    made_shape = found.output
                case Table(rows, span):
                    parts.append(table_rows(rows, inputs, made_shape, span))
                case Family():
                    wanted = made_shape or _only_shape(inputs, reference.span)
                    rows, columns = family_rows(part, integers(names), arguments, wanted, self.room)
                    parts.append((rows, columns, part.text))
        shape = made_shape or _only_shape(inputs, reference.span)
        return family_set(inputs, shape, parts)

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
    found: dict[str, Option] = {}
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
        found[name] = value
    return found


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
            f"`{parameter.name}` has {len(extents)} dimensions, and the array {list(shape)} has"
            f" {len(shape)}", span,
        )  # fmt: skip
    for extent, actual in zip(extents, shape, strict=True):
        if isinstance(extent, Name) and extent.name not in names:
            names[extent.name] = actual
            continue
        wanted = int(evaluate(extent, Scope(integers(names))))
        if wanted != actual:
            raise error(f"an extent of `{parameter.name}` is {actual}, and must be {wanted}", span)


def table_rows(
    rows: Locations, inputs: Sequence[Shape], output: Shape | None, span: Span
) -> tuple[Locations, Columns, str]:
    wanted = output or _only_shape(inputs, span)
    if rows.ndim != 2 or rows.shape[1] != prod(wanted):
        raise error(f"each row of this table must list {prod(wanted)} locations", span)
    count = sum(map(prod, inputs))
    if rows.max() >= count:
        raise error(f"this table names location {rows.max()}, and there are {count}", span)
    return rows, {"row": np.arange(len(rows))}, "table"


def listed(found: GatherSet) -> tuple[Locations, Columns, str]:
    """A set as plain rows, to be joined with others."""
    rows = found.rows(np.arange(found.size))
    return rows, {"number": np.arange(found.size)}, "gather"


def integers(names: Mapping[str, Option]) -> dict[str, int]:
    return {name: value for name, value in names.items() if isinstance(value, int)}


def shown(inputs: Sequence[Shape]) -> str:
    return " and ".join(str(list(shape)) for shape in inputs)


def _only_shape(inputs: Sequence[Shape], span: Span) -> Shape:
    if len(inputs) != 1:
        raise error(
            "the shape of the result must be given: name it in a statement of its own", span
        )
    return inputs[0]


def refuse_empty(found: GatherSet, reference: SetReference) -> HbcError | None:
    if found.size:
        return None
    return error(
        f"`{reference.name}` is empty here: there is nothing to choose from", reference.span
    )
