"""Random well-typed expressions, as text; every access they make is inside its array."""

from __future__ import annotations

import re
from dataclasses import replace

from choices import chance, pick, weighted
from draft import Array, Env
from indices import data_index, indices, window
from library import library_call
from spans import constant

from hbc.ir.lang.types import BOOL, DType, Kind, widen

FLOAT_LITERALS = ("1.0", "0.5", "2.0", "-1.5", "0.1", "3.25", "1e-3", "100.0", "-0.0", "pi", "inf")
FUNCTIONS = ("sqrt", "floor", "exp", "exp2", "sin", "cos", "tanh", "log", "rsqrt", "ceil", "round")


def expression(env: Env, t: DType, depth: int) -> str:
    """An expression of element type `t`; never a bare literal."""
    if depth <= 0 or chance(env.c, 15):
        return leaf(env, t)
    if t == BOOL:
        return condition(env, depth)
    kinds = [(4, "arith"), (2, "extreme"), (2, "cast"), (2, "select"), (1, "let"), (1, "unary")]
    kinds += [(2, "math")] if t.is_float else [(2, "bits"), (2, "divide")]
    kinds += [(1, "place")] if env.variables else []
    kinds += [(1, "power"), (1, "call"), (1, "sum"), (3, "library")]
    kind = weighted(env.c, kinds)
    if kind == "call":
        return (stencil if chance(env.c, 40) else call)(env, t, depth)
    if kind == "sum":
        return reduction(env, t, depth)
    if kind == "library":
        return library_call(env, t, depth, expression)
    if kind == "place":
        return named_place(env, t, depth)
    if kind == "cast":
        source = pick(env.c, env.draft.palette)
        inner = expression(env, source, depth - 1)
        return f"{t}({inner})" if source != t else inner
    a = expression(env, t, depth - 1)
    match kind:
        case "arith":
            return f"({a} {pick(env.c, ('+', '-', '*'))} {operand(env, t, depth - 1)})"
        case "extreme":
            if chance(env.c, 20):
                return f"clamp({a}, {literal(env, t)}, {operand(env, t, depth - 1)})"
            return f"{pick(env.c, ('min', 'max'))}({a}, {operand(env, t, depth - 1)})"
        case "select":
            return f"select({condition(env, depth - 1)}, {a}, {operand(env, t, depth - 1)})"
        case "let":
            name = env.draft.fresh("t")
            env.locals.append((name, t))
            body = expression(env, t, depth - 1)
            env.locals.pop()
            return f"(let {name} = {a} in ({body} + {name}))"
        case "unary":
            if t.is_int and chance(env.c, 30):
                return f"(~{a})"
            return f"abs({a})" if chance(env.c, 50) else f"(-{a})"
        case "math":
            return f"{pick(env.c, FUNCTIONS)}({a})"
        case "power":
            return f"({a} ** {exponent(env, t, depth - 1)})"
        case "bits":
            return f"({a} {pick(env.c, ('&', '|', '^', '<<', '>>'))} {operand(env, t, depth - 1)})"
        case _:
            return f"({a} {pick(env.c, ('/', '%'))} {divisor(env, t, depth - 1)})"


def named_place(env: Env, t: DType, depth: int) -> str:
    """A value that names an index, or part of one."""
    found = data_index(env) if chance(env.c, 50) else None
    if found is None:
        v = pick(env.c, list(env.variables))
        found = v, env.variables[v]
    name = env.draft.fresh("q")
    env.named.append((name, found[1]))
    body = expression(env, t, depth - 1)
    env.named.pop()
    return f"(let {name} = {found[0]} in {body})"


def call(env: Env, t: DType, depth: int) -> str:
    """A function of values: one that is there, or a new one. Its parameters are called as variables of the
    program are, now and then; it sees no variable of its callers."""
    c = env.c
    known = [(name, count) for name, u, count in env.draft.functions if u == t]
    if known and chance(c, 50):
        name, count = pick(c, known)
    else:
        name, names = env.draft.fresh("d"), pick(c, (("a", "b"), ("x", "y"), ("k",)))
        inner = Env(env.draft, {}, [], {}, [(n, t) for n in names])
        body = expression(inner, t, min(depth, 2))
        body = "".join((body, *(f" + {n}" for n in names if not re.search(rf"\b{n}\b", body))))
        count = len(names)
        env.draft.declarations.append(f"def {name}({', '.join(names)}) = {body}")
        env.draft.functions.append((name, t, count))
    return f"{name}({', '.join(expression(env, t, depth - 1) for _ in range(count))})"


def stencil(env: Env, t: DType, depth: int) -> str:
    """A function that stands for a Func: two elements of what is given it, side by side."""
    c = env.c
    arrays = [a for a in env.readable if a.element == t and a.kind != "table"]
    if not arrays or not env.variables:
        return call(env, t, depth)
    a = pick(c, arrays)
    by = [c.integer(0, 2) for _ in range(a.rank)]
    name, own = (
        env.draft.fresh("s"),
        (("x", "y", "z") if chance(c, 50) else ("u", "v", "w"))[: a.rank],
    )
    there = ", ".join(f"{v} + {n}" if n else v for v, n in zip(own, by, strict=True))
    one, other = f"f[{', '.join(own)}]", f"f[{there}]"
    whole = pick(c, (f"max({one}, {other})", f"({one} + {other})", f"({other} - {one})"))
    env.draft.declarations.append(f"def {name}(f)[{', '.join(own)}] = {whole}")
    return f"{name}({a.name})[{', '.join(window(env, a, by))}]"


