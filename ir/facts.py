"""What is known of variables: ranges, and conditions that hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hbc.ir.build import not_
from hbc.ir.linear import Linear, linear, minus, shifted
from hbc.ir.nodes import Binary, Expr, Op, Unary, UnaryOp
from hbc.ir.types import INDEX
from hbc.ir.walk import free_variables


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from lo to hi, both included; None is unbounded."""

    lo: Expr | None
    hi: Expr | None

    @property
    def bounded(self) -> bool:
        return self.lo is not None and self.hi is not None


Ranges = Mapping[str, Interval]
"""Ranges of variables, and of the values of buffers and Funcs, by name. Sizes and outer loops come
first: a range may speak of the names before it. Bounded variables are replaced by their bounds,
last one first; the others (sizes, `>= 0`) stay as symbols."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Ranges, and forms that are known to be >= 0. Everything derived is remembered here, so keep
    the object as long as the facts hold."""

    ranges: Ranges = field(default_factory=dict)
    known: tuple[Linear, ...] = ()
    rank: dict[str, int] = field(default_factory=dict)
    forms: dict[str, tuple[Linear | None, Linear | None]] = field(default_factory=dict)
    found: dict[tuple[object, ...], Linear | None] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rank.update({name: i for i, name in enumerate(self.ranges)})

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
        return Facts({**outer.ranges, name: interval}, outer.known)

    def forget(self, name: str) -> Facts:
        """What these facts say of other names, where `name` is bound anew."""
        kept = {k: r for k, r in self.ranges.items() if k != name and not _speaks(r, name)}
        known = tuple(f for f in self.known if all(not _in(name, a) for a, _ in f.terms))
        if len(kept) == len(self.ranges) and len(known) == len(self.known):
            return self
        return Facts(kept, known)

    def with_condition(self, condition: Expr) -> Facts:
        """These facts where the condition holds."""
        new = tuple(implied(condition))
        return Facts(self.ranges, (*self.known, *new)) if new else self


NOTHING = Facts()


def _speaks(r: Interval, name: str) -> bool:
    return any(e is not None and _in(name, e) for e in (r.lo, r.hi))


def _in(name: str, e: Expr) -> bool:
    return name in free_variables(e)


def facts_of(given: Facts | Ranges) -> Facts:
    """Facts as they are, or from ranges alone."""
    return given if isinstance(given, Facts) else Facts(given)


def implied(condition: Expr) -> Iterable[Linear]:
    """Forms that are >= 0 where the condition holds."""
    match condition:
        case Binary(op=Op.AND, a=a, b=b):
            yield from implied(a)
            yield from implied(b)
        case Unary(op=UnaryOp.NOT, a=a):
            turned = not_(a)
            if not isinstance(turned, Unary):
                yield from implied(turned)
        case Binary(op=op, a=a, b=b) if a.type == INDEX:
            match op:
                case Op.LT:
                    yield shifted(minus(linear(b), linear(a)), -1)
                case Op.LE:
                    yield minus(linear(b), linear(a))
                case Op.GT:
                    yield shifted(minus(linear(a), linear(b)), -1)
                case Op.GE:
                    yield minus(linear(a), linear(b))
                case Op.EQ:
                    yield minus(linear(a), linear(b))
                    yield minus(linear(b), linear(a))
