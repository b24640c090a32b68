"""Choices for the products of a scope that agree in the tiles of its buffers.

Buffers in tile memory lie one inside another: operands that are kept while the sums of several blocks
pass by, and sums inside of which operands are loaded. All products in the scope of the outermost are
decided at once: each gets its cheapest choice that suits the tiles of those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.tensors.plan import SUMMED
from hbc.eqsat.tensors.tensor import Read, Tensor, reads, strides_along
from hbc.eqsat.tiles.tiles import TileBuffer, TileShapeError, add_tiles, moving_loops
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction

Mapped = tuple[Statement, Choice]
"""A store as a statement over some box, and what does it."""
MappingsOf = Callable[[ir.Allocate, tuple[Instruction, ...]], list[Mapped | None]]
"""The cheapest for each product that sums in a buffer, by these instructions if any are named."""
MOST_FAILURES = 200  # combinations of choices to try for one scope


@record
class Options:
    """A store as a statement, all that may do it, the cheapest first, and as a statement over the
    coarsest box."""

    statement: Statement
    mappings: tuple[Mapped, ...]
    uncut: Statement

    @property
    def is_on_tiles(self) -> bool:
        """Whether instructions on tiles do it."""
        return any(choice.plan.instruction.place.rows > 1 for _, choice in self.mappings)

    @property
    def buffers(self) -> frozenset[str]:
        """What the statement sums in, and what the instructions may take as operands."""
        factors = (x for _, choice in self.mappings for x in _factors(choice))
        return frozenset(
            {self.statement.dest.buffer, *(r.buffer for x in factors for r in reads(x))}
        )


@record
class Use:
    """A product, what may do it, and the tile buffers that are in scope there, by name: which of those
    in `Tiles` each is."""

    store: ir.Store
    options: Options
    scope: Mapping[str, int]

    def moving(self) -> tuple[str, tuple[str, ...]] | None:
        """A buffer, and the loops that say which of its tiles is accessed; None where that is fixed."""
        statement, choice = self.options.mappings[0]
        for x in (statement.dest, *_factors(choice)):
            loops = moving_loops(x) if isinstance(x, Read) and x.buffer in self.scope else ()
            if isinstance(x, Read) and loops:
                return x.buffer, loops
        return None


Tiles = tuple[TileBuffer, ...]


class NarrowTilesError(Exception):
    """All that is left are products of a matrix and a vector, in so many tiles that no registers are left.
    `alone`: of which factor a tile has a single row or column; `shared`: whether both factors move along one
    of the outputs."""

    def __init__(self, buffer: TileBuffer, use: Use, mapped: Mapped, alone: Tensor) -> None:
        super().__init__(buffer.name)
        self.buffer = buffer
        self.statement = use.store
        self.factors = _factors(mapped[1])
        self.alone = alone
        self.instruction = mapped[1].plan.instruction
        a, b = map(strides_along, self.factors)
        self.shared = not (a & b).isdisjoint(mapped[0].outputs)


def agreement(uses: Sequence[Use], tiles: Tiles) -> tuple[Tiles, tuple[Mapped, ...]]:
    """The tiles, and a choice for each product: such that a register is left for each factor, if there
    is a way. Raises TileShapeError when nothing suits all, or only vectors that take too many tiles, and
    NarrowTilesError where these are all there is."""
    failures: list[TileShapeError] = []
    agreed = _agreed(uses, tiles, failures, roomy=True)
    if agreed is not None:
        return agreed
    others: list[TileShapeError] = []
    agreed = _agreed(uses, tiles, others, roomy=False)
    if agreed is None:
        raise others[0]
    for use, mapped in zip(uses, agreed[1], strict=True):
        alone = _single(mapped[1])
        sums = use.scope.get(mapped[0].dest.buffer)
        if alone is None or sums is None:
            continue
        if not _has_room((agreed[0][sums],), use, mapped[1]):
            raise failures[0] if failures else NarrowTilesError(agreed[0][sums], use, mapped, alone)
    return agreed


def _single(choice: Choice) -> Tensor | None:
    """The factor of which a product takes a single row or column, and the other factor several."""
    i = choice.plan.instruction
    for parts, row in zip(choice.plan.rows, i.rows, strict=True):
        if not parts and row.kind not in SUMMED:
            moved = [const_value(row.strides[f]) != 0 for f in i.factors]
            return next((x for x, m in zip(_factors(choice), moved, strict=True) if m), None)
    return None


def _agreed(
    uses: Sequence[Use], tiles: Tiles, failures: list[TileShapeError], roomy: bool
) -> tuple[Tiles, tuple[Mapped, ...]] | None:
    """`failures`: why combinations would not do; empty where they leave no register."""
    tried = 0

    def search(n: int, tiles: Tiles) -> tuple[Tiles, tuple[Mapped, ...]] | None:
        nonlocal tried
        if n == len(uses):
            return tiles, ()
        use = uses[n]
        for mapped in use.options.mappings:
            if tried > MOST_FAILURES:
                return None
            try:
                trial = _with(tiles, use, mapped)
            except TileShapeError as failure:
                failures.append(failure)
                tried += 1
                continue
            in_scope = tuple(trial[n] for n in use.scope.values())
            if roomy and not _has_room(in_scope, use, mapped[1]):
                tried += 1
                continue
            agreed = search(n + 1, trial)
            if agreed is not None:
                return agreed[0], (mapped, *agreed[1])
        return None

    return search(0, tiles)


def _with(tiles: Tiles, use: Use, mapped: Mapped) -> Tiles:
    """The tiles with those that a choice wants of the buffers. Raises TileShapeError."""
    (statement, choice), plan = mapped, mapped[1].plan
    trial = list(tiles)
    for n in use.scope.values():
        trial[n] = replace(tiles[n], tiles=dict(tiles[n].tiles))
    if statement.dest.buffer in use.scope:
        add_tiles(
            trial[use.scope[statement.dest.buffer]],
            statement.dest,
            plan,
            plan.instruction.accumulator,
        )
    for operand, x in zip(plan.instruction.factors, _factors(choice), strict=True):
        if isinstance(x, Read) and x.buffer in use.scope:
            add_tiles(trial[use.scope[x.buffer]], x, plan, operand)
    return tuple(trial)


def _has_room(tiles: Tiles, use: Use, choice: Choice) -> bool:
    """Whether these tiles leave a register for each factor that is loaded."""
    held = sum(len(b.tiles) for b in tiles)
    inside = [isinstance(x, Read) and x.buffer in use.scope for x in _factors(choice)]
    return held + inside.count(False) <= choice.plan.instruction.place.count


def _factors(choice: Choice) -> tuple[Tensor, Tensor]:
    return choice.candidate.a, choice.candidate.b
