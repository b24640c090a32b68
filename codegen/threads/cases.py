"""Two accesses of a ring in shared memory, told apart by cases: which slot it is that both begin at.

    ring[340 * ((n / 340 + z) % 4) + n % 340]     where n = 256 * piece + thread

Whatever z is, z % 4 is one of four numbers, and the same in both; and so is the piece of a loop with few.
For each of them, what the threads touch can be enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from hbc.codegen.threads.access import ThreadAccess
from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.form import of_atom
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables, nodes, rewrite, substitute

MOST_CASES = 128
MOST_PLACES = 1 << 20  # elements that are looked at in all cases

Case = tuple[ThreadAccess, ThreadAccess]


def is_mixed(a: ThreadAccess) -> bool:
    """Whether a remainder in the index depends on the thread, and on names from outside as well."""
    if a.index is None:
        return False
    own = _own(a)
    for n in nodes(a.index):
        if isinstance(n, ir.Binary) and n.op is ir.Op.MOD:
            names = free_variables(n)
            if not names.isdisjoint(own) and not names <= own:
                return True
    return False


def cases(
    one: ThreadAccess, other: ThreadAccess, back: Mapping[str, int], facts: Facts
) -> list[Case] | None:
    """Pairs of accesses, one of which is what the two are, whatever names from outside stand for. The
    first was so many iterations ago. None where there are too many, or that is not all of it."""
    if one.index is None or other.index is None:
        return None
    worth = {n: x.lo for n, x in facts.ranges.items() if x.lo is not None and x.lo is x.hi}
    one, other = (replace(a, index=substitute(a.index, worth)) for a in (one, other) if a.index)
    names = sorted((one.outside | other.outside) & facts.ranges.keys())
    ranges = {name: values for name in names if (values := _values(name, facts)) is not None}
    count, most = prod(len(v) for v in ranges.values()), max(_places(one), _places(other))
    if count > MOST_CASES or back.keys() - ranges.keys():
        return None
    pairs: list[Case] = []
    for numbers in product(*ranges.values()):
        now = dict(zip(ranges, numbers, strict=True))
        before = {name: n - back.get(name, 0) for name, n in now.items()}
        if any(before[name] not in ranges[name] for name in now):
            continue  # so early there was no iteration
        remainders: dict[tuple[str, int], str] = {}
        first = _with_remainders(one, _put(one, before), remainders)
        second = _with_remainders(other, _put(other, now), remainders)
        if first is None or second is None:
            return None
        pairs += _numbered(one, first, other, second, remainders)
        if len(pairs) > MOST_CASES or len(pairs) * most > MOST_PLACES:
            return None
    return pairs


def _places(a: ThreadAccess) -> int:
    return len(a.offsets) * prod(x.extent or 1 for x in (*a.digits, *a.loops))


def _own(a: ThreadAccess) -> frozenset[str]:
    return frozenset(x.name for x in (*a.digits, *a.loops))


def _values(name: str, facts: Facts) -> range | None:
    """All values of a name that has few."""
    interval = facts.ranges[name]
    if not isinstance(interval.lo, ir.Const) or not isinstance(interval.hi, ir.Const):
        return None
    values = range(int(interval.lo.value), int(interval.hi.value) + 1)
    return values if len(values) <= MOST_CASES else None


def _put(a: ThreadAccess, values: Mapping[str, int]) -> ir.Expr:
    assert a.index is not None
    return _with(a.index, values)


def _with(index: ir.Expr, values: Mapping[str, int]) -> ir.Expr:
    return simplify(substitute(index, {name: ir.const_index(n) for name, n in values.items()}))


def _with_remainders(
    a: ThreadAccess, index: ir.Expr, remainders: dict[tuple[str, int], str]
) -> ir.Expr | None:
    """The index where what comes from outside into a remainder by d is a name for its own remainder by d;
    equal ones have one name. None where something else of the index mixes the two."""
    own = _own(a)

    def change(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Binary(op=ir.Op.MOD, a=x, b=ir.Const(value=d) as by) if d > 0:
                inner, outer = Linear(linear(x).constant), Linear(0)
                for atom, c in linear(x).terms:
                    if free_variables(atom).isdisjoint(own):
                        outer = plus(outer, of_atom(atom, c))
                    else:
                        inner = plus(inner, of_atom(atom, c))
                if not outer.terms:
                    return e
                key = show(to_expr(outer)), int(d)
                name = remainders.setdefault(key, f"remainder {len(remainders)}")
                return ir.Binary(ir.Op.MOD, to_expr(plus(inner, linear(ir.Var(name)))), by)
            case _:
                return e

    made = rewrite(index, change)
    allowed = own | set(remainders.values())
    for atom, _ in linear(made).terms:
        names = free_variables(atom)
        if not names.isdisjoint(own) and not names <= allowed:
            return None
    return made


def _numbered(
    one: ThreadAccess, first: ir.Expr, other: ThreadAccess, second: ir.Expr,
    remainders: Mapping[tuple[str, int], str],
) -> Iterator[Case]:  # fmt: skip
    """With each number that the remainders may be."""
    if prod(d for _, d in remainders) > MOST_CASES:
        yield from [(one, other)] * (MOST_CASES + 1)
        return
    for numbers in product(*(range(d) for _, d in remainders)):
        values = dict(zip(remainders.values(), numbers, strict=True))
        yield replace(one, index=_with(first, values)), replace(other, index=_with(second, values))
