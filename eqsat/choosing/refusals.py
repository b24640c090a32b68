"""Errors for programs that ask for tile memory where no tile instruction can be used."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import prod

from hbc.eqsat.choosing.miss import APART, Miss
from hbc.eqsat.tensors.tensor import Tensor, reads
from hbc.eqsat.tiles.agreement import NarrowTilesError
from hbc.eqsat.tiles.tiles import MovingTileError, Tile, TileShapeError
from hbc.ir.ground.diag import Diagnostic, HbcError, NoSolutionError
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables, nodes_of, statements
from hbc.ir.vectors.lane_limit import MOST_LANES

_WHERE = re.compile(r"\bwhere\s+([^\n;#]*[^\s;#])")
NO_SUM = Miss(
    "", "it is written and read, and nothing is summed in it",
    "tiles hold sums of products: use `store_in(stack)` or leave `store_in` out",
)  # fmt: skip


def nothing_does(s: ir.Store, miss: Miss) -> NoSolutionError:
    """For a sum in tile memory that no instruction does."""
    why, span = miss.condition, s.span
    if miss.is_condition:
        span = _condition_of(s.span)
        named = None if span is None or span == s.span else f"the condition `{span.text}`"
        why = why.replace("its condition", named or "its condition")
    return _no_solution(
        f"no tile instruction does this to `{s.buffer}`, which is in tile memory: {why}", span, miss
    )


def _condition_of(update: Span | None) -> Span | None:
    """What follows `where` in the text of an update."""
    if update is None:
        return None
    clause = _WHERE.search(update.source.text, update.start)
    return Span(update.source, *clause.span(1)) if clause else update


def no_product(a: ir.Allocate, update: ir.Store | None, miss: Miss) -> NoSolutionError:
    """For a buffer in tile memory that no instruction touches. `update`: what should have been one."""
    span = a.span if update is None else update.span
    return _no_solution(
        f"`{a.buffer}` is in tile memory, and no instruction adds to it or multiplies it: "
        f"{miss.condition}", span, miss,
    )  # fmt: skip


def untiled(
    e: TileShapeError | MovingTileError | NarrowTilesError, a: ir.Allocate, around: ir.Stmt
) -> tuple[HbcError, Miss]:
    """For a buffer in tile memory of which nobody knows the tiles, and what to say of its sums. `around`:
    a statement that holds all scopes of the buffer's name."""
    match e:
        case TileShapeError():
            return _other_tiles(e, a)
        case MovingTileError():
            return _moving(e.buffer, e.statement, e.loops, open_loops(around, e.buffer))
        case NarrowTilesError():
            return _narrow(e)


def _other_tiles(e: TileShapeError, a: ir.Allocate) -> tuple[HbcError, Miss]:
    """Two statements want the elements in different tiles, or one in tiles that reach over the edges."""
    first, second = _shape(e.first), _shape(e.second)
    if first == second:
        why = (
            f"what one statement computes of it is more than one tile of an instruction holds, and does not "
            f"come out even in smaller ones (the nearest are {first})"
        )
        edit = "tile its loops by one tile, such as 16 x 16, or by multiples of one"
    else:
        why = (
            f"one statement wants tiles of {first} elements, another of {second} that overlap them"
        )
        edit = "split and vectorize its loops by the same factors in all of its steps"
    message = f"`{e.buffer}` cannot be kept in tiles: {why}"
    return HbcError(Diagnostic(message, a.span, edit)), Miss("", why, edit)


def _narrow(e: NarrowTilesError) -> tuple[HbcError, Miss]:
    """Products in too many tiles, each of a single row or column. (A convolution is one of matrices only
    where its sum has no condition but those of tails.)"""
    alone, other = (_arrays(x) for x in sorted(e.factors, key=lambda x: x is not e.alone))
    tile = next(iter(e.buffer.tiles.values()))
    held, count = len(e.buffer.tiles), e.instruction.place.count
    why = f"no vectorized loop moves {alone} without {other}"
    why += ", and one moves both" if e.shared else ""
    edit = APART if e.shared else f"vectorize a loop along which {alone} moves alone"
    condition = _condition_of(e.statement.span)
    if condition is not None and condition != e.statement.span:
        edit += f"; or, in a convolution, write what `{condition.text}` says as bounds of `reduce`"
    miss = Miss(e.instruction.name, why, edit)
    message = (
        f"`{e.buffer.name}` takes {held} tiles of {_shape(tile)} elements, and {count} registers have to "
        f"hold operands too: {why}, so that it is no product of matrices"
    )
    return _no_solution(message, e.statement.span, miss), miss


def _arrays(x: Tensor) -> str:
    return " and ".join(dict.fromkeys(f"`{r.buffer}`" for r in reads(x)))


def open_loops(s: ir.Stmt, buffer: str) -> dict[str, ir.Store]:
    """Loops of no constant length on which depends what is read of a buffer, and who reads it: those of a
    last piece, which `unroll` leaves as they are."""
    loops: dict[str, ir.Store] = {}
    for loop in statements(s):
        if not isinstance(loop, ir.For) or isinstance(loop.extent, ir.Const):
            continue
        scopes = {n.buffer for n in statements(loop) if isinstance(n, ir.Allocate)}
        for store in statements(loop.body):
            if isinstance(store, ir.Store) and buffer not in scopes:
                reads = (n for n in nodes_of(store.value, ir.Load))
                if any(n.buffer == buffer and loop.var in free_variables(n.index) for n in reads):
                    loops.setdefault(loop.var, store)
    return loops


def in_last_pieces(a: ir.Allocate) -> HbcError | None:
    """For a buffer that nobody reads but in loops of no constant length."""
    loops = open_loops(a.body, a.buffer)
    if not loops:
        return None
    return _moving(a.buffer, next(iter(loops.values())), (), loops)[0]


def _moving(
    buffer: str, statement: ir.Store, loops: Sequence[str], last: Collection[str]
) -> tuple[HbcError, Miss]:
    """A product whose tile is not known before the program runs. `last`: loops whose length is no constant
    in the last pieces of what they were split from."""
    named = list(dict.fromkeys([*loops, *last]))
    which = " and ".join(f"`{v}`" for v in named)
    directives = "".join(f".unroll({v})" for v in named)
    why = f"which of its tiles is meant here depends on {which}"
    edit = f"unroll, or vectorize, what runs over its tiles: `{directives}`"
    if last:
        edit += (
            f", with `tail = exact` in the splits that make {which}: over how many it runs in a last piece "
            "is not a constant"
        )
    message = (
        f"`{buffer}` is in tile memory, and {why}: tile registers are known by name, not by number"
    )
    return HbcError(Diagnostic(message, statement.span, edit)), Miss("", why, edit)


def refuse_wide(s: ir.Store, miss: Miss) -> None:
    """NoSolutionError for a sum of more lanes than ordinary vector code can have."""
    lanes = max((n.value.type.lanes for n in nodes_of(s.value, ir.VectorReduce)), default=1)
    if lanes > MOST_LANES:
        raise _no_solution(
            f"vectors of {lanes} lanes for `{s.buffer}`, and {MOST_LANES} are the most where no "
            f"instruction does the statement: {miss.condition}", s.span, miss,
        )  # fmt: skip


def _no_solution(message: str, span: Span | None, miss: Miss) -> NoSolutionError:
    near = f"the nearest is `{miss.nearest}`; " if miss.nearest else ""
    return NoSolutionError(Diagnostic(message, span, f"{near}{miss.edit}"))


def _shape(t: Tile) -> str:
    return f"{t.rows} x {prod(t.extents) // t.rows}"
