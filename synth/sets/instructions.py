"""Builds the table of a target's instructions from their descriptions in text.

A description is a set of gathers of one register, or up to four, with the code of the instruction:

    set permute(u: [n]) -> [n] = \\i. u[j] for each j in n as "_mm512_permutexvar_epi32({vector j}, {u})"

`each j in n` lets every output element choose j for itself, `each(g)` every g elements together.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.diag import error
from hbc.ir.moves.gather import Locations
from hbc.ir.moves.index_expr import OUTSIDE, Argument, Scope, evaluate, locate
from hbc.ir.moves.instruction_table import OPERANDS, Choices, Form, InstructionTable
from hbc.ir.moves.sketch import Binder, Family, Option, SetDefinition
from hbc.synth.sets.families import Columns, admitted, integers


def instruction_table(
    name: str,
    definitions: Mapping[str, SetDefinition],
    constants: Mapping[str, Option],
    lanes: int,
    bits: int,
) -> InstructionTable:
    """The instructions among the definitions: the parts that have a spelling. HbcError for one that
    is not of registers, or whose code names what it does not choose."""
    forms: list[Form] = []
    for definition in definitions.values():
        for part in definition.parts:
            if isinstance(part, Family) and part.spelling:
                found = forms_of(definition, part, integers(constants), lanes)
                forms += [form for form, _ in found]
    return InstructionTable(name, lanes, bits, tuple(sorted(forms, key=lambda form: form.cost)))


def forms_of(
    definition: SetDefinition, family: Family, constants: Mapping[str, int], lanes: int
) -> list[tuple[Form, Locations]]:
    """One form for each value of the variables that are not chosen by elements, and the location that each
    element reads by each alternative."""
    parameters = definition.parameters or ()
    if not 1 <= len(parameters) <= len(OPERANDS) or len(family.variables) != 1:
        raise error(
            f"the instruction `{definition.name}` makes one register of one to four",
            family.span, "write `set name(u: [n], v: [n]) -> [n] = \\i. ... as \"...\"`",
        )  # fmt: skip
    names = {**constants, "n": lanes}
    arguments = {p.name: Argument((lanes,), at * lanes) for at, p in enumerate(parameters)}
    fixed = tuple(binder for binder in family.binders if binder.each is None)
    free = tuple(binder for binder in family.binders if binder.each is not None)
    outer = Family(family.variables, family.body, fixed, family.condition, family.span, family.text)
    columns = admitted(outer, names)
    count = len(next(iter(columns.values()))) if columns else 1
    return [
        _form(family, free, {**names, **_row(columns, row)}, arguments, lanes)
        for row in range(count)
    ]


def _row(columns: Columns, row: int) -> dict[str, int]:
    return {name: int(column[row]) for name, column in columns.items()}


def _form(
    family: Family, free: tuple[Binder, ...], values: dict[str, int],
    arguments: Mapping[str, Argument], lanes: int,
) -> tuple[Form, Locations]:  # fmt: skip
    among = alternatives(free, values)
    per = 1
    for binder in free:
        assert binder.each is not None
        per = int(evaluate(binder.each, Scope(values)))
        if per < 1 or lanes % per:
            raise error(f"{lanes} elements are no multiple of {per}", binder.span)
    spread = {name: choices[None, :] for name, choices in among.items()}
    places = {family.variables[0]: np.arange(lanes)[:, None]}
    located = np.asarray(locate(family.body, Scope({**values, **spread, **places}, arguments)))
    count = len(next(iter(among.values()))) if among else 1
    locations = np.broadcast_to(located, (lanes, count))
    inverse = _inverse(locations, sum(prod(a.shape) for a in arguments.values()))
    form = Form(family.spelling, len(arguments), values, family.cost, per, among, inverse)
    return form, locations


def alternatives(free: tuple[Binder, ...], values: Mapping[str, int]) -> dict[str, Choices]:
    """Every combination of what one unit may choose."""
    by_choice: dict[str, Choices] = {}
    count = 1
    for binder in free:
        scope = Scope({**values, **by_choice})
        if binder.listed:
            listed = [np.broadcast_to(evaluate(v, scope), (count,)) for v in binder.listed]
            choices = np.stack(listed, axis=1)
        else:
            assert binder.end is not None
            first = 0 if binder.first is None else int(evaluate(binder.first, Scope(values)))
            end = int(evaluate(binder.end, Scope(values)))
            choices = np.broadcast_to(np.arange(first, end), (count, max(0, end - first)))
        width = choices.shape[1]
        by_choice = {name: np.repeat(chosen, width) for name, chosen in by_choice.items()}
        by_choice[binder.name] = choices.reshape(-1).astype(np.int64)
        count *= width
    return by_choice


def _inverse(locations: Locations | NDArray[np.int64], size: int) -> NDArray[np.int32]:
    """[element, 2 + location]: the first alternative that brings the location there."""
    lanes, count = locations.shape
    inverse = np.full((lanes, size + 2), -1, dtype=np.int32)
    element = np.broadcast_to(np.arange(lanes)[:, None], locations.shape)
    inside = locations != OUTSIDE
    number = np.broadcast_to(np.arange(count)[None, :], locations.shape)
    # Backwards, so that the first of several is what remains.
    inverse[element[inside][::-1], locations[inside][::-1] + 2] = number[inside][::-1]
    return inverse
