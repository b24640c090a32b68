"""Vector operands that several statements share get a name, just before the first that needs them.

In a 12 x 2 register block of a matrix product: two loads of B and twelve broadcasts of A, each used
by several products. Arithmetic is left to the C compiler, which shares it as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hbc.ir.kernel import Kernel
from hbc.ir.nodes import (
    Allocate,
    Block,
    Broadcast,
    Cast,
    Comment,
    Const,
    Expr,
    For,
    Gather,
    Let,
    LetStmt,
    Load,
    Stmt,
    Store,
    Var,
)
from hbc.ir.walk import block, map_children, map_stmt, nodes


def share(kernel: Kernel) -> Kernel:
    """The kernel with shared operands named."""
    taken = {s.name for s in kernel.sizes} | {a.name for a in kernel.arguments}
    for n in nodes(kernel.body):
        match n:
            case For(var=name) | LetStmt(name=name) | Let(name=name) | Allocate(buffer=name):
                taken.add(name)
            case _:
                pass
    namer = _Namer(taken)
    return kernel.map_body(lambda s: _share(s, namer))


@dataclass(slots=True)
class _Namer:
    """Names for operands, after the buffer they come from, unique in the kernel."""

    taken: set[str]
    counts: Counter[str] = field(default_factory=Counter)

    def name(self, e: Expr) -> str:
        load = next(n for n in nodes(e) if isinstance(n, Load))
        while True:
            name = f"{load.buffer.lower()}{self.counts[load.buffer]}"
            self.counts[load.buffer] += 1
            if name not in self.taken:
                return name


def _share(s: Stmt, namer: _Namer) -> Stmt:
    if isinstance(s, Block):
        return _runs(s, namer)
    return map_stmt(s, lambda e: e, lambda c: _share(c, namer))


def _runs(s: Block, namer: _Namer) -> Stmt:
    """The block, each run of consecutive stores in it rewritten."""
    out: list[Stmt] = []
    run: list[Store | Comment] = []
    for child in s.body:
        if isinstance(child, Store | Comment):
            run.append(child)
            continue
        out.append(_run(run, namer))
        run = []
        out.append(_share(child, namer))
    out.append(_run(run, namer))
    if all(a is b for a, b in zip(out, s.body, strict=False)) and len(out) == len(s.body):
        return s
    return block(*out)


def _run(run: list[Store | Comment], namer: _Namer) -> Stmt:
    """Straight-line stores: operands used more than once are named before their first use."""
    written = {s.buffer for s in run if isinstance(s, Store)}
    uses: Counter[Expr] = Counter()
    for s in run:
        if isinstance(s, Store):
            for e in _expressions(s):
                uses.update(_operands(e, written))
    names: dict[Expr, str] = {}
    steps: list[tuple[list[tuple[str, Expr]], Stmt]] = []
    for s in run:
        new: list[tuple[str, Expr]] = []

        def named(e: Expr, new: list[tuple[str, Expr]] = new) -> Expr:
            if uses.get(e, 0) > 1 and _is_operand(e, written):
                if e not in names:
                    names[e] = namer.name(e)
                    new.append((names[e], e))
                return Var(names[e], e.type, e.span)
            return map_children(e, named) if e.type.lanes > 1 else e

        steps.append((new, map_stmt(s, named, lambda c: c)))
    whole: Stmt = Block(())
    for new, s in reversed(steps):
        whole = block(s, whole)
        for name, value in reversed(new):
            whole = LetStmt(name, value, whole)
    return whole


def _expressions(s: Store) -> tuple[Expr, ...]:
    return (s.index, s.value) if s.mask is None else (s.index, s.value, s.mask)


def _operands(e: Expr, written: set[str]) -> list[Expr]:
    """The largest operands in an expression."""
    if _is_operand(e, written):
        return [e]
    if e.type.lanes == 1:
        return []
    found: list[Expr] = []

    def see(c: Expr) -> Expr:
        found.extend(_operands(c, written))
        return c

    map_children(e, see)
    return found


def _is_operand(e: Expr, written: set[str]) -> bool:
    """A vector made from one load by broadcasting, converting and permuting, that no store of the
    run changes."""
    if e.type.lanes == 1:
        return False
    while True:
        match e:
            case Load(buffer=buffer, index=index):
                return buffer not in written and not _loads(index, written)
            case Broadcast(value=value) | Cast(value=value) | Gather(value=value):
                e = value
            case _:
                return False


def _loads(index: Expr, written: set[str]) -> bool:
    if isinstance(index, Const | Var):
        return False
    return any(isinstance(n, Load) and n.buffer in written for n in nodes(index))
