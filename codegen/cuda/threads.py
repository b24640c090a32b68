"""What the threads of a block do: loops over threads and lanes, shared and private memory, barriers.

The threads of a block are numbered in one dimension. A nest of loops over threads runs on the first
of them, as many as it has iterations; a nest in which lanes or tiles are used counts warps of 32, or
groups of four where those hold tiles together.
"""

from __future__ import annotations

from contextlib import nullcontext
from math import prod

from hbc.codegen.c.stmt import braced, statement
from hbc.codegen.cuda.atomics import atomic_statement
from hbc.codegen.cuda.bulk import bulk_statement, signals
from hbc.codegen.cuda.copies import copy_statement
from hbc.codegen.cuda.fragments import declare_fragment, fragment_statement
from hbc.codegen.cuda.lane_fragments import GROUP_LANE, GROUP_NUMBER, LANE
from hbc.codegen.cuda.products import product_statement
from hbc.codegen.cuda.repeats import array_of, repeated
from hbc.codegen.cuda.turns import turning_loop
from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import element, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.launches import WARP, Tiles, lanes_of, thread_count, thread_loops
from hbc.ir.lang.types import FRAGMENTS, DType, Memory
from hbc.ir.lang.walk import children, names_read, statements

DYNAMIC = "shared_memory"
STATIC_SHARED = 48 * 1024
"""Bytes of shared memory that a kernel may have without asking for them at its launch."""
ALIGN = 128  # of arrays in shared memory: bytes in a row of its banks
_WORDS = {4: "unsigned", 8: "uint2", 16: "uint4"}


def device_statement(s: ir.Stmt, unit: Unit) -> bool:
    """Statements that only device code has."""
    match s:
        case ir.For(kind=ir.LoopKind.THREAD | ir.LoopKind.LANE):
            _threads(s, unit)
        case ir.For(kind=ir.LoopKind.UNROLL):
            repeated(s, unit)
        case ir.For() if turning_loop(s, unit):
            pass
        case ir.Allocate(memory=Memory.SHARED):
            _shared(s, unit)
        case ir.Allocate(memory=Memory.SIGNAL):
            _signals(s, unit)
        case ir.Allocate(memory=memory) if memory in FRAGMENTS:
            _fragment(s, unit)
        case ir.Store(atomic=op) if op is not None:
            atomic_statement(s, op, unit)
        case ir.Store() if copy_statement(s, unit) or fragment_statement(s, unit):
            pass
        case ir.BulkGroup() | ir.BulkCopy() | ir.BulkWait():
            bulk_statement(s, unit)
        case ir.Fence() | ir.CopyCommit(products=True) | ir.CopyWait(products=True):
            product_statement(s, unit)
        case ir.CopyCommit() | ir.CopyWait():
            copy_statement(s, unit)
        case ir.Allocate():
            _private(s, unit)
        case ir.Barrier(scope=ir.BarrierScope.BLOCK):
            unit.out.line("__syncthreads();")
        case ir.Barrier():
            unit.out.line("__syncwarp();")
        case ir.For(kind=ir.LoopKind.BLOCK):
            raise InternalError("codegen: a loop over blocks inside of a block")
        case _:
            return False
    return True


