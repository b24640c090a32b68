"""The loops of sums: which steps of a reduction are done together, and what is a lane."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from types import MappingProxyType

from hbc.frontend.automatic.ahead import prefetches
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.blocks import TOGETHER
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import DEEP, deep_loop, dot_for, factors_of, windows
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.frontend.program.constants import evaluate
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import mentions

UNROLLED = 2  # steps of other sums
SMALL = 8  # steps of a constant reduction that are all unrolled


@record
class Shared:
    """Steps of `loop` that lie `apart` meet the same operands."""

    loop: str
    apart: int


def update_lines(
    graph: Graph, step: Step, rows: str | None, lanes: str | None, width: int, several: bool,
    vectors: bool, head: tuple[str, ...] = (), inner: tuple[str | None, str | None] | None = None,
    ahead: bool = True, steps: Mapping[str, str] = MappingProxyType({}),
) -> list[Line]:  # fmt: skip
    """An update of sums in a block: reductions around rows around lanes. `head`: directives that come
    first; `inner`: the loops of rows and lanes of a block, where they are not the variables; `ahead`: the
    operands are read where they lie, and may be asked for ahead; `steps`: the loops of the steps in a block,
    of reductions that are in blocks."""
    dot = dot_for(graph, step, graph.dots, False)
    if dot is not None and vectors:
        return dot_lines(graph, step, rows, lanes, width, several, dot, head, inner)
    row, lane = (rows, lanes) if inner is None else inner
    outer = [v for v in step.pure if v not in (rows, lanes)]
    block = [x for x in (row, lane) if x is not None]
    marks = _marks(row, lane, width, several, vectors)
    blocks = [d.split("(")[1].split(",")[1].strip() for d in head]
    around = [*outer, *blocks]
    shared = shared_steps(graph, step, rows, lanes, width) if vectors else None
    ordered = tuple(steps.get(r, r) for r in reductions(graph, step))
    plain = call("reorder", [*around, *ordered, *block])
    if len(around) + len(ordered) + len(block) < 2:
        plain = ""
    base = tuple(x for x in (*head, plain, *marks) if x)
    if shared is None:
        last = ordered[-1] if ordered else None
        count = graph.choices.pick(f"{step.text}.unroll", UNROLLED, (1, 4, 8)) if last else 1
        asked = last in step.reduce and vectors and ahead
        more = prefetches(graph, step, lanes, last) if last and asked else []
        if last and vectors and count > 1 and not more:
            more = [call("unroll", [last, count])]
        return [Line(step.text, (*base, *more))]
    others = [r for r in ordered if r != shared.loop]
    extent = extent_of(graph, step, shared.loop)
    names = _Names(graph, shared.loop)
    known = evaluate(extent)
    typical = length(graph.known(step, graph.box(step.func))[shared.loop])
    chains = [Line(step.text, base)]
    most = graph.choices.pick(f"{step.text}.together", TOGETHER, (2, 8, 1))
    for together in (most, most // 2) if most > 1 else ():
        count = together * shared.apart
        if typical < count:
            continue
        order, splits = _splits(shared, names, together, around, others, block)
        special = (*splits, order, call("unroll", [names.inner]))
        if known is not None:
            return [Line(step.text, (*base, *special))]
        chains.append(Line(step.text, (f"specialize({show(extent)} >= {count})", *special)))
        if rows is not None:
            break  # what is left over has loops of its own
    return chains


def dot_lines(
    graph: Graph, step: Step, rows: str | None, lanes: str | None, width: int, several: bool,
    dot: Dot, head: tuple[str, ...], inner: tuple[str | None, str | None] | None,
) -> list[Line]:  # fmt: skip
    """The same where an instruction adds several products at once: these steps become lanes too."""
    deep = deep_loop(graph, step)
    factors = factors_of(graph, step)
    assert deep is not None and factors is not None
    row, lane = (rows, lanes) if inner is None else inner
    outer = [v for v in step.pure if v not in (rows, lanes)]
    blocks = [d.split("(")[1].split(",")[1].strip() for d in head]
    block = [x for x in (row, lane) if x is not None]
    outs, ins = graph.name(deep, "o"), graph.name(deep, "i")
    wide = windows(step, lanes, deep, factors)
    depth = max(DEEP, dot.depth) if wide else dot.depth
    known = graph.known(step, graph.box(step.func))
    extent = extent_of(graph, step, deep)
    whole = evaluate(extent)
    marks = ["atomic()", call("vectorize", [ins]), *_marks(row, lane, width, several, True)]
    others = [r for r in reductions(graph, step) if r != deep]

    def chain(depth: int) -> list[str]:
        if whole is not None and int(whole) <= depth:
            order = [*outer, *blocks, *others, *block, deep]
            return [call("reorder", order), *(m.replace(f"({ins})", f"({deep})") for m in marks)]
        order = [*outer, *blocks, *others, outs, *block, ins]
        return [call("split", [deep, outs, ins, depth]), call("reorder", order), *marks]

    lines = []
    shared = None if rows is None or wide else shared_steps(graph, step, rows, lanes, width)
    if shared is not None and shared.loop != deep and shared.loop in others:
        return [Line(step.text, (*head, *chain(depth))), *_shared_dots(
            graph, step, shared, deep, [*outer, *blocks], [r for r in others if r != shared.loop],
            block, whole is not None and int(whole) <= depth,
        )]  # fmt: skip
    if wide and whole is None and length(known[deep]) >= 2 * DEEP:
        special = f"specialize({show(extent)} % {2 * DEEP} == 0)"
        lines.append(Line(step.text, (*head, special, *chain(2 * DEEP))))
        head = ()
    return [*lines, Line(step.text, (*head, *chain(depth)))]


def _shared_dots(
    graph: Graph, step: Step, shared: Shared, deep: str, around: list[str], others: list[str],
    block: list[str], whole: bool,
) -> list[Line]:  # fmt: skip
    """The same loops with steps of another reduction together, where it has enough."""
    extent = extent_of(graph, step, shared.loop)
    known = evaluate(extent)
    count = TOGETHER * shared.apart
    if length(graph.known(step, graph.box(step.func))[shared.loop]) < count:
        return []
    names = _Names(graph, shared.loop)
    inner = deep if whole else graph.name(deep, "i")
    between = [] if whole else [graph.name(deep, "o")]
    order, splits = _splits(shared, names, TOGETHER, around, [*others, *between], block)
    order = order[:-1] + f", {inner})"
    condition = [] if known is not None else [f"specialize({show(extent)} >= {count})"]
    return [Line(step.text, (*condition, *splits, order, call("unroll", [names.inner])))]


MOST_ORDERED = 3  # reductions of which all orders are offered


def reductions(graph: Graph, step: Step) -> tuple[str, ...]:
    """The reductions of an update, outermost first, as written or in another order."""
    if len(step.reduce) > MOST_ORDERED:
        return step.reduce
    orders = tuple(permutations(step.reduce))
    return graph.choices.pick(f"{step.text}.reduce", step.reduce, orders)


class _Names:
    def __init__(self, graph: Graph, loop: str) -> None:
        self.outer, self.middle, self.inner = (graph.name(loop, x) for x in ("o", "q", "i"))


def _splits(
    shared: Shared,
    names: _Names,
    together: int,
    around: list[str],
    others: list[str],
    block: list[str],
) -> tuple[str, list[str]]:
    """The order, and how the loop is cut so that the steps that share are innermost."""
    if shared.apart == 1:
        split = [call("split", [shared.loop, names.outer, names.inner, together])]
        order = [*around, names.outer, *others, *block, names.inner]
    else:
        whole = together * shared.apart
        split = [
            call("split", [shared.loop, names.outer, names.middle, whole]),
            call("split", [names.middle, names.inner, names.middle, shared.apart]),
        ]
        order = [*around, names.outer, names.middle, *others, *block, names.inner]
    return call("reorder", order), split


def _marks(
    row: str | None, lane: str | None, width: int, several: bool, vectors: bool
) -> list[str]:
    if not vectors:
        return []
    marks = []
    if lane is not None:
        marks.append(call("vectorize", [lane, width]))
        if several:
            marks.append(call("unroll", [lane]))
    if row is not None:
        marks.append(call("unroll", [row]))
    return marks


def extent_of(graph: Graph, step: Step, loop: str) -> ir.Expr:
    """The extent of a reduction."""
    assert step.update is not None
    reduce = graph.funcs[step.func].updates[step.update].reduce
    return next(r.extent for r in reduce if r.name == loop)


def shared_steps(
    graph: Graph, step: Step, rows: str | None, lanes: str | None, width: int
) -> Shared | None:
    """The reduction of which steps meet what rows (or else lanes) of other steps read."""
    if rows is not None:
        for a in step.reads:
            if lanes is None or move(a, lanes) is Move.FIXED:
                continue
            for i in a.indices:
                meeting = _meeting(i, rows, step)
                if meeting is not None:
                    return meeting
    elif lanes is not None:
        for a in step.reads:
            if a.indices and move(a, lanes) is Move.NEXT:
                meeting = _meeting(a.indices[-1], lanes, step)
                if meeting is not None:
                    return Shared(meeting.loop, width) if meeting.apart == 1 else None
    return None


def _meeting(i: ir.Expr, v: str, step: Step) -> Shared | None:
    """A reduction that the index moves with by a divisor of what it moves with the variable."""
    if not mentions(i, v):
        return None
    form = linear(i)
    own = coefficient(form, v)
    for r in step.reduce:
        moved = coefficient(form, r)
        if moved and own and own % moved == 0 and own // moved > 0:
            return Shared(r, own // moved)
    return None
