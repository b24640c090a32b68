"""The sets of gathers that need no definition, with the options they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hbc.ir.moves.gather import Gather, Shape
from hbc.ir.moves.sketch import Option
from hbc.synth.sets import conditions, layouts
from hbc.synth.sets.gather_set import GatherSet, of_rows
from hbc.synth.sets.layouts import Mismatch
from hbc.synth.sets.xforms import Axes, rots, xforms

REQUIRED = object()


class Options:
    """The options given, with defaults, and the bytes that a set may take; asking for one in the wrong form
    is the user's mistake."""

    def __init__(self, values: Mapping[str, Option], room: int) -> None:
        self.values = values
        self.room = room

    def number(self, name: str) -> int:
        value = self.values[name]
        if not isinstance(value, int):
            raise Mismatch(f"option `{name}` is an integer, not `{value}`")
        return value

    def axis(self, name: str, shape: Shape) -> int:
        value = self.number(name)
        if not 0 <= value < len(shape):
            raise Mismatch(
                f"option `{name}` is {value}: of {list(shape)} it is one of 0 .. {len(shape) - 1}"
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
    return xforms(source, wanted, axes, level == 3, inner, options.room)


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
