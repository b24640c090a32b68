"""Mathematical functions of f32 vectors, written out as arithmetic that every vector target has.

Scalars, f64, sin and cos keep their calls, which go to the C library lane by lane. Errors are below
2 ulp over the whole range. Method: range reduction to a small interval around 0, a polynomial
there (minimax, after Cody and Waite 1980 and Moshier's Cephes), and the exponent put back through
the bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from hbc.ir.build import (
    add,
    binary,
    cast,
    const,
    ge,
    lt,
    maximum,
    minimum,
    mul,
    ne,
    neg,
    select,
    sub,
)
from hbc.ir.kernel import Kernel
from hbc.ir.nodes import Call, Expr, Let, MathOp, Op, Unary, UnaryOp, Var
from hbc.ir.types import F32, I32, Type
from hbc.ir.walk import rewrite, rewrite_stmt


def expand_math(kernel: Kernel) -> Kernel:
    """The kernel with calls on f32 vectors expanded, where there is an expansion."""
    count = [0]

    def expand(e: Expr) -> Expr:
        if not isinstance(e, Call) or e.type.lanes == 1 or e.type.element != F32:
            return e
        expansion = EXPANSIONS.get(e.name)
        if expansion is None:
            return e
        count[0] += 1
        return expansion(e.args[0], f"m{count[0]}")

    return kernel.map_body(lambda s: rewrite_stmt(s, lambda e: rewrite(e, expand)))


def _exp(x: Expr, name: str) -> Expr:
    """exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2. Beyond the range: 0 or infinity."""
    t = x.type
    held, n, r, half = (Var(f"{name}{s}", t) for s in ("x", "n", "r", "h"))
    whole = Var(f"{name}i", I32(t.lanes))
    reduced = sub(sub(held, mul(n, 0.693359375)), mul(n, -2.12194440e-4))
    tail = _polynomial(
        r, (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
            5.0000001201e-1),
    )  # fmt: skip
    series = add(add(mul(mul(r, r), tail), r), 1.0)
    first = binary(Op.SHR, whole, const(1, whole.type))
    # 2^n in two factors, so that neither overflows where the product is finite or denormal.
    scaled = mul(mul(series, half), _power(sub(whole, first)))
    body: Expr = Let(half.name, _power(first), scaled)
    body = Let(whole.name, cast(I32, n), body)
    body = Let(r.name, reduced, body)
    body = Let(n.name, Call(MathOp.ROUND, (mul(held, 1.4426950408889634),), t), body)
    return Let(held.name, maximum(minimum(x, 89.0), -104.0), body)


def _log(x: Expr, name: str) -> Expr:
    """log(x) = e ln 2 + log(m), m in [sqrt(1/2), sqrt(2)); denormals scaled up first."""
    t = x.type
    ints = I32(t.lanes)
    given, scaled, m, e, f = (Var(f"{name}{s}", t) for s in ("x", "s", "m", "e", "f"))
    bits, small = Var(f"{name}b", ints), lt(given, 2.0**-126)
    exponent = sub(binary(Op.SHR, bits, const(23, ints)), 126)
    low = binary(Op.OR, binary(Op.AND, bits, const(0x7FFFFF, ints)), const(0x3F000000, ints))
    below = lt(m, math.sqrt(0.5))
    series = mul(
        _polynomial(
            f, (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                3.3333331174e-1),
        ), mul(f, mul(f, f)),
    )  # fmt: skip
    correction = sub(add(series, mul(e, -2.12194440e-4)), mul(0.5, mul(f, f)))
    value = add(add(f, correction), mul(e, 0.693359375))
    value = select(lt(given, 0.0), const(math.nan, t), value)
    value = select(binary(Op.EQ, given, const(0.0, t)), const(-math.inf, t), value)
    keep = ge(given, const(math.inf, t))
    value = select(binary(Op.OR, keep, ne(given, given)), given, value)
    body: Expr = Let(f.name, sub(select(below, add(m, m), m), 1.0), value)
    shifted = sub(sub(cast(F32, exponent), select(small, const(23.0, t), const(0.0, t))),
                  select(below, const(1.0, t), const(0.0, t)))  # fmt: skip
    body = Let(e.name, shifted, body)
    body = Let(m.name, _bits(low, t), body)
    body = Let(bits.name, Call(MathOp.REINTERPRET, (scaled,), ints), body)
    body = Let(scaled.name, select(small, mul(given, 2.0**23), given), body)
    return Let(given.name, x, body)


def _tanh(x: Expr, name: str) -> Expr:
    """An odd polynomial below 0.625, 1 - 2 / (exp(2 |x|) + 1) above."""
    t = x.type
    given, size, square, power = (Var(f"{name}{s}", t) for s in ("x", "a", "q", "p"))
    series = _polynomial(
        square, (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
                 -3.33332819422e-1),
    )  # fmt: skip
    near = add(mul(mul(series, square), given), given)
    far = sub(const(1.0, t), binary(Op.DIV, const(2.0, t), add(power, 1.0)))
    signed = select(lt(given, 0.0), neg(far), far)
    value = select(lt(size, 0.625), near, signed)
    value = select(ne(given, given), given, value)
    body: Expr = Let(power.name, _exp(add(size, size), f"{name}e"), value)
    body = Let(square.name, mul(given, given), body)
    body = Let(size.name, Unary(UnaryOp.ABS, given), body)
    return Let(given.name, x, body)


def _rsqrt(x: Expr, name: str) -> Expr:
    """1 / sqrt(x), both correctly rounded."""
    root = Call(MathOp.SQRT, (x,), x.type)
    return binary(Op.DIV, const(1.0, x.type), root)


def _polynomial(x: Expr, coefficients: tuple[float, ...]) -> Expr:
    """Horner's scheme, the highest power first."""
    value: Expr = const(coefficients[0], x.type)
    for c in coefficients[1:]:
        value = add(mul(value, x), const(c, x.type))
    return value


def _power(n: Expr) -> Expr:
    """2^n as f32, -127 < n < 128."""
    shifted = binary(Op.SHL, add(n, 127), const(23, n.type))
    return _bits(shifted, Type(F32, n.type.lanes))


def _bits(e: Expr, t: Type) -> Expr:
    return Call(MathOp.REINTERPRET, (e,), t)


EXPANSIONS: dict[MathOp, Callable[[Expr, str], Expr]] = {
    MathOp.EXP: _exp,
    MathOp.LOG: _log,
    MathOp.TANH: _tanh,
    MathOp.RSQRT: _rsqrt,
}