def block_size(body: ir.Stmt, tiles: Tiles) -> int:
    """Threads that a block needs: those of its largest nest, in whole warps."""
    most = max((thread_count(n, tiles) for n in _nests(body)), default=1)
    return -(-most // WARP) * WARP


def shared_bytes(body: ir.Stmt) -> int:
    """Of all arrays in shared memory, each aligned."""
    total = 0
    for a in _arrays(body):
        total = _aligned(total, _alignment(a)) + array_bytes(a)
    return total


def shared_alignment(body: ir.Stmt) -> int:
    """Bytes that all of them together begin at a multiple of."""
    return max(map(_alignment, _arrays(body)), default=ALIGN)


def _arrays(body: ir.Stmt) -> list[ir.Allocate]:
    """In shared memory, as they are declared."""
    shared = (Memory.SHARED, Memory.SIGNAL)
    return [n for n in statements(body) if isinstance(n, ir.Allocate) and n.memory in shared]


def array_bytes(s: ir.Allocate) -> int:
    """What an array of constant extent takes of shared memory."""
    return _aligned(_extent(s) * s.element.bytes, _alignment(s))


def _alignment(s: ir.Allocate) -> int:
    """Bytes that an array in shared memory begins at a multiple of: rows whose units change places, each in
    another way, from which the hardware finds how they do."""
    if s.swizzle is None or not s.swizzle.line:
        return ALIGN
    rows = min(s.swizzle.lines, s.swizzle.line // s.swizzle.unit)
    return max(ALIGN, rows * s.swizzle.line * s.element.bytes)


def _nests(s: ir.Stmt) -> list[ir.For]:
    """The outermost loops over threads."""
    if isinstance(s, ir.For) and s.kind in (ir.LoopKind.THREAD, ir.LoopKind.LANE):
        return [s]
    return [n for c in children(s) if isinstance(c, ir.Stmt) for n in _nests(c)]


def _count(loop: ir.For) -> int:
    if not isinstance(loop.extent, ir.Const):
        raise InternalError(f"codegen: the loop over threads `{loop.var}` has no constant extent")
    return int(loop.extent.value)


def _threads(s: ir.For, unit: Unit) -> None:
    """The nest on as many threads as it has iterations; the others skip it."""
    loops, body = thread_loops(s)
    together = lanes_of(s, {name: f.lanes for name, f in unit.fragments.items()})
    outer = [loop for loop in loops if loop.kind is ir.LoopKind.THREAD]
    count = prod(map(_count, outer)) * together
    number = f"thread / {together}" if together > 1 else "thread"
    number = GROUP_NUMBER if together > WARP else number
    conditions = []
    if outer and count < unit.threads:
        conditions.append(f"thread < {count}")
    lanes = [loop for loop in loops if loop.kind is ir.LoopKind.LANE]
    conditions += [f"{LANE} < {_count(x)}" for x in lanes if _count(x) < WARP]
    lane = LANE if all(_count(x) <= WARP for x in lanes) else GROUP_LANE
    head = f"if ({' && '.join(conditions)})" if conditions else ""
    braces = bool(head) or not unit.out.at_start
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    with braced(head, unit) if braces else nullcontext():
        inner, used = 1, names_read(body)
        for loop in reversed(outer):
            digit = _digit(number, inner, _count(loop), outer[0] is loop)
            _index(loop, digit, loop.var in used, unit)
            inner *= _count(loop)
        for loop in lanes:
            if loop.start == ir.const_index(0):
                unit.scope.bind(loop.var, Binding(lane, nonnegative=True))
            else:
                _index(loop, lane, loop.var in used, unit)
        statement(body, unit)


def _digit(number: str, inner: int, count: int, outermost: bool) -> str:
    """The loop's digit of the thread's number."""
    text = number if inner == 1 else f"{number} / {inner}"
    if count == 1:
        return "0"
    return text if outermost else f"{text} % {count}"


def _index(loop: ir.For, text: str, used: bool, unit: Unit) -> None:
    start = scalar(loop.start, unit)
    variable = unit.scope.declare(loop.var, nonnegative=start.text == "0")
    if not used:
        return
    value = text if start.text == "0" else f"{start} + {text}"
    unit.out.line(f"const {unit.index} {variable} = {value};")


def _shared(s: ir.Allocate, unit: Unit) -> None:
    declare_shared(s, unit)
    statement(s.body, unit)


def _signals(s: ir.Allocate, unit: Unit) -> None:
    declare_shared(s, unit)
    signals(s, unit.buffers[s.buffer].text, unit)


def declare_shared(s: ir.Allocate, unit: Unit) -> None:
    """Prints the array."""
    _note(s, unit)
    t, name = c_type(s.element), unit.scope.fresh(s.buffer)
    if unit.offset is None:
        unit.out.line(f"__shared__ __align__({_alignment(s)}) {t} {name}[{_extent(s)}];")
    else:
        unit.offset = _aligned(unit.offset, _alignment(s))
        unit.out.line(f"{t} *const {name} = reinterpret_cast<{t} *>({DYNAMIC} + {unit.offset});")
        unit.offset += array_bytes(s)
    unit.buffers[s.buffer] = Buffer(name, s.element, Memory.SHARED, swizzle=s.swizzle)


def _private(s: ir.Allocate, unit: Unit) -> None:
    """An array of one thread: registers, where all its indices are constants."""
    _note(s, unit)
    name = unit.scope.fresh(s.buffer.partition("#")[0])
    declared = array_of(s, Buffer(name, s.element, Memory.STACK), unit)
    unit.out.line(f"__align__(16) {c_type(s.element)} {declared}[{_extent(s)}];")
    statement(s.body, unit)


def _fragment(s: ir.Allocate, unit: Unit) -> None:
    _note(s, unit)
    name = unit.scope.fresh(s.buffer.partition("#")[0])
    declared = array_of(s, Buffer(name, s.element, s.memory), unit)
    declare_fragment(s, declared, unit)
    statement(s.body, unit)


def _note(s: ir.Allocate, unit: Unit) -> None:
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)


def _extent(s: ir.Allocate) -> int:
    if not isinstance(s.extent, ir.Const):
        raise InternalError(f"codegen: `{s.buffer}` in {s.memory} has no constant extent")
    return max(1, int(s.extent.value))


def _aligned(size: int, to: int) -> int:
    return -(-size // to) * to


def store_vector(s: ir.Store, unit: Unit) -> None:
    """A copy of neighbouring elements in one access, both places being aligned to it."""
    match s:
        case ir.Store(
            index=ir.Ramp(base=to, lanes=n), value=ir.Load(buffer=source, index=ir.Ramp(base=at), mask=None),
            mask=None,
        ):  # fmt: skip
            word = _word(s.value.type.element, n)
            left = f"*reinterpret_cast<{word} *>(&{element(s.buffer, to, unit)})"
            right = f"*reinterpret_cast<const {word} *>(&{element(source, at, unit)})"
            unit.out.line(f"{left} = {right};")
        case _:
            raise InternalError(f"codegen: a store of {s.value.type} in device code")


def _word(t: DType, lanes: int) -> str:
    size = t.bytes * lanes
    if size not in _WORDS:
        raise InternalError(f"codegen: a copy of {size} bytes in device code")
    return _WORDS[size]
