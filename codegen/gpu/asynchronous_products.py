"""Products whose results are not there at once: what begins them, and where they are waited for.

    threads w count 2 { acc[..] = product(acc[..], a[..], b[..]) }
->  fence registers of acc
    threads w count 2 { async acc[..] = product(acc[..], a[..], b[..]) }
    products commit
    products wait 0 of acc

They read shared memory, whose rows get the layout that the place of the instruction states. In a pipelined
loop `stage_copies` lets them run on while the next iteration begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from math import prod

from hbc.codegen.gpu.swizzle import split_place, swizzle_bits
from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.linear import Linear, linear, plus, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, sub
from hbc.ir.lang.instruction import Instruction, SharedRows
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS, thread_loops
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import block, children, map_stmt, nodes, statements
from hbc.ir.meaning.contraction import shape
from hbc.ir.vectors.lane_offsets import lane_offsets


def asynchronous_products(kernel: Kernel) -> Kernel:
    """The kernel where such products are begun and waited for, and what they read lies as they want it.
    HbcError where it cannot, or where a loop over threads does other things as well."""
    instructions = {i.name: i for i in kernel.instructions}
    if not any(i.shared or i.place.asynchronous for i in kernel.instructions):
        return kernel
    return kernel.map_body(lambda s: _launches(s, instructions))


def _launches(s: ir.Stmt, instructions: Mapping[str, Instruction]) -> ir.Stmt:
    """Each launch by itself: an array of one may lie in another way than that of another."""
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _launches(c, instructions))
    below = list(nodes(s))
    allocated = {n.buffer: n for n in below if isinstance(n, ir.Allocate)}
    boxes = {n.buffer: prod(n.box[:-1]) for n in below if isinstance(n, ir.BulkCopy)}
    work = _Work(instructions, allocated, boxes)
    return work.laid_out(work.stmt(s))


@mutable
class _Work:
    """`boxes`: how many rows the boxes have that are copied to arrays. `layouts`: of the arrays that products
    read, by buffer. `nest`: the loops over threads that the walk is in."""

    instructions: Mapping[str, Instruction]
    allocated: Mapping[str, ir.Allocate]
    boxes: Mapping[str, int] = field(default_factory=dict)
    layouts: dict[str, ir.Swizzle] = field(default_factory=dict)
    nest: ir.For | None = None

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        """Outside of the loops over threads."""
        if not isinstance(s, ir.For) or s.kind not in THREADS:
            return map_stmt(s, lambda e: e, self.stmt)
        self.nest = s
        self.operands(s, NOTHING)
        stores = [x for x in statements(s) if isinstance(x, ir.Store)]
        products = [x for x in stores if isinstance(x.value, ir.Instruct)]
        later = [x for x in products if self.is_later(x)]
        if not later:
            return s
        if len(later) < len(stores):
            others = [x for x in stores if x not in later]
            raise self.mixed(s, later[0], others[-1])
        sums = tuple(dict.fromkeys(x.buffer for x in later))
        factors = tuple(dict.fromkeys(b for x in later for b in self.in_registers(x)))
        return block(
            ir.Fence(ir.FenceKind.REGISTERS, (*sums, *factors)), self.begun(s),
            ir.CopyCommit(products=True), ir.CopyWait(0, products=True, sums=sums),
        )  # fmt: skip

    def in_registers(self, s: ir.Store) -> Iterator[str]:
        """The factors of a product that are in registers."""
        product = s.value
        assert isinstance(product, ir.Instruct)
        i = self.instructions[product.name]
        for n in i.factors:
            x = product.args[n]
            if n not in i.shared and isinstance(x, ir.Load):
                yield x.buffer

    def is_later(self, s: ir.Store) -> bool:
        """Whether the store's result is waited for."""
        product = s.value
        assert isinstance(product, ir.Instruct)
        return self.instructions[product.name].place.asynchronous is not None

    def begun(self, s: ir.Stmt) -> ir.Stmt:
        """The products as asynchronous ones."""
        if isinstance(s, ir.Store):
            return replace(s, asynchronous=True)
        return map_stmt(s, lambda e: e, self.begun)

    def mixed(self, nest: ir.For, product: ir.Store, other: ir.Store) -> HbcError:
        loops, _ = thread_loops(nest)
        return error(
            f"the loop over threads `{loops[-1].var}` computes `{other.buffer}` beside products for "
            f"`{product.buffer}`, which run on while the threads do other things",
            other.span or nest.span,
            f"compute `{product.buffer}` outside of the loops over threads, whose own loops over threads "
            "then hold the products alone",
        )  # fmt: skip

    def operands(self, s: ir.Stmt, facts: Facts) -> None:
        """Notes how what products read in shared memory is to lie. `facts`: of the loops around."""
        match s:
            case ir.For(var=var, start=start, extent=extent):
                last = simplify(sub(add(start, extent), 1))
                facts = facts.with_range(var, Interval(start, last))
            case ir.Store(value=ir.Instruct() as product):
                i = self.instructions[product.name]
                for n in i.shared:
                    run = shape(i, n, dict(product.sizes))[-1]
                    self.operand(s, i, product.args[n], run, facts)
            case _:
                pass
        for c in children(s):
            if isinstance(c, ir.Stmt):
                self.operands(c, facts)

    def operand(self, s: ir.Store, i: Instruction, x: ir.Expr, run: int, facts: Facts) -> None:
        """The same for one operand, whose rows have `run` elements."""
        rows, a = i.place.shared, self.allocated.get(x.buffer) if isinstance(x, ir.Load) else None
        if not isinstance(x, ir.Load) or rows is None or a is None or a.memory is not Memory.SHARED:
            raise self.elsewhere(s, i, x.buffer if isinstance(x, ir.Load) else s.buffer)
        layout = operand_layout(x, run, a, rows, facts, self.boxes.get(x.buffer, 0))
        if layout is None or self.layouts.setdefault(x.buffer, layout) != layout:
            raise self.misplaced(s, a, rows)

    def elsewhere(self, s: ir.Store, i: Instruction, x: str) -> HbcError:
        return error(
            f"`{i.name}` reads its factors from shared memory, and `{x}` is elsewhere",
            s.span or (None if self.nest is None else self.nest.span),
            f"`{x}.in(..).compute_at(..).store_in(shared)`, outside of the loops over threads",
        )  # fmt: skip

    def misplaced(self, s: ir.Store, a: ir.Allocate, rows: SharedRows) -> HbcError:
        per = rows.row_bytes // a.element.bytes
        return error(
            f"`{a.buffer}` does not lie as products read it from shared memory: in pieces of {rows.rows} "
            f"rows of {per} elements, which begin and end with those of the products", a.span or s.span,
            f"compute pieces of `{a.buffer}` with rows of {per} elements, or a power of two times as many, "
            "without `pad_storage`",
        )  # fmt: skip

    def laid_out(self, s: ir.Stmt) -> ir.Stmt:
        """With the layouts of the arrays."""
        s = map_stmt(s, lambda e: e, self.laid_out)
        if isinstance(s, ir.Allocate) and s.buffer in self.layouts:
            return replace(s, swizzle=self.layouts[s.buffer])
        return s


