"""A nest of loops over blocks as a `__global__` function, and its launch from the host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hbc.codegen.c_scalar import declare, scalar
from hbc.codegen.c_stmt import statement
from hbc.codegen.cuda_fragments import Fragment, fragments
from hbc.codegen.cuda_threads import (
    DYNAMIC,
    STATIC_SHARED,
    block_size,
    device_statement,
    shared_bytes,
    store_vector,
)
from hbc.codegen.lane_fragments import LANE, lane_view
from hbc.codegen.spelling import c_type
from hbc.codegen.unit import Buffer, Printers, Unit
from hbc.codegen.writer import Writer
from hbc.ir.diag import InternalError, error
from hbc.ir.fragment_kinds import FragmentKind, fragment_kinds
from hbc.ir.launches import WARP
from hbc.ir.nodes import Allocate, Barrier, For, Load, LoopKind, Prefetch, Stmt, Store
from hbc.ir.thread_view import thread_view
from hbc.ir.types import Memory
from hbc.ir.walk import free_variables, names_read, nodes

STREAM = "stream"
MOST_THREADS = 1024
_AXES = "xyz"
_THREAD = re.compile(r"\bthread\b(?!s)")
_LANE = re.compile(rf"\b{LANE}\b")


def host_statement(s: Stmt, unit: Unit) -> bool:
    """Launches and device memory; other statements of the host are plain C."""
    match s:
        case For(kind=LoopKind.BLOCK):
            _launch(s, unit)
        case Allocate():
            _device_memory(s, unit)
        case For(kind=LoopKind.THREAD | LoopKind.LANE) | Store() | Barrier():
            raise InternalError(f"codegen: {type(s).__name__} outside of a GPU's blocks")
        case _:
            return False
    return True


HOST_PRINTERS = Printers(declare=declare, special=host_statement)
DEVICE_PRINTERS = Printers(declare=declare, store=store_vector, special=device_statement)


def _device_memory(s: Allocate, unit: Unit) -> None:
    """A temporary that several launches share."""
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    name, extent = unit.scope.fresh(s.buffer), scalar(s.extent, unit)
    element = f"sizeof({c_type(s.element)})"
    unit.out.line(f'device_memory {name}("{name}", {extent}, {element}, {STREAM});')
    _leave(f"{name}.data == nullptr", unit.codes["memory"], unit)
    unit.buffers[s.buffer] = Buffer(name, s.element)
    statement(s.body, unit)


def _launch(s: For, unit: Unit) -> None:
    """Prints the device function among the unit's functions, and its launch here."""
    kinds = fragment_kinds(s, unit.instructions)
    view = lane_view(thread_view(s), kinds)
    assert isinstance(view, For)
    loops, body = block_loops(view)
    if len(loops) > len(_AXES):
        raise error(
            f"{len(loops)} loops over blocks: a grid has three dimensions", loops[0].span,
            "`fuse` some of them before `gpu_blocks`",
        )  # fmt: skip
    found: dict[str, Fragment | FragmentKind] = {**fragments(body, unit.instructions), **kinds}
    threads, shared = block_size(body, found), shared_bytes(body)
    if threads > MOST_THREADS:
        raise error(
            f"a block of {threads} threads: a GPU runs at most {MOST_THREADS}", s.span,
            "split the loops of `gpu_threads` further",
        )  # fmt: skip
    name = unit.scope.fresh(f"{_kernel_name(unit)}_{_result(body)}")
    unit.scope.frames[0].taken.add(name)
    unit = replace(unit, fragments=found)
    arguments = _function(name, s, loops, body, threads, shared, unit)
    _call(name, loops, threads, shared, arguments, unit)


def block_loops(s: Stmt) -> tuple[list[For], Stmt]:
    """The directly nested loops over blocks, outermost first, and what a block does."""
    loops = []
    while isinstance(s, For) and s.kind is LoopKind.BLOCK:
        loops.append(s)
        s = s.body
    return loops, s


def _kernel_name(unit: Unit) -> str:
    return unit.codes["memory"].removesuffix("_MEMORY")


def _result(body: Stmt) -> str:
    """What a block's last store that is not to its own memory writes."""
    own = {n.buffer for n in nodes(body) if isinstance(n, Allocate)}
    stores = [n.buffer for n in nodes(body) if isinstance(n, Store) and n.buffer not in own]
    return stores[-1] if stores else "kernel"


