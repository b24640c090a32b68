"""Stores to what lies apart, as whole registers when the last vector is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import nodes
from hbc.ir.movement.items import Bind, Item, Registers
from hbc.ir.movement.places import Access, Rows, groups, is_apart
from hbc.ir.movement.registers import put, registers, steps
from hbc.ir.movement.structures import store_structure, structures
from hbc.ir.movement.windows import Plan, inverted
from hbc.ir.movement.work import Work, element, stored_by


def stores(items: list[Item], work: Work) -> list[Item]:
    """The items, with stores to what lies apart gathered at the last of them."""
    rows = Rows()
    before: dict[int, list[Item]] = {}
    instead: dict[int, Item] = {}
    after: dict[int, list[Item]] = {}
    for group in _store_groups(items, rows, work):
        vectors = [a.places for a in group]
        t, lanes = element(group[0]), len(vectors[0])
        found = structures(vectors, t.bits, work.target.machine)
        for members in found:
            name = work.fresh(group[0].node.buffer)
            own = [group[n] for n in members]
            _store_structure(name, own, before, instead, after, work)
        if found:
            work.note(group, len(found), 0)
            continue
        choice = work.best(group, inverted(vectors, t.bits), rows)
        if choice is None:
            continue
        work.note(choice.group, choice.plan.accesses, choice.moves)
        buffer = group[0].node.buffer
        for part, chain in choice.parts:
            name = work.fresh(buffer)
            some = [group[n] for n in part.sources]
            before.setdefault(min(a.item for a in some), []).append(
                registers(name, t, lanes, len(part.sources), chain)
            )
            for k, access in enumerate(some):
                assert isinstance(access.node, ir.Store)
                instead[access.item] = put(name, k, access.node.value)
            last = after.setdefault(max(a.item for a in some), [])
            last += steps(name, t, lanes, len(part.sources), chain)
            for k, n in enumerate(part.outputs):
                last += _whole_stores(
                    buffer, name, t, chain.outputs[k] * lanes, choice.plan, n, rows
                )
    result: list[Item] = []
    for at, item in enumerate(items):
        result += [*before.get(at, []), instead.get(at, item), *after.get(at, [])]
    return result


def _store_structure(
    name: str, some: Sequence[Access], before: dict[int, list[Item]],
    instead: dict[int, Item], after: dict[int, list[Item]], work: Work
) -> None:  # fmt: skip
    """The vectors in registers, stored by one instruction when the last is there."""
    t, lanes, first = element(some[0]), len(some[0].places), some[0].node
    assert isinstance(first, ir.Store)
    before.setdefault(min(a.item for a in some), []).append(Registers(name, t, len(some) * lanes))
    for c, access in enumerate(some):
        assert isinstance(access.node, ir.Store)
        instead[access.item] = put(name, c, access.node.value)
    after.setdefault(max(a.item for a in some), []).append(store_structure(name, first, len(some)))


def _store_groups(items: Sequence[Item], rows: Rows, work: Work) -> Iterator[list[Access]]:
    """The stores to what lies apart that may as well happen at the last one's place."""
    together: dict[tuple[object, ...], list[Access]] = {}
    for at, item in enumerate(items):
        if not isinstance(item, ir.Store) or item.buffer in work.elsewhere:
            continue
        if work.is_of_tiles(item):
            continue
        if not is_apart(item, work.widths):
            continue
        places = rows.places(item.buffer, item.index)
        if places is not None:
            key = item.buffer, item.value.type
            together.setdefault(key, []).append(Access(at, item, places))
    for some in together.values():
        for group in groups(some):
            own = {a.item for a in group}
            alike = {a.item for a in some if a.alike == group[0].alike}
            between = range(min(own), max(own) + 1)
            if not any(
                _touches(items[at], group[0].node.buffer, first=at == min(own), fine=at in alike)
                for at in between
            ):
                yield group


def _whole_stores(
    buffer: str, name: str, t: DType, first: int, plan: Plan, number: int, rows: Rows
) -> Iterator[ir.Stmt]:
    """A register, stored run by run."""
    for n, place in enumerate(plan.sources[number]):
        index = rows.index([place], plan.run)
        assert index is not None
        at = ir.Ramp(ir.const_index(first + n * plan.run), ir.const_index(1), plan.run)
        yield ir.Store(buffer, index, ir.Load(name, at, t(plan.run)))


def _touches(item: Item, buffer: str, first: bool, fine: bool) -> bool:
    """Whether an item needs the stores to the buffer where they are. `first`: none comes before it;
    `fine`: its own store is to other places."""
    if isinstance(item, Registers):
        return False
    whole = item.value if isinstance(item, Bind) else item
    loaded = any(isinstance(n, ir.Load) and n.buffer == buffer for n in nodes(whole))
    return (loaded and not first) or (buffer in stored_by(item) and not fine)
