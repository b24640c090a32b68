"""The IR as text that `read` turns back into the same tree.

Literals and variables are `i64` unless they say so (`0.5:f32`, `n:i32`). `A.f32x16[i]` is a Load of
16 lanes, `A.f32(i, j)` an Access, `x16(v)` a Broadcast, `f32x16(v)` a Cast.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from functools import lru_cache
from typing import Final, assert_never

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.fold import round_to
from hbc.ir.lang.kernel import Argument, Kernel, Size, Table
from hbc.ir.lang.launches import WARP
from hbc.ir.lang.syntax import CALLS, COMPARISON_LEVEL, NAMES, PRECEDENCE, UNARY_LEVEL
from hbc.ir.lang.types import CONDITION, INDEX, DType, Kind

RESERVED: Final = frozenset({"let", "in", "if", "else", "true", "false", "inf", "nan"})
STATEMENTS: Final = frozenset(
    {
        *ir.LoopKind,
        "prefetch",
        "allocate",
        "assert",
        "barrier",
        "async",
        "atomic",
        "warp",
        "copies",
        "bulk",
    }
)
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_NAMES: Final = 4096  # of which the text is remembered


def show(node: ir.Node) -> str:
    """The text of an expression (one line) or statement (lines without a final newline)."""
    if isinstance(node, ir.Stmt):
        return "\n".join(_lines(node, 0))
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
    return "\n".join([*lines, *_braced("", kernel.body, 0)]) + "\n"


@lru_cache(MOST_NAMES)
def name_text(name: str) -> str:
    """The name, in backquotes unless it is a plain identifier that means nothing else."""
    if IDENTIFIER.fullmatch(name) and name not in RESERVED and name not in STATEMENTS:
        return name
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
    fields = (getattr(e, field) for field in CALLS[name][1])
    by = f"<{e.op}>" if isinstance(e, ir.VectorReduce) else ""
    return f"{name}{by}({', '.join(map(_field, fields))})"


def _field(value: ir.Expr | int | tuple[int, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value) if isinstance(value, int) else _expr(value, 0)


def _group(lanes: int) -> str:
    """That so many lanes of a warp do it together."""
    return {0: "", WARP: "warp "}.get(lanes, f"warp by {lanes} ")


def _sums(names: tuple[str, ...]) -> str:
    """The fragments that it is about."""
    return f" of {', '.join(map(name_text, names))}" if names else ""


def _lines(s: ir.Stmt, depth: int) -> list[str]:
    pad = "    " * depth
    match s:
        case ir.Comment(text=text):
            escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
            return [f"{pad}# {escaped}"]
        case ir.Barrier(scope=scope, note=note):
            return [f"{pad}barrier {scope}{_note(note)}"]
        case ir.CopyCommit(products=products):
            return [f"{pad}{'products' if products else 'copies'} commit"]
        case ir.CopyWait(most=most, products=products):
            return [f"{pad}{'products' if products else 'copies'} wait {most}{_sums(s.sums)}"]
        case ir.Fence(kind=fence, sums=sums):
            return [f"{pad}fence {fence}{_sums(sums)}"]
        case ir.BulkCopy():
            return _bulk_copy(s, depth)
        case ir.BulkGroup(signal=signal, slot=slot, body=body):
            return _braced(f"bulk to {name_text(signal)}[{show(slot)}]", body, depth)
        case ir.BulkWait(signal=signal, slot=slot, turn=turn):
            return [f"{pad}bulk wait {name_text(signal)}[{show(slot)}] turn {show(turn)}"]
        case ir.Store(buffer=buffer, index=index, value=value, mask=mask):
            pad += "async " if s.asynchronous else ""
            pad += _group(s.warp)
            pad += "" if s.atomic is None else f"atomic {s.atomic} "
            return [f"{pad}{name_text(buffer)}{_place(index, mask)} = {show(value)}"]
        case ir.Prefetch(buffer=buffer, index=index, element=element, level=level):
            into = "" if level == 1 else f" {level}"
            return [f"{pad}prefetch{into} {name_text(buffer)}.{element}{_place(index, None)}"]
        case ir.For(var=var, start=start, extent=extent, kind=kind, body=body, note=note):
            head = f"{kind} {name_text(var)} from {show(start)} count {show(extent)}"
            return _braced(head + _marks(s.marks) + _note(note), body, depth)
        case ir.Block(body=stmts):
            return [f"{pad}{{", *(x for c in stmts for x in _lines(c, depth + 1)), f"{pad}}}"]
        case ir.LetStmt():
            lets = []
            inner: ir.Stmt = s
            while isinstance(inner, ir.LetStmt):  # there may be thousands, one inside the other
                lets.append(f"{pad}let {name_text(inner.name)} = {show(inner.value)} in")
                inner = inner.body
            return [*lets, *_lines(inner, depth)]
        case ir.Allocate(buffer=buffer, element=element, extent=extent, memory=memory, body=body):
            head = f"allocate {name_text(buffer)}: {element}[{show(extent)}] in {memory}"
            if s.swizzle is not None:
                head += f" swizzle {s.swizzle.unit} of {s.swizzle.row}"
            if s.swizzle is not None and s.swizzle.line:
                head += f" by {s.swizzle.lines} of {s.swizzle.line}"
            return _braced(head + _note(s.note), body, depth)
        case ir.If(condition=c, then=then, otherwise=other):
            first = _braced(f"if {show(c)}", then, depth)
            if other is None:
                return first
            second = _braced("else", other, depth)
            return [*first[:-1], f"{pad}}} {second[0].lstrip()}", *second[1:]]
        case ir.Assert(condition=c, message=message):
            return [f"{pad}assert {show(c)}, {json.dumps(message)}"]
        case ir.Leave(loop=loop, condition=c):
            return [f"{pad}leave {loop} if {show(c)}"]
        case _:
            assert_never(s)


def _bulk_copy(s: ir.BulkCopy, depth: int) -> list[str]:
    to = f"{name_text(s.buffer)}[{show(s.start)}]"
    lists = (("at", s.at), ("needed", s.needed), ("of", s.extents), ("by", s.strides))
    parts = "".join(f" {word} [{_list(*es)}]" for word, es in lists)
    box = ", ".join(map(str, s.box))
    line = f"bulk copy {to} = {name_text(s.source)}.{s.element}{parts} box [{box}]"
    if s.otherwise is None:
        return [f"{'    ' * depth}{line}"]
    return _braced(f"{line} else", s.otherwise, depth)


def _braced(head: str, body: ir.Stmt, depth: int) -> list[str]:
    """A body in braces: one statement stands for itself, several or none are a Block."""
    pad = "    " * depth
    inner = body.body if isinstance(body, ir.Block) and len(body.body) != 1 else (body,)
    opening = f"{head} {{" if head else "{"
    return [pad + opening, *(x for c in inner for x in _lines(c, depth + 1)), pad + "}"]


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


def _note(note: str) -> str:
    return f" {json.dumps(note)}" if note else ""


def _wrap(text: str, parentheses: bool) -> str:
    return f"({text})" if parentheses else text
