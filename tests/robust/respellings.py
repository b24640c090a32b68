"""Ways to write the same program differently. Each takes a syntax tree and gives another one.

None changes a value: sums of integers wrap, products are exact, and what is done to floats (swapped
factors, repeated casts, a factor of 1) is exact too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tree_maps import (
    NOWHERE,
    access,
    binary,
    call,
    definitions,
    fresh,
    ident,
    mapped,
    mapped_outside_indices,
    name,
    number,
    parts,
    substituted,
    with_statements,
    with_values,
)

from hbc.frontend.text import ast

Respelling = Callable[[ast.File, Random], ast.File]
CASTS = ("f32", "i32")


def swap_operands(file: ast.File, r: Random) -> ast.File:
    """`a * b` as `b * a`, in values and in indices."""

    def swap(e: ast.Expr) -> ast.Expr:
        if isinstance(e, ast.Binary) and e.op in ("+", "*") and r.random() < 0.5:
            return replace(e, a=e.b, b=e.a)
        return e

    return with_values(file, lambda d: mapped(d.value, swap))


def respell_indices(file: ast.File, r: Random) -> ast.File:
    """`i` as `i + 3 - 3`, `2 * i / 2`, ..."""

    def index(e: ast.Expr) -> ast.Expr:
        c = number(r.randint(1, 5))
        match r.randrange(7):
            case 0:
                return binary("-", binary("+", e, c), c)
            case 1:
                return binary("+", binary("-", e, c), c)
            case 2:
                return binary("/", binary("*", c, e), c)
            case 3:
                return binary("-", binary("*", number(2), e), e)
            case _:
                return e

    def access_of(e: ast.Expr) -> ast.Expr:
        return replace(e, indices=tuple(map(index, e.indices))) if isinstance(e, ast.Access) else e

    return with_values(file, lambda d: mapped(d.value, access_of))


def reorder_sums(file: ast.File, r: Random) -> ast.File:
    """`a + (b + c)` as `(a + b) + c`, in indices."""

    def index(e: ast.Expr) -> ast.Expr:
        match e:
            case ast.Binary(op="+", a=a, b=ast.Binary(op="+", a=b, b=c)):
                return binary("+", binary("+", a, b), c)
            case ast.Binary(op="+", a=ast.Binary(op="+", a=a, b=b), b=c):
                return binary("+", a, binary("+", c, b))
        return e

    def access_of(e: ast.Expr) -> ast.Expr:
        if not isinstance(e, ast.Access) or r.random() < 0.3:
            return e
        return replace(e, indices=tuple(mapped(i, index) for i in e.indices))

    return with_values(file, lambda d: mapped(d.value, access_of))


def repeat_casts(file: ast.File, r: Random) -> ast.File:
    """`f32(x)` as `f32(f32(x))`, `i32(x)` of bytes as `i32(i16(x))`."""

    def cast(e: ast.Expr) -> ast.Expr:
        if not (isinstance(e, ast.Call) and e.name.text in CASTS and r.random() < 0.5):
            return e
        within = e.name.text if e.name.text == "f32" else r.choice(["i16", "i32"])
        return replace(e, args=(call(within, *e.args),))

    def value(d: ast.Definition) -> ast.Expr:
        return mapped(d.value, cast) if d.op == "+=" else d.value

    return with_values(file, value)


def widen_products(file: ast.File, r: Random) -> ast.File:
    """`i32(a) * i32(b)` of one signed and one unsigned byte as `i32(i16(a) * i16(b))`."""
    types = {s.name.text: s.type.text for s in file.statements if isinstance(s, ast.Input)}
    if set(types.values()) != {"u8", "i8"}:
        return file

    def product(e: ast.Expr) -> ast.Expr:
        match e:
            case ast.Binary(
                op="*",
                a=ast.Call(name=ast.Ident(text="i32"), args=(a,)),
                b=ast.Call(name=ast.Ident(text="i32"), args=(b,)),
            ) if isinstance(a, ast.Access) and isinstance(b, ast.Access):
                return call("i32", binary("*", call("i16", a), call("i16", b)))
        return e

    return with_values(file, lambda d: mapped(d.value, product))


def name_factors(file: ast.File, r: Random) -> ast.File:
    """`a * b` as `let t = a in t * b`."""
    temporary = fresh(file, "t")

    def product(e: ast.Expr) -> ast.Expr:
        if isinstance(e, ast.Binary) and e.op == "*":
            body = binary("*", name(temporary), e.b)
            return ast.Let(ident(temporary), e.a, body, NOWHERE)
        return e

    def value(d: ast.Definition) -> ast.Expr:
        return mapped_outside_indices(d.value, product) if d.op == "+=" else d.value

    return with_values(file, value)


def multiply_by_one(file: ast.File, r: Random) -> ast.File:
    """`a * b` as `a * b * 1`."""

    def value(d: ast.Definition) -> ast.Expr:
        return binary("*", d.value, number(1)) if d.op == "+=" else d.value

    return with_values(file, value)


def spell_sum_out(file: ast.File, r: Random) -> ast.File:
    """`f[i] += x` as `f[i] = f[i] + x`."""

    def statement(s: ast.Statement) -> ast.Statement:
        if isinstance(s, ast.Definition) and s.op == "+=":
            own = access(s.name.text, *s.indices)
            first, second = r.choice([(own, s.value), (s.value, own)])
            return replace(s, op="=", value=binary("+", first, second))
        return s

    return with_statements(file, statement)


def inline_operand(file: ast.File, r: Random) -> ast.File:
    """An input is read through a Func, with its cast or without."""
    inputs = [s for s in file.statements if isinstance(s, ast.Input)]
    chosen = r.choice(inputs)
    helper = fresh(file, "h")
    variables = [fresh(file, f"v{n}") for n in range(len(chosen.extents))]
    read: ast.Expr = access(chosen.name.text, *map(name, variables))
    to = next(
        (
            e.name.text
            for d in definitions(file) for e in parts(d.value)
            if isinstance(e, ast.Call) and e.name.text in CASTS
        ),
        None,
    )  # fmt: skip
    if to is not None and r.random() < 0.5:
        read = call(to, read)

    def redirect(e: ast.Expr) -> ast.Expr:
        if isinstance(e, ast.Access) and e.name.text == chosen.name.text:
            return replace(e, name=ident(helper))
        return e

    changed = with_values(file, lambda d: mapped(d.value, redirect))
    definition = ast.Definition(
        ident(helper), None, tuple(map(name, variables)), "=", read, None, NOWHERE
    )
    return _before_definitions(changed, definition)


def inline_product(file: ast.File, r: Random) -> ast.File:
    """The term of the sum is a Func of all variables."""
    sums = [d for d in definitions(file) if d.op == "+="]
    if not sums:
        return file
    chosen = sums[0]
    loops = [d.name.text for s in file.statements if isinstance(s, ast.Reduce) for d in s.domains]
    own = [i.text for i in chosen.indices if isinstance(i, ast.Name)]
    read = {e.text for e in parts(chosen.value) if isinstance(e, ast.Name)}
    used = [*own, *(x for x in loops if x in read)]
    r.shuffle(used)
    helper = fresh(file, "p")
    variables = [fresh(file, f"w{n}") for n in range(len(used))]
    inner = substituted(chosen.value, dict(zip(used, map(name, variables), strict=True)))
    definition = ast.Definition(
        ident(helper), None, tuple(map(name, variables)), "=", inner, None, NOWHERE
    )
    outer = access(helper, *map(name, used))
    changed = with_statements(file, lambda s: replace(chosen, value=outer) if s is chosen else s)
    return _before_definitions(changed, definition)


def permute_input(file: ast.File, r: Random) -> ast.File:
    """An input is stored with its dimensions in another order."""
    inputs = [s for s in file.statements if isinstance(s, ast.Input) and len(s.extents) > 1]
    chosen = r.choice(inputs)
    order = list(range(len(chosen.extents)))
    r.shuffle(order)

    def statement(s: ast.Statement) -> ast.Statement:
        if s is chosen:
            return replace(chosen, extents=tuple(chosen.extents[n] for n in order))
        return s

    return _permute_reads(with_statements(file, statement), chosen.name.text, order)


def permute_sum(file: ast.File, r: Random) -> ast.File:
    """The Func of sums has its dimensions in another order."""
    sums = [d for d in definitions(file) if d.op == "+="]
    if not sums:
        return file
    chosen, order = sums[0].name.text, list(range(len(sums[0].indices)))
    r.shuffle(order)

    def statement(s: ast.Statement) -> ast.Statement:
        if isinstance(s, ast.Definition) and s.name.text == chosen:
            return replace(s, indices=tuple(s.indices[n] for n in order))
        return s

    return _permute_reads(with_statements(file, statement), chosen, order)


def declare_types(file: ast.File, r: Random) -> ast.File:
    """`type T = bf16` for the types of the inputs; zeros written in other ways."""
    chosen = r.choice([s for s in file.statements if isinstance(s, ast.Input)])
    alias = fresh(file, "T")

    def statement(s: ast.Statement) -> ast.Statement:
        match s:
            case ast.Input(type=t) if t.text == chosen.type.text:
                return replace(s, type=ident(alias))
            case ast.Definition(op="=", value=ast.Number(value=0)) if r.random() < 0.5:
                return replace(s, value=binary("-", number(7), number(7)))
        return s

    changed = with_statements(file, statement)
    declared = ast.TypeParam(ident(alias), chosen.type, NOWHERE)
    return replace(changed, statements=(declared, *changed.statements))


def name_factor_of_schedule(file: ast.File, r: Random) -> ast.File:
    """A number in the schedule is a param."""
    param = fresh(file, "n")
    drawn = r.choice([8, 16, 32])

    def statement(s: ast.Statement) -> ast.Statement:
        if not isinstance(s, ast.Schedule) or s.lines is None:
            return s
        return replace(s, lines=tuple(map(line, s.lines)))

    def line(x: ast.Line) -> ast.Line:
        return replace(x, steps=tuple(map(step, x.steps)))

    def step(s: ast.Step) -> ast.Step:
        return replace(s, args=None if s.args is None else tuple(map(argument, s.args)))

    def argument(a: ast.Expr | ast.Line | ast.Option) -> ast.Expr | ast.Line | ast.Option:
        return name(param) if isinstance(a, ast.Number) and a.value == drawn else a

    changed = with_statements(file, statement)
    declared = ast.Param(ident(param), ident("i32"), number(drawn), NOWHERE)
    return replace(changed, statements=(declared, *changed.statements))


def regroup_lines(file: ast.File, r: Random) -> ast.File:
    """Chains of directives broken up or joined, stages in another order."""

    def statement(s: ast.Statement) -> ast.Statement:
        if not isinstance(s, ast.Schedule) or s.lines is None:
            return s
        chains: dict[str, list[ast.Line]] = {}
        for x in s.lines:
            for one in _single(x):
                chains.setdefault(_stage(one), []).append(one)
        made = []
        while chains:
            stage = r.choice(sorted(chains))
            count = r.randint(1, len(chains[stage]))
            made.append(_joined(chains[stage][:count]))
            chains[stage] = chains[stage][count:]
            if not chains[stage]:
                del chains[stage]
        return replace(s, lines=tuple(made))

    return with_statements(file, statement)


def shuffle_statements(file: ast.File, r: Random) -> ast.File:
    """Declarations and definitions in another order; those of one Func, and reductions, keep theirs."""
    groups: dict[str, list[ast.Statement]] = {}
    for number_, s in enumerate(file.statements):
        kept = s.name.text if isinstance(s, ast.Definition) else f"{number_}"
        groups.setdefault("reduce" if isinstance(s, ast.Reduce) else kept, []).append(s)
    slots = [key for key, members in groups.items() for _ in members]
    r.shuffle(slots)
    return replace(file, statements=tuple(groups[key].pop(0) for key in slots))


def _before_definitions(file: ast.File, definition: ast.Definition) -> ast.File:
    at = next(n for n, s in enumerate(file.statements) if isinstance(s, ast.Definition))
    statements = (*file.statements[:at], definition, *file.statements[at:])
    return replace(file, statements=statements)


def _permute_reads(file: ast.File, array: str, order: list[int]) -> ast.File:
    def read(e: ast.Expr) -> ast.Expr:
        if isinstance(e, ast.Access) and e.name.text == array:
            return replace(e, indices=tuple(e.indices[n] for n in order))
        return e

    return with_values(file, lambda d: mapped(d.value, read))


def _single(x: ast.Line) -> list[ast.Line]:
    """A line for each directive; the steps that name the stage are in all of them."""
    count = sum(s.name.text in ("update", "in") for s in x.steps[:1])
    return [replace(x, steps=(*x.steps[:count], s)) for s in x.steps[count:]]


def _stage(x: ast.Line) -> str:
    return f"{x.name.text}{'.update' if x.steps[0].name.text == 'update' else ''}"


def _joined(lines: list[ast.Line]) -> ast.Line:
    first = lines[0]
    return replace(first, steps=(*first.steps, *(x.steps[-1] for x in lines[1:])))


RESPELLINGS: tuple[Respelling, ...] = (
    swap_operands, widen_products, inline_operand, inline_product, permute_input, permute_sum,
    repeat_casts, name_factors, multiply_by_one, respell_indices, reorder_sums, spell_sum_out,
    declare_types, name_factor_of_schedule, regroup_lines, shuffle_statements,
)  # fmt: skip
