"""Bytes that lie apart and are widened: the instruction that brings them to their places puts zeros between.

    u16(A[ramp(3*x, 3, 32)])
->  m[0..] = A[ramp(3*x, 1, 64)]; m[64..] = A[ramp(3*x + 32, 1, 64)]; .. u16(m[<0, 3, 6, ..>]) ..

A processor that permutes bytes makes the last of one or two registers by one instruction, under a mask that
clears (VPERMB, VPERMI2B: Intel SDM, volume 2), as NEON does by TBL. Others pick within blocks of 128 bits
(PSHUFB), so that blocks are loaded which have what those of the result want: here at 3*x, 3*x + 24, .., and
the same 8 bytes later; one instruction for each of both registers, and AVX2 joins the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeGuard

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import ARM, Target
from hbc.ir.lang.types import U8, DType, Kind
from hbc.ir.lang.walk import children, map_children, nodes, rewrite_stmt
from hbc.ir.movement.chain import Row
from hbc.ir.movement.items import Bind, Item, Registers
from hbc.ir.movement.places import Access, Rows, is_apart
from hbc.ir.movement.registers import put
from hbc.ir.movement.windows import BLOCK, Place, Plan, adjacent, spans
from hbc.ir.vectors.take import constants

MOST_SOURCES = 2  # registers that one instruction reads
RUN = BLOCK // U8.bits  # bytes of a block
NARROW = 64  # bits of bytes that fill a register when they are widened


@record
class Widened:
    """A cast of a load, which fills a register."""

    cast: ir.Cast
    load: ir.Load

    @property
    def bits(self) -> int:
        return self.cast.type.element.bits * self.cast.type.lanes


def widened(e: ir.Node, widths: Sequence[int]) -> Widened | None:
    """What `e` is, if it is a register of bytes that lie apart, each in an integer of more bits."""
    if not (isinstance(e, ir.Cast) and _is_of_bytes(e.value)):
        return None
    found = Widened(e, e.value)
    whole = e.type.element.is_int and e.type.element.bits > U8.bits and found.bits in widths
    return found if whole and is_apart(e.value, (NARROW, *widths)) else None


def _is_of_bytes(e: ir.Expr) -> TypeGuard[ir.Load]:
    return isinstance(e, ir.Load) and e.type.element == U8


def bound_wide(items: Sequence[Item], widths: Sequence[int]) -> list[Item]:
    """The items, with the names of bytes that lie apart made names of them widened, where all that reads them
    widens them to as many bits: `a = A[..]; u16(a) .. i16(a)` becomes `a = u16(A[..]); a .. i16(a)`."""
    apart = {i.name: i.value for i in items if isinstance(i, Bind) and _is_of_bytes(i.value)}
    apart = {name: load for name, load in apart.items() if is_apart(load, (NARROW, *widths))}
    if not apart:
        return list(items)
    read: Counter[str] = Counter()
    casts: dict[str, Counter[DType]] = {name: Counter() for name in apart}
    for node in (n for item in items for n in _nodes(item)):
        if isinstance(node, ir.Var) and node.name in apart:
            read[node.name] += 1
        elif (
            isinstance(node, ir.Cast)
            and isinstance(node.value, ir.Var)
            and node.value.name in apart
        ):
            casts[node.value.name][node.type.element] += 1
    wide: dict[str, DType] = {}
    for name, types in casts.items():
        bits = {t.bits for t in types if t.is_int}
        if sum(types.values()) == read[name] and len(bits) == 1 and len(types) == 2:
            wide[name] = next(t for t in types if t.kind is Kind.UINT)
    return [_bound_as(item, wide) for item in items] if wide else list(items)


def _nodes(item: Item) -> Iterator[ir.Node]:
    if isinstance(item, Bind):
        yield from nodes(item.value)
    elif not isinstance(item, Registers):
        yield from nodes(item)


def _bound_as(item: Item, wide: Mapping[str, DType]) -> Item:
    def widened_name(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Cast(type=t, value=ir.Var(name=name, type=narrow)) if name in wide:
                known = ir.Var(name, wide[name](narrow.lanes), e.span)
                return known if t.element == wide[name] else ir.Cast(t, known, e.span)
            case _:
                return map_children(e, widened_name)

    match item:
        case Registers():
            return item
        case Bind(name=name, value=value) if name in wide:
            return Bind(name, ir.Cast(wide[name](value.type.lanes), value))
        case Bind(name=name, value=value):
            return Bind(name, widened_name(value))
        case _:
            return rewrite_stmt(item, widened_name)


def widening_plan(
    vectors: Sequence[Sequence[Place]], size: int, target: Target
) -> Plan | None:  # fmt: skip
    """Registers of `size` bytes for the vectors, each of which takes few of them; None where there are not so
    many bytes, or more are read."""
    if not picks_anywhere(target):
        return _in_blocks(vectors, size)
    plan = adjacent(vectors, spans(vectors), size)
    if plan is None or any(len({u // size for u in row}) > MOST_SOURCES for row in plan.rows):
        return None
    return plan


def picks_anywhere(target: Target) -> bool:
    """Whether an instruction picks any bytes of two registers, and zeros."""
    return target.permutes_bytes or target.machine == ARM


def picking(plan: Plan, target: Target) -> int:
    """The instructions that pick and widen all vectors of a plan."""
    if picks_anywhere(target):
        return len(plan.rows)
    size = plan.run * len(plan.sources[0])
    used = [len({u // size for u in row}) for row in plan.rows]
    return sum(n if target.vector_bits == 512 else 2 * n - 1 for n in used)


def _in_blocks(vectors: Sequence[Sequence[Place]], size: int) -> Plan | None:
    """Each block of a register has adjacent bytes that this block of some vectors wants, as many vectors as
    want the same."""
    sources: list[tuple[Place, ...]] = []
    rows: dict[int, Row] = {}
    left = sorted(range(len(vectors)), key=lambda n: vectors[n][0])
    while left:
        some: list[int] = []
        starts: list[tuple[Place, ...]] | None = None
        for n in left:
            more = _starts([vectors[m] for m in (*some, n)], size // RUN)
            if more is None:
                break
            some, starts = [*some, n], more
        if starts is None:
            return None
        for n in some:
            rows[n] = _picks(vectors[n], starts, len(sources))
        sources += starts
        left = left[len(some) :]
    ordered = tuple(rows[n] for n in range(len(vectors)))
    if all(b == (a[0], a[1] + RUN) for own in sources for a, b in pairwise(own)):
        return Plan(size, tuple(own[:1] for own in sources), ordered)
    return Plan(RUN, tuple(sources), ordered)


def _starts(vectors: Sequence[Sequence[Place]], blocks: int) -> list[tuple[Place, ...]] | None:
    """Where the runs of one register or two begin, the first from the first byte that is wanted of each block
    on, the second up to the last."""
    per = len(vectors[0]) // blocks
    starts: list[list[Place]] = []
    for b in range(blocks):
        wanted = sorted(place for v in vectors for place in v[b * per : (b + 1) * per])
        (row, low), (last, high) = wanted[0], wanted[-1]
        if row != last or not RUN <= high - low + 1 <= MOST_SOURCES * RUN:
            return None
        starts.append(list(dict.fromkeys([(row, low), (row, high - RUN + 1)])))
    alike = len({len(own) for own in starts}) == 1
    return list(zip(*starts, strict=True)) if alike else None


def _picks(vector: Sequence[Place], starts: Sequence[tuple[Place, ...]], first: int) -> Row:
    """The bytes of registers with such runs, which are numbered from `first` on."""
    blocks = len(starts[0])
    found = []
    for lane, (_, at) in enumerate(vector):
        b = lane * blocks // len(vector)
        n = next(n for n, own in enumerate(starts) if own[b][1] <= at < own[b][1] + RUN)
        found.append(((first + n) * blocks + b) * RUN + at - starts[n][b][1])
    return tuple(found)


def widening(
    name: str,
    group: Sequence[Access],
    plan: Plan,
    rows: Rows,
    casts: Mapping[ir.Node, Sequence[Widened]],
) -> tuple[list[Item], dict[ir.Expr, ir.Expr]]:
    """What is loaded before, into the buffer of that name, and what stands for each cast."""
    vectors = list(dict.fromkeys(a.places for a in group))
    size = plan.run * len(plan.sources[0])
    items: list[Item] = [Registers(name, U8, size * len(plan.sources))]
    for number, own in enumerate(plan.sources):
        index = rows.index(own, plan.run)
        assert index is not None
        items.append(put(name, number, ir.Load(group[0].node.buffer, index, U8(size))))
    instead: dict[ir.Expr, ir.Expr] = {}
    for access in group:
        assert isinstance(access.node, ir.Load)
        picks = constants(plan.rows[vectors.index(access.places)])
        for cast in (w.cast for w in casts[access.node]):
            instead[cast] = ir.Cast(cast.type, ir.Load(name, picks, access.node.type), cast.span)
    return items, instead


def casts_of(e: ir.Node, widths: Sequence[int]) -> Iterator[Widened]:
    """The widened loads in a value that are computed whatever conditions hold."""
    found = widened(e, widths)
    if found is not None:
        yield found
    elif not isinstance(e, ir.Select | ir.Let | ir.Load):
        for child in children(e):
            yield from casts_of(child, widths)
