"""Why no instruction does a statement: the nearest one, the condition that fails, and what to change.

The instructions add up products of two arrays. The statement is looked at from the outside in, along
that form, and the first thing that is otherwise is what is said: the first row of a table whose test
holds. Types are compared last, with each instruction; the nearest is the one that agrees in most of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from hbc.eqsat.choosing.miss import APART, NO_SHAPE, Miss
from hbc.eqsat.choosing.nearest import by_nearest_types, by_types, has_tiles, nearest
from hbc.eqsat.choosing.terms import (
    described,
    differs,
    factors_of,
    is_product,
    leaf_of,
    rounding,
    subtracts,
    sums,
    terms,
    without_masks,
    written,
)
from hbc.eqsat.graph.lowering import selectable
from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Line,
    NotTensorError,
    Read,
    Reduce,
    Tensor,
    Uniform,
    reads,
    strides_along,
)
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import I64, DType
from hbc.ir.lang.walk import nodes, nodes_of

AS_OPERAND = (
    "where its values fit the type of an operand, give it a Func of that type, `compute_at` the loop "
    "around the products"
)
BY_ONES = "multiply it by an array of ones: a Func of the type of an operand, with `compute_root()`"
SCALE_SUMS = "multiply the sums by it, where they are used"
_COUNTS = {0: "no array", 1: "one array", 3: "three arrays"}
SUBTRACTED = (
    "it subtracts, and instructions add",
    "add up the products, and subtract the sums where they are used",
)
NO_SUM = (
    "no vectorized loop is summed over",
    "vectorize a reduction loop of several steps too: `atomic().vectorize(k)`",
)

Row = tuple[bool, str, str]
"""Whether it is so, the condition that is then said, the edit. A table is made to the first that holds."""


def _first(name: str, rows: Iterable[Row]) -> Miss | None:
    """What the first row says whose test holds. `name`: of the nearest instruction."""
    return next((Miss(name, condition, edit) for holds, condition, edit in rows if holds), None)


def near_miss(
    value: Tensor, instructions: Sequence[Instruction], others: Sequence[Instruction] = ()
) -> Miss:
    """What keeps the instructions from a statement with this value. `others` are on other memories of
    the target."""
    usable = [i for i in instructions if selectable(i)]
    name = nearest(value, usable)
    total = next(sums(value), None)
    miss = _first(name, _of_value(value, total, usable))
    if miss is not None or total is None:
        return miss or Miss(name, *NO_SUM)
    products = [_product(term, total.element, total.dims) for term in terms(total.value)]
    misses = [x for x in products if isinstance(x, Miss)]
    if misses and len(misses) == len(products):
        return replace(misses[0], nearest=name)
    types = [x for x in products if not isinstance(x, Miss)]
    miss = by_nearest_types((total.element.name, *types[0]), usable, others)
    if miss.condition != NO_SHAPE:
        return miss
    return _first(miss.nearest, _of_products(total.value, len(types))) or miss


def _of_value(value: Tensor, total: Reduce | None, usable: Sequence[Instruction]) -> Iterator[Row]:
    if total is None:
        yield isinstance(value, Apply) and subtracts(value), *SUBTRACTED
        return
    yield (
        total.op is not ir.Op.ADD, f"the reduction is `{total.op}`, and instructions add",
        APART if has_tiles(usable) else "it stays vector code",
    )  # fmt: skip


def _of_products(summed: Tensor, count: int) -> Iterator[Row]:
    """Of several products at once, in a shape that no instruction has."""
    yield count > 1 and differs(summed), *SUBTRACTED
    yield (
        count > 1, f"it adds {count} products at once, and instructions one by one",
        "write an update for each of them",
    )  # fmt: skip


def not_a_tensor(why: NotTensorError, s: ir.Store, instructions: Sequence[Instruction]) -> Miss:
    """The same for a statement whose lanes have no strides."""
    usable = [i for i in instructions if selectable(i)]
    used = [n.type.element for n in nodes_of(s.value, ir.Load) if n.buffer != s.buffer]
    name = by_types(s.value.type.element, used, usable)
    return _first(name, _of_lanes(why.part, s.value.type.lanes)) or without_strides(why, name)


def _of_lanes(part: ir.Expr, lanes: int) -> Iterator[Row]:
    yield (
        lanes == 1, "it is one element at a time, and no vector",
        "vectorize rows, columns and the reduction: `vectorize` both loops of the sums, in the update with "
        "`atomic().vectorize(k)` for the reduction too",
    )  # fmt: skip
    total = next((n for n in nodes_of(part, ir.VectorReduce)), None)
    yield (
        total is not None and any(_multiplies(n) for n in nodes(total)),
        "its sums are equal along a vectorized loop, along which no factor moves", APART,
    )  # fmt: skip
    yield total is not None, "what is added is an array, and no product", BY_ONES


def without_strides(why: NotTensorError, name: str) -> Miss:
    """The same for an operand whose place has none. `name`: of the nearest instruction."""
    index = why.part.index if isinstance(why.part, ir.Load) else why.part
    return _first(name, _of_index(index)) or Miss(
        name, why.reason,
        "read it through a Func of its own (at edges `p[y, x] = mirror(I)[y, x]`), with "
        "`p.compute_root()` or `compute_at` the loop around the products: it is then gathered once",
    )  # fmt: skip


def _of_index(index: ir.Expr) -> Iterator[Row]:
    through = next((n.buffer for n in nodes_of(index, ir.Load)), "")
    yield (
        through != "", f"an operand is indexed through `{through}`",
        "give what is read a Func of its own, `compute_at` the loop around the products: it is then "
        "gathered once",
    )  # fmt: skip
    by = next((d for n in nodes(index) if (d := _divisor(n)) > 1), 0)
    yield (
        by > 0, f"an operand is interleaved by {by}, and its vectors are not whole groups of {by}",
        f"split and vectorize the loop along which it is by a multiple of {by}, which begins at one",
    )  # fmt: skip


def _divisor(n: ir.Node) -> int:
    """The number that places are divided by, 0 where there is none."""
    if not isinstance(n, ir.Binary) or n.op not in (ir.Op.DIV, ir.Op.MOD) or n.type.element != I64:
        return 0
    by = n.b.value if isinstance(n.b, ir.Broadcast) else n.b
    return int(by.value) if isinstance(by, ir.Const) else 0


def _multiplies(n: ir.Node) -> bool:
    """Whether it multiplies values, not places."""
    return isinstance(n, ir.Binary) and n.op is ir.Op.MUL and n.type.element != I64


def _product(term: Tensor, total: DType, summed: Collection[Dim]) -> tuple[str, str] | Miss:
    """The types of the two arrays that a term multiplies, or what they are rounded to. `summed` are the
    dimensions that are summed over."""
    miss = _first("", _of_term(without_masks(term), total, summed))
    if miss is not None:
        return miss
    a, b = (rounding(leaf) or leaf.element.name for leaf in map(leaf_of, _factors(term)))
    return a, b


def _factors(term: Tensor) -> list[Tensor]:
    """Those that are not the same everywhere."""
    return [f for f in factors_of(term) if strides_along(f)]


def _of_term(inner: Tensor, total: DType, summed: Collection[Dim]) -> Iterator[Row]:
    yield from _of_conversion(inner, total)
    yield (
        not (isinstance(inner, Apply) and is_product(inner)),
        f"what is added is {described(inner)}, and no product",
        BY_ONES if isinstance(leaf_of(inner), Read) else "add up products of two arrays",
    )
    factors = _factors(inner)
    alike = [f for f in factors if strides_along(f).isdisjoint(summed)]
    named = " and ".join(f"`{r.buffer}`" for f in alike for r in reads(f))
    yield (
        len(factors) > 2 and named != "" and len(factors) - len(alike) <= 2,
        f"its products are multiplied by {named} too, which is the same along the sum", SCALE_SUMS,
    )  # fmt: skip
    yield (
        len(factors) != 2,
        f"a product of {_COUNTS.get(len(factors), f'{len(factors)} arrays')}, and instructions multiply two",
        "multiply two of them in a Func of their own, where the products fit the type of an operand"
        if len(factors) > 2 else "write both factors as arrays",
    )  # fmt: skip
    yield (
        len(factors) < sum(1 for _ in factors_of(inner)),
        "its products are multiplied by a number too", SCALE_SUMS,
    )  # fmt: skip
    leaves = [leaf_of(f) for f in factors]
    yield (
        any(isinstance(leaf, Uniform | Line) for leaf in leaves),
        "a factor is a number that depends on a condition or position, and no array", AS_OPERAND,
    )  # fmt: skip
    for leaf in leaves:
        if isinstance(leaf, Apply):
            yield (
                not rounding(leaf) and not isinstance(leaf.node, ir.Cast),
                f"a factor is {described(leaf)} of type {leaf.element}, and no array",
                _without_operator(leaf),
            )


def _of_conversion(term: Tensor, total: DType) -> Iterator[Row]:
    """Of a product of another type than the sum: one that is widened after it has lost bits, mostly."""
    if not (isinstance(term, Apply) and isinstance(term.node, ir.Cast)):
        return
    product = without_masks(term.args[0])
    if isinstance(product, Apply) and is_product(product):
        t = product.element
        a, b = (written(f) for f in product.args)
        edit = f"widen the factors, not the product: `{total}({a}) * {total}({b})`"
        what = "rounded to" if t.is_float else "reduced to"
        yield t.bits < total.bits, f"the product is {what} {t} before it is added", edit
        yield True, f"the product is taken in {t}, and converted to {total}", edit


def _without_operator(factor: Apply) -> str:
    """What to write instead of a factor that is computed."""
    match factor.node:
        case ir.Unary(op=ir.UnaryOp.NEG):
            return (
                "add up the products without `-` in a Func of their own, and subtract its sums where "
                "they are used"
            )
        case ir.Binary(op=ir.Op.ADD | ir.Op.SUB):
            return (
                f"{AS_OPERAND}; or multiply out: a sum of products for each term, put together where "
                "they are used"
            )
        case _:
            return AS_OPERAND
