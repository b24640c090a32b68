"""Random directives that change the loops of one step, legal as far as the loop model can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from choices import chance, pick, shuffled, weighted
from loop_model import Loop, Node, Stage, mark, split_in

if TYPE_CHECKING:
    from schedules import Plan

FACTORS = (2, 4, 3, 8, 5, 1, 7, 16)
LANES = (4, 8, 2, 16, 3, 5, 1)


def change_loops(plan: Plan, node: Node, stage: Stage) -> list[str]:
    """A chain of directives; the model of the stage follows."""
    found: list[str] = []
    for _ in range(weighted(plan.c, ((2, 0), (3, 1), (3, 2), (2, 3), (1, 5)))):
        kind = weighted(
            plan.c,
            (
                (5, split), (4, vectorize), (3, reorder), (3, unroll), (2, tile), (2, parallel),
                (2, fuse), (2, reduce_lanes), (2, rfactor), (1, specialize), (1, prefetch),
                (1, pipeline), (2, partition),
            ),
        )  # fmt: skip
        directive = kind(plan, node, stage)
        if directive:
            found.append(directive)
        if stage.factored:
            break
    return found


Kind = Callable[["Plan", Node, Stage], str]


def serial(stage: Stage) -> list[Loop]:
    return [x for x in stage.loops if not x.kind]


def taken(stage: Stage, name: str) -> bool:
    return any(x.name == name for x in stage.loops)


def tail_of(plan: Plan, stage: Stage, loop: Loop, factor: int) -> str:
    """A tail that the stage allows; `exact` with a promise about a size."""
    c = plan.c
    options = ["", "guard", "mask"]
    if stage.update is None:
        options.append("shift")
    if loop.size is not None or (loop.constant is not None and loop.constant % factor == 0):
        options.append("exact")
    tail = pick(c, options)
    if tail == "exact" and loop.size is not None:
        plan.promise(loop.size, factor)
    return f", tail = {tail}" if tail else ""


def split(plan: Plan, node: Node, stage: Stage) -> str:
    loops = serial(stage)
    if not loops:
        return ""
    loop, factor = pick(plan.c, loops), pick(plan.c, FACTORS)
    outer, inner = plan.fresh(f"{loop.name[0]}o"), plan.fresh(f"{loop.name[0]}i")
    tail = tail_of(plan, stage, loop, factor)
    split_in(stage, loop, outer, inner, factor)
    return f".split({loop.name}, {outer}, {inner}, {factor}{tail})"


def tile(plan: Plan, node: Node, stage: Stage) -> str:
    loops = [x for x in serial(stage) if not stage.reduces(x)]
    if len(loops) < 2:
        return ""
    at = plan.c.integer(0, len(loops) - 2)
    a, b = loops[at], loops[at + 1]
    fa, fb = pick(plan.c, FACTORS), pick(plan.c, FACTORS)
    tail = pick(plan.c, ("", "guard", "mask", *(("shift",) if stage.update is None else ())))
    ao, ai = split_in(stage, a, plan.fresh("ao"), plan.fresh("ai"), fa)
    bo, bi = split_in(stage, b, plan.fresh("bo"), plan.fresh("bi"), fb)
    slots = sorted(stage.loops.index(x) for x in (ao, ai, bo, bi))
    for slot, x in zip(slots, (ao, bo, ai, bi), strict=True):
        stage.loops[slot] = x
    names = ", ".join(x.name for x in (ao, bo, ai, bi))
    option = f", tail = {tail}" if tail else ""
    return f".tile({a.name}, {b.name}, {names}, {fa}, {fb}{option})"


def vectorize(plan: Plan, node: Node, stage: Stage) -> str:
    """A pure loop; of constant extent, or with a number of lanes."""
    loops = [x for x in serial(stage) if not stage.reduces(x)]
    if not loops:
        return ""
    loop = loops[-1] if chance(plan.c, 70) else pick(plan.c, loops)
    return lanes_of(plan, stage, loop)


def lanes_of(plan: Plan, stage: Stage, loop: Loop) -> str:
    few = loop.constant is not None and 1 <= loop.constant <= 32
    if few and chance(plan.c, 60):
        mark(stage, loop, "vector")
        return f".vectorize({loop.name})"
    lanes = pick(plan.c, LANES)
    if taken(stage, f"{loop.name}_v"):
        return ""
    tail = tail_of(plan, stage, loop, lanes)
    _, inner = split_in(stage, loop, loop.name, f"{loop.name}_v", lanes)
    mark(stage, inner, "vector")
    return f".vectorize({loop.name}, {lanes}{tail})"


def reduce_lanes(plan: Plan, node: Node, stage: Stage) -> str:
    """`atomic` and a vectorized reduction loop."""
    loops = [x for x in serial(stage) if stage.reduces(x)]
    if not loops or not stage.associative:
        return ""
    directive = lanes_of(plan, stage, pick(plan.c, loops))
    if not directive or stage.atomic:
        return directive
    stage.atomic = True
    return f".atomic(){directive}"


def unroll(plan: Plan, node: Node, stage: Stage) -> str:
    loops = serial(stage)
    if not loops:
        return ""
    loop = pick(plan.c, loops)
    if loop.constant is not None and loop.constant <= 16 and chance(plan.c, 60):
        mark(stage, loop, "unroll")
        return f".unroll({loop.name})"
    factor = pick(plan.c, (2, 4, 3))
    if taken(stage, f"{loop.name}_u"):
        return ""
    tail = tail_of(plan, stage, loop, factor)
    _, inner = split_in(stage, loop, loop.name, f"{loop.name}_u", factor)
    mark(stage, inner, "unroll")
    return f".unroll({loop.name}, {factor}{tail})"


def parallel(plan: Plan, node: Node, stage: Stage) -> str:
    loops = [x for x in serial(stage) if not stage.reduces(x)]
    if not loops:
        return ""
    loop = loops[0] if chance(plan.c, 70) else pick(plan.c, loops)
    if chance(plan.c, 30) and not taken(stage, f"{loop.name}_p"):
        factor = pick(plan.c, FACTORS)
        outer, _ = split_in(stage, loop, loop.name, f"{loop.name}_p", factor)
        mark(stage, outer, "parallel")
        return f".parallel({loop.name}, {factor})"
    mark(stage, loop, "parallel")
    return f".parallel({loop.name})"


def reorder(plan: Plan, node: Node, stage: Stage) -> str:
    """All loops or some; those of a scan keep their order."""
    if len(stage.loops) < 2:
        return ""
    count = plan.c.integer(2, len(stage.loops))
    chosen = shuffled(plan.c, stage.loops)[:count]
    places = sorted(stage.loops.index(x) for x in chosen)
    if stage.update is not None and not stage.associative:
        kept = iter([x for x in stage.loops if x in chosen and stage.reduces(x)])
        chosen = [next(kept) if stage.reduces(x) else x for x in chosen]
    for at, loop in zip(places, chosen, strict=True):
        stage.loops[at] = loop
    return f".reorder({', '.join(x.name for x in chosen)})"


def fuse(plan: Plan, node: Node, stage: Stage) -> str:
    pairs = [
        (a, b)
        for a, b in zip(stage.loops, stage.loops[1:], strict=False)
        if not a.kind and not b.kind and stage.reduces(a) == stage.reduces(b)
    ]
    if not pairs:
        return ""
    a, b = pick(plan.c, pairs)
    name = plan.fresh("fu")
    known = (a.constant, b.constant)
    extent = {"": known[0] * known[1]} if known[0] is not None and known[1] is not None else None
    at = stage.loops.index(a)
    stage.loops[at : at + 2] = [Loop(name, a.roots | b.roots, extent)]
    return f".fuse({a.name}, {b.name}, {name})"


def rfactor(plan: Plan, node: Node, stage: Stage) -> str:
    """Splits a reduction loop off into a Func of partial results."""
    loops = [x for x in serial(stage) if stage.reduces(x)]
    made = f"{node.name}_"
    if not loops or not stage.associative or stage.atomic or node.spelling:
        return ""
    if any(n.startswith(made) for n in plan.nodes):
        return ""
    loop, u = pick(plan.c, loops), plan.fresh("u")
    pure = [x for x in stage.loops if not stage.reduces(x)]
    rest = [x for x in stage.loops if stage.reduces(x) and x is not loop]
    roots = [v for v in node.variables if any(v in x.roots for x in pure)]
    plain = [Loop(v, frozenset({v}), None) for v in roots]
    whole = [Loop(v, frozenset({v}), None) for v in node.variables]
    name = f"{made}{u}"
    lane = Loop(u, frozenset({u}), loop.extent)
    reduce = frozenset(x.name for x in rest)
    plan.nodes[name] = Node(
        name, (*node.variables, u),
        [
            Stage(name, None, [*whole, lane]),
            Stage(
                name, 0, [*plain, lane, *(Loop(x.name, frozenset({x.name}), x.extent) for x in rest)],
                reduce, True, reads=stage.reads,
            ),
        ],
    )  # fmt: skip
    stage.loops = [*whole, Loop(loop.name, frozenset({loop.name}), loop.extent)]
    stage.reduce = frozenset({loop.name})
    stage.reads = frozenset({name})
    stage.factored = True
    return f".rfactor({loop.name}, {u})"


def specialize(plan: Plan, node: Node, stage: Stage) -> str:
    """The rest of the chain changes the special copy; the loops of the model then are its loops."""
    size = pick(plan.c, plan.draft.sizes)
    serial_loops = frozenset(x.name for x in stage.loops if x.kind != "vector")
    stage.general = serial_loops if stage.general is None else stage.general & serial_loops
    condition = pick(plan.c, (f"{size} >= 8", f"{size} % 4 == 0", f"{size} == 16"))
    return f".specialize({condition})"


def prefetch(plan: Plan, node: Node, stage: Stage) -> str:
    if not stage.reads or not stage.loops:
        return ""
    loop = pick(plan.c, stage.loops)
    inlined = {n.name for n in plan.nodes.values() if n.place == "inline"}
    unclear = {"T", *plan.draft.together}  # which of two arrays is read
    names = sorted(stage.reads - inlined - unclear)
    if not names or loop.kind:
        return ""
    cache = pick(plan.c, ("", ", L1", ", L2", ", L3"))
    return f".prefetch({pick(plan.c, names)}, {loop.name}, {plan.c.integer(1, 4)}{cache})"


def partition(plan: Plan, node: Node, stage: Stage) -> str:
    """Of a loop that no later directive makes another one."""
    loops = [x for x in stage.loops if x.kind in ("", "parallel")]
    if not loops:
        return ""
    loop = pick(plan.c, loops)
    mark(stage, loop, "parted")
    return f".partition({loop.name}{pick(plan.c, ('', '', ', always', ', never'))})"


def pipeline(plan: Plan, node: Node, stage: Stage) -> str:
    """The innermost loop that stays one, when nothing in it can be a condition."""
    loops = [x for x in stage.loops if x.kind not in ("vector", "unroll")]
    if not loops or loops[-1].kind or stage.conditional:
        return ""
    at = stage.loops.index(loops[-1])
    if any(x.constant is None for x in stage.loops[at + 1 :]):
        return ""
    stage.loops[at] = replace(loops[-1], kind="pipeline")
    return f".pipeline({loops[-1].name}, {plan.c.integer(2, 4)})"
