"""Prints instructions as C: statements from the templates of their descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.compiler_flags import is_allowed
from hbc.ir.lang.instruction import Instruction

PLACEHOLDER = re.compile(r"\{(\w+)\}")


def statement(i: Instruction, compiler: str, names: Mapping[str, str]) -> str:
    """The C statement that executes the instruction on registers of these names, by operand: C
    variables, or numbers where the place has numbered registers."""
    template = i.template(compiler)
    if not template.is_asm:
        return fill(template.text, names)
    order = [i.operands[n].name for n in (i.accumulator, *i.factors)]
    numbers = {name: f"%{n}" for n, name in enumerate(order)}
    text = fill(template.text, numbers)
    constraint = i.place.constraint
    inputs = ", ".join(f'"{constraint}"({names[name]})' for name in order[1:])
    return f'__asm__("{text}" : "+{constraint}"({names[order[0]]}) : {inputs});'


def rows_statement(template: str, register: str, pointer: str, stride: str) -> str:
    """The C statement of a place that fills a numbered register from rows `stride` bytes apart, or
    stores it to them."""
    return fill(template, {"register": register, "pointer": pointer, "stride": stride})


def compile_flags(instructions: Sequence[Instruction]) -> list[str]:
    """The options with which a C compiler knows the instructions, all of one machine."""
    needed = [f for i in instructions for f in i.needs if f.flag]
    if wrong := [f.flag for f in needed if not is_allowed(f.machine, f.flag)]:
        raise InternalError(f"the option `{wrong[0]}` was not refused where it is described")
    flags = list(dict.fromkeys(f.flag for f in needed))
    if flags and needed[0].machine == "aarch64":
        return ["-march=armv8.2-a+" + "+".join(flags)]
    return flags


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its placeholders replaced; the checker knows that all are given."""
    return PLACEHOLDER.sub(lambda m: values[m[1]], template)
