"""A nest of loops over blocks as a `__global__` function, and its launch from the host."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from hbc.codegen.c.stmt import statement
from hbc.codegen.cuda.bulk import map_lines, on_device, with_maps
from hbc.codegen.cuda.digits import with_digits
from hbc.codegen.cuda.fragments import fragments
from hbc.codegen.cuda.index import (
    BODY_SUFFIX,
    WIDE_SUFFIX,
    IndexType,
    index_type,
    kernel_text,
)
from hbc.codegen.cuda.lane_fragments import GROUP_LANE, GROUP_NUMBER, LANE, lane_view
from hbc.codegen.cuda.launch import AXES, STREAM, Launch, leave, print_launch
from hbc.codegen.cuda.repeats import with_loops
from hbc.codegen.cuda.resident import launch_bounds, tile_loop
from hbc.codegen.cuda.threads import (
    DYNAMIC,
    STATIC_SHARED,
    block_size,
    device_statement,
    shared_alignment,
    shared_bytes,
    store_vector,
)
from hbc.codegen.fragments.fragment_kinds import Fragment, FragmentKind, fragment_kinds
from hbc.codegen.fragments.row_registers import own_copies
from hbc.codegen.fragments.thread_view import thread_view
from hbc.codegen.text.scalar import declare, scalar
from hbc.codegen.text.spelling import c_type, value_type
from hbc.codegen.text.unit import Buffer, Printers, Unit
from hbc.codegen.text.writer import Writer
from hbc.codegen.threads.longest_first import longest_first
from hbc.ir.ground.diag import InternalError, error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.launches import GROUP, WARP
from hbc.ir.lang.types import INDEX, Memory
from hbc.ir.lang.walk import (
    contains,
    free_variables,
    names_read,
    nodes,
    nodes_of,
    rewrite,
    statements,
)

MOST_THREADS = 1024
SUFFIXES = ("", "_any_strides", "_by_threads")
"""Behind the names of kernels, by version: for what the fastest does not take, and without copies in bulk."""
_THREAD = re.compile(r"\bthread\b(?!s)")
_LANES = {GROUP_LANE: GROUP, LANE: WARP}


def host_statement(s: ir.Stmt, unit: Unit) -> bool:
    """Launches and device memory; other statements of the host are plain C."""
    match s:
        case ir.For(kind=ir.LoopKind.BLOCK):
            _launch(s, unit)
        case ir.Allocate():
            _device_memory(s, unit)
        case ir.Assert() if contains(s.condition, ir.Load):
            _check_values(s, unit)
        case ir.For(kind=ir.LoopKind.THREAD | ir.LoopKind.LANE) | ir.Store() | ir.Barrier():
            raise InternalError(f"codegen: {type(s).__name__} outside of a GPU's blocks")
        case _:
            return False
    return True


HOST_PRINTERS = Printers(declare=declare, special=host_statement)
DEVICE_PRINTERS = Printers(declare=declare, store=store_vector, special=device_statement)


def _device_memory(s: ir.Allocate, unit: Unit) -> None:
    """A temporary that several launches share."""
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    name, extent = unit.scope.fresh(s.buffer), scalar(s.extent, unit)
    element = f"sizeof({c_type(s.element)})"
    unit.out.line(f'device_memory {name}("{name}", {extent}, {element}, {STREAM});')
    why = f"{name}.error({unit.codes['memory']}, {unit.codes['cuda']})"
    leave(f"{name}.data == nullptr", why, unit)
    unit.buffers[s.buffer] = Buffer(name, s.element)
    statement(s.body, unit)


def _check_values(s: ir.Assert, unit: Unit) -> None:
    """A condition on numbers of the device's memory, for which the host waits."""
    known: dict[ir.Expr, ir.Expr] = {}
    for n in nodes(s.condition):
        if not isinstance(n, ir.Load) or n in known:
            continue
        t, buffer = c_type(n.type.element), unit.buffers[n.buffer].text
        name = unit.scope.declare(f"{n.buffer}_seen")
        known[n] = ir.Var(f"{n.buffer}_seen", n.type)
        unit.out.line(f"{t} {name};")
        place = f"({t} *){buffer}.data + {scalar(n.index, unit)}"
        copy = f"cudaMemcpyAsync(&{name}, {place}, sizeof {name}, cudaMemcpyDeviceToHost, {STREAM})"
        failed = f'failed({copy}, "reading `{n.buffer}`") || unfinished({STREAM})'
        leave(failed, unit.codes["cuda"], unit)
    condition = scalar(rewrite(s.condition, lambda e: known.get(e, e)), unit)
    leave(f"!({condition})", unit.codes[s.message], unit)


