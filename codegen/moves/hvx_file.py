"""The C file around the body of a function that moves elements between HVX registers."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.moves.hvx_fold import definition, types
from hbc.codegen.moves.text import Constants
from hbc.codegen.text.spelling import c_type, int_type
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType

BYTES = 128  # of a register
QUARTERS = 4  # of a register, in tables of 32 bytes
FLAGS = "--target=hexagon-unknown-linux-musl -mv66 -mhvx -mhvx-length=128b"


@record
class Result:
    """An argument: so many elements of each problem, in registers or single numbers for all."""

    pointer: str
    size: int
    registers: bool


@record
class HvxFile:
    """The parts of the file."""

    name: str
    dtype: DType
    lanes: int
    inputs: tuple[Result, ...]
    outputs: tuple[Result, ...]
    body: tuple[str, ...]
    folds: tuple[str, ...]
    constants: Constants

    @property
    def problems(self) -> int:
        """How many a lane holds an element of."""
        return BYTES // self.lanes // self.dtype.bytes


def hvx_text(file: HvxFile, notes: Sequence[str]) -> str:
    out = Writer()
    for note in notes:
        out.comment(note)
    out.comment(f"Needs clang {FLAGS}.")
    for header in ("hexagon_types.h", "hexagon_protos.h", "hvx_hexagon_protos.h", "stdint.h"):
        out.directive(f"#include <{header}>")
    out.blank()
    body = "\n".join(file.body)
    if file.folds:
        for line in types(file.dtype):
            out.line(line)
        out.blank()
        for operation in file.folds:
            out.raw(definition(operation, file.dtype))
            out.blank()
    _helpers(out, file, body)
    for constant, name in file.constants.names.items():
        size = BYTES // len(constant.values)
        values = ", ".join(str(value & 0xFF) for value in constant.values for _ in range(size))
        out.line(
            f"static const uint8_t {name}_table[{BYTES}] __attribute__((aligned({BYTES}))) ="
            f" {{{values}}};"
        )
    _function(out, file)
    return out.text()


def _helpers(out: Writer, file: HvxFile, body: str) -> None:
    """What is spread over a register, permuted, or stored in part; where it is used."""
    bits = file.dtype.bits
    if "splat(" in body:
        factor = {8: "0x01010101u", 16: "0x10001u", 32: "1u"}[bits]
        word = int_type(bits, signed=False)
        out.raw(
            f"static inline HVX_Vector splat({word} value)\n{{\n"
            f"    return Q6_V_vsplat_R(value * {factor});\n}}"
        )
        out.blank()
    if "permuted(" in body:
        quarters = "".join(
            f"    made = Q6_Vb_vlut32or_VbVbVbI(made, from, pairs, {quarter});\n"
            for quarter in range(1, QUARTERS)
        )
        out.comment("Byte from[i] of u for every i: looked up in one quarter of u after the other.")
        out.raw(
            "static inline HVX_Vector permuted(HVX_Vector u, HVX_Vector from)\n{\n"
            "    const HVX_Vector pairs = Q6_Vb_vshuff_Vb(u);\n"
            "    HVX_Vector made = Q6_Vb_vlut32_VbVbI(from, pairs, 0);\n"
            f"{quarters}"
            "    return made;\n}"
        )
        out.blank()
    if "store_part(" in body:
        out.raw(
            "static void store_part(HVX_Vector *to, HVX_Vector from, int bytes)\n{\n"
            "    for (int byte = 0; byte < bytes; byte++)\n"
            "        ((uint8_t *)to)[byte] = ((const uint8_t *)&from)[byte];\n}"
        )
        out.blank()


def _function(out: Writer, file: HvxFile) -> None:
    word = int_type(file.dtype.bits, signed=False)
    arrays = (*file.inputs, *file.outputs)
    inner = f"[{file.problems}]" if file.problems > 1 else ""
    sizes = [f"{a.pointer}[{a.size}]{inner if a.registers else ''}" for a in arrays]
    out.blank()
    out.comment(
        f"{', '.join(sizes)} of {c_type(file.dtype)}, row-major; registers are aligned to {BYTES} bytes."
    )
    if file.problems > 1:
        out.comment(f"The last axis of {file.problems} are independent problems.")
    parameters = [
        f"const {'HVX_Vector' if a.registers else word} *{a.pointer}" for a in file.inputs
    ]
    parameters += [f"HVX_Vector *{a.pointer}" for a in file.outputs]
    out.function(f"void {file.name}", parameters, "")
    with out.braces():
        for name in file.constants.names.values():
            out.line(f"const HVX_Vector {name} = *(const HVX_Vector *){name}_table;")
        out.lines += file.body
