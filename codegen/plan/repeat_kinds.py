"""What two statements must have in common to be iterations of one loop, apart from where they are."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir


def same_kind(a: ir.Allocate, b: ir.Allocate) -> bool:
    """Whether two arrays differ in nothing but their names."""
    return (a.element, a.extent, a.memory, a.swizzle) == (b.element, b.extent, b.memory, b.swizzle)


def store_kind(s: ir.Store) -> tuple[object, ...]:
    """How a store is done."""
    return s.asynchronous, s.atomic, s.warp


def header(s: ir.For) -> tuple[object, ...]:
    """What a loop is, but for its name and its body."""
    return s.kind, s.start, s.extent, s.marks


def operation(e: ir.Expr) -> tuple[object, ...]:
    """What an operation is, apart from its operands; others than these are like none."""
    match e:
        case ir.Binary(op=op):
            return ir.Binary, op
        case ir.Unary(op=unary):
            return ir.Unary, unary
        case ir.Call(name=name):
            return ir.Call, name
        case ir.Ramp(lanes=lanes) | ir.Broadcast(lanes=lanes):
            return e.__class__, lanes
        case ir.Gather(lanes=picks):
            return ir.Gather, picks
        case ir.VectorReduce(op=op, lanes=lanes):
            return ir.VectorReduce, op, lanes
        case ir.Instruct(name=instruction, sizes=sizes):
            return ir.Instruct, instruction, sizes
        case ir.Cast() | ir.Select():
            return (e.__class__,)
        case _:
            return (id(e),)
