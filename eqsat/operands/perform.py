"""Statements that do a chosen statement: the instructions, what starts them and what follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from hbc.eqsat.operands.choice import CHOSEN, Choice, Statement
from hbc.eqsat.operands.lane_order import lane_order
from hbc.eqsat.operands.operand import Access, access, operand_value, points, starts_of
from hbc.eqsat.tensors.plan import Part, Parts, Plan
from hbc.eqsat.tensors.points import Points, address, exists, given, value
from hbc.eqsat.tensors.steps import UNROLLED, Fresh, Index, nest
from hbc.eqsat.tensors.tensor import Dim, Masked, Read, Tensor, Uniform, reads, replaced
from hbc.eqsat.tensors.windows import meeting, together
from hbc.ir.algebra.layout import layout
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const, const_value, mul
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import block

Packed = Callable[[Tensor, Points, Parts, Index, str], ir.Expr]
"""Gives the load of an operand from a temporary where it lies packed, as `Frames.packed`."""


@record
class Accumulators:
    """Where the instructions accumulate: the destination itself, or a buffer in registers."""

    buffer: str
    element: DType
    lanes: int
    in_place: bool


def perform(
    choice: Choice,
    s: Statement,
    fresh: Fresh,
    packed: Packed,
    only: Sequence[Index] | None = None,
) -> ir.Stmt:
    """The statement done with the instructions of the choice, at all output points or at some."""
    plan, c = choice.plan, choice.candidate
    i = plan.instruction
    lanes = points(plan, i.accumulator, {}).lanes
    slices = list(output_points(plan)) if only is None else only
    if choice.rest is None and c.c == s.dest and not s.mask and _in_place(s, plan):
        own = Accumulators(s.dest.buffer, c.element, lanes, in_place=True)
        return _sum(choice, s, own, slices, fresh, packed)
    own = Accumulators(fresh(s.dest.buffer), c.element, lanes, in_place=False)
    begin = [_begin(choice, s, plan, own, at) for at in slices]
    end = [_end(choice, s, plan, own, at) for at in slices]
    body = block(*begin, _sum(choice, s, own, slices, fresh, packed), *end)
    extent = ir.const_index(lanes * len(list(output_points(plan))))
    return ir.Allocate(own.buffer, own.element, extent, Memory.REGISTER, body)


def output_points(plan: Plan) -> Iterator[Index]:
    """The loops around the instruction that are not summed, at each of their steps."""
    loops = [p for p in plan.outer if not p.dim.reduced]
    for steps in product(*(range(p.extent) for p in loops)):
        yield {p.dim: ir.const_index(n) for p, n in zip(loops, steps, strict=True)}


def number_of(plan: Plan, at: Index) -> int:
    """Which of the output points this is, in their order."""
    number = 0
    for p in plan.outer:
        if not p.dim.reduced:
            number = number * p.extent + int(const_value(at[p.dim]) or 0)
    return number


def _in_place(s: Statement, plan: Plan) -> bool:
    """Whether each instruction's accumulator is a run of adjacent elements of the destination."""
    for at in output_points(plan):
        where = accumulated(plan, at)
        if exists(_moved(s.dest), where) is not None:
            return False
        flat = layout(address(s.dest, where))
        if flat is None or [const_value(step) for _, step in flat.dims] not in ([], [1]):
            return False
    return True


def accumulated(plan: Plan, at: Index) -> Points:
    """The points of one accumulator."""
    return points(plan, plan.instruction.accumulator, starts_of(plan, at))


def _slice(own: Accumulators, plan: Plan, at: Index) -> ir.Expr:
    return ir.Ramp(ir.const_index(number_of(plan, at) * own.lanes), ir.const_index(1), own.lanes)


def _begin(choice: Choice, s: Statement, plan: Plan, own: Accumulators, at: Index) -> ir.Stmt:
    start = _under_mask(choice.candidate.c or Uniform(const(0, own.element)), s)
    return ir.Store(own.buffer, _slice(own, plan, at), value(start, accumulated(plan, at)))


def _under_mask(x: Tensor, s: Statement) -> Tensor:
    """The value with the destination read where it is stored to: elsewhere it may never have been."""
    own: Tensor = s.dest
    for c in s.mask:
        own = Masked(c, own)
    return replaced(x, s.dest.buffer, own) if {s.dest} >= _of(x, s.dest.buffer) else x


