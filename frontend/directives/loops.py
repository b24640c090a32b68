"""Directives that rearrange the loops of one stage: split, fuse, reorder, and what kind each loop is.

Each is a function (Func, stage plan, directive) -> stage plan; an illegal one raises HbcError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbc.frontend.plans.concurrent import check_concurrent
from hbc.frontend.plans.legal import check_order, check_shift
from hbc.frontend.plans.loop_kinds import (
    expect_divisible,
    expect_iterations,
    expect_plain,
    expect_serial,
)
from hbc.frontend.plans.plan import (
    Fuse,
    Loop,
    PrefetchPlan,
    Split,
    StagePlan,
    Tail,
    stage_text,
    step,
)
from hbc.frontend.program.funcs import Directive, Func, Stage
from hbc.frontend.program.vocabulary import CACHES
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir

# Each split of a split doubles what must be told apart: full pieces and tails. People nest ten.
MOST_LOOPS = 32

# `vectorize(i, 8)` splits: the outer loop keeps the name i, and the inner one is called i_v.
UNROLLED, IN_LANES, OF_A_THREAD = "_u", "_v", "_p"


def split(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for i in n` -> `for io in ceil(n / F): for ii in F` with i = io * F + ii."""
    old, outer, inner = names(d, 3)
    return split_loop(func, stage, d, old, outer, inner, integer(d, 3))


