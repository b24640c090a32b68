"""Statements as C: loops, blocks, stores, allocations and the ways out of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import assert_never

from hbc.codegen.c.interleaved_rows import interleaved_rows, is_interleaved
from hbc.codegen.c.tile import RELEASE, configured, of_a_thread, tile_statement
from hbc.codegen.c.work import enough_work
from hbc.codegen.text.functions import ALLOCATE, RELEASE_MEMORY
from hbc.codegen.text.names import Binding
from hbc.codegen.text.ranges import nonnegative, wraps
from hbc.codegen.text.registers import declare_registers, fill_is_hidden, unrolled
from hbc.codegen.text.routines import call
from hbc.codegen.text.scalar import element, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import UNARY, Buffer, Cleanup, Text, Unit
from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, Memory
from hbc.ir.lang.walk import map_children, names_read, nodes, statements, substitute_stmt
from hbc.ir.passes.hoist import is_heap

HIDDEN_FILL = """\
#if defined(__GNUC__) && !defined(__clang__)  /* it cannot tell that an array is filled by now */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
"""
_COMPOUND = {ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.AND, ir.Op.OR, ir.Op.XOR}


def statement(s: ir.Stmt, unit: Unit, *, last: bool = True) -> None:
    """Prints `s`. `last`: nothing follows in the same C block, so it needs no braces of its own."""
    while isinstance(s, ir.LetStmt) and id(s) not in unit.calls:
        if s.name in unit.read_names:
            unit.printers.declare(s.name, s.value, unit)
        s = s.body
    if (use := unit.calls.get(id(s))) is not None:
        call(use, unit)
        return
    region = unit.tiles.regions.get(id(s))
    if region is None or _has_threads(s, unit):
        _statement(s, unit, last=last)
        return
    with nullcontext() if last else braced("", unit), configured(region, unit):
        _statement(s, unit)


def _statement(s: ir.Stmt, unit: Unit, *, last: bool = True) -> None:
    if unit.printers.special(s, unit):
        return
    match s:
        case ir.Block(body=body):
            _block(body, unit, last=last)
        case ir.Store():
            _store(s, unit)
        case ir.For(kind=ir.LoopKind.UNROLL):
            _unrolled(s, unit)
        case ir.For():
            _for(s, unit)
        case ir.If():
            _if(s, unit)
        case ir.Allocate(memory=Memory.AMX_TILE):
            _allocate_tiles(s, unit, last=last)
        case ir.Allocate():
            with nullcontext() if last else braced("", unit):
                _allocate(s, unit)
        case ir.Comment(text=text):
            unit.out.comment(text)
        case ir.Prefetch(buffer=buffer) if unit.buffers[buffer].memory is Memory.STACK:
            pass  # in the nearest cache anyway, and compilers warn of places beyond an array's end
        case ir.Prefetch(buffer=buffer, index=index, level=level):
            place = f"{unit.buffers[buffer].text} + ({scalar(index, unit)})"
            # To be read; 3: kept in all levels of the cache, 2: from the second on, ...
            into = "" if level == 1 else f", 0, {4 - level}"
            unit.out.line(f"__builtin_prefetch({place}{into});")
        case ir.Assert():
            _assert(s, unit)
        case ir.Leave(loop=loop, condition=condition):
            if loop == unit.innermost:
                with unit.out.braces(f"if ({scalar(condition, unit)})"):
                    unit.out.line("break;")
        case ir.LetStmt():
            statement(s, unit, last=last)
        case (
            ir.Barrier() | ir.CopyCommit() | ir.CopyWait() | ir.Fence() | ir.BulkCopy()
            | ir.BulkGroup() | ir.BulkWait()
        ):  # fmt: skip
            raise InternalError("codegen: a barrier outside of a GPU's kernel")
        case _:
            assert_never(s)


def _block(body: Sequence[ir.Stmt], unit: Unit, *, last: bool) -> None:
    at = 0
    while at < len(body):
        together = interleaved_rows(body, at, unit)
        if not together:
            statement(body[at], unit, last=last and at + 1 == len(body))
        at += together or 1


@contextmanager
def braced(head: str, unit: Unit) -> Iterator[None]:
    """`head {` ... `}` around what is printed inside, with names of its own."""
    unit.scope.push()
    with unit.out.braces(head):
        yield
    unit.scope.pop()


def _store(s: ir.Store, unit: Unit) -> None:
    if tile_statement(s, unit):
        return
    if s.value.type.lanes > 1 or s.index.type.lanes > 1:
        unit.printers.store(s, unit)
        return
    condition = None if s.mask is None else scalar(s.mask, unit)
    text = _assignment(s if s.mask is None else replace(s, value=_under(s.mask, s.value)), unit)
    if condition is None:
        unit.out.line(text)
    else:
        unit.out.line(f"if ({condition})")
        unit.out.depth += 1
        unit.out.line(text)
        unit.out.depth -= 1


def _under(mask: ir.Expr, e: ir.Expr) -> ir.Expr:
    """The value where the mask is known to hold: loads need no condition of it again."""
    e = map_children(e, lambda inner: _under(mask, inner))
    if isinstance(e, ir.Load) and e.mask is not None and _terms(e.mask) <= _terms(mask):
        return ir.Load(e.buffer, e.index, e.type, None, e.span)
    return e


def _terms(e: ir.Expr) -> set[ir.Expr]:
    """What must hold together for a condition to hold."""
    match e:
        case ir.Binary(op=ir.Op.AND, a=a, b=b) if e.type.element == BOOL:
            return _terms(a) | _terms(b)
        case _:
            return {e}


def _assignment(s: ir.Store, unit: Unit) -> str:
    target = element(s.buffer, s.index, unit)
    match s.value:
        case ir.Binary(op=op, a=ir.Load(buffer=s.buffer, index=s.index, mask=None), b=b) if (
            op in _COMPOUND and _in_place(s.value, unit)
        ):
            if op is ir.Op.ADD and isinstance(b, ir.Const) and b.value < 0:
                return f"{target} -= {scalar(ir.Const(-b.value, b.type), unit)};"
            return f"{target} {op}= {scalar(b, unit)};"
        case _:
            value = scalar(s.value, unit)
            return f"{unit.undeclared.pop(target, '')}{target} = {value};"


def _in_place(value: ir.Binary, unit: Unit) -> bool:
    """Whether `x op= y` says the same: no narrowing, no wrapping, no contraction."""
    t = value.type.element
    product = isinstance(value.b, ir.Binary) and value.b.op is ir.Op.MUL
    if t == BOOL or t.is_narrow:
        return False
    if t.is_float:
        return not (unit.fused and product and value.op in (ir.Op.ADD, ir.Op.SUB))
    return t.bits >= 32 and not wraps(value, unit.scope)


def _for(s: ir.For, unit: Unit) -> None:
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    start = scalar(s.start, unit)
    end = loop_end(s, unit)
    low = nonnegative(s.start, unit.scope)
    parallel = _has_threads(s, unit)
    unit.scope.push()
    var = unit.scope.declare(s.var, nonnegative=low)
    around, unit.innermost = unit.innermost, "" if parallel else s.var
    head = f"for ({unit.index} {var} = {start}; {var} < {end}; ++{var})"
    if parallel:
        _parallel(s, head, var, unit)
    else:
        with unit.out.braces(head):
            statement(s.body, unit)
    unit.innermost = around
    unit.scope.pop()


def _has_threads(s: ir.Stmt, unit: Unit) -> bool:
    """Whether it is a parallel loop, outside of another one."""
    return isinstance(s, ir.For) and s.kind is ir.LoopKind.PARALLEL and unit.region is None


def _unrolled(s: ir.For, unit: Unit) -> None:
    """Prints a loop that compilers unroll; as calls what are rows to interleave."""
    assert isinstance(s.extent, ir.Const)
    count = int(s.extent.value)
    if isinstance(s.body, ir.Store):
        copies = [
            simplify_stmt(substitute_stmt(s.body, {s.var: ir.const_index(n)})) for n in range(count)
        ]
        if is_interleaved(copies, unit):
            _block(copies, unit, last=False)
            return
    unit.out.directive(unrolled(count))
    unit.scope.push()
    var = unit.scope.fresh(s.var.rpartition("#")[2])
    unit.scope.bind(s.var, Binding(var, nonnegative=True))
    lines, at = unit.out.lines, len(unit.out.lines)
    around, unit.innermost = unit.innermost, ""
    with unit.out.braces(f"for (int64_t {var} = 0; {var} < {count}; ++{var})"):
        statement(s.body, unit)
    unit.innermost = around
    unit.scope.pop()
    if isinstance(s.body, ir.Store) and len(lines) - at == 3:
        lines[at] = lines[at].removesuffix(" {")
        lines.pop()


def loop_end(s: ir.For, unit: Unit) -> Text:
    """What the counter stays below; a name for it where it is long, which is printed."""
    match (s.start, s.extent):
        case (ir.Const(value=0), extent):
            end = extent
        case (ir.Const(value=a, type=t), ir.Const(value=b)):
            end = ir.Const(a + b, t)
        case (start, ir.Binary(op=ir.Op.SUB, a=a, b=b)) if b == start:
            end = a
        case (start, extent):
            end = simplify(ir.Binary(ir.Op.ADD, start, extent))
    text = scalar(end, unit)
    if isinstance(end, ir.Const) or ("(" not in text.text and "[" not in text.text):
        return text
    name = unit.scope.fresh(f"{s.var}_end")
    unit.out.line(f"const {unit.index} {name} = {text};")
    return Text(name)


def _parallel(s: ir.For, head: str, var: str, unit: Unit) -> None:
    """Iterations may run on several threads. A failure is noted and the loop runs on, because C
    allows no way out of a parallel region; the function returns after it."""
    unit.parallel = True
    fails = may_fail(s.body)
    unit.regions += 1
    unit.region = f"next_{var}" if unit.regions == 1 else f"next_{var}_{unit.regions}"
    held, body = _of_each_thread(s)
    tiles = unit.tiles.regions.get(id(s))
    worth = enough_work(s, unit)
    if held or tiles is not None:
        unit.out.directive(f"#pragma omp parallel{worth}")
        with braced("", unit):
            names = [_ask(a, unit) for a in held]
            with nullcontext() if tiles is None else of_a_thread(tiles, unit):
                unit.out.directive("#pragma omp for")
                _iterations(head, body, names, unit)
            _release(names, unit)
    else:
        unit.out.directive(f"#pragma omp parallel for{worth}")
        _iterations(head, body, [], unit)
    unit.region = None
    if fails:
        _leave_if("status != 0", "status", unit)


def _of_each_thread(s: ir.For) -> tuple[list[ir.Allocate], ir.Stmt]:
    """The buffers that all iterations need alike, and what is left of the body."""
    held: list[ir.Allocate] = []
    body = s.body
    while isinstance(body, ir.Allocate) and is_heap(body) and s.var not in names_read(body.extent):
        held.append(body)
        body = body.body
    return held, body


def _iterations(head: str, body: ir.Stmt, held: list[str], unit: Unit) -> None:
    """The parallel loop itself; no iteration runs without the buffers that its thread holds."""
    jumps = unit.jumps
    with unit.out.braces(head):
        if held:
            missing = " || ".join(f"{name} == NULL" for name in held)
            _fail_if(missing, unit.codes["memory"], unit)
        statement(body, unit)
        if unit.jumps > jumps:
            unit.out.line(f"{unit.region}:;")


def may_fail(s: ir.Stmt) -> bool:
    """Whether the computing function needs a return code."""
    return any(
        isinstance(n, ir.Assert) or (isinstance(n, ir.Allocate) and is_heap(n))
        for n in statements(s)
    )


def _if(s: ir.If, unit: Unit) -> None:
    with braced(f"if ({scalar(s.condition, unit)})", unit):
        statement(s.then, unit)
    if s.otherwise is not None:
        unit.out.lines[-1] += " else {"
        unit.scope.push()
        unit.out.depth += 1
        statement(s.otherwise, unit)
        unit.out.depth -= 1
        unit.out.line("}")
        unit.scope.pop()


def _assert(s: ir.Assert, unit: Unit) -> None:
    condition = scalar(s.condition, unit)
    _fail_if(f"!{condition.at(UNARY)}", unit.codes[s.message], unit)


def _fail_if(condition: str, code: str, unit: Unit) -> None:
    """Leaves with an error code, after freeing what is held."""
    if unit.region is None:
        _leave_if(condition, code, unit)
        return
    with unit.out.braces(f"if ({condition})"):
        _release(unit.live, unit)
        if unit.tile_names and not unit.tiles_of_thread:
            unit.out.line(RELEASE)
        unit.jumps += 1
        unit.out.directive("#pragma omp atomic write")
        unit.out.line(f"status = {code};")
        unit.out.line(f"goto {unit.region};")


def _leave_if(condition: str, code: str, unit: Unit) -> None:
    """Outside of parallel regions: to where the innermost buffers are freed, or out of the function."""
    lines = [RELEASE] if unit.tile_names else []
    if not unit.cleanups:
        lines.append(f"return {code};")
    else:
        unit.jumps += 1
        lines += [] if code == "status" else [f"status = {code};"]
        lines.append(f"goto {_label(unit)};")
    if len(lines) > 1:
        with unit.out.braces(f"if ({condition})"):
            for line in lines:
                unit.out.line(line)
        return
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(lines[0])
    unit.out.depth -= 1


def _label(unit: Unit) -> str:
    """That of the innermost cleanup, which gets its name with the first jump."""
    cleanup = unit.cleanups[-1]
    if not cleanup.label:
        unit.labels += 1
        cleanup.label = "cleanup" if unit.labels == 1 else f"cleanup_{unit.labels}"
    cleanup.jumps += 1
    return cleanup.label


def _allocate(s: ir.Allocate, unit: Unit) -> None:
    if s.memory is Memory.REGISTER:
        _note(s, unit)
        declare_registers(s, unit)
        statement(s.body, unit)
        return
    if not is_heap(s):
        _note(s, unit)
        name = unit.scope.fresh(s.buffer)
        count = max(1, int(s.extent.value)) if isinstance(s.extent, ir.Const) else 1
        if fill_is_hidden(s, unit.accesses):
            unit.prelude.add("hidden_fill", HIDDEN_FILL)
        unit.out.line(f"_Alignas(64) {c_type(s.element)} {name}[{count}];")
        unit.buffers[s.buffer] = Buffer(name, s.element, Memory.STACK, extent=count)
        statement(s.body, unit)
        return
    _from_heap(s, unit)


def _from_heap(s: ir.Allocate, unit: Unit) -> None:
    """Buffers that are asked for one after the other, tested together; what fails from there on jumps to
    where they are freed. In a parallel region what fails frees them itself."""
    names, body = _ask_all(s, unit)
    missing = " || ".join(f"{name} == NULL" for name in names)
    if unit.region is not None:
        if len(names) == 1:
            _fail_if(missing, unit.codes["memory"], unit)
        before = list(unit.live)
        unit.live += names
        if len(names) > 1:
            _fail_if(missing, unit.codes["memory"], unit)
        statement(body, unit)
        unit.live = before
        _release(names, unit)
        return
    if len(names) == 1:
        _leave_if(missing, unit.codes["memory"], unit)
    unit.cleanups.append(Cleanup())
    if len(names) > 1:
        _leave_if(missing, unit.codes["memory"], unit)
    statement(body, unit)
    cleanup = unit.cleanups.pop()
    if cleanup.label:
        _reach(cleanup, unit)
    _release(names, unit)
    if cleanup.label:
        _leave_if("status != 0", "status", unit)


def _reach(cleanup: Cleanup, unit: Unit) -> None:
    """Prints the label, of which a jump from the line before it has no need."""
    lines = [line.strip() for line in unit.out.lines[-2:]]
    if lines == ["if (status != 0)", f"goto {cleanup.label};"]:
        del unit.out.lines[-2:]
        cleanup.jumps -= 1
    if cleanup.jumps:
        unit.out.depth -= 1
        unit.out.line(f"{cleanup.label}:")
        unit.out.depth += 1


def _ask_all(s: ir.Allocate, unit: Unit) -> tuple[list[str], ir.Stmt]:
    """Asks for the buffers of `s` and of what follows it at once; their pointers' names, and the rest."""
    names: list[str] = []
    for each in _asked_at_once(s, unit):
        if isinstance(each, ir.Allocate):
            names.append(_ask(each, unit))
        elif each.name in unit.read_names:
            unit.printers.declare(each.name, each.value, unit)
        rest = each.body
    return names, rest


