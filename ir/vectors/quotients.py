"""Integer quotients and remainders of vectors, for which no processor has an instruction, as arithmetic.

    x / 9      of u16                         ->   mulhi(x, 58255) >> 3
    x / 9      of u16 that are at most 2299   ->   mulhi(x, 7282)
    x / -7     of i16                         ->   a quotient of naturals, its sign turned in and out
    x / y      of at most 16 bits             ->   floor(f32(x) / f32(y));  of 32 bits in f64

By constants: T. Granlund and P. Montgomery, "Division by invariant integers using multiplication", PLDI
1994, and H. Warren, "Hacker's Delight", chapter 10. With m = ceil(2^p / d) and e = m * d - 2^p, the quotient
of x by d is x * m >> p for all x from 0 to n where n * e < 2^p.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, cast, const, mul, sub
from hbc.ir.lang.types import F32, F64, I16, I32, I64, U16, U32
from hbc.ir.lang.walk import nodes_of

_SIGNED = {16: I16, 32: I32}
_UNSIGNED = {16: U16, 32: U32}
# Instructions of x86, where they are not one.
_COSTS = {(ir.Op.MULHI, 32): 4, (ir.Op.MUL, 32): 2, (ir.Op.AVG, 16): 4, (ir.Op.AVG, 32): 4}


@record
class Naturals:
    """Unsigned lanes from 0 to `most`."""

    x: ir.Expr
    most: int


def quotient(x: ir.Expr, d: int, low: int, high: int) -> ir.Expr:
    """`x / d`, rounded down, of a name for integers of 16 or 32 bits from `low` to `high`; d is not 0
    nor a power of two."""
    return min(_ways(x, d, low, high), key=_cost)


def remainder(x: ir.Expr, d: int, low: int, high: int) -> ir.Expr:
    """`x % d`, with the sign of d."""
    if low >= 0 and high < d:
        return x
    return sub(x, mul(quotient(x, d, low, high), const(d, x.type)))


def _ways(x: ir.Expr, d: int, low: int, high: int) -> Iterator[ir.Expr]:
    t, bits = x.type.element, x.type.element.bits
    signed, unsigned = _SIGNED[bits], _UNSIGNED[bits]
    if d > 0 and low >= 0:
        yield from (cast(t, way) for way in _of_naturals(Naturals(cast(unsigned, x), high), d))
        return
    bias = -(low // d) * d
    if d > 0 and high + bias < 1 << bits:
        moved = Naturals(cast(unsigned, add(x, bias)), high + bias)
        yield from (sub(cast(t, way), bias // d) for way in _of_naturals(moved, d))
    # ~(~z / d) is z / d: negative numbers as their complements. For a negative divisor, z is x - 1 and the
    # quotient ~(z / -d): the least integer has no negation.
    z, sign = x, x
    if d < 0:
        z = sub(x, 1)
        sign = binary(ir.Op.OR, x, z)
    sign = binary(ir.Op.SHR, cast(signed, sign), bits - 1)
    size = Naturals(cast(unsigned, binary(ir.Op.XOR, z, sign)), max(high, ~low) + (d < 0))
    turned = ir.Unary(ir.UnaryOp.NOT, sign) if d < 0 else sign
    yield from (binary(ir.Op.XOR, cast(t, way), turned) for way in _of_naturals(size, abs(d)))


def _of_naturals(n: Naturals, d: int) -> Iterator[ir.Expr]:
    """`x / d` in several ways. The last is there for all d: a factor of one bit more than a lane has."""
    bits = n.x.type.element.bits
    limit, zeros = 1 << bits, (d & -d).bit_length() - 1
    if d > n.most:
        yield const(0, n.x.type)
    if d == 1 << zeros:
        yield binary(ir.Op.SHR, n.x, zeros)
        return
    exact = [p for p in range(2 * bits) if n.most * (_factor(d, p) * d - (1 << p)) < 1 << p]
    for p in [p for p in exact if _factor(d, p) * n.most < limit][:1]:
        yield binary(ir.Op.SHR, binary(ir.Op.MUL, n.x, _factor(d, p)), p)
    for p in [p for p in exact if p >= bits and _factor(d, p) < limit][:1]:
        yield binary(ir.Op.SHR, binary(ir.Op.MULHI, n.x, _factor(d, p)), p - bits)
    if zeros:
        yield from _of_naturals(
            Naturals(binary(ir.Op.SHR, n.x, zeros), n.most >> zeros), d >> zeros
        )
    p = bits + (d - 1).bit_length()
    high = binary(ir.Op.MULHI, n.x, _factor(d, p) - limit)
    yield binary(ir.Op.SHR, binary(ir.Op.AVG, n.x, high), p - bits - 1)


def _factor(d: int, p: int) -> int:
    """ceil(2^p / d)."""
    return -(-(1 << p) // d)


def _cost(e: ir.Expr) -> int:
    return sum(_COSTS.get((n.op, n.type.element.bits), 1) for n in nodes_of(e, ir.Binary))


def by_floats(op: ir.Op, x: ir.Expr, y: ir.Expr) -> ir.Expr:
    """`x / y` or `x % y` of names (or of what all lanes share) for integers of 16 or 32 bits.

    A float of more than twice as many bits as |x| has: where x / y is no integer, it is at least 1 / |y| away
    from one, further than the quotient is rounded. One divisor for all lanes is turned into its reciprocal
    r, and half of |r| added, which no error of x * r outweighs. Adding 1.5 * 2^23 (2^52 in f64) leaves an
    integer in the low bits, and so do infinities and NaN, of a division by 0: there they are 0.
    """
    t = x.type.element
    wide, held, rounder = (F32, I32, 1.5 * 2**23) if t.bits == 16 else (F64, I64, 1.5 * 2**52)
    a, b = cast(wide, x), cast(wide, y)
    if isinstance(b, ir.Broadcast):
        one = const(1, b.value.type)
        r = binary(ir.Op.DIV, one, b.value)
        half = mul(ir.Unary(ir.UnaryOp.ABS, r), 0.5)
        near = add(mul(a, ir.Broadcast(r, b.lanes)), ir.Broadcast(half, b.lanes))
    else:
        near = binary(ir.Op.DIV, a, b)
    whole: ir.Expr = ir.Call(ir.MathOp.FLOOR, (near,), near.type)
    if op is ir.Op.MOD:
        whole = sub(a, mul(whole, b))
    bits = ir.Call(ir.MathOp.REINTERPRET, (add(whole, rounder),), held(x.type.lanes))
    return cast(t, bits)
