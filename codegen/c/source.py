"""What the C printer makes. Apart from the printer, which most who build the text can do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.ir.lang.instruction import Instruction
    from hbc.ir.lang.target import Feature


@record
class CSource:
    """The texts of NAME.c and NAME.h. `parallel`: it uses OpenMP; `simd`: x86 intrinsics. `flags`:
    those of its `instructions`, which the C compiler wants besides the target's. `asks`: the features for
    which it asks the processor. `packs`: the constant inputs, for which it has entry points."""

    name: str
    text: str
    header: str
    parallel: bool = False
    simd: bool = False
    flags: tuple[str, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    asks: tuple[Feature, ...] = ()
    packs: tuple[str, ...] = ()
