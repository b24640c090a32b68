"""Proves that affine forms over the sizes are not negative, from facts of the same kind."""

from __future__ import annotations

from dataclasses import field

from hbc.ir.algebra import facts
from hbc.ir.algebra.form import MOST_REMEMBERED
from hbc.ir.algebra.linear import Linear, linear, plus, scaled, shifted, without
from hbc.ir.algebra.lower_bound import least
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables

SIZE = facts.Interval(ir.const_index(0), None)


@mutable
class SizeFacts:
    """Forms known to be at least 0. Sizes always are."""

    forms: list[Linear] = field(default_factory=list)
    answers: dict[object, bool] = field(default_factory=dict)  # by the signature of a form

    def learn(self, form: Linear) -> None:
        if form.terms and form not in self.forms:
            self.forms.append(form)
            self.answers.clear()

    def extended(self, forms: list[Linear]) -> SizeFacts:
        """These facts and more, which are forgotten with the result."""
        new = [f for f in forms if f.terms and f not in self.forms]
        return SizeFacts(self.forms + new) if new else self

    def prove(self, form: Linear) -> bool:
        """Is `form >= 0` certain? False also when it could not be found out."""
        signature = form.signature
        known = self.answers.get(signature)
        if known is None:
            if len(self.answers) >= MOST_REMEMBERED:
                self.answers.clear()
            flat = without_quotients(form)
            known = self.answers[signature] = flat is not None and self._holds(flat)
        return known

    def _holds(self, form: Linear) -> bool:
        known = [f for f in map(without_quotients, self.forms) if f is not None]
        names = {n for f in (form, *known) for atom, _ in f.terms for n in free_variables(atom)}
        low = least(form, facts.Facts(dict.fromkeys(sorted(names), SIZE), tuple(known)))
        return low is not None and low >= 0


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
