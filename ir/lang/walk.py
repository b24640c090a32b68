"""Children, rebuilding, substitution and free variables: the only traversals of the IR.

A rewrite that changes nothing returns the same object, so passes can test `is`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, overload

from hbc.ir.ground.tree import children_by_class, map_by_class
from hbc.ir.lang import nodes as ir

ExprMap = Callable[[ir.Expr], ir.Expr]
StmtMap = Callable[[ir.Stmt], ir.Stmt]
_T = TypeVar("_T")


def map_children(e: ir.Expr, f: ExprMap) -> ir.Expr:
    """`e` with `f` applied to each direct child expression."""
    made: ir.Expr = _MAPPED[e.__class__](e, f, None)
    return made


def map_stmt(s: ir.Stmt, on_expr: ExprMap, on_stmt: StmtMap) -> ir.Stmt:
    """`s` with `on_expr` applied to its own expressions and `on_stmt` to its direct children."""
    made: ir.Stmt = _MAPPED[s.__class__](s, on_expr, on_stmt)
    return made


def block(*stmts: ir.Stmt) -> ir.Stmt:
    """Statements in order, nested blocks flattened; one statement stands for itself."""
    flat: list[ir.Stmt] = []
    for s in stmts:
        if isinstance(s, ir.Block):
            flat.extend(s.body)
        else:
            flat.append(s)
    return flat[0] if len(flat) == 1 else ir.Block(tuple(flat))


def rewrite(e: ir.Expr, f: ExprMap) -> ir.Expr:
    """Bottom-up: `f` on every node, children first. What is shared stays so: `f` sees it once."""
    done: dict[int, ir.Expr] = {}

    def below(c: ir.Expr) -> ir.Expr:
        made = done.get(id(c))
        if made is None:
            made = c if c.__class__ in _LEAVES else _MAPPED[c.__class__](c, below, None)
            made = done[id(c)] = f(made)
        return made

    return below(e)


def rewrite_stmt(s: ir.Stmt, on_expr: ExprMap) -> ir.Stmt:
    """`s` with `on_expr` applied to every whole expression in it (not to their sub-expressions)."""
    return map_stmt(s, on_expr, lambda c: rewrite_stmt(c, on_expr))


def children(n: ir.Node) -> tuple[ir.Node, ...]:
    """The direct children, expressions before statements, in reading order."""
    found: tuple[ir.Node, ...] = _CHILDREN[n.__class__](n)
    return found


def operands(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The direct children of an expression."""
    found: tuple[ir.Expr, ...] = _OPERANDS[e.__class__](e)
    return found


def nodes(n: ir.Node) -> Iterator[ir.Node]:
    """The node and all below it, parents first, in reading order; without recursion."""
    if n.__class__ not in _LARGE:
        return _below(n)
    listed = _latest(_listed, n, lambda: list(_below(n)))
    return iter(listed)


def _latest(held: dict[int, tuple[ir.Node, _T]], n: ir.Node, make: Callable[[], _T]) -> _T:
    """What is held for the node, or made for it: of those that were asked for last."""
    known = held.pop(id(n), None)
    if known is None:
        known = n, make()
        if len(held) >= MOST_LISTED:
            oldest, *_ = tuple(held)  # at once: another thread may add to it meanwhile
            held.pop(oldest, None)
    held[id(n)] = known
    return known[1]


MOST_LISTED: Final = 8
_listed: Final[dict[int, tuple[ir.Node, list[ir.Node]]]] = {}
"""By the id of a statement that others are in, which is held, what `nodes` gives: more than half of what it
gives for a GPU is of a body that it has walked just before."""


_A = TypeVar("_A", bound=ir.Node)
_B = TypeVar("_B", bound=ir.Node)
_C = TypeVar("_C", bound=ir.Node)
_D = TypeVar("_D", bound=ir.Node)


@overload
def nodes_of(n: ir.Node, kind: type[_A], /) -> Sequence[_A]: ...
@overload
def nodes_of(n: ir.Node, kind: type[_A], other: type[_B], /) -> Sequence[_A | _B]: ...
@overload
def nodes_of(
    n: ir.Node, kind: type[_A], other: type[_B], third: type[_C], /
) -> Sequence[_A | _B | _C]: ...
@overload
def nodes_of(
    n: ir.Node, kind: type[_A], other: type[_B], third: type[_C], fourth: type[_D], /
) -> Sequence[_A | _B | _C | _D]: ...
def nodes_of(n: ir.Node, *kinds: type[Any]) -> Sequence[Any]:
    """Those of `nodes` that are of these classes. Of statements that others are in they are sorted by class
    once: passes ask one after the other for loads, stores, allocations of a whole body."""
    if type(n) not in _LARGE:
        return [below for below in _below(n) if type(below) in kinds]
    by_kind = _latest(_by_kind, n, lambda: _sorted(n))
    held = [by_kind[kind] for kind in kinds if kind in by_kind]
    if len(held) < 2:
        return held[0] if held else ()
    return [below for below in nodes(n) if type(below) in kinds]


