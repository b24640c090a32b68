"""What the passes that build loops share: the plan, the target, and the scope going inward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.frontend.plans.place_on_gpu import Place, place_in
from hbc.frontend.plans.plan import Plan
from hbc.frontend.regions.padding import Padding
from hbc.frontend.regions.storage import Storage
from hbc.ir.algebra.bounds import Facts, Interval, prove
from hbc.ir.algebra.linear import Linear, linear
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import ge, maximum
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.target import Target
from hbc.ir.lang.walk import rewrite, substitute


@record
class Program:
    """The inlined plan and the target. `outputs`: by the name of its Func what is needed of one, `arrays`:
    the names of the outputs. `known` are forms over the sizes that are not negative, as
    the entry point tests; `checks` collects more conditions for it. `roots`: by the name of each
    loop that was made, the variables that it runs over. `unfolded`: Funcs whose memory does not wrap
    round. `buffers`: those that hold each array whose memory is hoisted. `traced`: Funcs whose steps
    say what they have computed."""

    plan: Plan
    target: Target
    outputs: Mapping[str, tuple[Interval, ...]]
    sizes: frozenset[str]
    known: tuple[Linear, ...] = ()
    arrays: frozenset[str] = frozenset()
    checks: list[Check] = field(default_factory=list)
    roots: dict[str, frozenset[str]] = field(default_factory=dict)
    padding: Padding = field(default_factory=Padding)
    unfolded: frozenset[str] = frozenset()
    buffers: dict[str, set[str]] = field(default_factory=dict)
    traced: frozenset[str] = frozenset()


@record
class Scope:
    """The names bound around a statement: their ranges, and the buffers alive. `values` has what
    names of bounds stand for, in names of loops and sizes; `conditions` hold here; `needs`: what is needed
    of the Funcs that are computed here or further in."""

    ranges: Mapping[str, Interval]
    storages: Mapping[str, Storage]
    names: frozenset[str]
    in_tail: bool = False  # a partial piece: extents are bounded, not constant
    place: Place = Place.HOST  # on a GPU
    values: Mapping[str, ir.Expr] = field(default_factory=dict)
    conditions: tuple[ir.Expr, ...] = ()
    needs: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)

    def tail(self) -> Scope:
        return replace(self, in_tail=True)

    def inside(self, kind: ir.LoopKind) -> Scope:
        """The scope of what stands in a loop of that kind."""
        place = place_in(self.place, kind)
        return self if place is self.place else replace(self, place=place)

    def fresh(self, name: str, owner: str = "") -> str:
        """A C identifier for a new name: `name`, else `owner_name`, else numbered."""
        if name not in self.names:
            return name
        candidate = base = f"{owner}_{name}" if owner else name
        count = 1
        while candidate in self.names:
            count += 1
            candidate = f"{base}{count}"
        return candidate

    def bind(self, name: str, interval: Interval, value: ir.Expr | None = None) -> Scope:
        """With a name of values in a range, or of one value."""
        new = replace(self, ranges={**self.ranges, name: interval}, names=self.names | {name})
        if value is None:
            return new
        return replace(new, values={**self.values, name: self.settled(value)})

    def settled(self, e: ir.Expr) -> ir.Expr:
        """The expression without names that have a value."""
        return simplify(substitute(e, self.values))

    def settled_facts(self) -> Facts:
        """What is known here of names without a value."""
        ends = {name: (x.lo, x.hi) for name, x in self.ranges.items() if name not in self.values}
        ranges = {
            name: Interval(*(None if e is None else self.settled(e) for e in pair))
            for name, pair in ends.items()
        }
        facts = Facts(ranges)
        for condition in self.conditions:
            facts = facts.with_condition(self.settled(condition))
        return facts

    def where(self, *conditions: ir.Expr) -> Scope:
        """The scope of what is done where these hold."""
        return replace(self, conditions=(*self.conditions, *conditions)) if conditions else self

    def named(self, name: str) -> Scope:
        """With a name that is no index."""
        return replace(self, names=self.names | {name})

    def store(self, func: str, storage: Storage) -> Scope:
        return replace(
            self,
            storages={**self.storages, func: storage},
            names=self.names | {storage.buffer},
        )


def not_negative(program: Program, extent: ir.Expr, scope: Scope) -> ir.Expr:
    """The extent, or 0 where it may be below: the range of a loop that does not run."""
    if prove(ge(extent, 0), Facts(scope.ranges, program.known)):
        return extent
    return simplify(maximum(extent, ir.const_index(0)))


def load_accesses(e: ir.Expr, scope: Scope) -> ir.Expr:
    """Each access becomes a load from where the scope stores that Func or input."""

    def load(n: ir.Expr) -> ir.Expr:
        if not isinstance(n, ir.Access):
            return n
        storage = scope.storages[n.array]
        return ir.Load(storage.buffer, storage.offset(n.indices), n.type, None, n.span)

    return rewrite(e, load)


def is_plain(e: ir.Expr) -> bool:
    """A name or a sum of multiples of names: cheap enough to repeat."""
    return all(isinstance(atom, ir.Var) for atom, _ in linear(e).terms)


def is_piece(e: ir.Expr) -> bool:
    """The same, or of names divided by numbers, at whose multiples pieces begin: what divides by a
    factor of those must see it."""
    return all(is_plain(_undivided(atom)) for atom, _ in linear(e).terms)


def _undivided(e: ir.Expr) -> ir.Expr:
    return (
        e.a if isinstance(e, ir.Binary) and e.op is ir.Op.DIV and isinstance(e.b, ir.Const) else e
    )
