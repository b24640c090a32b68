"""Software pipelining in a GPU's blocks: copies to shared memory run iterations ahead of their use.

    for k in n stages 3: allocate s { s[t] = a[k, t]; use(s) }
->  allocate s in 3 slots {
        for p in 2: { if p < n: async s[p, t] = a[p, t]; copies commit }
        for k in n: {
            copies wait 1; barrier    # those of iteration k have landed, and nobody reads k - 1 any more
            if k + 2 < n: async s[(k + 2) % 3, t] = a[k + 2, t]
            copies commit
            use(s[k % 3]) }
        copies wait 0 }

Every iteration commits a group, be it empty, so that it is always the same number that may be under way.

Asynchronous products of an iteration run on into the next one where nothing else needs their sums in the
loop: copies are then one slot less ahead, as what the iteration before reads is still in use.

    for k in n stages 4: { .. use(s); products commit; products wait 0 }
->  if 0 < n: { for k in n: {
        copies wait 1; fence stores; barrier
        if k + 2 < n: async s[(k + 2) % 4, t] = a[k + 2, t]
        copies commit
        use(s[k % 4]); products commit; products wait 1 }; products wait 0 }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from hbc.codegen.gpu.asynchronous import asynchronous, is_asynchronous
from hbc.codegen.gpu.run_on import RunOn, is_product, run_on
from hbc.codegen.gpu.staged_body import StagedBody, moved, staged_body
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, floordiv, lt, mod, mul, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.names import unused
from hbc.ir.lang.types import I64, Memory
from hbc.ir.lang.walk import (
    block,
    free_variables,
    map_stmt,
    names_read,
    statements,
    substitute_stmt,
)  # fmt: skip

SLOT_BYTES = 128
"""A slot is a multiple of this: what is aligned in the first one is aligned in all."""
MOST_STAGES = 16


def stage_copies(kernel: Kernel) -> Kernel:
    """The kernel with every loop of `stages` above 1 pipelined. HbcError where one copies nothing."""
    taken = names_read(kernel.body)
    taken |= {n.var for n in statements(kernel.body) if isinstance(n, ir.For)}
    taken |= {n.name for n in statements(kernel.body) if isinstance(n, ir.LetStmt)}
    return kernel.map_body(_Pass(taken).stmt)


def _comes_again(s: ir.Stmt) -> bool:
    """Whether a block does what is in the loop more than once."""
    return isinstance(s, ir.For) and (s.marks.resident is not None or s.kind is ir.LoopKind.SERIAL)


@mutable
class _Pass:
    """`again`: inside of a loop of a block, or of blocks that stay; `used`: the block has had arrays in
    shared memory."""

    taken: set[str]
    again: bool = False
    used: bool = False

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        again, used = self.again, self.used
        self.again = again or _comes_again(s)
        if isinstance(s, ir.If):
            s = self._branches(s)
        else:
            s = map_stmt(s, lambda e: e, self.stmt)
        self.again = again
        self.used = self.used or (isinstance(s, ir.Allocate) and s.memory is Memory.SHARED)
        if isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK:
            self.used = False
        if not isinstance(s, ir.For) or s.marks.stages == 1:
            return s
        if s.marks.stages > MOST_STAGES:
            raise error(
                f"`pipeline({s.var}, {s.marks.stages})`: {MOST_STAGES} stages are the most", s.span,
                "two to four are enough to hide how long memory takes",
            )  # fmt: skip
        body = staged_body(s)
        if body is None:
            raise error(
                f"`pipeline({s.var}, {s.marks.stages})`: nothing in the loop is copied to memory that "
                "the block shares, so that nothing can be copied ahead", s.span,
                f"stage what the loop reads: `A.in(..).compute_at(.., {s.var}).store_in(shared)`, with "
                f"`{s.var}` outside of the loops over threads",
            )  # fmt: skip
        later = run_on(body.rest) if s.marks.stages > 2 else None
        if later is not None:
            body = replace(body, rest=later.rest)
        slot, ahead = self._fresh(s.var, "slot"), self._fresh(s.var, "ahead")
        signal = self._fresh(s.var, "landed") if any(map(_is_bulk, body.copies)) else ""
        return _Staged(s, body, slot, ahead, later, signal, self.again, again or used).whole()

    def _branches(self, s: ir.If) -> ir.If:
        """Of which a block runs one."""
        before = self.used
        then = self.stmt(s.then)
        after, self.used = self.used, before
        other = None if s.otherwise is None else self.stmt(s.otherwise)
        self.used = self.used or after
        return (
            s if then is s.then and other is s.otherwise else replace(s, then=then, otherwise=other)
        )

    def _fresh(self, loop: str, what: str) -> str:
        name = unused(f"{loop}_{what}", self.taken)
        self.taken.add(name)
        return name


@mutable
class _Staged:
    """A loop on its way. `slot` and `ahead` are names for which slot the iteration uses, and which the
    copies go to that it begins; `later`: its products run on into the next iteration; `signal` is what
    copies in bulk land at, if there are any; `again`: the block may come to the loop again; `used`: it may
    have used the slots for something else."""

    loop: ir.For
    body: StagedBody
    slot: str
    ahead: str
    later: RunOn | None = None
    signal: str = ""
    again: bool = False
    used: bool = False
    sizes: dict[str, int] = field(default_factory=dict)  # elements of a slot, by buffer

    def _reason(self) -> str:
        """Why there is a barrier in each iteration."""
        if self.signal:
            return f"what the last iteration of `{self.loop.var}` read is free"
        names = ", ".join(f"`{a.buffer}`" for a in self.body.buffers)
        return f"copies to {names} have landed; what the last iteration of `{self.loop.var}` read is free"

    @property
    def distance(self) -> int:
        """How many iterations ahead copies run."""
        stages = self.loop.marks.stages
        return stages - 1 if self.later is None else stages - 2

    def _has_products(self) -> bool:
        """Whether what is copied is read by asynchronous products."""
        return any(is_product(x) for s in self.body.rest for x in statements(s))

    def whole(self) -> ir.Stmt:
        loop, stages = self.loop, self.loop.marks.stages
        ahead = self.distance
        for a in self.body.buffers:
            per_row = max(1, SLOT_BYTES // a.element.bytes)
            self.sizes[a.buffer] = -(-int(const_value(a.extent) or 1) // per_row) * per_row
        copies = [asynchronous(s, self.sizes) for s in self.body.copies]
        waits = any(is_asynchronous(s) for s in copies)
        by_threads = not all(map(_is_bulk, copies))
        number = simplify(sub(ir.Var(loop.var), loop.start))
        inside = NOTHING.with_range(loop.var, self._range(loop.extent))
        later = self._copies(copies, add(ir.Var(loop.var), ahead), ir.Var(self.ahead), inside)
        later = ir.LetStmt(self.ahead, simplify(mod(add(number, ahead), stages)), later)
        commit: list[ir.Stmt] = [ir.CopyCommit()] if waits else []
        steady = block(
            *([ir.CopyWait(ahead - 1)] if waits else []),
            *([ir.Fence(ir.FenceKind.STORES)] if by_threads and self._has_products() else []),
            ir.Barrier(note=self._reason()),
            ir.If(simplify(lt(add(number, ahead), loop.extent)), later),
            *commit,
            *self._landed(number),
            ir.LetStmt(self.slot, simplify(mod(number, stages)), self._use(ir.Var(self.slot))),
        )
        whole: ir.Stmt = replace(loop, body=steady, marks=replace(loop.marks, stages=1))
        if self.later is not None:
            # Apart from where the loop has no iteration: compilers would copy registers of sums that
            # products are adding to, so that both ways have the same ones.
            whole = ir.If(simplify(lt(0, loop.extent)), block(whole, self.later.wait))
        result = block(self._first(copies, commit), whole, *([ir.CopyWait(0)] if waits else []))
        if self.signal:
            result = self._with_signal(result)
        for a in () if self.later is None else self.later.outside:
            result = replace(a, body=result)
        for a in reversed(self.body.buffers):
            note = f"{a.note}, {stages} stages of {self.loop.var}"
            extent = ir.const_index(self.sizes[a.buffer] * stages)
            result = replace(a, extent=extent, body=result, note=note)
        return result

    def _landed(self, number: ir.Expr) -> list[ir.Stmt]:
        """The wait for what was copied in bulk for the iteration of this number."""
        stages = self.loop.marks.stages
        slot, turn = simplify(mod(number, stages)), simplify(floordiv(number, stages))
        return [ir.BulkWait(self.signal, slot, turn)] if self.signal else []

    def _with_signal(self, s: ir.Stmt) -> ir.Stmt:
        """With what the copies land at, which is there for the thread that begins them; for others behind the
        barrier of the first iteration."""
        free = ir.Barrier(note="what was done to the slots before is over")
        ended = [ir.Barrier(note=f"nobody waits at `{self.signal}` any more")] if self.again else []
        body = block(ir.Fence(ir.FenceKind.STORES), *([free] if self.used else []), s, *ended)
        stages = ir.const_index(self.loop.marks.stages)
        note = f"at which copies for `{self.loop.var}` land"
        return ir.Allocate(self.signal, I64, stages, Memory.SIGNAL, body, note)

    def _first(self, copies: Sequence[ir.Stmt], commit: Sequence[ir.Stmt]) -> ir.Stmt:
        """The copies of the first iterations."""
        loop, turn = self.loop, ir.Var(self.ahead)
        count = ir.const_index(self.distance)
        inside = NOTHING.with_range(self.ahead, self._range(count))
        first = self._copies(copies, add(loop.start, turn), turn, inside)
        body = block(ir.If(lt(turn, loop.extent), first), *commit)
        if self.distance == 1:
            return simplify_stmt(substitute_stmt(body, {self.ahead: ir.const_index(0)}))
        return ir.For(
            self.ahead, ir.const_index(0), count, ir.LoopKind.SERIAL, body, span=loop.span
        )

    def _range(self, extent: ir.Expr) -> Interval:
        return Interval(ir.const_index(0), simplify(sub(extent, 1)))

    def _copies(
        self, copies: Sequence[ir.Stmt], at: ir.Expr, slot: ir.Expr, facts: Facts
    ) -> ir.Stmt:
        """The copies of another iteration, to a slot."""
        bulk = [s for s in copies if _is_bulk(s)]
        others = [s for s in copies if not _is_bulk(s)]
        grouped = [ir.BulkGroup(self.signal, slot, block(*bulk))] if bulk else []
        whole = self._in_slot([*grouped, *others], slot)
        moved_there = substitute_stmt(whole, {self.loop.var: simplify(at)})
        return simplify_stmt(moved_there, facts)

    def _use(self, slot: ir.Expr) -> ir.Stmt:
        return self._in_slot(self.body.rest, slot)

    def _in_slot(self, stmts: Sequence[ir.Stmt], slot: ir.Expr) -> ir.Stmt:
        """With the names around them that they read."""
        offsets: Mapping[str, ir.Expr] = {b: mul(slot, size) for b, size in self.sizes.items()}
        whole = moved(block(*stmts), offsets)
        for name, value in reversed(self.body.names):
            if name in free_variables(whole):
                whole = ir.LetStmt(name, value, whole)
        return whole


def _is_bulk(s: ir.Stmt) -> bool:
    return isinstance(s, ir.BulkCopy)
