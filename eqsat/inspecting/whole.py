"""A store inside of loops as a tensor statement over whole loops: each loop is a dimension."""

from __future__ import annotations

from dataclasses import replace

from hbc.eqsat.inspecting.nests import Nest, expanded, step
from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.tensors.tensor import (
    Apply,
    Dim,
    Line,
    NotTensorError,
    Read,
    Reduce,
    Tensor,
    Uniform,
    conjuncts,
    masked,
    operand_parts,
    strides_along,
    template,
)
from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.addends import addends, is_product
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import free_variables, reads, substitute

NO_STRIDES = "the index has no constant strides"


@record
class Updates:
    """What a store adds, or does otherwise, to the element itself: the operator, None where it stores
    something else; and the terms, several where they are products, which instructions add one by one."""

    op: ir.Op | None
    terms: tuple[ir.Expr, ...]


def updates(s: ir.Store) -> Updates:
    """The store taken apart, whichever way its sum is written."""
    terms = list(addends(s.value))
    own = [t for t in terms if _is_own(t, s)]
    others = [t for t in terms if not _is_own(t, s)]
    if len(own) == 1 and others and not any(reads(t, s.buffer) for t in others):
        if len(others) > 1 and all(map(is_product, others)):
            return Updates(ir.Op.ADD, tuple(others))
        total = others[0]
        for t in others[1:]:
            total = ir.Binary(ir.Op.ADD, total, t)
        return Updates(ir.Op.ADD, (total,))
    match s.value:
        case ir.Binary(op=op, a=a, b=b) if _is_own(a, s) and not reads(b, s.buffer):
            return Updates(op, (b,))
        case ir.Binary(op=op, a=a, b=b) if _is_own(b, s) and not reads(a, s.buffer):
            return Updates(
                op if op in ir.ASSOCIATIVE else None, (a if op in ir.ASSOCIATIVE else s.value,)
            )
        case _:
            return Updates(None, (s.value,))


def _is_own(e: ir.Expr, s: ir.Store) -> bool:
    return (
        isinstance(e, ir.Load) and e.buffer == s.buffer and expanded(e.index) == expanded(s.index)
    )


def products_apart(n: Nest) -> tuple[Nest, ...]:
    """The nest, or one for each product that it adds."""
    terms = updates(n.store).terms
    if len(terms) == 1:
        return (n,)
    own = ir.Load(n.store.buffer, n.store.index, n.store.value.type)
    stores = (replace(n.store, value=ir.Binary(ir.Op.ADD, own, t)) for t in terms)
    return tuple(replace(n, store=s) for s in stores)


def over(n: Nest) -> Statement:
    """The nest as a statement that stores a value, or puts it together with what is there. Raises
    NotTensorError."""
    update = updates(n.store)
    op, (term, *_) = update.op, update.terms
    moved = [step(n.store.index, level.var) for level in n.levels]
    names = {level.var for level in n.levels}
    outputs, summed = list[Dim](), list[Dim]()
    dims: dict[str, Dim] = {}
    for level, stride in zip(n.levels, moved, strict=True):
        reduced = const_value(stride) == 0
        into = summed if reduced else outputs
        dims[level.var] = Dim(f"{'r' if reduced else 'd'}{len(into)}", level.extent, reduced)
        into.append(dims[level.var])
        if free_variables(stride) & names:
            raise NotTensorError(n.store.index, NO_STRIDES)
    reader = _Reader(dims)
    dest = reader.read(ir.Load(n.store.buffer, n.store.index, n.store.value.type))
    if not isinstance(dest, Read):  # one number: all loops are summed over
        dest = Read(n.store.buffer, n.store.value.type.element, expanded(n.store.index), ())
    value = reader.read(term)
    live = tuple(c for e in n.conditions for c in conjuncts(reader.read(e)))
    kept = tuple(c for c in live if strides_along(c).isdisjoint(summed))
    for c in live:
        if c not in kept:
            value = masked(c, value)
    if op is not None:
        if summed and op in ir.ASSOCIATIVE:
            value = Reduce(op, tuple(summed), value)
        value = Apply(template(ir.Binary(op, n.store.value, n.store.value)), (dest, value))
    return Statement(tuple(outputs), dest, value, kept, kept)


class _Reader:
    """Reads scalars as tensors over dimensions, by the variables of their loops."""

    def __init__(self, dims: dict[str, Dim]) -> None:
        self.dims = dims

    def read(self, e: ir.Expr) -> Tensor:
        if not free_variables(e) & self.dims.keys():
            return Uniform(e)
        match e:
            case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
                at = self.line(index)
                there = Read(buffer, t.element, at.base, at.strides)
                return there if mask is None else masked(self.read(mask), there)
            case ir.Select(condition=c, a=a, b=b) if const_value(b) == 0:
                within = simplify(a, Facts().with_condition(c))  # bounds of edges are idle there
                return masked(self.read(c), self.read(within))
            case _ if e.type == INDEX:
                return self.line(e)
            case ir.Cast() | ir.Binary() | ir.Unary() | ir.Select() | ir.Call():
                return Apply(template(e), tuple(self.read(c) for c in operand_parts(e)))
            case _:
                raise NotTensorError(e, "it is not a strided load or arithmetic on such")

    def line(self, index: ir.Expr) -> Line:
        """The place as a base and strides along the dimensions."""
        strides: list[tuple[Dim, ir.Expr]] = []
        free = free_variables(index)
        for var, d in self.dims.items():
            if var not in free:
                continue
            stride = step(index, var)
            if free_variables(stride) & self.dims.keys():
                raise NotTensorError(index, NO_STRIDES)
            if stride != ir.const_index(0):
                strides.append((d, stride))
        base = expanded(substitute(index, {var: ir.const_index(0) for var in self.dims}))
        return Line(base, tuple(strides))
