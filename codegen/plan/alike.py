"""Statements that do the same elsewhere, such as the levels of a pyramid: one function for them, in the text
alone.

    for (y = 0; y < h_1; ++y) .. g_1[..] = .. g_0[..]         fill_g(g_1, g_0, h_1, ..);
    for (y = 0; y < h_2; ++y) .. g_2[..] = .. g_1[..]    ->   fill_g(g_2, g_1, h_2, ..);
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import field
from typing import Final

from hbc.codegen.plan.alike_form import Form, Known, Open, begin_of, form_of
from hbc.ir.algebra.linear import Linear, canonical, linear
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary
from hbc.ir.lang.types import INDEX, DType, Memory, Type
from hbc.ir.lang.walk import (
    inner_statements,
    map_stmt,
    operands,
    own_expressions,
    rewrite_stmt,
    statements,
    substitute_stmt,
)

MOST_PARAMETERS: Final = 20
LEAST_LINES: Final = 5
"""Of what becomes a function, and saved by it."""
LEAST_WORK: Final = 64
"""Operations that are worth a call."""
LEAST_AROUND: Final = 1024
"""Operations of an iteration of the loop around, beside which a call takes no time."""
_TIMES: Final = 4
"""Iterations of a loop of which nothing is known, at least."""
_A_LINE: Final = 8
"""Nodes of an expression that take a line; parameters of a call, nearly."""


@record
class Parameter:
    """One of a function's: its type, and what it could be called."""

    name: str
    type: Type
    hint: str


@record
class Routine:
    """What several statements do. `buffers`: arrays that it is given, by the names in `body`, with their
    elements; `stored`: those that it writes. `fills`: what the statements write."""

    body: ir.Stmt
    buffers: dict[str, DType]
    stored: frozenset[str]
    parameters: tuple[Parameter, ...]
    fills: tuple[str, ...]


@record
class Use:
    """One of the statements: the function for it, the arrays and values that it is given, and the note of
    the schedule."""

    routine: Routine
    buffers: tuple[str, ...]
    values: tuple[ir.Expr, ...]
    note: str


@record
class _Size:
    """What the text of a statement is like: `shape` is equal where forms are; `lines`; `work`, in
    operations without index arithmetic, most of which loops do once."""

    shape: int
    lines: int
    work: int


@record
class _Candidate:
    """A statement that may become a call; `on_one_thread`: of a parallel loop around it."""

    stmt: ir.Stmt
    on_one_thread: bool


_Group = Sequence[tuple[ir.Stmt, Form]]
"""Statements of one form."""


def alike(body: ir.Stmt) -> dict[int, Use]:
    """Which function each statement calls, by its `id`. The longest are looked for first; nothing inside
    of one is looked at again."""
    sizes, known = _Sizes(), Known()
    same: dict[int, list[_Candidate]] = {}
    for c in _candidates(body, sizes):
        size = sizes.of(c.stmt)
        if size.lines >= LEAST_LINES and size.work >= LEAST_WORK:
            same.setdefault(size.shape, []).append(c)
    registers = {
        s.buffer
        for s in statements(body)
        if isinstance(s, ir.Allocate) and s.memory not in (Memory.HEAP, Memory.STACK)
    }
    uses: dict[int, Use] = {}
    gone: set[int] = set()
    for candidates in sorted(same.values(), key=lambda c: -sizes.of(c[0].stmt).lines):
        left = [c for c in candidates if id(c.stmt) not in gone]
        for group in _groups(left, registers, known) if len(left) > 1 else ():
            for (s, _), use in zip(group, _uses(group, sizes), strict=False):
                uses[id(s)] = use
                gone |= {id(t) for t in statements(s)}
    return uses


def _groups(
    candidates: Sequence[_Candidate], registers: Set[str], known: Known
) -> Iterator[_Group]:
    begun = [begin_of(c.stmt, c.on_one_thread, registers, known) for c in candidates]
    times = Counter(begun)
    groups: dict[tuple[object, ...], list[tuple[ir.Stmt, Form]]] = {}
    for c, begin in zip(candidates, begun, strict=True):
        form = form_of(c.stmt, c.on_one_thread, registers, known) if times[begin] > 1 else None
        if form is not None:
            groups.setdefault(form.key, []).append((c.stmt, form))
    yield from groups.values()


def _candidates(
    s: ir.Stmt, sizes: _Sizes, rarely: bool = True, on_one_thread: bool = False
) -> Iterator[_Candidate]:
    """Statements that a call may take the place of. `rarely`: none that the innermost loops repeat (but for
    those that compilers unroll), or loops that do little."""
    if rarely and not isinstance(s, ir.Block):
        yield _Candidate(s, on_one_thread)
    if isinstance(s, ir.For) and _is_loop(s):
        rarely = any(_is_loop(t) for t in statements(s.body))
        rarely &= sizes.of(s.body).work >= LEAST_AROUND
        on_one_thread |= s.kind is ir.LoopKind.PARALLEL
    for inner in inner_statements(s):
        yield from _candidates(inner, sizes, rarely, on_one_thread)


