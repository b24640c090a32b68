"""Plans: how each stage's loops are ordered and split, and where each Func is computed and stored.

A schedule turns the default plan into another; `nest` builds loops from it. Loops are listed
outermost first.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from hbc.frontend.program.funcs import Func, ReduceVar, Stage, Update
from hbc.ir.algebra.linear import difference
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes_of


class Tail(StrEnum):
    """What happens to the last, partial piece of a split: a scalar remainder loop, masked vectors,
    a full piece moved back inside (pure steps only), or a promise that there is none."""

    GUARD = "guard"
    MASK = "mask"
    SHIFT = "shift"
    EXACT = "exact"


@record
class Loop:
    """One loop of a stage: its name in the schedule, and the dimension it runs over (unique in the
    stage, where a name may be reused: `vectorize(x, 16)` leaves an outer loop named x). `note` is the
    directive that made it what it is."""

    name: str
    dim: str
    kind: ir.LoopKind = ir.LoopKind.SERIAL
    note: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Split:
    """old = outer * factor + inner; dimensions, not loop names."""

    old: str
    outer: str
    inner: str
    factor: int
    tail: Tail
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Fuse:
    """outer = fused / extent(inner), inner = fused % extent(inner)."""

    outer: str
    inner: str
    fused: str


@record
class PrefetchPlan:
    """Fetch what iteration `loop + distance` will read of `name` into the cache of this level."""

    name: str
    loop: str
    distance: int
    level: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class StagePlan:
    """The loops of one step of a Func (`update` None: the pure step)."""

    func: str
    update: int | None
    roots: tuple[str, ...]
    reduce: frozenset[str]
    loops: tuple[Loop, ...]
    relations: tuple[Split | Fuse, ...] = ()
    atomic: bool = False
    marks: ir.Marks = (
        ir.NO_MARKS
    )  # of its outermost loop over blocks; `pipelined` has stages by dimension
    prefetches: tuple[PrefetchPlan, ...] = ()
    pipelined: tuple[tuple[str, int], ...] = ()
    parted: tuple[tuple[str, bool], ...] = ()  # dimensions whose loops are divided, or never
    special: tuple[tuple[ir.Expr, StagePlan], ...] = ()
    joins: At | None = None  # the innermost loop of another step that is one of its own, too

    def loop(self, name: str) -> Loop | None:
        return next((x for x in self.loops if x.name == name), None)

    def root_of(self, dim: str) -> frozenset[str]:
        """The original variables that a dimension was made from."""
        for r in self.relations:
            match r:
                case Split(old=old, outer=outer, inner=inner) if dim in (outer, inner):
                    return self.root_of(old)
                case Fuse(outer=outer, inner=inner, fused=fused) if dim == fused:
                    return self.root_of(outer) | self.root_of(inner)
        return frozenset({dim})

    @property
    def shared(self) -> int:
        """How many loops, from the outermost, it has in common with the step that it joins."""
        names = [x.name for x in self.loops]
        return 0 if self.joins is None else names.index(self.joins.loop) + 1

    def ancestry(self, count: int) -> tuple[frozenset[str], frozenset[Split | Fuse]]:
        """What its outermost loops are made from: dimensions (with those that come of the same
        relations), and the relations."""
        dims = {x.dim for x in self.loops[:count]}
        found: set[Split | Fuse] = set()
        for r in reversed(self.relations):
            if dims & ({r.outer, r.inner} if isinstance(r, Split) else {r.fused}):
                found.add(r)
                dims |= {r.outer, r.inner}
                dims.add(r.old if isinstance(r, Split) else r.fused)
        return frozenset(dims), frozenset(found)

    def dims(self) -> frozenset[str]:
        """Every dimension there ever was: roots, split and fused ones."""
        made = set(self.roots)
        for r in self.relations:
            made |= {r.outer, r.inner} if isinstance(r, Split) else {r.fused}
        return frozenset(made)


@record
class At:
    """The body of a loop of a stage: where a Func is computed or stored."""

    func: str
    update: int | None
    loop: str
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Root:
    """Before all loops."""

    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Inline:
    """Substituted into its consumers."""


Level = At | Root | Inline


@record
class Promise:
    """`bound(variable, least, extent)`."""

    variable: str
    least: ir.Expr
    extent: ir.Expr
    span: Span | None


@record
class FuncPlan:
    """Where one Func is computed and stored, and how its stages loop."""

    func: Func
    stages: tuple[StagePlan, ...]
    compute: Level
    store: Level | None = None  # None: where it is computed
    hoist: Level | None = None  # where its memory is asked for; None: where it is stored
    memory: Memory = Memory.AUTO
    storage_order: tuple[str, ...] = ()  # outermost first
    pads: tuple[tuple[str, int], ...] = ()
    folds: tuple[tuple[str, int, Span | None], ...] = ()  # how many values of a variable are kept
    swizzle: tuple[str, int] | None = None  # the contiguous variable, elements that stay together
    swizzled_at: Span | None = field(default=None, compare=False, repr=False)
    bulk: bool = False  # copied by the instructions that copy boxes of arrays
    bulk_at: Span | None = field(default=None, compare=False, repr=False)
    bounds: tuple[Promise, ...] = ()
    traced: bool = False
    ahead: bool = False  # a second thread computes what the next iteration reads
    ahead_at: Span | None = field(default=None, compare=False, repr=False)
    note: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


Plan = dict[str, FuncPlan]  # callees first


def stage_at(plan: Plan, level: At) -> StagePlan:
    """The stage whose loop a level names."""
    return plan[level.func].stages[0 if level.update is None else level.update + 1]


def step(func: Func, update: int | None) -> Update | None:
    """The update that a stage performs, or None for the pure step."""
    return None if update is None else func.updates[update]


def stage_vars(func: Func, update: Update | None) -> tuple[str, ...]:
    """The pure variables a step loops over, in order."""
    if update is None:
        return func.variables
    return tuple(
        v
        for v, index in zip(func.variables, update.indices, strict=True)
        if isinstance(index, ir.Var) and index.name == v
    )


def default_stage(func: Func, update: int | None) -> StagePlan:
    """Pure variables outermost in order, then reductions in declared order."""
    u = step(func, update)
    pure = stage_vars(func, u)
    reduce = () if u is None else tuple(r.name for r in u.reduce)
    return StagePlan(
        func.name,
        update,
        pure + reduce,
        frozenset(reduce),
        tuple(Loop(n, n) for n in pure + reduce),
    )


def default_plan(func: Func, is_output: bool) -> FuncPlan:
    """Outputs and Funcs with updates at the root, pure Funcs inline."""
    stages = tuple(default_stage(func, u) for u in (None, *range(len(func.updates))))
    at_root = is_output or func.updates
    return FuncPlan(func, stages, Root() if at_root else Inline(), span=func.span)


def is_associative(func: Func, update: Update) -> bool:
    """`f[i] op= term`, op associative, and the term does not read f: any order will do."""
    if update.op not in ir.ASSOCIATIVE:
        return False
    reads = [n for n in nodes_of(update.value, ir.Access) if n.name == func.name]
    return len(reads) == 1 and reads[0].indices == update.indices


def is_parallel_safe(func: Func, update: Update, r: ReduceVar) -> bool:
    """Iterations of r write different places and read only what they write: r acts as a pure variable."""
    distances = scan_distances(func, update, r)
    return distances is not None and all(x == 0 for x in distances)


def scan_distances(func: Func, update: Update, r: ReduceVar) -> tuple[int, ...] | None:
    """How many iterations of r before its own writing each read of the Func goes back, along the
    dimension that r runs over; None when there is no such dimension or a distance is unknown."""
    reads = [
        n.indices
        for e in (update.value, *update.indices)
        for n in nodes_of(e, ir.Access)
        if n.name == func.name
    ]
    for d, index in enumerate(update.indices):
        if isinstance(index, ir.Var) and index.name == r.name:
            distances = [difference(index, i[d]) for i in reads]
            known = tuple(x for x in distances if x is not None)
            if len(known) == len(distances):
                return known
    return None


def stage_text(s: Stage | StagePlan) -> str:
    """How a schedule names the stage."""
    name = s.func if isinstance(s, StagePlan) else s.name
    if isinstance(s, Stage) and s.consumer is not None:
        name = f"{name}.in({s.consumer})"
    if s.update is None:
        return name
    return f"{name}.update" if s.update == 0 else f"{name}.update({s.update})"
