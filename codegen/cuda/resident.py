"""How many blocks run at once. Kernels whose blocks stay: as many as a GPU runs share the tiles of a nest.

for (index_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const index_t io = tile / jo_count;
    const index_t jo = tile % jo_count;
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hbc.codegen.c.stmt import braced, statement
from hbc.codegen.cuda.threads import declare_shared
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import MUL, Unit
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import statements

MOST_AT_ONCE = 2048  # threads of a multiprocessor, of any architecture

RESIDENT = """\
/* How many blocks of a kernel run at once: `wanted` on each multiprocessor, or with 0 as many as it has
   room for. 0 where that cannot be found out. */
static int64_t resident_blocks(const void *kernel, const char *name, int threads, size_t shared_bytes,
                               int wanted)
{
    int device = 0, processors = 0, most = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, kernel, threads, shared_bytes);
    if (status == cudaSuccess && most == 0)
        status = cudaErrorInvalidConfiguration; /* not even one has room */
    if (failed(status, name))
        return 0;
    return (int64_t)processors * (wanted > 0 && wanted < most ? wanted : most);
}
"""


def has_resident(kernel: Kernel) -> bool:
    """Whether any launch of a kernel is of blocks that stay."""
    return any(
        isinstance(s, ir.For) and s.marks.resident is not None for s in statements(kernel.body)
    )


def launch_bounds(threads: int, loop: ir.For) -> str:
    """The threads of a block and, where the schedule says so, the least number of blocks on a
    multiprocessor. HbcError: no multiprocessor holds so many."""
    if loop.marks.at_once is None:
        return str(threads)
    if threads * loop.marks.at_once > MOST_AT_ONCE:
        most = MOST_AT_ONCE // threads
        raise error(
            f"{loop.marks.at_once} blocks of {threads} threads at once: a multiprocessor holds at most"
            f" {MOST_AT_ONCE} threads", loop.span, f"`at_once({most})` is the most here",
        )  # fmt: skip
    return f"{threads}, {loop.marks.at_once}"


def tile_loop(loops: Sequence[ir.For], body: ir.Stmt, used: Collection[str], unit: Unit) -> None:
    """Prints the loop over tiles in a kernel, with the loops' variables; shared memory before it."""
    while isinstance(body, ir.Allocate) and body.memory is Memory.SHARED:
        declare_shared(body, unit)
        body = body.body
    counts = {}
    for loop in loops[1:]:
        counts[loop.var] = unit.scope.fresh(f"{loop.var}_count")
        unit.out.line(f"const {unit.index} {counts[loop.var]} = {scalar(loop.extent, unit)};")
    product = [scalar(loops[0].extent, unit).at(MUL), *counts.values()]
    tiles = unit.scope.fresh("tiles")
    unit.out.line(f"const {unit.index} {tiles} = {' * '.join(product)};")
    tile = unit.scope.fresh("tile")
    t = unit.index
    with braced(f"for ({t} {tile} = blockIdx.x; {tile} < {tiles}; {tile} += gridDim.x)", unit):
        for n, loop in enumerate(loops):
            after = [counts[x.var] for x in loops[n + 1 :]]
            divisor = " * ".join(after)
            whole = f"{tile} / ({divisor})" if len(after) > 1 else f"{tile} / {divisor}"
            text = whole if after else tile
            if n > 0:
                text = f"{text} % {counts[loop.var]}"
            start = scalar(loop.start, unit)
            variable = unit.scope.declare(loop.var, nonnegative=True)
            text = text if start.text == "0" else f"{start} + {text}"
            if loop.var in used:
                unit.out.line(f"const {t} {variable} = {text};")
        statement(body, unit)
