"""Kernels of several schedules as one, which takes the first whose condition over the sizes holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.frontend.program.by_size import conjuncts, requirement
from hbc.frontend.program.funcs import Schedule
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, not_, or_
from hbc.ir.lang.kernel import Check, Gapless, Kernel
from hbc.ir.lang.walk import all_names, map_stmt, rewrite, statements


def together(
    schedules: Sequence[Schedule], apart: Sequence[Schedule], kernels: Sequence[Kernel]
) -> Kernel:
    """One kernel with the bodies of all. `apart`: the schedules as each of the kernels was made by it, under
    the condition by which it is taken; what a kernel checks beside that holds there alone."""
    *conditional, body = _own_names(apart, kernels)
    for s, then in reversed(list(zip(schedules, conditional, strict=False))):
        if s.condition is None:
            raise InternalError(f"by size: `{s.name}` leaves nothing to those behind it")
        body = ir.If(s.condition, then, body)
    instructions = {i.name: i for k in kernels for i in k.instructions}
    tables = {t.name: t for k in kernels for t in k.tables}
    return replace(
        kernels[0], body=body, tables=tuple(tables.values()), checks=_checks(apart, kernels),
        instructions=tuple(instructions.values()),
        assumes_finite=any(k.assumes_finite for k in kernels), gapless=_gapless(apart, kernels),
    )  # fmt: skip


def _gapless(apart: Sequence[Schedule], kernels: Sequence[Kernel]) -> tuple[Gapless, ...]:
    """Those of each where it is taken."""
    found: dict[tuple[str, int], ir.Expr] = {}
    for s, k in zip(apart, kernels, strict=True):
        here = ir.const_bool(True) if s.condition is None else s.condition
        for g in k.gapless:
            before = found.get((g.name, g.dim))
            found[g.name, g.dim] = here if before is None else or_(before, here)
    return tuple(Gapless(name, dim, where) for (name, dim), where in found.items())


def _own_names(apart: Sequence[Schedule], kernels: Sequence[Kernel]) -> list[ir.Stmt]:
    """The bodies, with arrays that no two of them call alike: what is known of one is not said of another."""
    taken: set[str] = set()
    bodies = []
    for s, k in zip(apart, kernels, strict=True):
        own = {n.buffer for n in statements(k.body) if isinstance(n, ir.Allocate)}
        names = {old: _fresh(f"{old}_{s.name}", taken | own) for old in sorted(own & taken)}
        bodies.append(_renamed(k.body, names, s.name))
        taken |= all_names(bodies[-1])
    return bodies


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _renamed(s: ir.Stmt, names: Mapping[str, str], schedule: str) -> ir.Stmt:
    """With other names for arrays that are allocated inside, and notes that say by which schedule."""

    def load(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in names:
            return replace(e, buffer=names[e.buffer])
        return e

    renamed = map_stmt(s, lambda e: rewrite(e, load), lambda c: _renamed(c, names, schedule))
    if isinstance(renamed, ir.Allocate | ir.Store | ir.Prefetch) and renamed.buffer in names:
        renamed = replace(renamed, buffer=names[renamed.buffer])
    if isinstance(renamed, ir.Allocate | ir.For) and renamed.note:
        renamed = replace(renamed, note=f"{schedule}: {renamed.note}")
    return renamed


def _checks(apart: Sequence[Schedule], kernels: Sequence[Kernel]) -> tuple[Check, ...]:
    """Those of all kernels, then those of some, under the conditions by which they are taken. One message is
    one check: it is one error code."""
    found: dict[str, ir.Expr] = {}
    everywhere = set(kernels[0].checks).intersection(*(k.checks for k in kernels[1:]))
    found = {c.message: c.condition for c in kernels[0].checks if c in everywhere}
    for s, k in zip(apart, kernels, strict=True):
        own = requirement(s)
        for c in k.checks:
            if c in everywhere or (own is not None and c.message == own.message):
                continue
            held = s.condition is not None and c.condition in conjuncts(s.condition)
            if not held:
                test = c.condition if s.condition is None else or_(not_(s.condition), c.condition)
                known = found.get(c.message)
                found[c.message] = test if known is None else and_(known, test)
    return tuple(Check(condition, message) for message, condition in found.items())
