"""Why no instruction does a statement: the nearest one, the condition that fails, and what to change.

The instructions add up products of two arrays. The statement is looked at from the outside in, along
that form, and the first thing that is otherwise is what is said. Types are compared last, with each
instruction; the nearest is the one that agrees in most of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import assert_never

from hbc.eqsat.graph.encode import exact
from hbc.eqsat.graph.lowering import Signature, selectable, signature
from hbc.eqsat.tensors.tensor import (
    Apply,
    Band,
    Dim,
    Line,
    Masked,
    NotTensorError,
    Read,
    Reduce,
    Tensor,
    Uniform,
    parts,
    reads,
    strides_along,
)
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import DTYPES, I64, TILES, DType
from hbc.ir.lang.walk import nodes

FUNCTIONS_OF_FACTORS = frozenset({str(ir.MathOp.TF32)})
NO_SHAPE = "its loops do not make rows, columns and a sum"
APART = "keep the sums in `store_in(registers)`, and vectorize only one of their loops"
"""What works for every sum that no tile instruction does."""
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


@record
class Miss:
    """`nearest` is the name of an instruction, "" where there is none to compare with. `condition`
    says what is otherwise, with its values; `edit` what to write instead. `is_condition`: it is about
    what follows `where`."""

    nearest: str
    condition: str
    edit: str
    is_condition: bool = False


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
    if total is None and isinstance(value, Apply) and _subtracts(value):
        return Miss(name, *SUBTRACTED)
    if total is None:
        return Miss(
            name, "no vectorized loop is summed over",
            "vectorize a reduction loop too: `atomic().vectorize(k)`",
        )  # fmt: skip
    if total.op is not ir.Op.ADD:
        return Miss(
            name, f"the reduction is `{total.op}`, and instructions add",
            APART if _tiles(usable) else "it stays vector code",
        )  # fmt: skip
    found = [_product(term, total.element, total.dims) for term in _terms(total.value)]
    misses = [x for x in found if isinstance(x, _Unlike)]
    if misses and len(misses) == len(found):
        return Miss(name, misses[0].condition, misses[0].edit)
    types = [x for x in found if not isinstance(x, _Unlike)]
    miss = _types((total.element.name, *types[0]), usable, others)
    if len(types) > 1 and miss.condition == NO_SHAPE and _differs(total.value):
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
    name = _by_types(s.value.type.element, used, usable)
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


def sums_varying(value: Tensor) -> bool:
    """Whether it sums what differs from term to term."""
    return any(not strides_along(r.value).isdisjoint(r.dims) for r in sums(value))


def nearest(value: Tensor, usable: Sequence[Instruction]) -> str:
    """The name of the instruction for the types that are added up."""
    total = next(sums(value), value)
    return _by_types(total.element, [r.element for r in reads(total)], usable)


def _by_types(total: DType, used: Sequence[DType], usable: Sequence[Instruction]) -> str:
    """The instruction that adds to the type `total`, and takes most of the types `used`, each once,
    in their order if there is a choice."""
    names = [t.name for t in used]

    def shared(i: Instruction) -> tuple[bool, int, bool]:
        result, *factors = signature(i)
        common = (Counter(factors) & Counter(names)).total()
        return result == total.name, common, [n for n in names if n in factors][:2] == factors

    return max(usable, key=shared).name if usable else ""


@record
class _Unlike:
    """A term that is no product of two arrays."""

    condition: str
    edit: str


def sums(x: Tensor) -> Iterator[Reduce]:
    """The reductions, the outermost first."""
    if isinstance(x, Reduce):
        yield x
    for p in parts(x):
        yield from sums(p)


def _terms(x: Tensor) -> Iterator[Tensor]:
    """What is added: through sums and further reductions."""
    match x:
        case Reduce(op=ir.Op.ADD, value=value) | Masked(value=value):
            yield from _terms(value)
        case Apply(node=ir.Binary(op=ir.Op.ADD | ir.Op.SUB), args=(a, b)):
            yield from (t for t in (*_terms(a), *_terms(b)) if strides_along(t))
        case _:
            yield x


def _product(term: Tensor, total: DType, summed: Collection[Dim]) -> tuple[str, str] | _Unlike:
    """The types of the two arrays that a term multiplies, or what they are rounded to. `summed` are the
    dimensions that are summed over."""
    inner = _without_masks(term)
    if isinstance(inner, Apply) and isinstance(inner.node, ir.Cast):
        below = _without_masks(inner.args[0])
        if isinstance(below, Apply) and _is_product(below):
            return _narrow(below, total)
    if not (isinstance(inner, Apply) and _is_product(inner)):
        return _Unlike(f"what is added is {_described(inner)}, and no product", _as_product(inner))
    factors = [f for f in _factors(inner) if strides_along(f)]
    if len(factors) > 2:
        alike = [f for f in factors if strides_along(f).isdisjoint(summed)]
        named = [f"`{r.buffer}`" for f in alike for r in reads(f)]
        if named and len(factors) - len(alike) <= 2:
            return _Unlike(
                f"its products are multiplied by {' and '.join(named)} too, which is the same along the sum",
                "multiply the sums by it, where they are used",
            )
    if len(factors) != 2:
        count = _COUNTS.get(len(factors), f"{len(factors)} arrays")
        return _Unlike(
            f"a product of {count}, and instructions multiply two",
            "multiply two of them in a Func of their own, where the products fit the type of an operand"
            if len(factors) > 2 else "write both factors as arrays",
        )  # fmt: skip
    if len(factors) < sum(1 for _ in _factors(inner)):
        return _Unlike(
            "its products are multiplied by a number too",
            "multiply the sums by it, where they are used",
        )
    leaves = [_leaf(f) for f in factors]
    if any(isinstance(leaf, Uniform | Line) for leaf in leaves):
        return _Unlike(
            "a factor is a number that depends on a condition or position, and no array",
            AS_OPERAND,
        )
    for leaf in leaves:
        if isinstance(leaf, Apply) and not _rounding(leaf) and not isinstance(leaf.node, ir.Cast):
            return _Unlike(
                f"a factor is {_described(leaf)} of type {leaf.element}, and no array",
                _without_operator(leaf),
            )
    a, b = (_rounding(leaf) or leaf.element.name for leaf in leaves)
    return a, b


def _as_product(x: Tensor) -> str:
    """What to write instead of a term that is no product."""
    if isinstance(_leaf(x), Read):
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


def _rounding(x: Tensor) -> str:
    """The name of the function where a factor is an array that instructions round by themselves."""
    match x:
        case Apply(node=ir.Call(name=name), args=(Read(),)) if str(name) in FUNCTIONS_OF_FACTORS:
            return str(name)
        case _:
            return ""


def _narrow(product: Apply, total: DType) -> _Unlike:
    """A product of another type than the sum: one that is widened after it has lost bits, mostly."""
    t = product.element
    what = "rounded to" if t.is_float else "reduced to"
    lost = f"the product is {what} {t} before it is added"
    a, b = (_written(f) for f in product.args)
    return _Unlike(
        lost if t.bits < total.bits else f"the product is taken in {t}, and converted to {total}",
        f"widen the factors, not the product: `{total}({a}) * {total}({b})`",
    )


def _types(
    found: Signature, instructions: Sequence[Instruction], others: Sequence[Instruction]
) -> Miss:
    """The instruction whose types agree best, and where they do not."""
    total, a, b = found
    shown = f"{a} by {b} into {total}"
    if not instructions:
        return Miss("", f"it multiplies {shown}", "choose a target with such instructions")
    for i in instructions:
        rounding = {str(f) for n in i.factors if (f := i.operands[n].function) is not None}
        if rounding and (i.operands[i.accumulator].element.name, *_elements(i)) == found:
            name = rounding.pop()
            return Miss(
                i.name, f"it multiplies {shown}, and `{i.name}` rounds both to {name}",
                f"write `{name}(..) * {name}(..)` where that is precise enough",
            )  # fmt: skip
    best = max(instructions, key=lambda i: _agreement(found, signature(i)))
    wanted = signature(best)
    if _agreement(found, wanted)[0] == len(found):
        return Miss(
            best.name, NO_SHAPE,
            "vectorize a loop along which each operand moves alone, and the reduction",
        )  # fmt: skip
    takes = f"{wanted[1]} by {wanted[2]} into {wanted[0]}"
    condition = f"it multiplies {shown}, and `{best.name}` {takes}"
    if wanted[0] != total and {wanted[1], wanted[2]} == {a, b}:
        return Miss(best.name, condition, f"add up in {wanted[0]}, and convert the result")
    elsewhere = [i for i in others if i.place.memory in TILES and selectable(i)]
    for i in elsewhere:
        if _tiles(instructions) and _agreement(found, signature(i))[0] == len(found):
            return Miss(
                best.name, condition,
                f"`store_in({i.place.memory})`: its `{i.name}` multiplies {shown}",
            )  # fmt: skip
    narrow = dict.fromkeys(t for t in wanted[1:] if t not in (a, b)) or {wanted[1]: None}
    casts = " and ".join(f"`{total}({t}(..))`" for t in narrow)
    convert = f"convert the operands where their values allow it: {casts}"
    return Miss(best.name, condition, f"{convert}; or {APART}" if _tiles(instructions) else convert)


def _tiles(instructions: Sequence[Instruction]) -> bool:
    """Whether their sums are in tile memory, which holds nothing else."""
    return any(i.place.memory in TILES for i in instructions)


def _elements(i: Instruction) -> list[str]:
    return [i.operands[n].element.name for n in i.factors]


def _agreement(found: Signature, wanted: Signature) -> tuple[int, int, int]:
    """How many of the types are the same, with the factors in the better order; how many are alike but
    for the sign; and how many are the same in this order."""
    total, a, b = wanted
    here = (found[1] == a) + (found[2] == b)
    swapped = (found[1] == b) + (found[2] == a)
    alike = sum(map(_is_alike, found, wanted))
    return (found[0] == total) + max(here, swapped), alike, here


def _is_alike(a: str, b: str) -> bool:
    """Whether two types are as wide as each other, and both integers or not. (What rounds is no type.)"""
    x, y = DTYPES.get(a), DTYPES.get(b)
    return bool(x and y and x.bits == y.bits and x.is_float == y.is_float)


def _without_masks(x: Tensor) -> Tensor:
    while isinstance(x, Masked):
        x = x.value
    return x


def _is_product(x: Apply) -> bool:
    return isinstance(x.node, ir.Binary) and x.node.op is ir.Op.MUL


def _subtracts(x: Apply) -> bool:
    return isinstance(x.node, ir.Binary) and x.node.op is ir.Op.SUB


def _differs(x: Tensor) -> bool:
    """Whether one of the `_terms` is subtracted."""
    match x:
        case Reduce(value=value) | Masked(value=value):
            return _differs(value)
        case Apply(node=ir.Binary(op=ir.Op.ADD | ir.Op.SUB), args=(a, b)):
            return _subtracts(x) or _differs(a) or _differs(b)
        case _:
            return False


def _factors(x: Tensor) -> Iterator[Tensor]:
    inner = _without_masks(x)
    if isinstance(inner, Apply) and _is_product(inner):
        for a in inner.args:
            yield from _factors(a)
    else:
        yield x


def _leaf(x: Tensor) -> Tensor:
    """The factor before it was widened."""
    x = _without_masks(x)
    while isinstance(x, Apply) and isinstance(x.node, ir.Cast):
        below = _without_masks(x.args[0])
        if not exact(below.element, x.element):
            break
        x = below
    return x


def _described(x: Tensor) -> str:
    match x:
        case Apply(node=node):
            return f"`{_operator(node)}`"
        case Read(buffer=buffer):
            return f"`{buffer}`"
        case Uniform() | Line() | Masked() | Reduce() | Band():
            return "a number"
        case _:
            assert_never(x)


def _written(x: Tensor) -> str:
    inner = _leaf(x)
    return f"{inner.buffer}[..]" if isinstance(inner, Read) else ".."


def _operator(node: ir.Cast | ir.Binary | ir.Unary | ir.Select | ir.Call) -> str:
    match node:
        case ir.Cast(type=t):
            return f"{t.element}(..)"
        case ir.Binary(op=op):
            return str(op)
        case ir.Unary(op=unary):
            return str(unary)
        case ir.Call(name=name):
            return f"{name}(..)"
        case ir.Select():
            return "select(..)"
        case _:
            assert_never(node)
