"""Vectors whose lanes lie apart are loaded and stored as whole registers, with shuffles between them.

    r = I[ramp(3*x, 3, 64)]; g = I[ramp(3*x + 1, 3, 64)]; b = I[ramp(3*x + 2, 3, 64)]
->  m[0..] = I[ramp(3*x, 1, 64)]; m[64..] = I[ramp(3*x + 64, 1, 64)]; m[128..] = ..
    m[192..] = m[<0, 3, 6, ..>]; ..                  one instruction each, from the library
    r = m[ramp(960, 1, 64)]; ..

All accesses of straight-line code that want the same stretch of memory are taken together: channels that are
interleaved, columns of a tile. Elements between those that are read may be read too, but for those of
buffers that the kernel writes, where another thread may be storing, or nobody has stored. What is
stored must fill whole registers. An access under a mask is left as it is, and so is one for which the
library knows no chain, or none that is shorter than what printers do by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import TILES, U8, DType
from hbc.ir.lang.walk import children, map_stmt, nodes, rewrite, statements
from hbc.ir.movement.chain import Chain, Movement, coarse
from hbc.ir.movement.items import Bind, Item, Registers, items_of, statement
from hbc.ir.movement.library import WIDTHS, known_chain, library_of
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.places import IN_MEMORY, Access, Rows, groups, is_apart
from hbc.ir.movement.price import price_of, price_of_plan
from hbc.ir.movement.registers import put, register, registers, steps
from hbc.ir.movement.structures import loaded, stored, structures
from hbc.ir.movement.widen import (
    NARROW,
    Widened,
    bound_wide,
    casts_of,
    picking,
    widening,
    widening_plan,
)
from hbc.ir.movement.windows import (
    Part,
    Place,
    Plan,
    adjacent,
    in_blocks,
    inverted,
    separate,
    spans,
    touched,
)  # fmt: skip


@record
class _Choice:
    """A plan for a group, with a chain for each of its parts."""

    group: tuple[Access, ...]
    plan: Plan
    parts: tuple[tuple[Part, Chain], ...]

    @property
    def moves(self) -> int:
        return sum(chain.cost for _, chain in self.parts)


def move(
    kernel: Kernel,
    target: Target,
    moved: list[Moved] | None = None,
    unknown: list[Movement] | None = None,
) -> Kernel:
    """The kernel with such accesses moved. `moved` takes what was done, `unknown` what the library does not
    know and would have been worth a try."""
    widths = tuple(w for w in WIDTHS.get(target.machine, ()) if w <= target.vector_bits)
    if not widths:
        return kernel
    accesses = (n for n in nodes(kernel.body) if isinstance(n, ir.Load | ir.Store))
    if not any(is_apart(a, (NARROW, *widths)) for a in accesses):
        return kernel
    allocated = [s for s in statements(kernel.body) if isinstance(s, ir.Allocate)]
    elsewhere = frozenset(a.buffer for a in allocated if a.memory not in IN_MEMORY)
    tiles = frozenset(a.buffer for a in allocated if a.memory in TILES)
    written = frozenset(_stored_by(kernel.body))
    noted = [] if moved is None else moved, [] if unknown is None else unknown
    work = _Move(target, widths, elsewhere, tiles, written, *noted)
    return kernel.map_body(work.stmt)


@dataclass(slots=True)
class _Move:
    """`elsewhere`: buffers that are not in memory; `tiles`: those of them that instructions load and store
    whole, rows apart; `written`: those that the kernel stores to."""

    target: Target
    widths: tuple[int, ...]
    elsewhere: frozenset[str]
    tiles: frozenset[str]
    written: frozenset[str]
    moved: list[Moved]
    unknown: list[Movement]
    made: int = 0

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Block | ir.LetStmt | ir.Store):
            return map_stmt(s, lambda e: e, self.stmt)
        old = list(items_of(s))
        items = [
            i if isinstance(i, Bind | Registers | ir.Store) else map_stmt(i, lambda e: e, self.stmt)
            for i in old
        ]
        bound = Counter(i.name for i in items if isinstance(i, Bind))
        if max(bound.values(), default=0) <= 1:
            items = self.stores(self.loads(self.widened(items)))
        same = len(items) == len(old) and all(a is b for a, b in zip(items, old, strict=True))
        return s if same else statement(items)

    def widened(self, items: list[Item]) -> list[Item]:
        """The items, with bytes that are widened out of registers that are loaded before, where one
        instruction for each vector is shorter than moving and widening them one after the other."""
        items = bound_wide(items, self.widths)
        rows = Rows()
        before: dict[int, list[Item]] = {}
        instead: dict[int, dict[ir.Expr, ir.Expr]] = {}
        for group, casts in self._widened_groups(items, rows):
            some = _distinct(group)
            size = casts[group[0].node][0].bits // U8.bits
            plan = widening_plan([a.places for a in some], size, self.target)
            if plan is None or not self._is_readable(group, plan):
                continue
            if any(rows.index(own, plan.run) is None for own in plan.sources):
                continue
            moves = picking(plan, self.target)
            apart = self._loaded(group, rows)
            least = sum(price_of(a, self.target) for a in some)
            if apart is not None:
                least = price_of_plan(apart.plan, apart.moves)
            if price_of_plan(plan, moves) >= least + len(some):
                continue
            name = self._fresh(group[0].node.buffer)
            self.elsewhere |= {name}
            new, values = widening(name, group, plan, rows, casts)
            before.setdefault(min(a.item for a in group), []).extend(new)
            for access in group:
                instead.setdefault(access.item, {}).update(values)
            self._note(group, plan, moves, len(some))
        return _with(items, before, instead)

    def _widened_groups(
        self, items: Sequence[Item], rows: Rows
    ) -> Iterator[tuple[list[Access], dict[ir.Node, list[Widened]]]]:
        """Loads that are widened to as many bits, as long as nothing is stored to their buffer; and how."""
        versions: Counter[str] = Counter()
        together: dict[tuple[object, ...], list[Access]] = {}
        ways: dict[tuple[object, ...], dict[ir.Node, list[Widened]]] = {}
        for at, item in enumerate(items):
            for value in () if self._is_of_tiles(item) else _values(item):
                for found in casts_of(value, self.widths):
                    load = found.load
                    places = rows.places(load.buffer, load.index)
                    if load.buffer not in self.elsewhere and places is not None:
                        key = load.buffer, versions[load.buffer], found.bits, load.type.lanes
                        together.setdefault(key, []).append(Access(at, load, places))
                        ways.setdefault(key, {}).setdefault(load, []).append(found)
            versions.update(_stored_by(item))
        return ((group, ways[key]) for key, some in together.items() for group in groups(some))

    def loads(self, items: list[Item]) -> list[Item]:
        """The items, with loads of what lies apart out of registers that are loaded before."""
        rows = Rows()
        before: dict[int, list[Item]] = {}
        instead: dict[int, dict[ir.Expr, ir.Expr]] = {}
        for group in self._load_groups(items, rows):
            if self._structures_loaded(group, rows, before, instead):
                continue
            choice = self._loaded(group, rows)
            some = [choice] if choice else [self._loaded([a], rows) for a in _distinct(group)]
            for one in some:
                if one is not None:
                    self._load(
                        one, [a for a in group if a.places in _places(one)], rows, before, instead
                    )
        return _with(items, before, instead)

    def _structures_loaded(
        self, group: list[Access], rows: Rows, before: dict[int, list[Item]],
        instead: dict[int, dict[ir.Expr, ir.Expr]],
    ) -> bool:  # fmt: skip
        """Whether the machine has an instruction for such vectors together; then it is used."""
        vectors = [a.places for a in _distinct(group)]
        found = structures(vectors, _element(group[0]).bits, self.target.machine)
        for some in found:
            name, lanes = self._fresh(group[0].node.buffer), len(vectors[0])
            values = {vectors[n]: c for c, n in enumerate(some)}
            members = [a for a in group if a.places in values]
            first = next(a.node for a in members if values[a.places] == 0)
            assert isinstance(first, ir.Load)
            before.setdefault(min(a.item for a in members), []).extend(
                loaded(name, first, len(some))
            )
            for access in members:
                assert isinstance(access.node, ir.Load)
                value = ir.Load(name, register(values[access.places], lanes), access.node.type)
                instead.setdefault(access.item, {})[access.node] = value
        if found:
            self._note_structures(group, len(found))
        return bool(found)

    def _loaded(self, group: list[Access], rows: Rows) -> _Choice | None:
        """The best plan for loads that want no element twice."""
        vectors = [a.places for a in _distinct(group)]
        inside, bits = spans(vectors), _element(group[0]).bits
        plans = [adjacent(vectors, inside), in_blocks(vectors, bits, inside)]
        readable = [p for p in plans if p is not None and self._is_readable(group, p)]
        return self._best(group, readable, rows)

    def _is_readable(self, group: Sequence[Access], plan: Plan) -> bool:
        """Whether all that is loaded may be: of what the kernel stores, only what is wanted."""
        wanted = {place for access in group for place in access.places}
        return group[0].node.buffer not in self.written or touched(plan) <= wanted

    def _load(
        self, choice: _Choice, group: list[Access], rows: Rows, before: dict[int, list[Item]],
        instead: dict[int, dict[ir.Expr, ir.Expr]],
    ) -> None:  # fmt: skip
        """Notes what comes before which item, and what it reads instead."""
        self._note(choice.group, choice.plan, choice.moves)
        vectors, t = _places(choice), _element(group[0])
        buffer, lanes = group[0].node.buffer, len(vectors[0])
        for part, chain in choice.parts:
            name = self._fresh(buffer)
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

    def _load_groups(self, items: Sequence[Item], rows: Rows) -> list[list[Access]]:
        """The loads of what lies apart, those of one buffer and type together, as long as nothing is stored
        to the buffer."""
        versions: Counter[str] = Counter()
        together: dict[tuple[object, ...], list[Access]] = {}
        for at, item in enumerate(items):
            for load in () if self._is_of_tiles(item) else _unconditional(item):
                if load.buffer in self.elsewhere or not is_apart(load, self.widths):
                    continue
                places = rows.places(load.buffer, load.index)
                if places is not None:
                    key = load.buffer, versions[load.buffer], load.type
                    together.setdefault(key, []).append(Access(at, load, places))
            versions.update(_stored_by(item))
        return [group for some in together.values() for group in groups(some)]

    def stores(self, items: list[Item]) -> list[Item]:
        """The items, with stores to what lies apart gathered at the last of them."""
        rows = Rows()
        before: dict[int, list[Item]] = {}
        instead: dict[int, Item] = {}
        after: dict[int, list[Item]] = {}
        for group in self._store_groups(items, rows):
            vectors = [a.places for a in group]
            t, lanes = _element(group[0]), len(vectors[0])
            found = structures(vectors, t.bits, self.target.machine)
            for members in found:
                name = self._fresh(group[0].node.buffer)
                own = [group[n] for n in members]
                self._store_structure(name, own, before, instead, after)
            if found:
                self._note_structures(group, len(found))
                continue
            choice = self._best(group, inverted(vectors, t.bits), rows)
            if choice is None:
                continue
            self._note(choice.group, choice.plan, choice.moves)
            buffer = group[0].node.buffer
            for part, chain in choice.parts:
                name = self._fresh(buffer)
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
        self, name: str, some: Sequence[Access], before: dict[int, list[Item]],
        instead: dict[int, Item], after: dict[int, list[Item]],
    ) -> None:  # fmt: skip
        """The vectors in registers, stored by one instruction when the last is there."""
        t, lanes, first = _element(some[0]), len(some[0].places), some[0].node
        assert isinstance(first, ir.Store)
        before.setdefault(min(a.item for a in some), []).append(
            Registers(name, t, len(some) * lanes)
        )
        for c, access in enumerate(some):
            assert isinstance(access.node, ir.Store)
            instead[access.item] = put(name, c, access.node.value)
        after.setdefault(max(a.item for a in some), []).append(stored(name, first, len(some)))

    def _store_groups(self, items: Sequence[Item], rows: Rows) -> Iterator[list[Access]]:
        """The stores to what lies apart that may as well happen at the last one's place."""
        together: dict[tuple[object, ...], list[Access]] = {}
        for at, item in enumerate(items):
            if not isinstance(item, ir.Store) or item.buffer in self.elsewhere:
                continue
            if self._is_of_tiles(item):
                continue
            if not is_apart(item, self.widths):
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
                    _touches(
                        items[at], group[0].node.buffer, first=at == min(own), fine=at in alike
                    )
                    for at in between
                ):
                    yield group

    def _is_of_tiles(self, item: Item) -> bool:
        """Whether a tile is loaded or stored: its instructions reach the rows themselves."""
        if not self.tiles or not isinstance(item, ir.Store):
            return False
        read = (n.buffer for n in nodes(item.value) if isinstance(n, ir.Load))
        return not self.tiles.isdisjoint((item.buffer, *read))

    def _best(
        self, group: list[Access], plans: Sequence[Plan], rows: Rows
    ) -> _Choice | None:  # fmt: skip
        """The plan of fewest instructions, if those are fewer than printers need by themselves."""
        bits = _element(group[0]).bits
        least = sum(price_of(a, self.target) for a in _distinct(group))
        best: _Choice | None = None
        for plan in plans:
            if any(rows.index(own, plan.run) is None for own in plan.sources):
                continue
            parts = [
                (part, known_chain(part.movement, library_of(self.target)))
                for part in separate(plan, bits)
            ]
            known = tuple((part, chain) for part, chain in parts if chain is not None)
            price = price_of_plan(plan, sum(chain.cost for _, chain in known))
            if price < least:
                self.unknown += [coarse(part.movement) for part, chain in parts if chain is None]
            if len(known) == len(parts) and price < least:
                best, least = _Choice(tuple(group), plan, known), price
        return best

    def _note(self, group: Sequence[Access], plan: Plan, moves: int, casts: int = 0) -> None:
        """What was done, and in place of what: so many instructions that widened, too."""
        first, some = group[0].node, _distinct(group)
        self.moved.append(
            Moved(
                first.buffer,
                isinstance(first, ir.Store),
                f"{_element(group[0])}x{len(group[0].places)}",
                len(some),
                sum(map(len, plan.sources)),
                moves,
                sum(price_of(a, self.target) for a in some) + casts,
                first.span,
            )
        )

    def _note_structures(self, group: Sequence[Access], count: int) -> None:
        first, some = group[0].node, _distinct(group)
        before = sum(price_of(a, self.target) for a in some)
        vector = f"{_element(group[0])}x{len(group[0].places)}"
        stored = isinstance(first, ir.Store)
        self.moved.append(
            Moved(first.buffer, stored, vector, len(some), count, 0, before, first.span)
        )

    def _fresh(self, buffer: str) -> str:
        self.made += 1
        return f"{buffer}.{self.made}"


