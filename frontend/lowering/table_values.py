"""Tables: Funcs of constants, as arrays of the kernel."""

from __future__ import annotations

from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import error
from hbc.ir.lang.kernel import Table

MOST_ON_GPU = 1 << 16  # cells of a table there, which is text for nvcc


def tables_of(pipeline: Pipeline, on_gpu: bool) -> tuple[Table, ...]:
    """Each table with its cells, in row-major order. HbcError for those too large for a GPU's code."""
    for f in pipeline.funcs:
        if on_gpu and len(f.cells) > MOST_ON_GPU:
            raise error(
                f"table `{f.name}` has {len(f.cells):,} cells, and for `cuda` {MOST_ON_GPU:,} are the most",
                f.span, "make it an input",
            )  # fmt: skip
    return tuple(
        Table(f.name, f.element, f.table_shape, f.cells)
        for f in pipeline.funcs
        if f.table_shape is not None
    )