def operand_layout(
    x: ir.Load, run: int, a: ir.Allocate, rows: SharedRows, facts: Facts, box: int = 0
) -> ir.Swizzle | None:
    """How an array lies of which a product reads rows of so many elements; None where they are no whole
    pieces, or no whole units of one row of them. `box`: how many rows lie together, for each piece of a row,
    where they come as boxes."""
    flat = lane_offsets(x.index)
    per, size = rows.row_bytes // a.element.bytes, rows.unit // a.element.bytes
    if flat is None or x.mask is not None or per < 1 or size < 1:
        return None
    offsets = flat[1]
    pitch = offsets[run] - offsets[0]
    wanted = tuple(
        offsets[0] + r * pitch + c for r in range(len(offsets) // run) for c in range(run)
    )
    if offsets != wanted or pitch < per or pitch & (pitch - 1) or (run % per and per % run):
        return None
    if const_value(a.extent) is None or int(const_value(a.extent) or 0) % (rows.rows * pitch):
        return None
    layout = ir.Swizzle(size, pitch, rows.rows, per)
    if a.swizzle is not None and (a.swizzle.unit, a.swizzle.row) != (size, pitch):
        return None
    _, inside = split_place(
        plus(linear(flat[0]), Linear(offsets[0])), swizzle_bits(layout, a.element)
    )
    step = min(run, per)
    low, high = constant_bounds(to_expr(inside), facts)
    begins = inside.constant % step == 0 and all(c % step == 0 for _, c in inside.terms)
    fits = low is not None and high is not None and low >= 0 and high + run <= pitch
    if not begins or not fits:
        return None
    return replace(layout, lines=box) if box and pitch > per else layout
