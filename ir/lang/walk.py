"""Children, rebuilding, substitution and free variables: the only traversals of the IR.

A rewrite that changes nothing returns the same object, so passes can test `is`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar, assert_never

from hbc.ir.lang import nodes as ir

N = TypeVar("N")
ExprMap = Callable[[ir.Expr], ir.Expr]
StmtMap = Callable[[ir.Stmt], ir.Stmt]


def map_children(e: ir.Expr, f: ExprMap) -> ir.Expr:
    """`e` with `f` applied to each direct child expression."""
    match e:
        case ir.Binary(op=op, a=a, b=b):  # most nodes are of the first kinds
            x, y = f(a), f(b)
            return e if x is a and y is b else ir.Binary(op, x, y, e.span)
        case ir.Const() | ir.Var():
            return e
        case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
            i = f(index)
            m = None if mask is None else f(mask)
            if i is index and m is mask:
                return e
            return ir.Load(buffer, i, t.with_lanes(i.type.lanes), m, e.span)
        case ir.Broadcast(value=v, lanes=lanes):
            w = f(v)
            return e if w is v else ir.Broadcast(w, lanes, e.span)
        case ir.Ramp(base=base, stride=stride, lanes=lanes):
            x, y = f(base), f(stride)
            return e if x is base and y is stride else ir.Ramp(x, y, lanes, e.span)
        case ir.Cast(type=t, value=v):
            w = f(v)
            return e if w is v else ir.Cast(t.with_lanes(w.type.lanes), w, e.span)
        case ir.Unary(op=uop, a=a):
            x = f(a)
            return e if x is a else ir.Unary(uop, x, e.span)
        case ir.Select(condition=c, a=a, b=b):
            z, x, y = f(c), f(a), f(b)
            return e if z is c and x is a and y is b else ir.Select(z, x, y, e.span)
        case ir.Access(name=name, indices=indices, type=t):
            new = _map_all(indices, f)
            return e if new is indices else ir.Access(name, new, t, e.span)
        case ir.Call(name=fn, args=args, type=t):
            new = _map_all(args, f)
            return e if new is args else ir.Call(fn, new, t.with_lanes(new[0].type.lanes), e.span)
        case ir.VectorReduce(op=op, value=v, lanes=lanes):
            w = f(v)
            return e if w is v else ir.VectorReduce(op, w, lanes, e.span)
        case ir.Gather(value=v, lanes=picks):
            w = f(v)
            return e if w is v else ir.Gather(w, picks, e.span)
        case ir.Let(name=name, value=v, body=body):
            w, b = f(v), f(body)
            return e if w is v and b is body else ir.Let(name, w, b, e.span)
        case ir.Move(source=s, target=t2, value=v):
            w = f(v)
            return e if w is v else ir.Move(s, t2, w, e.span)
        case ir.Instruct(name=name, sizes=sizes, args=args, type=t):
            new = _map_all(args, f)
            return e if new is args else ir.Instruct(name, sizes, new, t, e.span)
        case _:
            assert_never(e)


def map_stmt(s: ir.Stmt, on_expr: ExprMap, on_stmt: StmtMap) -> ir.Stmt:
    """`s` with `on_expr` applied to its own expressions and `on_stmt` to its direct children."""
    match s:
        case ir.Comment() | ir.Barrier() | ir.CopyCommit() | ir.CopyWait():
            return s
        case ir.Store(buffer=buffer, index=index, value=value, mask=mask):
            i, v = on_expr(index), on_expr(value)
            m = None if mask is None else on_expr(mask)
            same = i is index and v is value and m is mask
            return (
                s if same else ir.Store(buffer, i, v, m, s.span, s.asynchronous, s.atomic, s.warp)
            )
        case ir.Prefetch(buffer=buffer, index=index, element=element, level=level):
            i = on_expr(index)
            return s if i is index else ir.Prefetch(buffer, i, element, level, s.span)
        case ir.For(var=var, start=start, extent=extent, kind=kind, body=body):
            x, y, b = on_expr(start), on_expr(extent), on_stmt(body)
            if x is start and y is extent and b is body:
                return s
            return ir.For(var, x, y, kind, b, s.note, s.span, s.stages, s.resident, s.at_once)
        case ir.Block(body=stmts):
            new = tuple(on_stmt(c) for c in stmts)
            return s if all(a is b for a, b in zip(new, stmts, strict=True)) else block(*new)
        case ir.LetStmt(name=name, value=value, body=body):
            v, b = on_expr(value), on_stmt(body)
            return s if v is value and b is body else ir.LetStmt(name, v, b, s.span)
        case ir.Allocate(buffer=buffer, element=element, extent=extent, memory=memory, body=body):
            x, b = on_expr(extent), on_stmt(body)
            if x is extent and b is body:
                return s
            return ir.Allocate(buffer, element, x, memory, b, s.note, s.span, s.swizzle)
        case ir.If(condition=c, then=then, otherwise=other):
            z, t = on_expr(c), on_stmt(then)
            o = None if other is None else on_stmt(other)
            return s if z is c and t is then and o is other else ir.If(z, t, o, s.span)
        case ir.Assert(condition=c, message=message):
            z = on_expr(c)
            return s if z is c else ir.Assert(z, message, s.span)
        case _:
            assert_never(s)


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
    """Bottom-up: `f` on every node, children first."""

    def below(c: ir.Expr) -> ir.Expr:
        return f(map_children(c, below))

    return below(e)


def rewrite_stmt(s: ir.Stmt, on_expr: ExprMap) -> ir.Stmt:
    """`s` with `on_expr` applied to every whole expression in it (not to their sub-expressions)."""
    return map_stmt(s, on_expr, lambda c: rewrite_stmt(c, on_expr))


def children(n: ir.Node) -> tuple[ir.Node, ...]:
    """The direct children, expressions before statements, in reading order."""
    return _CHILDREN[n.__class__](n)


def operands(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """The direct children of an expression."""
    return _OPERANDS[e.__class__](e)


def nodes(n: ir.Node) -> Iterator[ir.Node]:
    """The node and all below it, parents first, in reading order; without recursion."""
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        yield top
        if below := _CHILDREN[top.__class__](top):
            stack.extend(below[::-1])


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
        else:
            stack += _CHILDREN[top.__class__](top)
    return False


def reads(n: ir.Node, buffer: str) -> bool:
    """Whether the buffer is loaded from, or fetched ahead."""
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if (top.__class__ is ir.Load or top.__class__ is ir.Prefetch) and top.buffer == buffer:
            return True
        stack += _CHILDREN[top.__class__](top)
    return False


def statements(s: ir.Stmt) -> Iterator[ir.Stmt]:
    """The statement and all below it, parents first, in reading order; no expressions."""
    stack = [s]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(inner_statements(top)[::-1])


def inner_statements(s: ir.Stmt) -> tuple[ir.Stmt, ...]:
    """The direct children that are statements."""
    inner = _INNER.get(s.__class__)
    return () if inner is None else inner(s)


def own_expressions(s: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The direct children that are expressions."""
    own = _OWN.get(s.__class__)
    return () if own is None else own(s)


