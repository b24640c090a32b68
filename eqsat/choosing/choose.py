"""Which instructions do a statement: the e-graph's candidates, planned and costed."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from heapq import heappop, heappush
from itertools import islice, takewhile
from math import inf, prod

from hbc.eqsat.graph.decode import decode
from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.graph.encode import Encoding, encode, windows
from hbc.eqsat.graph.graphs import Found, Graphs
from hbc.eqsat.graph.lowering import NOTHING, selectable, signature, signature_text
from hbc.eqsat.graph.search import Search
from hbc.eqsat.operands.choice import CHOSEN, Candidate, Choice, Statement
from hbc.eqsat.operands.operand import (
    CHEAPEST_LOAD,
    LOAD,
    Access,
    Form,
    access,
    best_load,
    first_points,
    form,
    loads_of,
    pack_cost,
    points,
)
from hbc.eqsat.operands.packs import has_band
from hbc.eqsat.tensors.plan import (
    Contraction,
    Plan,
    goes_beyond,
    moved_back,
    planned,
    plans,
    with_instruction,
)
from hbc.eqsat.tensors.points import Points
from hbc.eqsat.tensors.tensor import (
    Apply,
    Masked,
    Read,
    Reduce,
    Tensor,
    parts,
    reads,
    strides_along,
)
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction, Kind
from hbc.ir.lang.types import DTYPES, Memory
from hbc.ir.meaning.contraction import commutes, largest, multiplications, shape, strides

MOST_PLANS = 60
MOST_CHOICES = 8
ENOUGH = 12
Cost = tuple[float, float]
"""Cycles in all, and those of them for packing."""
Tables = dict[Contraction, dict[str, list[Plan]]]
"""Plans by the table of a contraction and the types: many candidates, and statements, have the same."""
Family = tuple[tuple[Kind, ...], tuple[tuple[int, ...], ...]]
ROUNDING = 1e-6  # more than a sum of cycles is off by
SCATTER = 16.0  # cycles for an accumulator whose lanes lie apart


@mutable
class Loads:
    """What loading and packing operands costs, and whether they are shuffled; by the `id` of the form
    and the plan, which are held so that they stay alive, and the operand's number."""

    known: dict[tuple[int, int, int], tuple[float, float, bool]] = field(default_factory=dict)
    direct: dict[int, bool] = field(default_factory=dict)  # of the destination, by the plan
    first: dict[tuple[int, int], Points] = field(default_factory=dict)  # by operand and plan
    forms: dict[int, Form] = field(default_factory=dict)  # by the value
    same: dict[Form, Form] = field(default_factory=dict)
    reused: dict[int, bool] = field(default_factory=dict)  # by the value and its parts
    held: list[Tensor | Plan] = field(default_factory=list)
    least: dict[tuple[int, int, int], float] = field(default_factory=dict)
    costs: dict[tuple[int, int, int], tuple[Cost, Plan]] = field(default_factory=dict)

    def form(self, x: Tensor) -> Form:
        """That of an operand: one object for all that are alike."""
        if id(x) not in self.forms:
            self.held.append(x)
            operand_form = form(x, self.reused)
            self.forms[id(x)] = self.same.setdefault(operand_form, operand_form)
        return self.forms[id(x)]

    def of(self, x: Tensor, operand: int, plan: Plan) -> tuple[float, float, bool]:
        f = self.form(x)
        key = id(f), operand, id(plan)
        if key not in self.known:
            self.known[key] = best_load(f, operand, plan, self.points(operand, plan))
        return self.known[key]

    def points(self, operand: int, plan: Plan) -> Points:
        """Those of the operand's elements at the first step."""
        key = operand, id(plan)
        if key not in self.first:
            self.held.append(plan)
            self.first[key] = first_points(plan, operand)
        return self.first[key]

    def is_direct(self, dest: Read, plan: Plan) -> bool:
        """Whether the accumulator of the first step is one run of the destination's elements."""
        if id(plan) not in self.direct:
            self.held.append(plan)
            number = plan.instruction.accumulator
            how = access(dest, plan, number, points(plan, number, {}))
            self.direct[id(plan)] = how is Access.DIRECT
        return self.direct[id(plan)]


def choose(
    s: Statement, instructions: tuple[Instruction, ...], graphs: Graphs
) -> tuple[Choice, ...]:
    """The cheapest ways to do the statement with one of the instructions, repeated; more than one
    where the choice must suit that for other statements, on tiles. None where there is none."""
    if not instructions or not has_sum(s.value):
        return ()
    with ExitStack() as stack:
        search, of = searched(s, instructions, graphs, stack)
        return _choices(s, instructions, search, of, graphs.plans.setdefault(instructions, {}))


