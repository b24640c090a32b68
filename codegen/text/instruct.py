"""Tensor instructions in vector registers, as C: a function for each, from its description's text.

    acc_3 = execute_vpdpbusd_zmm(acc_3, A_0, B_1);

The function says what each compiler wants to read (see `instruction_text`). It is inlined, and its
accumulator, which it takes and returns, stays in the register that the caller keeps it in.
"""

from __future__ import annotations

from hbc.codegen.text.instruction_text import statement
from hbc.codegen.text.names import identifier
from hbc.codegen.text.unit import Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction, Operand
from hbc.ir.lang.target import X86
from hbc.ir.lang.types import DType, Memory
from hbc.ir.meaning.contraction import shape


def execution(e: ir.Instruct, unit: Unit) -> str:
    """The C text of what the accumulator holds after one execution."""
    i = unit.instructions[e.name]
    arguments = ", ".join(unit.printers.vector(a, unit) for a in e.args)
    return f"{_function(i, dict(e.sizes), unit)}({arguments})"


def is_vector(i: Instruction) -> bool:
    """Whether its operands are C variables, not numbered tiles."""
    return i.place.memory is Memory.REGISTER


def _function(i: Instruction, sizes: dict[str, int], unit: Unit) -> str:
    name = "_".join([f"execute_{identifier(i.name)}", *(str(n) for n in sizes.values())])
    kinds = [_register(o.element, shape(i, n, sizes), unit) for n, o in enumerate(i.operands)]
    parameters = [identifier(o.name) for o in i.operands]
    declared = ", ".join(f"{k} {p}" for k, p in zip(kinds, parameters, strict=True))
    result = kinds[i.accumulator]
    lines = [*_body(i, kinds), f"    return {parameters[i.accumulator]};"]
    text = "\n".join([f"static inline {result} {name}({declared})", "{", *lines, "}", ""])
    return unit.prelude.add(name, text)


def _register(element: DType, extents: tuple[int, ...], unit: Unit) -> str:
    """The C type that this backend keeps an operand in."""
    lanes = 1
    for n in extents:
        lanes *= n
    return unit.registers.type(element, lanes)


def _body(i: Instruction, kinds: list[str]) -> list[str]:
    """The statements, for each compiler where they differ."""
    texts = {c: _statements(i, c, kinds) for c in ("clang", "gcc")}
    if texts["clang"] == texts["gcc"]:
        return texts["gcc"]
    others = " || defined(_MSC_VER) || defined(SOFT_VECTORS)" if i.place.machine == X86 else ""
    return [f"#if defined(__clang__){others}", *texts["clang"], "#else", *texts["gcc"], "#endif"]


def _statements(i: Instruction, compiler: str, kinds: list[str]) -> list[str]:
    """One, on the parameters; between two conversions where the accumulator has another type."""
    names = {o.name: _seen(o, kind, i) for o, kind in zip(i.operands, kinds, strict=True)}
    total, kind = i.operands[i.accumulator], kinds[i.accumulator]
    parameter, own = identifier(total.name), i.place.c_type(total.element)
    if own == kind:
        return [f"    {statement(i, compiler, names | {total.name: parameter})}"]
    inner = f"{parameter}_own"
    return [
        f"    {own} {inner} = ({own}){parameter};",
        f"    {statement(i, compiler, names | {total.name: inner})}",
        f"    {parameter} = ({kind}){inner};",
    ]


def _seen(o: Operand, kind: str, i: Instruction) -> str:
    """A parameter with the C type that the description wants."""
    own, parameter = i.place.c_type(o.element), identifier(o.name)
    return parameter if own in (kind, None) else f"({own}){parameter}"
