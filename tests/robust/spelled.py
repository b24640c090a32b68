"""Text of a syntax tree, with brackets only where precedence asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from hbc.frontend.text import ast

_TOP = 0  # binds weaker than every operator: a `let`


def spelled(file: ast.File) -> str:
    """A program that parses to this tree."""
    return "".join(f"{_statement(s)}\n" for s in file.statements)


def _statement(s: ast.Statement) -> str:
    match s:
        case ast.Kernel(name=name):
            return f"kernel {name.text}"
        case ast.Sizes(names=names):
            return f"size {_names(names)}"
        case ast.Param(name=name, type=t, default=default):
            return f"param {name.text}: {t.text} = {expr(default)}"
        case ast.TypeParam(name=name, default=default_type):
            return f"type {name.text} = {default_type.text}"
        case ast.Input(name=name, type=t, extents=extents):
            return f"input {name.text}: {t.text}{_indices(extents)}"
        case ast.Output(name=name, type=t, extents=extents):
            return f"output {name.text}: {t.text}{_indices(extents)}"
        case ast.Require(condition=condition, message=message):
            return f"require {expr(condition)}" + (f', "{message}"' if message else "")
        case ast.Reduce(domains=domains):
            return f"reduce {', '.join(map(_domain, domains))}"
        case ast.Definition():
            return _definition(s)
        case ast.Schedule(name=name, targets=targets, lines=lines):
            body = "".join(f"    {_line(x)}\n" for x in lines or ())
            return f"schedule {name.text} for {_names(targets)} {{\n{body}}}"
        case _:
            raise AssertionError(f"no variant has a {type(s).__name__}")


def _definition(s: ast.Definition) -> str:
    declared = f": {s.type.text}" if s.type else ""
    where = f" where {expr(s.condition)}" if s.condition else ""
    return f"{s.name.text}{declared}{_indices(s.indices)} {s.op} {expr(s.value)}{where}"


def _line(x: ast.Line) -> str:
    return x.name.text + "".join(_step(s) for s in x.steps)


def _step(s: ast.Step) -> str:
    if s.args is None:
        return f".{s.name.text}"
    return f".{s.name.text}({', '.join(_argument(a) for a in s.args)})"


def _argument(a: ast.Expr | ast.Line | ast.Option) -> str:
    if isinstance(a, ast.Line):
        return _line(a)
    if isinstance(a, ast.Option):
        return f"{a.name.text} = {expr(a.value)}"
    return expr(a)


def expr(e: ast.Expr, least: int = _TOP) -> str:
    """The expression, in brackets where it binds weaker than `least`."""
    match e:
        case ast.Name(text=text):
            return text
        case ast.Number(value=value):
            return repr(value)
        case ast.Boolean(value=value):
            return "true" if value else "false"
        case ast.Text(value=value):
            return f'"{value}"'
        case ast.Access(name=name, indices=indices):
            return f"{name.text}{_indices(indices)}"
        case ast.Call(name=name, args=args):
            return f"{name.text}({', '.join(map(expr, args))})"
        case ast.EdgeAccess(name=name, args=args, indices=indices):
            return f"{name.text}({', '.join(map(expr, args))}){_indices(indices)}"
        case ast.Unary(op=op, a=a):
            binds = ast.PREFIX[op]
            return _bracketed(f"{op}{' ' if op == 'not' else ''}{expr(a, binds)}", binds, least)
        case ast.Binary(op=op, a=a, b=b):
            binds = ast.PRECEDENCE[op]
            first = binds + 1 if binds == ast.COMPARISON else binds
            return _bracketed(f"{expr(a, first)} {op} {expr(b, binds + 1)}", binds, least)
        case ast.MemberAccess(name=name, members=members, indices=indices):
            return f"{name.text}{_indices(members)}{_indices(indices)}"
        case ast.Reduction(name=name, over=over, term=term, condition=condition):
            along = ", ".join(_domain(o) if isinstance(o, ast.Domain) else expr(o) for o in over)
            where = "" if condition is None else f" where {expr(condition)}"
            return f"{name.text}({along}: {expr(term)}{where})"
        case ast.Inlined(body=body):
            return expr(body, least)
        case ast.Let(name=name, value=value, body=body):
            return _bracketed(f"let {name.text} = {expr(value)} in {expr(body)}", _TOP, least)
        case _:
            assert_never(e)


def _bracketed(text: str, binds: int, least: int) -> str:
    return f"({text})" if binds < least else text


def _domain(d: ast.Domain) -> str:
    return f"{d.name.text} in {_interval(d.interval)}"


def _interval(x: ast.Interval) -> str:
    return expr(x.stop) if x.start is None else f"{expr(x.start)} .. {expr(x.stop)}"


def _indices(es: Iterable[ast.Expr]) -> str:
    return f"[{', '.join(map(expr, es))}]"


def _names(idents: Iterable[ast.Ident]) -> str:
    return ", ".join(i.text for i in idents)
