"""Which buffers statements touch, and where those that they allocate are touched: found in one walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import inner_statements, nodes_of, own_expressions, statements


@mutable
class Accesses:
    """What has been found, by the `id` of the statement, which is held so that it stays alive."""

    _buffers: dict[int, frozenset[str]] = field(default_factory=dict)
    _within: dict[int, list[ir.Load | ir.Store]] = field(default_factory=dict)
    _held: list[ir.Stmt] = field(default_factory=list)

    def buffers(self, s: ir.Stmt) -> frozenset[str]:
        """The buffers that the statement reads, writes, prefetches or allocates."""
        if id(s) not in self._buffers:
            self._held.append(s)
            for t in reversed(list(statements(s))):
                self._buffers[id(t)] = self._named(t)
        return self._buffers[id(s)]

    def _named(self, s: ir.Stmt) -> frozenset[str]:
        own = {n.buffer for e in own_expressions(s) for n in nodes_of(e, ir.Load)}
        if isinstance(s, ir.Allocate | ir.Store | ir.Prefetch):
            own.add(s.buffer)
        below = [self._buffers[id(t)] for t in inner_statements(s)]
        if len(below) == 1 and own <= below[0]:
            return below[0]
        return frozenset(own).union(*below)

    def within(self, s: ir.Allocate) -> list[ir.Load | ir.Store]:
        """The loads and stores of the buffer in its scope."""
        if id(s) not in self._within:
            self._held.append(s)
            self._walk(s)
        return self._within[id(s)]

    def _walk(self, s: ir.Stmt) -> None:
        pending: list[tuple[ir.Stmt, Mapping[str, list[ir.Load | ir.Store]]]] = [(s, {})]
        while pending:
            t, scope = pending.pop()
            accesses: list[ir.Load | ir.Store] = [t] if isinstance(t, ir.Store) else []
            accesses += [n for e in own_expressions(t) for n in nodes_of(e, ir.Load)]
            for n in accesses:
                if n.buffer in scope:
                    scope[n.buffer].append(n)
            if isinstance(t, ir.Allocate):
                scope = {**scope, t.buffer: self._within.setdefault(id(t), [])}
            pending += [(child, scope) for child in reversed(inner_statements(t))]
