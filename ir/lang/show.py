"""The IR as text that `read` turns back into the same tree.

Literals and variables are `i64` unless they say so (`0.5:f32`, `n:i32`). `A.f32x16[i]` is a Load of
16 lanes, `A.f32(i, j)` an Access, `x16(v)` a Broadcast, `f32x16(v)` a Cast.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.fold import round_to
from hbc.ir.lang.kernel import Argument, Kernel, Size, Table
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.syntax import (
    COMPARISON_LEVEL,
    FORMS,
    NAMES,
    OPENINGS,
    PRECEDENCE,
    UNARY_LEVEL,
    Part,
    operands_of,
)
from hbc.ir.lang.types import CONDITION, INDEX, DType, Kind

RESERVED: Final = frozenset({"let", "in", "if", "else", "true", "false", "inf", "nan"})
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
INDENT: Final = "    "
MOST_NAMES: Final = 4096  # of which the text is remembered


def show(node: ir.Node) -> str:
    """The text of an expression (one line) or statement (lines without a final newline)."""
    if isinstance(node, ir.Stmt):
        return _statement(node, 0)
    return _expr(node, 0)


def show_kernel(kernel: Kernel) -> str:
    """The text of a whole kernel, with a final newline."""
    lines = [f"kernel {name_text(kernel.name)}"]
    lines += [_size(s) for s in kernel.sizes]
    lines += [_argument(a) for a in kernel.arguments]
    lines += [_table(t) for t in kernel.tables]
    lines += [f"instruction {name_text(i.name)}" for i in kernel.instructions]
    lines += [f"check {show(c.condition)}, {json.dumps(c.message)}" for c in kernel.checks]
    lines += [f"gapless {name_text(g.name)}, {g.dim}, {show(g.where)}" for g in kernel.gapless]
    return "\n".join([*lines, _braced(kernel.body, 0)]) + "\n"


@lru_cache(MOST_NAMES)
def name_text(name: str) -> str:
    """The name, in backquotes unless it is a plain identifier that means nothing else."""
    return name if IDENTIFIER.fullmatch(name) and name not in RESERVED else _quoted(name)


def _quoted(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`").replace("\n", "\\n") + "`"


def value_text(value: int | float | bool, element: DType) -> str:
    """The shortest text that rounds to the value in its type."""
    if element.kind is Kind.BOOL:
        return "true" if value else "false"
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    for digits in range(1, 17):
        text = f"{value:.{digits}g}"
        if round_to(float(text), element) == value:
            break
    else:
        text = repr(value)
    return text if re.search("[.e]", text) else text + ".0"


def _expr(e: ir.Expr, level: int) -> str:
    """`e`, in parentheses when it binds weaker than `level`."""
    match e:
        case ir.Const(value=int() as value, type=t) if t is INDEX:
            return str(value)
        case ir.Const(value=value, type=t):
            text = value_text(value, t.element)
            return text if t in (INDEX, CONDITION) else f"{text}:{t}"
        case ir.Var(name=name, type=t):
            return name_text(name) if t == INDEX else f"{name_text(name)}:{t}"
        case ir.Binary(op=op, a=a, b=b):
            if op not in PRECEDENCE:
                return f"{op}({_expr(a, 0)}, {_expr(b, 0)})"
            own = PRECEDENCE[op]
            left = own + 1 if own == COMPARISON_LEVEL else own
            return _wrap(f"{_expr(a, left)} {op} {_expr(b, own + 1)}", own < level)
        case ir.Unary(op=ir.UnaryOp.ABS, a=a):
            return f"abs({_expr(a, 0)})"
        case ir.Unary(op=uop, a=ir.Const() as a):
            return f"{uop}({_expr(a, 0)})"
        case ir.Unary(op=uop, a=a):
            return f"{uop}{_expr(a, UNARY_LEVEL)}"
        case ir.Cast(type=t, value=v):
            return f"{t}({_expr(v, 0)})"
        case ir.Access(array=name, indices=indices, type=t):
            return f"{name_text(name)}.{t}({_list(*indices)})"
        case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
            return f"{name_text(buffer)}.{t}{_place(index, mask)}"
        case ir.Call(name=fn, args=args, type=t):
            to = "" if args and args[0].type == t else f"<{t}>"
            return f"{fn}{to}({_list(*args)})"
        case ir.Tuple(items=items):
            return f"({_list(*items)})"
        case ir.Let(name=name, value=v, body=body):
            return _wrap(f"let {name_text(name)} = {_expr(v, 0)} in {_expr(body, 0)}", level > 0)
        case ir.Broadcast(value=v, lanes=lanes):
            return f"x{lanes}({_expr(v, 0)})"
        case ir.Move(source=source, target=target, value=v):
            return f"{source}_to_{target}({_expr(v, 0)})"
        case ir.Instruct(name=name, sizes=sizes, args=args, type=t):
            given = "".join(f",{size}={n}" for size, n in sizes)
            return f"instruct<{name}:{t}{given}>({_list(*args)})"
        case _:
            return _call(e)


def _call(e: ir.Expr) -> str:
    """A node of `CALLS`."""
    name = NAMES[type(e)]
    by = f"<{e.op}>" if isinstance(e, ir.VectorReduce) else ""
    values = (_WRITTEN[part.kind](getattr(e, part.field), 0) for part in operands_of(name))
    return f"{name}{by}({', '.join(values)})"


def _statement(s: ir.Stmt, depth: int) -> str:
    """The text of a statement, but for the indentation of its first line."""
    match s:
        case ir.Comment(text=text):
            escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
            return f"# {escaped}"
        case ir.Block(body=body):
            return _braces(body, depth)
        case ir.LetStmt():
            lets = []
            inner: ir.Stmt = s
            while isinstance(inner, ir.LetStmt):  # there may be thousands, one inside the other
                lets.append(f"let {name_text(inner.name)} = {show(inner.value)} in")
                inner = inner.body
            return _lines([*lets, _statement(inner, depth)], depth)
        case _:
            form = next(form for form in _FORMS[type(s)] if form.fits(s))
            return "".join(_part(part, s, depth) for part in form.parts)


def _part(part: Part, s: ir.Stmt, depth: int) -> str:
    if not part.field:
        return part.words
    return part.words + _WRITTEN[part.kind](getattr(s, part.field), depth)


def _lines(lines: Iterable[str], depth: int) -> str:
    return f"\n{INDENT * depth}".join(lines)


def _braced(body: ir.Stmt, depth: int) -> str:
    """A body in braces: one statement stands for itself, several or none are a Block."""
    inner = body.body if isinstance(body, ir.Block) and len(body.body) != 1 else (body,)
    return _braces(inner, depth)


def _braces(body: Sequence[ir.Stmt], depth: int) -> str:
    inner = _lines(["{", *(_statement(s, depth + 1) for s in body)], depth + 1)
    return f"{inner}\n{INDENT * depth}}}"


def _size(size: Size) -> str:
    fixed = "" if size.fixed is None else f" = {size.fixed}"
    return f"size {name_text(size.name)}{fixed}"


def _argument(a: Argument) -> str:
    kind = "output" if a.output else "input"
    if a.is_scalar:
        return f"{kind} {name_text(a.name)}: {a.element}"
    constant = " constant" if a.constant else ""
    aliases = f" aliases {name_text(a.aliases)}" if a.aliases else ""
    return f"{kind} {name_text(a.name)}: {a.element}[{_list(*a.extents)}]{constant}{aliases}"


def _table(t: Table) -> str:
    shape = ", ".join(map(str, t.shape))
    values = ", ".join(value_text(v, t.element) for v in t.values)
    return f"table {name_text(t.name)}: {t.element}[{shape}] = [{values}]"


def _list(*es: ir.Expr) -> str:
    return ", ".join(_expr(e, 0) for e in es)


def _place(index: ir.Expr, mask: ir.Expr | None) -> str:
    return f"[{_expr(index, 0)}]" if mask is None else f"[{_expr(index, 0)} if {_expr(mask, 0)}]"


def _marks(marks: ir.Marks) -> str:
    """Those that are not as without a word: ` stages 2`."""
    if marks is ir.NO_MARKS:
        return ""
    values = ((f.name, getattr(marks, f.name)) for f in fields(marks))
    return "".join(f" {k} {v}" for k, v in values if v != getattr(ir.NO_MARKS, k))


def _swizzle(s: ir.Swizzle | None) -> str:
    if s is None:
        return ""
    return f" swizzle {s.unit} of {s.row}" + (f" by {s.lines} of {s.line}" if s.line else "")


def _wrap(text: str, parentheses: bool) -> str:
    return f"({text})" if parentheses else text


_WRITTEN: Final[dict[str, Callable[[Any, int], str]]] = {
    "Expr": lambda e, _: _expr(e, 0),
    "Expr | None": lambda e, _: "" if e is None else f" if {_expr(e, 0)}",
    "tuple[Expr, ...]": lambda es, _: f"[{_list(*es)}]",
    "Stmt": _braced,
    "Stmt | None": lambda s, depth: "" if s is None else f" else {_braced(s, depth)}",
    "str": lambda name, _: name_text(name),
    "first": lambda name, _: _quoted(name) if name in OPENINGS else name_text(name),
    "tuple[str, ...]": lambda names, _: f" of {', '.join(map(name_text, names))}" if names else "",
    "text": lambda text, _: json.dumps(text),
    "note": lambda text, _: f" {json.dumps(text)}" if text else "",
    "int": lambda n, _: str(n),
    "tuple[int, ...]": lambda ns, _: f"[{', '.join(map(str, ns))}]",
    "level": lambda n, _: "" if n == 1 else f" {n}",
    "async": lambda asynchronous, _: "async " if asynchronous else "",
    "warp": lambda lanes, _: {0: "", WARP: "warp "}.get(lanes, f"warp by {lanes} "),
    "Op | None": lambda op, _: "" if op is None else f"atomic {op} ",
    "Marks": lambda marks, _: _marks(marks),
    "Swizzle | None": lambda swizzle, _: _swizzle(swizzle),
    **dict.fromkeys(("DType", "Memory", "BarrierScope", "FenceKind"), lambda word, _: str(word)),
}
"""How a field is written, by the kind of `syntax.Part`. What may be absent brings its space."""
_FORMS: Final = {
    of: [form for form in FORMS if form.of is of] for of in {form.of for form in FORMS}
}
