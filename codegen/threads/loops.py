"""Loops in a GPU's block: what waits for a barrier from one iteration to the next.

A loop is gone through until what reaches its end agrees with what was assumed at its beginning. Loops
inside of it are gone through as often, and go on from what they found the last time: so the work for a
nest grows with its length, and not by a factor for each loop around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from hbc.codegen.threads.conflicts import UnsyncedAccess
from hbc.codegen.threads.places import Place
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir

MOST_ROUNDS = 4  # then whatever was found in any of them is assumed

Waiting = dict[UnsyncedAccess, None]
Visit = Callable[[Waiting], tuple[ir.Stmt, Waiting]]


@mutable
class _Loop:
    """What is known of one loop: `carried` from the iteration before, and what came of the last time
    that its body was gone through: `entry`, `body`, `left`. `at` stays with its identity."""

    statement: ir.For
    at: Place
    carried: Waiting = field(default_factory=dict)
    rounds: int = 0
    entry: Waiting | None = None
    body: ir.Stmt | None = None
    left: Waiting = field(default_factory=dict)


@mutable
class Loops:
    """The loops of a block, by identity and place."""

    known: dict[tuple[int, int], _Loop] = field(default_factory=dict)

    def iterations(
        self, s: ir.For, most: int | None, waiting: Waiting, at: Place, visit: Visit
    ) -> tuple[ir.Stmt, Waiting]:
        """The body of a loop of at most so many iterations, and what waits behind its last one.
        `visit` goes through the body."""
        loop = self.known.setdefault((id(s), id(at)), _Loop(s, at))
        while True:
            entry = {**waiting, **loop.carried}
            if loop.body is None or loop.entry is None or loop.entry.keys() != entry.keys():
                loop.entry, (loop.body, loop.left) = entry, visit(entry)
            again = dict.fromkeys(_again(s.var, most, waiting, entry, loop.left))
            if again.keys() <= entry.keys():
                loop.carried = again
                return loop.body, loop.left
            loop.rounds += 1
            loop.carried = {**loop.carried, **again} if loop.rounds > MOST_ROUNDS else again


def _again(
    name: str, most: int | None, waiting: Waiting, entry: Waiting, left: Waiting
) -> Iterator[UnsyncedAccess]:
    """What waits from earlier iterations alone, as seen from the next one."""
    for p in left:
        lasts = p in entry and p not in waiting
        yield from (q for q in p.next_iterations(name, most, lasts) if q not in waiting)
