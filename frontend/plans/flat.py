"""Two dimensions as one: the program over all pixels of arrays whose rows lie without gaps.

O[y, x, k] = acc[y, x, k]    ->   O[p, k] = acc[p, k]      where p = y * X + x, and X is a row of O
.. I[y + r, x, c] ..         ->   .. I[p + r * X, c] ..    where a row of I is as long
.. B[y, c] ..                ->   .. B[p / X, c] ..
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.plans.inline import inline_funcs, map_func
from hbc.frontend.plans.plan import Plan, Root, default_plan
from hbc.frontend.program.funcs import Func, Image, Pipeline, ReduceVar, Update
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.facts import Facts, implied
from hbc.ir.algebra.linear import Linear, linear, minus, shifted, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, floordiv, mod, mul, sub
from hbc.ir.lang.walk import mentions, nodes_of, rewrite, substitute


@record
class Site:
    """Where a Func has the two variables: at `at` and behind it. `pixel`: that which they become. An image of
    these pixels has `rows` rows of `row` pixels."""

    at: int
    pixel: str
    rows: ir.Expr
    row: ir.Expr

    def like(self, other: Site) -> bool:
        """Whether the pixels are those of another one."""
        mine, theirs = (self.pixel, self.rows, self.row), (other.pixel, other.rows, other.row)
        return mine == theirs


def site_of(image: Image, at: int, pixel: str) -> Site:
    """That of the Func of an output."""
    return Site(at, pixel, simplify(image.extents[at]), simplify(image.extents[at + 1]))


def flattened(p: Pipeline, outputs: Mapping[str, Site], kept: Collection[str]) -> Pipeline:
    """The program with the sites of these Funcs of outputs as one dimension each; with those of all Funcs too
    that others read at the same pixel alone, and of inputs that are read at pixels of the same image. Funcs
    without updates that are not `kept` are substituted into their readers first."""
    funcs = _substituted(p, kept)
    live = _live(funcs, p.output_funcs)
    sites = dict(outputs)
    for name in reversed(list(live)):
        if name not in sites and name not in p.output_funcs:
            found = _same_pixel(live, sites, name)
            if found is not None:
                sites[name] = found
    facts, known = _facts(p), _extents(p, live)
    for name in sites:
        live[name] = _inside(live[name], facts, known[name])
    images = _flat_inputs(p, live, sites)
    flat = {name: _flat_func(f, sites.get(name), sites, images) for name, f in live.items()}
    of = {part.name: f.name for f in funcs for part in f.parts}
    return replace(
        p,
        inputs=tuple(_flat_image(i, images[i.name]) if i.name in images else i for i in p.inputs),
        outputs=tuple(
            _flat_image(o, outputs[of.get(o.name, o.name)])
            if of.get(o.name, o.name) in outputs else o
            for o in p.outputs
        ),
        funcs=tuple(flat[f.name] for f in funcs if f.name in live),
    )  # fmt: skip


def _substituted(p: Pipeline, kept: Collection[str]) -> list[Func]:
    """All Funcs, callees first, which read no more of those that are substituted."""
    outputs = set(p.output_funcs)
    plan: Plan = {}
    for f in p.funcs:
        if f.table_shape is None:
            own = default_plan(f, f.name in outputs)
            plan[f.name] = replace(own, compute=Root()) if f.name in kept else own
    after = inline_funcs(plan)
    return [after[f.name].func if f.name in after else f for f in p.funcs]


def _live(funcs: Iterable[Func], outputs: Collection[str]) -> dict[str, Func]:
    """Those that outputs depend on, callees first."""
    wanted, found = set(outputs), []
    for f in reversed(list(funcs)):
        if f.name in wanted:
            found.append((f.name, f))
            wanted |= {a.name for a in _accesses(f)}
    return dict(reversed(found))


def _same_pixel(live: Mapping[str, Func], sites: Mapping[str, Site], name: str) -> Site | None:
    """The site of a Func that is read at the pixel of its readers alone, and updated there."""
    func = live[name]
    if func.table_shape is not None:
        return None
    found: Site | None = None
    for reader in (f for f in live.values() if f.name != name):
        for a in _accesses(reader):
            if a.name != name:
                continue
            at = _place(a.indices, reader, sites.get(reader.name))
            new = None if at is None else replace(sites[reader.name], at=at)
            if new is None or found not in (None, new):
                return None
            found = new
    if found is None or found.pixel in (*func.variables, *_reductions(func)):
        return None
    return found if keeps_pixel(func, found.at) else None


def keeps_pixel(func: Func, at: int) -> bool:
    """Whether the updates of a Func compute each pixel of that from nothing but itself."""
    pair = func.variables[at : at + 2]
    for place in (
        *(u.indices for u in func.updates),
        *(a.indices for a in _accesses(func) if a.name == func.name),
    ):
        if tuple(_name(i) for i in place[at : at + 2]) != pair:
            return False
    return True


def _place(indices: Sequence[ir.Expr], reader: Func, site: Site | None) -> int | None:
    """Where among the indices the pixel of a reader stands."""
    if site is None:
        return None
    pair = reader.variables[site.at : site.at + 2]
    names = [_name(i) for i in indices]
    return next((d for d in range(len(names) - 1) if tuple(names[d : d + 2]) == pair), None)


def _inside(func: Func, facts: Facts, extents: Mapping[str, ir.Expr]) -> Func:
    """The Func without conditions and limits that hold at all of its pixels, as at the edges of an image that
    has no border here."""

    def narrowed(e: ir.Expr, reduce: Sequence[ReduceVar]) -> ir.Expr:
        one = {r.name: r.start for r in reduce if simplify(r.extent) == ir.const_index(1)}
        known = facts
        for name, extent in extents.items():
            known = known.with_range(name, Interval(ir.const_index(0), sub(extent, 1)))
        for r in reduce:
            last = sub(add(r.start, r.extent), 1)
            known = known.with_range(r.name, Interval(r.start, last))

        def settled(n: ir.Expr) -> ir.Expr:
            if isinstance(n, ir.Access):
                indices = tuple(simplify(substitute(i, one), known) for i in n.indices)
                return replace(n, indices=indices)
            if isinstance(n, ir.Select):
                test = simplify(substitute(n.condition, one), known)
                if isinstance(test, ir.Const):
                    return n.a if test.value else n.b
            return n

        return rewrite(e, settled)

    updates = tuple(replace(u, value=narrowed(u.value, u.reduce)) for u in func.updates)
    return replace(func, pure=narrowed(func.pure, ()), updates=updates)


def _extents(p: Pipeline, live: Mapping[str, Func]) -> dict[str, dict[str, ir.Expr]]:
    """How many values the variables of each Func have, as far as that is known: of an output all, of another
    those that its readers give to it as they are."""
    found: dict[str, dict[str, ir.Expr]] = {}
    for name in reversed(list(live)):
        func, image = live[name], p.output_funcs.get(name)
        if image is not None:
            found[name] = dict(zip(func.variables, image.extents, strict=True))
            continue
        found[name] = {}
        reads = [
            (f, a) for f in live.values() if f.name != name for a in _accesses(f) if a.name == name
        ]
        for d, v in enumerate(func.variables):
            each = {found.get(f.name, {}).get(_name(a.indices[d]) or "") for f, a in reads}
            extent = each.pop() if len(each) == 1 else None
            if extent is not None:
                found[name][v] = extent
    return found


def _flat_inputs(
    p: Pipeline, live: Mapping[str, Func], sites: Mapping[str, Site]
) -> dict[str, Site]:
    """The inputs that are read at pixels of sites alone, in rows as long as theirs."""
    found: dict[str, Site] = {}
    for image in p.inputs:
        if image.constant or image.is_scalar or image.name in p.in_place.values():
            continue
        reads = [(f, a) for f in live.values() for a in _accesses(f) if a.name == image.name]
        each = [_pixel_read(image, a, f, sites.get(f.name)) for f, a in reads]
        if each and each[0] is not None and all(e == each[0] for e in each):
            found[image.name] = each[0]
    return found


def _pixel_read(image: Image, a: ir.Access, reader: Func, site: Site | None) -> Site | None:
    """Where an input is read at a pixel of the reader, or rows from it."""
    if site is None:
        return None
    y, x = reader.variables[site.at : site.at + 2]
    for d in range(len(a.indices) - 1):
        rows = minus(linear(a.indices[d]), linear(ir.Var(y)))
        if (
            _name(a.indices[d + 1]) == x
            and not any(mentions(to_expr(rows), v) for v in (y, x))
            and _equal(image.extents[d + 1], site.row)
        ):
            return Site(d, site.pixel, simplify(image.extents[d]), site.row)
    return None


def _flat_func(
    func: Func, site: Site | None, sites: Mapping[str, Site], images: Mapping[str, Site]
) -> Func:
    """The Func over pixels if it has a site, reading what is flat at pixels."""

    def flat(n: ir.Expr) -> ir.Expr:
        if not isinstance(n, ir.Access) or not (n.name in sites or n.name in images):
            return n
        there = sites[n.name] if n.name in sites else images[n.name]
        row, column = n.indices[there.at : there.at + 2]
        one = add(mul(row, there.row), column)
        if (
            site is not None
            and _name(column) == func.variables[site.at + 1]
            and site.row == there.row
        ):
            rows = minus(linear(row), linear(ir.Var(func.variables[site.at])))
            one = add(ir.Var(site.pixel), mul(to_expr(rows), there.row))
        return replace(n, indices=_joined(n.indices, there.at, simplify(one)))

    values: dict[str, ir.Expr] = {}
    variables = func.variables
    if site is not None:
        pixel, (y, x) = ir.Var(site.pixel), variables[site.at : site.at + 2]
        values = {y: simplify(floordiv(pixel, site.row)), x: simplify(mod(pixel, site.row))}
        variables = (*variables[: site.at], site.pixel, *variables[site.at + 2 :])

    def both(e: ir.Expr) -> ir.Expr:
        return substitute(rewrite(e, flat), values)

    def update(u: Update) -> Update:
        reduce = tuple(
            r if r.ends is None else replace(r, ends=(both(r.ends[0]), both(r.ends[1])))
            for r in u.reduce
        )
        place = u.indices if site is None else _joined(u.indices, site.at, ir.Var(site.pixel))
        return replace(u, indices=place, reduce=reduce)

    placed = replace(func, updates=tuple(map(update, func.updates)))
    return replace(map_func(placed, both), variables=variables)


def _joined(indices: tuple[ir.Expr, ...], at: int, one: ir.Expr) -> tuple[ir.Expr, ...]:
    return (*indices[:at], one, *indices[at + 2 :])


def _flat_image(image: Image, site: Site) -> Image:
    extents = (
        *image.extents[: site.at],
        simplify(mul(image.extents[site.at], image.extents[site.at + 1])),
        *image.extents[site.at + 2 :],
    )
    dims = image.dims or tuple(range(len(image.extents)))
    return replace(image, extents=extents, dims=(*dims[: site.at], *dims[site.at + 1 :]))


def _facts(p: Pipeline) -> Facts:
    """What the entry point tests of the sizes; where nothing is computed nothing needs to hold."""
    known: list[Linear] = [f for r in p.requirements for f in implied(r.condition)]
    least = 1 if len(p.outputs) == 1 else 0
    known += [shifted(linear(e), -least) for o in p.outputs for e in o.extents]
    known += [linear(e) for i in p.inputs for e in i.extents]
    return Facts({}, tuple(f for f in known if f.terms))


def _accesses(func: Func) -> list[ir.Access]:
    """All that the steps of a Func read."""
    each = [func.pure]
    for u in func.updates:
        each += [u.value, *u.indices, *(() if u.condition is None else (u.condition,))]
        each += [e for r in u.reduce for e in (r.ends or ())]
    return [n for e in each for n in nodes_of(e, ir.Access)]


def _reductions(func: Func) -> list[str]:
    return [r.name for u in func.updates for r in u.reduce]


def _name(e: ir.Expr) -> str | None:
    return e.name if isinstance(e, ir.Var) else None


def _equal(a: ir.Expr, b: ir.Expr) -> bool:
    gap = minus(linear(simplify(a)), linear(simplify(b)))
    return not gap.terms and gap.constant == 0
