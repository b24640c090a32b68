"""Operands loaded again where there are fewer tile registers than operands that are kept.

    a0 = A[0]; b0 = B[0]; c00 += a0 * b0; b1 = B[1]; c01 += a0 * b1    # with six sums, nine tiles
    a1 = A[1]; c10 += a1 * b0; c11 += a1 * b1; ..
->  a0 = A[0]; b0 = B[0]; c00 += a0 * b0; b1 = B[1]; c01 += a0 * b1    # eight
    a1 = A[1]; b0' = B[0]; c10 += a1 * b0'; b1' = B[1]; c11 += a1 * b1'; ..

Where too many tiles live, the operand whose next use is farthest gives up its register, and is loaded before
that use (Belady, "A study of replacement algorithms for a virtual-storage computer", 1966). Only what
is loaded and used in straight-line code is loaded again, from memory that nothing there stores to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.codegen.plan.tile_lives import Lives, Place, most_alive
from hbc.codegen.plan.tile_steps import (
    Fill,
    parts,
    reads_of,
    renamed_tiles,
    tile_step,
    tiles_of,
    with_parts,
)
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import block, free_variables, statements

AGAIN = "#again"
"""In the names of tiles that are loaded again, before a number (`tile_steps.label` leaves it out)."""


@record
class _Operand:
    """A tile that one statement loads and others use: the load, its number, and the numbers of the uses."""

    tile: str
    load: ir.Store
    at: int
    uses: tuple[int, ...]


def load_again(body: ir.Stmt, count: int) -> ir.Stmt:
    """The body with loads repeated until no more than `count` tiles live at once, or as far as that goes."""
    made = 0
    while True:
        tiles = tiles_of(body)
        lives = Lives(tiles)
        top = lives.place(body)
        alive = most_alive(lives.lives)
        if top is None or len(alive) <= count:
            return body
        point = max(lives.lives[t][0] for t in alive)
        steps = {p.first: p.stmt for p in _leaves(top)}
        loaded = [o for t in alive if (o := _operand(tiles[t], steps, tiles)) is not None]
        computing = [n for n, s in steps.items() if not isinstance(tile_step(s, tiles), Fill)]
        free = [(use, o) for o in loaded if (use := _next_use(o, point, computing)) is not None]
        if not free:
            return body
        use, operand = max(free, key=lambda pair: pair[0])
        made += 1
        body = _split(body, operand, use, steps, f"{operand.tile}{AGAIN}{made}")


def _leaves(p: Place) -> Iterator[Place]:
    """The places of steps, in order."""
    if not p.inner:
        yield p
    for c in p.inner:
        if c is not None:
            yield from _leaves(c)


def _operand(
    a: ir.Allocate, steps: Mapping[int, ir.Stmt], tiles: Mapping[str, ir.Allocate]
) -> _Operand | None:
    """The tile, where it may be loaded again before any of its uses."""
    inside = {id(s) for s in _straight(a.body)}
    load: tuple[int, ir.Store, ir.Load] | None = None
    uses: list[int] = []
    for number, s in steps.items():
        step = tile_step(s, tiles)
        if step is None or a.buffer not in (step.tile, *reads_of(step)):
            continue
        if id(s) not in inside:
            return None
        if a.buffer in reads_of(step):
            uses.append(number)
        if step.tile != a.buffer or not isinstance(s, ir.Store) or s.buffer != a.buffer:
            continue
        if load is not None or not isinstance(step, Fill):
            return None
        load = number, s, step.source
    if load is None or not uses or uses[0] < load[0]:
        return None
    at, store, source = load
    everything = list(statements(a.body))
    named = {s.name for s in everything if isinstance(s, ir.LetStmt)}
    named |= {s.var for s in everything if isinstance(s, ir.For)}
    stored = {s.buffer for s in everything if isinstance(s, ir.Store)}
    if named & free_variables(source) or source.buffer in stored:
        return None
    return _Operand(a.buffer, store, at, tuple(uses))


def _straight(s: ir.Stmt) -> Iterator[ir.Stmt]:
    """The statements that are executed once, whenever `s` is."""
    yield s
    if not isinstance(s, ir.For | ir.If):
        for c in parts(s):
            yield from _straight(c)


def _next_use(o: _Operand, point: int, computing: Sequence[int]) -> int | None:
    """The use that the tile is not needed before, from `point` on; None where it is needed there, or in
    the first of the steps `computing` from there on: loading it later would leave as many alive."""
    if point in o.uses or o.at > point:
        return None
    use = next((n for n in o.uses if n > point), None)
    return use if use is not None and any(point < n < use for n in computing) else None


def _split(s: ir.Stmt, o: _Operand, use: int, steps: Mapping[int, ir.Stmt], again: str) -> ir.Stmt:
    """The statement with the tile loaded as `again` before its use at a number, and used as that from
    there on."""
    late = {id(steps[n]) for n in o.uses if n >= use}
    first, moved = id(steps[use]), o.uses[0] >= use

    def below(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Store):
            if moved and s is o.load:
                return ir.Block(())
            step = renamed_tiles(s, {o.tile: again}) if id(s) in late else s
            return block(replace(o.load, buffer=again), step) if id(s) == first else step
        inner = tuple(below(c) for c in parts(s))
        new = block(*inner) if isinstance(s, ir.Block) else with_parts(s, inner)
        match new:
            case ir.Allocate(buffer=o.tile, body=body):
                return replace(new, buffer=again, body=body if moved else new)
            case _:
                return new

    return below(s)
