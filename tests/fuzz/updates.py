"""Random update steps: reductions, scans, scatters and plain overwriting.

Written in two steps, because an update widens the region of its Func, and only when all of them have
is it known over what the others run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from choices import Choices, chance, pick, weighted
from draft import Array, Draft, Env, FuncDraft, Reads, UpdateDraft
from expressions import condition, expression
from indices import data_index
from products import product
from spans import Affine, Span, constant, only_constant, plus, text

from hbc.ir.lang.types import BOOL

Finish = Callable[[], UpdateDraft]


def update(draft: Draft, func: FuncDraft, readable: list[Array], kind: str) -> Finish:
    """Widens the region of `func`; the result writes the update once the region is final."""
    match kind:
        case "reduce":
            return reduction(draft, func, readable)
        case "scan":
            return scan(draft, func, readable)
        case "product":
            return product(draft, func, readable)
        case "scatter":
            return scatter(draft, func, readable)
        case "early":
            return early(draft, func, readable)
        case _:
            return overwrite(draft, func, readable)


def reduce_variables(draft: Draft, most: int = 2) -> dict[str, Span]:
    """New reduction variables with their ranges, declared."""
    c = draft.c
    found: dict[str, Span] = {}
    for _ in range(weighted(c, ((4, 1), (1, most)))):
        name = draft.fresh("r")
        kinds = [(3, "constant"), (4, "size"), (1, "from one")]
        match weighted(c, [*kinds, *([(2, "param")] if draft.count else [])]):
            case "param":
                found[name] = constant(0, draft.count - 1)
                draft.reductions.append(f"reduce {name} in Q")
            case "constant":
                n = c.integer(1, 6)
                found[name] = constant(0, n - 1)
                draft.reductions.append(f"reduce {name} in {n}")
            case "size":
                size = pick(c, draft.sizes)
                found[name] = Span(0, {size: 1, "": -1})
                draft.reductions.append(f"reduce {name} in {size}")
            case _:
                size = pick(c, draft.sizes)
                found[name] = Span(1, {size: 1, "": 0})
                draft.reductions.append(f"reduce {name} in 1 .. {size} + 1")
    return found


def environment(
    draft: Draft, func: FuncDraft, readable: list[Array], extra: dict[str, Span], reads: Reads,
    *left_out: str,
) -> Env:  # fmt: skip
    """The pure variables of `func` (but some) and the reduction variables."""
    regions = zip(func.variables, func.region, strict=True)
    own = {v: span for v, span in regions if v not in left_out}
    return Env(draft, {**own, **extra}, readable, reads)


def used(reduce: Mapping[str, Span], line: str) -> tuple[str, ...]:
    """The reduction variables that stand in an update: it has no loop over the others."""
    return tuple(r for r in reduce if re.search(rf"\b{r}\b", line))


def suffix(env: Env) -> str:
    return f" where {condition(env, 1)}" if chance(env.c, 20) else ""


def operators(func: FuncDraft) -> tuple[str, ...]:
    if func.element == BOOL:
        return "|", "&", "^"
    if func.element.is_float:
        return "+", "max", "min", "*"
    return "+", "max", "min", "*", "|", "&", "^"


def ordered(func: FuncDraft) -> tuple[str, ...]:
    """Of updates whose steps come one after the other."""
    if func.element == BOOL:
        return ("",)
    return ("", "+", "-", "/", "%") + (() if func.element.is_float else ("<<", ">>"))


def narrowed(c: Choices, func: FuncDraft, name: str, span: Span) -> str:
    """The declaration of a reduction variable that runs as far as a variable of the Func lets it."""
    end = text(plus(span.high, {"": 1}))
    return (
        f"reduce {name} in {span.low} .. min({pick(c, func.variables)} + {c.integer(0, 3)}, {end})"
    )


def reduction(draft: Draft, func: FuncDraft, readable: list[Array]) -> Finish:
    """f[x, y] += term(x, y, r)"""

    def finish() -> UpdateDraft:
        c, reads = draft.c, Reads()
        reduce = reduce_variables(draft)
        if chance(c, 15):
            draft.reductions[-1] = narrowed(c, func, *list(reduce.items())[-1])
        env = environment(draft, func, readable, reduce, reads)
        term = expression(env, func.element, c.integer(1, 3))
        if not used(reduce, term) and func.element != BOOL:
            term = f"({term} + {func.element}({next(iter(reduce))}))"
        op = pick(c, operators(func))
        place = f"{func.name}[{', '.join(func.variables)}]"
        line = f"{place} {op}= {term}{suffix(env)}"
        extents: dict[str, Affine] = {n: s.extent() for n, s in reduce.items()}
        kept = used(reduce, line)
        return UpdateDraft(line, func.variables, kept, extents, True, False, reads)

    return finish


def scan(draft: Draft, func: FuncDraft, readable: list[Array]) -> Finish:
    """f[x, t] = g(f[x, t - 1], x, t), forward or backward; or of all of a step before, as f[q + 1, t - 1]"""
    c = draft.c
    d = c.integer(0, len(func.variables) - 1)
    back = c.integer(1, 2)
    s = func.region[d]
    most = only_constant(s.high)  # a scan of no steps is refused when the sizes do not matter
    high = s.high if most is None else {"": max(most, back)}
    func.region = (*func.region[:d], Span(min(s.low, 0), high), *func.region[d + 1 :])

    def finish() -> UpdateDraft:
        reads = Reads()
        t = draft.fresh("r")
        end = plus(func.region[d].high, {"": 1})
        draft.reductions.append(f"reduce {t} in {back} .. {text(end)}")
        span = Span(back, func.region[d].high)
        variable = func.variables[d]
        along = {t: span}
        moved: dict[
            str, tuple[str, str]
        ] = {}  # other variables: what stands there, and what is read
        for v, x in zip(func.variables, func.region, strict=True):
            if v != variable and chance(c, 30):
                q = draft.fresh("r")
                draft.reductions.append(f"reduce {q} in {x.low} .. {text(plus(x.high, {'': 1}))}")
                moved[v] = q, f"clamp({q} + {c.integer(0, 4)} - 2, {x.low}, {text(x.high)})"
                along[q] = x
        env = environment(draft, func, readable, along, reads, variable, *moved)
        last = text(func.region[d].high)
        here, before = (t, f"{t} - {back}")
        if chance(c, 25):
            here, before = f"{last} - {t}", f"{last} - {t} + {back}"
        others = {v: (v, v) for v in func.variables} | moved | {variable: (here, before)}
        left, own = (", ".join(others[v][side] for v in func.variables) for side in (0, 1))
        term = expression(env, func.element, c.integer(1, 2))
        old = f"{func.name}[{own}]"
        if func.element == BOOL:
            value = f"({old} == {term})"
        elif func.element.is_float:
            value = pick(c, (f"{old} * 0.5 + {term}", f"max({old}, {term})", f"{term} - {old}"))
        else:
            value = pick(c, (f"{old} + {term}", f"max({old}, {term})", f"{term} - {old} / 2"))
        if chance(c, 25):
            name = draft.fresh("t")
            value = f"let {name} = {old} in {value.replace(old, name)}"
        line = f"{func.name}[{left}] = {value}{suffix(env)}"
        pure = tuple(v for v in func.variables if v != variable and v not in moved)
        extents = {name: x.extent() for name, x in along.items()}
        return UpdateDraft(line, pure, tuple(along), extents, False, True, reads)

    return finish


def early(draft: Draft, func: FuncDraft, readable: list[Array]) -> Finish:
    """f[x, y] = g(f[x, y], x, y, r) while r: f[x, y] < c(x, y)"""

    def finish() -> UpdateDraft:
        c, reads = draft.c, Reads()
        reduce = reduce_variables(draft, 1)
        r = next(iter(reduce))
        old = f"{func.name}[{', '.join(func.variables)}]"
        steps = environment(draft, func, readable, reduce, reads)
        points = environment(draft, func, readable, {}, reads)
        term = expression(steps, func.element, c.integer(0, 2))
        if func.element == BOOL:
            value, test = f"({old} == {term})", pick(c, (old, f"({old} or {condition(points, 1)})"))
        else:
            half = "* 0.5" if func.element.is_float else "/ 2"
            value = pick(c, (f"{old} + {term}", f"max({old}, {term})", f"{term} - {old} {half}"))
            op = pick(c, ("<", "<=", ">", "!="))
            test = f"{old} {op} {expression(points, func.element, c.integer(0, 1))}"
        line = f"{old} = {value} while {r}: {test}"
        extents: dict[str, Affine] = {n: s.extent() for n, s in reduce.items()}
        return UpdateDraft(line, func.variables, (r,), extents, False, True, reads)

    return finish


def scatter(draft: Draft, func: FuncDraft, readable: list[Array]) -> Finish:
    """f[x, clamp(data(r))] += term(x, r): a histogram, or the last one wins"""
    c = draft.c
    d = c.integer(0, len(func.variables) - 1)
    reduce = reduce_variables(draft)
    reads = Reads()
    found = data_index(Env(draft, reduce, readable, reads))
    variable = func.variables[d]
    if found is None:
        first = next(iter(reduce))
        found = f"{first} / 2", reduce[first].halved(2)
    index, span = found
    func.region = (*func.region[:d], func.region[d].hull(span), *func.region[d + 1 :])

    def finish() -> UpdateDraft:
        env = environment(draft, func, readable, reduce, reads, variable)
        place = ", ".join(index if v == variable else v for v in func.variables)
        op = pick(c, (*operators(func), ""))
        line = f"{func.name}[{place}] {op}= {expression(env, func.element, 1)}{suffix(env)}"
        pure = tuple(v for v in func.variables if v != variable)
        extents: dict[str, Affine] = {n: s.extent() for n, s in reduce.items()}
        return UpdateDraft(line, pure, used(reduce, line), extents, bool(op), not op, reads)

    return finish


def overwrite(draft: Draft, func: FuncDraft, readable: list[Array]) -> Finish:
    """f[x, 0] = term(x), f[x, r] += term(x, r), f[x, y] = f[x, y] * f[x, 0]"""
    c = draft.c
    d = c.integer(0, len(func.variables) - 1)
    variable = func.variables[d]
    reduce: dict[str, Span] = {}
    match c.integer(0, 2):
        case 0:
            at = c.integer(0, 2)
            index, span = str(at), constant(at, at)
        case 1:
            reduce = reduce_variables(draft, 1)
            index, span = next(iter(reduce.items()))
        case _:
            index, span = variable, func.region[d]
    func.region = (*func.region[:d], func.region[d].hull(span), *func.region[d + 1 :])

    def finish() -> UpdateDraft:
        reads = Reads()
        left_out = "" if index == variable else variable
        env = environment(draft, func, readable, reduce, reads, left_out)
        place = ", ".join(index if v == variable else v for v in func.variables)
        term = expression(env, func.element, c.integer(0, 2))
        if index == variable and func.element != BOOL:
            own = Array(func.name, func.element, len(func.variables), "func")
            line = f"{func.name}[{place}] = {own.name}[{place}] + {term}{suffix(env)}"
            if chance(c, 40):
                line = f"{func.name}[{place}] {pick(c, ordered(func)[1:])}= {term}{suffix(env)}"
        else:
            line = f"{func.name}[{place}] {pick(c, ordered(func))}= {term}{suffix(env)}"
        pure = tuple(v for v in func.variables if v != left_out)
        extents: dict[str, Affine] = {n: s.extent() for n, s in reduce.items()}
        return UpdateDraft(line, pure, used(reduce, line), extents, False, False, reads)

    return finish
