"""Fragments of a GPU are whole: which Funcs are computed beyond what is needed, and which hold zeros there.

    s[i, k]    = A[i, k]               filled: 0 in the part of shared memory that is not needed
    acc[i, j] += s[i, k] * t[k, j]     whole: for all i, j, k of the last pieces too, without conditions
    all[i, j] = f[i] * all[i, j] + acc[i, j]   whole: element by element, of what is there too
    sum[i, j] += s[i, p + r] * t[p + r, j] where p + r < K   whole: `s` and `t`, which copy inputs of K
                                                             elements, are 0 from there on

A sum over zeros is the sum, and elements that nobody asked for are not read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.place_on_gpu import Place, place_of
from hbc.frontend.plans.plan import FuncPlan, Plan, Split, StagePlan, is_associative, stage_vars
from hbc.frontend.program.funcs import Func, Update
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, sub
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import contains, free_variables

_SHARED = (Memory.AUTO, Memory.SHARED)  # what a block computes goes there by itself


@record
class Padding:
    """By name: Funcs in shared memory that are filled with zeros, Funcs in tile memory that are computed
    whole, and those of them whose updates have conditions for which zeros do not stand in."""

    filled: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    asking: frozenset[str] = frozenset()


Extents = Mapping[str, tuple[ir.Expr, ...]]
"""Of inputs, by name."""


class UnpaddedError(Exception):
    """Of this Func no constant says how much is computed."""

    def __init__(self, func: str) -> None:
        super().__init__(func)
        self.func = func


def padding(plan: Plan, inputs: Extents, refused: Collection[str] = ()) -> Padding:
    """What is padded in a GPU's blocks, but for the Funcs `refused`."""
    may = {n for n, f in plan.items() if n not in refused and _may_be_filled(plan, f)}
    whole: set[str] = set()
    for n, f in plan.items():
        if n not in refused and _is_whole(plan, f, may, whole, inputs):
            whole.add(n)
    read = {
        a.name for n in whole for u in _stages(plan[n]) for a in stage_accesses(plan[n].func, u)
    }
    asking = {
        n
        for n in whole
        for at, u in enumerate(plan[n].func.updates)
        if u.condition is not None and not _is_sum_of_zeros(plan, plan[n].func, at, may, inputs)
    }
    return Padding(frozenset(read & may), frozenset(whole), frozenset(asking))


def padded_roots(f: FuncPlan, stage: StagePlan) -> frozenset[str]:
    """The variables of a stage computed whole whose last pieces are not cut: those of the results, and
    those of the sum along which all factors are zero beyond their ends."""
    if stage.update is None:
        return frozenset(stage.roots)
    update = f.func.updates[stage.update]
    sums = {r.name for r in update.reduce if _ends_everywhere(f.func, stage.update, r.name)}
    return frozenset(stage_vars(f.func, update)) | sums


