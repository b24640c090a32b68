"""Random index expressions: shifted, strided, halved, reversed, clamped, data-dependent."""

from __future__ import annotations

from collections.abc import Sequence

from choices import chance, pick, weighted
from draft import Array, Env
from spans import Span, below, constant, only_constant, plus, text

from hbc.ir.lang.types import BOOL, I8, I16, I32, U8, U16, U32, Kind

OF_FLOATS = ("{} * 4", "{}", "abs({}) + 0.5", "round({})", "{} - {}")
OF_INTEGERS = ("{}", "{} * 3", "{} / 3", "{} + {}", "~{}", "-{}", "{} & 7", "{} << 1", "max({}, 1)")
OTHERS = (U8, I8, I16, U16, I32, U32)  # that an index goes through on its way to i64
MOST_STRIDE = 4  # what chains of strided reads may multiply an extent with


def indices(env: Env, a: Array) -> list[str]:
    """One index for each dimension of `a`, inside it; what they cover is added to its needs."""
    if a.kind == "table":
        note(env, a, None)
        return [within(env, n) for n in a.shape]
    base = env.draft.arrays.get(env.draft.aliases.get(a.name, a.name), a)
    found = [one_index(env, a, d) for d in range(a.rank)]
    if a.helper:
        note(env, base, None)
        if base.needed is None:
            base.need([constant(0, 0)] * a.rank)
        return [index for index, _, _ in found]
    a.need([span for _, span, _ in found])
    variables = [v for _, _, v in found]
    known = all(variables) and len(set(variables)) == len(variables)
    note(env, a, tuple(variables) if known else None)
    return [index for index, _, _ in found]


def window(env: Env, a: Array, ahead: Sequence[int]) -> list[str]:
    """An index for each dimension, where as many elements as said ahead of it are read as well."""
    base = env.draft.arrays.get(env.draft.aliases.get(a.name, a.name), a)
    found = [plain_index(env, d, bool(a.helper) or a.kind == "func") for d in range(a.rank)]
    note(env, a, None)
    if not a.helper:
        a.need([s.hull(s.shifted(n)) for (_, s), n in zip(found, ahead, strict=True)])
    elif base.needed is None:
        base.need([constant(0, 0)] * a.rank)
    return [index for index, _ in found]


def note(env: Env, a: Array, variables: tuple[str, ...] | None) -> None:
    env.reads.setdefault(a.name, []).append(variables)


def one_index(env: Env, a: Array, d: int) -> tuple[str, Span, str]:
    """The index, its range, and the variable it follows ("" for none)."""
    c = env.c
    if not env.variables:
        return "0", constant(0, 0), ""
    names = list(env.variables)
    v = names[min(d, len(names) - 1)] if chance(c, 80) else pick(c, names)
    span = env.variables[v]
    free = bool(a.helper) or a.kind == "func"
    kind = weighted(
        c,
        (
            (10, "shift"), (2, "stride"), (2, "half"), (2, "sum"), (1, "constant"), (1, "clamp"),
            (1, "reverse"), (1, "mod"), (1, "mix"), (2, "data"), (1, "let"),
        ),
    )  # fmt: skip
    match kind:
        case "stride" if max(span.high.values(), default=0) <= MOST_STRIDE:
            by = c.integer(2, 3)
            return offset(env, f"{by} * {v}", span.scaled(by), v, free)
        case "half" if span.low >= 0:
            by = c.integer(2, 3)
            return f"{v} / {by}", span.halved(by), v
        case "sum":
            other = pick(c, names)
            total = span.added(env.variables[other])
            if max(total.high.values(), default=0) <= MOST_STRIDE:
                return offset(env, f"{v} + {other}", total, v, free)
        case "constant":
            at = c.integer(0, 3)
            return str(at), constant(at, at), ""
        case "mod":
            by = c.integer(2, 5)
            return f"{v} % {by}", constant(0, by - 1), v
        case "clamp":
            extent = below({env.draft.sizes[0]: 1})
            return f"clamp({v} + {c.integer(-2, 2)}, 0, {text(extent.high)})", extent, v
        case "reverse":
            return f"{text(span.high)} - {v}", Span(0, plus(span.high, {"": -span.low})), v
        case "mix":
            return mixture(env, v, span)
        case "data":
            found = data_index(env)
            if found is not None:
                return (*found, v)
        case "let" if env.named:
            name, span = pick(c, env.named)
            return offset(env, name, span, "", free)
    return offset(env, v, span, v, free)


