"""Whether what a Func keeps from one iteration to the next can serve it: `store_at` around `compute_at`.

A Func without updates is computed where it is new. So is one whose updates each touch the point that they
run at and no other of the same Func, and a scan, of which some steps are new. Other updates may change what
an earlier iteration has left: all of them run each time.
"""

from __future__ import annotations

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.plans.plan import At, FuncPlan, Plan, stage_at
from hbc.frontend.plans.scan import scan_of
from hbc.frontend.program.funcs import Func
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES


def is_stored_around(f: FuncPlan) -> bool:
    """Whether its memory lives through several iterations of the loop that computes it."""
    return f.store is not None and f.store != f.compute and isinstance(f.compute, At)


def why_anew(plan: Plan, f: FuncPlan, gpu: bool) -> str:
    """Why all that an iteration needs of a Func is computed anew, though it is stored around the loop; ""
    where that is not sure. `gpu`: for one, whose threads share what is stored."""
    if not is_stored_around(f) or not isinstance(f.compute, At):
        return ""
    loop = stage_at(plan, f.compute).loop(f.compute.loop)
    if loop is not None and loop.kind is ir.LoopKind.PARALLEL:
        return f"iterations of `{loop.name}` do not run one after the other"
    if not f.func.updates or scan_of(f.func) is not None:
        return ""
    for number in range(len(f.func.updates)):
        if not _at_own_point(f.func, number):
            which = f" {number}" if len(f.func.updates) > 1 else ""
            return f"its update{which} touches other points of it than the one it runs at"
    if gpu:
        return "on a GPU, a Func with updates is not kept"
    if f.memory in TILES:
        return "tiles are filled as a whole"
    shared = {s.joins.func for s in f.stages if s.joins is not None}
    shared |= {
        p.func.name
        for p in plan.values()
        for s in p.stages
        if s.joins is not None and s.joins.func == f.func.name
    }
    return f"it shares loops with `{min(shared)}`" if shared else ""


def _at_own_point(func: Func, number: int) -> bool:
    own = {part.name for part in func.parts}
    touched = [a.indices for a in stage_accesses(func, number) if a.name in own]
    return all(
        [getattr(i, "name", None) for i in indices] == list(func.variables)
        and all(isinstance(i, ir.Var) for i in indices)
        for indices in (func.updates[number].indices, *touched)
    )
