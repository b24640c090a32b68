"""Common sub-expressions of straight-line code get a name.

    c[0] = a[i] * b[j]; c[1] = a[i] * b[j + 1]   ->   let t = a[i]; c[0] = t * b[j]; ...

Loads of one place are one load as long as nothing stores to the buffer between them. Addresses and
masks are left as they are: C compilers share those, and people read them better in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeGuard

from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import BOOL, TILES, Memory
from hbc.ir.lang.walk import (
    block,
    children,
    contains,
    free_variables,
    map_children,
    map_stmt,
    nodes_of,
    statements,
)

WIDEST = 512  # bits; a wider vector has no register and is taken apart when printed


def share(kernel: Kernel) -> Kernel:
    """The kernel with a `LetStmt` for every value that a block computes twice, and for every `Let`
    of a stored value."""
    allocated = nodes_of(kernel.body, ir.Allocate)
    registers = frozenset(n.buffer for n in allocated if n.memory is Memory.REGISTER)
    tiles = frozenset(n.buffer for n in allocated if n.memory in TILES)
    taken = {n.name for n in nodes_of(kernel.body, ir.Var, ir.Let, ir.LetStmt)}
    taken |= {n.var for n in nodes_of(kernel.body, ir.For)}
    return kernel.map_body(_Names(registers, tiles, taken).stmt)


@record
class _Bind:
    """An item of a block: `name` stands for `value` from here on."""

    name: str
    value: ir.Expr


_Item = _Bind | ir.Stmt


@mutable
class _Names:
    """Fresh names for the whole kernel; `registers`: buffers whose loads cost nothing; `tiles`:
    those that only whole statements of their own can use."""

    registers: frozenset[str]
    tiles: frozenset[str]
    taken: set[str]
    made: Counter[str] = field(default_factory=Counter)

    def fresh(self, base: str) -> str:
        while True:
            name = f"{base}_{self.made[base]}"
            self.made[base] += 1
            if name not in self.taken:
                self.taken.add(name)
                return name

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        """Each block by itself, inner ones first."""
        if not isinstance(s, ir.Block | ir.LetStmt | ir.Store):
            return map_stmt(s, lambda e: e, self.stmt)
        items = [
            i if isinstance(i, _Bind | ir.Store) else map_stmt(i, lambda e: e, self.stmt)
            for i in self.items(s)
        ]
        return _Sharing(self).run(items)

    def items(self, s: ir.Stmt) -> Iterator[_Item]:
        """The statements of a block in order, and the names bound on the way."""
        match s:
            case ir.Block(body=body) if body:
                for child in body[:-1]:
                    # A name bound before other statements would reach into them: left alone.
                    yield from [child] if isinstance(child, ir.LetStmt) else self.items(child)
                yield from self.items(body[-1])
            case ir.LetStmt(name=name, value=value, body=body):
                binds, new = self.unlet(value)
                yield from binds
                yield _Bind(name, new)
                yield from self.items(body)
            case ir.Store(value=value) if not self.uses_tiles(s):
                binds, new = self.unlet(value)
                yield from binds
                yield s if new is value else replace(s, value=new)
            case _:
                yield s

    def uses_tiles(self, s: ir.Store) -> bool:
        if not self.tiles:
            return False
        return s.buffer in self.tiles or (
            isinstance(s.value, ir.Load) and s.value.buffer in self.tiles
        )

    def unlet(self, e: ir.Expr) -> tuple[list[_Bind], ir.Expr]:
        """The `Let`s in `e` as bindings under new names, and what is left of `e`. A vector that says where
        is put in place: of an index, lanes are taken one by one."""
        binds: list[_Bind] = []

        def plain(e: ir.Expr, names: Mapping[str, ir.Expr], where: bool = False) -> ir.Expr:
            match e:
                case ir.Var(name=name):
                    return names.get(name, e)
                case ir.Let(name=name, value=v, body=body):
                    value = plain(v, names, where)
                    if where and value.type.lanes > 1:
                        return plain(body, {**names, name: value}, where)
                    new = ir.Var(
                        self.fresh(name.partition(".")[0]), value.type
                    )  # of its copies too
                    binds.append(_Bind(new.name, value))
                    return plain(body, {**names, name: new}, where)
                case ir.Load(index=index) if index.type.lanes > 1:
                    return map_children(e, lambda c: plain(c, names, where or c is index))
                case _:
                    return map_children(e, lambda c: plain(c, names, where))

        return binds, plain(e, {})


@mutable
class _Sharing:
    """One block. Equal numbers mean equal values; `versions` counts the stores to each buffer."""

    names: _Names
    numbers: dict[Hashable, int] = field(default_factory=dict)
    versions: Counter[str] = field(default_factory=Counter)
    bound: dict[str, int] = field(default_factory=dict)  # number of a name's value
    counts: Counter[int] = field(default_factory=Counter)
    named: dict[int, ir.Var] = field(default_factory=dict)
    known: dict[int, int] = field(default_factory=dict)  # id of a node of this item -> number
    out: list[_Item] = field(default_factory=list)

    def run(self, items: list[_Item]) -> ir.Stmt:
        for item in items:
            if isinstance(item, _Bind) or self.is_shared(item):
                self.count(item.value)
            self.pass_by(item)
        self.versions.clear()
        self.bound.clear()
        for item in items:
            self.rewrite_item(item)
            self.pass_by(item)
        return _fold(self.out)

    def is_shared(self, item: _Item) -> TypeGuard[ir.Store]:
        """Whether values in the item may be named."""
        return isinstance(item, ir.Store) and not self.names.uses_tiles(item)

    def pass_by(self, item: _Item) -> None:
        """What the item changes for those after it."""
        self.known.clear()
        if isinstance(item, _Bind):
            number = self.number(item.value)
            self.named = {n: v for n, v in self.named.items() if v.name != item.name or n == number}
            self.bound[item.name] = number
        else:
            self.versions.update(n.buffer for n in statements(item) if isinstance(n, ir.Store))
        self.known.clear()

    def rewrite_item(self, item: _Item) -> None:
        match item:
            case _Bind(name=name, value=value):
                number = self.number(value)
                new = self.rewrite(value, top=True)
                self.out.append(_Bind(name, new))
                if self.worthwhile(value):
                    self.named.setdefault(number, ir.Var(name, value.type))
            case ir.Store(value=value) if self.is_shared(item):
                new = self.rewrite(value)
                same = new is value
                self.out.append(item if same else replace(item, value=new))
            case _:
                self.out.append(item)

    def number(self, e: ir.Expr) -> int:
        if (seen := self.known.get(id(e))) is not None:
            return seen
        key: Hashable
        match e:
            case ir.Const(value=v, type=t):
                key = ("const", repr(v), t)
            case ir.Var(name=name):
                if name in self.bound:
                    return self.bound[name]
                key = e
            case _ if _is_opaque(e):
                read = {n.buffer for n in nodes_of(e, ir.Load)}
                key = (e, tuple((b, self.versions[b]) for b in sorted(read)))
            case _:
                key = map_children(e, lambda c: ir.Var(f"#{self.number(c)}", c.type))
        number = self.numbers.setdefault(key, len(self.numbers))
        self.known[id(e)] = number
        return number

    def count(self, e: ir.Expr) -> None:
        """Occurrences of each value; those inside a value that was seen before do not count."""
        number = self.number(e)
        self.counts[number] += 1
        if self.counts[number] == 1 and not _is_opaque(e):
            for c in children(e):
                if isinstance(c, ir.Expr):
                    self.count(c)

    def rewrite(self, e: ir.Expr, *, top: bool = False) -> ir.Expr:
        """`e` with shared values by name. `top`: it is about to be named anyway."""
        number = self.number(e)
        if number in self.named:
            return self.named[number]
        new = e if _is_opaque(e) else map_children(e, self.rewrite)
        if top or self.counts[number] < 2 or not self.worthwhile(e):
            return new
        name = self.names.fresh(_base_name(e))
        self.out.append(_Bind(name, new))
        self.named[number] = ir.Var(name, e.type)
        return self.named[number]

    def worthwhile(self, e: ir.Expr) -> bool:
        """Whether computing `e` again costs an instruction that a name would save."""
        t = e.type
        if t.element == BOOL or t.lanes * t.element.bits > WIDEST:
            return False
        match e:
            case ir.Const() | ir.Var() | ir.Ramp() | ir.Gather():
                return False
            case ir.Load(buffer=buffer):
                return buffer not in self.names.registers
            case ir.Broadcast(value=value):
                return not isinstance(value, ir.Const)
            case _:
                return t.lanes > 1 or contains(e, ir.Load, ir.Call)


def _is_opaque(e: ir.Expr) -> bool:
    """Not looked into: addresses, and comparisons of positions, which backends print as masks."""
    match e:
        case ir.Load() | ir.Ramp() | ir.Gather():
            return True
        case ir.Binary(op=op, a=a, b=b) if op in ir.COMPARISONS:
            return isinstance(a, ir.Ramp | ir.Gather) or isinstance(b, ir.Ramp | ir.Gather)
        case _:
            return e.type.lanes * e.type.element.bits > WIDEST


def _base_name(e: ir.Expr) -> str:
    """Loads are named after their buffer."""
    while isinstance(e, ir.Broadcast):
        e = e.value
    return e.buffer if isinstance(e, ir.Load) else "t"


def _fold(items: list[_Item]) -> ir.Stmt:
    """The items as statements again, without the names that nothing reads."""
    read: set[str] = set()
    result: list[ir.Stmt] = []
    for item in reversed(items):
        if isinstance(item, _Bind):
            if item.name in read:
                read |= free_variables(item.value)
                result = [ir.LetStmt(item.name, item.value, block(*reversed(result)))]
        else:
            read |= free_variables(item)
            result.append(item)
    return block(*reversed(result))
