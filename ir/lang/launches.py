"""Whether a GPU can run a kernel: what is on the host, in blocks and in threads, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import FRAGMENT_LANES, TILES
from hbc.ir.lang.walk import children, nodes_of, statements

WARP = 32  # lanes
GROUP = max(FRAGMENT_LANES.values())  # lanes of the warps that hold the largest fragments together
MOST_THREADS = 1024  # of a block, on every GPU so far
THREADS = (ir.LoopKind.THREAD, ir.LoopKind.LANE)
Tiles = Mapping[str, int]
"""The buffers in tile memory, and how many lanes hold one together."""
_NONE: Tiles = {}


def check_launches(kernel: Kernel) -> None:
    """HbcError for what no GPU can run: too many threads, and results or decisions on the host that
    would need data of the device."""
    _host(kernel.body, tiles_in(kernel.body))


def tiles_in(s: ir.Stmt) -> Tiles:
    """Those that a statement allocates."""
    allocated = (n for n in statements(s) if isinstance(n, ir.Allocate))
    return {a.buffer: FRAGMENT_LANES.get(a.memory, 1) for a in allocated if a.memory in TILES}


def thread_loops(s: ir.Stmt) -> tuple[tuple[ir.For, ...], ir.Stmt]:
    """The loops over threads that nest directly, outermost first, and what is in them."""
    loops: list[ir.For] = []
    while isinstance(s, ir.For) and s.kind in THREADS:
        loops.append(s)
        s = s.body
    return tuple(loops), s


def by_warps(nest: ir.For, tiles: Tiles = _NONE) -> bool:
    """Whether the loops over threads of a nest count warps, or groups of them."""
    return lanes_of(nest, tiles) > 1


def lanes_of(nest: ir.Stmt, tiles: Tiles = _NONE) -> int:
    """How many threads an iteration of the loops over threads of a nest stands for: a warp or a group of
    warps where lanes or tiles are inside. `tiles` are the buffers in tile memory around it."""
    most = 1
    for s in statements(nest):
        match s:
            case ir.For(kind=ir.LoopKind.LANE):
                most = max(most, GROUP if _extent(s) > WARP else WARP)
            case ir.Allocate(memory=memory) if memory in TILES:
                most = max(most, FRAGMENT_LANES.get(memory, 1))
            case ir.Store(buffer=buffer, value=value):
                read = (n.buffer for n in nodes_of(value, ir.Load))
                most = max(most, *(tiles.get(b, 1) for b in (buffer, *read)))
            case _:
                pass
    return most


def thread_count(nest: ir.For, tiles: Tiles = _NONE) -> int:
    """How many threads the outermost loop over threads, and those right in it, need."""
    loops, _ = thread_loops(nest)
    counts = [_extent(x) for x in loops if x.kind is ir.LoopKind.THREAD]
    return prod(counts) * lanes_of(nest, tiles)


def _extent(loop: ir.For) -> int:
    return int(loop.extent.value) if isinstance(loop.extent, ir.Const) else 1


def _host(s: ir.Stmt, tiles: Tiles) -> None:
    match s:
        case ir.For(kind=ir.LoopKind.BLOCK):
            _block(s, tiles)
            return
        case ir.Store(buffer=buffer):
            raise error(
                f"`{buffer}` is computed outside of any block of threads", s.span,
                f"`{buffer}.gpu_blocks(..)` computes it on the GPU",
            )  # fmt: skip
        case ir.For(start=start, extent=extent):
            _without_data(s, start, extent)
        case ir.LetStmt(value=value):
            _without_data(s, value)
        case ir.If(condition=condition) | ir.Assert(condition=condition):
            _without_data(s, condition)
        case _:
            pass
    for c in children(s):
        if isinstance(c, ir.Stmt):
            _host(c, tiles)


def _without_data(s: ir.Stmt, *values: ir.Node) -> None:
    read = [n for v in values for n in nodes_of(v, ir.Load)]
    if read:
        raise error(
            f"what the blocks are to do depends on `{read[0].buffer}`, which is on the GPU",
            getattr(s, "span", None) or read[0].span,
            "compute what depends on it inside of a loop over blocks, or give it a `bound`",
        )


def _block(s: ir.Stmt, tiles: Tiles) -> None:
    if isinstance(s, ir.For) and s.kind in THREADS:
        _threads(s, tiles)
        return
    for c in children(s):
        if isinstance(c, ir.Stmt):
            _block(c, tiles)


def _threads(nest: ir.For, tiles: Tiles) -> None:
    loops, _ = thread_loops(nest)
    for x in loops:
        if x.kind is ir.LoopKind.LANE and _extent(x) > WARP:
            raise error(
                f"`{x.var}` has {_extent(x)} iterations, and a warp has {WARP} lanes", x.span,
                f"split it by {WARP} or less",
            )  # fmt: skip
    count = thread_count(nest, tiles)
    if count <= MOST_THREADS:
        return
    factors = [str(_extent(x)) for x in loops if x.kind is ir.LoopKind.THREAD]
    lanes = lanes_of(nest, tiles)
    factors += (
        [f"{lanes} (a {'warp' if lanes == WARP else 'group of warps'} each)"] if lanes > 1 else []
    )
    product = f"{' * '.join(factors)} = " if len(factors) > 1 else ""
    raise error(
        f"a block would have {product}{count:,} threads, and {MOST_THREADS:,} are the most",
        loops[-1].span, "split one of the loops by less, or let each thread do more",
    )  # fmt: skip
