"""The way in which lanes reach their elements, beside the places that they have, counted out."""

from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import F32, Type
from hbc.ir.vectors.reached import Reach, reached

LANES = 8


def at(factor: int, start: int) -> ir.Expr:
    """`factor * i + k + start`."""
    moved = mul(ir.const_index(factor), ir.Var("i"))
    return add(add(moved, ir.Var("k")), ir.const_index(start))


def expected(factor: int, start: int) -> Reach:
    places = [factor * lane + 3 + start for lane in range(LANES)]
    if len(set(places)) == 1:
        return Reach.BROADCAST
    if sorted(places) == list(range(min(places), min(places) + LANES)):
        return Reach.CONTIGUOUS
    # A few vectors hold all of them, or each lane needs one of its own.
    vectors = {(p - min(places)) // LANES for p in places}
    return Reach.STRIDED if 2 * len(vectors) <= LANES else Reach.LANES


@given(st.integers(-40, 40), st.integers(0, 9), st.integers(-40, 40), st.booleans())
def test_places_that_are_counted_out(load: int, start: int, store: int, outside: bool) -> None:
    """Copies of a statement without vectors say only that some of it is scalar."""
    value = ir.Load("x", at(load, start), Type(F32))
    body = ir.Store("y", at(store, 0), value)
    loop = ir.For("i", ir.const_index(0), ir.const_index(LANES), ir.LoopKind.VECTOR, body)
    scalar = ir.For("i", ir.const_index(0), ir.Var("N"), ir.LoopKind.SERIAL, body)
    both = ir.Block((loop, scalar)) if outside else loop
    whole = ir.For("k", ir.const_index(0), ir.Var("N"), ir.LoopKind.SERIAL, both)
    (statement,) = reached(Kernel("test", (), (), (), (), whole))
    assert statement.along == (("i", LANES),) and statement.rest is outside
    ways = {a.text: a.reach for a in statement.accesses}
    assert ways == {"x": expected(load, start), "y": expected(store, 0)}
