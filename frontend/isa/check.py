"""Checks instruction descriptions: syntax trees of any number of files to one InstructionSet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.clauses import check_costs, check_needs, check_rounding, check_templates
from hbc.frontend.isa.declare import check_feature, check_place, check_target
from hbc.frontend.isa.fragments import check_fragments, check_shared
from hbc.frontend.isa.meaning import check_meaning
from hbc.frontend.isa.properties import Reports
from hbc.frontend.text import ast
from hbc.ir.ground.diag import HbcError, Note, did_you_mean
from hbc.ir.lang.instruction import Instruction, InstructionSet, Place, Rounding
from hbc.ir.lang.target import Feature
from hbc.ir.meaning.contraction import corners, terms

Named = TypeVar("Named", isa_ast.Feature, isa_ast.Place, isa_ast.Target, isa_ast.Instruction)


def check_descriptions(files: Sequence[isa_ast.Descriptions]) -> InstructionSet:
    """What the files describe. Names may be used before, or in another file than, their declaration.
    Raises HbcError with every independent mistake."""
    reports = Reports()
    every = [d for f in files for d in f.described]
    features = {
        name: check_feature(f, reports)
        for name, f in unique([d for d in every if isinstance(d, isa_ast.Feature)], reports).items()
    }
    places = {
        name: check_place(p, reports)
        for name, p in unique([d for d in every if isinstance(d, isa_ast.Place)], reports).items()
    }
    targets = unique([d for d in every if isinstance(d, isa_ast.Target)], reports)
    made = [check_target(t, features, reports) for t in targets.values()]
    described = unique([d for d in every if isinstance(d, isa_ast.Instruction)], reports)
    instructions = [check_instruction(i, places, features, reports) for i in described.values()]
    if reports.found:
        raise HbcError(reports.found)
    return InstructionSet(
        tuple(i for i in instructions if i is not None),
        tuple(made),
        tuple(places.values()),
        tuple(features.values()),
    )


def unique(described: Sequence[Named], reports: Reports) -> dict[str, Named]:
    """By name; a second one of the same name is reported."""
    by_name: dict[str, Named] = {}
    for d in described:
        name = d.name.text
        if name in by_name:
            what = type(d).__name__.lower()
            note = Note("first described here", by_name[name].name.span)
            reports.report(f"the {what} `{name}` is described twice", d.name.span, None, note)
        else:
            by_name[name] = d
    return by_name


def check_instruction(
    i: isa_ast.Instruction,
    places: Mapping[str, Place],
    features: Mapping[str, Feature],
    reports: Reports,
) -> Instruction | None:
    """The record, or None after reporting why there is none."""
    place = known_place(i.place, places, reports)
    if place is None:
        return None
    before = len(reports.found)
    meaning = check_meaning(i, place, reports)
    templates = check_templates(i, place, reports)
    cost = check_costs(i, reports)
    needs = check_needs(i, place, features, reports)
    if meaning is None:
        return None
    made = Instruction(
        name=i.name.text, place=place, operands=meaning.operands,
        accumulator=meaning.accumulator, factors=meaning.factors, sizes=meaning.sizes,
        rows=meaning.rows, rounding=Rounding(),
        templates=templates, cost=cost, needs=needs, span=i.span,
    )  # fmt: skip
    counts = [terms(made, sizes) for sizes in corners(made.sizes)]
    element = made.operands[made.accumulator].element
    shared = check_shared(i, place, made.operands, made.accumulator, reports)
    made = replace(
        made,
        rounding=check_rounding(i, element, counts, reports),
        fragments=check_fragments(i, place, made.operands, shared, reports),
        shared=shared,
    )
    return made if len(reports.found) == before else None


def known_place(name: ast.Ident, places: Mapping[str, Place], reports: Reports) -> Place | None:
    """The place of that name, or None after reporting that there is none."""
    if name.text not in places:
        hint = did_you_mean(name.text, places) or "declare it: `place NAME { ... }`"
        reports.report(f"there is no place `{name.text}`", name.span, hint)
        return None
    return places[name.text]
