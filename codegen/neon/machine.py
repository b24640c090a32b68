"""NEON as a machine of the vector printers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.codegen.neon.access import (
    load_live,
    load_structures,
    load_text,
    repeated,
    store,
    store_structures,
)
from hbc.codegen.neon.convert import CASTS, VIA, resized, saturate
from hbc.codegen.neon.ops import ROWS, reduced_width
from hbc.codegen.neon.permute import joined, permuted, picked, widened_bytes
from hbc.codegen.neon.rows import load_rows
from hbc.codegen.neon.small_table import looked_up
from hbc.codegen.neon.types import (
    NEON_REGISTERS,
    broadcast,
    copies,
    kind,
    lanes_of,
    mask_kind,
    q,
    register_bits,
    reinterpret,
    words,
)  # fmt: skip
from hbc.codegen.text.registers import Piece
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.lane_masks import LANE_MASKS
from hbc.codegen.vector.load import load
from hbc.codegen.vector.machine import Accesses, LoadText, Machine, Shuffles
from hbc.codegen.vector.store import fold_lanes
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Memory
from hbc.ir.vectors.lane_offsets import lane_offsets


def _seen_as(text: str, s: DType, t: DType, lanes: int) -> str:
    return reinterpret(text, kind(s), kind(t), register_bits(t, lanes))


def _copies(e: ir.Broadcast, unit: Unit) -> str:
    """Copies of a vector of several lanes: an operand of dot products that is the same in each."""
    t, value = e.type.element, e.value
    if isinstance(value, ir.Load) and value.mask is None:
        again = ir.Load(value.buffer, ir.Broadcast(value.index, e.lanes), e.type)
        in_memory = unit.buffers[value.buffer].memory is not Memory.REGISTER
        if in_memory and lane_offsets(again.index) is not None:
            return load(again, unit)
    return copies(unit.printers.vector(value, unit), t, value.type.lanes, e.type.lanes)


def _pieces(pieces: Mapping[Piece, str], lanes: Sequence[int], t: DType, unit: Unit) -> str | None:
    return joined(pieces, lanes, t) or picked(pieces, lanes, t)


def _widened(
    pieces: Mapping[Piece, str], picks: Sequence[int], s: DType, t: DType, unit: Unit
) -> str | None:
    return widened_bytes(pieces, picks, s, t)


def _picked(text: str, lanes: int, picks: Sequence[int], t: DType, unit: Unit) -> str | None:
    return picked({(0, lanes): text}, picks, t)


def _permuted(load: LoadText, t: DType, offsets: Sequence[int], unit: Unit) -> str | None:
    return permuted(load, t, offsets)


def _mask_resized(text: str, width: int, wanted: int, lanes: int, unit: Unit) -> str:
    if wanted < width:
        return resized(text, mask_kind(width), mask_kind(wanted), lanes)
    bits = 64 if width * lanes <= 64 else 128
    signed = reinterpret(text, mask_kind(width), f"s{width}", bits)
    return resized(signed, f"s{width}", mask_kind(wanted), lanes)


def _member(text: str, t: DType, whole: int, lanes: int, number: int) -> str:
    """A register of a structure of several."""
    return f"{text}.val[{number}]"


def _lane(text: str, t: DType, lanes: int, lane: int) -> str:
    return f"vget{q(t, lanes)}_lane_{kind(t)}({text}, {lane})"


NEON = Machine(
    registers=NEON_REGISTERS,
    words=words,
    rows=ROWS,
    cast_words=lambda s, t, lanes: words(t, lanes),
    casts=CASTS,
    via=VIA,
    broadcast=broadcast,
    alike=broadcast,
    lanes_of=lanes_of,
    reinterpret=_seen_as,
    masks=replace(LANE_MASKS, resized=_mask_resized),
    accesses=Accesses(
        load=load_text,
        load_live=load_live,
        store=store,
        repeated=repeated,
        permuted=_permuted,
        rows=load_rows,
        scatter=store_structures,
        looked_up=looked_up,
        structures=load_structures,
    ),
    shuffles=Shuffles(_copies, _picked, _pieces, block=_member, widened=_widened),
    fold=fold_lanes,
    narrowed=saturate,
    lane=_lane,
    reduced=reduced_width,
)
