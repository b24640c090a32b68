"""What the pure step of a Func need not compute, since a scan overwrites it unread.

    Y[i] = X[i]                              pure: all i
    Y[t] = X[t] + a * Y[t - 1]  t in 1 .. N  writes 1 .. N - 1, and reads below only what is done
->  the pure step computes Y[0] alone
"""

from __future__ import annotations

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import scan_distances
from hbc.frontend.program.funcs import Func, ReduceVar, Update
from hbc.frontend.regions.regions import Box, Ranges, access_box, lesser, stage_ranges
from hbc.ir.algebra.bounds import Interval, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, ge, lt, sub


def pure_box(func: Func, box: Box, scope: Ranges, asked: Box | None = None) -> Box:
    """The part of the box that the pure step must compute. `asked`: a box around it, of which more may be
    known: what is overwritten of that is overwritten here."""
    whole = box if asked is None else asked
    for number, update in enumerate(func.updates):
        d = _overwrites(func, update)
        if d is None:
            continue
        r = update.reduce[0]
        low, high, most = box[d].lo, box[d].hi, whole[d].hi
        last = sub(add(r.start, r.extent), 1)
        if low is None or high is None or most is None or not prove(ge(last, most), scope):
            continue
        if all(_stays_below(func, before, d, r.start, whole, scope) for before in range(number)):
            end = lesser(high, simplify(sub(r.start, 1)), scope)
            return (*box[:d], Interval(low, end), *box[d + 1 :])
    return box


def _overwrites(func: Func, update: Update) -> int | None:
    """The dimension along which an update sets every element from the start of its reduction on,
    reading what it set before or what lies before it."""
    if update.op is not None or update.condition is not None or len(update.reduce) != 1:
        return None
    r = update.reduce[0]
    along = [d for d, i in enumerate(update.indices) if isinstance(i, ir.Var) and i.name == r.name]
    if len(along) != 1:
        return None
    d = along[0]
    others = [
        (i, v)
        for e, (i, v) in enumerate(zip(update.indices, func.variables, strict=True))
        if e != d
    ]
    if not all(isinstance(i, ir.Var) and i.name == v for i, v in others):
        return None
    return d if _reads_back(func, update, r, d) else None


def _reads_back(func: Func, update: Update, r: ReduceVar, d: int) -> bool:
    distances = scan_distances(func, update, r)
    if distances is None or not all(x > 0 for x in distances):
        return False
    number = func.updates.index(update)
    own = [a for a in stage_accesses(func, number) if a.name == func.name]
    places = (a.indices[:d] + a.indices[d + 1 :] for a in own)
    return all(p == update.indices[:d] + update.indices[d + 1 :] for p in places)


def _stays_below(func: Func, number: int, d: int, start: ir.Expr, box: Box, scope: Ranges) -> bool:
    """Whether an update touches nothing of the Func from `start` on."""
    update = func.updates[number]
    ranges = stage_ranges(func, number, box)
    own = ir.Access(func.name, update.indices, func.pure.type)
    touched = [own, *(a for a in stage_accesses(func, number) if a.name == func.name)]
    ends = [access_box(a, ranges, scope, update.condition)[d].hi for a in touched]
    return all(e is not None and prove(lt(e, start), scope) for e in ends)
