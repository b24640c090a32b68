"""What is known of variables: ranges, and conditions that hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from hbc.ir.algebra.linear import Linear, linear, minus, shifted
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import mod, not_
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import contains, free_variables


@record
class Interval:
    """All values from lo to hi, both included; None is unbounded."""

    lo: ir.Expr | None
    hi: ir.Expr | None

    @property
    def bounded(self) -> bool:
        return self.lo is not None and self.hi is not None

    @property
    def goes(self) -> bool:
        """Is a variable of this range replaced by its bounds? One that has a bound on one side only
        (a size) stays; of one with none, nothing may depend."""
        return (self.lo is None) == (self.hi is None)


Ranges = Mapping[str, Interval]
"""Ranges of variables, and of the values of buffers and Funcs, by name. Sizes and outer loops come
first: a range may speak of the names before it. Variables with two bounds are replaced by them, last
one first; those with one (sizes, `>= 0`) and names without a range stay as symbols; what depends on
a name with neither bound has no bound."""


@record
class About:
    """A form that is known to be >= 0, by its number, and the coefficient of an atom in it."""

    number: int
    form: Linear
    coefficient: int


@record
class Facts:
    """Ranges, and forms that are known to be >= 0. What is derived from them is remembered here, so
    keep the object as long as the facts hold. (`ranks`: constant bounds, symbolic ones.)"""

    ranges: Ranges = field(default_factory=dict)
    known: tuple[Linear, ...] = ()
    rank: dict[str, int] = field(default_factory=dict)
    forms: dict[str, tuple[Linear | None, Linear | None]] = field(default_factory=dict)
    found: dict[tuple[object, ...], Linear | None] = field(default_factory=dict)
    ranks: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    about: dict[str, tuple[About, ...]] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)
    proofs: dict[ir.Expr, bool | None] = field(default_factory=dict)  # of conditions on vectors
    inside: dict[int, Facts] = field(default_factory=dict)  # these, for a lane of so many

    def __post_init__(self) -> None:
        self.rank.update({name: i for i, name in enumerate(self.ranges)})

    def on(self, key: str) -> tuple[About, ...]:
        """What is known of the atom of that key."""
        found = self.about.get(key)
        if found is None:
            found = self.about[key] = tuple(
                About(i, fact, fact.terms[fact.keys.index(key)][1])
                for i, fact in enumerate(self.known)
                if key in fact.keys
            )
        return found

    def limits(self, name: str) -> tuple[Linear | None, Linear | None]:
        """The range of a name as linear forms."""
        if name not in self.forms:
            r = self.ranges[name]
            lo = None if r.lo is None else linear(r.lo)
            self.forms[name] = (lo, None if r.hi is None else linear(r.hi))
        return self.forms[name]

    def with_range(self, name: str, interval: Interval) -> Facts:
        """These facts inside a loop or Let over `name`."""
        outer = self.forget(name)
        inner = Facts({**outer.ranges, name: interval}, outer.known)
        inner.mentioned.update(outer.names(), {name}, _names(interval))
        return inner

    def with_condition(self, condition: ir.Expr) -> Facts:
        """These facts where the condition holds. What it says of memory is not taken: a store may
        change it."""
        new = tuple(f for f in implied(condition) if not any(_loads(a) for a, _ in f.terms))
        if not new:
            return self
        inner = Facts(self.ranges, (*self.known, *new))
        inner.mentioned.update(self.names(), *map(_names_of, new))
        return inner

    def forget(self, name: str) -> Facts:
        """What these facts say of other names, where `name` is bound anew."""
        if name not in self.names():
            return self
        kept = {k: r for k, r in self.ranges.items() if k != name and name not in _names(r)}
        known = tuple(f for f in self.known if name not in _names_of(f))
        return Facts(kept, known)

    def names(self) -> set[str]:
        """All names that the facts speak of."""
        if not self.mentioned:
            self.mentioned.update(self.ranges, *map(_names, self.ranges.values()))
            self.mentioned.update(*map(_names_of, self.known))
        return self.mentioned


NOTHING = Facts()
LARGEST_DIVISOR = 4096  # of which it is said what else divides: a block is no larger


def _names(r: Interval) -> set[str]:
    return {name for e in (r.lo, r.hi) if e is not None for name in free_variables(e)}


def _names_of(form: Linear) -> set[str]:
    return {name for atom, _ in form.terms for name in free_variables(atom)}


def _loads(atom: ir.Expr) -> bool:
    return contains(atom, ir.Load)


def facts_of(given: Facts | Ranges) -> Facts:
    """Facts as they are, or from ranges alone."""
    return given if isinstance(given, Facts) else Facts(given)


def implied(condition: ir.Expr) -> Iterable[Linear]:
    """Forms that are >= 0 where the condition holds."""
    match condition:
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            yield from implied(a)
            yield from implied(b)
        case ir.Unary(op=ir.UnaryOp.NOT, a=a):
            turned = not_(a)
            if not isinstance(turned, ir.Unary):
                yield from implied(turned)
        case ir.Binary(op=op, a=a, b=b) if a.type == INDEX:
            match op:
                case ir.Op.LT:
                    yield shifted(minus(linear(b), linear(a)), -1)
                case ir.Op.LE:
                    yield minus(linear(b), linear(a))
                case ir.Op.GT:
                    yield shifted(minus(linear(a), linear(b)), -1)
                case ir.Op.GE:
                    yield minus(linear(a), linear(b))
                case ir.Op.EQ:
                    yield minus(linear(a), linear(b))
                    yield minus(linear(b), linear(a))
                    yield from _divided(a, b)


def _divided(a: ir.Expr, b: ir.Expr) -> Iterable[Linear]:
    """Forms that are >= 0 because `a == b` says that a number divides another: its divisors do, too."""
    match a, b:
        case ir.Binary(op=ir.Op.MOD, a=x, b=ir.Const(value=n)), ir.Const(value=0) if (
            1 < int(n) <= LARGEST_DIVISOR
        ):
            for d in range(2, int(n)):
                if int(n) % d == 0:
                    yield minus(linear(ir.const_index(0)), linear(mod(x, d)))
        case _:
            pass
