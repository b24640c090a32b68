"""Proof by execution: a statement and what was chosen for it, run side by side in the interpreter.

The numbers are such that every order and rounding of sums gives the same: integers of the whole range,
which wrap, and floats that are small integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING

from hbc.eqsat.choice import Choice, Statement
from hbc.eqsat.perform import accumulated, output_points, perform, stored
from hbc.eqsat.placement import Frames
from hbc.eqsat.points import address, value, whole_box
from hbc.eqsat.tensor import Read, strides_along
from hbc.ir.build import and_
from hbc.ir.diag import InternalError
from hbc.ir.kernel import Argument, Kernel
from hbc.ir.nodes import (
    Allocate,
    Binary,
    Broadcast,
    Cast,
    Const,
    Expr,
    Load,
    Node,
    Op,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.show import show
from hbc.ir.types import INDEX, DType, Memory
from hbc.ir.vector_masks import conjuncts
from hbc.ir.walk import (
    block,
    contains,
    free_variables,
    map_children,
    map_stmt,
    nodes,
    substitute_stmt,
)

if TYPE_CHECKING:
    import numpy as np

TRIES = 8
MOST_ELEMENTS = 1 << 22
Touched = Callable[[Mapping[str, int]], Iterator[tuple[str, "np.ndarray"]]]
"""Buffers, and the elements at given values of the variables."""
_BEFORE, _AFTER = "before", ("after the statement", "after its choice")


class CheckError(InternalError):
    """What was chosen computes something else than the statement."""


def check(s: Store, one: Statement, choice: Choice) -> bool:
    """Whether the statement could be run, and then its choice does the same. Raises CheckError."""
    if any(contains(n.index, Load) for n in nodes(s) if isinstance(n, Store | Load)):
        s, one, choice = _at_places(s, one, choice)
    made = 0

    def fresh(base: str) -> str:
        nonlocal made
        made += 1
        return f"{base}#{made}"

    frames = Frames(fresh)
    with frames.inside(s) as frame:
        slices = list(output_points(choice.plan))
        some = slices if len(slices) < 3 else [slices[0], slices[-1]]  # all are alike but the last
        chosen = perform(choice, one, fresh, frames.packed, some)
        chosen = substitute_stmt(frames.filled(frame, chosen), frames.places)
    random = Random(7)
    touched = _touched(s, one)
    for _ in range(TRIES):
        values = _values(s, random)
        extents = _extents(touched, values)
        if extents is not None:
            break
    else:
        return False
    wanted = [accumulated(choice.plan, at) for at in some]
    places = [(address(one.dest, at), stored(one, at)) for at in wanted]
    _compare(s, one, chosen, choice, values, extents, places)
    return True


def _at_places(s: Store, one: Statement, choice: Choice) -> tuple[Store, Statement, Choice]:
    """The same with variables for what data says of places: then it is known how far these go."""
    names: dict[Expr, Var] = {}

    def place(e: Expr) -> Expr:
        if e.type == INDEX and isinstance(e, Cast | Load) and contains(e, Load):
            return names.setdefault(e, Var(f"place {len(names)}"))
        return map_children(e, place)

    at = map_stmt(s, place, lambda inner: inner)
    assert isinstance(at, Store)
    return at, one.mapped(lambda e, _: place(e)), choice.mapped(lambda e, _: place(e))


def _values(s: Store, random: Random) -> dict[str, int]:
    """Values for the variables: strides long, so that rows do not overlap, all others short."""
    strides = {v for n in nodes(s) if isinstance(n, Ramp) for v in free_variables(n.stride)}
    return {
        v: random.randrange(1500, 2500) if v in strides else random.randrange(6)
        for v in sorted(free_variables(s))
    }


def _touched(s: Store, one: Statement) -> Touched:
    """What the statement touches, wherever the conditions of a mask hold that read data, or on which
    otherwise no bounds of arrays depend (`i % 3 == 0`)."""
    from hbc.ir.interp import lanes_of

    # All of the destination, which may be written where the mask does not hold.
    places: list[tuple[str, Expr, Expr | None]] = [(s.buffer, s.index, None)]
    for n in nodes(s):
        if isinstance(n, Load):
            places.append((n.buffer, n.index, None if n.mask is None else _bounding(n.mask)))
    for buffer, index, _ in _zeros(one):
        places.append((buffer, index, None))
    for x in one.local:
        assert isinstance(x, Read)
        places.append((x.buffer, address(x, whole_box(tuple(strides_along(x)))), None))
    here = list(dict.fromkeys(places))
    masks = [mask for *_, mask in here if mask is not None]
    lanes = lanes_of([*(index for _, index, _ in here), *masks])

    def touched(values: Mapping[str, int]) -> Iterator[tuple[str, np.ndarray]]:
        found = lanes(values)
        there = dict(zip(masks, found[len(here) :], strict=True))
        for (buffer, _, mask), at in zip(here, found, strict=False):
            yield buffer, at[there[mask]] if mask in there else at

    return touched


def _bounding(mask: Expr) -> Expr | None:
    """The conditions of a mask that compare indices made of variables, sums and products."""
    found = [c for c in conjuncts(mask) if all(map(_is_linear, nodes(c)))]
    return and_(*found) if found else None


def _is_linear(n: Node) -> bool:
    match n:
        case Binary(op=op):
            return op in (Op.ADD, Op.SUB, Op.MUL, Op.EQ, Op.LT, Op.LE, Op.GT, Op.GE)
        case _:
            return isinstance(n, Var | Const | Ramp | Broadcast)


def _extents(touched: Touched, values: Mapping[str, int]) -> dict[str, int] | None:
    """How long each array must be for the statement; None where it goes before the begin of one, or
    where nothing of one is touched."""
    extents: dict[str, int] = {}
    for buffer, at in touched(values):
        if at.size == 0:
            return None
        if int(at.min()) < 0 or int(at.max()) >= MOST_ELEMENTS:
            return None
        extents[buffer] = max(extents.get(buffer, 1), int(at.max()) + 1)
    return extents


def _zeros(one: Statement) -> Iterator[tuple[str, Expr, Expr]]:
    """Elements of arrays, and where they are known to be 0: where this does not hold."""
    for c, x in one.zeros:
        assert isinstance(x, Read)
        at = whole_box(tuple(strides_along(c) | strides_along(x)))
        yield x.buffer, address(x, at), value(c, at)


def _compare(
    s: Store,
    one: Statement,
    chosen: Stmt,
    choice: Choice,
    values: dict[str, int],
    extents: dict[str, int],
    places: list[tuple[Expr, Expr | None]],
) -> None:
    """Runs both and compares what they store at the places, each an index and a mask."""
    import numpy as np

    from hbc.ir.interp import InterpError, evaluate

    random = Random(7)  # NumPy's takes longer to import than to use
    elements = {n.buffer: n.type.element for n in nodes(s) if isinstance(n, Load)}
    elements[s.buffer] = s.value.type.element
    inputs = {b: _numbers(t, extents[b], random) for b, t in elements.items()}
    for buffer, index, there in _zeros(one):
        outside = evaluate(index, values, {})[~evaluate(there, values, inputs)]
        inputs[buffer][outside] = 0
    name = choice.plan.instruction.name
    try:
        results = _run(s, chosen, choice, values, inputs, elements)
    except InterpError as failure:
        raise CheckError(f"select: with `{name}`, {failure}: {show(s)[:400]}") from failure
    everywhere = not (one.mask or one.dead)  # also where the store's mask does not hold
    live = _places(s.index, None if everywhere else s.mask, values, inputs)
    at = np.concatenate([_places(*place, values, inputs) for place in places])
    at = at[np.isin(at, live)]
    want, got = (r[at] for r in results)
    if not np.array_equal(want, got, equal_nan=want.dtype.kind == "f"):
        raise CheckError(f"select: `{name}` does not do what it was chosen for: {show(s)[:400]}")


def _places(
    index: Expr, mask: Expr | None, values: Mapping[str, int], inputs: Mapping[str, np.ndarray]
) -> np.ndarray:
    """The elements of an index, where the mask holds."""
    from hbc.ir.interp import evaluate

    at = evaluate(index, values, {})
    return at if mask is None else at[evaluate(mask, values, inputs)]


def _run(
    s: Store,
    chosen: Stmt,
    choice: Choice,
    values: dict[str, int],
    inputs: dict[str, np.ndarray],
    elements: dict[str, DType],
) -> list[np.ndarray]:
    """What the destination holds after either, from its values before."""
    from hbc.ir.interp import run

    n = inputs[s.buffer].size
    everything: Expr = Ramp(const_index(0), const_index(1), n) if n > 1 else const_index(0)
    t = elements[s.buffer](n)
    both = block(
        *(
            Allocate(
                s.buffer, t.element, const_index(n), Memory.HEAP,
                block(
                    Store(s.buffer, everything, Load(_BEFORE, everything, t)),
                    body,
                    Store(after, everything, Load(s.buffer, everything, t)),
                ),
            )
            for body, after in zip((s, chosen), _AFTER, strict=True)
        )
    )  # fmt: skip
    arrays = {b: x for b, x in inputs.items() if b != s.buffer}
    arrays[_BEFORE] = inputs[s.buffer]
    arrays |= {after: inputs[s.buffer].copy() for after in _AFTER}
    arguments = tuple(
        Argument(b, elements.get(b, t.element), (const_index(x.size),), output=b in _AFTER)
        for b, x in arrays.items()
    )
    # Constants: an array's own strides would take the place of variables of their names.
    fixed = substitute_stmt(both, {v: const_index(n) for v, n in values.items()})
    kernel = Kernel("check", (), arguments, (), (), fixed, (choice.plan.instruction,))
    run(kernel, {}, arrays)
    return [arrays[after] for after in _AFTER]


def _numbers(t: DType, n: int, random: Random) -> np.ndarray:
    import numpy as np

    from hbc.ir.numpy_types import numpy_dtype

    dtype = np.dtype(numpy_dtype(t))
    if t.is_float or dtype == np.bool_:
        bits = np.frombuffer(random.randbytes(n), np.int8)
        return (bits % 7 - 3 if t.is_float else bits & 1).astype(dtype)
    return np.frombuffer(random.randbytes(n * dtype.itemsize), dtype).copy()
