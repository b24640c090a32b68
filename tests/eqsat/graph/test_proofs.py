"""Index rules for all sizes and strides, by z3; and that what the rules are given satisfies them."""

from __future__ import annotations

import re
from itertools import product

import pytest

from hbc.eqsat.graph.encode import Encoding, encode, windows
from hbc.eqsat.tensors.tensor import Dim, Read
from hbc.ir.lang.nodes import Var, const_index
from hbc.ir.lang.types import DTYPES, INDEX, U8, DType

z3 = pytest.importorskip("z3")

d, r, t, extent_d, extent_r, m, n, g, base = z3.Ints("d r t D R m n g base")
SECONDS = 20


def proved(claim: object, *given: object) -> bool:
    """Whether the claim follows, for all values."""
    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    solver.add(*given, z3.Not(claim))
    return bool(solver.check() == z3.unsat)


STEPS = (m >= 1, n >= 1, g >= 1)
INSIDE = (d >= 0, d < extent_d, r >= 0, r < extent_r)
LENGTH = m * (extent_d - 1) + n * (extent_r - 1) + 1


def test_the_image_lies_where_it_lay() -> None:
    """Strides s = m g and q = n g: along t = m d + n r in steps of g, the address is the same."""
    assert proved(base + (m * g) * d + (n * g) * r == base + g * t, t == m * d + n * r)


def test_equal_strides_may_be_symbolic() -> None:
    s = z3.Int("s")
    assert proved(base + s * d + s * r == base + s * t, t == d + r)


def test_every_term_of_the_sum_has_a_place() -> None:
    """t is inside of the window, and the band has the filter's r there."""
    rows = (m * d <= m * (extent_d - 1), n * r <= n * (extent_r - 1))
    assert all(proved(row, *STEPS, *INSIDE) for row in rows)
    assert proved(z3.And(m * d + n * r >= 0, m * d + n * r < LENGTH), *STEPS, *INSIDE, *rows)


def test_no_term_comes_twice() -> None:
    """At (d, t) the band has one r at most, and at (d, r) there is one t."""
    other = z3.Int("other")
    there = (n * r == t - m * d, n * other == t - m * d)
    assert proved(r == other, n >= 1, *there)


def test_what_is_read_lies_between_what_was_read() -> None:
    """The first and the last t are (0, 0) and (D - 1, R - 1); no address lies outside of theirs."""
    assert proved(z3.And(g * t >= 0, g * t <= g * (LENGTH - 1)), g >= 1, t >= 0, t < LENGTH)


STRIDES = [(s, q) for s in range(1, 9) for q in range(1, 9)]


@pytest.mark.parametrize(("s", "q"), STRIDES)
def test_windows_are_such(s: int, q: int) -> None:
    """The facts that the rule is given: s = m g, q = n g, and the window's extent."""
    image_d, image_r = Dim("d0", 5), Dim("r0", 3, True)
    of = Encoding()
    strides = ((image_d, const_index(s)), (image_r, const_index(q)))
    encode(Read("A", U8, const_index(0), strides), of)
    (fact,) = windows((image_d,), of)
    bits = [int(x) for x in re.findall(r"\d+", fact)]
    found_d, found_r, found_t, found_s, found_q, m_, n_ = bits
    assert (found_s, found_q) == (s, q)
    assert (of.of_mask(found_d), of.of_mask(found_r)) == ((image_d,), (image_r,))
    assert s * n_ == q * m_ and s % m_ == 0 and s // m_ == q // n_
    (window,) = of.of_mask(found_t)
    assert window.extent == m_ * (image_d.extent - 1) + n_ * (image_r.extent - 1) + 1


def test_unequal_symbolic_strides_make_no_window() -> None:
    image_d, image_r = Dim("d0", 5), Dim("r0", 3, True)
    of = Encoding()
    strides = ((image_d, Var("A_stride0", INDEX)), (image_r, Var("A_stride1", INDEX)))
    encode(Read("A", U8, const_index(0), strides), of)
    assert windows((image_d,), of) == []


