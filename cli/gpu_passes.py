"""The passes for GPUs alone. They need NumPy, which takes as long to import as some kernels to compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hbc.ir.barriers import barriers
from hbc.ir.fold_tables import fold_tables
from hbc.ir.fragment_checks import moves_anywhere
from hbc.ir.fragment_lanes import fragment_lanes
from hbc.ir.gathered_updates import gathered_updates
from hbc.ir.gpu_temporaries import place_temporaries
from hbc.ir.kernel import Kernel
from hbc.ir.private_tiles import private_tiles
from hbc.ir.same_fills import drop_repeated_fills
from hbc.ir.shared_reuse import reuse_shared
from hbc.ir.stage_copies import stage_copies

GPU_PASSES: Final[Mapping[str, Callable[[Kernel], Kernel]]] = {
    "fold-tables": fold_tables,
    "private-tiles": private_tiles,
    "selected": lambda k: drop_repeated_fills(place_temporaries(moves_anywhere(k))),
    "gather-updates": gathered_updates,
    "rotate": stage_copies,
    "reuse-shared": reuse_shared,
    "fragment-lanes": fragment_lanes,
    "barriers": barriers,
}