def _of(x: Tensor, buffer: str) -> set[Read]:
    return {r for r in reads(x) if r.buffer == buffer}


def _end(choice: Choice, s: Statement, plan: Plan, own: Accumulators, at: Index) -> ir.Stmt:
    where = accumulated(plan, at)
    total = ir.Load(own.buffer, _slice(own, plan, at), own.element(own.lanes))
    result: ir.Expr = total
    if choice.rest is not None:
        result = value(_under_mask(choice.rest, s), given(where, CHOSEN, total))
    return ir.Store(s.dest.buffer, address(s.dest, where), result, stored(s, where))


def stored(s: Statement, where: Points) -> ir.Expr | None:
    """The mask of the store at these points."""
    conditions = [value(c, where) for c in s.mask]
    inside = exists(_moved(s.dest), where)
    if inside is not None:
        conditions.append(inside)
    return and_(*conditions) if conditions else None


def _moved(x: Read) -> tuple[Dim, ...]:
    return tuple(d for d, _ in x.strides)


def _sum(
    choice: Choice,
    s: Statement,
    own: Accumulators,
    slices: Sequence[Index],
    fresh: Fresh,
    packed: Packed,
) -> ir.Stmt:
    """All instructions: the summed loops outside, so that accumulators stay where they are, and steps
    together that windows serve alike."""
    plan = choice.plan
    loops = [p for p in plan.outer if p.dim.reduced]
    summed, side_by_side = _meeting(loops, choice)

    def body(index: Index) -> ir.Stmt:
        steps = side_by_side(index)
        return block(
            *(_execute(choice, s, own, {**at, **i}, packed) for i in steps for at in slices)
        )

    # Written out, the steps of one block of outputs would stand apart from those of the next.
    return nest(summed, fresh, body, UNROLLED if summed == loops else 1)


def _meeting(
    summed: list[Part], choice: Choice
) -> tuple[list[Part], Callable[[Index], list[Index]]]:
    """The summed loops, and which steps to take at one of theirs: those at which the windows of
    neighbouring outputs meet."""
    plan, c = choice.plan, choice.candidate
    meetings = (
        meeting(x, plan, n) for n, x in zip(plan.instruction.factors, (c.a, c.b), strict=True)
    )
    p, steps = next((f for f in meetings if f is not None), (None, 1))
    if p is None:
        return summed, lambda index: [index]
    count = p.extent // steps
    written = together(p, steps)
    around = Part(Dim(f"{p.dim.name}_window", count // written, reduced=True), count // written, 1)
    inner = replace(p, extent=steps)

    def side_by_side(index: Index) -> list[Index]:
        first = mul(index.get(around.dim, ir.const_index(0)), written * steps)
        at = add(index.get(p.dim, ir.const_index(0)), first)
        return [{**index, p.dim: add(at, n * steps)} for n in range(written)]

    loops = [q for part in summed for q in ([around, inner] if part == p else [part])]
    return [q for q in loops if q.extent > 1], side_by_side


def _execute(
    choice: Choice, s: Statement, own: Accumulators, index: Index, packed: Packed
) -> ir.Stmt:
    plan, c = choice.plan, choice.candidate
    i = plan.instruction
    if own.in_place:
        where = address(s.dest, accumulated(plan, index))
    else:
        where = _slice(own, plan, index)
    t = own.element(own.lanes)
    args: dict[int, ir.Expr] = {i.accumulator: ir.Load(own.buffer, where, t)}
    for n, x in zip(i.factors, (c.a, c.b), strict=True):
        args[n] = operand(x, plan, n, index, packed)
    done = ir.Instruct(i.name, plan.sizes, tuple(args[n] for n in sorted(args)), t)
    return ir.Store(own.buffer, where, done)


def operand(x: Tensor, plan: Plan, n: int, index: Index, packed: Packed) -> ir.Expr:
    """An operand of one instruction, loaded directly or from where it lies packed."""
    at = points(plan, n, starts_of(plan, index))
    if access(x, plan, n, at) is not Access.PACKED:
        return operand_value(x, at)
    note = f"as {plan.instruction.name} loads it"
    first = points(plan, n, {})
    order = lane_order(plan.instruction, n, x, first)
    if order is None:
        return packed(x, first, plan.outer, index, note)
    return order.load(packed(x, order.points, plan.outer, index, note))
