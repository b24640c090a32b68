"""What is known of a stage's dimensions at one point of its loop nest.

Every dimension counts from 0; a root variable is its start plus its offset. Going inward, dimensions
become fixed (a loop runs over them, or a tail has just one piece). A split whose pieces are all full
is `whole`; otherwise the extent of its inner half, or the shifted base, is bound to a name once the
outer half is fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from hbc.frontend.plans.plan import Fuse, Split, StagePlan, Tail
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, floordiv, ge, lt, maximum, minimum, mod, mul, sub


@record
class Joined:
    """A step of which the outermost `loops` are those of another; `nest`: it by itself."""

    nest: Nest
    loops: int


@record
class Nest:
    """Immutable; going inward makes new ones."""

    stage: StagePlan
    starts: Mapping[str, ir.Expr]
    extents: Mapping[str, ir.Expr]  # of roots, and of inner halves once known
    fixed: Mapping[str, ir.Expr] = field(default_factory=dict)
    bases: Mapping[Split, ir.Expr] = field(default_factory=dict)  # offset of the piece
    whole: frozenset[Split] = frozenset()
    guarded: frozenset[Split] = frozenset()  # need a test at the innermost statement
    cut: frozenset[str] = frozenset()  # fused dimensions that a partial piece leaves less of
    shifting: bool = True  # False where an extent is below a shifted factor
    limits: Mapping[str, ir.Expr] = field(default_factory=dict)  # of roots whose loops run further
    padded: frozenset[str] = frozenset()  # roots whose last pieces are whole, beyond all limits
    pending: tuple[
        ir.Expr, ...
    ] = ()  # conditions to be tested inside the innermost loop over threads
    joined: tuple[Joined, ...] = ()  # steps that come after this one in loops that both have
    within: Mapping[str, tuple[ir.Expr | None, ir.Expr | None]] = field(default_factory=dict)
    # of roots whose loops run further for others: the first offset, and the one behind the last
    going: str = ""  # the buffer that says whether anything was done, of a loop that may end early

    def split_of(self, dim: str) -> Split | None:
        """The split that divides this dimension."""
        return next(
            (r for r in self.stage.relations if isinstance(r, Split) and r.old == dim), None
        )

    def parent(self, dim: str) -> Split | Fuse | None:
        """The relation that made this dimension."""
        for r in self.stage.relations:
            if isinstance(r, Split) and dim in (r.outer, r.inner):
                return r
            if isinstance(r, Fuse) and dim == r.fused:
                return r
        return None

    def is_part(self, dim: str, of: str) -> bool:
        """Whether the dimension is that other one, or was made from it by splits."""
        r = self.parent(dim)
        return dim == of or (isinstance(r, Split) and self.is_part(r.old, of))

    def is_made_from(self, dim: str, of: str) -> bool:
        """As `is_part`, also through what the other was fused with."""
        r = self.parent(dim)
        if dim == of or r is None:
            return dim == of
        if isinstance(r, Split):
            return self.is_made_from(r.old, of)
        return self.is_made_from(r.outer, of) or self.is_made_from(r.inner, of)

    def is_shared_out(self, s: Split) -> bool:
        """Whether a GPU's blocks or threads run over the pieces of a split, all of them alike."""
        kinds = {x.kind for x in self.stage.loops if self.is_made_from(x.dim, s.outer)}
        return not kinds.isdisjoint(ir.GPU_LOOPS)

    def shifts(self, s: Split) -> bool:
        return s.tail is Tail.SHIFT and self.shifting and not self._is_cut(s.old)

    def _is_cut(self, dim: str) -> bool:
        """Whether the dimension belongs to a partial piece, and so may be less than any factor."""
        r = self.parent(dim)
        if not isinstance(r, Split):
            parts = () if r is None else (r.outer, r.inner)
            return dim in self.cut or any(map(self._is_cut, parts))
        return (dim == r.inner and dim in self.extents) or self._is_cut(r.old)

    def extent(self, dim: str) -> ir.Expr:
        """How many values the dimension takes here."""
        if dim in self.extents:
            return self.extents[dim]
        r = self.parent(dim)
        if isinstance(r, Fuse):
            return simplify(mul(self._live(r.outer), self._live(r.inner)))
        if r is None:
            raise KeyError(dim)
        factor = ir.const_index(r.factor)
        if dim == r.inner:
            return factor
        old = self.extent(r.old)
        if r in self.whole:
            return simplify(floordiv(old, factor))
        return simplify(floordiv(add(old, r.factor - 1), factor))

    def least_extent(self, dim: str) -> ir.Expr:
        """How many values the dimension takes at least where all pieces around it are full."""
        r = self.parent(dim)
        if dim in self.extents or r is None:
            return self.extent(dim)
        if isinstance(r, Fuse):
            return simplify(mul(self.least_extent(r.outer), self.least_extent(r.inner)))
        if dim == r.inner:
            return ir.const_index(r.factor)
        return simplify(floordiv(self.least_extent(r.old), r.factor))

    def _live(self, dim: str) -> ir.Expr:
        return ir.const_index(1) if self.has_one_value(dim) else self.extent(dim)

    def has_one_value(self, dim: str) -> bool:
        """Whether a tail already fixed this dimension or what it was made from."""
        if dim in self.fixed:
            return True
        r = self.parent(dim)
        if isinstance(r, Fuse):
            return self.has_one_value(r.outer) and self.has_one_value(r.inner)
        return r is not None and self.has_one_value(r.old)

    def is_determined(self, dim: str) -> bool:
        if dim in self.fixed:
            return True
        s = self.split_of(dim)
        return s is not None and self.is_determined(s.outer) and self.is_determined(s.inner)

    def offset(self, dim: str) -> ir.Expr:
        """The value of a determined dimension, from 0."""
        if dim in self.fixed:
            return self.fixed[dim]
        s = self.split_of(dim)
        if s is None:
            raise KeyError(dim)
        return add(self.base(s), self.offset(s.inner))

    def base(self, s: Split) -> ir.Expr:
        """Where the current piece of a split begins."""
        if s in self.bases:
            return self.bases[s]
        base = mul(self.offset(s.outer), s.factor)
        if self.shifts(s) and s not in self.whole:
            return minimum(base, sub(self.extent(s.old), s.factor))
        return base

    def value(self, root: str) -> ir.Expr:
        """The value of a root variable; all its loops must be fixed."""
        return simplify(add(self.starts[root], self.offset(root)))

    def span(self, root: str) -> Interval:
        """The values a root variable takes in the loops that are still to come."""
        lo, hi = self._range(root)
        if self._is_guarded(root):
            last = sub(self.extent(root), 1)
            lo, hi = minimum(lo, last), minimum(hi, last)
        if root in self.limits:
            hi = minimum(hi, sub(self.limits[root], 1))
        first, stop = self.within.get(root, (None, None))
        lo = lo if first is None else maximum(lo, first)
        hi = hi if stop is None else minimum(hi, sub(stop, 1))
        start = self.starts[root]
        return Interval(simplify(add(start, lo)), simplify(add(start, hi)))

    def _is_guarded(self, root: str) -> bool:
        """Whether it has a value here that may be past the end, of which the innermost statement makes
        nothing."""
        if not self.guarded or not self.is_determined(root):
            return False
        return not self.guarded.isdisjoint(tree_splits(self.stage, root))

    def _range(self, dim: str) -> tuple[ir.Expr, ir.Expr]:
        if self.is_determined(dim):
            value = self.offset(dim)
            return value, value
        extent = self.extent(dim)
        last = sub(extent, 1)
        s = self.split_of(dim)
        if s is None or not self.is_touched(dim):
            return ir.const_index(0), last
        (lo_out, hi_out), (lo_in, hi_in) = self._range(s.outer), self._range(s.inner)
        if s in self.bases:
            lo = hi = self.bases[s]
        else:
            lo, hi = mul(lo_out, s.factor), mul(hi_out, s.factor)
        if self.shifts(s) and s not in self.whole and s not in self.bases:
            limit = sub(extent, s.factor)
            lo, hi = minimum(lo, limit), minimum(hi, limit)
        lo, hi = add(lo, lo_in), add(hi, hi_in)
        # A piece may be partial though its base is known: where a part of it is a loop further out.
        exact = s in self.whole or s.inner in self.extents or self.shifts(s)
        if exact:
            return lo, hi
        # No further apart than an empty interval: where indices are mirrored, ends change places.
        return minimum(lo, maximum(last, 0)), minimum(hi, last)

    def is_touched(self, dim: str) -> bool:
        """Whether any loop made from this dimension, or from what it was fused into, is fixed."""
        if dim in self.fixed:
            return True
        return any(
            self.is_touched(made) for r in self.stage.relations for made in _made_from(r, dim)
        )

    # Going inward ------------------------------------------------------------------------------

    def fix(self, dim: str, value: ir.Expr) -> Nest:
        """The dimension has one value from here on; a fused one fixes both its parts, and the last
        half of a split fixes what was split."""
        nest = replace(self, fixed={**self.fixed, dim: value})
        r = self.parent(dim)
        if isinstance(r, Fuse):
            nest = replace(nest, extents={**nest.extents, dim: self.extent(dim)})
            inner = self._live(r.inner)
            # The inner part first: fixed while its outer half is not, it is guarded.
            if not nest.has_one_value(r.inner):
                nest = nest.fix(r.inner, simplify(mod(value, inner)))
            if not nest.has_one_value(r.outer):
                nest = nest.fix(r.outer, simplify(floordiv(value, inner)))
        return nest._close(r) if isinstance(r, Split) else nest

    def _close(self, s: Split) -> Nest:
        """A half of the split has become known: guards it if need be, and hands on to what the split
        dimension was made from."""
        if not self.is_determined(s.inner):
            return self
        if not self.is_determined(s.outer):
            known = s in self.whole or s.inner in self.extents or self.shifts(s)
            known = known or s.old in self.padded
            return self if known else replace(self, guarded=self.guarded | {s})
        r = self.parent(s.old)
        if isinstance(r, Split):
            return self._close(r)
        if isinstance(r, Fuse) and s.old not in self.fixed:
            return self.fix(s.old, simplify(self.offset(s.old)))
        return self

    def limited(self, root: str) -> Nest:
        """Inside a loop over threads: those that have no value of the root do nothing."""
        rest = {dim: limit for dim, limit in self.limits.items() if dim != root}
        fits = lt(self.offset(root), self.limits[root])
        return replace(self, limits=rest, pending=(*self.pending, fits))

    def in_tail(self, s: Split, start: ir.Expr, last: ir.Expr, cut: Mapping[str, ir.Expr]) -> Nest:
        """In the last piece of a split, number `last`, which begins at `start`; `cut`: how long it is. Of
        what its outer half is fused with there are fewer steps."""
        extents, bases = {**self.extents, **cut}, {**self.bases, s: start}
        tail = replace(self.fix(s.outer, last), extents=extents, bases=bases)
        fuses = (r for r in self.stage.relations if isinstance(r, Fuse))
        less = {
            r.fused for r in fuses if tail.has_one_value(r.outer) != tail.has_one_value(r.inner)
        }
        return replace(tail, cut=self.cut | less)

    def reached(self, roots: Iterable[str]) -> list[ir.Expr]:
        """The conditions that offsets are `within` what is needed."""
        found = []
        for root in roots:
            first, stop = self.within[root]
            found += [] if first is None else [ge(self.offset(root), first)]
            found += [] if stop is None else [lt(self.offset(root), stop)]
        return found

    def with_whole(self, s: Split) -> Nest:
        return replace(self, whole=self.whole | {s})

    def divides(self, s: Split) -> bool:
        """Whether the factor is known to divide the extent."""
        extent = self.extent(s.old)
        return isinstance(extent, ir.Const) and int(extent.value) % s.factor == 0


def _made_from(r: Split | Fuse, dim: str) -> tuple[str, ...]:
    if isinstance(r, Split):
        return (r.outer, r.inner) if dim == r.old else ()
    return (r.fused,) if dim in (r.outer, r.inner) else ()


def tree_splits(stage: StagePlan, dim: str) -> tuple[Split, ...]:
    """The splits of all the roots that a dimension hangs together with, through what they are fused
    with too, in the order they were made."""
    roots = stage.root_of(dim)
    for _ in stage.roots:
        for r in stage.relations:
            if isinstance(r, Fuse) and stage.root_of(r.fused) & roots:
                roots |= stage.root_of(r.fused)
    return tuple(
        r for r in stage.relations if isinstance(r, Split) and stage.root_of(r.old) & roots
    )
