"""What selection found for each statement, for `hbc explain`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Literal

from hbc.eqsat.choosing.miss import Miss
from hbc.eqsat.graph.egraph import rules_text
from hbc.eqsat.operands.choice import Choice
from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables, nodes_of

Part = Literal["whole", "tail"]


@record
class Cost:
    """Estimated cycles for one execution of a statement: of the instructions alone, of loads and
    stores, and of bringing operands into the order of the instruction."""

    compute: float
    memory: float
    conversion: float

    @property
    def total(self) -> float:
        return self.compute + self.memory + self.conversion


@record
class Record:
    """A statement that sums products: `stage` is the buffer it stores to, `copies` how many like it
    there are in the unrolled program. Either an instruction was chosen, which one execution runs
    `count` times, after the rules in `fired` matched so many times each; or `miss` says why not.
    `complete`: no budget of the e-graph ran out before. `part`: whether it is done for whole pieces of
    the loops or for the rest of one. `columns`: the order of the instruction's columns, if another than
    described."""

    span: Span | None
    stage: str
    instruction: str | None
    sizes: tuple[tuple[str, int], ...] = ()
    count: int = 0
    cost: Cost = Cost(0, 0, 0)
    fired: tuple[tuple[str, int], ...] = ()
    miss: Miss | None = None
    copies: int = 1
    complete: bool = True
    part: Part = "whole"
    columns: tuple[int, ...] = ()


def part_of(s: ir.Store, around: Iterable[ir.Stmt]) -> Part:
    """Which part a statement does, inside of others, the outermost first: of the rest it is where that
    is not 0, and under a mask that ends with it."""
    rests: set[str] = set()
    for outer in around:
        match outer:
            case ir.LetStmt(name=name, value=ir.Binary(op=ir.Op.MOD | ir.Op.MIN)):
                rests.add(name)
            case ir.If(condition=ir.Binary(op=ir.Op.GT, a=ir.Var(name=name))) if name in rests:
                return "tail"
            case _:
                pass
    if not rests:
        return "whole"
    masks = [s.mask, *(n.mask for n in nodes_of(s.value, ir.Load))]
    ends = (free_variables(m) for m in masks if m is not None)
    return "tail" if any(rests & names for names in ends) else "whole"


def chosen(s: ir.Store, choice: Choice, part: Part) -> Record:
    """For a statement that has an instruction."""
    plan = choice.plan
    memory = choice.cycles - plan.cycles - choice.packing
    cost = Cost(plan.cycles, memory, choice.packing)
    moved, fired = plan.instruction.columns, choice.fired
    name, order = (moved.of, moved.order) if moved else (plan.instruction.name, ())
    return Record(
        s.span, s.buffer, name, plan.sizes, plan.count, cost, fired,
        complete=choice.complete, part=part, columns=order,
    )  # fmt: skip


def missed(s: ir.Store, miss: Miss, part: Part = "whole") -> Record:
    """For a statement that has none."""
    return Record(s.span, s.buffer, None, miss=miss, part=part)


def cut_short(records: Iterable[Record]) -> list[Diagnostic]:
    """A warning for each statement whose e-graph hit a budget: its instructions are right, but there may
    be better ones."""
    spans = dict.fromkeys(r.span for r in records if not r.complete)
    message = "the search for instructions ended at its bound: what was chosen is the best so far"
    hint = "fewer terms in one sum, or fewer casts and masks around it, take less"
    return [Diagnostic(message, span, hint, severity=Severity.WARNING) for span in spans]


@cache
def _supporting() -> frozenset[str]:
    """The names of the rules that only derive facts, and change no term."""
    return frozenset(re.findall(r':name "([^"]+)"', rules_text("facts")))


def rewriting(r: Record) -> tuple[tuple[str, int], ...]:
    """The rules that made other terms, in the order in which they first matched."""
    return tuple((name, n) for name, n in r.fired if n and name not in _supporting())


def merged(records: Iterable[Record]) -> list[Record]:
    """Copies of a statement, with the same instructions, as one; in the order of the program."""
    copies: dict[Record, int] = {}
    for r in records:
        copies[r] = copies.get(r, 0) + 1
    together = [replace(r, copies=n) for r, n in copies.items()]
    return sorted(together, key=lambda r: r.span.start if r.span else -1)
