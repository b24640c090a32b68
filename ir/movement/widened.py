"""Bytes that are widened, out of registers that are loaded before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import U8
from hbc.ir.movement.items import Item, with_others
from hbc.ir.movement.loads import loaded
from hbc.ir.movement.places import Access, Rows, groups
from hbc.ir.movement.price import price_of, price_of_plan
from hbc.ir.movement.widen import Widened, bound_wide, casts_of, picking, widening, widening_plan
from hbc.ir.movement.work import Work, distinct, stored_by, values


def widened(items: list[Item], work: Work) -> list[Item]:
    """The items, with bytes that are widened out of registers that are loaded before, where one
    instruction for each vector is shorter than moving and widening them one after the other."""
    items = bound_wide(items, work.widths)
    rows = Rows()
    before: dict[int, list[Item]] = {}
    instead: dict[int, dict[ir.Expr, ir.Expr]] = {}
    for group, casts in _widened_groups(items, rows, work):
        some = distinct(group)
        size = casts[group[0].node][0].bits // U8.bits
        plan = widening_plan([a.places for a in some], size, work.target)
        if plan is None or not work.is_readable(group, plan):
            continue
        if any(rows.index(own, plan.run) is None for own in plan.sources):
            continue
        moves = picking(plan, work.target)
        apart = loaded(group, rows, work)
        least = sum(price_of(a, work.target) for a in some)
        if apart is not None:
            least = price_of_plan(apart.plan, apart.moves)
        if price_of_plan(plan, moves) >= least + len(some):
            continue
        name = work.fresh(group[0].node.buffer)
        work.elsewhere |= {name}
        new, values = widening(name, group, plan, rows, casts)
        before.setdefault(min(a.item for a in group), []).extend(new)
        for access in group:
            instead.setdefault(access.item, {}).update(values)
        work.note(group, plan.accesses, moves, len(some))
    return with_others(items, before, instead)


def _widened_groups(
    items: Sequence[Item], rows: Rows, work: Work
) -> Iterator[tuple[list[Access], dict[ir.Node, list[Widened]]]]:
    """Loads that are widened to as many bits, as long as nothing is stored to their buffer; and how."""
    versions: Counter[str] = Counter()
    together: dict[tuple[object, ...], list[Access]] = {}
    ways: dict[tuple[object, ...], dict[ir.Node, list[Widened]]] = {}
    for at, item in enumerate(items):
        for value in () if work.is_of_tiles(item) else values(item):
            for found in casts_of(value, work.widths):
                load = found.load
                places = rows.places(load.buffer, load.index)
                if load.buffer not in work.elsewhere and places is not None:
                    key = load.buffer, versions[load.buffer], found.bits, load.type.lanes
                    together.setdefault(key, []).append(Access(at, load, places))
                    ways.setdefault(key, {}).setdefault(load, []).append(found)
        versions.update(stored_by(item))
    return ((group, ways[key]) for key, some in together.items() for group in groups(some))