def _sorted(n: ir.Node) -> dict[type[ir.Node], list[ir.Node]]:
    by_kind: dict[type[ir.Node], list[ir.Node]] = {}
    for below in nodes(n):
        by_kind.setdefault(type(below), []).append(below)
    return by_kind


_by_kind: Final[dict[int, tuple[ir.Node, dict[type[ir.Node], list[ir.Node]]]]] = {}


def _below(n: ir.Node) -> Iterator[ir.Node]:
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        yield top
        if top.__class__ is ir.Binary:
            stack.append(top.b)
            stack.append(top.a)
        elif top.__class__ not in _LEAVES:
            stack.extend(_CHILDREN[top.__class__](top)[::-1])


def distinct_nodes(n: ir.Node) -> Iterator[ir.Node]:
    """The same, where what stands in several places as one object comes once: an expression whose parts are
    shared is longer than it takes to walk it."""
    seen: set[int] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if id(top) not in seen:
            seen.add(id(top))
            yield top
            stack.extend(_CHILDREN[top.__class__](top)[::-1])


def contains(n: ir.Node, *kinds: type[ir.Node]) -> bool:
    """Whether the node or one below it is of these classes."""
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if top.__class__ in kinds:
            return True
        stack += _CHILDREN[top.__class__](top)
    return False


def mentions(n: ir.Node, name: str) -> bool:
    """Whether a variable of that name occurs. (A use inside of what binds it anew counts too.)"""
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if top.__class__ is ir.Var:
            if top.name == name:
                return True
        elif top.__class__ is not ir.Const:
            stack += _CHILDREN[top.__class__](top)[::-1]  # names are used soon where they are bound
    return False


def reads(n: ir.Node, buffer: str) -> bool:
    """Whether the buffer is loaded from, or fetched ahead."""
    return buffer in _loaded(n)


def _loaded(n: ir.Node) -> frozenset[str]:
    """The buffers of which that is true, found once for a statement that others are in: of an allocation in
    others, each asks."""
    known: frozenset[str] | None = getattr(n, "loaded", None)
    if known is not None:
        return known
    buffers: set[str] = set()
    stack = [*children(n)]
    while stack:
        top = stack.pop()
        if top.__class__ in _NESTS:
            buffers |= _loaded(top)
        elif top.__class__ not in _LEAVES:
            if top.__class__ is ir.Load or top.__class__ is ir.Prefetch:
                buffers.add(top.buffer)
            stack += _CHILDREN[top.__class__](top)
    if n.__class__ is ir.Load or n.__class__ is ir.Prefetch:
        buffers.add(n.buffer)
    loaded = frozenset(buffers)
    if isinstance(n, ir.Allocate | ir.For | ir.If):
        n.loaded = loaded
    return loaded


def statements(s: ir.Stmt) -> Iterator[ir.Stmt]:
    """The statement and all below it, parents first, in reading order; no expressions."""
    stack = [s]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(inner_statements(top)[::-1])


def inner_statements(s: ir.Stmt) -> tuple[ir.Stmt, ...]:
    """The direct children that are statements."""
    found: tuple[ir.Stmt, ...] = _INNER[s.__class__](s)
    return found