def _asked_at_once(s: ir.Allocate, unit: Unit) -> list[ir.Allocate | ir.LetStmt]:
    """`s` and the buffers around whose statement nothing else happens, with the names between them."""
    found: list[ir.Allocate | ir.LetStmt] = [s]
    count, body = 1, s.body
    while id(body) not in unit.tiles.regions and id(body) not in unit.calls:
        match body:
            case ir.Allocate() if is_heap(body):
                count = len(found) + 1
            case ir.LetStmt(value=value) if not _reads_memory(value):
                pass
            case _:
                break
        found.append(body)
        body = body.body
    return found[:count]


def _reads_memory(e: ir.Expr) -> bool:
    return any(isinstance(n, ir.Load) for n in nodes(e))


def _release(names: Sequence[str], unit: Unit) -> None:
    for name in reversed(names):
        unit.out.line(f"release({name});")


def _allocate_tiles(s: ir.Allocate, unit: Unit, *, last: bool) -> None:
    """Registers are named where they are configured: here is only said what for, once for
    several tiles of a Func."""
    notes = [s.note]
    body = s.body
    while isinstance(body, ir.Allocate) and body.memory is Memory.AMX_TILE:
        if id(body) in unit.tiles.regions:
            break
        notes.append(body.note)
        body = body.body
    for note in dict.fromkeys(filter(None, notes)):
        unit.out.blank()
        unit.out.comment(note)
    statement(body, unit, last=last)


def _ask(s: ir.Allocate, unit: Unit) -> str:
    """Prints the call that gets heap memory for a buffer; returns the pointer's name."""
    _note(s, unit)
    t, extent, name = c_type(s.element), scalar(s.extent, unit), unit.scope.fresh(s.buffer)
    unit.prelude.add("allocate", ALLOCATE)
    unit.prelude.add("release", RELEASE_MEMORY)
    unit.out.line(f"{t} *restrict {name} = allocate({extent}, sizeof({t}));")
    count = int(s.extent.value) if isinstance(s.extent, ir.Const) else 0
    unit.buffers[s.buffer] = Buffer(name, s.element, extent=count)
    return name


def _note(s: ir.Allocate, unit: Unit) -> None:
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
