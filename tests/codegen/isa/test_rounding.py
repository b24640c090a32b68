"""Float arithmetic against exact fractions, and operands that tell every kind of rounding apart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TypeVar

import numpy as np
import pytest
from isa_machines import DESCRIBED
from isa_values import REGIMES, differences, operands, values

from hbc.ir.lang.instruction import Instruction, Mode, Order, Product, Rounding, Subnormals
from hbc.ir.lang.target import GPU
from hbc.ir.lang.types import BF16, F16, F32, F64, DType
from hbc.ir.meaning.contraction import largest, terms
from hbc.ir.meaning.float_rounding import LARGEST_EXPONENT, LEAST_EXPONENT, Arithmetic
from hbc.ir.meaning.instruction_semantics import execute


def exactly(exact: Fraction, to: DType, mode: Mode, subnormals: Subnormals) -> float:
    """The value of type `to` that a number other than 0 rounds to."""
    sign, size = (-1, -exact) if exact < 0 else (1, exact)
    exponent = -1 if size < 1 else 0
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    while Fraction(2) ** exponent > size:
        exponent -= 1
    least = LEAST_EXPONENT[to.name]
    if subnormals is Subnormals.FLUSHED and exponent < least:
        unlimited = rounded_to(size, exponent, to, mode)
        if unlimited < Fraction(2) ** least:
            return sign * 0.0
    result = rounded_to(size, max(exponent, least), to, mode)
    top = Fraction(2) ** (LARGEST_EXPONENT[to.name] + 1)
    if result >= top or (mode is Mode.ODD and size >= top):
        return sign * float("inf")
    return sign * float(result)


def rounded_to(size: Fraction, exponent: int, to: DType, mode: Mode) -> Fraction:
    """A positive number as a multiple of the last bit of numbers with this exponent."""
    unit = Fraction(2) ** (exponent - to.precision + 1)
    whole, rest = divmod(size / unit, 1)
    if mode is Mode.ODD:
        up = rest > 0 and whole % 2 == 0
    else:
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    return (whole + up) * unit


@pytest.mark.parametrize("subnormals", Subnormals)
@pytest.mark.parametrize(
    ("element", "mode"),
    [*product((F16, BF16, F32), Mode), (F64, Mode.NEAREST)],  # sums of f64 never round to odd
    ids=str,
)
def test_multiply_add_is_exact(element: DType, mode: Mode, subnormals: Subnormals) -> None:
    random = np.random.default_rng(1)
    arithmetic = Arithmetic(element, mode, subnormals)
    for regime in ("near", "small", "large", "mixed"):
        a, b, c = (arithmetic.operand(values(element, (200,), regime, random)) for _ in range(3))
        got = arithmetic.multiply_add(a, b, c)
        for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), got.tolist(), strict=True):
            if not all(map(np.isfinite, (x, y, z))):
                continue
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact:
                wanted = exactly(exact, element, mode, subnormals)
                assert (r, np.signbit(r)) == (wanted, np.signbit(wanted)), (x, y, z)


# How GPUs round is not documented, so tests/codegen/cuda compares theirs with an error bound.
FLOATS = [
    i
    for i in DESCRIBED.instructions
    if i.operands[i.accumulator].element.is_float and i.place.machine != GPU
]


Choice = TypeVar("Choice", Subnormals, Product, Order, Mode)


def other(choices: type[Choice], but: Choice) -> Choice:
    """The second of two choices."""
    return next(c for c in choices if c is not but)


def alternatives(r: Rounding, count: int) -> list[Rounding]:
    """Every description that differs in one property."""
    others = [
        replace(r, mode=other(Mode, r.mode)),
        replace(r, subnormals=other(Subnormals, r.subnormals)),
    ]
    if count > 1:
        others += [
            replace(r, product=other(Product, r.product)),
            replace(r, order=other(Order, r.order)),
            replace(r, chains=0 if r.chains else 1),
            replace(r, chains=1 if r.chains == 2 else 2),
        ]
    if count > 2:
        others.append(replace(r, group=0 if r.group else 2))
    return others


@pytest.mark.parametrize("i", FLOATS, ids=lambda i: i.name)
def test_operands_tell_roundings_apart(i: Instruction) -> None:
    """A wrong rounding in a description is seen by the operands of test_native."""
    random = np.random.default_rng(2)
    sizes = largest(i)
    drawn = [operands(i, sizes, r, random) for r in REGIMES for _ in range(8 if i.sizes else 100)]
    right = [execute(i, arrays, sizes) for arrays in drawn]
    count = terms(i, sizes)
    for rounding in alternatives(i.rounding, count):
        if equivalent(i, rounding, count):
            continue
        changed = replace(i, rounding=rounding)
        seen = any(
            differences(execute(changed, arrays, sizes), wanted)
            for arrays, wanted in zip(drawn, right, strict=True)
        )
        assert seen, rounding


def equivalent(i: Instruction, b: Rounding, count: int) -> bool:
    """Whether no operands can tell the descriptions apart: a pair of products commutes, be they one
    chain of rounded products or two chains of one; and products may all be exact."""
    a = i.rounding
    if replace(b, product=a.product) == a:
        return products_are_exact(i)
    pairs = bool((a.group or count) == 2 and a.chains and b.chains)
    return pairs and replace(b, order=a.order, chains=a.chains) == a


def products_are_exact(i: Instruction) -> bool:
    """Whether the sum's type holds all products, as normal numbers."""
    factor, to = (i.operands[n].element for n in (i.factors[0], i.accumulator))
    least = 2 * (LEAST_EXPONENT[factor.name] - factor.precision + 1)
    most = 2 * (LARGEST_EXPONENT[factor.name] + 1)
    inside = least >= LEAST_EXPONENT[to.name] and most <= LARGEST_EXPONENT[to.name]
    return inside and 2 * factor.precision <= to.precision