def rounded(stage: StagePlan, dim: str, extent: int) -> int:
    """The extent, up to where the splits of the dimension divide."""
    s = next((r for r in stage.relations if isinstance(r, Split) and r.old == dim), None)
    if s is None or rounded(stage, s.inner, s.factor) != s.factor:
        return extent
    return rounded(stage, s.outer, -(-extent // s.factor)) * s.factor


def _stages(f: FuncPlan) -> Iterator[int | None]:
    yield from (None, *range(len(f.func.updates)))


def _is_plain(f: FuncPlan) -> bool:
    """Whether the Func is stored where it is computed, and of one schedule."""
    stored_there = f.store is None or f.store == f.compute
    return stored_there and not f.bounds and not any(s.special for s in f.stages)


def _may_be_filled(plan: Plan, f: FuncPlan) -> bool:
    in_block = place_of(plan, f.compute) is Place.BLOCK
    return in_block and f.memory in _SHARED and not f.func.updates and _is_plain(f)


def _is_whole(
    plan: Plan, f: FuncPlan, filled: Collection[str], whole: Collection[str], inputs: Extents
) -> bool:
    """Whether nothing but filled and whole Funcs is read, and each update that sums adds what is zero
    where the filled ones are."""
    func = f.func
    if f.memory not in TILES or place_of(plan, f.compute) is Place.HOST or not _is_plain(f):
        return False
    if not func.updates or any(a.name not in filled for a in stage_accesses(func, None)):
        return False
    return all(
        _is_sum_of_zeros(plan, func, n, filled, inputs)
        or _is_by_element(func, n, {*filled, *whole})
        for n in range(len(func.updates))
    )


def _is_sum_of_zeros(
    plan: Plan, func: Func, number: int, filled: Collection[str], inputs: Extents
) -> bool:
    """Whether the update adds zeros beyond the edges, and where its condition does not hold."""
    u = func.updates[number]
    return _adds_zeros(func, u, filled) and _is_implied(plan, func, number, inputs)


def _adds_zeros(func: Func, u: Update, filled: Collection[str]) -> bool:
    if u.op is not ir.Op.ADD or not is_associative(func, u):
        return False
    if stage_vars(func, u) != func.variables or not isinstance(u.value, ir.Binary):
        return False
    own = [isinstance(e, ir.Access) and e.name == func.name for e in (u.value.a, u.value.b)]
    term = u.value.b if own[0] else u.value.a
    return any(own) and _vanishes(term, filled)


def _is_implied(plan: Plan, func: Func, number: int, inputs: Extents) -> bool:
    """Whether the update adds zeros where its condition does not hold: the factors are copies of inputs
    that end there, and are filled with zeros."""
    condition = func.updates[number].condition
    factors = [a for a in stage_accesses(func, number) if a.name != func.name]
    return condition is None or all(
        any(
            _is_end(c, i, end)
            for i, end in zip(a.indices, _ends(plan[a.name].func, inputs), strict=True)
        )
        for c in _conjunction(condition)
        for a in factors
    )


def _conjunction(e: ir.Expr) -> Iterator[ir.Expr]:
    match e:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            yield from (*_conjunction(a), *_conjunction(b))
        case _:
            yield e


def _is_end(condition: ir.Expr, index: ir.Expr, end: ir.Expr | None) -> bool:
    """Whether the condition is that the index is below the end."""
    match condition:
        case ir.Binary(op=ir.Op.LT, a=a, b=b) if end is not None:
            return const_value(simplify(sub(sub(index, a), sub(end, b)))) == 0
        case _:
            return False


def _ends(func: Func, inputs: Extents) -> list[ir.Expr | None]:
    """Of each variable of a Func filled with zeros, from where on there are only these: what it copies,
    perhaps in another type, has no more."""
    copied = func.pure.value if isinstance(func.pure, ir.Cast) else func.pure
    ends: dict[str, ir.Expr] = {}
    if isinstance(copied, ir.Access) and copied.name in inputs:
        pairs = zip(copied.indices, inputs[copied.name], strict=True)
        ends = {i.name: extent for i, extent in pairs if isinstance(i, ir.Var)}
    return [ends.get(v) for v in func.variables]


def _is_by_element(func: Func, number: int, there: Collection[str]) -> bool:
    """Whether each element becomes a function of itself and of what is there beyond the edges too, or stays
    as it is, by a condition on places alone."""
    u = func.updates[number]
    reads = u.condition is not None and contains(u.condition, ir.Access)
    if stage_vars(func, u) != func.variables or reads:
        return False
    return all(
        a.indices == u.indices if a.name == func.name else a.name in there
        for a in stage_accesses(func, number)
    )


def _vanishes(e: ir.Expr, filled: Collection[str]) -> bool:
    """Whether a product is 0 where all its factors are."""
    match e:
        case ir.Access(name=name):
            return name in filled
        case ir.Cast(value=value):
            return _vanishes(value, filled)
        case ir.Binary(op=ir.Op.MUL, a=a, b=b):
            left, right = _vanishes(a, filled), _vanishes(b, filled)
            return (left or isinstance(a, ir.Const)) and (right or isinstance(b, ir.Const))
        case _:
            return False


def _ends_everywhere(func: Func, update: int, name: str) -> bool:
    """Whether the variable alone is an index of every factor: all end where it does."""
    factors = (a for a in stage_accesses(func, update) if a.name != func.name)
    return all(
        sum(isinstance(i, ir.Var) and i.name == name for i in a.indices) == 1
        and sum(name in free_variables(i) for i in a.indices) == 1
        for a in factors
    ) and not any(name in free_variables(i) for i in func.updates[update].indices)
