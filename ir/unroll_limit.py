"""Refuses loops that would be unrolled or vectorized into more text than a C compiler can bear."""

from __future__ import annotations

from math import prod

from hbc.ir.diag import error
from hbc.ir.nodes import Allocate, Block, Const, For, LoopKind, Stmt, Store
from hbc.ir.record import record
from hbc.ir.target import Target
from hbc.ir.types import TILES, Memory
from hbc.ir.walk import children, statements

# gcc takes some ten seconds for so many; what people write by hand has a few hundred.
MOST_STATEMENTS = 20_000
MOST_VECTORS = 2_500  # statements of a register each: their arithmetic is text too


@record
class Text:
    """How many statements there are: of scalars, and of vectors that a register holds."""

    scalars: int = 0
    vectors: int = 0

    def __add__(self, other: Text) -> Text:
        return Text(self.scalars + other.scalars, self.vectors + other.vectors)

    def times(self, n: int) -> Text:
        return Text(self.scalars * n, self.vectors * n)


def refuse_long(s: Stmt, target: Target) -> Stmt:
    """The same statement, whose VECTOR and UNROLL loops are still loops. HbcError naming the
    innermost of them that makes too many statements, with the factors of those in it."""
    selected = {*TILES, *([Memory.REGISTER] if target.instruction_sets else [])}
    tiles = frozenset(
        n.buffer for n in statements(s) if isinstance(n, Allocate) and n.memory in selected
    )
    _count(s, (), max(1, target.vector_bits // 32), tiles)
    return s


def _count(s: Stmt, around: tuple[For, ...], native: int, tiles: frozenset[str]) -> Text:
    """What `s` becomes inside the unrolled and vectorized loops `around` it. A register has so many
    `native` lanes; buffers where instructions accumulate take one for any number."""
    match s:
        case Store(buffer=buffer) if buffer in tiles:
            return Text(vectors=1)
        case Store():
            lanes = prod(_factor(loop) for loop in around if loop.kind is LoopKind.VECTOR)
            if lanes == 1 or native == 1:
                return Text(scalars=lanes)
            return Text(vectors=-(-lanes // native))
        case For(kind=LoopKind.UNROLL | LoopKind.VECTOR as kind):
            made = _count(s.body, (*around, s), native, tiles)
            if kind is LoopKind.UNROLL:
                made = made.times(_factor(s))
            _check(s, around, made)
            return made
        case _:
            inside = (_count(c, around, native, tiles) for c in children(s) if isinstance(c, Stmt))
            return sum(inside, Text() if isinstance(s, Block) else Text(scalars=1))


def _factor(loop: For) -> int:
    return int(loop.extent.value) if isinstance(loop.extent, Const) else 1


def _check(loop: For, around: tuple[For, ...], made: Text) -> None:
    for kind, count, most in (
        ("statements", made.scalars, MOST_STATEMENTS),
        ("vector statements", made.vectors, MOST_VECTORS),
    ):
        if count > most:
            does = "unrolling" if loop.kind is LoopKind.UNROLL else "vectorizing"
            raise error(
                f"{does} `{loop.var}` and what is in it would make {count:,} {kind}, and {most:,} "
                "are the most", loop.span,
                f"take fewer loops, or smaller factors: here {_factors(around, loop)}",
            )  # fmt: skip


def _factors(around: tuple[For, ...], loop: For) -> str:
    """The loops that make the vectors, and those that are unrolled from `loop` inwards."""
    parts: dict[str, None] = {}
    vectors = [s for s in around if s.kind is LoopKind.VECTOR]
    for s in (*vectors, *statements(loop)):
        match s:
            case For(var=name, kind=LoopKind.UNROLL):
                parts[f"`{name}` is unrolled {_factor(s)} times"] = None
            case For(var=name, kind=LoopKind.VECTOR):
                parts[f"`{name}` has {_factor(s)} lanes"] = None
            case _:
                pass
    return ", ".join(parts)