def _launch(s: ir.For, unit: Unit) -> None:
    """Prints the device function among the unit's functions, and its launch here."""
    kinds = fragment_kinds(s, unit.instructions)
    own = own_copies(s)
    assert isinstance(own, ir.For)
    view = lane_view(thread_view(own), kinds)
    assert isinstance(view, ir.For)
    loops, body = block_loops(view)
    if len(loops) > len(AXES):
        raise error(
            f"{len(loops)} loops over blocks: a grid has three dimensions", loops[0].span,
            "`fuse` some of them before `gpu_blocks`",
        )  # fmt: skip
    all_fragments: dict[str, Fragment | FragmentKind] = {
        **fragments(body, unit.instructions),
        **kinds,
    }
    tiles = {buffer: f.lanes for buffer, f in all_fragments.items()}
    threads, shared = block_size(body, tiles), shared_bytes(body)
    if threads > MOST_THREADS:
        raise error(
            f"a block of {threads} threads: a GPU runs at most {MOST_THREADS}", s.span,
            "split the loops of `gpu_threads` further",
        )  # fmt: skip
    version = SUFFIXES[loops[0].marks.version]
    name = unit.scope.fresh(f"{_kernel_name(unit)}_{_result(body)}{version}")
    unit.scope.frames[0].taken.add(name)
    unit = replace(unit, fragments=all_fragments)
    indices = index_type(loops, body, unit)
    if indices.fits:
        unit.scope.frames[0].taken |= {f"{name}{WIDE_SUFFIX}", f"{name}{BODY_SUFFIX}"}
    maps = with_maps(s, unit)
    arguments = _function(name, s, loops, body, threads, shared, indices, maps, unit)
    dynamic = shared if shared > STATIC_SHARED else 0
    made = map_lines(unit)
    print_launch(Launch(name, loops, threads, dynamic, arguments, indices.fits, made), unit)


def block_loops(s: ir.Stmt) -> tuple[list[ir.For], ir.Stmt]:
    """The directly nested loops over blocks, outermost first, and what a block does."""
    loops = []
    while isinstance(s, ir.For) and s.kind is ir.LoopKind.BLOCK:
        loops.append(s)
        s = s.body
    return loops, s


def _kernel_name(unit: Unit) -> str:
    return unit.codes["memory"].removesuffix("_MEMORY")


def _result(body: ir.Stmt) -> str:
    """What a block's last store that is not to its own memory writes."""
    own = {n.buffer for n in statements(body) if isinstance(n, ir.Allocate)}
    stores = [n.buffer for n in statements(body) if isinstance(n, ir.Store) and n.buffer not in own]
    return stores[-1] if stores else "kernel"


