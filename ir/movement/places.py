"""Where the lanes of an access lie, as rows of memory by number; and groups of accesses alike but for a
constant distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

from hbc.ir.algebra.form import Linear, minus, shifted, to_expr
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import broadcast
from hbc.ir.lang.types import BOOL, Memory
from hbc.ir.lang.walk import free_variables
from hbc.ir.movement.windows import Place
from hbc.ir.vectors.lane_rows import lane_rows

ELEMENTS = (8, 16, 32, 64)
MOST_ROWS = 64
IN_MEMORY = (Memory.HEAP, Memory.STACK, Memory.AUTO)


@mutable
class Rows:
    """Rows of memory: what of their addresses is not constant, by number."""

    known: dict[tuple[str, tuple[tuple[ir.Expr, int], ...]], int] = field(default_factory=dict)
    forms: list[Linear] = field(default_factory=list)

    def number(self, buffer: str, form: Linear) -> int:
        key = buffer, form.terms
        if key not in self.known:
            self.known[key] = len(self.forms)
            self.forms.append(shifted(form, -form.constant))
        return self.known[key]

    def places(self, buffer: str, index: ir.Expr) -> tuple[Place, ...] | None:
        """The place of each lane; None where lanes differ by what is not known."""
        rows = lane_rows(index)
        if rows is None or len(rows) > MOST_ROWS:
            return None
        found: list[Place] = [(0, 0)] * index.type.lanes
        for row in rows:
            form = linear(row.base)
            number = self.number(buffer, form)
            for lane, offset in zip(row.lanes, row.offsets, strict=True):
                found[lane] = number, form.constant + offset
        return tuple(found)

    def index(self, starts: Sequence[Place], run: int) -> ir.Expr | None:
        """The index of runs of adjacent elements; None unless they lie evenly apart."""
        forms = [shifted(self.forms[row], at) for row, at in starts]
        one = ir.Ramp(to_expr(forms[0]), ir.const_index(1), run)
        if len(starts) == 1:
            return one
        steps = [minus(b, a) for a, b in pairwise(forms)]
        if any(step != steps[0] for step in steps):
            return None
        return ir.Ramp(one, broadcast(to_expr(steps[0]), run), len(starts))

    def names(self, row: int) -> frozenset[str]:
        """The variables in a row's address."""
        return frozenset(free_variables(to_expr(self.forms[row])))


@record
class Access:
    """A load or store of a vector at known places, and the item of its block that has it."""

    item: int
    node: ir.Load | ir.Store
    places: tuple[Place, ...]

    @property
    def alike(self) -> tuple[object, ...]:
        """The same for accesses that lie at a constant distance from each other."""
        first = self.places[0][1]
        return tuple((row, at - first) for row, at in self.places)


def is_apart(node: ir.Load | ir.Store, widths: Sequence[int]) -> bool:
    """Whether whole registers of elements may lie apart."""
    t = (node if isinstance(node, ir.Load) else node.value).type
    bits = t.element.bits
    if node.mask is not None or t.element == BOOL or bits not in ELEMENTS:
        return False
    return bits * t.lanes in widths and not _is_adjacent(node.index)


def _is_adjacent(index: ir.Expr) -> bool:
    return (
        isinstance(index, ir.Ramp)
        and index.base.type.lanes == 1
        and index.stride == (ir.const_index(1))
    )


def groups(accesses: Sequence[Access]) -> list[list[Access]]:
    """Those that differ by a constant distance, as many as lie closely together without wanting an
    element twice; accesses of the same places stay together."""
    alike: dict[tuple[object, ...], list[Access]] = {}
    for access in accesses:
        alike.setdefault(access.alike, []).append(access)
    return [group for some in alike.values() for group in _close(some)]


def _close(alike: list[Access]) -> list[list[Access]]:
    found: list[list[Access]] = []
    taken: set[Place] = set()
    last = 0  # of the elements of the first row
    for access in sorted(alike, key=lambda a: a.places[0][1]):
        own = [at for row, at in access.places if row == access.places[0][0]]
        same = bool(found) and found[-1][-1].places == access.places
        if not same and (not found or min(own) > last + 1 or taken & set(access.places)):
            found.append([])
            taken, last = set(), max(own)
        found[-1].append(access)
        taken |= set(access.places)
        last = max(last, *own)
    return found
