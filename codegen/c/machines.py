"""How each machine's vectors are printed. A machine is imported when something is printed for it."""

from __future__ import annotations

from functools import cache

from hbc.codegen.text.scalar import declare
from hbc.codegen.text.unit import Printers
from hbc.codegen.vector.printers import printers
from hbc.ir.lang import target


@cache
def printers_of(machine: str, vector_bits: int) -> Printers | None:
    """The printers of a machine with vectors of so many bits, or None if there are none."""
    match machine, vector_bits:
        case "", 0:
            return Printers(declare=declare)
        case target.X86, 256 | 512:
            from hbc.codegen.x86.machine import AVX2, AVX512

            return printers(AVX2 if vector_bits == 256 else AVX512)
        case target.ARM, 128:
            from hbc.codegen.neon.machine import NEON

            return printers(NEON)
        case target.RISCV, 128 | 256 | 512:
            from hbc.codegen.rvv.machine import rvv

            return printers(rvv(vector_bits))
    return None