def own_expressions(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The direct children that are expressions."""
    found: tuple[ir.Expr, ...] = _OPERANDS[s.__class__](s)
    return found


def names_read(n: ir.Node, buffers: bool = False) -> set[str]:
    """The names of all variables that occur, also of those that are bound inside; with those of the `buffers`
    that are loaded from or stored to, and before there are any, of arrays."""
    names: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if top.__class__ is ir.Var:
            names.add(top.name)
        elif top.__class__ is ir.Binary:
            stack += (top.a, top.b)
        elif top.__class__ is not ir.Const:
            if buffers and (top.__class__ is ir.Load or top.__class__ is ir.Store):
                names.add(top.buffer)
            elif buffers and top.__class__ is ir.Access:
                names.add(top.array)
            stack += _CHILDREN[top.__class__](top)
    return names


def substitute(e: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """`e` with free variables replaced. Names bound inside must not occur free in the values. What is
    shared stays so."""
    done: dict[int, ir.Expr] = {}

    def below(e: ir.Expr) -> ir.Expr:
        if e.__class__ is ir.Var:
            return values.get(e.name, e)
        if e.__class__ is ir.Const:
            return e
        known = done.get(id(e))
        if known is None:
            if e.__class__ is ir.Let and e.name in values:
                inner = {k: x for k, x in values.items() if k != e.name}
                value, body = below(e.value), substitute(e.body, inner)
                same = value is e.value and body is e.body
                known = e if same else ir.Let(e.name, value, body, e.span)
            else:
                known = map_children(e, below)
            done[id(e)] = known
        return known

    return below(e) if values else e


def substitute_stmt(s: ir.Stmt, values: Mapping[str, ir.Expr]) -> ir.Stmt:
    """`s` with free variables replaced. A loop whose variable is, is gone, and nothing is left to end."""
    if not values:
        return s
    match s:
        case ir.Block(body=body) if any(isinstance(c, ir.Leave) and c.loop in values for c in body):
            kept = (c for c in body if not (isinstance(c, ir.Leave) and c.loop in values))
            return block(*(substitute_stmt(c, values) for c in kept))
        case ir.For(var=name) | ir.LetStmt(name=name) if name in values:
            inner = {k: x for k, x in values.items() if k != name}
            return map_stmt(s, lambda e: substitute(e, values), lambda c: substitute_stmt(c, inner))
        case _:
            return map_stmt(
                s, lambda e: substitute(e, values), lambda c: substitute_stmt(c, values)
            )


def rename_buffer(s: ir.Stmt, old: str, new: str) -> ir.Stmt:
    """With another name for a buffer that is allocated outside."""
    return rename_buffers(s, {old: new})


def rename_buffers(s: ir.Stmt, names: Mapping[str, str]) -> ir.Stmt:
    """With other names for buffers that are allocated outside."""
    if isinstance(s, ir.Allocate) and s.buffer in names:  # another one
        names = {old: new for old, new in names.items() if old != s.buffer}

    def load(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in names:
            return replace(e, buffer=names[e.buffer])
        return e

    renamed = map_stmt(s, lambda e: rewrite(e, load), lambda c: rename_buffers(c, names))
    if isinstance(renamed, ir.Store | ir.Prefetch) and renamed.buffer in names:
        return replace(renamed, buffer=names[renamed.buffer])
    return renamed


def move_accesses(s: ir.Stmt, to: Mapping[str, ExprMap]) -> ir.Stmt:
    """With other places for what is loaded from these buffers and stored to them: each of its index."""

    def load(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.buffer in to:
            return replace(e, index=to[e.buffer](e.index))
        return e

    moved = map_stmt(s, lambda e: rewrite(e, load), lambda c: move_accesses(c, to))
    if isinstance(moved, ir.Store | ir.Prefetch) and moved.buffer in to:
        return replace(moved, index=to[moved.buffer](moved.index))
    if isinstance(moved, ir.BulkCopy) and moved.buffer in to:
        return replace(moved, start=to[moved.buffer](moved.start))
    return moved


def all_names(n: ir.Node) -> set[str]:
    """The names of all variables and buffers that are read, written or bound."""
    names: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        named = _NAMED.get(top.__class__)
        if named is not None:
            names.add(getattr(top, named))
        stack += _CHILDREN[top.__class__](top)
    return names


def free_variables(n: ir.Node) -> frozenset[str]:
    """Names read but not bound inside. Found once for a node: passes ask again for most of what they leave
    as it is."""
    if isinstance(n, ir.Var):
        return frozenset((n.name,))
    if isinstance(n, ir.Const):
        return _NO_NAMES
    known: frozenset[str] | None = getattr(n, "free", None)
    if known is not None:
        return known
    free: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if top.__class__ is ir.Var:
            free.add(top.name)
        elif top.__class__ is ir.Let or top.__class__ is ir.LetStmt:
            stack.append(top.value)
            free |= free_variables(top.body) - {top.name}
        elif top.__class__ is ir.For:
            stack += (top.start, top.extent)
            free |= free_variables(top.body) - {top.var}
        elif top.__class__ is not ir.Const:
            known = getattr(top, "free", None)
            if known is None:
                stack += _CHILDREN[top.__class__](top)
            else:
                free |= known
    n.free = found = frozenset(free)
    return found


_NO_NAMES: Final = frozenset[str]()
_LEAVES: Final = frozenset({ir.Var, ir.Const})
_NESTS: Final = frozenset({ir.Allocate, ir.For, ir.If})
_LARGE: Final = frozenset({ir.Allocate, ir.Block, ir.BulkGroup, ir.For, ir.If, ir.LetStmt})
_OPERANDS: Final = children_by_class("Expr".__eq__)
_INNER: Final = children_by_class("Stmt".__eq__)
_CHILDREN: Final = children_by_class({"Expr", "Stmt"}.__contains__)
_MAPPED: Final = map_by_class(
    ["Expr".__eq__, "Stmt".__eq__],
    adapted={"Lanewise": "{0}.with_lanes({1}.type.lanes)"},
    makers={ir.Block: lambda body, _: block(*body)},
)
_NAMED: Final[Mapping[type, str]] = {
    ir.Var: "name",
    ir.LetStmt: "name",
    ir.Let: "name",
    ir.For: "var",
    ir.Allocate: "buffer",
    ir.Store: "buffer",
    ir.Load: "buffer",
    ir.Prefetch: "buffer",
}