def _element(access: Access) -> DType:
    node = access.node
    return (node if isinstance(node, ir.Load) else node.value).type.element


def _distinct(group: Sequence[Access]) -> list[Access]:
    return list({a.places: a for a in group}.values())


def _places(choice: _Choice) -> list[tuple[Place, ...]]:
    """Of the vectors of its plan, in their order."""
    return [a.places for a in _distinct(choice.group)]


def _whole_stores(
    buffer: str, name: str, t: DType, first: int, plan: Plan, number: int, rows: Rows
) -> Iterator[ir.Stmt]:
    """A register, stored run by run."""
    for n, place in enumerate(plan.sources[number]):
        index = rows.index([place], plan.run)
        assert index is not None
        at = ir.Ramp(ir.const_index(first + n * plan.run), ir.const_index(1), plan.run)
        yield ir.Store(buffer, index, ir.Load(name, at, t(plan.run)))


def _unconditional(item: Item) -> Iterator[ir.Load]:
    """The loads of an item's value, but for those that a condition may leave out."""
    for value in _values(item):
        yield from _loads(value)


def _values(item: Item) -> Iterator[ir.Expr]:
    """The value of an item, if all lanes of it are computed."""
    if isinstance(item, Bind) or (isinstance(item, ir.Store) and item.mask is None):
        yield item.value


