"""Every mapping of whole loops to the loops of instructions, by the records that selection chooses from.

A candidate of the e-graph says that the products are those of an instruction (UNIT's computation
isomorphism), a plan that the loops are (array access isomorphism): parallel ones along parallel rows,
reductions along reductions.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Mapping as Names
from contextlib import ExitStack
from itertools import islice
from math import inf, prod

from hbc.eqsat.choosing.choose import Loads, candidates, cost, fitted, of_types, searched
from hbc.eqsat.choosing.near_miss import near_miss
from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.graph.encode import Encoding
from hbc.eqsat.graph.graphs import Graphs
from hbc.eqsat.graph.lowering import selectable
from hbc.eqsat.graph.search import Search
from hbc.eqsat.inspecting.mapping import Along, Mapping
from hbc.eqsat.operands.choice import Candidate, Statement
from hbc.eqsat.operands.operand import Access, access
from hbc.eqsat.operands.statement import in_whole_tiles
from hbc.eqsat.tensors.plan import Contraction, Plan, planned, plans, with_instruction
from hbc.eqsat.tensors.tensor import Band, Dim, Tensor, parts, reads, strides_along
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction, Overflow
from hbc.ir.meaning.contraction import extents

MOST_PLANS = 240  # that are made for one table
MOST_COSTED = 10  # of them, those whose instructions take least
TOGETHER = 4  # instructions that share an operand in a register, where it does not move
CLASSES = {
    Access.DIRECT: "direct", Access.REPEATED: "broadcast",
    Access.SHUFFLED: "shuffled", Access.PACKED: "packed",
}  # fmt: skip


@record
class CandidatePlan:
    """A candidate, with a plan for it."""

    candidate: Candidate
    plan: Plan


def mapped(
    s: Statement, names: Names[Dim, str], instructions: Sequence[Instruction], graphs: Graphs
) -> dict[str, list[Mapping]]:
    """For each instruction that can do the statement all mappings, by its name. `names`: the loops of the
    dimensions."""
    mappings: dict[str, list[Mapping]] = {}
    for memory in dict.fromkeys(i.place.memory for i in instructions):
        usable = tuple(i for i in instructions if i.place.memory is memory and selectable(i))
        if not usable:
            continue
        whole = in_whole_tiles(s) if usable[0].place.rows > 1 else s
        if whole is None:
            continue
        with ExitStack() as stack:
            search, of = searched(whole, usable, graphs, stack)
            for name, options in _by_instruction(whole, usable, search, of).items():
                mappings[name] = _mappings(whole, names, options)
    return mappings


def _by_instruction(
    s: Statement, usable: tuple[Instruction, ...], search: Search, of: Encoding
) -> dict[str, list[CandidatePlan]]:
    """Candidates and plans for each instruction: one of those whose operands are loaded alike."""
    options: dict[str, list[CandidatePlan]] = {}
    loads, rests = Loads(), dict[Term, Tensor | None]()
    seen: set[tuple[str, int, int]] = set()
    tables: dict[Hashable, list[Plan]] = {}
    for c in candidates(search.found(), of, usable):
        key = c.types, id(loads.form(c.a)), id(loads.form(c.b))
        moving = loads.form(c.a).moving, loads.form(c.b).moving
        if key in seen or not (moving[0] | moving[1]) <= {*s.outputs, *c.dims}:
            continue
        table = Contraction(s.outputs, c.dims, *moving)
        for i in of_types(c.types, usable):
            held = fitted(c, i, s, search, of, rests)
            if held is None:
                continue
            seen.add(key)
            alike = table, planned(i)
            if alike not in tables:
                tables[alike] = _plans(table, i)
            own = (with_instruction(p, i) for p in tables[alike])
            options.setdefault(i.name, []).extend(CandidatePlan(held[0], p) for p in own)
    return options


def _plans(table: Contraction, i: Instruction) -> list[Plan]:
    """One for each way to give loops to rows, the shortest."""
    ordered = sorted(
        (p for p in islice(plans(table, i), MOST_PLANS) if not p.swapped),
        key=lambda p: (p.cycles, p.waste),
    )
    kept: dict[object, Plan] = {}
    for p in ordered:
        if any(p.rows):
            kept.setdefault(tuple(tuple(part.dim for part in row) for row in p.rows), p)
    return list(islice(kept.values(), MOST_COSTED))


def _mappings(s: Statement, names: Names[Dim, str], options: list[CandidatePlan]) -> list[Mapping]:
    """The ways as mappings by their cycles: one for each assignment of loops."""
    loads = Loads()
    cheapest: dict[object, Mapping] = {}
    options = sorted(options, key=lambda w: w.plan.cycles)[: 2 * MOST_COSTED]
    for w in options:
        made = _mapping(s, names, w, loads)
        if made is None:
            continue
        key = tuple((a.row, a.loops) for a in made.rows)
        if key not in cheapest or made.cycles < cheapest[key].cycles:
            cheapest[key] = made
    return sorted(cheapest.values(), key=order)


def order(m: Mapping) -> tuple[float, str, tuple[tuple[str, ...], ...]]:
    """By cycles; of equals in an order that does not hang on the spelling."""
    return round(m.cycles, 3), m.instruction, tuple(a.loops for a in m.rows)


def _mapping(
    s: Statement, names: Names[Dim, str], w: CandidatePlan, loads: Loads
) -> Mapping | None:
    """One way; None where what has to be packed cannot be loaded."""
    c = w.candidate
    (total, _), plan = cost(c, w.plan, s, loads)
    if total == inf:
        return None
    loop_names = {**names, **_slid(names, c.a), **_slid(names, c.b)}
    operands: list[tuple[str, str]] = []
    for n, x in zip(plan.instruction.factors, (c.a, c.b), strict=True):
        load, _, _ = loads.of(x, n, plan)
        total += load * (_again(x, plan) - 1)
        how = access(x, plan, n, loads.points(n, plan))
        operands.append((_named(x), CLASSES[how]))
    sizes = extents(plan.instruction, dict(plan.sizes))
    rows = tuple(
        Along(row.name, tuple(dict.fromkeys(loop_names[p.dim] for p in parts_)), extent)
        for row, parts_, extent in zip(plan.instruction.rows, plan.rows, sizes, strict=True)
    )
    return Mapping(
        plan.instruction.name, rows, tuple(sorted(operands)), plan.count, total, plan.waste
    )


def _again(x: Tensor, plan: Plan) -> float:
    """How often an operand is loaded for each of its places: loops in which it stays share it while the
    sums of all have registers."""
    moving = strides_along(x)
    still = prod(p.extent for p in plan.outer if p.dim not in moving)
    return max(1.0, still / TOGETHER)


def _slid(names: Names[Dim, str], x: Tensor) -> dict[Dim, str]:
    """The names of the dimensions along which windows slide."""
    sliding = (
        {x.t: f"{names.get(x.d, x.d.name)} + {names.get(x.r, x.r.name)}"}
        if isinstance(x, Band)
        else {}
    )
    for p in parts(x):
        sliding |= _slid({**names, **sliding}, p)
    return sliding


def _named(x: Tensor) -> str:
    return " ".join(dict.fromkeys(r.buffer for r in reads(x))) or "a number"


def refused(s: Statement, i: Instruction, others: Sequence[Instruction]) -> Mapping:
    """Why an instruction does not do a statement."""
    if not selectable(i):
        saturates = i.rounding.overflow is Overflow.SATURATES
        why = "its sums saturate" if saturates else f"it multiplies {len(i.factors)} arrays"
        return Mapping(i.name, reason=why, edit="it is not chosen for `+=` of a product")
    miss = near_miss(s.value, [i], others)
    return Mapping(i.name, reason=miss.condition, edit=miss.edit)
