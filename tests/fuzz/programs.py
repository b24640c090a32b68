"""Random small programs: Funcs are written from the outputs back, so that what each must cover is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from choices import Choices, chance, pick, weighted
from draft import Array, Draft, Env, FuncDraft
from expressions import expression
from pairs import pair
from products import PALETTES
from spans import Span, below, constant, text, trimmed, value
from updates import update

from hbc.ir.lang.types import BOOL, DTYPES, F32, I8, I32, I64, U8, DType

COMMON = (F32, I32, *(t for t in DTYPES.values() if t not in (F32, I32)))
HELPERS = ("clamp_edge", "zero_edge", "mirror", "wrap")
POOLS = (("x", "y", "z"), ("i", "j", "k"), ("n", "c", "w"))
SIZES = (1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 32, 33)
ANY_SIZES = (0, *SIZES, 37, 48, 64, 67)
MOST_POINTS = 3000  # summed over all steps: the interpreter takes a few microseconds for each


@dataclass(frozen=True, slots=True)
class Written:
    """A program without its schedule."""

    draft: Draft
    lines: tuple[str, ...]


def write_program(c: Choices, target: str) -> Written:
    """Declarations, tables, Funcs in callee order. Funcs that nothing reads are left out. For targets
    with tensor instructions there are mostly sums of products."""
    products = target in PALETTES and chance(c, 80)
    palette = (
        pick(c, PALETTES[target])
        if products
        else tuple(pick(c, COMMON) if chance(c, 70) else F32 for _ in range(c.integer(1, 3)))
    )
    if all(t == BOOL for t in palette):
        palette = (F32, *palette)
    draft = Draft(c, ("W", "H", "K")[: c.integer(1, 3)], palette, products=products)
    funcs = declare_arrays(draft)
    for number in reversed(range(len(funcs))):
        readable = [a for a in draft.arrays.values() if a.kind != "func"] + funcs[:number]
        readable += [draft.together[f.name] for f in funcs[:number] if f.name in draft.together]
        write_func(draft, funcs[number], readable, last=number == len(funcs) - 1)
    return Written(draft, tuple(program_lines(draft)))


def declare_arrays(draft: Draft) -> list[Array]:
    """Inputs, their boundary helpers, tables and Funcs: names, types and ranks."""
    c = draft.c
    declare_params(draft)

    def add(a: Array) -> Array:
        draft.arrays[a.name] = a
        return a

    for number in range(c.integer(1, 2)):
        name = "AB"[number]
        element = pick(c, draft.palette[1:] if draft.products else draft.palette)
        image = add(Array(name, element, c.integer(1, 3 - number), "input"))
        if chance(c, 50):
            helper = pick(c, HELPERS)
            alias = f"P{name}" if chance(c, 50) else f"{helper}({name})"
            if alias[0] == "P":
                draft.declarations.append(f"{alias} = {helper}({name})")
            draft.aliases[alias] = name
            add(Array(alias, image.element, image.rank, "input", helper=helper))
    if chance(c, 15):
        element = pick(c, [t for t in DTYPES.values() if t.is_int])
        bound = below({draft.sizes[0]: 1}) if chance(c, 50) else constant(0, c.integer(1, 6))
        if element.bits > 8 or not trimmed(bound.high).keys() - {""}:
            add(Array("N", element, 1, "input", bound=bound))
    if chance(c, 20):
        add(table(draft))
    funcs = [
        add(Array(f"f{n}", func_element(draft), c.integer(1, 3), "func"))
        for n in range(c.integer(1, 4))
    ]
    for f in funcs:
        element = pick(c, draft.palette)
        if BOOL not in (f.element, element) and chance(c, 15):
            other = add(Array(f"g{f.name[1:]}", element, f.rank, "func"))
            draft.together[f.name], draft.aliases[other.name] = other, f.name
    return funcs


def func_element(draft: Draft) -> DType:
    """One of the types in use; mostly that of sums where they are what this is about."""
    often = draft.products and chance(draft.c, 80)
    return draft.palette[0] if often else pick(draft.c, draft.palette)


def declare_params(draft: Draft) -> None:
    """Constants and scalars: some of the types in use, a count of iterations, a required size."""
    c = draft.c
    if chance(c, 20):
        t = pick(c, draft.palette)
        draft.params["S"] = t
        bound = "\nbound S in -9 .. 10" if t == I64 else ""
        draft.declarations.append(f"input S: {t}{bound}")
    if chance(c, 15):
        t = pick(c, [t for t in draft.palette if t != BOOL])
        value = str(c.integer(0, 9)) if t.is_int else f"{c.integer(-8, 8) / 4}"
        draft.params["P"] = t
        draft.declarations.append(f"param P: {t} = {value}")
    if chance(c, 10):
        draft.count = c.integer(1, 6)
        draft.given = chance(c, 50)
        draft.declarations.append(
            f"input Q: i32\nbound Q in {c.integer(0, 1)} .. {draft.count + 1}"
            if draft.given
            else f"param Q: i32 = {draft.count}"
        )
    if chance(c, 10):
        size = pick(c, draft.sizes)
        draft.least[size] = c.integer(1, 9)
        draft.declarations.append(f'require {draft.least[size]} <= {size}, "too small"')


def table(draft: Draft) -> Array:
    c, t = draft.c, pick(draft.c, [t for t in draft.palette if t != BOOL])
    if chance(c, 30):
        draft.declarations.append(f"table T: {t}[4, 3] [u, v] = {t}(u * 3 + v)")
        return Array("T", t, 2, "table", shape=(4, 3))
    n = c.integer(1, 5)
    values = [str(c.integer(0, 9)) if t.is_int else f"{c.integer(-8, 8) / 4}" for _ in range(n)]
    draft.declarations.append(f"table T: {t}[{n}] = [{', '.join(values)}]")
    return Array("T", t, 1, "table", shape=(n,))


def write_func(draft: Draft, a: Array, readable: list[Array], last: bool) -> None:
    """One Func with its updates, over what later ones need of it."""
    c = draft.c
    if last:
        whole = [(6, below({pick(c, draft.sizes): 1})), (1, constant(0, c.integer(0, 7)))]
        a.need([weighted(c, whole) for _ in range(a.rank)])
    other = draft.together.get(a.name)
    if other is not None and other.needed is not None:
        a.need(other.needed)
    if a.needed is None:
        return
    output = last or (chance(c, 15) and all(s.low >= 0 for s in a.needed))
    variables = (POOLS[0] if chance(c, 60) else pick(c, POOLS))[: a.rank]
    func = FuncDraft(a.name, a.element, variables, "", {}, [], a.needed, output)
    kinds = [
        (5, "pure"),
        (4, "reduce"),
        (2, "scan"),
        (1, "scatter"),
        (1, "overwrite"),
        (1, "early"),
    ]
    if draft.products and a.element == draft.palette[0]:
        kinds.append((24, "product"))
    updates = []
    for _ in range(weighted(c, ((6, 1), (2, 2)))):
        kind = weighted(c, kinds)
        if kind != "pure":
            updates.append(update(draft, func, readable, kind))
    if output:
        func.region = tuple(Span(0, s.high) for s in func.region)
    # Updates first: they widen the region that the pure step must cover.
    for finish in updates:
        func.updates.append(finish())
    env = Env(draft, dict(zip(variables, func.region, strict=True)), readable, func.reads)
    if updates and chance(c, 50):
        initial = f"{a.element}(0)" if a.element != BOOL else "false"
        if a.element != BOOL and chance(c, 30):
            initial = "0"  # of the type of the updates
    else:
        initial = expression(env, a.element, c.integer(0, 3))
    same = [
        x for x in readable
        if (x.kind, x.element, x.rank, x.helper) == ("input", a.element, a.rank, "") and x.bound is None
    ]  # fmt: skip
    if output and same and not updates and a.element != BOOL and chance(c, 60):
        given = pick(c, same)  # element by element, so that it may be overwritten
        given.need(func.region)
        func.reads.setdefault(given.name, []).append(variables)
        initial = f"max({initial}, {given.name}[{', '.join(variables)}])"
    annotation = f": {a.element}" if chance(c, 30) else ""
    func.pure = f"{a.name}{annotation}[{', '.join(variables)}] = {initial}"
    if other is not None:
        pair(draft, func, other)
    draft.funcs.append(func)


def program_lines(draft: Draft) -> list[str]:
    """The text, sizes and schedule aside."""
    read = (*draft.apart, *(n for f in draft.funcs for n in names_read(f)))
    used = {draft.aliases.get(n, n) for n in read}
    lines: list[str] = []
    overwritten = in_place(draft, used)
    for a in draft.arrays.values():
        if a.kind == "input" and not a.helper and a.needed is not None and a.name in used:
            alone = a.bound is None and a.name not in overwritten.values()
            half = a.element in (I8, U8) and alone and chance(draft.c, 40)
            element = a.element.name.replace("8", "4") if half else a.element.name
            lines.append(f"input {a.name}: {element}[{', '.join(extents(a.needed))}]")
            if a.bound is not None:
                high = text({**a.bound.high, "": a.bound.high.get("", 0) + 1})
                lines.append(f"bound {a.name} in {a.bound.low} .. {high}")
    for f in draft.funcs:
        if f.output:
            given = f" aliases {overwritten[f.name]}" if f.name in overwritten else ""
            lines.append(f"output {f.name}: {f.element}[{', '.join(extents(f.region))}]{given}")
        if f.other is not None and f.other_output:
            lines.append(
                f"output {f.other.name}: {f.other.element}[{', '.join(extents(f.region))}]"
            )
    declared = [d for d in draft.declarations if is_used(d, used, draft)]
    lines += declared + draft.reductions
    for f in reversed(draft.funcs):
        lines.append(f.pure)
        lines += [u.text for u in f.updates]
    return lines


def in_place(draft: Draft, used: set[str]) -> dict[str, str]:
    """Outputs that take the memory of an input, whose extents it gets. Many are refused later: what was
    drawn reads elements after others were stored."""
    found: dict[str, str] = {}
    for f in draft.funcs:
        for a in draft.arrays.values():
            fits = a.kind == "input" and not a.helper and a.bound is None and a.name in used
            if (
                not f.output
                or f.updates
                or not fits
                or a.needed is None
                or a.name in found.values()
            ):
                continue
            if (a.element, a.rank) != (f.element, len(f.region)) or f.name in found:
                continue
            hull = tuple(x.hull(y) for x, y in zip(a.needed, f.region, strict=True))
            if extents(hull) == extents(f.region) and chance(draft.c, 60):
                a.needed, found[f.name] = hull, a.name
    return found


def names_read(f: FuncDraft) -> set[str]:
    return {*f.reads, *(n for u in f.updates for n in u.reads)}


def is_used(declaration: str, used: set[str], draft: Draft) -> bool:
    if declaration.startswith(("param", "require", "input", "def", "import")):
        return True
    name = declaration.removeprefix("table ").split(":")[0].split(" ")[0]
    return draft.aliases.get(name, name) in used


def extents(box: tuple[Span, ...]) -> list[str]:
    """From 0: an array has no lower end. At least 1 whatever the sizes."""
    found = []
    for s in box:
        least = sum(s.high.values()) + 1
        found.append(text({**s.high, "": s.high.get("", 0) + 1 + max(1 - least, 0)}))
    return found


def choose_sizes(
    draft: Draft, divisible: Mapping[str, int], pool: tuple[int, ...] = SIZES
) -> dict[str, int]:
    """Random sizes, multiples where a schedule promises that, few enough points to be quick."""
    c = draft.c
    found = {n: max(pick(c, pool), draft.least.get(n, 0)) for n in draft.sizes}
    found = {n: -(-v // divisible.get(n, 1)) * divisible.get(n, 1) for n, v in found.items()}
    while points(draft, found) > MOST_POINTS:
        largest = max(found, key=lambda n: found[n] // divisible.get(n, 1))
        step = divisible.get(largest, 1)
        if found[largest] <= step:
            break
        found[largest] = max(found[largest] // 2 // step * step, step)
    return found | ({"Q": c.integer(1, draft.count)} if draft.given else {})


def points(draft: Draft, sizes: Mapping[str, int]) -> int:
    """How many stores a plain evaluation makes."""
    total = 0
    for f in draft.funcs:
        counts = {v: max(s.count(sizes), 1) for v, s in zip(f.variables, f.region, strict=True)}
        whole = 1
        for n in counts.values():
            whole *= n
        total += whole
        for u in f.updates:
            work = 1
            for v in u.pure:
                work *= counts[v]
            for e in u.extents.values():
                work *= max(value(e, sizes), 1)
            total += work
    return total