def _function(
    name: str, nest: For, loops: Sequence[For], body: Stmt, threads: int, shared: int, unit: Unit
) -> list[str]:
    """Prints the device function; returns the arguments to call it with."""
    parameters, arguments = _parameters(nest, loops, body, unit)
    used = names_read(body)
    device = replace(
        unit,
        out=Writer(depth=1),
        buffers=dict(unit.buffers),
        printers=DEVICE_PRINTERS,
        live=[[]],
        threads=threads,
    )
    device.scope.push()
    device.scope.reserve("thread", "lane", DYNAMIC)
    axes = dict(zip(reversed(loops), _AXES, strict=False))
    for loop in loops:
        start = scalar(loop.start, device)
        variable = device.scope.declare(loop.var, nonnegative=True)
        index = f"blockIdx.{axes[loop]}"
        text = index if start.text == "0" else f"{start} + {index}"
        if loop.var in used:
            device.out.line(f"const int64_t {variable} = {text};")
    if shared > STATIC_SHARED:
        device.out.line(f"extern __shared__ __align__(128) unsigned char {DYNAMIC}[];")
    device.offset = 0 if shared > STATIC_SHARED else None
    statement(body, device)
    device.scope.pop()
    out = Writer()
    if nest.note:
        out.comment(nest.note)
    head = f'extern "C" __global__ void __launch_bounds__({threads}) {name}'
    out.function(head, parameters, "")
    with out.braces():
        if any(_THREAD.search(line) for line in device.out.lines):
            out.line("const int thread = threadIdx.x;")
        if any(_LANE.search(line) for line in device.out.lines):
            out.line(f"const int {LANE} = threadIdx.x % {WARP};")
        out.lines += device.out.lines
    unit.functions.append(out)
    return arguments


def _parameters(
    nest: For, loops: Sequence[For], body: Stmt, unit: Unit
) -> tuple[list[str], list[str]]:
    """Of the device function: what it reads of the host's names, and the arrays that it touches."""
    parameters, arguments = [], []
    names = free_variables(body).union(*(free_variables(loop.start) for loop in loops))
    names -= {loop.var for loop in loops}
    for variable in sorted(names, key=lambda v: unit.scope.find(v).text):
        text = unit.scope.find(variable).text
        parameters.append(f"int64_t {text}")
        arguments.append(text)
    inside = {n.buffer for n in nodes(nest) if isinstance(n, Allocate)}
    written = {n.buffer for n in nodes(nest) if isinstance(n, Store)}
    touched = {n.buffer for n in nodes(nest) if isinstance(n, Load | Store | Prefetch)}
    for buffer in (b for b in unit.buffers if b in touched - inside):
        held = unit.buffers[buffer]
        if held.memory is Memory.STACK:  # a table, which the whole file knows
            continue
        pointer = f"{'' if buffer in written else 'const '}{c_type(held.element)} *"
        parameters.append(f"{pointer}__restrict__ {held.text}")
        arguments.append(
            held.text if held.memory is Memory.AUTO else f"({pointer}){held.text}.data"
        )
    return parameters, arguments


def _call(
    name: str, loops: Sequence[For], threads: int, shared: int, arguments: list[str], unit: Unit
) -> None:
    out, code = unit.out, unit.codes["cuda"]
    extents = [str(scalar(loop.extent, unit)) for loop in reversed(loops)]
    extents += ["1"] * (len(_AXES) - len(extents))
    dynamic = shared if shared > STATIC_SHARED else 0
    with out.braces():
        blocks = ", ".join(f"blocks_{a} = {e}" for a, e in zip(_AXES, extents, strict=True))
        out.line(f"const int64_t {blocks};")
        _leave("too_large(blocks_x, blocks_y, blocks_z)", code, unit)
        with out.braces("if (blocks_x > 0 && blocks_y > 0 && blocks_z > 0)"):
            out.line("const dim3 grid((unsigned)blocks_x, (unsigned)blocks_y, (unsigned)blocks_z);")
            if dynamic:
                limit = "cudaFuncAttributeMaxDynamicSharedMemorySize"
                attribute = f"cudaFuncSetAttribute({name}, {limit}, {dynamic})"
                _leave(f'failed({attribute}, "{name}")', code, unit)
            launch = f"{name}<<<grid, {threads}, {dynamic}, {STREAM}>>>"
            out.line(f"{launch}({', '.join(arguments)});")
            _leave(f'refused("{name}", grid, {threads}, {dynamic})', code, unit)


def _leave(condition: str, code: str, unit: Unit) -> None:
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(f"return {code};")
    unit.out.depth -= 1
