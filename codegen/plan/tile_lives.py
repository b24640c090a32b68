"""Where each tile holds something that is still needed.

The statements that touch tiles are numbered in the order in which they stand. A tile lives from the
first number at which it is written to the last at which it is read; loops that carry it from one
iteration to the next, or past iterations that leave it alone, count as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import count

from hbc.codegen.plan.tile_steps import parts, reads_of, tile_step
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory

Life = tuple[int, int]
"""First and last number, both included."""


@record
class Place:
    """A statement that touches tiles, the numbers in it, and what it consists of: None for parts
    that touch none."""

    stmt: ir.Stmt
    first: int
    last: int
    inner: tuple[Place | None, ...] = ()


@record
class _Effect:
    """Tiles whose earlier contents may be read, those surely written, and all that are touched."""

    exposed: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()

    def then(self, after: _Effect) -> _Effect:
        return _Effect(
            self.exposed | (after.exposed - self.written),
            self.written | after.written,
            self.touched | after.touched,
        )


@mutable
class Lives:
    """The lives of all tiles of a statement; `places` is None when there are none."""

    tiles: Mapping[str, ir.Allocate]
    lives: dict[str, Life] = field(default_factory=dict)
    _next: Iterator[int] = field(default_factory=count)

    def place(self, s: ir.Stmt) -> Place | None:
        """Numbers everything in `s` and notes the lives."""
        return self._visit(s)[0]

    def _visit(self, s: ir.Stmt) -> tuple[Place | None, _Effect]:
        step = tile_step(s, self.tiles)
        if step is not None:
            at = next(self._next)
            read, touched = frozenset(reads_of(step)), frozenset((step.tile, *reads_of(step)))
            written = touched & {step.tile} if step.tile not in read else frozenset[str]()
            for tile in touched:
                self._extend(tile, at, at)
            return Place(s, at, at), _Effect(read, written, touched)
        first = next(self._next)
        inner, effects = [], []
        for part in parts(s):
            place, effect = self._visit(part)
            inner.append(place)
            effects.append(effect)
        last = next(self._next)
        effect = self._joined(s, effects, first, last)
        if not any(inner):
            return None, effect
        return Place(s, first, last, tuple(inner)), effect

    def _joined(self, s: ir.Stmt, effects: list[_Effect], first: int, last: int) -> _Effect:
        match s:
            case ir.For():
                (body,) = effects
                for tile in body.exposed | (body.touched - body.written):
                    self._extend(tile, first, last)
                runs = isinstance(s.extent, ir.Const) and s.extent.value > 0
                return body if runs else _Effect(body.exposed, frozenset(), body.touched)
            case ir.If():
                other = effects[1] if len(effects) > 1 else _Effect()
                return _Effect(
                    effects[0].exposed | other.exposed,
                    effects[0].written & other.written,
                    effects[0].touched | other.touched,
                )
            case ir.Allocate(buffer=buffer, memory=Memory.AMX_TILE):
                own = frozenset((buffer,))
                (e,) = effects
                return _Effect(e.exposed - own, e.written - own, e.touched - own)
            case _:
                whole = _Effect()
                for e in effects:
                    whole = whole.then(e)
                return whole

    def _extend(self, tile: str, first: int, last: int) -> None:
        old = self.lives.get(tile, (first, last))
        self.lives[tile] = (min(old[0], first), max(old[1], last))


def most_alive(lives: Mapping[str, Life]) -> list[str]:
    """The tiles that live at the number at which most do, in the order in which they began."""
    best: list[str] = []
    for start, _ in sorted(lives.values()):
        alive = [t for t, life in lives.items() if life[0] <= start <= life[1]]
        best = max(best, alive, key=len)
    return sorted(best, key=lambda t: lives[t])