def test_a_condition_slides() -> None:
    """base + step r < end for any d at t = r + m d, where steps go up; where they go down it would
    hold for too few."""
    step, end = z3.Ints("step end")
    holds, slid = base + step * r < end, base + step * t < end + step * (m * (extent_d - 1))
    along = (d >= 0, d < extent_d, m >= 1, t == r + m * d, m * d <= m * (extent_d - 1), holds)
    up = step * (m * d) <= step * (m * (extent_d - 1))
    assert proved(up, step >= 1, d >= 0, d < extent_d, m >= 1, m * d <= m * (extent_d - 1))
    assert proved(slid, step >= 1, up, *along)
    assert not proved(slid, step == -1, m == 1, *along)


def test_a_condition_slides_with_taps_apart() -> None:
    """base + r < end for any d at t = m d + n r: no t that is wanted is left out, and the last t left in is
    that of the last d and the last such r."""
    end, last, far = z3.Ints("end last far")
    slid = n * base + t < n * end + far - (n - 1)
    ends = (far == m * (extent_d - 1), n >= 1, m >= 1)
    wanted = (d >= 0, m * d <= far, base + r < end, n * (base + r) <= n * (end - 1))
    assert proved(slid, *ends, *wanted, t == m * d + n * r)
    assert proved(t <= far + n * last, *ends, slid, base + last == end - 1)
    assert not proved(n * base + t < n * end + far - n, *ends, *wanted, t == m * d + n * r)


def test_a_condition_reaches_as_far_as_its_last_point() -> None:
    """base + step d < end at some d of t = m d + n r: no t that is wanted is left out; and where it holds at
    the first d, with a step or m of 1, no address is beyond the last one of those."""
    step, end, far = z3.Ints("step end far")
    last = m * (end - 1) + step * (n * (extent_r - 1))
    reached = m * base + step * t < last + 1
    scaled = (m * (base + step * d) <= m * (end - 1), step * (n * r) <= step * (n * (extent_r - 1)))
    inside = (d >= 0, d < extent_d, r >= 0, r < extent_r, m >= 1, n >= 1, step >= 1)
    assert proved(scaled[0], *inside, base + step * d < end)
    assert proved(scaled[1], *inside, n * r <= n * (extent_r - 1))
    assert proved(
        reached, *inside, *scaled, t == m * d + n * r, step * t == step * m * d + step * n * r
    )
    # `far` is the last d where it holds; with its last r it has the last address.
    live = (
        far >= 0,
        base + step * far < end,
        m >= 1,
        n >= 1,
        extent_r >= 1,
        n * (extent_r - 1) >= 0,
    )
    beyond = t > m * far + n * (extent_r - 1)
    for given in (
        (step == 1, base + far + 1 == end),
        (m == 1, step >= 1, base + step * (far + 1) >= end),
    ):
        assert not_both(reached, beyond, *live, *given)


def not_both(first: object, second: object, *given: object) -> bool:
    return proved(z3.Not(z3.And(first, second)), *given)


NARROW, WIDE = ("i8", "u8"), ("i16", "u16", "i8", "u8")


def bits(name: str, t_: DType, width: int) -> object:
    """A value of the type, extended to more bits."""
    x = z3.BitVec(name, t_.bits)
    extend = z3.SignExt if t_.limits[0] < 0 else z3.ZeroExt
    return extend(width - t_.bits, x)


@pytest.mark.parametrize(("a", "b", "wide"), list(product(NARROW, NARROW, WIDE)))
def test_products_that_fit_are_widened_before(a: str, b: str, wide: str) -> None:
    """The bounds of the rule `product-widened-before` say exactly when it holds for all values: a and
    b become `wide`, are multiplied there, and the product becomes 32 bits."""
    first, second, middle = DTYPES[a], DTYPES[b], DTYPES[wide]
    corners = [x * y for x in first.limits for y in second.limits]
    fits = middle.limits[0] <= min(corners) and max(corners) <= middle.limits[1]
    if not all(middle.limits[0] <= x <= middle.limits[1] for x in (*first.limits, *second.limits)):
        return  # the rule asks for exact casts
    x, y = bits("x", first, 32), bits("y", second, 32)
    product_ = z3.Extract(middle.bits - 1, 0, x * y)
    extend = z3.SignExt if middle.limits[0] < 0 else z3.ZeroExt
    assert proved(extend(32 - middle.bits, product_) == x * y) == fits
