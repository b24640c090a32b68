"""What the threads of a GPU's block read and write: each access of a loop nest over threads.

Names that a nest binds are put in place, so that an index speaks of the digits of the thread's number,
of the loops that a thread runs, and of names from outside of the nest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from types import MappingProxyType

from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.linear import linear, plus, to_expr
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.launches import WARP, Tiles, lanes_of, thread_loops
from hbc.ir.lang.show import show
from hbc.ir.lang.types import FRAGMENT_LANES, INDEX, TILES
from hbc.ir.lang.walk import children, contains, free_variables, nodes, substitute
from hbc.ir.vectors.lane_offsets import lane_offsets

_ZERO = ir.const_index(0)
EVERYONE = 1024  # as many threads as a block may have


@record
class Counted:
    """A name that takes the values 0 .. extent - 1; with extent None, so many that nobody knows. The
    variable of that name in the code is `start` more."""

    name: str
    extent: int | None
    start: ir.Expr = _ZERO
    limit: ir.Expr | None = None  # the extent, where that is no constant

    def with_values(self, values: Mapping[str, ir.Expr]) -> Counted:
        """With names outside of it replaced."""
        limit = None if self.limit is None else substitute(self.limit, values)
        return replace(self, start=substitute(self.start, values), limit=limit)


@record
class ThreadAccess:
    """An access `buffer[index + one of the offsets]`; `index` is None where lanes have no common one.
    The thread's number has the `digits`, of the `weights`; `together`: how many lanes access as one, a
    warp or a group of warps, which the digits count then. `by_product`: an asynchronous product reads.
    `loops` are those that the thread runs. Accesses are the same when all but their nodes and places in
    the source is, of which `key` is the text. `names` are those in the index; `outside` those in it, and
    in what bounds its loops, that no digit or loop of it binds."""

    node: ir.Load | ir.Store = field(compare=False, repr=False)
    index: ir.Expr | None = field(compare=False)
    offsets: tuple[int, ...] = field(compare=False)
    digits: tuple[Counted, ...] = field(compare=False)
    weights: tuple[int, ...] = field(compare=False)
    together: int = field(compare=False)
    loops: tuple[Counted, ...] = field(compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    by_product: bool = field(default=False, compare=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    outside: frozenset[str] = field(init=False, compare=False, repr=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        names = frozenset[str]() if self.index is None else free_variables(self.index)
        object.__setattr__(self, "names", names)
        limits = (x.limit for x in self.loops if x.limit is not None)
        bound = {x.name for x in (*self.digits, *self.loops)}
        outside = names.union(*map(free_variables, limits)) - bound
        object.__setattr__(self, "outside", outside)
        index = "?" if self.index is None else show(self.index)
        counted = [
            f"{x.name} {x.extent} {show(x.start)} {'' if x.limit is None else show(x.limit)}"
            for x in (*self.digits, *self.loops)
        ]
        parts = (
            self.buffer,
            self.stores,
            self.asynchronous,
            self.atomic,
            index,
            self.offsets,
            self.weights,
            self.together,
            self.by_product,
            counted,
        )
        object.__setattr__(self, "key", str(parts))

    @property
    def buffer(self) -> str:
        return self.node.buffer

    @property
    def stores(self) -> bool:
        return isinstance(self.node, ir.Store)

    @property
    def atomic(self) -> ir.Op | None:
        """How the element is updated, whatever others do meanwhile. A group of lanes has its own element."""
        alone = isinstance(self.node, ir.Store) and 0 < self.node.warp < WARP
        return self.node.atomic if isinstance(self.node, ir.Store) and not alone else None

    @property
    def asynchronous(self) -> bool:
        """Whether it goes on behind its statement."""
        return self.by_product or (isinstance(self.node, ir.Store) and self.node.asynchronous)

    def after_loop(self, loop: Counted) -> ThreadAccess:
        """As seen from behind a loop: in any of its iterations."""
        if loop.name not in self.outside:
            return self
        place = to_expr(plus(linear(loop.start), linear(ir.Var(loop.name))))
        return self._with(loop.name, place, (loop,))

    def without_name(self, name: str) -> ThreadAccess:
        """As seen from where a name has no meaning, or another: what it was, nobody knows."""
        return self._with(name, ir.Var(f"{name} of before")) if name in self.outside else self

    def _with(self, name: str, value: ir.Expr, around: tuple[Counted, ...] = ()) -> ThreadAccess:
        values = {name: value}
        index = None if self.index is None else substitute(self.index, values)
        loops = (*around, *(x.with_values(values) for x in self.loops))
        return replace(self, index=index, loops=loops)


@record
class _Inside:
    """A place in a nest: the values of names, what is known of them, and the loops around. `found`
    collects the accesses of `wanted` buffers."""

    found: list[ThreadAccess]
    wanted: Collection[str]
    digits: tuple[Counted, ...]
    weights: tuple[int, ...]
    values: Mapping[str, ir.Expr] = field(default_factory=dict)
    facts: Facts = NOTHING
    tiles: Tiles = field(default_factory=dict)
    lanes: int = 1  # of a warp or a group of warps that the digits count
    whole: bool = False  # all of them do what stands here
    apart: bool = False  # inside of a loop over lanes: each touches what is its own of tiles
    loops: tuple[Counted, ...] = ()
    span: Span | None = None
    by_product: bool = False


def nest_accesses(
    nest: ir.For, wanted: Collection[str], facts: Facts = NOTHING,
    tiles: Tiles = MappingProxyType({}), outside: Mapping[str, ir.Expr] = MappingProxyType({}),
) -> list[ThreadAccess]:  # fmt: skip
    """The accesses of the wanted buffers in a nest of loops over threads, in order. `facts` hold around
    it; `tiles` are the buffers in tile memory, `outside` the values of names around it that are put
    in place too."""
    loops, body = thread_loops(nest)
    lanes = lanes_of(nest, tiles)
    values: dict[str, ir.Expr] = dict(outside)
    digits, weights, weight = [], [], lanes
    for loop in reversed(loops):
        extent = int(loop.extent.value) if isinstance(loop.extent, ir.Const) else None
        digits.append(Counted(loop.var, extent, loop.start))
        is_lane = loop.kind is ir.LoopKind.LANE
        weights.append(1 if is_lane else weight)
        weight *= 1 if is_lane else extent or EVERYONE
        facts = facts.with_range(loop.var, _interval(extent))
        if loop.start != ir.const_index(0):
            values[loop.var] = add(substitute(loop.start, outside), ir.Var(loop.var))
    apart = any(loop.kind is ir.LoopKind.LANE for loop in loops)
    accesses: list[ThreadAccess] = []
    at = _Inside(accesses, wanted, tuple(digits), tuple(weights), values, facts, tiles, lanes)
    _statement(body, replace(at, whole=lanes > 1 and not apart, apart=apart))
    return accesses


def warp_accesses(
    s: ir.Stmt, wanted: Collection[str], values: Mapping[str, ir.Expr], facts: Facts,
    tiles: Tiles, lanes: int = WARP,
) -> list[ThreadAccess]:  # fmt: skip
    """The accesses of a statement that one warp, or a group of so many lanes, does; threads are its lanes."""
    accesses: list[ThreadAccess] = []
    _statement(s, _Inside(accesses, wanted, (), (), values, facts, tiles, lanes, whole=True))
    return list(dict.fromkeys(accesses))


def uniform_accesses(wanted: Collection[str], *read: ir.Expr) -> list[ThreadAccess]:
    """What all threads of a block read alike: the loads in values that it computes outside of its
    loops over threads."""
    accesses: list[ThreadAccess] = []
    everyone = Counted("any thread", EVERYONE)
    for e in read:
        _loads(e, _Inside(accesses, wanted, (everyone,), (1,)))
    return accesses


def _interval(extent: int | None) -> Interval:
    return Interval(
        ir.const_index(0), None if extent is None else ir.const_index(max(extent - 1, 0))
    )


def _statement(s: ir.Stmt, at: _Inside) -> None:
    while isinstance(s, ir.LetStmt):  # there may be thousands, one inside the other
        _loads(s.value, at)
        value = substitute(s.value, at.values) if s.value.type == INDEX else s.value
        at = replace(at, values={**at.values, s.name: value})
        s = s.body
    match s:
        case ir.For(start=start, extent=extent, body=body):
            _loads(start, at)
            _loads(extent, at)
            _statement(body, _in_loop(s, at))
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            _loads(condition, at)
            _statement(then, at)
            if otherwise is not None:
                _statement(otherwise, at)
        case ir.Allocate(buffer=buffer, memory=memory, body=body) if memory in TILES:
            tiles = {**at.tiles, buffer: FRAGMENT_LANES.get(memory, 1)}
            _statement(body, replace(at, tiles=tiles))
        case ir.Store(value=value):
            whole = at.whole or (not at.apart and _is_of_warp(s, at.tiles))
            product = s.asynchronous and isinstance(value, ir.Instruct)
            there = replace(at, whole=whole, span=s.span or at.span, by_product=product)
            for e in (s.index, *(() if s.mask is None else (s.mask,)), value):
                _loads(e, there)
            _note(s, there)
        case _:
            for c in children(s):
                if isinstance(c, ir.Stmt):
                    _statement(c, at)


def _in_loop(s: ir.For, at: _Inside) -> _Inside:
    """What stands in a loop that a thread runs, or that the lanes of a warp share."""
    _, most = constant_bounds(substitute(s.extent, at.values), at.facts)
    start = substitute(s.start, at.values)
    counted = Counted(s.var, most, start)
    inside = replace(
        at,
        values={**at.values, s.var: add(start, ir.Var(s.var))},
        facts=at.facts.with_range(s.var, _interval(most)),
        span=s.span or at.span,
    )
    if s.kind is ir.LoopKind.LANE:
        digits, weights = (*at.digits, counted), (*at.weights, 1)
        return replace(inside, digits=digits, weights=weights, whole=False, apart=True)
    return replace(inside, loops=(*at.loops, counted))


def _loads(e: ir.Expr, at: _Inside) -> None:
    for n in nodes(e):
        if isinstance(n, ir.Load):
            _note(n, at)


def _is_of_warp(s: ir.Store, tiles: Tiles) -> bool:
    """Whether all lanes of a warp do the statement together."""

    def touches(n: ir.Node) -> bool:
        return isinstance(n, ir.Instruct) or (
            isinstance(n, ir.Load | ir.Store) and n.buffer in tiles
        )

    return s.buffer in tiles or any(touches(n) for n in nodes(s.value))


def _note(n: ir.Load | ir.Store, at: _Inside) -> None:
    if n.buffer not in at.wanted:
        return
    lanes = lane_offsets(n.index)
    index, offsets = (None, (0,)) if lanes is None else lanes
    if index is not None:
        index = substitute(index, at.values)
        if contains(index, ir.Load, ir.Cast, ir.Call):
            index = None  # it depends on data
    span = n.span or at.span
    together = at.lanes if at.whole else 1
    at.found.append(
        ThreadAccess(
            n, index, offsets, at.digits, at.weights, together, at.loops, span, at.by_product
        )
    )
