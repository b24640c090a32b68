"""Reads the text that `show` writes: `read_expr(show(e)) == e`, and so for statements and kernels.

Errors are HbcError with the place. Notes and comments are kept, source spans are not in the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Argument, Check, Gapless, Kernel, Size, Table
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.read_expr import FIELDS, element_type, expression, indices, listed, literal
from hbc.ir.lang.read_tokens import Cursor, tokens, unescape
from hbc.ir.lang.syntax import FORMS, Form, words
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
    if c.is_("let"):
        return _lets(c)
    return _formed(c, _form(c))


def _form(c: Cursor) -> Form:
    """Of those whose first word is the next one, the form whose words are; else the one of no such word."""
    begun = [form for form in FORMS if form.opening[:1] and c.is_(form.opening[0])]
    if not begun:
        return FORMS[-1]
    for form in begun:
        if all(t.text == w for t, w in zip(c.tokens[c.at :], form.opening, strict=False)):
            return form
    c.take()
    raise c.wrong(" or ".join(f"`{form.opening[1]}`" for form in begun))


def _formed(c: Cursor, form: Form) -> ir.Stmt:
    values = dict(form.fixed)
    for part in form.parts:
        for word in words(part.words):
            c.expect(word)
        if part.field:
            values[part.field] = _READ[part.kind](c)
    return form.of(**values)


def _group(c: Cursor) -> int:
    """The lanes that update one element together: none, all, or so many."""
    if not c.accept("warp"):
        return 0
    return c.number() if c.accept("by") else WARP


def _sums(c: Cursor) -> tuple[str, ...]:
    """The fragments that a wait or a fence is about."""
    names = [c.name()] if c.accept("of") else []
    while names and c.accept(","):
        names.append(c.name())
    return tuple(names)


def _marks(c: Cursor) -> ir.Marks:
    return ir.Marks(**{f.name: c.number() for f in fields(ir.Marks) if c.accept(f.name)})


def _swizzle(c: Cursor) -> ir.Swizzle | None:
    if not c.accept("swizzle"):
        return None
    unit = c.number()
    c.expect("of")
    swizzle = ir.Swizzle(unit, c.number())
    if c.accept("by"):
        lines = c.number()
        c.expect("of")
        swizzle = replace(swizzle, lines=lines, line=c.number())
    return swizzle


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
    shape = listed(c, Cursor.number)
    c.expect("=")
    values = listed(c, lambda c: literal(c, element).value)
    return Table(name, element, shape, values)


def _note(c: Cursor) -> str:
    return _string(c) if c.next.kind == "string" else ""


def _string(c: Cursor) -> str:
    if c.next.kind != "string":
        raise c.wrong("a text in quotes")
    return str(json.loads(c.take().text))


def _at_end(c: Cursor) -> None:
    if c.next.kind != "end":
        raise c.wrong("the end")


_READ: Final[dict[str, Callable[[Cursor], Any]]] = {
    **FIELDS,
    "Expr | None": lambda c: expression(c) if c.accept("if") else None,
    "Stmt": _body,
    "Stmt | None": lambda c: _body(c) if c.accept("else") else None,
    "str": Cursor.name,
    "first": Cursor.name,
    "tuple[str, ...]": _sums,
    "text": _string,
    "note": _note,
    "level": lambda c: c.number() if c.next.kind == "number" else 1,
    "async": lambda c: c.accept("async"),
    "warp": _group,
    "Op | None": lambda c: ir.Op(c.take().text) if c.accept("atomic") else None,
    "Marks": _marks,
    "Swizzle | None": _swizzle,
    "DType": element_type,
    "Memory": lambda c: Memory(c.name()),
    "BarrierScope": lambda c: ir.BarrierScope(c.name()),
    "FenceKind": lambda c: ir.FenceKind(c.name()),
}
"""How a field is read, by the kind of `syntax.Part`."""
