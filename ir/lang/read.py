"""Reads the text that `show` writes: `read_expr(show(e)) == e`, and so for statements and kernels.

Errors are HbcError with the place. Notes and comments are kept, source spans are not in the text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Argument, Check, Gapless, Kernel, Size, Table
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.read_expr import element_type, expression, indices, literal, place
from hbc.ir.lang.read_tokens import Cursor, tokens, unescape
from hbc.ir.lang.types import Memory


def read_expr(text: str) -> ir.Expr:
    """The expression that is the whole text."""
    c = tokens(text)
    e = expression(c)
    _at_end(c)
    return e


def read_stmt(text: str) -> ir.Stmt:
    """The statement that is the whole text."""
    c = tokens(text)
    s = _statement(c)
    _at_end(c)
    return s


def read_kernel(text: str, known: Sequence[Instruction] = ()) -> Kernel:
    """The kernel that is the whole text. `known` are the instructions that it may name."""
    c = tokens(text)
    c.expect("kernel")
    name = c.name()
    sizes: list[Size] = []
    arguments: list[Argument] = []
    tables: list[Table] = []
    checks: list[Check] = []
    used: list[Instruction] = []
    gapless: list[Gapless] = []
    while not c.is_("{"):
        if c.accept("size"):
            sizes.append(Size(c.name(), c.number() if c.accept("=") else None))
        elif c.is_("input", "output"):
            arguments.append(_argument(c))
        elif c.accept("table"):
            tables.append(_table(c))
        elif c.accept("instruction"):
            name_read = c.name()
            named = [i for i in known if i.name == name_read]
            if not named:
                raise c.wrong(f"a known instruction before this, not `{name_read}`")
            used.append(named[0])
        elif c.accept("check"):
            condition = expression(c)
            c.expect(",")
            checks.append(Check(condition, _string(c)))
        elif c.accept("gapless"):
            array = c.name()
            c.expect(",")
            dim = c.number()
            c.expect(",")
            gapless.append(Gapless(array, dim, expression(c)))
        else:
            raise c.wrong(
                "`size`, `input`, `output`, `table`, `instruction`, `check`, `gapless` or `{`"
            )
    body = _body(c)
    _at_end(c)
    parts = (tuple(sizes), tuple(arguments), tuple(tables), tuple(checks))
    return Kernel(name, *parts, body, tuple(used), gapless=tuple(gapless))


def _statement(c: Cursor) -> ir.Stmt:
    if c.next.kind == "comment":
        return ir.Comment(unescape(c.take().text[1:].removeprefix(" ")))
    if c.is_("{"):
        return _block(c)
    if c.is_(*ir.LoopKind):
        return _for(c)
    if c.is_("let"):
        return _lets(c)
    if c.accept("prefetch"):
        level = c.number() if c.next.kind == "number" else 1
        buffer = c.name()
        c.expect(".")
        element = element_type(c)
        return ir.Prefetch(buffer, place(c)[0], element, level)
    if c.accept("allocate"):
        return _allocate(c)
    if c.accept("if"):
        condition = expression(c)
        then = _body(c)
        return ir.If(condition, then, _body(c) if c.accept("else") else None)
    if c.accept("barrier"):
        return ir.Barrier(ir.BarrierScope(c.name()), _note(c))
    if c.accept("assert"):
        condition = expression(c)
        c.expect(",")
        return ir.Assert(condition, _string(c))
    if c.accept("leave"):
        loop = c.name()
        c.expect("if")
        return ir.Leave(loop, expression(c))
    if c.accept("fence"):
        return ir.Fence(ir.FenceKind(c.name()), _sums(c))
    if c.accept("bulk"):
        return _bulk(c)
    for word in ("copies", "products"):
        if c.accept(word):
            return _copies(c, products=word == "products")
    asynchronous = c.accept("async")
    warp = _group(c) if c.accept("warp") else 0
    atomic = ir.Op(c.take().text) if c.accept("atomic") else None
    buffer = c.name()
    index, mask = place(c)
    c.expect("=")
    return ir.Store(buffer, index, expression(c), mask, None, asynchronous, atomic, warp)


def _group(c: Cursor) -> int:
    """The lanes that update one element together: all, or so many."""
    return c.number() if c.accept("by") else WARP


def _copies(c: Cursor, products: bool) -> ir.Stmt:
    if c.accept("commit"):
        return ir.CopyCommit(products)
    c.expect("wait")
    return ir.CopyWait(c.number(), products, _sums(c))


def _bulk(c: Cursor) -> ir.Stmt:
    if c.accept("to"):
        signal = c.name()
        return ir.BulkGroup(signal, place(c)[0], _body(c))
    if c.accept("wait"):
        signal = c.name()
        slot, _ = place(c)
        c.expect("turn")
        return ir.BulkWait(signal, slot, expression(c))
    c.expect("copy")
    buffer = c.name()
    start, _ = place(c)
    c.expect("=")
    source = c.name()
    c.expect(".")
    element = element_type(c)
    lists = []
    for word in ("at", "needed", "of", "by", "box"):
        c.expect(word)
        c.expect("[")
        lists.append(indices(c, "]"))
    at, needed, extents, strides, box = lists
    sizes = tuple(int(e.value) for e in box if isinstance(e, ir.Const))
    otherwise = _body(c) if c.accept("else") else None
    return ir.BulkCopy(
        buffer, start, source, element, at, needed, extents, strides, sizes, otherwise
    )


def _sums(c: Cursor) -> tuple[str, ...]:
    """The fragments that a wait or a fence is about."""
    names = [c.name()] if c.accept("of") else []
    while names and c.accept(","):
        names.append(c.name())
    return tuple(names)


def _lets(c: Cursor) -> ir.Stmt:
    """`let a = x in let b = y in ..`: there may be thousands."""
    bindings: list[tuple[str, ir.Expr]] = []
    while c.accept("let"):
        name = c.name()
        c.expect("=")
        bindings.append((name, expression(c)))
        c.expect("in")
    body = _statement(c)
    for name, value in reversed(bindings):
        body = ir.LetStmt(name, value, body)
    return body


def _for(c: Cursor) -> ir.For:
    kind = ir.LoopKind(c.take().text)
    var = c.name()
    c.expect("from")
    start = expression(c)
    c.expect("count")
    extent = expression(c)
    marks = ir.Marks(**{f.name: c.number() for f in fields(ir.Marks) if c.accept(f.name)})
    note = _note(c)
    return ir.For(var, start, extent, kind, _body(c), note, None, marks)


def _allocate(c: Cursor) -> ir.Allocate:
    buffer = c.name()
    c.expect(":")
    element = element_type(c)
    extent, _ = place(c)
    c.expect("in")
    memory = Memory(c.name())
    swizzle = None
    if c.accept("swizzle"):
        unit = c.number()
        c.expect("of")
        swizzle = ir.Swizzle(unit, c.number())
        if c.accept("by"):
            lines = c.number()
            c.expect("of")
            swizzle = replace(swizzle, lines=lines, line=c.number())
    note = _note(c)
    return ir.Allocate(buffer, element, extent, memory, _body(c), note, None, swizzle)


def _block(c: Cursor) -> ir.Block:
    c.expect("{")
    statements: list[ir.Stmt] = []
    while not c.accept("}"):
        statements.append(_statement(c))
    return ir.Block(tuple(statements))


def _body(c: Cursor) -> ir.Stmt:
    """Statements in braces; one stands for itself."""
    inner = _block(c)
    return inner.body[0] if len(inner.body) == 1 else inner


def _argument(c: Cursor) -> Argument:
    output = c.take().text == "output"
    name = c.name()
    c.expect(":")
    element = element_type(c)
    extents = indices(c, "]") if c.accept("[") else ()
    constant = c.accept("constant")
    aliases = c.name() if c.accept("aliases") else ""
    return Argument(name, element, extents, output, constant=constant, aliases=aliases)


def _table(c: Cursor) -> Table:
    name = c.name()
    c.expect(":")
    element = element_type(c)
    c.expect("[")
    shape: list[int] = []
    while not c.accept("]"):
        if shape:
            c.expect(",")
        shape.append(c.number())
    c.expect("=")
    c.expect("[")
    values: list[int | float | bool] = []
    while not c.accept("]"):
        if values:
            c.expect(",")
        values.append(literal(c, element).value)
    return Table(name, element, tuple(shape), tuple(values))


def _note(c: Cursor) -> str:
    return _string(c) if c.next.kind == "string" else ""


def _string(c: Cursor) -> str:
    if c.next.kind != "string":
        raise c.wrong("a text in quotes")
    return str(json.loads(c.take().text))


def _at_end(c: Cursor) -> None:
    if c.next.kind != "end":
        raise c.wrong("the end")
