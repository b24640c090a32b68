"""Places that all lanes of a vector share, and that exist only where a condition on the lanes holds.

    f[L] += A[r] where r < H - L        r in lanes
->  if (L < H) f[L] += the sum of A[r] over the lanes where r < H - L

Elsewhere a condition becomes a mask, and masked lanes touch no memory. What lanes share is read and
stored once, for them all: also where the condition holds in none.
"""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.program.funcs import Func, Update
from hbc.frontend.regions.index_values import aligned_values, at_position
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.program import Program, Scope, load_accesses
from hbc.frontend.regions.regions import access_box, stage_ranges
from hbc.ir.algebra.bounds import Facts, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, le
from hbc.ir.lang.walk import free_variables, nodes


def shared_places(
    program: Program, func: Func, nest: Nest, update: Update, where: ir.Expr, scope: Scope
) -> list[ir.Expr]:
    """That there are such places, of those that an update accesses under a condition, which is `where`
    at this point of the loops: what is not known of the ones that do not change with its lanes."""
    lanes, own = _lanes(nest), scope.storages[func.name].box
    if lanes.isdisjoint(free_variables(where)) or own is None:
        return []
    values, aligned = {root: nest.value(root) for root in nest.stage.roots}, aligned_values(nest)
    ranges = stage_ranges(func, nest.stage.update, own)
    facts = Facts(scope.ranges, program.known)
    conditions: dict[ir.Expr, None] = {}
    for a in _accesses(func, update):
        indices = [at_position(i, values, aligned) for i in a.indices]
        room = scope.storages[a.name].box
        if room is None or not lanes.isdisjoint(n for i in indices for n in free_variables(i)):
            continue
        seen = access_box(a, ranges, scope.ranges)
        for index, x, y in zip(indices, seen, room, strict=True):
            if not _is_ordered(y.lo, x.lo, facts) and y.lo is not None:
                conditions[simplify(load_accesses(le(y.lo, index), scope))] = None
            if not _is_ordered(x.hi, y.hi, facts) and y.hi is not None:
                conditions[simplify(load_accesses(le(index, y.hi), scope))] = None
    return list(conditions)


def _accesses(func: Func, update: Update) -> Iterator[ir.Access]:
    """Of those in an index of others these come first."""
    place = ir.Access(func.name, update.indices, update.value.type)
    for e in (place, update.value):
        yield from (n for n in reversed(list(nodes(e))) if isinstance(n, ir.Access))


def _lanes(nest: Nest) -> frozenset[str]:
    """The variables of the vector loops around, of which one of a single lane is as good as none."""
    variables = frozenset[str]()
    vectors = [x.dim for x in nest.stage.loops if x.kind is ir.LoopKind.VECTOR]
    for dim in (dim for dim in vectors if const_value(nest.extent(dim)) != 1):
        start = nest.starts.get(dim, ir.const_index(0))
        variables |= free_variables(nest.fixed.get(dim, start)) - free_variables(start)
    return variables


def _is_ordered(a: ir.Expr | None, b: ir.Expr | None, facts: Facts) -> bool:
    return a is not None and b is not None and prove(le(a, b), facts) is True
