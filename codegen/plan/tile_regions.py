"""Registers for tiles, and the stretches of a kernel under one configuration of the registers.

Tiles whose lives do not overlap share a register if they have the same shape. One configuration
serves as much of a kernel as it can: everything, if its shapes fit the registers there are, or a
parallel loop, all of whose iterations on a thread it serves, because each thread has its own. Where
shapes do not fit, each part of the kernel between which no tile lives gets its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from hbc.codegen.plan.tile_lives import Life, Place, most_alive
from hbc.codegen.plan.tile_steps import label, parts, with_parts
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory

Shape = tuple[int, int]
"""Rows, and bytes of a row."""


@record
class Region:
    """A statement under one configuration: the shape of each register in use, and the register of
    each tile."""

    stmt: ir.Stmt
    shapes: tuple[Shape, ...]
    registers: Mapping[str, int]


def func_of(tile: str) -> str:
    """What people call the tile: the name without the numbers that were added to it."""
    return re.sub(r"(_\d+)+$", "", label(tile)) or tile


class TileError(HbcError):
    """The tile registers cannot hold what a kernel keeps in them."""


@mutable
class Planner:
    """Puts regions into a body. `count`: registers of the machine."""

    tiles: Mapping[str, ir.Allocate]
    shapes: Mapping[str, Shape]
    lives: Mapping[str, Life]
    count: int
    regions: list[Region] = field(default_factory=list)

    def refuse_too_many(self) -> None:
        alive = most_alive(self.lives)
        if len(alive) > self.count:
            raise self._too_many(alive, f"{len(alive)} tile registers are needed at once")

    def _too_many(self, alive: Sequence[str], message: str) -> TileError:
        funcs = Counter(func_of(t) for t in alive)
        listed = ", ".join(f"{n} for `{func}`" for func, n in funcs.items())
        most = max(funcs, key=lambda f: funcs[f])
        span = next((self.tiles[t].span for t in alive if func_of(t) == most), None)
        hint = f"keep fewer tiles of `{most}`: unroll less, or tile its loops smaller"
        kept = [func for func, n in funcs.items() if func != most and n > 1]
        if kept:
            which = " and ".join(f"`{func}`" for func in kept)
            hint += f" (tiles of {which} are not loaded again: they stay over a loop or a branch)"
        text = f"{message}, and there are {self.count}: {listed}"
        return TileError(Diagnostic(text, span, hint))

    def place(self, p: Place, *, threaded: bool) -> ir.Stmt:
        """The statement with its regions, as far out as one configuration serves. `threaded`: in a
        parallel loop."""
        s = p.stmt
        inner = [c for c in p.inner if c is not None]
        if isinstance(s, ir.Block):
            return self._runs(p, threaded=threaded)
        is_wrapper = isinstance(s, ir.LetStmt) or (
            isinstance(s, ir.Allocate) and s.memory is not Memory.AMX_TILE
        )
        if is_wrapper or (isinstance(s, ir.If) and len(inner) == 1):
            return self._inside(p, threaded=threaded)
        own_threads = isinstance(s, ir.For) and s.kind is ir.LoopKind.PARALLEL and not threaded
        serves = threaded or own_threads or not _has_threads(p)
        if serves and (region := self._region(replace(s), [p])) is not None:
            return region.stmt
        return self._inside(p, threaded=threaded or own_threads)

    def _inside(self, p: Place, *, threaded: bool) -> ir.Stmt:
        if not p.inner:
            raise InternalError("codegen: a statement needs more tiles than live")
        children = tuple(
            old if place is None else self.place(place, threaded=threaded)
            for old, place in zip(parts(p.stmt), p.inner, strict=True)
        )
        return with_parts(p.stmt, children)

    def _runs(self, p: Place, *, threaded: bool) -> ir.Stmt:
        """A block: neighbours share a region where they can."""
        children: list[ir.Stmt] = []
        old = parts(p.stmt)
        at = 0
        while at < len(old):
            place = p.inner[at]
            if place is None:
                children.append(old[at])
                at += 1
                continue
            end = self._longest_run(p, at, threaded=threaded)
            run = [c for c in p.inner[at:end] if c is not None]
            region = None
            if len(run) > 1:
                region = self._region(ir.Block(old[at:end]), run)
            children.append(self.place(place, threaded=threaded) if region is None else region.stmt)
            at = end if region is not None else at + 1
        return with_parts(p.stmt, tuple(children))

    def _longest_run(self, p: Place, at: int, *, threaded: bool) -> int:
        """Behind the last child that the configuration of the one at `at` can serve too."""
        run: list[Place] = []
        best = at + 1
        for end, child in enumerate(p.inner[at:], at + 1):
            if child is None:
                continue
            run.append(child)
            if (not threaded and _has_threads(child)) or self._registers(run) is None:
                break
            best = end
        return best

    def _region(self, s: ir.Stmt, run: list[Place]) -> Region | None:
        """`s`, which consists of `run`, under one configuration; None when that is not enough."""
        registers = self._registers(run)
        if registers is None:
            return None
        alive = self._alive(run)
        if crossing := [t for t, life in alive.items() if not _holds(run, life)]:
            raise self._carried(crossing[0])
        self.regions.append(Region(s, *registers))
        return self.regions[-1]

    def _alive(self, run: list[Place]) -> dict[str, Life]:
        first, last = run[0].first, run[-1].last
        return {t: a for t, a in self.lives.items() if a[0] <= last and a[1] >= first}

    def _registers(self, run: list[Place]) -> tuple[tuple[Shape, ...], dict[str, int]] | None:
        """Shapes and registers for these statements; None when there are not enough registers. While
        some are left, tiles do not share: what is loaded need not wait for what reads the old tile."""
        alive = self._alive(run)
        fewest = len(self._assigned(alive, 0)[0])
        return self._assigned(alive, self.count - fewest) if fewest <= self.count else None

    def _assigned(
        self, alive: Mapping[str, Life], spare: int
    ) -> tuple[tuple[Shape, ...], dict[str, int]]:
        """Shapes by register and registers by tile, `spare` more than there must be."""
        shapes: list[Shape] = []
        taken_until: list[int] = []
        registers: dict[str, int] = {}
        for tile, (first, last) in sorted(alive.items(), key=lambda item: item[1]):
            wanted = self.shapes[tile]
            free = [r for r, s in enumerate(shapes) if s == wanted and taken_until[r] < first]
            if free and not spare:
                r = min(free, key=lambda r: taken_until[r])
            else:
                spare -= 1 if free else 0
                r = len(shapes)
                shapes.append(wanted)
                taken_until.append(last)
            registers[tile], taken_until[r] = r, last
        return tuple(shapes), registers

    def _carried(self, tile: str) -> TileError:
        """The tile lives across the edge of what one configuration can serve."""
        first, last = self.lives[tile]
        shapes = {self.shapes[t] for t, a in self.lives.items() if a[0] <= last and a[1] >= first}
        return TileError(
            Diagnostic(
                f"a tile of `{func_of(tile)}` is kept while tiles of {len(shapes)} shapes are used, "
                f"and the {self.count} registers cannot be configured for all of them",
                self.tiles[tile].span,
                "give them the same tile sizes, or use fewer tiles at once",
            )
        )

    def refuse_shared(self, p: Place) -> None:
        """Tiles that live over the edge of a parallel loop."""
        s, inner = p.stmt, [c for c in p.inner if c is not None]
        if not (isinstance(s, ir.For) and s.kind is ir.LoopKind.PARALLEL):
            for c in inner:
                self.refuse_shared(c)
            return
        for tile, life in self._alive(inner).items():
            if not _holds(inner, life):
                func = func_of(tile)
                raise TileError(
                    Diagnostic(
                        f"a tile of `{func}` is carried into or out of the parallel loop `{s.var}`,"
                        " and each thread has its own tile registers",
                        self.tiles[tile].span,
                        f"compute `{func}` inside of that loop, or make a loop inside it parallel",
                    )
                )


def _holds(run: list[Place], life: Life) -> bool:
    return run[0].first <= life[0] and life[1] <= run[-1].last


def _has_threads(p: Place) -> bool:
    """Whether there is a parallel loop in it that touches tiles."""
    if isinstance(p.stmt, ir.For) and p.stmt.kind is ir.LoopKind.PARALLEL:
        return True
    return any(_has_threads(c) for c in p.inner if c is not None)
