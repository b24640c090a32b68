"""RVV as machines of the vector printers: one for each least length of a register."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hbc.codegen.rvv.convert import CASTS, VIA, saturate
from hbc.codegen.rvv.memory import gather, load_live, load_text, scatter, store
from hbc.codegen.rvv.ops import ROWS
from hbc.codegen.rvv.permute import block, copies, permuted, picked, pieces
from hbc.codegen.rvv.types import (
    broadcast,
    fill,
    lanes_of,
    ratio,
    reinterpret,
    spill,
    vector_type,
    words,
    zero,
)  # fmt: skip
from hbc.codegen.text.unit import Registers, Unit
from hbc.codegen.vector.machine import Accesses, Machine, Shuffles
from hbc.codegen.vector.predicates import PREDICATES, predicate
from hbc.codegen.vector.store import fold_lanes
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType


def _spilled(name: str, e: ir.Expr, t: DType, unit: Unit) -> Callable[[str], str]:
    """The mask in memory, eight lanes in a byte."""
    lanes, text = e.type.lanes, predicate(e, unit)
    unit.out.line(f"uint8_t {name}[{-(-lanes // 8)}];")
    unit.out.line(
        f"__riscv_vsm_v_b{ratio(unit.target.vector_bits, lanes)}({name}, {text}, {lanes});"
    )
    return lambda lane: f"{name}[{lane} / 8] >> {lane} % 8 & 1"


def rvv(bits: int) -> Machine:
    """Code for registers of at least so many bits."""
    all_alike = partial(broadcast, bits)
    return Machine(
        registers=Registers(
            partial(vector_type, bits), partial(zero, bits), lambda t, lanes: lanes,
            partial(spill, bits), partial(fill, bits), in_arrays=False,
        ),
        words=partial(words, bits),
        rows=ROWS,
        cast_words=lambda s, t, lanes: words(bits, t, lanes),
        casts=CASTS,
        via=VIA,
        broadcast=all_alike,
        alike=all_alike,
        lanes_of=partial(lanes_of, bits),
        reinterpret=partial(reinterpret, bits),
        masks=replace(PREDICATES, spilled=_spilled),
        accesses=Accesses(
            load_text, load_live, store, lambda e, base, offsets, unit: None, permuted,
            lambda e, unit: None, gather, scatter,
        ),
        shuffles=Shuffles(copies, picked, pieces, partial(block, bits)),
        fold=fold_lanes,
        narrowed=saturate,
        mask_bits=8 * bits,
    )  # fmt: skip
