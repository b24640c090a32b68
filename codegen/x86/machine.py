"""x86 as machines of the vector printers: AVX2, and AVX-512 F/BW/DQ/VL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.codegen.text.registers import Piece
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import convert
from hbc.codegen.vector.lane_masks import LANE_MASKS
from hbc.codegen.vector.machine import Accesses, Machine, Shuffles, as_it_is
from hbc.codegen.vector.predicates import PREDICATES
from hbc.codegen.x86.access import load_live, load_text, scatter, store
from hbc.codegen.x86.convert import AVX2_CASTS, AVX512_CASTS, VIA
from hbc.codegen.x86.functions import halving_fold
from hbc.codegen.x86.gather import gather
from hbc.codegen.x86.hold import held, held_if_widened
from hbc.codegen.x86.known import known_shuffle, widened_bytes
from hbc.codegen.x86.narrow import saturated_by_moves, saturated_by_packs
from hbc.codegen.x86.ops import AVX2_ROWS, AVX512_ROWS
from hbc.codegen.x86.permute import by_places, permuted, picked, shuffled, source
from hbc.codegen.x86.repeat import repeated, repeated_word
from hbc.codegen.x86.rows import load_rows, repeated_group
from hbc.codegen.x86.small_table import looked_up
from hbc.codegen.x86.types import (
    X86_REGISTERS,
    block_of,
    broadcast,
    cast_register,
    cast_words,
    lane_value,
    set1,
    setr,
    words,
)  # fmt: skip
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.vectors.take import integer


def _group_again(e: ir.Load, base: ir.Expr, offsets: tuple[int, ...], unit: Unit) -> str | None:
    group = repeated_group(e, offsets)
    if group is None:
        return None
    if e.type.element == BOOL:  # a vector of them is a mask, a load is of bytes
        return repeated_word(group, unit)
    return unit.printers.vector(group, unit)


def _pieces(pieces: Mapping[Piece, str], lanes: Sequence[int], t: DType, unit: Unit) -> str | None:
    """Lanes of several registers, each as long as the result."""
    found = [(p, source(*p, lanes)) for p in sorted(pieces)]
    used = [(p, picks) for p, picks in found if max(picks) >= 0]
    if any(p[1] != len(lanes) for p, _ in used):
        return None
    texts = [pieces[p] for p, _ in used]
    known = known_shuffle(texts, [picks for _, picks in used], t, unit)
    return known or shuffled([pieces[p] for p, _ in used], [picks for _, picks in used], t, unit)


def _resized(text: str, width: int, wanted: int, lanes: int, unit: Unit) -> str:
    return convert(text, integer(width), integer(wanted), lanes, unit)


AVX512 = Machine(
    registers=X86_REGISTERS,
    words=words,
    rows=AVX512_ROWS,
    cast_words=cast_words,
    casts=AVX512_CASTS,
    via=VIA,
    broadcast=broadcast,
    alike=set1,
    lanes_of=setr,
    reinterpret=cast_register,
    masks=PREDICATES,
    accesses=Accesses(
        load_text, load_live, store, _group_again, permuted, load_rows, gather, scatter, looked_up
    ),
    shuffles=Shuffles(repeated, picked, _pieces, block_of, widened_bytes, by_places),
    fold=halving_fold,
    element=lane_value,
    narrowed=saturated_by_moves,
    held=held,
    chosen=held_if_widened,
    mask_bits=512,
)
AVX2 = replace(
    AVX512, rows=AVX2_ROWS, casts=AVX2_CASTS, masks=replace(LANE_MASKS, resized=_resized),
    narrowed=saturated_by_packs, chosen=as_it_is, mask_bits=256,
    reduced=lambda lanes: 32 if lanes <= 8 else 8,
)  # fmt: skip
