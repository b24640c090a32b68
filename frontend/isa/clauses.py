"""Checks the rounding, the text, the cost and the needs of an instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.declare import check_cost, check_placeholders, named_features
from hbc.frontend.isa.properties import NAME, WHOLE, Entry, Reports, read_properties
from hbc.frontend.text import ast
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.lang.instruction import (
    Cost,
    Mode,
    Order,
    Overflow,
    Place,
    Product,
    Rounding,
    Subnormals,
    Template,
)  # fmt: skip
from hbc.ir.lang.target import Feature
from hbc.ir.lang.types import DType

COMPILERS = ("gcc", "clang")

INTEGER = {"overflow": Entry(NAME, choices=tuple(Overflow))}
FLOAT = {
    "product": Entry(NAME, choices=tuple(Product)),
    "mode": Entry(NAME, Mode.NEAREST.value, tuple(Mode)),
    "subnormals": Entry(NAME, Subnormals.KEPT.value, tuple(Subnormals)),
    "order": Entry(NAME, Order.ASCENDING.value, tuple(Order)),
    "chains": Entry(WHOLE, 0),
    "group": Entry(WHOLE, 0),
}


def check_rounding(
    i: isa_ast.Instruction, to: DType, counts: Sequence[int], reports: Reports
) -> Rounding:
    """How the sum into an element of type `to` rounds; it has any of `counts` terms."""
    written = [b for b in i.body if isinstance(b, isa_ast.Rounding)]
    for second in written[1:]:
        note = Note("the first one", written[0].span)
        reports.report("the rounding is stated twice", second.span, None, note)
    if not written:
        if to.is_float:
            reports.report(
                f"`{i.name.text}` sums floats and does not say how they round", i.name.span,
                "write `rounding { product fused }`, and the order of the sum if it matters",
            )  # fmt: skip
        return Rounding()
    (r, *_) = written
    if not to.is_float:
        v = read_properties(r.properties, INTEGER, r.span, reports)
        if v["overflow"] == Overflow.SATURATES and to.bits > 32:
            reports.report(f"sums of `{to}` do not saturate: at most 32 bits do", r.span)
        return Rounding(overflow=Overflow(v["overflow"]))
    v = read_properties(r.properties, FLOAT, r.span, reports)
    chains, group = v["chains"], v["group"]
    for count in counts:
        if group and count % group:
            reports.report(f"groups of {group} do not divide the {count} terms of a sum", r.span)
            break
        if chains and (group or count) % chains:
            reports.report(f"{chains} chains do not share {group or count} terms evenly", r.span)
            break
    if v["mode"] == Mode.ODD and to.bits > 32:
        reports.report(f"`mode odd` is known for at most 32 bits, and the sum is `{to}`", r.span)
    return Rounding(
        product=Product(v["product"]), mode=Mode(v["mode"]), order=Order(v["order"]),
        subnormals=Subnormals(v["subnormals"]), chains=chains, group=group,
    )  # fmt: skip


def check_templates(i: isa_ast.Instruction, place: Place, reports: Reports) -> tuple[Template, ...]:
    """What is printed, for each compiler."""
    written = [c for c in i.clauses if isinstance(c, isa_ast.Emit)]
    operands = tuple(dict.fromkeys(o.name.text for o in i.operands))
    seen: dict[str | None, isa_ast.Emit] = {}
    made = []
    for e in written:
        compiler = e.compiler.text if e.compiler else None
        if compiler is not None and compiler not in COMPILERS:
            hint = did_you_mean(compiler, COMPILERS) or f"known are {', '.join(COMPILERS)}"
            reports.report(f"there is no compiler `{compiler}`", e.span, hint)
        if compiler in seen:
            note = Note("the first one", seen[compiler].span)
            whom = f"for {compiler}" if compiler else "for every compiler"
            reports.report(f"there are two templates {whom}", e.span, None, note)
        seen[compiler] = e
        before = len(reports.found)
        placeholders = check_placeholders(e.template, operands, reports)
        lost = [o for o in operands if o not in placeholders]
        if lost and len(reports.found) == before:
            listed = ", ".join(f"`{{{o}}}`" for o in lost)
            reports.report(f"the template does not name {listed}", e.template.span)
        if e.is_asm and not place.constraint:
            reports.report(f"`{place.name}` has no `constraint`, which asm wants", e.span)
        if not e.is_asm and not e.template.value.rstrip().endswith(";"):
            reports.report(
                "the template is no statement", e.template.span, "end it with `;`, or write `asm`"
            )
        made.append(Template(compiler, e.is_asm, e.template.value, e.span))
    lacking = [c for c in COMPILERS if c not in seen and None not in seen]
    if lacking:
        reports.report(
            f"`{i.name.text}` has no template for {' and '.join(lacking)}", i.name.span,
            'write `emit "...;"` for every compiler, or one for each',
        )  # fmt: skip
    return tuple(made)


def check_costs(i: isa_ast.Instruction, reports: Reports) -> Cost:
    """The one cost clause."""
    costs = [c for c in i.clauses if isinstance(c, isa_ast.Cost)]
    if len(costs) != 1:
        span = costs[1].span if costs else i.name.span
        wrong = "has two costs" if costs else "has no cost"
        reports.report(
            f"`{i.name.text}` {wrong}", span, "write `cost { latency 4; per_cycle 1 }`, in cycles"
        )
        return Cost(1, 1)
    return check_cost(costs[0], reports)


def check_needs(
    i: isa_ast.Instruction, place: Place, features: Mapping[str, Feature], reports: Reports
) -> tuple[Feature, ...]:
    """The features that the instruction needs, all of the machine that has its registers."""
    names = [n for c in i.clauses if isinstance(c, isa_ast.Needs) for n in c.features]
    if not names:
        reports.report(f"`{i.name.text}` needs no feature", i.name.span, "write `needs FEATURE`")
    named = named_features(tuple(names), features, reports)
    by_name: dict[str, ast.Ident] = {n.text: n for n in names}
    for f in named:
        if f.machine != place.machine:
            reports.report(
                f"`{f.name}` is a feature of {f.machine}, `{place.name}` is of {place.machine}",
                by_name[f.name].span,
            )  # fmt: skip
    return named
