"""Proves that affine forms over the sizes are not negative, from facts of the same kind.

A search over sums with facts, a few steps deep: it finds what follows from one or two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

from hbc.ir.algebra.linear import Linear, linear, plus, scaled, shifted, without
from hbc.ir.lang import nodes as ir

MOST_STEPS = 400


@dataclass(slots=True)
class Facts:
    """Forms known to be at least 0. Sizes always are."""

    forms: list[Linear] = field(default_factory=list)
    answers: dict[Linear, bool] = field(default_factory=dict)

    def learn(self, form: Linear) -> None:
        if form.terms and form not in self.forms:
            self.forms.append(form)
            self.answers.clear()

    def extended(self, forms: list[Linear]) -> Facts:
        """These facts and more, which are forgotten with the result."""
        new = [f for f in forms if f.terms and f not in self.forms]
        return Facts(self.forms + new) if new else self

    def prove(self, form: Linear) -> bool:
        """Is `form >= 0` certain? False also when it could not be found out."""
        known = self.answers.get(form)
        if known is None:
            flat = without_quotients(form)
            facts = [f for f in map(without_quotients, self.forms) if f is not None]
            known = flat is not None and search(flat, facts, 3, [MOST_STEPS])
            self.answers[form] = known
        return known


def search(form: Linear, facts: list[Linear], depth: int, steps: list[int]) -> bool:
    """Subtracts multiples of facts until no negative term is left."""
    if form.constant >= 0 and all(c >= 0 for _, c in form.terms):
        return True
    steps[0] -= 1
    if depth == 0 or steps[0] <= 0:
        return False
    mine = dict(zip(form.keys, form.terms, strict=True))
    for fact in facts:
        for key, (_, theirs) in zip(fact.keys, fact.terms, strict=True):
            own = mine[key][1] if key in mine else 0
            if own * theirs <= 0 or (own > 0 and form.constant >= 0):
                continue
            common = gcd(own, theirs)
            times, scale = abs(own) // common, abs(theirs) // common
            rest = plus(scaled(form, scale), fact, -times)
            if search(rest, facts, depth - 1, steps):
                return True
    return False


def without_quotients(form: Linear) -> Linear | None:
    """A multiple of a lower bound of the form, where `x / c` became x: not negative only if the
    form is not. None when a term is no size and no such quotient."""
    for key, (atom, c) in zip(form.keys, form.terms, strict=True):
        match atom:
            case ir.Var():
                continue
            case ir.Binary(op=ir.Op.MUL, a=a, b=b) if only_sizes(a) and only_sizes(b):
                continue
            case ir.Binary(op=ir.Op.DIV, a=x, b=ir.Const(value=d)) if isinstance(d, int) and d > 0:
                # x - d + 1 <= d * floor(x / d) <= x. Integers: d * form > -d is enough.
                inner = linear(x)
                part = scaled(shifted(inner, 1 - d) if c > 0 else inner, c)
                rest = plus(scaled(without(form, key), d), part)
                return without_quotients(shifted(rest, d - 1))
            case _:
                return None
    return form


def only_sizes(e: ir.Expr) -> bool:
    """A product of sizes, which is not negative."""
    match e:
        case ir.Var():
            return True
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            return only_sizes(a) and only_sizes(b)
        case _:
            return False
