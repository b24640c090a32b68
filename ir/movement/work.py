"""What the parts of the pass `move` share: what may be moved, which plan is best, what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import nodes_of, statements
from hbc.ir.movement.chain import Chain, Movement, coarse
from hbc.ir.movement.items import Bind, Item, Registers
from hbc.ir.movement.library import known_chain, library_of
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.places import Access, Rows
from hbc.ir.movement.price import price_of, price_of_chain, price_of_plan
from hbc.ir.movement.windows import Part, Plan, separate, touched


@record
class Choice:
    """A plan for a group, with a chain for each of its parts."""

    group: tuple[Access, ...]
    plan: Plan
    parts: tuple[tuple[Part, Chain], ...]

    @property
    def moves(self) -> int:
        return sum(chain.cost for _, chain in self.parts)


@mutable
class Work:
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

    def is_of_tiles(self, item: Item) -> bool:
        """Whether a tile is loaded or stored: its instructions reach the rows themselves."""
        if not self.tiles or not isinstance(item, ir.Store):
            return False
        read = (n.buffer for n in nodes_of(item.value, ir.Load))
        return not self.tiles.isdisjoint((item.buffer, *read))

    def is_readable(self, group: Sequence[Access], plan: Plan) -> bool:
        """Whether all that is loaded may be: of what the kernel stores, only what is wanted."""
        wanted = {place for access in group for place in access.places}
        return group[0].node.buffer not in self.written or touched(plan) <= wanted

    def best(
        self, group: list[Access], plans: Sequence[Plan], rows: Rows
    ) -> Choice | None:  # fmt: skip
        """The plan of fewest instructions, if those are fewer than printers need by themselves."""
        bits = element(group[0]).bits
        least = sum(price_of(a, self.target) for a in distinct(group))
        best: Choice | None = None
        for plan in plans:
            if any(rows.index(own, plan.run) is None for own in plan.sources):
                continue
            parts = [
                (part, known_chain(part.movement, library_of(self.target)))
                for part in separate(plan, bits)
            ]
            known = tuple((part, chain) for part, chain in parts if chain is not None)
            price = price_of_plan(plan, sum(price_of_chain(chain) for _, chain in known))
            if price < least:
                self.unknown += [coarse(part.movement) for part, chain in parts if chain is None]
            if len(known) == len(parts) and price < least:
                best, least = Choice(tuple(group), plan, known), price
        return best

    def note(self, group: Sequence[Access], whole: int, moves: int, casts: int = 0) -> None:
        """What was done, and in place of what: so many `whole` loads or stores, and `moves` between them,
        instead of accesses one by one and instructions that widened."""
        first, some = group[0].node, distinct(group)
        self.moved.append(
            Moved(
                first.buffer,
                isinstance(first, ir.Store),
                f"{element(group[0])}x{len(group[0].places)}",
                len(some),
                whole,
                moves,
                sum(price_of(a, self.target) for a in some) + casts,
                first.span,
            )
        )

    def fresh(self, buffer: str) -> str:
        self.made += 1
        return f"{buffer}.{self.made}"


def element(access: Access) -> DType:
    node = access.node
    return (node if isinstance(node, ir.Load) else node.value).type.element


def distinct(group: Sequence[Access]) -> list[Access]:
    return list({a.places: a for a in group}.values())


def values(item: Item) -> Iterator[ir.Expr]:
    """The value of an item, if all lanes of it are computed."""
    if isinstance(item, Bind) or (isinstance(item, ir.Store) and item.mask is None):
        yield item.value


def stored_by(item: Item) -> set[str]:
    if isinstance(item, Bind | Registers):
        return set()
    return {s.buffer for s in statements(item) if isinstance(s, ir.Store)}
