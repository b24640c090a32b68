"""Sums of which a reader interleaves the phases, as in `O[y, x] = f[y / 2, x / 2, y % 2, x % 2]`."""

from __future__ import annotations

from hbc.frontend.automatic.sums import Shared, extent_of, shared_steps
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum
from hbc.frontend.program.funcs import Func
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show

IN_ALL = 4  # rows, and vectors of a row, that all phases have together


@record
class Phases:
    """`sums` is read by a Func whose `lanes` and `rows` count phases of it by `lane_count` and
    `row_count`: `lane`, `row` are its variables of quotients, `inner` those of remainders."""

    sums: str
    lanes: str
    rows: str | None
    lane_count: int
    row_count: int
    lane: str
    row: str | None
    inner: tuple[tuple[str, int], ...]

    def block(self, registers: int) -> tuple[int, int]:
        """Rows and vectors of each phase: half of the registers hold sums."""
        rows, vectors = max(IN_ALL // self.row_count, 1), max(IN_ALL // self.lane_count, 1)
        while rows * self.row_count * vectors * self.lane_count > registers // 2:
            if vectors > 1:
                vectors //= 2
            elif rows > 1:
                rows //= 2
            else:
                break
        return rows, vectors

    def blocks(self, registers: int) -> list[tuple[int, int]]:
        """Others that leave registers for the operands."""
        sides = [(r, v) for r in (1, 2, 3, 4, 6, 8) for v in (1, 2, 3, 4)]
        each = self.row_count * self.lane_count
        return [s for s in sides if s[0] * s[1] * each <= registers - registers // 4]


def picked_block(graph: Graph, phases: Phases, registers: int) -> tuple[int, int]:
    """The block of each phase: the usual one, or what is wanted."""
    others = phases.blocks(registers)
    return graph.choices.pick(f"{phases.sums}.block", phases.block(registers), others)


def phases_of(graph: Graph, func: Func) -> Phases | None:
    """The phases that a Func interleaves, if it does nothing else with indices."""
    if func.updates:
        return None
    (step,) = graph.steps[func.name]
    for a in step.reads:
        inner = graph.funcs.get(a.name)
        if inner is None or not inner.updates or a.name in graph.outputs or not is_sum(inner):
            continue
        alone = [s.key for s in graph.readers(a.name)] == [step.key]
        if alone and len([b for b in step.reads if b.name == a.name]) == 1:
            phases = _phases(a, inner, func)
            if phases is not None:
                return phases
    return None


def _phases(a: ir.Access, inner: Func, func: Func) -> Phases | None:
    quotients: dict[str, tuple[str, int]] = {}
    remainders: dict[str, tuple[str, int]] = {}
    plain: set[str] = set()
    for v, i in zip(inner.variables, a.indices, strict=True):
        match i:
            case ir.Var(name=name):
                plain.add(name)
            case ir.Binary(op=ir.Op.DIV, a=ir.Var(name=name), b=ir.Const(value=int(q))) if q > 1:
                quotients[name] = v, q
            case ir.Binary(op=ir.Op.MOD, a=ir.Var(name=name), b=ir.Const(value=int(q))) if q > 1:
                remainders[name] = v, q
            case _:
                return None
    same = quotients.keys() == remainders.keys()
    if not same or plain & quotients.keys() or plain | quotients.keys() != set(func.variables):
        return None
    if len(plain) + 2 * len(quotients) != len(inner.variables) or len(quotients) > 2:
        return None
    if any(quotients[v][1] != remainders[v][1] for v in quotients):
        return None
    lanes = func.variables[-1]
    if lanes not in quotients:
        return None
    rows = next((v for v in quotients if v != lanes), None)
    return Phases(
        a.name, lanes, rows, quotients[lanes][1], 1 if rows is None else quotients[rows][1],
        quotients[lanes][0], None if rows is None else quotients[rows][0],
        tuple(remainders[v] for v in func.variables if v in remainders),
    )  # fmt: skip


def phase_lines(
    graph: Graph, phases: Phases, width: int, place: list[str], registers: int
) -> list[Line]:
    """The sums: all phases of a block in vectors, each with its own taps."""
    func = graph.funcs[phases.sums]
    block = [x for x in (phases.row, *(v for v, _ in phases.inner), phases.lane) if x is not None]
    others = [v for v in func.variables if v not in block]
    rows, vectors = picked_block(graph, phases, registers)
    marks = [call("vectorize", [phases.lane, width])]
    if vectors > 1:
        marks.append(call("unroll", [phases.lane]))
    unrolled = [x for x in block if x != phases.lane and (x != phases.row or rows > 1)]
    marks += [call("unroll", [x]) for x in unrolled]
    bounds = [call("bound", [v, 0, n]) for v, n in phases.inner]
    place = [p for p in place if not p.startswith("bound")]
    storage = call("reorder_storage", [*others, *block])
    first = (*place, *bounds, call("reorder", [*others, *block]), storage, *marks)
    lines = [Line(phases.sums, first)]
    for s in graph.steps[phases.sums]:
        if s.update is not None:
            lines += _update(graph, s, phases, width, others, block, marks)
    return lines


def _update(
    graph: Graph, s: Step, phases: Phases, width: int, others: list[str], block: list[str],
    marks: list[str],
) -> list[Line]:  # fmt: skip
    plain = (call("reorder", [*others, *s.reduce, *block]), *marks)
    shared: Shared | None = None
    if phases.row is not None:
        shared = shared_steps(graph, s, phases.row, phases.lane, width)
    if shared is None or shared.apart != 1:
        return [Line(s.text, plain)]
    outer, inner = graph.name(shared.loop, "o"), graph.name(shared.loop, "i")
    rest = [r for r in s.reduce if r != shared.loop]
    extent = show(extent_of(graph, s, shared.loop))
    special = (
        f"specialize({extent} >= {IN_ALL})", call("split", [shared.loop, outer, inner, IN_ALL]),
        call("reorder", [*others, outer, *rest, inner, *block]), call("unroll", [inner]),
    )  # fmt: skip
    return [Line(s.text, plain), Line(s.text, special)]
