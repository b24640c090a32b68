"""The directives of schedules: one row each, with the kinds of their arguments."""

from __future__ import annotations

from enum import StrEnum

from hbc.ir.ground.record import record


class Kind(StrEnum):
    """What may stand in a place of a directive; the text is how messages call it."""

    LOOP = "a loop"
    NEW = "the name of a new loop"
    FACTOR = "a factor of at least 1"
    COUNT = "a number of at least 0"
    INDEX = "a number or a sum of sizes"
    EXTENT = "an extent of at least 1"
    STAGE = "a Func"
    ARRAY = "a Func or input"
    MEMORY = "a kind of memory"
    CACHE = "a level of the cache"
    CONDITION = "a condition over the sizes"


@record
class Form:
    """How a directive is written. `kinds` are the forms of its arguments; with `repeats` the last
    kind may stand any number of times. `tail`: takes the option `tail = ...`."""

    written: str
    kinds: tuple[tuple[Kind, ...], ...]
    repeats: bool = False
    tail: bool = False


L, N, F = Kind.LOOP, Kind.NEW, Kind.FACTOR
LOOP_OR_SPLIT = ((L,), (L, F))
NOTHING: tuple[tuple[Kind, ...], ...] = ((),)

DIRECTIVES: dict[str, Form] = {
    # Loops
    "split": Form("split(i, io, ii, 8)", ((L, N, N, F),), tail=True),
    "tile": Form("tile(i, j, io, jo, ii, ji, 8, 8)", ((L, L, N, N, N, N, F, F),), tail=True),
    "fuse": Form("fuse(i, j, ij)", ((L, L, N),)),
    "reorder": Form("reorder(i, j)", ((L, L),), repeats=True),
    "unroll": Form("unroll(i) or unroll(i, 4)", LOOP_OR_SPLIT, tail=True),
    "vectorize": Form("vectorize(j) or vectorize(j, 16)", LOOP_OR_SPLIT, tail=True),
    "parallel": Form("parallel(i) or parallel(i, 8)", LOOP_OR_SPLIT, tail=True),
    "pipeline": Form("pipeline(k, 2)", ((L, F),)),
    # Where a Func is computed and kept
    "compute_at": Form("compute_at(C, i)", ((Kind.STAGE, L),)),
    "compute_root": Form("compute_root()", NOTHING),
    "compute_inline": Form("compute_inline()", NOTHING),
    "store_at": Form("store_at(C, i)", ((Kind.STAGE, L),)),
    "store_root": Form("store_root()", NOTHING),
    "store_in": Form("store_in(stack)", ((Kind.MEMORY,),)),
    "bound": Form("bound(i, 0, 64)", ((L, Kind.INDEX, Kind.EXTENT),)),
    "reorder_storage": Form("reorder_storage(j, i)", ((L, L),), repeats=True),
    "pad_storage": Form("pad_storage(j, 16)", ((L, Kind.COUNT),)),
    "swizzle_storage": Form("swizzle_storage(j) or swizzle_storage(j, 8)", ((L,), (L, Kind.COUNT))),
    "prefetch": Form(
        "prefetch(A, i, 2) or prefetch(A, i, 2, L2)",
        ((Kind.ARRAY, L, F), (Kind.ARRAY, L, F, Kind.CACHE)),
    ),
    # Reductions and variants
    "atomic": Form("atomic()", NOTHING),
    "rfactor": Form("rfactor(k, u)", ((L, N),)),
    "specialize": Form("specialize(N % 16 == 0)", ((Kind.CONDITION,),)),
    # Graphics processors
    "gpu_blocks": Form("gpu_blocks(i, j)", ((L,),), repeats=True),
    "gpu_threads": Form("gpu_threads(i, j)", ((L,),), repeats=True),
    "gpu_lanes": Form("gpu_lanes(i)", ((L,),)),
    "persistent": Form("persistent() or persistent(2)", ((), (F,))),
    "at_once": Form("at_once(2)", ((F,),)),
}

# `vectorize(i, 8)` splits: the outer loop keeps the name i, and the inner one is called i_v.
SUFFIXES = {"unroll": "_u", "vectorize": "_v", "parallel": "_p"}

TAILS = ("guard", "mask", "shift", "exact")
CACHES = ("L1", "L2", "L3")  # from the nearest
MEMORIES = (
    "registers", "stack", "heap", "amx_tile", "shared", "wmma_accumulator", "mma_accumulator",
)  # fmt: skip
