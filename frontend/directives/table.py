"""Every directive of schedules is one row here: how it is written, what it applies to, the function that does
it, what it says that may be said once, and where it is documented.

`docs/schedules.md` has the rows as a table, with the first line of each function's docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hbc.frontend.directives import gpu_loops, loops, place
from hbc.frontend.directives.bulk import copy_in_bulk
from hbc.frontend.directives.cache_write import cache_write
from hbc.frontend.directives.flatten import flatten
from hbc.frontend.directives.rfactor import rfactor
from hbc.frontend.directives.swizzles import swizzle_storage
from hbc.frontend.plans.plan import FuncPlan, Plan, StagePlan
from hbc.frontend.program.funcs import Directive, Func, Pipeline, Schedule
from hbc.frontend.program.vocabulary import Kind
from hbc.ir.ground.record import record


@record
class OnLoops:
    """Changes the loops of one step, or those of its special copy where one has been made."""

    run: Callable[[Func, StagePlan, Directive], StagePlan]


@record
class OnStep:
    """Makes a special copy of the loops of a step, which is what later directives of the chain change."""

    run: Callable[[Func, StagePlan, Directive], StagePlan]


@record
class OnPipeline:
    """Adds a Func to the pipeline and to the plan."""

    run: Callable[[Pipeline, Plan, FuncPlan, StagePlan, Directive], Pipeline]


@record
class OnProgram:
    """Rewrites the program before any loops are made: all such directives of a schedule at once."""

    run: Callable[[Pipeline, Schedule, bool], Pipeline]
    whole: bool = False  # of every Func, not of outputs alone


@record
class OnFunc:
    """Says where a whole Func is computed and kept; of outputs too with `outputs`."""

    run: Callable[[Plan, FuncPlan, Directive], FuncPlan]
    outputs: bool = False


@record
class OnPlace:
    """Says where one step of a Func is computed, once all loops are made: of the step with that number."""

    run: Callable[[Plan, FuncPlan, int, Directive], FuncPlan]


@record
class Row:
    """`written` is an example. `kinds` are the forms of the arguments; with `repeats` the last kind may stand
    any number of times. `on` is what it applies to, and the function. `section` is the heading under
    which `page` of the docs describes it. `once`: what two of them would say twice, {0} the stage and
    {1} the first argument. `tail`: takes the option `tail = ...`. `suffix`: what the inner loop's name
    gets behind the outer one's where an extent is given. `gpu`: for GPUs alone."""

    written: str
    kinds: tuple[tuple[Kind, ...], ...]
    on: OnLoops | OnStep | OnPipeline | OnProgram | OnFunc | OnPlace
    section: str
    page: str = "schedules.md"
    once: str = ""
    repeats: bool = False
    tail: bool = False
    suffix: str = ""
    gpu: bool = False

    @property
    def name(self) -> str:
        return self.written.partition("(")[0]


L, N, F = Kind.LOOP, Kind.NEW, Kind.FACTOR
LOOP_OR_SPLIT = ((L,), (L, F))
NOTHING: tuple[tuple[Kind, ...], ...] = ((),)
COMPUTED, STORED = "where `{0}` is computed", "where `{0}` is stored"
HOISTED = "where the memory of `{0}` is allocated"

