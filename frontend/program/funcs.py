"""The checked program: Funcs with typed expressions. What the oracle evaluates and `lower` compiles.

All names are resolved, all literals typed, params folded to constants, boundary helpers rewritten to
index arithmetic and aliases expanded. Expressions are IR expressions with `Access` for Funcs, inputs
and `Var` (i64) for loop variables and sizes.
"""

from __future__ import annotations

from dataclasses import field

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Packed
from hbc.ir.lang.types import DType


@record
class SizeDecl:
    """A size. `fixed` when `--set` fixed it at compile time. `element`: that of an integer scalar which
    serves as a size, since its bound says that it is not negative. `usual`: what `--set` says that most
    calls have."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)
    fixed: int | None = None
    element: DType | None = None
    usual: int | None = field(default=None, compare=False, repr=False)


def values_of(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The value of a step for each array of its Func."""
    return e.items if isinstance(e, ir.Tuple) else (e,)


@record
class Image:
    """An input or output array: element type and extents (affine in the sizes). An input without extents
    is a scalar, read as `Access(name, ())`. `constant`: an input that is the same in many calls.
    `aliases`: the input whose memory an output takes, of the same type and extents. `packed`: what the
    file says of bytes that hold integers of 4 bits; while it is checked, `element` and `extents` say it.
    `dims`: where `flatten` made one dimension of several, the one of the file whose stride each has."""

    name: str
    element: DType
    extents: tuple[ir.Expr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    constant: bool = False
    aliases: str = ""
    packed: Packed | None = None
    dims: tuple[int, ...] = ()

    @property
    def is_scalar(self) -> bool:
        return not self.extents


@record
class ReduceVar:
    """A reduction variable over start .. start + extent - 1 (affine in the sizes). Where its `ends` read data
    or variables, the condition of the update keeps it between these; start and extent, which hold for
    all of them, are known once the ranges of the Func's variables are, and it is `narrow` then."""

    name: str
    start: ir.Expr
    extent: ir.Expr
    span: Span | None = field(default=None, compare=False, repr=False)
    ends: tuple[ir.Expr, ir.Expr] | None = None
    narrow: bool = False


@record
class Update:
    """`f[indices] = value`, for every point of the pure variables in `indices` and of `reduce`
    (declared order, first outermost). `+=` and the like are already written out in `value`, which
    then is `Binary(op, Access(f, indices), term)`, and `op` says which; `op` is None for plain `=`.
    Where `condition` (bool, or None) is false nothing is stored. `leaves`: the reduction whose loop may end
    once the condition is false, since it then stays so for this point; empty for none."""

    indices: tuple[ir.Expr, ...]
    value: ir.Expr
    op: ir.Op | None
    reduce: tuple[ReduceVar, ...]
    condition: ir.Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    leaves: str = ""


@record
class Part:
    """One of the arrays that a Func of several values has."""

    name: str
    element: DType


@record
class Func:
    """A stage: its value everywhere (`pure`, over `variables`), then its updates in order.
    A table is a Func of constants: over the extents `table_shape` it has these `cells`, row-major, and
    nothing else (`pure` is no more than a value of its type).

    One of several values, from `(a[x], b[x]) = ...`, has the name and element type of the first, and
    `others`; its values are `ir.Tuple`s, all of which a step reads and computes before it stores any."""

    name: str
    element: DType
    variables: tuple[str, ...]
    pure: ir.Expr
    updates: tuple[Update, ...] = ()
    table_shape: tuple[int, ...] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    others: tuple[Part, ...] = ()
    cells: tuple[int | float | bool, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its arrays: one, but for Funcs of several values."""
        return (Part(self.name, self.element), *self.others)

    def value(self, part: str) -> ir.Expr:
        """The pure value of a part, as `Access.part` names it."""
        at = [p.name for p in self.parts].index(part or self.name)
        return values_of(self.pure)[at]


@record
class Bound:
    """A promise that the values of an input or Func lie in lo <= value < hi; checked at run time
    for inputs."""

    name: str
    lo: ir.Expr
    hi: ir.Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Requirement:
    """A condition over the sizes, tested on entry (`require T <= W`)."""

    condition: ir.Expr
    message: str
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Stage:
    """What a schedule line speaks of: a Func, its update number `update` (None: the pure step), or
    the wrapper `name.in(consumer)`."""

    name: str
    update: int | None = None
    consumer: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Directive:
    """One call of a schedule chain, such as `.split(i, io, ii, 16, tail = mask)`.

    `args` are names (str), stages (`acc`, `B.in(acc)`), integers or conditions over the sizes
    (Expr), in order; `options` are the keyword arguments. Directive names and the kinds of their
    arguments are known to be right; whether the loops exist is known to the schedule passes."""

    name: str
    args: tuple[str | int | Stage | ir.Expr, ...]
    options: tuple[tuple[str, str | int], ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    def option(self, name: str) -> str | int | None:
        return dict(self.options).get(name)


@record
class ScheduleLine:
    """A stage and the directives applied to it, left to right."""

    stage: Stage
    directives: tuple[Directive, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Schedule:
    """A named block of lines for some targets. `condition`: over the sizes that it is for.

    `choices`: instead of lines of its own, several schedules for one target, of which the first whose
    condition holds is taken at run time. The last has none. (`by_size` makes such a one and says more.)"""

    name: str
    targets: tuple[str, ...]
    lines: tuple[ScheduleLine, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    condition: ir.Expr | None = None
    choices: tuple[Schedule, ...] = ()

    @property
    def each(self) -> tuple[Schedule, ...]:
        """Those that have lines: itself, or its choices."""
        return self.choices or (self,)


@record
class Fill:
    """How an example fills an input: `random(seed[, lo, hi])`, `file("path")`, `ramp()`, `constant(v)`.
    A relative path is relative to the `.hb` file."""

    kind: str
    args: tuple[int | float | str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Example:
    """Sizes and inputs that `run`, `verify` and `bench` use unless told otherwise."""

    name: str
    sizes: tuple[tuple[str, int], ...]
    fills: tuple[tuple[str, Fill], ...]


@record
class Pipeline:
    """One `.hb` file, checked. `funcs` are in an order where callees come first. `imported`: the texts of
    the files that it imports, of those that they import, and so on. `idle`: reduction variables that nothing
    reads, along which no update runs."""

    name: str
    source: Source
    sizes: tuple[SizeDecl, ...]
    inputs: tuple[Image, ...]
    outputs: tuple[Image, ...]
    funcs: tuple[Func, ...]
    bounds: tuple[Bound, ...]
    requirements: tuple[Requirement, ...]
    schedules: tuple[Schedule, ...]
    examples: tuple[Example, ...]
    imported: tuple[Source, ...] = ()
    idle: tuple[ReduceVar, ...] = ()

    @property
    def usual(self) -> dict[str, int]:
        """The sizes that most calls have, by name: those that are set, else those of the first example."""
        example = dict(self.examples[0].sizes) if self.examples else {}
        return example | {s.name: s.usual for s in self.sizes if s.usual is not None}

    @property
    def in_place(self) -> dict[str, str]:
        """The outputs that lie where an input lay, with that input."""
        return {o.name: o.aliases for o in self.outputs if o.aliases}

    @property
    def scalar_sizes(self) -> tuple[SizeDecl, ...]:
        """The scalars that serve as sizes."""
        return tuple(s for s in self.sizes if s.element is not None)

    def func(self, name: str) -> Func:
        return next(f for f in self.funcs if f.name == name)

    @property
    def output_funcs(self) -> dict[str, Image]:
        """The Funcs that outputs are made of. Those of one Func have the same extents."""
        of = {part.name: f.name for f in self.funcs for part in f.parts}
        return {of.get(o.name, o.name): o for o in reversed(self.outputs)}
