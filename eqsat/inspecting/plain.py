"""The plain forms of a statement: vectors along one of its loops, or one element after the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from hbc.eqsat.inspecting.mapping import PLAIN, SCALAR, THREADS, Along, Mapping
from hbc.eqsat.inspecting.nests import Nest, NestLoop, expanded, step
from hbc.eqsat.inspecting.whole import updates
from hbc.eqsat.operands.operand import LOAD, SHUFFLE
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, mul, sub
from hbc.ir.lang.target import GPU, Target
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import distinct_nodes, free_variables, nodes, operands

PER_CYCLE = 2.0  # operations on vectors that begin in a cycle
CALL = 12.0  # operations of a function such as exp
LANE = 0.5  # cycles for each lane that is loaded or stored by itself
WARP = 32
TOGETHER = 4  # vectors of sums that share a load
FARTHEST = 16  # steps of a loop to what an iteration reads of another
NEAR = 4  # elements from lane to lane that one or two loads still hold


def plain(n: Nest, target: Target, multiply_adds: float = PER_CYCLE) -> list[Mapping]:
    """Every plain form, those that are refused with their reason. `multiply_adds`: of vectors of floats, that
    begin in a cycle."""
    update = updates(n.store)
    op, term = update.op, _term(update.terms[0], multiply_adds)
    on_gpu = target.machine == GPU
    if not on_gpu and target.vector_bits == 0:
        return [_scalar(n, term)]
    return [_along(n, level, op, term, target, on_gpu) for level in n.levels] or [_scalar(n, term)]


@record
class Term:
    """What is stored or added: cycles of its operations, its loads, each with the variables of its index."""

    cycles: float
    loads: tuple[tuple[ir.Load, frozenset[str]], ...]


def _term(e: ir.Expr, multiply_adds: float) -> Term:
    """A product of floats that is added is one operation with the sum."""
    loads = dict.fromkeys(_loads(e))
    fused = isinstance(e, ir.Binary) and e.op is ir.Op.MUL and e.type.element.is_float
    others = _operations(e) - (2.0 if fused else 0.0)
    cycles = others / PER_CYCLE + (1 / multiply_adds if fused else 0.0)
    return Term(cycles, tuple((x, free_variables(x.index)) for x in loads))


def _scalar(n: Nest, term: Term) -> Mapping:
    count = prod(level.extent for level in n.levels)
    each = term.cycles + LOAD * len(term.loads)
    operands = tuple(sorted((b, "direct") for b in {x.buffer for x, _ in term.loads}))
    return Mapping(SCALAR, (), operands, count, count * each)


def _along(
    n: Nest, level: NestLoop, op: ir.Op | None, term: Term, target: Target, on_gpu: bool
) -> Mapping:
    """The form whose lanes run along this loop."""
    name = THREADS if on_gpu else PLAIN
    names = {v.var for v in n.levels}
    stored = step(n.store.index, level.var)
    row = (Along("lanes", (level.loop,), 0),)
    if free_variables(stored) & names or any(x.buffer == n.store.buffer for x in _scattered(n)):
        why = f"two lanes along `{level.loop}` may store to one element of `{n.store.buffer}`"
        return Mapping(name, row, reason=why, edit="run it in order, or across another loop")
    summed = const_value(stored) == 0
    if summed and op not in ir.ASSOCIATIVE:
        why = f"what `{level.loop}` stores to one element must stay in its order"
        return Mapping(name, row, reason=why, edit="let the lanes run along another loop")
    if op is None and _carries(n, level):
        why = (
            f"an iteration of `{level.loop}` reads what an earlier one stored in `{n.store.buffer}`"
        )
        return Mapping(name, row, reason=why, edit="let the lanes run along another loop")
    bits = max([n.store.value.type.element.bits, *(x.type.element.bits for x, _ in term.loads)])
    lanes = WARP if on_gpu else max(1, target.vector_bits // bits)
    steps = prod(-(-v.extent // lanes) if v is level else v.extent for v in n.levels)
    cycles = term.cycles
    operands: dict[str, str] = {}
    for x, variables in term.loads:
        how, each = _loaded(x, level.var, lanes) if level.var in variables else ("broadcast", LOAD)
        still = any(v.var not in variables and v is not level for v in n.levels)
        cycles += each / TOGETHER if still and how != "lane by lane" else each
        if operands.get(x.buffer) != "lane by lane":
            operands[x.buffer] = how
    moves = 1 if summed or const_value(stored) == 1 else lanes
    outputs = [v for v in n.levels if const_value(step(n.store.index, v.var)) != 0]
    sums = prod(-(-v.extent // lanes) if v is level else v.extent for v in outputs)
    total = steps * cycles + sums * moves * LOAD * (1 if op is None else 2)
    covered = -(-level.extent // lanes) * lanes
    return Mapping(
        name, (Along("lanes", (level.loop,), lanes),), tuple(sorted(operands.items())), steps, total,
        covered / level.extent,
    )  # fmt: skip


def _scattered(n: Nest) -> Iterator[ir.Load]:
    """What is read to know where to store, as if it were of the buffer itself."""
    for e in nodes(n.store.index):
        if isinstance(e, ir.Load):
            yield ir.Load(n.store.buffer, e.index, e.type)


def _carries(n: Nest, level: NestLoop) -> bool:
    """Whether another iteration of the loop may store what this one reads: elements so many of its steps
    away. Where it is no loop's steps, no one knows, and it may be any."""
    for x in _loads(n.store.value):
        if x.buffer != n.store.buffer:
            continue
        far = expanded(sub(x.index, n.store.index))
        if far != ir.const_index(0) and level in (_carriers(n, far) or n.levels):
            return True
    return False


def _carriers(n: Nest, far: ir.Expr) -> list[NestLoop]:
    """The loop of which so many steps are this far: of several that of the longest."""
    for q in range(1, FARTHEST + 1):
        for level in n.levels:
            stride = step(n.store.index, level.var)
            if expanded(mul(q, stride)) in (far, expanded(sub(0, far))) and q < level.extent:
                return [level]
    return []


def _loads(e: ir.Expr) -> Iterator[ir.Load]:
    """The loads in an expression; of what stands in it several times as one object once."""
    return (x for x in distinct_nodes(e) if isinstance(x, ir.Load))


def _operations(e: ir.Expr) -> float:
    """On values, not on places, with that which adds them."""
    known: dict[int, float] = {}

    def within(x: ir.Expr) -> float:
        if id(x) not in known:
            own = CALL if isinstance(x, ir.Call) else 1.0 if _is_operation(x) else 0.0
            known[id(x)] = own + sum(map(within, operands(x)))
        return known[id(x)]

    return 1.0 + within(e)


def _is_operation(x: ir.Expr) -> bool:
    return isinstance(x, ir.Binary | ir.Cast | ir.Unary | ir.Select) and x.type != INDEX


def _loaded(x: ir.Load, var: str, lanes: int) -> tuple[str, float]:
    """How the lanes along a loop that moves it are loaded, and cycles for a vector of them."""
    stride = step(x.index, var)
    by = const_value(stride)
    if by == 0:
        return "broadcast", LOAD
    if by == 1:
        return "direct", LOAD
    if by is not None and -NEAR <= by <= NEAR:
        return "shuffled", LOAD * abs(by) + SHUFFLE
    return "lane by lane", LANE * lanes
