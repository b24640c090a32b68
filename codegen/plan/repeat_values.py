"""Named vectors as arrays of vectors, so that loops may index them.

const __m512 V_0 = load(&V[j]);         __m512 V[4];
sum[0] = fma(w, V_0, sum[0]);      ->   V[0] = load(&V[j]);
const __m512 V_1 = load(&V[j + 16]);    sum[0] = fma(w, V[0], sum[0]);
...                                     ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hbc.codegen.plan.register_arrays import VALUES, register_base
from hbc.codegen.plan.repeat_items import Item
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, Memory, Type
from hbc.ir.lang.walk import nodes, substitute_stmt

FEWEST = 3
"""Named values that may become an array."""
_NUMBER = re.compile(r"(_?\d+)+_?$")


@record
class Values:
    """Neighbouring names of values of one type, in order, and what their array is called."""

    names: tuple[str, ...]
    type: Type
    array: str

    @property
    def count(self) -> int:
        return len(self.names)

    def element(self, number: int) -> ir.Ramp:
        """The index of one of them."""
        return ir.Ramp(ir.const_index(number * self.type.lanes), ir.const_index(1), self.type.lanes)


def values_of(items: Sequence[Item], fresh: Callable[[], int]) -> list[Values]:
    """The groups of named vectors of a block, those that live longest first."""
    groups: dict[tuple[str, Type], list[str]] = {}
    for item in items:
        if isinstance(item.stmt, ir.LetStmt) and item.opens:
            t = item.stmt.value.type
            if t.lanes > 1 and t.element != BOOL:
                stem = _NUMBER.sub("", item.stmt.name)
                groups.setdefault((stem, t), []).append(item.stmt.name)
    candidates = [
        Values(tuple(names), t, f"{stem}{VALUES}{fresh()}")
        for (stem, t), names in groups.items()
        if len(names) >= FEWEST and len(set(names)) == len(names)
    ]
    return sorted(candidates, key=lambda v: -_uses(items, v))


def _uses(items: Sequence[Item], values: Values) -> int:
    return sum(not item.names.isdisjoint(values.names) for item in items)


def as_array(items: Sequence[Item], values: Values) -> Iterator[tuple[ir.Stmt, bool]]:
    """The statements where the names are elements of an array, and which of them open."""
    t = values.type
    read = {
        name: ir.Load(values.array, values.element(n), t) for n, name in enumerate(values.names)
    }
    extent = ir.const_index(t.lanes * values.count)
    yield ir.Allocate(values.array, t.element, extent, Memory.REGISTER, ir.Block(())), True
    for item in items:
        s = item.stmt if item.names.isdisjoint(read) else substitute_stmt(item.stmt, read)
        if isinstance(s, ir.LetStmt) and item.opens and s.name in read:
            yield ir.Store(values.array, read[s.name].index, s.value), False
        else:
            yield s, item.opens


def is_indexed(items: Sequence[Item], values: Values) -> bool:
    """Whether a loop says which of the values is meant."""
    return any(
        isinstance(n, ir.Load | ir.Store)
        and n.buffer == values.array
        and not isinstance(register_base(n.index, values.type.lanes), ir.Const)
        for item in items
        for n in nodes(item.stmt)
    )
