"""Promises of `bound`: what they say of sizes is proved, or tested when the kernel is called.

    f.bound(x, 0, 16)   ->   check that what is needed of f along x is exactly 0 .. 15

More than is needed must not be computed either: it could read what lies outside of an input.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hbc.frontend.plans.plan import FuncPlan, Promise
from hbc.frontend.regions.program import Program, Scope
from hbc.frontend.regions.regions import Box, promised
from hbc.ir.algebra.bounds import Facts, prove
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import eq
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables

PROMISES: Final = "promises that"  # in each message of a call that breaks one


def promises_among(checks: Iterable[Check]) -> list[str]:
    """The messages of those that ask whether sizes are as the schedule says."""
    return [c.message for c in checks if f" {PROMISES} " in c.message]


def check_promises(program: Program, f: FuncPlan, box: Box, scope: Scope) -> None:
    """Adds the checks that what is needed, `box`, is what the schedule promises. HbcError where that
    is never so, or not for sizes to decide."""
    for p in f.bounds:
        need, given = box[f.func.variables.index(p.variable)], promised(p)
        _check_end(program, f, p, "starts", (need.lo, given.lo), scope)
        _check_end(program, f, p, "ends", (need.hi, given.hi), scope)


def _check_end(
    program: Program, f: FuncPlan, p: Promise, verb: str, ends: tuple[ir.Expr | None, ir.Expr | None],
    scope: Scope,
) -> None:  # fmt: skip
    need, given = ends
    if need is None or given is None:
        return
    facts = Facts(scope.ranges, program.known)
    condition = simplify(eq(need, given), facts)
    name = f.func.name
    match prove(condition, facts):
        case True:
            return
        case False:
            raise error(
                f"`bound` promises that `{p.variable}` of `{name}` {verb} at {show(given)}, but it "
                f"{verb} at {show(need)}", p.span, "correct the promise, or leave it out",
            )  # fmt: skip
    if not free_variables(condition) <= program.sizes:
        raise error(
            f"`bound` promises that `{p.variable}` of `{name}` {verb} at {show(given)}, but it "
            f"{verb} at {show(need)}, which is not for sizes alone to decide", p.span,
            f"compute `{name}` outside of the loops that this depends on, or leave the promise out",
        )  # fmt: skip
    text = f"`{name}` {PROMISES} `{p.variable}` {verb} at {show(given)}"
    program.checks.append(Check(condition, text))
