"""What the members of a tuple are: of one that is written, chosen by `select`, or under a `let` or a call."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.text import ast
from hbc.frontend.text.walk import nodes


def is_tuple(e: ast.Expr) -> bool:
    match e:
        case ast.Tuple():
            return True
        case ast.Call(name=ast.Ident(text="select"), args=(_, a, b)):
            return is_tuple(a) or is_tuple(b)
        case ast.Let(body=body) | ast.Inlined(body=body):
            return is_tuple(body)
        case _:
            return False


def items(e: ast.Expr, count: int, wrong: list[ast.Expr]) -> list[ast.Expr]:
    """The members, `count` of them; what has another number of values is added to `wrong`."""
    match e:
        case ast.Tuple(items=values) if len(values) == count:
            return list(values)
        case ast.Call(name=ast.Ident(text="select"), args=(c, a, b)):
            pairs = zip(items(a, count, wrong), items(b, count, wrong), strict=True)
            return [replace(e, args=(c, x, y)) for x, y in pairs]
        case ast.Inlined(body=body):
            return [replace(e, body=x) for x in items(body, count, wrong)]
        case ast.Let(name=name, body=body):
            inner = items(body, count, wrong)
            using = [x for x in inner if _reads(x, name.text)] or inner
            return [replace(e, body=x) if x in using else x for x in inner]
        case _:
            wrong.append(e)
            return [e] * count


def _reads(e: ast.Expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.text == name for n in nodes(e))
