"""Why no instruction does a statement: the nearest one, the condition that fails, and what to change.

The instructions add up products of two arrays. The statement is looked at from the outside in, along
that form, and the first thing that is otherwise is what is said. Types are compared last, with each
instruction; the nearest is the one that agrees in most of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    Tensor,
    Uniform,
    reads,
    strides_along,
)
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import I64, DType
from hbc.ir.lang.walk import nodes

AS_OPERAND = (
    "where its values fit the type of an operand, give it a Func of that type, `compute_at` the loop "
    "around the products"
)
BY_ONES = "multiply it by an array of ones: a Func of the type of an operand, with `compute_root()`"
ALONE = "it is one element at a time, and no vector"
REPEATED = "its sums are equal along a vectorized loop, along which no factor moves"
VECTORIZE = (
    "vectorize rows, columns and the reduction: `vectorize` both loops of the sums, in the update with "
    "`atomic().vectorize(k)` for the reduction too"
)
_COUNTS = {0: "no array", 1: "one array", 3: "three arrays"}
SUBTRACTED = (
    "it subtracts, and instructions add",
    "add up the products, and subtract the sums where they are used",
)


def near_miss(
    value: Tensor, instructions: Sequence[Instruction], others: Sequence[Instruction] = ()
) -> Miss:
    """What keeps the instructions from a statement with this value. `others` are on other memories of
    the target."""
    usable = [i for i in instructions if selectable(i)]
    total = next(sums(value), None)
    name = nearest(value, usable)
    if total is None and isinstance(value, Apply) and subtracts(value):
        return Miss(name, *SUBTRACTED)
    if total is None:
        return Miss(
            name, "no vectorized loop is summed over",
            "vectorize a reduction loop of several steps too: `atomic().vectorize(k)`",
        )  # fmt: skip
    if total.op is not ir.Op.ADD:
        return Miss(
            name, f"the reduction is `{total.op}`, and instructions add",
            APART if has_tiles(usable) else "it stays vector code",
        )  # fmt: skip
    products = [_product(term, total.element, total.dims) for term in terms(total.value)]
    misses = [x for x in products if isinstance(x, Miss)]
    if misses and len(misses) == len(products):
        return replace(misses[0], nearest=name)
    types = [x for x in products if not isinstance(x, Miss)]
    miss = by_nearest_types((total.element.name, *types[0]), usable, others)
    if len(types) > 1 and miss.condition == NO_SHAPE and differs(total.value):
        return Miss(miss.nearest, *SUBTRACTED)
    if len(types) > 1 and miss.condition == NO_SHAPE:
        return Miss(
            miss.nearest, f"it adds {len(types)} products at once, and instructions one by one",
            "write an update for each of them",
        )  # fmt: skip
    return miss


def not_a_tensor(why: NotTensorError, s: ir.Store, instructions: Sequence[Instruction]) -> Miss:
    """The same for a statement whose lanes have no strides."""
    usable = [i for i in instructions if selectable(i)]
    used = [
        n.type.element for n in nodes(s.value) if isinstance(n, ir.Load) and n.buffer != s.buffer
    ]
    name = by_types(s.value.type.element, used, usable)
    if s.value.type.lanes == 1:
        return Miss(name, ALONE, VECTORIZE)
    total = next((n for n in nodes(why.part) if isinstance(n, ir.VectorReduce)), None)
    if total is not None and any(_multiplies(n) for n in nodes(total)):
        return Miss(name, REPEATED, APART)
    if total is not None:
        return Miss(name, "what is added is an array, and no product", BY_ONES)
    return without_strides(why, name)


def without_strides(why: NotTensorError, name: str) -> Miss:
    """The same for an operand whose place has none. `name`: of the nearest instruction."""
    index = why.part.index if isinstance(why.part, ir.Load) else why.part
    through = [n.buffer for n in nodes(index) if isinstance(n, ir.Load)]
    if through:
        return Miss(
            name, f"an operand is indexed through `{through[0]}`",
            "give what is read a Func of its own, `compute_at` the loop around the products: it is then "
            "gathered once",
        )  # fmt: skip
    by = next((d for n in nodes(index) if (d := _divisor(n)) > 1), 0)
    if by:
        return Miss(
            name, f"an operand is interleaved by {by}, and its vectors are not whole groups of {by}",
            f"split and vectorize the loop along which it is by a multiple of {by}, which begins at one",
        )  # fmt: skip
    return Miss(
        name, why.reason,
        "read it through a Func of its own (at edges `p[y, x] = mirror(I)[y, x]`), with "
        "`p.compute_root()` or `compute_at` the loop around the products: it is then gathered once",
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
    inner = without_masks(term)
    if isinstance(inner, Apply) and isinstance(inner.node, ir.Cast):
        below = without_masks(inner.args[0])
        if isinstance(below, Apply) and is_product(below):
            return _narrow(below, total)
    if not (isinstance(inner, Apply) and is_product(inner)):
        return Miss("", f"what is added is {described(inner)}, and no product", _as_product(inner))
    factors = [f for f in factors_of(inner) if strides_along(f)]
    if len(factors) > 2:
        alike = [f for f in factors if strides_along(f).isdisjoint(summed)]
        named = [f"`{r.buffer}`" for f in alike for r in reads(f)]
        if named and len(factors) - len(alike) <= 2:
            return Miss(
                "",
                f"its products are multiplied by {' and '.join(named)} too, which is the same along the sum",
                "multiply the sums by it, where they are used",
            )
    if len(factors) != 2:
        count = _COUNTS.get(len(factors), f"{len(factors)} arrays")
        return Miss(
            "",
            f"a product of {count}, and instructions multiply two",
            "multiply two of them in a Func of their own, where the products fit the type of an operand"
            if len(factors) > 2 else "write both factors as arrays",
        )  # fmt: skip
    if len(factors) < sum(1 for _ in factors_of(inner)):
        return Miss(
            "",
            "its products are multiplied by a number too",
            "multiply the sums by it, where they are used",
        )
    leaves = [leaf_of(f) for f in factors]
    if any(isinstance(leaf, Uniform | Line) for leaf in leaves):
        return Miss(
            "",
            "a factor is a number that depends on a condition or position, and no array",
            AS_OPERAND,
        )
    for leaf in leaves:
        if isinstance(leaf, Apply) and not rounding(leaf) and not isinstance(leaf.node, ir.Cast):
            return Miss(
                "",
                f"a factor is {described(leaf)} of type {leaf.element}, and no array",
                _without_operator(leaf),
            )
    a, b = (rounding(leaf) or leaf.element.name for leaf in leaves)
    return a, b


def _as_product(x: Tensor) -> str:
    """What to write instead of a term that is no product."""
    if isinstance(leaf_of(x), Read):
        return BY_ONES
    return "add up products of two arrays"


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


def _narrow(product: Apply, total: DType) -> Miss:
    """A product of another type than the sum: one that is widened after it has lost bits, mostly."""
    t = product.element
    what = "rounded to" if t.is_float else "reduced to"
    lost = f"the product is {what} {t} before it is added"
    a, b = (written(f) for f in product.args)
    return Miss(
        "",
        lost if t.bits < total.bits else f"the product is taken in {t}, and converted to {total}",
        f"widen the factors, not the product: `{total}({a}) * {total}({b})`",
    )