def mixture(env: Env, v: str, span: Span) -> tuple[str, Span, str]:
    """A quotient, remainder, extreme or choice of several variables, kept within 0 .. 7."""
    c, n = env.c, env.c.integer(1, 7)
    w = pick(c, [*env.variables, *env.draft.sizes])
    bounded = constant(0, n)
    match c.integer(0, 3):
        case 0:
            return f"(2 * {v} + {w}) / 3 % {n + 1}", bounded, v
        case 1:
            return f"max(min({v}, {w}) - 1, {v}) % {n + 1}", bounded, v
        case 2 if span.low >= 0:
            return f"min({v}, {n})", bounded, v
        case _:
            return f"select({v} < {w}, {v} % {n + 1}, {n})", bounded, v


def offset(env: Env, index: str, span: Span, v: str, free: bool) -> tuple[str, Span, str]:
    """The index plus a constant; with `free` it may become negative."""
    by = env.c.integer(0, 3) if chance(env.c, 30) else 0
    if free:
        by = -by if chance(env.c, 50) else by
    else:
        by = max(by, -span.low)
    if by == 0:
        return index, span, v
    return f"{index} {'+' if by > 0 else '-'} {abs(by)}", span.shifted(by), v


def data_index(env: Env) -> tuple[str, Span] | None:
    """An index read from an array of numbers, clamped or promised to be bounded. That of a float may be
    a little more or less, wherever that makes another integer of it."""
    c = env.c
    arrays = [a for a in env.readable if not a.helper and a.kind != "table"]
    if not arrays:
        return None
    a = pick(c, arrays)
    inner = Env(env.draft, env.variables, [], env.reads)
    plain = [plain_index(inner, d, a.kind == "func") for d in range(a.rank)]
    a.need([span for _, span in plain])
    note(env, a, None)
    value = f"{a.name}[{', '.join(index for index, _ in plain)}]"
    if a.bound is not None:
        return value, a.bound
    most = c.integer(1, 6)
    if a.element.kind is Kind.UINT and chance(c, 40):
        return f"{value} % {most + 1}", constant(0, most)
    extent = constant(0, most) if chance(c, 60) else below({env.draft.sizes[-1]: 1})
    if a.element != BOOL:
        forms = OF_FLOATS if a.element.is_float else OF_INTEGERS if chance(c, 50) else ("{}",)
        value = pick(c, forms).replace("{}", value)
    if not a.element.is_float and chance(c, 15):
        value = f"{pick(c, OTHERS)}({value})"
    if chance(c, 20):
        name = env.draft.fresh("q")
        return f"(let {name} = i64({value}) in clamp({name}, 0, {text(extent.high)}))", extent
    if chance(c, 10):
        name = env.draft.fresh("q")
        return f"clamp(let {name} = {value} in i64({name}), 0, {text(extent.high)})", extent
    return f"clamp(i64({value}), 0, {text(extent.high)})", extent


def plain_index(env: Env, d: int, free: bool) -> tuple[str, Span]:
    names = list(env.variables)
    v = names[min(d, len(names) - 1)]
    index, span, _ = offset(env, v, env.variables[v], v, free)
    return index, span


def within(env: Env, n: int) -> str:
    """An index into 0 .. n - 1."""
    fitting = [
        v
        for v, s in env.variables.items()
        if s.low >= 0 and (m := only_constant(s.high)) is not None and m < n
    ]
    if fitting and chance(env.c, 70):
        return pick(env.c, fitting)
    if not env.variables or n == 1:
        return str(env.c.integer(0, n - 1))
    v = pick(env.c, list(env.variables))
    return f"{v} % {n}" if chance(env.c, 50) else f"clamp({v}, 0, {n - 1})"
