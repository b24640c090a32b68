"""How large a statement is when it is checked: values for its variables, and how long its arrays are.

Rows lie as close together as they can without overlapping, so that little is filled and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.points import address, value, whole_box
from hbc.eqsat.tensors.tensor import Read, strides_along
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import children, free_variables, nodes, nodes_of
from hbc.ir.meaning.interp_value import Scope, number
from hbc.ir.meaning.interp_value import value as lanes
from hbc.ir.meaning.numpy_types import Array
from hbc.ir.vectors.vector_masks import conjuncts

TRIES = 8
MOST_ELEMENTS = 1 << 22
LONG = 1500, 2500
"""Of a stride on which more than places depends."""
BETWEEN = 1, 40
"""Of elements between one row and the next."""
Variables = Mapping[str, Array]
"""Their values, as the interpreter has them."""


@record
class Sizes:
    """The values of the variables, and how long each array is."""

    variables: Variables
    extents: dict[str, int]


@record
class Access:
    """Elements of an array, where a mask holds."""

    buffer: str
    index: ir.Expr
    mask: ir.Expr | None


def sizes(s: ir.Store, statement: Statement) -> Sizes | None:
    """Sizes at which the statement can be run; None where none are found. Called under
    `np.errstate(all="ignore")`."""
    random = Random(7)
    touched = list(_touched(s, statement))
    types = {n.name: n.type.element for n in nodes_of(s, ir.Var)}
    strides = {v for n in nodes_of(s, ir.Ramp) for v in free_variables(n.stride)}
    of_rows = sorted(strides - _elsewhere(s, statement), reverse=True)
    for _ in range(TRIES):
        values = {
            v: random.randrange(*LONG) if v in strides else random.randrange(6)
            for v in sorted(free_variables(s))
        }
        given = {v: number(x, types[v]) for v, x in values.items()}
        live = _live(touched, given)
        extents = None if live is None else _extents(touched, live, given)
        if live is not None and extents is not None:
            short = _with_short_rows(touched, live, given, of_rows, random)
            shorter = _extents(touched, live, short)
            return Sizes(given, extents) if shorter is None else Sizes(short, shorter)
    return None


def _elsewhere(s: ir.Store, statement: Statement) -> frozenset[str]:
    """The variables on which more than places depends."""
    conditions = [value(c, whole_box(tuple(strides_along(c)))) for c, _ in statement.zeros]
    return frozenset[str]().union(*map(_apart_from_places, (s, *conditions)))


def _apart_from_places(n: ir.Node) -> frozenset[str]:
    match n:
        case ir.Var(name=name):
            return frozenset((name,))
        case ir.Load(index=index) | ir.Store(index=index):
            below = [c for c in children(n) if c is not index]
        case _:
            below = [*children(n)]
    return frozenset[str]().union(*map(_apart_from_places, below))


def _live(touched: Sequence[Access], values: Variables) -> list[Array | None] | None:
    """Where the masks hold, which do not depend on the strides of rows; None where one holds nowhere."""
    masks: list[Array | None] = []
    for access in touched:
        mask = None if access.mask is None else lanes(access.mask, Scope(values))
        if mask is not None and not mask.any():
            return None
        masks.append(mask)
    return masks


def _with_short_rows(
    touched: Sequence[Access],
    live: Sequence[Array | None],
    values: Variables,
    strides: Sequence[str],
    random: Random,
) -> Variables:
    """The values with strides that are longer than what lies between by a few elements, each of them in
    turn."""
    given = {**values, **{v: number(0, INDEX.element) for v in strides}}
    for stride in strides:
        ends: dict[str, list[int]] = {}
        for access, mask in zip(touched, live, strict=True):
            if stride in free_variables(access.index):
                at = _elements(access, mask, given)
                ends.setdefault(access.buffer, []).extend((int(at.min()), int(at.max())))
        longest = max((max(at) - min(at) for at in ends.values()), default=0)
        given[stride] = number(longest + random.randrange(*BETWEEN), INDEX.element)
    return given


def zeros(statement: Statement) -> Iterator[tuple[str, ir.Expr, ir.Expr]]:
    """Elements of arrays, and where they are known to be 0: where this does not hold."""
    for c, x in statement.zeros:
        assert isinstance(x, Read)
        at = whole_box(tuple(strides_along(c) | strides_along(x)))
        yield x.buffer, address(x, at), value(c, at)


def _touched(s: ir.Store, statement: Statement) -> dict[Access, None]:
    """What the statement touches, wherever the conditions of a mask hold that read data, or on which
    otherwise no bounds of arrays depend (`i % 3 == 0`)."""
    # All of the destination, which may be written where the mask does not hold.
    accesses = [Access(s.buffer, s.index, None)]
    for n in nodes(s):
        if isinstance(n, ir.Load):
            mask = None if n.mask is None else _bounding(n.mask)
            accesses.append(Access(n.buffer, n.index, mask))
    for buffer, index, _ in zeros(statement):
        accesses.append(Access(buffer, index, None))
    for x in statement.local:
        assert isinstance(x, Read)
        index = address(x, whole_box(tuple(strides_along(x))))
        accesses.append(Access(x.buffer, index, None))
    return dict.fromkeys(accesses)


def _bounding(mask: ir.Expr) -> ir.Expr | None:
    """The conditions of a mask that compare indices made of variables, sums and products."""
    comparisons = [c for c in conjuncts(mask) if all(map(_is_linear, nodes(c)))]
    return and_(*comparisons) if comparisons else None


def _is_linear(n: ir.Node) -> bool:
    match n:
        case ir.Binary(op=op):
            return op in (
                ir.Op.ADD,
                ir.Op.SUB,
                ir.Op.MUL,
                ir.Op.EQ,
                ir.Op.LT,
                ir.Op.LE,
                ir.Op.GT,
                ir.Op.GE,
            )
        case _:
            return isinstance(n, ir.Var | ir.Const | ir.Ramp | ir.Broadcast)


def _elements(access: Access, mask: Array | None, values: Variables) -> Array:
    """Those that are touched at these values."""
    at = lanes(access.index, Scope(values))
    return at if mask is None else at[mask]


def _extents(
    touched: Sequence[Access], live: Sequence[Array | None], values: Variables
) -> dict[str, int] | None:
    """How long each array must be for the statement; None where it goes before the begin of one."""
    extents: dict[str, int] = {}
    for access, mask in zip(touched, live, strict=True):
        at = _elements(access, mask, values)
        low, high = int(at.min()), int(at.max())
        if low < 0 or high >= MOST_ELEMENTS:
            return None
        extents[access.buffer] = max(extents.get(access.buffer, 1), high + 1)
    return extents
