"""Straight-line code as a list: what is bound and stored one after the other, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import block, rewrite


@record
class Bind:
    """`name` stands for `value` in all that follows."""

    name: str
    value: ir.Expr


@record
class Registers:
    """A buffer in registers for all that follows."""

    buffer: str
    element: DType
    extent: int


Item = Bind | Registers | ir.Stmt


def items_of(s: ir.Stmt) -> Iterator[Item]:
    """The parts of a block in order. A name bound before other statements is left alone: it would reach
    into them."""
    match s:
        case ir.Block(body=body) if body:
            for child in body[:-1]:
                yield from [child] if isinstance(child, ir.LetStmt) else items_of(child)
            yield from items_of(body[-1])
        case ir.LetStmt(name=name, value=value, body=body):
            yield Bind(name, value)
            yield from items_of(body)
        case _:
            yield s


def statement(items: Sequence[Item]) -> ir.Stmt:
    """The items as one statement again."""
    result: list[ir.Stmt] = []
    for item in reversed(items):
        match item:
            case Bind(name=name, value=value):
                result = [ir.LetStmt(name, value, block(*reversed(result)))]
            case Registers(buffer=buffer, element=t, extent=n):
                inner = block(*reversed(result))
                result = [ir.Allocate(buffer, t, ir.const_index(n), Memory.REGISTER, inner)]
            case _:
                result.append(item)
    return block(*reversed(result))


def with_others(
    items: Sequence[Item],
    before: Mapping[int, list[Item]],
    instead: Mapping[int, Mapping[ir.Expr, ir.Expr]],
) -> list[Item]:
    """The items, those that are numbered with others before them, and with other values in them."""
    result: list[Item] = []
    for at, item in enumerate(items):
        result += before.get(at, [])
        result.append(_replaced(item, instead[at]) if at in instead else item)
    return result


def _replaced(item: Item, instead: Mapping[ir.Expr, ir.Expr]) -> Item:
    def plain(e: ir.Expr) -> ir.Expr:
        return instead.get(e, e)

    match item:
        case Bind(name=name, value=value):
            return Bind(name, rewrite(value, plain))
        case ir.Store():
            return replace(item, value=rewrite(item.value, plain))
        case _:
            return item
