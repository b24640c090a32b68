"""Refuses loops that would be unrolled or vectorized into more text than a C compiler can bear."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from hbc.ir.ground.diag import HbcError, Note, error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import FRAGMENT_LANES, INDEX, TILES, Memory
from hbc.ir.lang.walk import children, mentions, nodes, nodes_of, statements
from hbc.ir.vectors.lane_limit import MOST_LANES

# gcc takes some ten seconds for so many; what people write by hand has a few hundred.
MOST_STATEMENTS = 20_000
MOST_VECTORS = 2_500  # statements of a register each: their arithmetic is text too
# What widening an operand of a sum over lanes adds to a statement, of which each part is cut out of its
# register, converted, multiplied and added up: 8 x 8 sums of 64 bytes take gcc a minute.
WIDENED = 2


@record
class Text:
    """How many statements there are: of scalars, and of vectors that a register holds."""

    scalars: int = 0
    vectors: int = 0
    summed: tuple[ir.For, ...] = ()  # vectorized loops of sums of converted lanes

    def __add__(self, other: Text) -> Text:
        summed = tuple(dict.fromkeys((*self.summed, *other.summed)))
        return Text(self.scalars + other.scalars, self.vectors + other.vectors, summed)

    def times(self, n: int) -> Text:
        return Text(self.scalars * n, self.vectors * n, self.summed)


def refuse_long(s: ir.Stmt, target: Target) -> ir.Stmt:
    """The same statement, whose VECTOR and UNROLL loops are still loops. HbcError naming the
    innermost of them that makes too many statements, with the factors of those in it."""
    selected = {*TILES, *([Memory.REGISTER] if target.instruction_sets else [])}
    held = {
        n.buffer: FRAGMENT_LANES.get(n.memory, 1)
        for n in statements(s)
        if isinstance(n, ir.Allocate) and n.memory in selected
    }
    _count(s, (), max(1, target.vector_bits // 32), held)
    return s


def _count(s: ir.Stmt, around: tuple[ir.For, ...], native: int, tiles: Mapping[str, int]) -> Text:
    """What `s` becomes inside the unrolled and vectorized loops `around` it. A register has so many
    `native` lanes; buffers where instructions accumulate, `tiles`, take one for any number. Each of so many
    lanes of a GPU has its part of them."""
    match s:
        case ir.Store(buffer=buffer) if buffer in tiles:
            return Text(vectors=1)
        case ir.Store(index=index, value=value):
            lanes = prod(_factor(loop) for loop in around if loop.kind is ir.LoopKind.VECTOR)
            read = (n.buffer for n in nodes_of(value, ir.Load))
            sharing = max((tiles.get(b, 1) for b in read), default=1)
            if sharing > 1:
                return Text(vectors=-(-lanes // sharing))
            if lanes == 1 or native == 1:
                return Text(scalars=lanes)
            vectors = -(-lanes // native)
            over = [
                x for x in around if x.kind is ir.LoopKind.VECTOR and not mentions(index, x.var)
            ]
            # Longer vectors are refused for their length.
            widened = _widened(value) if over and lanes <= MOST_LANES else 0
            return Text(0, vectors * (1 + WIDENED * widened), tuple(over if widened else ()))
        case ir.For(kind=ir.LoopKind.UNROLL | ir.LoopKind.VECTOR as kind):
            made = _count(s.body, (*around, s), native, tiles)
            if kind is ir.LoopKind.UNROLL:
                made = made.times(_factor(s))
            _check(s, around, made)
            return made
        case _:
            inside = (
                _count(c, around, native, tiles) for c in children(s) if isinstance(c, ir.Stmt)
            )
            return sum(inside, Text() if isinstance(s, ir.Block) else Text(scalars=1))


def _widened(e: ir.Expr) -> int:
    """How many operands are converted to wider elements."""
    return sum(
        isinstance(n, ir.Cast)
        and n.type.element.bits > n.value.type.element.bits
        and n.type != INDEX
        for n in nodes(e)
    )


def _factor(loop: ir.For) -> int:
    return int(loop.extent.value) if isinstance(loop.extent, ir.Const) else 1


def _check(loop: ir.For, around: tuple[ir.For, ...], made: Text) -> None:
    for kind, count, most in (
        ("statements", made.scalars, MOST_STATEMENTS),
        ("vector statements", made.vectors, MOST_VECTORS),
    ):
        if count > most:
            if kind != "statements" and made.summed:
                raise _sums(made, loop, around)
            does = "unrolling" if loop.kind is ir.LoopKind.UNROLL else "vectorizing"
            raise error(
                f"{does} `{loop.var}` and what is in it would make {count:,} {kind}, and {most:,} "
                "are the most", loop.span,
                f"take fewer loops, or smaller factors: here {_factors(around, loop)}",
            )  # fmt: skip


def _sums(made: Text, loop: ir.For, around: tuple[ir.For, ...]) -> HbcError:
    """What costs is that lanes are converted and summed up, for which the target has no instruction."""
    over = made.summed[-1]
    note = () if loop.span is None else (Note("with this loop in full", loop.span),)
    return error(
        f"vectorizing the reduction `{over.var}` makes {made.vectors:,} vector statements of sums over "
        f"converted lanes, and {MOST_VECTORS:,} are the most where no instruction does them", over.span,
        f"vectorize a loop over the sums instead, take fewer of them ({_factors(around, loop)}), or choose a "
        "target with dot products: `hbc targets`", *note,
    )  # fmt: skip


def _factors(around: tuple[ir.For, ...], loop: ir.For) -> str:
    """The loops that make the vectors, and those that are unrolled from `loop` inwards."""
    parts: dict[str, None] = {}
    vectors = [s for s in around if s.kind is ir.LoopKind.VECTOR]
    for s in (*vectors, *statements(loop)):
        match s:
            case ir.For(var=name, kind=ir.LoopKind.UNROLL):
                parts[f"`{name}` is unrolled {_factor(s)} times"] = None
            case ir.For(var=name, kind=ir.LoopKind.VECTOR):
                parts[f"`{name}` has {_factor(s)} lanes"] = None
            case _:
                pass
    return ", ".join(parts)
