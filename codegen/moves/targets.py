"""The targets that code can be printed for, of a movement: one row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.moves.bytes import emit_bytes
from hbc.codegen.moves.cuda import emit_cuda
from hbc.codegen.moves.file import AVX2, AVX512, NEON, SVE256, VectorTarget
from hbc.codegen.moves.hvx import emit_hvx, lanes_of_files
from hbc.codegen.moves.x86 import emit_x86
from hbc.ir.ground.record import record
from hbc.ir.lang.types import DType
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import Movement

# movement, element type, the instructions (None for targets without `moves`), notes for the head
Emit = Callable[[Movement, DType, InstructionTable | None, Sequence[str]], str]


@record
class GatherPrinter:
    """`moves`: the file under `isa/` that describes the instructions, for registers of
    `register_bits`; empty where the printer needs none. `suffix` is that of its files."""

    about: str
    suffix: str
    emit: Emit
    moves: str = ""
    register_bits: int = 0
    lanes: Callable[[Movement], int] | None = None  # of a register, where the sketch says so

    @property
    def finds_changes(self) -> bool:
        """Whether layout changes are looked for by name: registers always have as many lanes."""
        return bool(self.moves) and self.lanes is None


def _x86(target: VectorTarget) -> Emit:
    def emit(
        movement: Movement, dtype: DType, table: InstructionTable | None, notes: Sequence[str]
    ) -> str:
        assert table is not None
        return emit_x86(movement, dtype, table, target, notes)

    return emit


PRINTERS: dict[str, GatherPrinter] = {
    "avx512": GatherPrinter("C with AVX-512", ".c", _x86(AVX512), "avx512_moves.sf", 512),
    "avx2": GatherPrinter("C with AVX2", ".c", _x86(AVX2), "avx2_moves.sf", 256),
    "neon": GatherPrinter("C with NEON", ".c", _x86(NEON), "neon_moves.sf", 128),
    "sve256": GatherPrinter("C with SVE", ".c", _x86(SVE256), "sve_moves.sf", 256),
    "cuda_sm80": GatherPrinter("CUDA C++", ".cu", emit_cuda),
    "cuda_sm90": GatherPrinter("CUDA C++", ".cu", emit_cuda),
    "cuda_bytes": GatherPrinter("CUDA C++ of a thread", ".cu", emit_bytes, "cuda_bytes.sf", 32),
    "hvx": GatherPrinter("C with HVX", ".c", emit_hvx, "hvx_moves.sf", 1024, lanes_of_files),
}