def searched(
    s: Statement, instructions: tuple[Instruction, ...], graphs: Graphs, stack: ExitStack
) -> tuple[Search, Encoding]:
    """The statement as a question to the e-graph for the instructions, and what its numbers mean."""
    of = Encoding()
    for d in s.outputs:
        of.bit(d)
    root = encode(s.value, of)
    dead = [f"(Dead {encode(c, of)})" for c in s.dead]
    dead += [f"(Zero {encode(c, of)} {encode(x, of)})" for c, x in s.zeros]
    dead += [f"(Local {encode(x, of)})" for x in s.local]
    sliding = windows(s.outputs, of)
    needed = [("application", bool(sliding)), ("masks", has_mask(s.value))]
    rules = tuple(rules for rules, may_match in needed if may_match)
    facts = dict.fromkeys([*dead, *sliding, f"(let $root {root})", *of.facts])
    text = "\n".join(facts)
    return Search(graphs, graphs.together(instructions), rules, text, stack), of


def _choices(
    s: Statement,
    instructions: Sequence[Instruction],
    search: Search,
    of: Encoding,
    tables: Tables,
) -> tuple[Choice, ...]:
    searched = search.found()
    choices: list[Choice] = []
    rests: dict[Term, Tensor | None] = {searched.root: None}
    for (cycles, packing), candidate, plan in _cheapest(
        candidates(searched, of, instructions), s, instructions, tables
    ):
        if any(_same_operands(plan, candidate, c) for c in choices):
            continue  # dearer ways to the same end
        fitting = fitted(candidate, plan.instruction, s, search, of, rests)
        if fitting is None:
            continue
        candidate, rest = fitting
        choices.append(
            Choice(candidate, plan, cycles, packing, rest, searched.fired, searched.complete)
        )
        if len(choices) == (MOST_CHOICES if plan.instruction.place.rows > 1 else 1):
            break
    return tuple(choices)


def fitted(
    candidate: Candidate,
    i: Instruction,
    s: Statement,
    search: Search,
    of: Encoding,
    rests: dict[Term, Tensor | None],
) -> tuple[Candidate, Tensor | None] | None:
    """The candidate with the statement's value around it; None where an instruction cannot leave that.
    `rests`: what is known of these, by the candidate's term."""
    if candidate.whole not in rests:
        rests[candidate.whole] = _rest(search, candidate, of)
    rest = rests[candidate.whole]
    in_tiles = i.place.rows > 1
    if in_tiles and rest is not None and _is_signed_anew(rest, CHOSEN):
        start = s.dest if _is_signed_anew(candidate.c, s.dest.buffer) else candidate.c
        candidate, rest = replace(candidate, c=start), None
    if in_tiles and rest is not None and s.dest in reads(rest):
        return None  # the sums would overwrite what the rest reads
    if in_tiles and any(x is not None and _sums_arrays(x) for x in (rest, candidate.c)):
        return None  # what is left is as long a sum
    if rest is not None and _summed(rest):
        return None  # the result is known at the points of the statement, not at those of a sum
    return candidate, rest


def _cheapest(
    candidates: Iterable[Candidate],
    s: Statement,
    instructions: Sequence[Instruction],
    tables: Tables,
) -> Iterable[tuple[Cost, Candidate, Plan]]:
    """Candidates and plans by their cost. On tiles, those whose instructions alone take longer than
    enough others take in all are left out."""
    loads = Loads()
    options = [(plan, c) for c in candidates for plan in _plans(c, s, instructions, tables, loads)]
    cycles = {n: plan.cycles for n, plan in {id(plan): plan for plan, _ in options}.items()}
    options.sort(key=lambda option: cycles[id(option[0])])
    if not any(plan.instruction.place.rows > 1 for plan, _ in options):
        return _in_order(options, s, loads)
    costed: list[tuple[Cost, Candidate, Plan]] = []
    for plan, c in options:
        if len(costed) > ENOUGH and plan.cycles > costed[ENOUGH][0][0]:
            break
        total, plan = cost(c, plan, s, loads)
        if total[0] < inf:  # what has to be packed can be loaded
            insort(costed, (total, c, plan), key=lambda option: option[0])
    return costed


def _in_order(
    options: Sequence[tuple[Plan, Candidate]], s: Statement, loads: Loads
) -> Iterator[tuple[Cost, Candidate, Plan]]:
    """The options by their cost, which is found out when they may be next: once for all candidates of
    which the operands are loaded alike."""
    alike: dict[tuple[int, int], list[int]] = {}  # by the plan, which `options` holds, and the kind
    kinds: dict[int, int] = {}  # of a candidate, by its id
    numbers: dict[tuple[int, int], int] = {}
    for n, (plan, c) in enumerate(options):
        kind = kinds.get(id(c))
        if kind is None:
            key = id(loads.form(c.a)), id(loads.form(c.b))
            kind = kinds[id(c)] = numbers.setdefault(key, len(numbers))
        alike.setdefault((id(plan), kind), []).append(n)
    bounds = sorted((least(*options[ns[0]], loads), ns[0], ns) for ns in alike.values())
    queue: list[tuple[Cost, int, Plan]] = []
    for bound, _, ns in bounds:
        while queue and queue[0][0][0] < bound:
            price, m, final = heappop(queue)
            yield price, options[m][1], final
        for n in ns:
            plan, c = options[n]
            total, final = cost(c, plan, s, loads)
            heappush(queue, (total, n, final))
    while queue:
        price, m, final = heappop(queue)
        yield price, options[m][1], final


