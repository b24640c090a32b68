"""Operators of reductions whose results in part can be joined: what `rfactor` needs to know.

Of one value, or several that do not read each other, each has an operator: `+=`, `max=`. Of several, one
may be the key by which all are kept or replaced, and one the place that it comes from:

    (best[x], at[x]) = select(A[x, r] > best[x], (A[x, r], r), (best[x], at[x]))

Of equal keys the first is kept (by `>=` the last). So it is where partial results are joined: by their
places, which grow with the only reduction variable.
"""

from __future__ import annotations

from hbc.frontend.plans.plan import is_associative
from hbc.frontend.program.funcs import Func, Update, values_of
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, binary, or_
from hbc.ir.lang.identity import identity_of
from hbc.ir.lang.types import BOOL, Type
from hbc.ir.lang.walk import nodes, substitute

Values = tuple[ir.Expr, ...]
SWAPPED = {ir.Op.GT: ir.Op.LT, ir.Op.LT: ir.Op.GT, ir.Op.GE: ir.Op.LE, ir.Op.LE: ir.Op.GE}
STRICT = {ir.Op.GT: ir.Op.GT, ir.Op.GE: ir.Op.GT, ir.Op.LT: ir.Op.LT, ir.Op.LE: ir.Op.LT}


@record
class Operator:
    """`ops` of each value, or, where the values are kept together, `better`: how a new key compares with the
    one that it replaces, and which of the values are `key` and `place`. `terms` is what each step takes,
    `identity` what changes nothing."""

    terms: Values
    identity: tuple[int | float | bool, ...]
    ops: tuple[ir.Op, ...] = ()
    better: ir.Op = ir.Op.GT
    key: int = 0
    place: int = 0

    def taken(self, old: Values, new: Values) -> Values:
        """The values after one more step."""
        if self.ops:
            return tuple(ir.Binary(o, a, b) for o, a, b in zip(self.ops, old, new, strict=True))
        test = binary(self.better, new[self.key], old[self.key])
        return tuple(ir.Select(test, a, b) for a, b in zip(new, old, strict=True))

    def joined(self, old: Values, part: Values) -> Values:
        """The values with those of some of the steps."""
        if self.ops:
            return self.taken(old, part)
        strict = STRICT[self.better]
        earlier = ir.Op.LT if self.better is strict else ir.Op.GT
        same = binary(ir.Op.EQ, part[self.key], old[self.key])
        tie = and_(same, binary(earlier, part[self.place], old[self.place]))
        test = or_(binary(strict, part[self.key], old[self.key]), tie)
        return tuple(ir.Select(test, a, b) for a, b in zip(part, old, strict=True))


def operator_of(func: Func, number: int) -> Operator | None:
    """That of an update, if it has one."""
    update = func.updates[number]
    if not func.others:
        if not is_associative(func, update) or not isinstance(update.value, ir.Binary):
            return None
        op = update.value.op
        return Operator((update.value.b,), (identity_of(op, func.element).value,), (op,))
    values = [_without_lets(e) for e in values_of(update.value)]
    own = read_all(func, update.indices)
    if _reads(func, update.condition, *update.indices):
        return None
    return _by_each(func, values, own) or _by_key(func, update, number, values, own)


def read_all(func: Func, place: Values) -> Values:
    """All values of the Func there."""
    return tuple(
        ir.Access(func.name, place, Type(p.element), None, "" if at == 0 else p.name)
        for at, p in enumerate(func.parts)
    )


def as_value(values: Values) -> ir.Expr:
    return values[0] if len(values) == 1 else ir.Tuple(values)


def _by_each(func: Func, values: list[ir.Expr], own: Values) -> Operator | None:
    terms: list[ir.Expr] = []
    ops: list[ir.Op] = []
    for e, old in zip(values, own, strict=True):
        if not isinstance(e, ir.Binary) or e.op not in ir.ASSOCIATIVE or e.a != old:
            return None
        if _reads(func, e.b):
            return None
        terms.append(e.b)
        ops.append(e.op)
    pairs = zip(ops, func.parts, strict=True)
    identity = tuple(identity_of(op, p.element).value for op, p in pairs)
    return Operator(tuple(terms), identity, tuple(ops))


def _by_key(
    func: Func, update: Update, number: int, values: list[ir.Expr], own: Values
) -> Operator | None:
    selects = [e for e in values if isinstance(e, ir.Select)]
    if len(selects) < len(values) or [s.b for s in selects] != list(own):
        return None
    test, terms = selects[0].condition, tuple(s.a for s in selects)
    if any(s.condition != test for s in selects) or _reads(func, *terms):
        return None
    if not isinstance(test, ir.Binary) or test.op not in SWAPPED:
        return None
    for better, new, old in ((test.op, test.a, test.b), (SWAPPED[test.op], test.b, test.a)):
        for key in (k for k in range(len(own)) if own[k] == old and terms[k] == new):
            place = _place(func, update, number, terms, better)
            if place is None or place == key:
                return None
            ends = (ir.Op.MAX, ir.Op.MIN)  # the identities of these are the lowest and the highest
            worst, last = ends if STRICT[better] is ir.Op.GT else ends[::-1], ends[::-1]
            first = better is STRICT[better]
            identity: list[int | float | bool] = [
                False if p.element == BOOL else 0 for p in func.parts
            ]
            identity[key] = identity_of(worst[0], func.parts[key].element).value
            identity[place] = identity_of(last[0 if first else 1], func.parts[place].element).value
            return Operator(terms, tuple(identity), (), better, key, place)
    return None


def _place(func: Func, update: Update, number: int, terms: Values, better: ir.Op) -> int | None:
    """The value that is the only reduction variable, which must not begin above where that does: of equal
    keys the first step is kept, or the beginning."""
    if number != 0 or len(update.reduce) != 1:
        return None
    r, begun = update.reduce[0], values_of(func.pure)
    for at, (term, start) in enumerate(zip(terms, begun, strict=True)):
        while (
            isinstance(term, ir.Cast) and term.type.element.is_int and term.type.element.bits >= 32
        ):
            term = term.value
        if not isinstance(term, ir.Var) or term.name != r.name:
            continue
        if isinstance(start, ir.Const) and isinstance(r.start, ir.Const):
            room = int(r.start.value) - int(start.value)
            return at if room >= (0 if better is STRICT[better] else 1) else None
    return None


def _without_lets(e: ir.Expr) -> ir.Expr:
    while isinstance(e, ir.Let):
        e = substitute(e.body, {e.name: e.value})
    return e


def _reads(func: Func, *expressions: ir.Expr | None) -> bool:
    return any(
        isinstance(n, ir.Access) and n.name == func.name
        for e in expressions
        if e is not None
        for n in nodes(e)
    )
