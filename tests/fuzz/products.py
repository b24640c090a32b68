"""Random sums of products, in the types and loops that tensor instructions have: matrices and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from choices import chance, pick, shuffled
from draft import Array, Draft, Env, FuncDraft, Reads, UpdateDraft
from expressions import condition, leaf, read
from loop_model import Loop, Node, Stage, mark, split_in
from spans import Affine, Span, constant

from hbc.ir.lang.types import BF16, BOOL, F16, F32, I8, I16, I32, U8, DType

if TYPE_CHECKING:
    from schedules import Plan

BYTES = ((I32, U8, I8), (I32, I8), (I32, U8), (I32, I16), (I32, U8, I16), (I32, I8, U8, I16))
PALETTES: dict[str, tuple[tuple[DType, ...], ...]] = {
    "avx512vnni": BYTES,
    "avxvnni": BYTES,
    "avx512bf16": ((F32, BF16), (F32, BF16, F16)),
    "arm_dot": (*BYTES, (F32, BF16)),
}
"""For each target with tensor instructions: what is summed, and what is multiplied."""
LENGTHS = (4, 8, 2, 16, 3, 6, 1, 32)
GROUPS = (4, 2, 8, 16, 3)
WIDTHS = (16, 8, 4, 32, 5)


def product(draft: Draft, func: FuncDraft, readable: list[Array]) -> Callable[[], UpdateDraft]:
    """f[x, y] += i32(A[x, r]) * i32(B[r, y])"""

    def finish() -> UpdateDraft:
        c, reads = draft.c, Reads()
        r = draft.fresh("r")
        if chance(c, 40):
            size = pick(c, draft.sizes)
            draft.reductions.append(f"reduce {r} in {size}")
            span = Span(0, {size: 1, "": -1})
        else:
            n = pick(c, LENGTHS)
            draft.reductions.append(f"reduce {r} in {n}")
            span = constant(0, n - 1)
        own = dict(zip(func.variables, func.region, strict=True))
        env = Env(draft, {**own, r: span}, readable, reads)
        factors = [factor(env, func.element, own, r, span) for _ in "ab"]
        if r not in "".join(factors):
            factors.append(f"{func.element}({r})")
        line = f"{func.name}[{', '.join(func.variables)}] += {' * '.join(factors)}"
        if chance(c, 15):
            line += f" where {condition(env, 1)}"
        extents: dict[str, Affine] = {r: span.extent()}
        return UpdateDraft(line, func.variables, (r,), extents, True, False, reads, product=True)

    return finish


def factor(env: Env, total: DType, own: dict[str, Span], r: str, span: Span) -> str:
    """An element of an array that moves along the sum, and along some of the others."""
    c = env.c
    arrays = [a for a in env.readable if a.element in env.draft.palette and a.element != BOOL]
    narrow = [a for a in arrays if a.element != total] or arrays
    if not narrow or chance(c, 5):
        return leaf(env, total)
    a = pick(c, narrow)
    names = shuffled(c, [*own, r])[: a.rank]
    if r not in names:
        names[c.integer(0, len(names) - 1)] = r
    inside = Env(env.draft, {n: span if n == r else own[n] for n in names}, [a], env.reads)
    return f"{total}({read(inside, a)})" if a.element != total else read(inside, a)


def tensor_lanes(plan: Plan, node: Node, stage: Stage) -> list[str]:
    """The sum in lanes, by groups, beside an output; the loops that stay outside of them, mostly."""
    c = plan.c
    sums = [x for x in stage.loops if stage.reduces(x) and not x.kind]
    outputs = [x for x in stage.loops if not stage.reduces(x) and not x.kind]
    if not sums or not outputs or not stage.product or not chance(c, 80):
        return []
    found = [".atomic()"]
    stage.atomic = True
    found += [_lanes(plan, stage, pick(c, sums), GROUPS)]
    found += [_lanes(plan, stage, outputs[-1 if chance(c, 80) else 0], WIDTHS)]
    if chance(c, 70):
        stage.loops.sort(key=lambda x: x.kind == "vector")
        found.append(f".reorder({', '.join(x.name for x in stage.loops)})")
    return found


def _lanes(plan: Plan, stage: Stage, loop: Loop, counts: tuple[int, ...]) -> str:
    if loop.constant is not None and 1 < loop.constant <= 64 and chance(plan.c, 50):
        mark(stage, loop, "vector")
        return f".vectorize({loop.name})"
    lanes = pick(plan.c, counts)
    tail = pick(plan.c, ("", ", tail = mask", ", tail = guard"))
    _, inner = split_in(stage, loop, loop.name, f"{loop.name}_v", lanes)
    mark(stage, inner, "vector")
    return f".vectorize({loop.name}, {lanes}{tail})"