def _is_loop(s: ir.Stmt) -> bool:
    return isinstance(s, ir.For) and s.kind is not ir.LoopKind.UNROLL


@mutable
class _Sizes:
    """Sizes of statements and expressions by their identity, and numbers of shapes."""

    numbers: dict[object, int] = field(default_factory=dict)
    found: dict[int, _Size] = field(default_factory=dict)
    values: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    def of(self, s: ir.Stmt) -> _Size:
        size = self.found.get(id(s))
        if size is None:
            size = self.found[id(s)] = self._of(s)
        return size

    def _of(self, s: ir.Stmt) -> _Size:
        inner = [self.of(c) for c in inner_statements(s)]
        lines, work = sum(c.lines for c in inner), sum(c.work for c in inner)
        key: list[object] = [s.__class__, *(c.shape for c in inner)]
        if isinstance(s, ir.For):
            times = int(s.extent.value) if isinstance(s.extent, ir.Const) else _TIMES
            return _Size(self._number(*key, s.kind), lines + 2, work * times)
        if isinstance(s, ir.Store | ir.LetStmt | ir.If):
            for e in own_expressions(s):
                shape, count, operations = self._value(e)
                key.append(shape)
                lines += 1 + count // _A_LINE
                work += operations
        return _Size(self._number(*key), lines, work)

    def _value(self, e: ir.Expr) -> tuple[int, int, int]:
        """The shape of an expression, its nodes, and those without index arithmetic, all of which has one
        shape."""
        known = self.values.get(id(e))
        if known is None:
            parts = [self._value(c) for c in operands(e)]
            shape, count, operations = 0, 1 + sum(n for _, n, _ in parts), 0
            if e.type != INDEX:
                op = getattr(e, "op", None)
                shape = self._number(e.__class__, e.type, op, *(n for n, _, _ in parts))
                operations = 1 + sum(n for _, _, n in parts)
            known = self.values[id(e)] = shape, count, operations
        return known

    def _number(self, *key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers) + 1)


def _uses(group: _Group, sizes: _Sizes) -> list[Use]:
    """The calls for statements of one form; none where they would not be shorter."""
    lines = sizes.of(group[0][0]).lines
    forms = [form for _, form in group]
    first = forms[0]
    if len(group) * lines < LEAST_LINES + lines:
        return []
    given = _Given()
    values = {
        places[0].place: given.at(places)
        for places in zip(*(form.open for form in forms), strict=True)
    }
    count = len(given.parameters) + len(first.buffers)
    call = 1 + count // _A_LINE
    if count > MOST_PARAMETERS or (len(group) - 1) * lines < len(group) * call + 3 + LEAST_LINES:
        return []
    body = _without_copies(rewrite_stmt(substitute_stmt(first.body, values), canonical))
    fills = tuple(dict.fromkeys(b for f in forms for b in f.buffers if b in f.stored))
    if not fills:  # arrays of its own alone, which nobody reads: C compilers leave it out
        return []
    parameters = tuple(given.parameters)
    routine = Routine(body, first.buffers, first.stored, parameters, fills)
    return [
        Use(routine, tuple(form.buffers), tuple(column[n] for column in given.arguments), _note(s))
        for n, (s, form) in enumerate(group)
    ]


def _note(s: ir.Stmt) -> str:
    return s.note if isinstance(s, ir.For | ir.Allocate) else ""


def _without_copies(s: ir.Stmt) -> ir.Stmt:
    """Without second names for parameters and numbers."""
    if isinstance(s, ir.LetStmt) and isinstance(s.value, ir.Var | ir.Const):
        return _without_copies(substitute_stmt(s.body, {s.name: s.value}))
    return map_stmt(s, lambda e: e, _without_copies)


@mutable
class _Given:
    """The parameters of forms that are alike, and what each is for every form. Values that are everywhere
    so much more than others share the parameter of those."""

    parameters: list[Parameter] = field(default_factory=list)
    arguments: list[list[ir.Expr]] = field(default_factory=list)
    seen: dict[object, tuple[Parameter, Linear]] = field(default_factory=dict)

    def at(self, places: Sequence[Open]) -> ir.Expr:
        """What stands at an open place, in parameters."""
        column = [p.value() for p in places]
        t = column[0].type
        if t != INDEX:
            return ir.Var(
                self._of(("value", *column), places[0].name, column, Linear(0))[0].name, t
            )
        sums = [linear(e) for e in column]
        apart = tuple(s.constant - sums[0].constant for s in sums)
        moving = tuple(s.terms for s in sums)
        if not any(moving) and not any(apart):
            return ir.const_index(sums[0].constant)
        values = [canonical(e) for e in column]
        parameter, base = self._of((moving, apart), places[0].name, values, sums[0])
        return binary(ir.Op.ADD, ir.Var(parameter.name), sums[0].constant - base.constant)

    def _of(
        self, key: object, name: str, values: list[ir.Expr], base: Linear
    ) -> tuple[Parameter, Linear]:
        if key not in self.seen:
            parameter = Parameter(f"given#{len(self.parameters)}", values[0].type, name)
            self.parameters.append(parameter)
            self.arguments.append(values)
            self.seen[key] = parameter, base
        return self.seen[key]
