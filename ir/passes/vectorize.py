"""Vector loops become vector expressions: Ramp for the loop variable, Broadcast for what is uniform.

    for vector j in 16: C[i*N + j] = A[i] * B[j]
->  C[ramp(i*N, 1, 16)] = broadcast(A[i], 16) * B[ramp(0, 1, 16)]

The loops go from the inside out, so the outermost varies slowest over the lanes. A condition on the
variable becomes a mask; a store to one place from all lanes becomes a VectorReduce.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, binary, broadcast, not_, ramp
from hbc.ir.lang.types import I64
from hbc.ir.lang.walk import (
    block,
    children,
    contains,
    free_variables,
    map_children,
    map_stmt,
    names_read,
    nodes_of,
    reads,
    statements,
    substitute,
    substitute_stmt,
)
from hbc.ir.vectors.lane_view import view
from hbc.ir.vectors.vector_masks import (
    conjuncts,
    live_terms,
    live_where,
    masked,
    plain_loop,
    spread,
)

Lanes = Mapping[str, ir.Expr]  # names that differ from lane to lane, with their vector values


def vectorize(s: ir.Stmt) -> ir.Stmt:
    """No VECTOR loop is left."""
    if isinstance(s, ir.For) and s.kind is ir.LoopKind.VECTOR:
        if not isinstance(s.extent, ir.Const):
            raise InternalError(f"vector loop `{s.var}` has no constant extent")
        lanes = int(s.extent.value)
        body = vectorize(s.body)
        if lanes == 1:
            return substitute_stmt(body, {s.var: s.start})
        varying = frozenset({s.var})
        collide = _lanes_collide(body, varying)
        if collide or _inner_bounds_vary(body, varying) or _looks_up_under_change(body):
            # Lanes would run a different number of times, as in the tail of an outer unrolled loop;
            # or all store to one place, as where memory is folded to a single element; or lanes are
            # loaded one by one, by a mask that has a name.
            return plain_loop(replace(s, body=body))
        widen = _Widen(lanes, {s.var: ir.Ramp(s.start, ir.const_index(1), lanes)})
        return widen.stmt(body, None)
    return map_stmt(s, lambda e: e, vectorize)


def _inner_bounds_vary(s: ir.Stmt, varying: frozenset[str]) -> bool:
    """Whether a loop below starts or ends elsewhere when one of the names changes."""
    match s:
        case ir.For(start=start, extent=extent, body=body):
            bounds = free_variables(start) | free_variables(extent)
            return not bounds.isdisjoint(varying) or _inner_bounds_vary(body, varying)
        case ir.LetStmt(name=name, value=value, body=body):
            more = () if free_variables(value).isdisjoint(varying) else (name,)
            return _inner_bounds_vary(body, varying.union(more))
        case _:
            return any(
                _inner_bounds_vary(c, varying) for c in children(s) if isinstance(c, ir.Stmt)
            )


def _lanes_collide(s: ir.Stmt, varying: frozenset[str]) -> bool:
    """Whether lanes store to the same place what is neither one reduction nor the same value."""
    match s:
        case ir.Store(index=index, value=value):
            if not free_variables(index).isdisjoint(varying) or _reduces(s):
                return False
            return not free_variables(value).isdisjoint(varying)
        case ir.LetStmt(name=name, value=value, body=body):
            more = () if free_variables(value).isdisjoint(varying) else (name,)
            return _lanes_collide(body, varying.union(more))
    return any(_lanes_collide(c, varying) for c in children(s) if isinstance(c, ir.Stmt))


def _reduces(s: ir.Store) -> bool:
    """Whether the store is `f[i] = f[i] op term`, which lanes can do together."""
    if s.atomic is not None:
        return True
    value = s.value
    if not isinstance(value, ir.Binary) or value.op not in ir.ASSOCIATIVE:
        return False
    own = value.a
    if not isinstance(own, ir.Load) or (own.mask is not None and s.mask is None):
        return False  # with a mask of the store, what the lanes without it read makes no difference
    return (own.buffer, own.index) == (s.buffer, s.index)


def _looks_up_under_change(s: ir.Stmt) -> bool:
    """Whether data say where something lies, under a condition that must be kept from changing."""
    return any(
        contains(n.index, ir.Load)
        for test in statements(s)
        if isinstance(test, ir.If) and _changes(test.then, test.otherwise, test.condition)
        for n in nodes_of(test, ir.Load, ir.Store)
    )


def _changes(then: ir.Stmt, other: ir.Stmt | None, condition: ir.Expr) -> bool:
    """Whether a store under the condition changes what it says of a later one."""
    if isinstance(then, ir.Store) and other is None:
        return False
    both = (then,) if other is None else (then, other)
    stored = {n.buffer for s in both for n in statements(s) if isinstance(n, ir.Store)}
    return any(reads(condition, buffer) for buffer in stored)


def _fresh(name: str, inside: Iterable[ir.Node]) -> str:
    """A name that nothing has in these."""
    taken: set[str] = set()
    for part in inside:
        taken |= names_read(part)
        taken |= {n.buffer for n in nodes_of(part, ir.Load, ir.Store)}
    own, number = name, 1
    while own in taken:
        number += 1
        own = f"{name}_{number}"
    return own


class _Widen:
    """One vector loop: how many lanes, and the names that vary over them."""

    def __init__(self, lanes: int, varying: Lanes) -> None:
        self.lanes = lanes
        self.varying = dict(varying)

    def varies(self, e: ir.Expr) -> bool:
        return not self.varying.keys().isdisjoint(free_variables(e))

    def expr(self, e: ir.Expr) -> ir.Expr:
        """`e` in every lane; `e` itself where it is the same in all of them."""
        if not self.varies(e):
            return e
        return self._wide(e)

    def full(self, e: ir.Expr) -> ir.Expr:
        """`e` in every lane, broadcast if need be."""
        return self._wide(e) if self.varies(e) else broadcast(e, self.lanes)

    def _wide(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var(name=name):
                return self.varying[name]
            case ir.Ramp(base=base, stride=stride, lanes=inner):
                return self._inside(base, stride, inner)
            case ir.Broadcast(value=value, lanes=inner):
                return self._repeated(value, inner)
            case ir.VectorReduce(op=op, value=value, lanes=inner):
                return ir.VectorReduce(op, self._wide(value), inner * self.lanes, e.span)
            case ir.Gather(value=value, lanes=picks):
                count = value.type.lanes
                wide = tuple(
                    -1 if p < 0 else lane * count + p for lane in range(self.lanes) for p in picks
                )
                return ir.Gather(self._wide(value), wide, e.span)
            case ir.Let(name=name, value=value, body=body):
                if not self.varies(value):
                    return ir.Let(name, value, self.full(body), e.span)
                return self._wide(substitute(body, {name: value}))
            case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
                at = self.full(index)
                lanes = None if mask is None else self.full(mask)
                return ir.Load(buffer, at, t.with_lanes(at.type.lanes), lanes, e.span)
            case _:
                return map_children(e, self.full)

    def _inside(self, base: ir.Expr, stride: ir.Expr, inner: int) -> ir.Expr:
        """A ramp whose base varies: linear in the loop variable, it is a ramp of ramps."""
        count = base.type.lanes
        step = self._step(base.value if isinstance(base, ir.Broadcast) else base)
        first = substitute(base, {n: _first(v) for n, v in self.varying.items()})
        if step is not None and not self.varies(stride):
            return ramp(ramp(first, stride, inner), step, self.lanes)
        offsets = ramp(broadcast(ir.const_index(0), count), 1, inner)
        product = binary(ir.Op.MUL, self._tiled(stride, inner), broadcast(offsets, self.lanes))
        return binary(ir.Op.ADD, self._repeated(base, inner), product)

    def _step(self, base: ir.Expr) -> ir.Expr | None:
        """How much `base` grows from lane to lane, if always the same."""
        read = free_variables(base)
        if base.type.lanes != 1 or any(
            not isinstance(v, ir.Ramp) for n, v in self.varying.items() if n in read
        ):
            return None
        wide = simplify(self._wide(base))
        if isinstance(wide, ir.Ramp) and wide.base.type.lanes == 1:
            return wide.stride
        return None

    def _tiled(self, e: ir.Expr, inner: int) -> ir.Expr:
        return self._repeated(e, inner) if self.varies(e) else broadcast(e, inner * self.lanes)

    def _repeated(self, value: ir.Expr, inner: int) -> ir.Expr:
        """Each lane's value `inner` times."""
        if any(not isinstance(v, ir.Ramp) or v.base.type.lanes != 1 for v in self.varying.values()):
            return self._picked(value, inner)
        nested = {}
        for n, v in self.varying.items():
            if isinstance(v, ir.Ramp):
                nested[n] = ir.Ramp(broadcast(v.base, inner), broadcast(v.stride, inner), v.lanes)
        return _Widen(self.lanes, nested)._nested(value, inner, self)

    def _picked(self, value: ir.Expr, inner: int) -> ir.Expr:
        """Each lane's value `inner` times, picked from the value in every lane."""
        count = value.type.lanes
        if value.type.element == I64:  # strides, where there are any
            return view(self.full(value), ((self.lanes, count), (inner, 0), (count, 1)))
        picks = tuple(
            lane * count + i for lane in range(self.lanes) for _ in range(inner)
            for i in range(count)
        )  # fmt: skip
        return ir.Gather(self.full(value), picks)

    def _nested(self, e: ir.Expr, inner: int, plain: _Widen) -> ir.Expr:
        """`e` over lanes x inner, the same for all inner ones: repeated at its leaves, so that what
        is loaded stays a layout. `plain` widens without repeating."""
        if not self.varies(e):
            return broadcast(e, self.lanes * inner)
        match e:
            case ir.Var(name=name):
                return self.varying[name]
            case ir.Let(name=name, value=value, body=body):
                return self._nested(substitute(body, {name: value}), inner, plain)
            case ir.Broadcast(value=value, lanes=copies):
                return plain._repeated(value, inner * copies)
            case ir.Ramp(base=base, stride=stride, lanes=count):
                step = plain._step(base)
                if step is None or self.varies(stride):
                    return plain._picked(e, inner)
                first = substitute(base, {n: _first(v) for n, v in self.varying.items()})
                return ramp(broadcast(ramp(first, stride, count), inner), step, self.lanes)
            case ir.VectorReduce() | ir.Gather():
                return plain._picked(e, inner)
            case _:
                return map_children(e, lambda c: self._nested(c, inner, plain))

    def stmt(self, s: ir.Stmt, mask: ir.Expr | None) -> ir.Stmt:
        """`s` in all lanes for which the (vector) mask holds."""
        match s:
            case (
                ir.Comment()
                | ir.Assert()
                | ir.Leave()
                | ir.Barrier()
                | ir.CopyCommit()
                | ir.CopyWait()
                | ir.Fence()
                | ir.BulkCopy()
                | ir.BulkGroup()
                | ir.BulkWait()
            ):
                return s
            case ir.Prefetch(index=index):
                first = {n: _first(v) for n, v in self.varying.items()}
                return replace(s, index=substitute(index, first))
            case ir.Store():
                return self._store(s, mask)
            case ir.Block(body=body):
                return block(*(self.stmt(c, mask) for c in body))
            case ir.LetStmt(name=name, value=value, body=body):
                if not self.varies(value):
                    return ir.LetStmt(name, value, self.stmt(body, mask), s.span)
                wide = self._wide(value)
                if not contains(value, ir.Load):
                    deeper = _Widen(self.lanes, {**self.varying, name: wide})
                    return deeper.stmt(body, mask)
                # It is what was there before the stores below.
                wide = wide if mask is None else masked(wide, spread(mask, wide.type.lanes))
                deeper = _Widen(self.lanes, {**self.varying, name: ir.Var(name, wide.type)})
                return ir.LetStmt(name, wide, deeper.stmt(body, mask), s.span)
            case ir.For(var=var, start=start, extent=extent, body=body):
                if self.varies(start) or self.varies(extent):
                    raise InternalError(f"the bounds of loop `{var}` differ between vector lanes")
                return replace(s, body=self.stmt(body, mask))
            case ir.Allocate(buffer=buffer):
                raise InternalError(f"`{buffer}` is allocated inside a vector loop")
            case ir.If(condition=condition, then=then, otherwise=other):
                return self._if(s, condition, then, other, mask)
            case _:
                assert_never(s)

    def _if(
        self,
        s: ir.If,
        condition: ir.Expr,
        then: ir.Stmt,
        other: ir.Stmt | None,
        mask: ir.Expr | None,
    ) -> ir.Stmt:
        parts = conjuncts(condition) if other is None else []
        shared = [c for c in parts if c.type.lanes == 1 and not self.varies(c)]
        if 0 < len(shared) < len(parts):
            # Those that all lanes share guard the whole statement, its uniform loads included.
            rest = ir.If(and_(*(c for c in parts if c not in shared)), then, None, s.span)
            return ir.If(and_(*shared), self.stmt(rest, mask), None, s.span)
        if not self.varies(condition):
            no = None if other is None else self.stmt(other, mask)
            return ir.If(condition, self.stmt(then, mask), no, s.span)
        yes = live_where(self._wide(condition), mask)
        if _changes(then, other, condition):  # it is what held before the first of the stores
            name = _fresh("holds", (s,) if mask is None else (s, mask))
            inner = self._chosen(ir.Var(name, yes.type), then, other, mask)
            return ir.LetStmt(name, yes, inner, s.span)
        return self._chosen(yes, then, other, mask)

    def _chosen(
        self, yes: ir.Expr, then: ir.Stmt, other: ir.Stmt | None, mask: ir.Expr | None
    ) -> ir.Stmt:
        """The one statement in the lanes of `yes`, the other in the rest."""
        first = self.stmt(then, yes if mask is None else and_(mask, yes))
        if other is None:
            return first
        second = self.stmt(other, not_(yes) if mask is None else and_(mask, not_(yes)))
        return block(first, second)

    def _store(self, s: ir.Store, mask: ir.Expr | None) -> ir.Stmt:
        if s.mask is not None and not self.varies(s.index):
            return self._masked_reduction(s, s.mask, mask)
        if s.mask is not None:
            own = self.full(s.mask)
            outer = None if mask is None else spread(mask, own.type.lanes)
            own = live_where(own, outer)
            mask = own if outer is None else and_(outer, own)
        if not self.varies(s.index):
            if mask is not None and not self.varies(s.value) and not _reduces(s):
                return ir.If(ir.VectorReduce(ir.Op.OR, mask, 1), s)
            return self._reduction(s, mask)
        index = self.full(s.index)
        value = self.full(s.value)
        if mask is None:
            return replace(s, index=index, value=value, mask=None)
        live = spread(mask, index.type.lanes)
        return replace(s, index=masked(index, live), value=masked(value, live), mask=live)

    def _masked_reduction(self, s: ir.Store, own: ir.Expr, mask: ir.Expr | None) -> ir.Stmt:
        """Conditions that all lanes share stay with the store, the others choose among the lanes."""
        parts = conjuncts(own)
        shared = [c for c in parts if not self.varies(c)]
        rest = [c for c in parts if self.varies(c)]
        kept = and_(*shared) if shared else None
        if rest:
            inner = self.full(and_(*rest))
            outer = None if mask is None else spread(mask, inner.type.lanes)
            inner = live_where(inner, outer)
            mask = inner if outer is None else and_(outer, inner)
        value = s.value
        if s.atomic is not None:
            return replace(self._reduction(replace(s, mask=None), mask), mask=kept)
        if not _reduces(s) or not isinstance(value, ir.Binary) or not isinstance(value.a, ir.Load):
            raise InternalError(f"lanes would store different values to one place of `{s.buffer}`")
        plain = replace(value, a=replace(value.a, mask=None))
        done = self._reduction(replace(s, value=plain, mask=None), mask)
        if kept is None or not isinstance(done.value, ir.Binary):
            return done
        read = replace(value.a, mask=kept)
        return replace(done, value=replace(done.value, a=read), mask=kept)

    def _reduction(self, s: ir.Store, mask: ir.Expr | None) -> ir.Store:
        """All lanes store to the same place: `f[i] = f[i] op term` becomes one reduction."""
        value = s.value
        if s.atomic is not None:
            return replace(s, value=self._total(s.atomic, value, mask))
        if not self.varies(value) and mask is None and not _reduces(s):
            return s
        if not isinstance(value, ir.Binary) or not _reduces(s):
            raise InternalError(f"lanes would store different values to one place of `{s.buffer}`")
        total = self._total(value.op, value.b, mask)
        return ir.Store(s.buffer, s.index, binary(value.op, value.a, total), None, s.span)

    def _total(self, op: ir.Op, value: ir.Expr, mask: ir.Expr | None) -> ir.Expr:
        """What all the lanes add to one place."""
        term, count = self.full(value), value.type.lanes
        if mask is not None:
            term = live_terms(term, mask, op)
        if count > 1:  # lanes x count -> count x lanes: what is to be summed must be adjacent
            term = view(term, ((count, 1), (self.lanes, count)))
        return ir.VectorReduce(op, term, count)


def _first(v: ir.Expr) -> ir.Expr:
    """The value of the first lane."""
    match v:
        case ir.Ramp(base=base):
            return _first(base)
        case ir.Broadcast(value=value):
            return _first(value)
        case _:
            return v
