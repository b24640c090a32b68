"""Masks whose lanes are asked one by one, where no instruction takes the whole."""

from __future__ import annotations

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.mask import mask, may_be_live
from hbc.codegen.x86.types import mask_type, register_lanes, spill
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.vectors.lane_masks import first_lanes_count
from hbc.ir.vectors.take import integer


class SpilledMask:
    """A mask in a variable; called with a lane, the C condition for that lane. Of the first n lanes
    that is n, so that the C compiler sees which of them never are (it warns of their indices); for the
    same reason `possible` says which may be."""

    def __init__(self, e: ir.Expr, t: DType, unit: Unit) -> None:
        self.bits = unit.target.vector_bits
        self.possible = may_be_live(e)
        self.name = unit.scope.fresh("live")
        self.count = first_lanes_count(e)
        width, lanes = max(8, t.bits), e.type.lanes
        if self.count is not None:
            unit.out.line(
                f"const {c_type(self.count.type.element)} {self.name} = {scalar(self.count, unit)};"
            )
            return
        if self.bits == 512:
            unit.out.line(f"const {mask_type(lanes)} {self.name} = {mask(e, width, unit)};")
            return
        s = integer(width)
        unit.out.line(f"{c_type(s)} {self.name}[{register_lanes(s, lanes)}];")
        unit.out.line(f"{spill(s, lanes, self.name, mask(e, width, unit))};")

    def __call__(self, lane: str) -> str:
        if self.count is not None:
            return f"{self.name} > {lane}"
        return f"{self.name} >> {lane} & 1" if self.bits == 512 else f"{self.name}[{lane}]"
