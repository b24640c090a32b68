"""The statements of a block one after the other, also those inside of what is opened on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import islice

from hbc.codegen.plan.repeat_kinds import same_kind
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import block, inner_statements, names_read, nodes

LONG = 14
"""Nodes of a statement that takes another line."""
_NOTHING = ir.Block(())


@record
class Item:
    """A statement of a block. One that `opens` holds for all that follow it there: an allocation or
    a name, whose body is not looked at."""

    stmt: ir.Stmt
    opens: bool
    sign: int
    lines: int
    _named: list[frozenset[str]] = field(default_factory=list, compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        """The variables and buffers that it reads or touches: found out when somebody asks."""
        if not self._named:
            self._named.append(names_in(self.stmt))
        return self._named[0]

    @property
    def opened(self) -> str | None:
        """The name that holds from here on."""
        if isinstance(self.stmt, ir.Allocate) and self.opens:
            return self.stmt.buffer
        return self.stmt.name if isinstance(self.stmt, ir.LetStmt) and self.opens else None


def opened(s: ir.Stmt) -> list[tuple[ir.Stmt, bool]]:
    """A block's statements, with what opens for all that follow; those have no bodies."""
    match s:
        case ir.Block(body=()):
            return []
        case ir.Block(body=(*before, last)):
            alike = isinstance(last, ir.Allocate) and any(
                isinstance(c, ir.Allocate) and same_kind(c, last) for c in before
            )
            return [*((c, False) for c in before), *([(last, False)] if alike else opened(last))]
        case ir.LetStmt(body=body) | ir.Allocate(body=body):
            return [(replace(s, body=_NOTHING), True), *opened(body)]
        case _:
            return [(s, False)]


def closed(items: Sequence[Item]) -> ir.Stmt:
    """The statement again."""
    made: list[ir.Stmt] = []
    for item in reversed(items):
        if item.opens and isinstance(item.stmt, ir.LetStmt | ir.Allocate):
            made = [replace(item.stmt, body=block(*made[::-1]))]
        else:
            made.append(item.stmt)
    return block(*made[::-1])


class LastUses:
    """By name, the last item that reads or touches it: found out when somebody asks."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items

    def of(self, name: str) -> int:
        """-1: none."""
        return self._places.get(name, -1)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: n for n, item in enumerate(self.items) for name in item.names}


def names_in(s: ir.Stmt) -> frozenset[str]:
    """The variables and buffers of a statement."""
    return frozenset(names_read(s, buffers=True))


def lines_in(items: Sequence[Item]) -> int:
    """About how many lines they take."""
    return sum(item.lines for item in items)


def lines_of(s: ir.Stmt) -> int:
    """About how many lines a statement takes."""
    match s:
        case ir.Store():
            return 1 + (sum(1 for _ in islice(nodes(s), LONG)) == LONG)
        case ir.Block(body=body):
            return sum(map(lines_of, body))
        case _:
            own = 3 if isinstance(s, ir.For) else 1
            return own + sum(map(lines_of, inner_statements(s)))
