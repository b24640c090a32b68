"""Loads of what lies apart, out of registers that are loaded before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children
from hbc.ir.movement.items import Item, with_others
from hbc.ir.movement.places import Access, Rows, groups, is_apart
from hbc.ir.movement.registers import put, register, registers, steps
from hbc.ir.movement.structures import load_structure, structures
from hbc.ir.movement.windows import Place, adjacent, in_blocks, spans
from hbc.ir.movement.work import Choice, Work, distinct, element, stored_by, values


def loads(items: list[Item], work: Work) -> list[Item]:
    """The items, with loads of what lies apart out of registers that are loaded before."""
    rows = Rows()
    before: dict[int, list[Item]] = {}
    instead: dict[int, dict[ir.Expr, ir.Expr]] = {}
    for group in _load_groups(items, rows, work):
        if _structures_loaded(group, before, instead, work):
            continue
        choice = loaded(group, rows, work)
        some = [choice] if choice else [loaded([a], rows, work) for a in distinct(group)]
        for one in some:
            if one is not None:
                _load(
                    one, [a for a in group if a.places in _places(one)], rows, before, instead, work
                )
    return with_others(items, before, instead)


def _structures_loaded(
    group: list[Access], before: dict[int, list[Item]],
    instead: dict[int, dict[ir.Expr, ir.Expr]], work: Work
) -> bool:  # fmt: skip
    """Whether the machine has an instruction for such vectors together; then it is used."""
    vectors = [a.places for a in distinct(group)]
    found = structures(vectors, element(group[0]).bits, work.target.machine)
    for some in found:
        name, lanes = work.fresh(group[0].node.buffer), len(vectors[0])
        values = {vectors[n]: c for c, n in enumerate(some)}
        members = [a for a in group if a.places in values]
        first = next(a.node for a in members if values[a.places] == 0)
        assert isinstance(first, ir.Load)
        before.setdefault(min(a.item for a in members), []).extend(
            load_structure(name, first, len(some))
        )
        for access in members:
            assert isinstance(access.node, ir.Load)
            value = ir.Load(name, register(values[access.places], lanes), access.node.type)
            instead.setdefault(access.item, {})[access.node] = value
    if found:
        work.note(group, len(found), 0)
    return bool(found)


def loaded(group: list[Access], rows: Rows, work: Work) -> Choice | None:
    """The best plan for loads that want no element twice."""
    vectors = [a.places for a in distinct(group)]
    inside, bits = spans(vectors), element(group[0]).bits
    plans = [adjacent(vectors, inside), in_blocks(vectors, bits, inside)]
    readable = [p for p in plans if p is not None and work.is_readable(group, p)]
    return work.best(group, readable, rows)


def _load(
    choice: Choice, group: list[Access], rows: Rows, before: dict[int, list[Item]],
    instead: dict[int, dict[ir.Expr, ir.Expr]], work: Work
) -> None:  # fmt: skip
    """Notes what comes before which item, and what it reads instead."""
    work.note(choice.group, choice.plan.accesses, choice.moves)
    vectors, t = _places(choice), element(group[0])
    buffer, lanes = group[0].node.buffer, len(vectors[0])
    for part, chain in choice.parts:
        name = work.fresh(buffer)
        new: list[Item] = [registers(name, t, lanes, len(part.sources), chain)]
        for k, n in enumerate(part.sources):
            index = rows.index(choice.plan.sources[n], choice.plan.run)
            assert index is not None
            new.append(put(name, k, ir.Load(buffer, index, t(lanes))))
        new += steps(name, t, lanes, len(part.sources), chain)
        values = {vectors[n]: chain.outputs[k] for k, n in enumerate(part.outputs)}
        members = [a for a in group if a.places in values]
        before.setdefault(min(a.item for a in members), []).extend(new)
        for access in members:
            assert isinstance(access.node, ir.Load)
            at = register(values[access.places], lanes)
            value = ir.Load(name, at, access.node.type)
            instead.setdefault(access.item, {})[access.node] = value


def _load_groups(items: Sequence[Item], rows: Rows, work: Work) -> list[list[Access]]:
    """The loads of what lies apart, those of one buffer and type together, as long as nothing is stored
    to the buffer."""
    versions: Counter[str] = Counter()
    together: dict[tuple[object, ...], list[Access]] = {}
    for at, item in enumerate(items):
        for load in () if work.is_of_tiles(item) else _unconditional(item):
            if load.buffer in work.elsewhere or not is_apart(load, work.widths):
                continue
            places = rows.places(load.buffer, load.index)
            if places is not None:
                key = load.buffer, versions[load.buffer], load.type
                together.setdefault(key, []).append(Access(at, load, places))
        versions.update(stored_by(item))
    return [group for some in together.values() for group in groups(some)]


def _places(choice: Choice) -> list[tuple[Place, ...]]:
    """Of the vectors of its plan, in their order."""
    return [a.places for a in distinct(choice.group)]


def _unconditional(item: Item) -> Iterator[ir.Load]:
    """The loads of an item's value, but for those that a condition may leave out."""
    for value in values(item):
        yield from _loads(value)


def _loads(e: ir.Node) -> Iterator[ir.Load]:
    if isinstance(e, ir.Load):
        yield e
    elif not isinstance(e, ir.Select | ir.Let):
        for child in children(e):
            yield from _loads(child)