def _function(
    name: str, nest: ir.For, loops: Sequence[ir.For], body: ir.Stmt, threads: int, shared: int,
    indices: IndexType, maps: Sequence[tuple[str, str]], unit: Unit,
) -> list[str]:  # fmt: skip
    """Prints the device function; returns the arguments to call it with."""
    names, arrays, values = _parameters(nest, loops, body, unit)
    arrays += maps
    values += [name for _, name in maps]
    body = with_digits(body)
    used = names_read(body)
    device = replace(
        unit,
        read_names=unit.read_names | used,
        out=Writer(depth=1),
        buffers=dict(unit.buffers),
        printers=DEVICE_PRINTERS,
        live=[],
        threads=threads,
        index=indices.text,
    )
    body = with_loops(body, device)
    device.scope.push()
    device.scope.reserve("thread", *_LANES, GROUP_NUMBER, DYNAMIC)
    if loops[0].marks.resident is None:
        _block_indices(loops, body, used, device)
    if shared > STATIC_SHARED:
        align = shared_alignment(body)
        device.out.line(f"extern __shared__ __align__({align}) unsigned char {DYNAMIC}[];")
    device.offset = 0 if shared > STATIC_SHARED else None
    if loops[0].marks.resident is None:
        statement(body, device)
    else:
        tile_loop(loops, body, used, device)
    device.scope.pop()
    lines = list(device.out.lines)
    for lane, count in _LANES.items():
        if _uses(lines, lane):
            lines.insert(0, f"    const int {lane} = threadIdx.x % {count};")
    if _uses(lines, GROUP_NUMBER):
        number = f"__shfl_sync(0xffffffff, threadIdx.x / {GROUP}, 0)"
        lines.insert(0, f"    const int {GROUP_NUMBER} = {number};")
    if any(_THREAD.search(line) for line in lines):
        lines.insert(0, "    const int thread = threadIdx.x;")
    note = nest.note or ""
    bounds = launch_bounds(threads, loops[0])
    unit.functions.append(kernel_text(name, indices, names, arrays, bounds, lines, note))
    return [*names, *values]


def _uses(lines: Sequence[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in lines)


def _block_indices(
    loops: Sequence[ir.For], body: ir.Stmt, used: Collection[str], device: Unit
) -> None:
    """Prints what the loops' variables are in a block."""
    last = longest_first(body, [loop.var for loop in loops])
    for loop, axis in zip(loops, reversed(AXES[: len(loops)]), strict=True):
        start = scalar(loop.start, device)
        variable = device.scope.declare(loop.var, nonnegative=True)
        index = f"blockIdx.{axis}"
        if loop.var in last:
            device.out.line("// The longest first.")
            index = f"gridDim.{axis} - 1 - {index}"
        text = index if start.text == "0" else f"{start} + {index}"
        if loop.var in used:
            device.out.line(f"const {device.index} {variable} = {text};")


def _parameters(
    nest: ir.For, loops: Sequence[ir.For], body: ir.Stmt, unit: Unit
) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Of the device function: the host's names of indices that it reads, the scalars and arrays that it
    reads or writes as declarations and names, and what is passed for these."""
    arrays, values = [], []
    read = free_variables(on_device(body)).union(*(free_variables(loop.start) for loop in loops))
    if loops[0].marks.resident is not None:
        read = read.union(*(free_variables(loop.extent) for loop in loops))
    types = {n.name: n.type for n in nodes_of(nest, ir.Var) if n.type != INDEX}
    names = sorted(
        unit.scope.find(v).text for v in read - {loop.var for loop in loops} - types.keys()
    )
    for v in sorted(read & types.keys()):
        text = unit.scope.find(v).text
        arrays.append((f"{value_type(types[v].element)} {text}", text))
        values.append(text)
    inside = {n.buffer for n in statements(nest) if isinstance(n, ir.Allocate)}
    written = {n.buffer for n in statements(nest) if isinstance(n, ir.Store)}
    touched = {n.buffer for n in nodes_of(nest, ir.Load, ir.Store, ir.Prefetch)}
    for buffer in (b for b in unit.buffers if b in touched - inside):
        held = unit.buffers[buffer]
        if held.memory is Memory.STACK:  # a table, which the whole file knows
            continue
        pointer = f"{'' if buffer in written else 'const '}{c_type(held.element)} *"
        arrays.append((f"{pointer}__restrict__ {held.text}", held.text))
        values.append(held.text if held.memory is Memory.AUTO else f"({pointer}){held.text}.data")
    return names, arrays, values