def tile(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for i: for j` -> `for io: for jo: for ii: for ji`: two splits and a reorder."""
    i, j, io, jo, ii, ji = names(d, 6)
    stage = split_loop(func, stage, d, i, io, ii, integer(d, 6))
    stage = split_loop(func, stage, d, j, jo, ji, integer(d, 7))
    return reorder_loops(func, stage, d, (io, jo, ii, ji))


def fuse(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """`for a: for b` -> `for f in extent(a) * extent(b)`. The loops must be neighbours."""
    a, b, fused = names(d, 3)
    outer, inner = find(stage, a, d), find(stage, b, d)
    at = stage.loops.index(outer)
    if stage.loops[at + 1 : at + 2] != (inner,):
        raise error(
            f"cannot fuse `{a}` and `{b}`: `{b}` is not the loop directly inside `{a}`",
            d.span,
            f"the loops of `{stage_text(stage)}` are {listed(stage)}; `reorder` them first",
        )
    mixed = (stage.root_of(outer.dim) | stage.root_of(inner.dim)) & stage.reduce
    if mixed and mixed != stage.root_of(outer.dim) | stage.root_of(inner.dim):
        raise error(
            f"cannot fuse the reduction loop with a pure one: `{a}`, `{b}`", d.span,
            "fuse loops of one kind, or leave it out: `vectorize` and `parallel` take each by itself",
        )  # fmt: skip
    for loop in (outer, inner):
        expect_plain(stage, loop, d, "fused")
    rest = (*stage.loops[:at], *stage.loops[at + 2 :])
    dim = fresh(stage, fused, rest, d)
    new = Loop(fused, dim, ir.LoopKind.SERIAL, note(stage, d), d.span)
    return replace(
        stage,
        loops=(*stage.loops[:at], new, *stage.loops[at + 2 :]),
        relations=(*stage.relations, Fuse(outer.dim, inner.dim, dim)),
    )


def reorder(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """The named loops change places among themselves: outermost first as written."""
    return reorder_loops(func, stage, d, names(d, len(d.args)))


def reorder_loops(func: Func, stage: StagePlan, d: Directive, order: Sequence[str]) -> StagePlan:
    chosen = [find(stage, name, d) for name in order]
    if len(set(order)) != len(order):
        raise error("a loop is named twice", d.span, "name each loop once, outermost first")
    places = sorted(stage.loops.index(x) for x in chosen)
    loops = list(stage.loops)
    for at, loop in zip(places, chosen, strict=True):
        loops[at] = loop
    new = replace(stage, loops=tuple(loops))
    check_order(func, stage, new, d.span)
    return new


def unroll(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """The loop's body, written once per iteration. With a factor: split first."""
    return _mark(func, stage, d, ir.LoopKind.UNROLL, UNROLLED)


def vectorize(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """All iterations at once, in vector lanes. With a factor: split first."""
    new = _mark(func, stage, d, ir.LoopKind.VECTOR, IN_LANES)
    # Of the two loops that a split makes, the one in lanes; messages call it what the line does.
    loop = next(x for x in new.loops if x not in stage.loops and x.kind is ir.LoopKind.VECTOR)
    check_concurrent(func, new, replace(loop, name=names(d, 1)[0]), d, "vectorize")
    return new


def parallel(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """Iterations shared among threads (OpenMP). With a factor: split, the outer loop is parallel."""
    name = names(d, 1)[0]
    if len(d.args) > 1:
        stage = split_loop(func, stage, d, name, name, name + OF_A_THREAD, integer(d, 1))
    loop = find(stage, name, d)
    expect_serial(stage, loop, d)
    new = replace(loop, kind=ir.LoopKind.PARALLEL, note=note(stage, d), span=d.span)
    check_concurrent(func, stage, loop, d, "parallel")
    return _replace_loop(stage, loop, new)


def atomic(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """Allows a reduction loop to be vectorized: its lanes are combined in any order."""
    update = step(func, stage.update)
    if update is None:
        hint = f"write `{func.name}.update.atomic()`, or leave it out"
        if not func.updates:
            hint = f"`{func.name}` has no update either: leave it out"
        raise error("`atomic` is for updates: the pure step reduces nothing", d.span, hint)
    return replace(stage, atomic=True)


def prefetch(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """At each iteration of `loop`, asks the cache for what iteration `loop + distance` reads."""
    what, loop = d.args[0], d.args[1]
    level = 1 if len(d.args) == 3 else 1 + CACHES.index(str(d.args[3]))
    name = what.name if isinstance(what, Stage) else str(what)
    wanted = find(stage, str(loop), d)
    entry = PrefetchPlan(name, wanted.dim, integer(d, 2), level, d.span)
    return replace(stage, prefetches=(*stage.prefetches, entry))


def pipeline(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """Software pipelining: loads of iteration + (stages - 1) are issued ahead of their use."""
    loop = find(stage, names(d, 1)[0], d)
    stages = integer(d, 1)
    if stages < 2:
        hint = "one stage is a plain loop: leave `pipeline` out, or write 2"
        raise error(f"`pipeline` needs at least 2 stages, got {stages}", d.span, hint)
    expect_iterations(loop, d)
    stage = _replace_loop(stage, loop, replace(loop, span=d.span))
    return replace(stage, pipelined=(*stage.pipelined, (loop.dim, stages)))


def partition(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """The loop in pieces, where that decides conditions: edges stand apart. With `never`: in one piece."""
    loop = find(stage, names(d, 1)[0], d)
    expect_divisible(loop, d)
    never = len(d.args) > 1 and str(d.args[1]) == "never"
    return replace(stage, parted=(*stage.parted, (loop.dim, not never)))


def specialize(func: Func, stage: StagePlan, d: Directive) -> StagePlan:
    """Where the condition holds a copy of the loops runs, which later directives alone change."""
    condition = d.args[0]
    if isinstance(condition, (str, int, Stage)):
        raise error("`specialize` needs a condition over the sizes", d.span, "such as `N >= 512`")
    plain = replace(stage, special=())
    return replace(stage, special=(*stage.special, (condition, plain)))


def _mark(func: Func, stage: StagePlan, d: Directive, kind: ir.LoopKind, suffix: str) -> StagePlan:
    name = names(d, 1)[0]
    inner = name
    if len(d.args) > 1:
        inner = name + suffix
        stage = split_loop(func, stage, d, name, name, inner, integer(d, 1))
    loop = find(stage, inner, d)
    expect_serial(stage, loop, d)
    return _replace_loop(stage, loop, replace(loop, kind=kind, note=note(stage, d), span=d.span))


def split_loop(
    func: Func, stage: StagePlan, d: Directive, old: str, outer: str, inner: str, factor: int
) -> StagePlan:
    """Replaces loop `old` by `outer` around `inner`; either may take the old name."""
    loop = find(stage, old, d)
    if factor < 1:
        raise error(f"a split factor must be at least 1, got {factor}", d.span)
    if outer == inner:
        raise error(
            f"both halves of the split are named `{outer}`", d.span,
            f"name them apart, such as `{old}o` and `{old}i`",
        )  # fmt: skip
    expect_plain(stage, loop, d, "split")
    if len(stage.loops) >= MOST_LOOPS:
        raise error(
            f"`{stage_text(stage)}` would have {len(stage.loops) + 1} loops, and {MOST_LOOPS} are "
            "the most", d.span,
        )  # fmt: skip
    at = stage.loops.index(loop)
    rest = (*stage.loops[:at], *stage.loops[at + 1 :])
    out_dim = fresh(stage, outer, rest, d)
    in_dim = fresh(stage, inner, rest, d, out_dim)
    tail = Tail(str(d.option("tail") or Tail.MASK))
    if tail is Tail.SHIFT:
        check_shift(func, stage, loop, d.span)
    halves = tuple(
        Loop(n, dim, ir.LoopKind.SERIAL, note(stage, d), d.span)
        for n, dim in ((outer, out_dim), (inner, in_dim))
    )
    return replace(
        stage,
        loops=(*stage.loops[:at], *halves, *stage.loops[at + 1 :]),
        relations=(*stage.relations, Split(loop.dim, out_dim, in_dim, factor, tail, d.span)),
    )


def find(stage: StagePlan, name: str, d: Directive) -> Loop:
    """The loop of that name, or an error that lists what there is."""
    for loop in stage.loops:
        if loop.name == name:
            return loop
    raise error(
        f"`{stage_text(stage)}` has no loop `{name}`; its loops are {listed(stage)}",
        d.span,
        did_you_mean(name, [x.name for x in stage.loops]),
    )


def listed(stage: StagePlan) -> str:
    return ", ".join(f"`{x.name}`" for x in stage.loops) or "none"


def fresh(stage: StagePlan, name: str, others: Sequence[Loop], d: Directive, *taken: str) -> str:
    """A dimension name for a new loop, whose visible name must be free."""
    if any(x.name == name for x in others):
        raise error(
            f"`{stage_text(stage)}` already has a loop `{name}`", d.span, "choose another name"
        )
    used = stage.dims() | set(taken)
    dim, count = name, 1
    while dim in used:
        count += 1
        dim = f"{name}.{count}"
    return dim


def names(d: Directive, count: int) -> tuple[str, ...]:
    return tuple(a.name if isinstance(a, Stage) else str(a) for a in d.args[:count])


def integer(d: Directive, at: int) -> int:
    value: str | int | Stage | ir.Expr = d.args[at]
    if not isinstance(value, int):
        raise error(f"argument {at + 1} of `{d.name}` must be an integer", d.span)
    return value


def note(stage: StagePlan, d: Directive) -> str:
    """The directive as the user wrote it, for a comment: `C.tile(i, j, ...)`."""
    span: Span | None = d.span
    text = d.name if span is None else " ".join(span.text.split())
    return f"{stage_text(stage)}{'' if text.startswith('.') else '.'}{text}"


def _replace_loop(stage: StagePlan, old: Loop, new: Loop) -> StagePlan:
    return replace(stage, loops=tuple(new if x is old else x for x in stage.loops))