_ROWS = (
    # Loops
    Row("split(i, io, ii, 8)", ((L, N, N, F),), OnLoops(loops.split), "split(i, io, ii, F)", tail=True),
    Row("tile(i, j, io, jo, ii, ji, 8, 8)", ((L, L, N, N, N, N, F, F),), OnLoops(loops.tile),
        "tile(i, j, io, jo, ii, ji, Fi, Fj)", tail=True),
    Row("fuse(i, j, ij)", ((L, L, N),), OnLoops(loops.fuse), "fuse(a, b, f)"),
    Row("flatten(y, x, p)", ((L, L, N),), OnProgram(flatten), "flatten(y, x, p)"),
    Row("reorder(i, j)", ((L, L),), OnLoops(loops.reorder), "reorder(a, b, ...)", repeats=True),
    Row("unroll(i) or unroll(i, 4)", LOOP_OR_SPLIT, OnLoops(loops.unroll), "unroll(i), unroll(i, N)",
        tail=True, suffix=loops.UNROLLED),
    Row("vectorize(j) or vectorize(j, 16)", LOOP_OR_SPLIT, OnLoops(loops.vectorize),
        "vectorize(i), vectorize(i, N)", tail=True, suffix=loops.IN_LANES),
    Row("parallel(i) or parallel(i, 8)", LOOP_OR_SPLIT, OnLoops(loops.parallel),
        "parallel(i), parallel(i, N)", tail=True, suffix=loops.OF_A_THREAD),
    Row("pipeline(k, 2)", ((L, F),), OnLoops(loops.pipeline), "pipeline(i, stages)",
        once="how far ahead the loop `{1}` of `{0}` runs"),
    Row("partition(x) or partition(x, never)", ((L,), (L, Kind.PARTS)), OnLoops(loops.partition),
        "partition(i), partition(i, never)", once="whether the loop `{1}` of `{0}` is divided"),
    # Where a Func is computed and kept
    Row("compute_at(C, i)", ((Kind.STAGE, L),), OnFunc(place.compute_at), "compute_at(g, i)", once=COMPUTED),
    Row("compute_root()", NOTHING, OnFunc(place.compute_root, outputs=True), "compute_root()", once=COMPUTED),
    Row("compute_inline()", NOTHING, OnFunc(place.compute_inline), "compute_inline()", once=COMPUTED),
    Row("compute_with(g, y)", ((Kind.STAGE, L),), OnPlace(place.compute_with), "compute_with(g, i)",
        once="in whose loops `{0}` is computed"),
    Row("store_at(C, i)", ((Kind.STAGE, L),), OnFunc(place.store_at), "store_at(g, i), store_root()",
        once=STORED),
    Row("store_root()", NOTHING, OnFunc(place.store_root), "store_at(g, i), store_root()", once=STORED),
    Row("hoist_storage(C, i)", ((Kind.STAGE, L),), OnFunc(place.hoist_storage),
        "hoist_storage(g, i), hoist_storage_root()", once=HOISTED),
    Row("hoist_storage_root()", NOTHING, OnFunc(place.hoist_storage_root),
        "hoist_storage(g, i), hoist_storage_root()", once=HOISTED),
    Row("store_in(stack)", ((Kind.MEMORY,),), OnFunc(place.store_in),
        "store_in(registers | stack | heap | amx_tile | shared)", once="which memory `{0}` is in"),
    Row("bound(i, 0, 64)", ((L, Kind.INDEX, Kind.EXTENT),), OnFunc(place.bound, outputs=True),
        "bound(i, min, extent)", once="what is needed of `{0}` along `{1}`"),
    Row("reorder_storage(j, i)", ((L, L),), OnFunc(place.reorder_storage), "reorder_storage(i, j, ...)",
        once="the order of the dimensions of `{0}`", repeats=True),
    Row("pad_storage(j, 16)", ((L, Kind.COUNT),), OnFunc(place.pad_storage), "pad_storage(i, n)",
        once="how long `{1}` of `{0}` is in memory"),
    Row("fold_storage(t, 2)", ((L, F),), OnFunc(place.fold_storage), "fold_storage(i, n)",
        once="how many values of `{1}` `{0}` keeps"),
    Row("swizzle_storage(j) or swizzle_storage(j, 8)", ((L,), (L, Kind.COUNT)), OnFunc(swizzle_storage),
        "swizzle_storage(i) and swizzle_storage(i, n)", once="how the rows of `{0}` are swizzled", gpu=True),
    Row("copy_in_bulk()", NOTHING, OnFunc(copy_in_bulk), "Copies in bulk", "cuda.md",
        once="how `{0}` is copied", gpu=True),
    Row("async()", NOTHING, OnFunc(place.run_ahead), "async()", once="that `{0}` is computed ahead"),
    Row("trace()", NOTHING, OnFunc(place.trace, outputs=True), "trace()",
        once="that values of `{0}` are written down"),
    Row("prefetch(A, i, 2) or prefetch(A, i, 2, L2)",
        ((Kind.ARRAY, L, F), (Kind.ARRAY, L, F, Kind.CACHE)), OnLoops(loops.prefetch),
        "prefetch(A, i, distance [, cache])"),
    # Reductions and variants
    Row("atomic()", NOTHING, OnLoops(loops.atomic), "atomic()"),
    Row("rfactor(k, u)", ((L, N),), OnPipeline(rfactor), "rfactor(r, u)"),
    Row("cache_write(acc)", ((N,),), OnProgram(cache_write, whole=True), "cache_write(name)",
        once="in which Func `{0}` is computed"),
    Row("specialize(N % 16 == 0)", ((Kind.CONDITION,),), OnStep(loops.specialize), "specialize(condition)"),
    # Graphics processors
    Row("gpu_blocks(i, j)", ((L,),), OnLoops(gpu_loops.gpu_blocks), "Blocks, threads, memory", "cuda.md",
        repeats=True, gpu=True),
    Row("gpu_threads(i, j)", ((L,),), OnLoops(gpu_loops.gpu_threads), "Blocks, threads, memory", "cuda.md",
        repeats=True, gpu=True),
    Row("gpu_lanes(i)", ((L,),), OnLoops(gpu_loops.gpu_lanes), "Blocks, threads, memory", "cuda.md",
        gpu=True),
    Row("persistent() or persistent(2)", ((), (F,)), OnLoops(gpu_loops.persistent), "Blocks that stay",
        "cuda.md", once="how many blocks of `{0}` stay", gpu=True),
    Row("at_once(2)", ((F,),), OnLoops(gpu_loops.at_once), "Blocks, threads, memory", "cuda.md",
        once="how many blocks of `{0}` run at once", gpu=True),
)  # fmt: skip

DIRECTIVES: Final[Mapping[str, Row]] = {row.name: row for row in _ROWS}
"""By name."""
