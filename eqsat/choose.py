"""Which instructions do a statement: the e-graph's candidates, planned and costed.

A statement is `dest = value` over the points of a box. Its choice splits the value into what an
instruction accumulates, `c + sum of a * b`, and the rest around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from math import prod

from hbc.eqsat.decode import decode
from hbc.eqsat.egraph import EGraph, Term
from hbc.eqsat.encode import Encoding, encode, type_facts, windows
from hbc.eqsat.lowering import lowering_rules, selectable, signature, signature_text
from hbc.eqsat.operand import LOAD, REUSED, Access, access, operand_cost, points
from hbc.eqsat.plan import Contraction, Plan, plans
from hbc.eqsat.tensor import Dims, Read, Reduce, Tensor, map_scalars, parts, reads, strides_along
from hbc.ir.instruction import Instruction
from hbc.ir.nodes import Const, Expr, Var, const_index
from hbc.ir.types import DTYPES, INDEX, DType
from hbc.ir.walk import ExprMap, substitute

ROUNDS = 6
MOST_NODES = 4000
MOST_PLANS = 60
SCATTER = 16.0  # cycles for an accumulator whose lanes lie apart
CHOSEN = "the chosen instruction"


@dataclass(frozen=True, slots=True)
class Statement:
    """`dest = value` for the points of the outputs where all of `mask` holds. What the value is where
    one of `dead` does not hold makes no difference."""

    outputs: Dims
    dest: Read
    value: Tensor
    mask: tuple[Tensor, ...] = ()
    dead: tuple[Tensor, ...] = ()

    def mapped(self, f: ExprMap) -> Statement:
        """With `f` applied to all bases and uniform values."""
        dest = map_scalars(self.dest, f)
        assert isinstance(dest, Read)
        mask, dead = (tuple(map_scalars(c, f) for c in cs) for cs in (self.mask, self.dead))
        return Statement(self.outputs, dest, map_scalars(self.value, f), mask, dead)


@dataclass(frozen=True, slots=True)
class Candidate:
    """`whole = c + sum over dims of a * b` in the element types of instructions; c None: 0."""

    types: str
    element: DType
    whole: Term
    c: Tensor | None
    dims: Dims
    a: Tensor
    b: Tensor


@dataclass(frozen=True, slots=True)
class Choice:
    """The plan for a candidate. `rest`: the statement's value around it, which reads the buffer
    CHOSEN at the same points; None when the value is the candidate itself."""

    candidate: Candidate
    plan: Plan
    cycles: float
    rest: Tensor | None
    fired: tuple[tuple[str, int], ...]

    def mapped(self, f: ExprMap) -> Choice:
        """With `f` applied to all bases and uniform values."""
        c = self.candidate
        start = None if c.c is None else map_scalars(c.c, f)
        new = replace(c, c=start, a=map_scalars(c.a, f), b=map_scalars(c.b, f))
        rest = None if self.rest is None else map_scalars(self.rest, f)
        return replace(self, candidate=new, rest=rest)


def choose(s: Statement, instructions: Sequence[Instruction]) -> Choice | None:
    """The cheapest way to do the statement with one of the instructions, repeated."""
    of = Encoding()
    for d in s.outputs:
        of.bit(d)
    root = encode(s.value, of)
    if not has_sum(s.value):
        return None
    g = EGraph()
    g.run(_rules(tuple(instructions)), "instructions")
    dead = [f"(Dead {encode(c, of)})" for c in s.dead]
    facts = [type_facts(), *dead, *windows(s.outputs, of), f"(let $root {root})", *of.facts]
    g.run("\n".join(facts))
    saturate(g)
    best: tuple[float, Candidate, Plan] | None = None
    for candidate in _candidates(g, of):
        for plan in _plans(candidate, s, instructions):
            cycles = cost(candidate, plan, s)
            if best is None or cycles < best[0]:
                best = (cycles, candidate, plan)
    if best is None:
        return None
    rest = _rest(g, best[1], of)
    in_tiles = best[2].instruction.place.rows > 1
    if in_tiles and rest is not None and s.dest in reads(rest):
        return None  # the sums would overwrite what the rest reads
    return Choice(best[1], best[2], best[0], rest, tuple(g.fired.items()))


@dataclass(slots=True)
class Shapes:
    """Choices by the shape of the statement, whatever the places of its arrays: the statements of an
    unrolled loop are chosen for once."""

    known: dict[tuple[Statement, tuple[Instruction, ...]], Choice | None] = field(
        default_factory=dict
    )

    def choose(
        self,
        s: Statement,
        instructions: tuple[Instruction, ...],
        is_reused: Callable[[Expr], bool],
    ) -> Choice | None:
        """As `choose`. `is_reused`: whether what lies at a place need not be packed anew each time."""
        places: list[Expr] = []

        def abstract(e: Expr) -> Expr:
            if isinstance(e, Const) and e.type != INDEX:
                return e
            if e not in places:
                places.append(e)
            mark = REUSED if is_reused(e) else ""
            return Var(f"#{places.index(e)}{mark}", e.type)

        shape = s.mapped(abstract)
        if (shape, instructions) not in self.known:
            self.known[shape, instructions] = choose(shape, instructions)
        found = self.known[shape, instructions]
        given = {f"#{n}{mark}": e for n, e in enumerate(places) for mark in ("", REUSED)}
        return None if found is None else found.mapped(lambda e: substitute(e, given))


def has_sum(x: Tensor) -> bool:
    """Whether a reduction is part of the value."""
    return isinstance(x, Reduce) or any(has_sum(p) for p in parts(x))


def saturate(g: EGraph) -> None:
    """Runs the rules until nothing changes, or until rounds or size run out."""
    for _ in range(ROUNDS):
        before = g.size()
        g.run("(run-schedule (saturate (run facts)) (run axioms) (saturate (run facts))"
              " (run application))")  # fmt: skip
        if g.size() in (before, None) or g.size() > MOST_NODES:
            break
    g.run("(run-schedule (saturate (run facts)) (saturate (run lowering)))")


@cache
def _rules(instructions: tuple[Instruction, ...]) -> str:
    return lowering_rules(instructions)


def _candidates(g: EGraph, of: Encoding) -> Iterator[Candidate]:
    for types, whole, c, mask, a, b in g.rows("Candidate"):
        yield _candidate(of, types, whole, c, mask, a, b)
    for types, whole, mask, a, b in g.rows("Product"):
        yield _candidate(of, types, whole, None, mask, a, b)


def _candidate(
    of: Encoding, types: object, whole: object, c: object, mask: object, a: object, b: object
) -> Candidate:
    assert isinstance(whole, Term) and isinstance(a, Term) and isinstance(b, Term)
    assert isinstance(mask, int) and isinstance(types, str)
    start = decode(c, of) if isinstance(c, Term) else None
    element = DTYPES[types.split("+")[0]]
    dims = of.of_mask(mask)
    return Candidate(types, element, whole, start, dims, decode(a, of), decode(b, of))


def _plans(c: Candidate, s: Statement, instructions: Sequence[Instruction]) -> Iterator[Plan]:
    moves = (strides_along(c.a), strides_along(c.b))
    if not (moves[0] | moves[1]) <= {*s.outputs, *c.dims}:
        return  # a sum inside of another
    table = Contraction(s.outputs, c.dims, *moves)
    for i in instructions:
        if selectable(i) and signature_text(signature(i)) == c.types:
            for plan in islice(plans(table, i), MOST_PLANS):
                if not plan.swapped:  # the e-graph has the other order as its own candidate
                    yield plan


def cost(c: Candidate, plan: Plan, s: Statement) -> float:
    """Estimated cycles: of the instructions, the loads of their operands, and the way of the
    accumulator to the statement's destination."""
    total = plan.cycles
    for n, x in zip(plan.instruction.factors, (c.a, c.b), strict=True):
        total += operand_cost(x, n, plan)
    at = points(plan, plan.instruction.accumulator, {})
    direct = access(s.dest, plan, plan.instruction.accumulator, at) is Access.DIRECT
    outputs = prod(p.extent for p in plan.outer if not p.dim.reduced)
    each = LOAD if direct else SCATTER
    ways = 0 if direct and c.c == s.dest else 2
    if not isinstance(c.c, Read | None):
        ways += 8
    return total + each * outputs * ways


def _rest(g: EGraph, c: Candidate, of: Encoding) -> Tensor | None:
    """The value with the candidate read from CHOSEN."""
    chosen = Read(CHOSEN, c.element, const_index(0), ())
    number = len(of.places)
    of.places.append((CHOSEN, c.element, const_index(0)))
    name = f"(Read {number} (map-empty))"
    g.run(f"(union {c.whole} {name})\n(let $chosen {name})")
    best = g.extract("$root")
    rest = decode(best, of)
    if rest == chosen:
        return None
    return rest