def _loads(e: ir.Node) -> Iterator[ir.Load]:
    if isinstance(e, ir.Load):
        yield e
    elif not isinstance(e, ir.Select | ir.Let):
        for child in children(e):
            yield from _loads(child)


def _stored_by(item: Item) -> set[str]:
    if isinstance(item, Bind | Registers):
        return set()
    return {s.buffer for s in statements(item) if isinstance(s, ir.Store)}


def _touches(item: Item, buffer: str, first: bool, fine: bool) -> bool:
    """Whether an item needs the stores to the buffer where they are. `first`: none comes before it;
    `fine`: its own store is to other places."""
    if isinstance(item, Registers):
        return False
    whole = item.value if isinstance(item, Bind) else item
    loaded = any(isinstance(n, ir.Load) and n.buffer == buffer for n in nodes(whole))
    return (loaded and not first) or (buffer in _stored_by(item) and not fine)


def _with(
    items: Sequence[Item],
    before: Mapping[int, list[Item]],
    instead: Mapping[int, Mapping[ir.Expr, ir.Expr]],
) -> list[Item]:
    """The items, those that are numbered with others before them, and with other values in them."""
    result: list[Item] = []
    for at, item in enumerate(items):
        result += before.get(at, [])
        result.append(_replaced(item, instead[at]) if at in instead else item)
    return result


def _replaced(item: Item, instead: Mapping[ir.Expr, ir.Expr]) -> Item:
    def plain(e: ir.Expr) -> ir.Expr:
        return instead.get(e, e)

    match item:
        case Bind(name=name, value=value):
            return Bind(name, rewrite(value, plain))
        case ir.Store():
            return replace(item, value=rewrite(item.value, plain))
        case _:
            return item
