"""Sums of products as matrices: which variable is a row of the sums, which a column, what is summed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum, own_names, sums_of
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import index_span, length
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes

FEWEST = 8  # rows, columns and steps that are worth a tile
ALIGNED = 16  # bytes that rows must be multiples of, for copies by as many


@record
class Product:
    """`a` moves along `rows`, `b` along `columns`, both along `deep`; `beside`: another variable that only
    `a` moves along; `outer`: the others, of which a block has one value each; `taps`: other reductions.
    `holder`: the Func whose loops are blocks, None for a copy of the sums; `names`: the holder's variables by
    those of the sums. `extents` are those at typical sizes. `rounds`: factors are rounded to TF32."""

    step: Step
    holder: str | None
    names: Mapping[str, str]
    rows: str
    columns: str
    beside: str | None
    outer: tuple[str, ...]
    deep: str
    taps: tuple[str, ...]
    a: ir.Access
    b: ir.Access
    extents: Mapping[str, int]
    rounds: bool
    dot: Dot | None = None
    aligned: bool = True  # rows of both factors are whole vectors

    @property
    def sums(self) -> str:
        return self.step.func

    @property
    def count(self) -> int:
        """Products in all."""
        count = 1
        for v in (*self.step.pure, *self.step.reduce):
            count *= self.extents[v]
        return count


def product_of(graph: Graph, holder: str) -> Product | None:
    """The product whose sums only this Func reads, element by element."""
    sums = sums_of(graph, holder)
    if len(sums) != 1:
        return None
    (step,) = graph.steps[holder]
    access = next(a for a in step.reads if a.name == sums[0])
    found = _as_matrices(graph, sums[0])
    if found is None:
        return None
    return replace(found, holder=holder, names=own_names(access, graph.funcs[sums[0]]))


def own_product(graph: Graph, name: str) -> Product | None:
    """The product that is this Func, which one other reads, in whatever order."""
    func = graph.funcs[name]
    readers = {s.func for s in graph.readers(name)}
    if name in graph.outputs or len(readers) != 1 or func.others:
        return None
    return _as_matrices(graph, name)


def _as_matrices(graph: Graph, name: str) -> Product | None:
    func = graph.funcs[name]
    if len(func.updates) != 1 or not is_sum(func) or func.updates[0].condition is not None:
        return None
    step = graph.steps[name][-1]
    found = factors(graph, step)
    if found is None:
        return None
    first, second, rounds = found
    known = graph.known(step, graph.box(name))
    extents = {v: length(known[v]) for v in (*step.pure, *step.reduce)}
    for a, b in ((first, second), (second, first)):
        made = _sides(step, a, b, extents)
        if made is not None:
            return replace(made, rounds=rounds, aligned=aligned(graph, (a, b)))
    return None


def _sides(step: Step, a: ir.Access, b: ir.Access, extents: Mapping[str, int]) -> Product | None:
    """With the columns along `b`: one of them is the last variable, whose values are neighbours."""
    only_a = [v for v in step.pure if not _still(a, v) and _still(b, v)]
    only_b = [v for v in step.pure if not _still(b, v) and _still(a, v)]
    deep = [r for r in step.reduce if not _still(a, r) and not _still(b, r)]
    if not only_a or not only_b or not deep or step.pure[-1] in only_a:
        return None
    columns = only_b[-1]
    long = [v for v in only_a if extents[v] >= 2 * FEWEST]
    rows = (long or [max(only_a, key=lambda v: extents[v])])[-1]
    others = [v for v in only_a if v != rows and extents[v] > 1]
    beside = others[-1] if others and extents[rows] < 128 else None
    near = [r for r in deep if move(a, r) is Move.NEXT or move(b, r) is Move.NEXT]
    usual = [r for r in near or deep if extents[r] >= FEWEST]
    if not usual or extents[columns] < FEWEST or extents[rows] < FEWEST:
        return None
    k = usual[-1]
    outer = tuple(v for v in step.pure if v not in (rows, columns, beside))
    taps = tuple(r for r in step.reduce if r != k)
    return Product(step, None, {v: v for v in step.pure}, rows, columns, beside, outer, k, taps, a, b,
                   extents, False)  # fmt: skip


def _still(a: ir.Access, v: str) -> bool:
    return move(a, v) is Move.FIXED


def factors(graph: Graph, s: Step) -> tuple[ir.Access, ir.Access, bool] | None:
    """What a sum multiplies, without the conversions around it, and whether both are rounded to TF32."""
    assert s.update is not None
    u = graph.funcs[s.func].updates[s.update]
    if u.op is not ir.Op.ADD or not isinstance(u.value, ir.Binary):
        return None
    own = isinstance(u.value.a, ir.Access) and u.value.a.name == s.func
    term = _bare(u.value.b if own else u.value.a)[0]
    if not (isinstance(term, ir.Binary) and term.op is ir.Op.MUL):
        return None
    (a, rounds_a), (b, rounds_b) = _bare(term.a), _bare(term.b)
    if not isinstance(a, ir.Access) or not isinstance(b, ir.Access) or rounds_a != rounds_b:
        return None
    return a, b, rounds_a


def kept_factors(p: Pipeline) -> dict[str, bool]:
    """Choices of what is substituted: not the factors of products that are more than an element converted,
    such as a picture with zeros around it, as instructions take no conditions."""
    kept: dict[str, bool] = {}
    for func in p.funcs:
        for u in func.updates:
            for n in nodes(u.value):
                if not (isinstance(n, ir.Binary) and n.op is ir.Op.MUL):
                    continue
                sides = (_bare(n.a)[0], _bare(n.b)[0])
                if not all(isinstance(x, ir.Access) for x in sides):
                    continue
                for x in sides:
                    f = next(
                        (f for f in p.funcs if isinstance(x, ir.Access) and f.name == x.name), None
                    )
                    if f is not None and not isinstance(_bare(f.pure)[0], ir.Access):
                        kept[f"{f.name}.inline"] = False
    return kept


def _bare(e: ir.Expr) -> tuple[ir.Expr, bool]:
    rounds = False
    while isinstance(e, ir.Cast | ir.Call):
        if isinstance(e, ir.Cast):
            e = e.value
        elif e.name is ir.MathOp.TF32:
            e, rounds = e.args[0], True
        else:
            break
    return e, rounds


def alone(p: Product) -> Product:
    """The same with one value of all but rows and columns in a block."""
    outer = tuple(v for v in p.step.pure if v not in (p.rows, p.columns))
    return replace(p, beside=None, outer=outer)


def warp_dots(graph: Graph, p: Product, dots: Iterable[Dot]) -> list[Dot]:
    """The widest instruction for its types whose fragments a warp knows, if there is one."""
    sums = graph.funcs[p.sums].element
    types = (p.a.type.element, p.b.type.element)
    fitting = [
        d for d in dots
        if d.tile is Memory.MMA and d.sum == sums and d.factors == types and d.rows == 16
        and (d.depth == 8) == p.rounds
    ]  # fmt: skip
    return [max(fitting, key=lambda d: d.columns if d.columns <= 16 else 0)] if fitting else []


def aligned(graph: Graph, reads: Iterable[ir.Access]) -> bool:
    """Whether rows of these arrays are whole vectors at typical sizes."""
    return all(_row_length(graph, a) * a.type.element.bytes % ALIGNED == 0 for a in reads)


def _row_length(graph: Graph, a: ir.Access) -> int:
    if a.name in graph.funcs:
        return length(graph.box(a.name)[-1])
    extent = next(i.extents[-1] for i in graph.pipeline.inputs if i.name == a.name)
    span = index_span(extent, graph.sizes, {})
    return 0 if span is None else span[0]
