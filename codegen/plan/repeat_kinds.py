"""What two statements must have in common to be iterations of one loop, apart from where they are."""

from __future__ import annotations

from hbc.ir.lang.nodes import (
    Allocate,
    Binary,
    Broadcast,
    Call,
    Cast,
    Expr,
    For,
    Gather,
    Instruct,
    Ramp,
    Select,
    Store,
    Unary,
    VectorReduce,
)


def same_kind(a: Allocate, b: Allocate) -> bool:
    """Whether two arrays differ in nothing but their names."""
    return (a.element, a.extent, a.memory, a.swizzle) == (b.element, b.extent, b.memory, b.swizzle)


def store_kind(s: Store) -> tuple[object, ...]:
    """How a store is done."""
    return s.asynchronous, s.atomic, s.warp


def header(s: For) -> tuple[object, ...]:
    """What a loop is, but for its name and its body."""
    return s.kind, s.start, s.extent, s.stages, s.resident, s.at_once


def operation(e: Expr) -> tuple[object, ...]:
    """What an operation is, apart from its operands; others than these are like none."""
    match e:
        case Binary(op=op):
            return Binary, op
        case Unary(op=unary):
            return Unary, unary
        case Call(name=name):
            return Call, name
        case Ramp(lanes=lanes) | Broadcast(lanes=lanes):
            return e.__class__, lanes
        case Gather(lanes=picks):
            return Gather, picks
        case VectorReduce(op=op, lanes=lanes):
            return VectorReduce, op, lanes
        case Instruct(name=instruction, sizes=sizes):
            return Instruct, instruction, sizes
        case Cast() | Select():
            return (e.__class__,)
        case _:
            return (id(e),)