def _same_operands(plan: Plan, candidate: Candidate, c: Choice) -> bool:
    return (plan.rows, plan.instruction, candidate.a, candidate.b) == (
        c.plan.rows, c.plan.instruction, c.candidate.a, c.candidate.b
    )  # fmt: skip


def has_sum(x: Tensor) -> bool:
    """Whether a reduction is part of the value."""
    return isinstance(x, Reduce) or any(has_sum(p) for p in parts(x))


def has_mask(x: Tensor) -> bool:
    """Whether part of the value is masked."""
    return isinstance(x, Masked) or any(has_mask(p) for p in parts(x))


def candidates(
    answers: Found, of: Encoding, instructions: Sequence[Instruction]
) -> Iterator[Candidate]:
    """The rows for the instructions as candidates: one of two that differ in the order of factors,
    where this is all one."""
    either: dict[object, bool | None] = {}  # None: of other instructions
    seen = set[Hashable]()
    # Those that begin with something first: of equals they are chosen.
    for types, whole, c, mask, a, b in sorted(
        answers.candidates, key=lambda row: row[2] == NOTHING
    ):
        if types not in either:
            fitting = of_types(str(types), instructions)
            either[types] = all(map(commutes, fitting)) if fitting else None
        if either[types] is None:
            continue
        first, second = sorted((id(a), id(b))) if either[types] else (id(a), id(b))
        key = types, id(whole), id(c), mask, first, second  # a term is one object
        if key not in seen:
            seen.add(key)
            yield _candidate(of, types, whole, c, mask, a, b)


def _candidate(
    of: Encoding, types: object, whole: object, c: object, mask: object, a: object, b: object
) -> Candidate:
    """One row."""
    assert isinstance(whole, Term) and isinstance(a, Term) and isinstance(b, Term)
    assert isinstance(mask, int) and isinstance(types, str)
    assert isinstance(c, Term)
    start = None if c == NOTHING else decode(c, of)
    element = DTYPES[types.split("+")[0]]
    dims = of.of_mask(mask)
    return Candidate(types, element, whole, start, dims, decode(a, of), decode(b, of))


def _plans(
    c: Candidate,
    s: Statement,
    instructions: Sequence[Instruction],
    tables: Tables,
    loads: Loads,
) -> list[Plan]:
    """The plans for a candidate."""
    along = (loads.form(c.a).moving, loads.form(c.b).moving)
    if not (along[0] | along[1]) <= {*s.outputs, *c.dims}:
        return []  # a sum inside of another
    table = Contraction(s.outputs, c.dims, *along)
    by_instruction = tables.setdefault(table, {})
    if c.types not in by_instruction:
        by_instruction[c.types] = list(_plans_of(table, c.types, instructions))
    made = by_instruction[c.types]
    return _ending_together(made, c) if has_band(c.a) or has_band(c.b) else made


def _ending_together(made: list[Plan], c: Candidate) -> list[Plan]:
    """The plans for tiles with last steps that are moved back, if there are such, instead of those that go
    beyond the end: a banded matrix can be 0 wherever it is to be, so that the other factor is loaded from
    where it lies."""
    if not any(isinstance(x, Read) for x in (c.a, c.b)):
        return made
    on_tiles = (plan for plan in made if plan.instruction.place.memory is Memory.AMX_TILE)
    back = [moved for plan in on_tiles if (moved := moved_back(plan)) is not None]
    within = [plan for plan in made if not any(map(goes_beyond, plan.outer))]
    return back + within if back else made


def _plans_of(
    table: Contraction, types: str, instructions: Sequence[Instruction]
) -> Iterator[Plan]:
    fitting = sorted(of_types(types, instructions), key=_products, reverse=True)
    whole: set[Family] = set()  # families of instructions of which one has an exact plan
    # For instructions that differ in the order of elements; and whether one of the plans is exact.
    alike: dict[Hashable, tuple[list[Plan], bool]] = {}
    for i in fitting:
        family = _family(i)
        if family in whole:
            continue  # a shorter one would only have to run more often
        key = planned(i)
        if key not in alike:  # the e-graph has the other order as its own candidate
            straight = takewhile(lambda plan: not plan.swapped, plans(table, i))
            shortest = list(islice(straight, MOST_PLANS))
            alike[key] = shortest, any(plan.waste == 1 for plan in shortest)
        shortest, exact = alike[key]
        if exact:
            whole.add(family)
        yield from (p if p.instruction is i else with_instruction(p, i) for p in shortest)


