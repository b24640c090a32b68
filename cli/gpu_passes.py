"""The passes for GPUs alone. They need NumPy, which takes as long to import as some kernels to compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hbc.codegen.fragments.fragment_lanes import fragment_lanes
from hbc.codegen.fragments.moved_slots import moved_slots
from hbc.codegen.fragments.private_tiles import private_tiles
from hbc.codegen.fragments.row_registers import row_registers
from hbc.codegen.fragments.whole_pieces import whole_pieces
from hbc.codegen.gpu.aligned_launches import aligned_launches
from hbc.codegen.gpu.asynchronous_products import asynchronous_products
from hbc.codegen.gpu.bulk_copies import bulk_copies
from hbc.codegen.gpu.fold_tables import fold_tables
from hbc.codegen.gpu.gathered_updates import gathered_updates
from hbc.codegen.gpu.same_fills import drop_repeated_fills
from hbc.codegen.gpu.shared_reuse import reuse_shared
from hbc.codegen.gpu.stage_copies import stage_copies
from hbc.codegen.gpu.sums_in_place import sums_in_place
from hbc.codegen.gpu.temporaries import place_temporaries
from hbc.codegen.gpu.uniform_loads import uniform_loads
from hbc.codegen.plan.at_most_once import at_most_once
from hbc.codegen.threads.barriers import barriers
from hbc.codegen.threads.whole_fills import whole_fills
from hbc.eqsat.operands.fragment_checks import moves_anywhere
from hbc.ir.lang.kernel import Kernel

GPU_PASSES: Final[Mapping[str, Callable[[Kernel], Kernel]]] = {
    "fold-tables": fold_tables,
    "whole-pieces": whole_pieces,
    "once": at_most_once,
    "whole-fills": lambda k: whole_fills(uniform_loads(k)),
    "private-tiles": private_tiles,
    "selected": lambda k: drop_repeated_fills(place_temporaries(moves_anywhere(k))),
    "gather-updates": gathered_updates,
    "bulk-copies": bulk_copies,
    "begin-products": lambda k: asynchronous_products(sums_in_place(k)),
    "rotate": stage_copies,
    "reuse-shared": reuse_shared,
    "fragment-lanes": fragment_lanes,
    "row-registers": lambda k: row_registers(moved_slots(k)),
    "aligned-launches": aligned_launches,
    "barriers": barriers,
}