def reduction(env: Env, t: DType, depth: int) -> str:
    """A reduction in an expression, over an interval of its own."""
    c = env.c
    name, n = env.draft.fresh("q"), c.integer(1, 4)
    start = c.integer(0, 1)
    own = {**env.variables, name: constant(start, n - 1 + start)}
    inner = replace(env, variables=own, reads={})
    term = expression(inner, t, depth - 1)
    where = f" where {condition(inner, 0)}" if chance(c, 30) else ""
    env.draft.apart |= inner.reads.keys()
    word = pick(c, ("sum", "max", "min", "product"))
    return f"{word}({name} in {start} .. {n + start}: {term}{where})"


def operand(env: Env, t: DType, depth: int) -> str:
    """The right-hand side of an operator: a bare literal takes the type of the left, and what is
    narrower than the left is widened."""
    narrower = [u for u in env.draft.palette if u not in (t, BOOL) and widen(u, t) == t]
    if narrower and chance(env.c, 20):
        return expression(env, pick(env.c, narrower), depth)
    return literal(env, t) if chance(env.c, 25) else expression(env, t, depth)


def divisor(env: Env, t: DType, depth: int) -> str:
    return pick(env.c, ("3", "2", "7", "16")) if chance(env.c, 60) else expression(env, t, depth)


def exponent(env: Env, t: DType, depth: int) -> str:
    """A whole number, or one that need not be."""
    if t.is_int:
        return pick(env.c, ("2", "3", "1", "0", "5", "62"))
    if t.bits == 64 or chance(env.c, 60):
        return pick(env.c, ("2", "3", "1", "0", "-1", "-2", "7", "2.0", "0.5"))
    return pick(env.c, ("1.5", "-0.5", "2.4")) if chance(env.c, 50) else expression(env, t, depth)


def condition(env: Env, depth: int) -> str:
    """An expression of type bool."""
    kinds = (3, "index"), (4, "compare"), (2, "combine"), (1, "not"), (1, "let"), (1, "read")
    match weighted(env.c, kinds):
        case "index":
            return index_condition(env)
        case "compare":
            t = pick(env.c, [t for t in env.draft.palette if t != BOOL])
            op = pick(env.c, ("<", "<=", ">", ">=", "==", "!="))
            return f"({expression(env, t, depth - 1)} {op} {operand(env, t, depth - 1)})"
        case "combine" if depth > 0:
            op = pick(env.c, ("and", "or"))
            return f"({condition(env, depth - 1)} {op} {condition(env, depth - 1)})"
        case "let":
            return named_condition(env, depth)
        case "not" if depth > 0:
            return f"(not {condition(env, depth - 1)})"
        case _:
            if any(a.element == BOOL for a in env.readable):
                return leaf(env, BOOL)
            return index_condition(env)


def named_condition(env: Env, depth: int) -> str:
    """A condition on a value that has a name, or on the name of an index."""
    if env.variables and chance(env.c, 50):
        name, v = env.draft.fresh("q"), pick(env.c, list(env.variables))
        return f"(let {name} = {v} % {env.c.integer(2, 4)} in {name} {pick(env.c, ('==', '>'))} 1)"
    t = pick(env.c, [t for t in env.draft.palette if t != BOOL])
    name, value = env.draft.fresh("t"), expression(env, t, depth - 1)
    return f"(let {name} = {value} in {name} {pick(env.c, ('<', '>=', '!='))} {operand(env, t, 0)})"


def index_condition(env: Env) -> str:
    if not env.variables:
        return "true"
    v = pick(env.c, list(env.variables))
    match env.c.integer(0, 2):
        case 0:
            return f"({v} {pick(env.c, ('<', '>', '>='))} {env.c.integer(0, 4)})"
        case 1:
            return f"({v} % {env.c.integer(2, 3)} == {env.c.integer(0, 1)})"
        case _:
            other = pick(env.c, [*env.variables, *env.draft.sizes])
            return f"({v} + {env.c.integer(0, 3)} <= {other})"


def leaf(env: Env, t: DType) -> str:
    """A read, converted if need be; a local, an index or a literal."""
    own = [name for name, u in env.locals if u == t]
    if own and chance(env.c, 40):
        return pick(env.c, own)
    same = [a for a in env.readable if a.element == t]
    what = weighted(env.c, ((6, "same"), (3, "other"), (1, "index"), (1, "literal")))
    if what == "same" and same:
        return read(env, pick(env.c, same))
    if t == BOOL:
        return index_condition(env)
    if what in ("same", "other") and env.readable:
        a = pick(env.c, env.readable)
        return read(env, a) if a.element == t else f"{t}({read(env, a)})"
    params = [name for name, u in env.draft.params.items() if u == t]
    if what == "literal" and params:
        return pick(env.c, params)
    if what == "index" and env.variables:
        return f"{t}({pick(env.c, list(env.variables))})"
    return f"{t}({literal(env, t)})"


def read(env: Env, a: Array) -> str:
    """An access at indices inside; records what it needs."""
    return f"{a.name}[{', '.join(indices(env, a))}]"


def literal(env: Env, t: DType) -> str:
    """A literal that `t` can hold."""
    if t.is_float:
        return pick(env.c, FLOAT_LITERALS)
    if t.kind is Kind.BOOL:
        return pick(env.c, ("false", "true"))
    if chance(env.c, 10):
        return str(pick(env.c, t.limits))
    return str(env.c.integer(0 if t.kind is Kind.UINT else -3, 10))