def of_types(types: str, instructions: Sequence[Instruction]) -> list[Instruction]:
    """Those that sum and multiply elements of these types."""
    return [i for i in instructions if selectable(i) and signature_text(signature(i)) == types]


def _family(i: Instruction) -> Family:
    """Instructions that differ in their extents alone: the kinds of their rows, and for each operand
    which rows move it, the farthest first."""
    moved = [strides(i, n, largest(i)) for n in range(len(i.operands))]
    orders = (sorted((n for n in range(len(s)) if s[n]), key=lambda n: -s[n]) for s in moved)
    return tuple(row.kind for row in i.rows), tuple(tuple(order) for order in orders)


def _products(i: Instruction) -> tuple[float, int]:
    """How many per cycle, and in one instruction."""
    whole = multiplications(i, largest(i))
    return whole * i.cost.per_cycle, whole


def least(plan: Plan, c: Candidate, loads: Loads) -> float:
    """Cycles that a candidate takes at least: its instructions, loads of arrays shared as well as can
    be, and packing what is no array."""
    key = id(plan), id(loads.form(c.a)), id(loads.form(c.b))
    if key not in loads.least:
        total = plan.cycles
        for n, x in zip(plan.instruction.factors, (c.a, c.b), strict=True):
            f = loads.form(x)
            elements = prod(shape(plan.instruction, n, dict(plan.sizes)))
            times = loads_of(f, plan, elements)
            total += times * (CHEAPEST_LOAD if f.array is not None else LOAD + pack_cost(f))
        loads.least[key] = total - ROUNDING
    return loads.least[key]


def cost(c: Candidate, plan: Plan, s: Statement, loads: Loads) -> tuple[Cost, Plan]:
    """Estimated cycles: of the instructions, the loads of their operands, and the way of the
    accumulator to the statement's destination; and how many of them are for packing. The plan says
    which operands are shuffled."""
    key = id(loads.form(c.a)), id(loads.form(c.b)), id(plan)
    if key not in loads.costs:
        loads.costs[key] = _cost_of_operands(c, plan, loads)
    (total, packing), final = loads.costs[key]
    direct, moved = loads.is_direct(s.dest, plan), moves(c, s)
    outputs = prod(p.extent for p in plan.outer if not p.dim.reduced)
    each, moves_each = (LOAD, moved) if direct else (SCATTER, max(moved, 2))
    return (total + each * outputs * moves_each, packing), final


def moves(c: Candidate, s: Statement) -> int:
    """Loads and stores between accumulators and where they begin and end, which lie as they do."""
    return 0 if c.c == s.dest else 2 if isinstance(c.c, Read | None) else 10


def _cost_of_operands(c: Candidate, plan: Plan, loads: Loads) -> tuple[Cost, Plan]:
    """The same without the accumulator."""
    total, packing, shuffled = plan.cycles, 0.0, set[int]()
    for n, x in zip(plan.instruction.factors, (c.a, c.b), strict=True):
        load, pack, sorted_ = loads.of(x, n, plan)
        shuffled |= {n} if sorted_ else set()
        total += load + pack
        packing += pack
    final = replace(plan, shuffled=frozenset(shuffled)) if shuffled else plan
    return (total, packing), final


def _summed(x: Tensor, inside: bool = False) -> bool:
    """Whether the result of the instructions is read inside a reduction."""
    if isinstance(x, Read):
        return inside and x.buffer == CHOSEN
    return any(_summed(p, inside or isinstance(x, Reduce)) for p in parts(x))


def _sums_arrays(x: Tensor) -> bool:
    """Whether it sums elements of arrays."""
    if isinstance(x, Reduce):
        return any(not strides_along(r).isdisjoint(x.dims) for r in reads(x))
    return any(_sums_arrays(p) for p in parts(x))


def _is_signed_anew(x: Tensor | None, buffer: str) -> bool:
    """Whether it is an array of integers as ones of the other sign, which tiles hold alike."""
    match x:
        case Apply(node=ir.Cast() as node, args=(Read() as read,)) if read.buffer == buffer:
            to, element = node.type.element, read.element
            return to.is_int and element.is_int and to.bits == element.bits
        case _:
            return False


def _rest(search: Search, c: Candidate, of: Encoding) -> Tensor | None:
    """The value with the candidate read from CHOSEN."""
    chosen = Read(CHOSEN, c.element, ir.const_index(0), ())
    number = len(of.places)
    of.places.append((CHOSEN, c.element, ir.const_index(0)))
    rest = decode(search.rest(c.whole, f"(Read {number} (map-empty))"), of)
    return None if rest == chosen else rest
