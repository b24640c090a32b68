"""Which Funcs are substituted into their readers: those that cost less again than to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from hbc.frontend.costs.choices import Choices
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.dots import bare, factors_of
from hbc.frontend.costs.edges import without_edges
from hbc.frontend.costs.graph import Graph, graph_of
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.promises import constant_needs
from hbc.frontend.costs.spans import volume
from hbc.frontend.costs.storage import (
    innermost_variable,
    moving,
    stored,
)
from hbc.frontend.plans.inline import map_func
from hbc.frontend.plans.inline_limit import Formula, measure
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import nodes, nodes_of, rewrite, substitute

# Vector operations, as far as they differ from one.
_MATH = {ir.MathOp.SQRT: 6.0, ir.MathOp.FLOOR: 1.0, ir.MathOp.CEIL: 1.0, ir.MathOp.ROUND: 1.0,
         ir.MathOp.REINTERPRET: 0.0}  # fmt: skip
MATH, DIVISION, GATHERED, LOOKED_UP, REMAINDER = 14.0, 5.0, 8.0, 24.0, 3.0
BY_LANE = 160.0  # integers divided by what is no constant: a division for each lane
KEPT = 3.0  # a store and what it takes of the caches
READ = 1.0
SPREAD = 1.0  # a part of a vector over its lanes
LONGEST = 400  # nodes of a formula that is still substituted
SLACK = 1.1


def cost_of(e: ir.Expr, lanes: str | None) -> float:
    """Operations per element of a formula whose lanes are the values of that variable."""
    match e:
        case ir.Const() | ir.Var():
            return 0.0
        case ir.Access(indices=indices):
            inner = sum(cost_of(i, lanes) for i in indices)
            if lanes is None:
                return READ + inner
            match move(e, lanes):
                case Move.FIXED:
                    return 0.5 * READ + inner * 0.1  # once for all lanes
                case Move.NEXT:
                    return READ + inner * 0.1
                case Move.REPEATED:
                    return READ + SPREAD + inner * 0.1
                case Move.FAR:
                    return GATHERED + inner
                case _:
                    return LOOKED_UP + inner
        case ir.Binary(op=op, a=a, b=b):
            own = 1.0
            if op in (ir.Op.DIV, ir.Op.MOD):
                simple = isinstance(b, ir.Const) and e.type.element.is_int
                own = REMAINDER if simple else DIVISION if e.type.element.is_float else BY_LANE
            elif e.type == INDEX and op in (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL):
                own = 0.5
            return own + cost_of(a, lanes) + cost_of(b, lanes)
        case ir.Call(name=name, args=args):
            return _MATH.get(name, MATH) + sum(cost_of(a, lanes) for a in args)
        case ir.Cast(value=value):
            narrow = value.type.element.bits != e.type.element.bits
            halves = value.type.element.is_narrow
            return (2.0 if halves else 1.0 if narrow else 0.0) + cost_of(value, lanes)
        case ir.Select(condition=c, a=a, b=b):
            return 1.0 + cost_of(c, lanes) + cost_of(a, lanes) + cost_of(b, lanes)
        case ir.Unary(a=a):
            return 1.0 + cost_of(a, lanes)
        case ir.Let(value=value, body=body):
            return cost_of(value, lanes) + cost_of(body, lanes)
        case ir.Tuple(items=items):
            return sum(cost_of(item, lanes) for item in items)
        case _:
            return 1.0


def inlined(
    p: Pipeline, sizes: Mapping[str, int], dots: tuple[Dot, ...] = (), choices: Choices | None = None,
    edges: bool = True, keeping: float = KEPT, lanes: bool = True,
) -> Graph:  # fmt: skip
    """The graph of the Funcs that are kept. With instructions that multiply what is not converted yet,
    conversions are left to them, and what computes their factors is kept. Without `edges`, those that are
    never met at these sizes are none. `keeping`: operations in the time that it takes to keep an element.
    `lanes`: loops become lanes, in whose order memory lies."""
    choices = Choices() if choices is None else choices
    funcs = {f.name: f for f in p.funcs if f.table_shape is None}
    graph = graph_of(p, funcs, sizes)
    graph = replace(graph, promised=constant_needs(graph))
    if lanes:
        likely = {name: innermost_variable(graph, f, {}) for name, f in graph.funcs.items()}
        graph = replace(graph, innermost={n: v for n, v in likely.items() if v is not None})
    gone: dict[str, Func] = {}
    kept: dict[str, Func] = {}
    innermost: dict[str, str] = {}
    for name, func in funcs.items():
        if name not in graph.funcs:
            gone[name] = func  # nothing needs it
            continue
        new = map_func(func, lambda e: _expanded(e, gone)) if gone else func
        plain = None if edges else without_edges(graph, new)
        if plain is not None:
            gone[name] = plain
            continue
        formula = measure(new.pure, {})
        as_stored = map_func(new, partial(_in_order, graph=graph, innermost=innermost))
        cheap = not _feeds(new, graph, dots) and (
            _is_cheap(graph, as_stored, kept, formula, keeping)
            or bool(dots and _widens(new, graph))
        )
        if not (func.updates or name in graph.outputs or formula.length > LONGEST):
            cheap = choices.pick(f"{name}.inline", cheap, (True, False))
        if cheap:
            gone[name] = new
        else:
            kept[name] = new
            lane = innermost_variable(graph, new, innermost) if lanes else None
            if lane is not None:
                innermost[name] = lane
    kept_graph = graph_of(p, kept, sizes)
    return replace(
        kept_graph,
        promised=constant_needs(kept_graph),
        dots=dots,
        choices=choices,
        innermost=innermost,
    )


def _expanded(e: ir.Expr, gone: Mapping[str, Func]) -> ir.Expr:
    def expand(n: ir.Expr) -> ir.Expr:
        if isinstance(n, ir.Access) and n.name in gone:
            func = gone[n.name]
            return substitute(func.value(n.part), dict(zip(func.variables, n.indices, strict=True)))
        return n

    return rewrite(e, expand)


def _in_order(e: ir.Expr, graph: Graph, innermost: Mapping[str, str]) -> ir.Expr:
    """With the indices of what it reads in the order of memory."""
    if not innermost:
        return e
    return rewrite(e, lambda n: stored(n, graph, innermost) if isinstance(n, ir.Access) else n)


def _feeds(func: Func, graph: Graph, dots: tuple[Dot, ...]) -> bool:
    """Whether the Func computes a factor of sums that instructions take from memory alone."""
    if func.updates or isinstance(bare(func.pure), ir.Access | ir.Const):
        return False
    if not any(func.element in d.factors for d in dots):
        return False
    factors = (factors_of(graph, s) or () for s in graph.readers(func.name))
    return any(a.name == func.name for both in factors for a in both)


def _widens(func: Func, graph: Graph) -> bool:
    """Whether the Func only converts to a wider type what another holds."""
    e = func.pure
    if func.updates or func.name in graph.outputs or not isinstance(e, ir.Cast):
        return False
    inner = e.value
    return isinstance(inner, ir.Access) and inner.type.element.bits < e.type.element.bits


def _is_cheap(
    graph: Graph, func: Func, kept: Mapping[str, Func], formula: Formula, keeping: float
) -> bool:
    """Whether to compute it at each use takes no longer than to keep it."""
    if func.updates or func.name in graph.outputs:
        return False
    if formula.length > LONGEST:
        return False
    if ends_a_sum(func, kept):
        return False
    if joint_is_cheap(graph, func, kept, keeping):
        return True
    uses, lanes = 0, set()
    for s in graph.readers(func.name):
        times = graph.iterations(s, graph.box(s.func))
        uses += times * len([a for a in s.reads if a.name == func.name])
        innermost = s.pure[-1] if s.pure else None
        lanes |= moving(func, s, graph.innermost.get(s.func, innermost))
    values = func.pure.items if isinstance(func.pure, ir.Tuple) else (func.pure,)
    own = func.variables[-1] if func.variables else None
    # What is read in lanes that are not its own is slower, if it is not a plain move itself.
    asked = (own, *(v for v in lanes if v in func.variables))
    again = max(sum(cost_of(e, v) for e in values) for v in asked) / len(values)
    points = volume(graph.box(func.name)) * len(values)
    if all(isinstance(e, ir.Access | ir.Const | ir.Var) for e in values) and again <= READ:
        return True
    once = sum(cost_of(e, own) for e in values) / len(values)
    return uses * again <= (points * (once + keeping) + uses * READ) * SLACK


def joint_is_cheap(
    graph: Graph, func: Func, kept: Mapping[str, Func], keeping: float = KEPT
) -> bool:
    """The same of all Funcs together that one step reads and that take elements of others as they are, as the
    products of two gradients are: what several of them read is loaded once."""
    readers = [s.key for s in graph.readers(func.name)]
    if len(readers) != 1 or not takes_elements(func, graph, kept):
        return False
    group = {
        f.name: f for f in graph.funcs.values()
        if takes_elements(f, graph, kept) and [s.key for s in graph.readers(f.name)] == readers
    }  # fmt: skip
    if len(group) < 2:
        return False
    (step,) = graph.readers(func.name)
    times = graph.iterations(step, graph.box(step.func))
    uses = [sum(a.name == name for a in step.reads) for name in group]
    accesses = [n for f in group.values() for n in nodes_of(f.pure, ir.Access)]
    work = sum(cost_of(f.pure, f.variables[-1]) for f in group.values())
    work -= READ * (len(accesses) - len({a.name for a in accesses}))
    apart = volume(graph.box(func.name)) * (work + keeping * len(group)) + times * READ * sum(uses)
    return times * max(uses) * work <= apart * SLACK


def takes_elements(func: Func, graph: Graph, kept: Mapping[str, Func]) -> bool:
    """Whether the Func is made of elements at its own variables, of inputs and Funcs that are kept."""
    reads = nodes_of(func.pure, ir.Access)
    at = tuple(ir.Var(v) for v in func.variables)
    there = all(a.indices == at and (a.name in kept or a.name not in graph.funcs) for a in reads)
    return bool(reads) and there and not func.updates and func.name not in graph.outputs


def ends_a_sum(func: Func, kept: Mapping[str, Func]) -> bool:
    """Whether the Func takes the elements of one with updates as they are: it is what the sums are
    finished with, and to substitute it saves no memory."""
    return any(
        isinstance(n, ir.Access) and n.name in kept and kept[n.name].updates and _is_whole(n, func)
        for n in nodes(func.pure)
    )


def _is_whole(a: ir.Access, func: Func) -> bool:
    """Whether each variable of the Func is an index of the access."""
    named = {i.name for i in a.indices if isinstance(i, ir.Var)}
    return set(func.variables) <= named
