"""C that executes described instructions for as long as they take: what measures their costs.

Everything comes from a description: registers from its place, the statement from its `emit`. For each
instruction there are three functions of `rounds`: `apart` with as many sums as hide a latency, `chain` with
one, and `cycles`, a chain of additions of integers beside the instruction, each of which takes a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from math import prod

from hbc.codegen.text.instruction_text import rows_statement, statement
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import X86
from hbc.ir.lang.types import Memory
from hbc.ir.meaning.contraction import largest, shape

APART, CHAIN, CYCLES = "apart", "chain", "cycles"
KINDS = (APART, CHAIN, CYCLES)
MOST_SUMS = 16  # more than two in a cycle, each of which takes six
IN_CHAIN = 8  # instructions of a chain in a round
ADDITIONS = 64  # of integers in a round: beside them fits an instruction that takes as long
BYTE = 0x3C  # of all operands: neither zero nor subnormal nor infinite, as whatever type
DATA = 4096  # bytes: of the largest register

# Makes a compiler believe that the value is used and changed here. An addition of a register: those of
# constants some processors do while they rename registers, in no time.
HEAD = f"""#include <stdint.h>
#include <string.h>
#define KEEP(kind, value) __asm__ volatile("" : "+" kind (value))
#define ADD sum += one; KEEP("r", sum);
#define EIGHT(x) x x x x x x x x
static unsigned char data[{DATA}];
"""


@record
class Parts:
    """Of the functions for an instruction: what goes before the loop and behind it, and the instruction for
    each of its sums."""

    begin: str
    end: str
    steps: tuple[str, ...]


def per_round(i: Instruction, kind: str) -> int:
    """How many instructions a round of a function has, or additions."""
    return {APART: sums_of(i), CHAIN: IN_CHAIN, CYCLES: ADDITIONS}[kind]


def sums_of(i: Instruction) -> int:
    """How many sums there are registers for, beside the factors."""
    return min(MOST_SUMS, i.place.count - len(i.factors))


def program(instructions: Sequence[Instruction], compiler: str) -> str:
    """The text, for these instructions of one machine, of which a compiler knows all."""
    headers = dict.fromkeys(i.place.header for i in instructions)
    text = "".join(f"#include <{h}>\n" for h in headers) + HEAD
    if any(is_tile(i) for i in instructions):
        text += "".join(_template(name) for name in ("amx_probe.h", "amx_intrinsics.h"))
    return text + "".join(_functions(i, compiler) for i in instructions)


def is_tile(i: Instruction) -> bool:
    return i.place.memory is Memory.AMX_TILE


def _template(name: str) -> str:
    return resources.files("hbc.codegen.templates").joinpath(name).read_text(encoding="utf-8")


def _functions(i: Instruction, compiler: str) -> str:
    parts = _of_tiles(i, compiler) if is_tile(i) else _of_registers(i, compiler)
    return (
        _function(APART, i, parts, "".join(parts.steps))
        + _function(CHAIN, i, parts, parts.steps[0] * IN_CHAIN)
        + _function(CYCLES, i, parts, f"EIGHT(EIGHT(ADD)) {parts.steps[0]}")
    )


def _function(kind: str, i: Instruction, parts: Parts, body: str) -> str:
    name = f"{kind}_{i.name}"
    return (
        f"int {name}(int64_t rounds);\nint {name}(int64_t rounds) {{\n"
        f"    int64_t sum = 1, one = 1;\n    memset(data, {BYTE:#x}, sizeof data);\n    {parts.begin}\n"
        '    KEEP("r", sum); KEEP("r", one);\n'
        f"    for (int64_t n = 0; n < rounds; n++) {{ {body} }}\n"
        f"    {parts.end}\n    return 0;\n}}\n"
    )


def _of_registers(i: Instruction, compiler: str) -> Parts:
    """Sums and factors as C variables."""
    own = {n: i.operands[n].name for n in (i.accumulator, *i.factors)}
    kept = i.place.constraint or ("x" if i.place.machine == X86 else "w")
    count = sums_of(i)
    names = [f"sum_{n}" for n in range(count)]
    registers = [(name, i.accumulator) for name in names]
    registers += [(f"factor_{own[n]}", n) for n in i.factors]
    begin = keep = ""
    for name, n in registers:
        begin += f"{i.place.c_type(i.operands[n].element)} {name}; memcpy(&{name}, data, sizeof {name}); "
        keep += f'KEEP("{kept}", {name}); '
    factors = {own[n]: f"factor_{own[n]}" for n in i.factors}
    steps = tuple(
        statement(i, compiler, {**factors, own[i.accumulator]: name}) + " " for name in names
    )
    return Parts(begin + keep, keep, steps)


def _of_tiles(i: Instruction, compiler: str) -> Parts:
    """The same in tile registers, which are configured for the largest tiles."""
    count, order = sums_of(i), (i.accumulator, *i.factors)
    numbers = {i.operands[n].name: str(count + at) for at, n in enumerate(i.factors)}
    rows = {n: _rows(i, n, largest(i)) for n in order}
    held = [rows[i.accumulator]] * count + [rows[n] for n in i.factors]
    begin = "unsigned char config[64] = {1}; if (!(amx_features() & AMX_TILE)) return 1; "
    for number, (high, wide) in enumerate(held):
        begin += f"config[{16 + 2 * number}] = {wide}; config[{48 + number}] = {high}; "
    begin += "_tile_loadconfig(config); "
    for number, (_, wide) in enumerate(held):
        begin += rows_statement(i.place.load, str(number), "data", str(wide)) + " "
    steps = tuple(
        statement(i, compiler, {**numbers, i.operands[i.accumulator].name: str(n)}) + " "
        for n in range(count)
    )
    return Parts(begin, "_tile_release();", steps)


def _rows(i: Instruction, operand: int, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The rows of an operand's tile, and their bytes."""
    rows, *columns = shape(i, operand, dict(sizes))
    return rows, prod(columns) * i.operands[operand].element.bytes
