"""Where values lie in memory: from a Func or input and its coordinates to a flat buffer offset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm

from hbc.frontend.directives.swizzles import swizzle_of, whole_row
from hbc.frontend.plans.plan import FuncPlan, Split
from hbc.frontend.program.funcs import Image
from hbc.frontend.regions.regions import Box, extent_of
from hbc.ir.algebra.bounds import Interval, constant_bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, eq, floordiv, mod, mul, sub
from hbc.ir.lang.kernel import Argument, Check
from hbc.ir.lang.types import DType, Memory

# What is bounded by more than this, its type perhaps, has the size that is needed, not a constant.
MOST_STORED = 1 << 20
MOST_SYMBOLIC = 1 << 10  # what a number of elements that is not known is taken for


@record
class Storage:
    """A buffer and how coordinates map to it: offset = sum((i_d - mins[d]) [% folds[d]] * strides[d]).
    `over`: the input in whose place an output is."""

    buffer: str
    element: DType
    mins: tuple[ir.Expr, ...]
    strides: tuple[ir.Expr, ...]
    folds: tuple[int | None, ...]
    box: Box | None = None  # the values that there is room for; None of a table
    swizzle: ir.Swizzle | None = None
    over: str = ""

    def offset(self, indices: tuple[ir.Expr, ...]) -> ir.Expr:
        """The flat offset, in elements."""
        total: ir.Expr = ir.const_index(0)
        for i, low, stride, fold in zip(indices, self.mins, self.strides, self.folds, strict=True):
            at = sub(i, low)
            total = add(total, mul(at if fold is None else mod(simplify(at), fold), stride))
        return simplify(total)


def argument_storage(image: Image, argument: Argument, by_name: bool = False) -> Storage:
    """Inputs and outputs: row-major. Strides are names, save where all inner extents are constants:
    the pixels of an [H, W, 3] image lie 3 apart (see `dense_checks`); `by_name`: all but the last."""
    rank = len(image.extents)
    dims = image.dims or range(rank)
    strides = [
        ir.Var(argument.stride_name(dims[d]))
        if dense is None or (by_name and d < rank - 1)
        else ir.const_index(dense)
        for d, dense in enumerate(dense_strides(image))
    ]
    zero = ir.const_index(0)
    box = tuple(Interval(zero, simplify(sub(e, 1))) for e in image.extents)
    storage = Storage(
        image.name, image.element, (zero,) * rank, tuple(strides), (None,) * rank, box
    )
    return replace(storage, over=image.aliases) if image.aliases else storage


def dense_strides(image: Image) -> tuple[int | None, ...]:
    """Per dimension the product of the inner extents, where these are constants."""
    strides: list[int | None] = [1]
    for extent in reversed(image.extents[1:]):
        inner = strides[-1]
        strides.append(
            int(extent.value) * inner if isinstance(extent, ir.Const) and inner else None
        )
    return tuple(reversed(strides))


def dense_checks(image: Image, argument: Argument) -> list[Check]:
    """What the strided entry tests of strides that the code takes for constants."""
    return [
        Check(
            eq(ir.Var(argument.stride_name(d)), dense),
            f"stride {d} of `{image.name}` must be {dense}: its inner extents are constants",
        )
        for d, dense in enumerate(dense_strides(image)[:-1])
        if dense is not None
    ]


def table_storage(name: str, element: DType, shape: tuple[int, ...]) -> Storage:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    zero = ir.const_index(0)
    return Storage(
        name,
        element,
        (zero,) * len(shape),
        tuple(ir.const_index(s) for s in reversed(strides)),
        (None,) * len(shape),
    )


def func_storage(
    f: FuncPlan, buffer: str, box: Box, scope: Mapping[str, Interval], folds: Mapping[str, int]
) -> tuple[Storage, ir.Expr]:
    """The storage of a Func over a box, and its size in elements.

    Extents that a constant bounds become that constant, so that strides are constant too."""
    variables = f.func.variables
    order = f.storage_order or variables
    pads = {**_whole_vectors(f), **dict(f.pads)}
    strides: dict[str, ir.Expr] = {}
    size: ir.Expr = ir.const_index(1)
    row: ir.Expr = size
    for v in reversed(order):
        extent: ir.Expr
        if v in folds:
            extent = ir.const_index(folds[v])
        else:
            extent = _bounded(extent_of(box[variables.index(v)]), scope, size)
        if v in pads:
            extent = simplify(mul(floordiv(add(extent, pads[v] - 1), pads[v]), pads[v]))
        extent = whole_row(f, v, extent)
        row = extent if v == order[-1] else row
        strides[v] = size
        size = simplify(mul(size, extent))
    mins = tuple(_low(x) for x in box)
    storage = Storage(
        buffer,
        f.func.element,
        mins,
        tuple(strides[v] for v in variables),
        tuple(folds.get(v) for v in variables),
        box,
        swizzle_of(f, row),
    )
    return storage, size


def _whole_vectors(f: FuncPlan) -> dict[str, int]:
    """By variable, what its extent is a multiple of in registers: the lanes of its vector loops, so
    that an instruction may fill all of a register in the tail too."""
    multiples: dict[str, int] = {}
    for stage in f.stages if f.memory is Memory.REGISTER else ():
        vectors = {x.dim for x in stage.loops if x.kind is ir.LoopKind.VECTOR}
        for r in stage.relations:
            if isinstance(r, Split) and r.inner in vectors and len(stage.root_of(r.old)) == 1:
                (variable,) = stage.root_of(r.old)
                multiples[variable] = lcm(multiples.get(variable, 1), r.factor)
    return multiples


def _low(x: Interval) -> ir.Expr:
    if x.lo is None:
        raise ValueError("an open interval has no least value")
    return x.lo


def _bounded(extent: ir.Expr, scope: Mapping[str, Interval], inner: ir.Expr) -> ir.Expr:
    """A constant in place of an extent, where it makes no more of the `inner` elements than are stored."""
    if isinstance(extent, ir.Const):
        return extent
    _, high = constant_bounds(extent, scope)
    most = MOST_STORED // max(int(const_value(inner) or MOST_SYMBOLIC), 1)
    return extent if high is None or high > most else ir.const_index(max(high, 0))


def with_mins(storage: Storage, mins: tuple[ir.Expr, ...]) -> Storage:
    return replace(storage, mins=mins)
