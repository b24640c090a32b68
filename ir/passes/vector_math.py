"""exp, log, sin, cos and tanh of f32 vectors as arithmetic: range reduction and a polynomial.

The polynomials are those of Cephes (S. L. Moshier, netlib.org/cephes, single precision); errors stay
below 3 ulp, and infinities, NaN and denormals come out as libm has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import assert_never

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, cast, const, eq, lt, maximum, minimum, mul, select, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import F32, I32, DType
from hbc.ir.lang.walk import rewrite, rewrite_stmt

# Beyond this the reduction of sin and cos, with pi/2 in three parts, loses digits.
LARGEST_ANGLE = 30000.0
# Adding it rounds a float below 2^22 to an integer, which then lies in the low bits.
_ROUNDER = 12582912.0  # 1.5 * 2^23
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
        5.0000001201e-1)  # fmt: skip
_LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)  # fmt: skip
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
         -3.33332819422e-1)  # fmt: skip
_LN2 = 0.693147180559945309
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4  # few bits, so that n * high is exact
_HALF_PI = (1.57079637050628662109375, -4.37113900018624283e-8, -1.71512449e-15)
_LEAST_NORMAL = 1.17549435e-38
_ROOT_HALF = 0x3F3504F3  # the bits of sqrt(0.5)


USUAL_ALONE = frozenset({ir.MathOp.SIN, ir.MathOp.COS})
"""Functions whose expansion is for usual numbers alone (see `is_usual`): not for large angles."""


def is_expanded(name: ir.MathOp) -> bool:
    """Whether `expansion` knows the function."""
    return name in (
        ir.MathOp.EXP,
        ir.MathOp.EXP2,
        ir.MathOp.LOG,
        ir.MathOp.SIN,
        ir.MathOp.COS,
        ir.MathOp.TANH,
        ir.MathOp.TF32,
    )


def expansion(name: ir.MathOp, x: ir.Expr, scales: bool = False, usual: bool = False) -> ir.Expr:
    """The function of an f32 vector (a Var or the like: it is used many times); if for `usual` numbers, of
    those that `is_usual` says, as sin and cos always are, and where products are fused into sums. `scales`:
    the machine multiplies by powers of two."""
    match name:
        case ir.MathOp.EXP:
            return _exp(x, scales)
        case ir.MathOp.EXP2:
            return _exp2(x, scales)
        case ir.MathOp.LOG:
            return _log_of_usual(x) if usual else _log(x)
        case ir.MathOp.SIN | ir.MathOp.COS:
            return _sin(x, name is ir.MathOp.COS)
        case ir.MathOp.TANH:
            return _tanh(x, scales)
        case ir.MathOp.TF32:
            return _tf32(x)
        case (
            ir.MathOp.SQRT
            | ir.MathOp.RSQRT
            | ir.MathOp.FLOOR
            | ir.MathOp.CEIL
            | ir.MathOp.ROUND
            | ir.MathOp.REINTERPRET
        ):
            return ir.Call(name, (x,), x.type)
        case _:
            assert_never(name)


def _tf32(x: ir.Expr) -> ir.Expr:
    """Half of the last bit that stays is added, the bits below it go; infinities and NaNs stay."""
    finite = lt(ir.Unary(ir.UnaryOp.ABS, x), _like(float("inf"), x))
    return select(finite, _bits(binary(ir.Op.AND, add(_bits(x, I32), 0x1000), ~0x1FFF), F32), x)


def _exp(x: ir.Expr, scales: bool, ends: tuple[float, float] = (-104.0, 89.0)) -> ir.Expr:
    """2^n * e^r with |r| <= ln(2) / 2, of x taken to be within the ends."""
    inside, n = _var("inside", x), _var("n", x)
    rest = sub(sub(inside, mul(n, _LN2_HIGH)), mul(n, _LN2_LOW))
    return _scaled(x, ends, mul(inside, 1.44269504088896341), rest, scales)


def _exp2(x: ir.Expr, scales: bool) -> ir.Expr:
    """Likewise; what is left of x is exact before it is multiplied by ln(2)."""
    inside, n = _var("inside", x), _var("n", x)
    return _scaled(x, (-151.0, 129.0), inside, mul(sub(inside, n), _LN2), scales)


def _scaled(
    x: ir.Expr, ends: tuple[float, float], bits: ir.Expr, rest: ir.Expr, scales: bool
) -> ir.Expr:
    """2^n * e^rest, where n is the integer next to `bits`, and x is taken to be within the ends, of which 0
    is one that it never passes. Where the machine has no instruction for it, and 2^n may be no float (below
    0), it is two factors."""
    positive = ends[0] == 0
    inside = _var("inside", x)
    big, n, r, k, half, y = (_var(v, x) for v in ("big", "n", "r", "k", "half", "y"))
    k, half = _as(k, I32), _as(half, I32)
    reduced = [
        (inside, minimum(x if positive else maximum(x, ends[0]), ends[1])),
        (big, add(bits, _ROUNDER)),
        (n, sub(big, _ROUNDER)),
        (r, rest),
        (y, add(add(mul(mul(r, r), _polynomial(_EXP, r)), r), 1.0)),
    ]
    if scales:
        return _lets(reduced, binary(ir.Op.SHL, y, n))
    reduced.append((k, sub(_bits(big, I32), 0x4B400000)))
    if positive:
        return _lets(reduced, mul(y, _power_of_two(k)))
    reduced.append((half, binary(ir.Op.SHR, k, 1)))
    return _lets(reduced, mul(mul(y, _power_of_two(half)), _power_of_two(sub(k, half))))


def _power_of_two(k: ir.Expr) -> ir.Expr:
    return _bits(binary(ir.Op.SHL, add(k, 127), 23), F32)


def is_usual(name: ir.MathOp, x: ir.Expr) -> ir.Expr | None:
    """Where x is a number of which the expansion for `usual` ones holds; None where there is none of its
    own."""
    match name:
        case ir.MathOp.SIN | ir.MathOp.COS:
            return ir.Binary(ir.Op.LE, ir.Unary(ir.UnaryOp.ABS, x), _like(LARGEST_ANGLE, x))
        case ir.MathOp.LOG:
            return binary(ir.Op.AND, ir.Binary(ir.Op.LE, _like(_LEAST_NORMAL, x), x),
                          lt(x, _like(float("inf"), x)))  # fmt: skip
    return None


def _log_of_usual(x: ir.Expr, exponent: ir.Expr | None = None) -> ir.Expr:
    """e * ln(2) + ln(m) with m from sqrt(0.5) to sqrt(2), where x is 2^(e + exponent) * m."""
    f, z, e, y = (_var(v, x) for v in ("f", "z", "e", "y"))
    bits = _as(_var("bits", x), I32)
    whole = _float(binary(ir.Op.SHR, bits, 23))
    return _lets(
        [
            (bits, sub(_bits(x, I32), _ROOT_HALF)),
            (e, whole if exponent is None else sub(whole, exponent)),
            (f, sub(_bits(add(binary(ir.Op.AND, bits, 0x7FFFFF), _ROOT_HALF), F32), 1.0)),
            (z, mul(f, f)),
            (y, add(mul(mul(f, z), _polynomial(_LOG, f)), mul(e, _LN2_LOW))),
        ],
        add(add(f, sub(y, mul(z, 0.5))), mul(e, _LN2_HIGH)),
    )


def _log(x: ir.Expr) -> ir.Expr:
    """That of any number: denormals are made greater before; a NaN is neither above nor at 0."""
    scaled, infinity = _var("scaled", x), float("inf")
    tiny = lt(x, _LEAST_NORMAL)
    result = _log_of_usual(scaled, select(tiny, _like(23.0, x), 0.0))
    beyond = select(eq(x, 0.0), _like(-infinity, x), float("nan"))
    return ir.Let(
        scaled.name,
        select(tiny, mul(x, 8388608.0), x),
        select(lt(_like(0.0, x), x), select(eq(x, infinity), _like(infinity, x), result), beyond),
    )


def _sin(x: ir.Expr, cosine: bool) -> ir.Expr:
    """sin or cos of r, |r| <= pi / 4, by quadrant."""
    big, n, r, z, s, c = (_var(v, x) for v in ("big", "n", "r", "z", "s", "c"))
    quadrant = _as(_var("quadrant", x), I32)
    low: ir.Expr = sub(x, mul(n, _HALF_PI[0]))
    low = sub(sub(low, mul(n, _HALF_PI[1])), mul(n, _HALF_PI[2]))
    odd = eq(binary(ir.Op.AND, quadrant, 1), 1)
    sign = binary(ir.Op.SHL, binary(ir.Op.AND, quadrant, 2), 30)
    value = select(odd, c, s)
    return _lets(
        [
            (big, add(mul(x, 0.636619772367581343), _ROUNDER)),
            (n, sub(big, _ROUNDER)),
            (r, low),
            (z, mul(r, r)),
            (s, add(mul(mul(z, _polynomial(_SIN, z)), r), r)),
            (c, add(sub(mul(mul(z, z), _polynomial(_COS, z)), mul(z, 0.5)), 1.0)),
            (quadrant, add(_bits(big, I32), 1) if cosine else _bits(big, I32)),
        ],
        _bits(binary(ir.Op.XOR, _bits(value, I32), sign), F32),
    )


def _tanh(x: ir.Expr, scales: bool) -> ir.Expr:
    """A polynomial near 0, elsewhere 1 - 2 / (e^2|x| + 1) with the sign of x. Beyond 10 it is 1."""
    size, z, power, far = (_var(v, x) for v in ("size", "z", "power", "far"))
    near = add(mul(mul(z, _polynomial(_TANH, z)), x), x)
    sign = binary(ir.Op.AND, _bits(x, I32), -(1 << 31))
    return _lets(
        [
            (size, ir.Unary(ir.UnaryOp.ABS, x)),
            (z, mul(x, x)),
            (_var("twice", x), add(size, size)),
            (power, _exp(_var("twice", x), scales, (0.0, 20.0))),
            (far, sub(_like(1.0, x), binary(ir.Op.DIV, _like(2.0, x), add(power, 1.0)))),
        ],
        select(lt(size, 0.625), near, _bits(binary(ir.Op.OR, _bits(far, I32), sign), F32)),
    )


def expand_math(kernel: Kernel, target: Target) -> Kernel:
    """The kernel with exp and tanh of f32 vectors written out; sin, cos and log, which ask first whether
    numbers are usual, backends write as functions of their own."""
    expand = partial(_expand, scales=target.scales_floats)
    return kernel.map_body(lambda body: rewrite_stmt(body, lambda e: rewrite(e, expand)))


def _expand(e: ir.Expr, scales: bool) -> ir.Expr:
    if not isinstance(e, ir.Call) or e.type.lanes == 1 or e.type.element != F32:
        return e
    x = ir.Var("x.math", e.type)  # no name that a program can have
    if not is_expanded(e.name) or is_usual(e.name, x) is not None:
        return e
    return ir.Let(x.name, e.args[0], expansion(e.name, x, scales))


def _polynomial(coefficients: Sequence[float], x: ir.Expr) -> ir.Expr:
    """Horner's rule, the highest power first."""
    value = _like(coefficients[0], x)
    for c in coefficients[1:]:
        value = add(mul(value, x), c)
    return value


def _lets(bindings: Sequence[tuple[ir.Var, ir.Expr]], body: ir.Expr) -> ir.Expr:
    for variable, value in reversed(bindings):
        body = ir.Let(variable.name, value, body)
    return body


def _var(name: str, like: ir.Expr) -> ir.Var:
    """A variable of that type; what follows a dot in the name of `like` follows here too."""
    _, dot, rest = like.name.partition(".") if isinstance(like, ir.Var) else ("", "", "")
    return ir.Var(f"{name}{dot}{rest}", like.type)


def _as(v: ir.Var, t: DType) -> ir.Var:
    return ir.Var(v.name, t(v.type.lanes))


def _like(value: float, x: ir.Expr) -> ir.Expr:
    return const(value, x.type)


def _bits(x: ir.Expr, t: DType) -> ir.Expr:
    return ir.Call(ir.MathOp.REINTERPRET, (x,), t(x.type.lanes))


def _float(x: ir.Expr) -> ir.Expr:
    return cast(F32, x)
