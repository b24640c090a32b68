"""What a statement has in common with others that do the same elsewhere: its form, and what the form leaves
open.

    for (x = 0; x < n; ++x) g_1[m * (y + 4) + x] = 2 * g_0[m_0 * y + x]
->  for (x = ?; x < ? + ?; ++x) B0[x + ?] = 2 * B1[x + ?]        ?: 0, 0, n, m * (y + 4), m_0 * y

Open is index arithmetic that stays the same throughout the statement, and what is read of names from outside.
What decides which code compilers make stays in the form: factors and divisors that are numbers, loops of few
iterations, types, masks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import field, replace
from typing import Final

from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary
from hbc.ir.lang.types import INDEX, DType, Memory, Type
from hbc.ir.lang.walk import block, map_children, operands

FEW: Final = 128
"""Iterations from which on it is all the same to a compiler that it does not know their number: fewer are few
vectors."""
BEGIN: Final = 128
"""Tokens of a statement that are looked at before all of them are."""
_SUMS: Final = (ir.Op.ADD, ir.Op.SUB)
_LIMITS: Final = (ir.Op.MIN, ir.Op.MAX)
# What else than its type and its operands makes an expression what it is.
_OWN: Final[dict[type, tuple[str, ...]]] = {
    ir.Cast: (), ir.Select: (), ir.Binary: ("op",), ir.Unary: ("op",), ir.VectorReduce: ("op",),
    ir.Call: ("name",), ir.Ramp: ("lanes",), ir.Broadcast: ("lanes",), ir.Gather: ("lanes",),
}  # fmt: skip

Known = dict[int, tuple[ir.Expr, frozenset[str] | None]]
"""The names that index arithmetic reads, by its identity, which is held; None where it reads memory."""
_Addends = Sequence[tuple[ir.Expr, bool]]
"""With whether each is taken away."""


class UnlikeError(Exception):
    """A statement that cannot be a function of its own."""


@record
class Open:
    """A place of a form: its variable in the body, what stands there (a sum), and what its name could be."""

    place: str
    addends: _Addends
    name: str

    def value(self) -> ir.Expr:
        value: ir.Expr | None = None
        for part, minus in self.addends:
            start = ir.const_index(0) if value is None and minus else value
            value = part if start is None else binary(_SUMS[minus], start, part)
        return ir.const_index(0) if value is None else value


@record
class Form:
    """`key` is equal for statements of one form; then their `open` places, and their `buffers` from outside
    with their elements, correspond. `body`: the statement, with a variable `place(n)` for what is open."""

    key: tuple[object, ...]
    open: tuple[Open, ...]
    buffers: dict[str, DType]
    stored: frozenset[str]
    body: ir.Stmt


def form_of(s: ir.Stmt, on_one_thread: bool, registers: Set[str], known: Known) -> Form | None:
    """None for a statement that cannot be a function: where it touches `registers` from outside, too.
    `on_one_thread`: around it is a parallel loop."""
    reader = _Reader(on_one_thread, registers, known)
    try:
        body = reader.stmt(s)
    except UnlikeError:
        return None
    key, stored = (tuple(reader.tokens), frozenset(reader.stored))
    return Form(key, tuple(reader.open), reader.elements, stored, body)


def begin_of(
    s: ir.Stmt, on_one_thread: bool, registers: Set[str], known: Known
) -> tuple[object, ...]:
    """What the key of its form begins with, which most that differ do differ in."""
    begin: list[object] = []
    with suppress(UnlikeError):
        _Reader(on_one_thread, registers, known, BEGIN, begin).stmt(s)
    return tuple(begin[:BEGIN])


@mutable
class _Reader:
    """The walk. `names` and `arrays`: those bound inside so far, by their number. `elements`: buffers from
    outside. `hint`: what an open place would be called. `fixed`: in the index of an array of the
    statement's own, whose numbers stay as they are. `most`: nothing is begun after so many tokens."""

    on_one_thread: bool
    registers: Set[str]
    known: Known
    most: int = sys.maxsize
    tokens: list[object] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)
    elements: dict[str, DType] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    bindings: int = 0
    places: int = 0
    hint: str = "n"
    fixed: bool = False

    def stmt(self, s: ir.Stmt) -> ir.Stmt:
        self.tokens.append(s.__class__)
        match s:
            case ir.Block(body=body):
                self.tokens.append(len(body))
                return block(*(self.stmt(c) for c in body))
            case ir.Store(atomic=None, asynchronous=False):
                return self._store(s)
            case ir.For():
                return self._for(s)
            case ir.LetStmt(name=name, value=value, body=body):
                self.hint = name
                made = self.expr(value)
                return ir.LetStmt(name, made, self._within(name, self.names, body), s.span)
            case ir.Allocate(memory=Memory.REGISTER | Memory.STACK, extent=ir.Const(value=n)):
                self.tokens += [s.element, s.memory, n]
                if s.buffer in self.elements:
                    raise UnlikeError
                return replace(s, body=self._within(s.buffer, self.arrays, s.body))
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                self.hint = "n"
                self.tokens.append(otherwise is None)
                made, inside = self.expr(condition), self.stmt(then)
                other = None if otherwise is None else self.stmt(otherwise)
                return ir.If(made, inside, other, s.span)
            case ir.Prefetch(buffer=buffer, index=index):
                self.tokens += [s.level, s.element.name]
                self._buffer(buffer, s.element)
                return replace(s, index=self._at(index, buffer))
            case ir.Leave(loop=loop, condition=condition) if loop in self.names:
                self.tokens.append(self.names[loop])
                return ir.Leave(loop, self.expr(condition), s.span)
            case ir.Comment():
                return s
            case _:
                raise UnlikeError

    def _store(self, s: ir.Store) -> ir.Stmt:
        self._buffer(s.buffer, s.value.type.element)
        if s.buffer in self.elements:
            self.stored.add(s.buffer)
        index, value = self._at(s.index, s.buffer), self.expr(s.value)
        return ir.Store(s.buffer, index, value, self._mask(s.mask), s.span)

    def _for(self, s: ir.For) -> ir.Stmt:
        parallel = s.kind is ir.LoopKind.PARALLEL
        if s.marks != ir.NO_MARKS or (parallel and self.on_one_thread):
            raise UnlikeError
        self.tokens.append(s.kind)
        few = isinstance(s.extent, ir.Const) and int(s.extent.value) < FEW
        stays = few or s.kind is ir.LoopKind.UNROLL
        self.tokens += [stays, s.extent if stays else None]
        self.hint = f"{s.var}_from"
        start = self._index(s.start) if stays else self._sum(s.start)
        self.hint = f"{s.var}_n"
        extent = s.extent if stays else self._sum(s.extent)
        return replace(s, start=start, extent=extent, body=self._within(s.var, self.names, s.body))

    def _within(self, name: str, names: dict[str, int], body: ir.Stmt) -> ir.Stmt:
        """The body, in which the name is bound."""
        outer = self._bind(name, names)
        made = self.stmt(body)
        _unbind(name, outer, names)
        return made

    def _bind(self, name: str, names: dict[str, int]) -> int | None:
        outer, names[name] = names.get(name), self.bindings
        self.bindings += 1
        return outer

    def _buffer(self, name: str, element: DType) -> None:
        """Buffers from outside are numbered as they turn up."""
        own = self.arrays.get(name)
        if own is not None:
            self.tokens.append(own)
            return
        if name in self.registers:
            raise UnlikeError
        self.elements.setdefault(name, element)
        self.tokens += ["outside", [*self.elements].index(name), element.name]

    def _leave_open(self, t: Type, *addends: tuple[ir.Expr, bool]) -> ir.Expr:
        self.tokens += ["?", t]
        name = self.hint
        if len(addends) == 1 and isinstance(addends[0][0], ir.Var):
            name = addends[0][0].name
        self.places += 1
        self.open.append(Open(f"open#{self.places}", addends, name))
        return ir.Var(self.open[-1].place, t)

    def _at(self, index: ir.Expr, buffer: str) -> ir.Expr:
        self.hint, around = f"{buffer}_at", self.fixed
        self.fixed = buffer in self.arrays
        made = self._sum(index) if index.type == INDEX else self.expr(index)
        self.fixed = around
        return made

    def _mask(self, mask: ir.Expr | None) -> ir.Expr | None:
        self.tokens.append(mask is None)
        return None if mask is None else self.expr(mask)

    def expr(self, e: ir.Expr) -> ir.Expr:
        return self._index(e) if e.type == INDEX else self._expr(e)

    def _expr(self, e: ir.Expr) -> ir.Expr:
        if len(self.tokens) >= self.most:
            raise UnlikeError
        self.tokens += [e.__class__, e.type]
        match e:
            case ir.Const(value=value):
                self.tokens.append(repr(value))  # -0.0 is not 0.0
                return e
            case ir.Var(name=name, type=t):
                if name in self.names:
                    self.tokens.append(self.names[name])
                    return e
                if t.lanes > 1:
                    raise UnlikeError
                return self._leave_open(t, (e, False))
            case ir.Load(buffer=buffer):
                self._buffer(buffer, e.type.element)
                index = self._at(e.index, buffer)
                return ir.Load(buffer, index, e.type, self._mask(e.mask), e.span)
            case ir.Ramp(base=base, stride=stride, lanes=lanes) if base.type == INDEX:
                start = self._sum(base)
                return ir.Ramp(start, self._index(stride), lanes, e.span)
            case ir.Let(name=name, value=value, body=body):
                made = self.expr(value)
                outer = self._bind(name, self.names)
                inner = self.expr(body)
                _unbind(name, outer, self.names)
                return ir.Let(name, made, inner, e.span)
            case _ if e.__class__ in _OWN:
                self.tokens += [getattr(e, own) for own in _OWN[e.__class__]]
                return map_children(e, self.expr)
            case _:
                raise UnlikeError

    def _index(self, e: ir.Expr) -> ir.Expr:
        """Arithmetic in which numbers stay as they are, but for what is added to something that changes."""
        if not isinstance(e, ir.Const | ir.Var) and self._stays(e):
            return self._leave_open(e.type, (e, False))
        if not isinstance(e, ir.Binary) or self._names_of(e) is None or self.fixed:
            return self._expr(e)
        if e.op in _SUMS:
            return self._sum(e)
        self.tokens.append(e.op)
        if e.op in _LIMITS:
            return ir.Binary(e.op, self._sum(e.a), self._sum(e.b), e.span)
        turned = e.op is ir.Op.MUL and self._stays(e.b) and not self._stays(e.a)
        a, b = (e.b, e.a) if turned else (e.a, e.b)
        return ir.Binary(e.op, self._index(a), self._index(b), e.span)

    def _sum(self, e: ir.Expr) -> ir.Expr:
        """Arithmetic with an open addend, if only nought; numbers are open too."""
        if self.fixed:
            return self._index(e)
        moving, rest = self._addends(e)
        self.tokens += ["+", len(moving)]
        made = self._leave_open(INDEX, *rest)
        for part, minus in reversed(self._in_order(moving)):
            made = binary(_SUMS[minus], made, part)
        return made

    def _addends(self, e: ir.Expr) -> tuple[_Addends, _Addends]:
        """Those that change, and those that do not."""
        moving: list[tuple[ir.Expr, bool]] = []
        rest: list[tuple[ir.Expr, bool]] = []
        stack = [(e, False)]
        while stack:
            part, minus = stack.pop()
            if self._stays(part):
                rest.append((part, minus))
            elif isinstance(part, ir.Binary) and part.op in _SUMS:
                stack.append((part.b, minus != (part.op is ir.Op.SUB)))
                stack.append((part.a, minus))
            else:
                moving.append((part, minus))
        return moving, rest

    def _in_order(self, moving: _Addends) -> _Addends:
        """What becomes of them, in an order that asks for no names from outside, which differ."""
        tokens, opened = self.tokens, self.open
        parts: list[tuple[list[object], list[Open], tuple[ir.Expr, bool]]] = []
        for part, minus in moving:
            self.tokens, self.open = [minus], []
            made = self._index(part)
            parts.append((self.tokens, self.open, (made, minus)))
        self.tokens, self.open = tokens, opened
        if len(parts) > 1:
            parts.sort(key=lambda part: repr(part[0]))
        for own, places, _ in parts:
            self.tokens += own
            self.open += places
        return [addend for _, _, addend in parts]

    def _stays(self, e: ir.Expr) -> bool:
        """Whether it has one value throughout the statement."""
        names = self._names_of(e)
        return names is not None and names.isdisjoint(self.names)

    def _names_of(self, e: ir.Expr) -> frozenset[str] | None:
        found = self.known.get(id(e))
        if found is None:
            names: frozenset[str] | None = None
            if isinstance(e, ir.Var):
                names = frozenset({e.name}) if e.type == INDEX else None
            elif isinstance(e, ir.Const | ir.Binary | ir.Unary | ir.Select):
                parts = [self._names_of(part) for part in operands(e)]
                read = [part for part in parts if part is not None]
                names = frozenset().union(*read) if len(read) == len(parts) else None
            found = self.known[id(e)] = (e, names)
        return found[1]


def _unbind(name: str, outer: int | None, names: dict[str, int]) -> None:
    if outer is None:
        del names[name]
    else:
        names[name] = outer