def names_read(n: ir.Node) -> set[str]:
    """The names of all variables that occur, also of those that are bound inside."""
    found: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        if top.__class__ is ir.Var:
            found.add(top.name)
        else:
            stack.extend(_CHILDREN[top.__class__](top))
    return found


def substitute(e: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """`e` with free variables replaced. Names bound inside must not occur free in the values."""

    def below(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var(name=name):
                return values.get(name, e)
            case ir.Let(name=name, value=v, body=body) if name in values:
                inner = {k: x for k, x in values.items() if k != name}
                w, b = below(v), substitute(body, inner)
                return e if w is v and b is body else ir.Let(name, w, b, e.span)
            case _:
                return map_children(e, below)

    return below(e) if values else e


def substitute_stmt(s: ir.Stmt, values: Mapping[str, ir.Expr]) -> ir.Stmt:
    """`s` with free variables replaced."""
    if not values:
        return s
    match s:
        case ir.For(var=name) | ir.LetStmt(name=name) if name in values:
            inner = {k: x for k, x in values.items() if k != name}
            return map_stmt(s, lambda e: substitute(e, values), lambda c: substitute_stmt(c, inner))
        case _:
            return map_stmt(
                s, lambda e: substitute(e, values), lambda c: substitute_stmt(c, values)
            )


def all_names(n: ir.Node) -> set[str]:
    """The names of all variables and buffers that are read, written or bound."""
    found: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        top = stack.pop()
        named = _NAMED.get(top.__class__)
        if named is not None:
            found.add(getattr(top, named))
        stack += _CHILDREN[top.__class__](top)
    return found


def free_variables(n: ir.Node) -> frozenset[str]:
    """Names read but not bound inside."""
    found: set[str] = set()
    stack: list[ir.Node] = [n]
    while stack:
        match stack.pop():
            case ir.Var(name=name):
                found.add(name)
            case ir.Let(name=name, value=v, body=body) | ir.LetStmt(name=name, value=v, body=body):
                stack.append(v)
                found |= free_variables(body) - {name}
            case ir.For(var=name, start=start, extent=extent, body=body):
                stack += (start, extent)
                found |= free_variables(body) - {name}
            case top:
                stack += _CHILDREN[top.__class__](top)
    return frozenset(found)


def _if_any(n: N | None) -> tuple[N, ...]:
    return () if n is None else (n,)


# Tables, since passes ask for children millions of times: a third of the time of a `match`.
_OPERANDS: Final[Mapping[type, Callable[[Any], tuple[ir.Expr, ...]]]] = {
    ir.Const: lambda e: (),
    ir.Var: lambda e: (),
    ir.Cast: lambda e: (e.value,),
    ir.Binary: lambda e: (e.a, e.b),
    ir.Unary: lambda e: (e.a,),
    ir.Select: lambda e: (e.condition, e.a, e.b),
    ir.Access: lambda e: e.indices,
    ir.Load: lambda e: (e.index,) if e.mask is None else (e.index, e.mask),
    ir.Call: lambda e: e.args,
    ir.Ramp: lambda e: (e.base, e.stride),
    ir.Broadcast: lambda e: (e.value,),
    ir.VectorReduce: lambda e: (e.value,),
    ir.Gather: lambda e: (e.value,),
    ir.Let: lambda e: (e.value, e.body),
    ir.Move: lambda e: (e.value,),
    ir.Instruct: lambda e: e.args,
}
_OWN: Final[Mapping[type, Callable[[Any], tuple[ir.Expr, ...]]]] = {
    ir.Store: lambda s: (s.index, s.value) if s.mask is None else (s.index, s.value, s.mask),
    ir.Prefetch: lambda s: (s.index,),
    ir.For: lambda s: (s.start, s.extent),
    ir.LetStmt: lambda s: (s.value,),
    ir.Allocate: lambda s: (s.extent,),
    ir.If: lambda s: (s.condition,),
    ir.Assert: lambda s: (s.condition,),
}
_INNER: Final[Mapping[type, Callable[[Any], tuple[ir.Stmt, ...]]]] = {
    ir.For: lambda s: (s.body,),
    ir.Block: lambda s: s.body,
    ir.LetStmt: lambda s: (s.body,),
    ir.Allocate: lambda s: (s.body,),
    ir.If: lambda s: (s.then, *_if_any(s.otherwise)),
}
_CHILDREN: Final[Mapping[type, Callable[[Any], tuple[ir.Node, ...]]]] = {
    **_OPERANDS,
    **_OWN,
    ir.For: lambda s: (s.start, s.extent, s.body),
    ir.Block: lambda s: s.body,
    ir.LetStmt: lambda s: (s.value, s.body),
    ir.Allocate: lambda s: (s.extent, s.body),
    ir.If: lambda s: (s.condition, s.then, *_if_any(s.otherwise)),
    ir.Barrier: lambda s: (),
    ir.CopyCommit: lambda s: (),
    ir.CopyWait: lambda s: (),
    ir.Comment: lambda s: (),
}


def _map_all(es: tuple[ir.Expr, ...], f: ExprMap) -> tuple[ir.Expr, ...]:
    new = tuple(f(e) for e in es)
    return es if all(a is b for a, b in zip(new, es, strict=True)) else new


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
