"""Scans, of which a window may slide: each step reads its own Func only a few steps back.

    m[i, r] = max(m[i, r - 1], x[i, r])     r in 0 .. T
->  along the second dimension, over r, one step back
"""

from __future__ import annotations

from hbc.frontend.plans.legal import stage_accesses
from hbc.frontend.program.funcs import Func, ReduceVar
from hbc.ir.algebra.linear import difference
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir


@record
class Scan:
    """The only update of a Func: it runs along dimension `dim` over `over`, and reads the Func at most
    `back` steps before, never after, and nowhere else."""

    dim: int
    over: ReduceVar
    back: int


def scan_of(func: Func) -> Scan | None:
    """The scan that a Func is, if it is one."""
    if len(func.updates) != 1 or len(func.updates[0].reduce) != 1:
        return None
    u = func.updates[0]
    r = u.reduce[0]
    along = [d for d, i in enumerate(u.indices) if isinstance(i, ir.Var) and i.name == r.name]
    plain = [
        isinstance(i, ir.Var) and i.name in (v, r.name)
        for i, v in zip(u.indices, func.variables, strict=True)
    ]
    if len(along) != 1 or not all(plain):
        return None
    d = along[0]
    back = 0
    for access in stage_accesses(func, 0):
        if access.name != func.name:
            continue
        distance = difference(u.indices[d], access.indices[d])
        others = access.indices[:d] + access.indices[d + 1 :]
        if distance is None or distance < 0 or others != u.indices[:d] + u.indices[d + 1 :]:
            return None
        back = max(back, distance)
    return Scan(d, r, back)
