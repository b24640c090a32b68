"""Statements as C: loops, blocks, stores, allocations and the ways out of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from hbc.codegen.c_scalar import element, scalar
from hbc.codegen.c_vector import declare
from hbc.codegen.c_vector_store import store_vector
from hbc.codegen.prelude import ALLOCATE
from hbc.codegen.ranges import nonnegative, wraps
from hbc.codegen.registers import declare_registers
from hbc.codegen.spelling import c_type
from hbc.codegen.unit import UNARY, Buffer, Text, Unit
from hbc.ir.nodes import (
    Allocate,
    Assert,
    Binary,
    Block,
    Comment,
    Const,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Op,
    Prefetch,
    Stmt,
    Store,
)  # fmt: skip
from hbc.ir.types import BOOL, Memory
from hbc.ir.walk import nodes

# Buffers whose place is free to choose live on the stack up to this size (bytes).
STACK_LIMIT = 16 * 1024
_COMPOUND = {Op.ADD, Op.SUB, Op.MUL, Op.AND, Op.OR, Op.XOR}


def statement(s: Stmt, unit: Unit, *, last: bool = True) -> None:
    """Prints `s`. `last`: nothing follows in the same C block, so it needs no braces of its own."""
    while isinstance(s, LetStmt):
        if s.name in unit.read_names:
            declare(s.name, s.value, unit)
        s = s.body
    match s:
        case Block(body=body):
            for i, child in enumerate(body):
                statement(child, unit, last=last and i + 1 == len(body))
        case Store():
            _store(s, unit)
        case For():
            _for(s, unit)
        case If():
            _if(s, unit)
        case Allocate():
            if last:
                _allocate(s, unit)
            else:
                with _block("", unit):
                    _allocate(s, unit)
        case Comment(text=text):
            unit.out.comment(text)
        case Prefetch(buffer=buffer, index=index):
            place = f"{unit.buffers[buffer].text} + ({scalar(index, unit)})"
            unit.out.line(f"__builtin_prefetch({place});")
        case Assert():
            _assert(s, unit)
        case _:
            assert_never(s)


@contextmanager
def _block(head: str, unit: Unit) -> Iterator[None]:
    unit.scope.push()
    with unit.out.braces(head):
        yield
    unit.scope.pop()


def _store(s: Store, unit: Unit) -> None:
    if s.value.type.lanes > 1 or s.index.type.lanes > 1:
        store_vector(s, unit)
        return
    condition = None if s.mask is None else scalar(s.mask, unit)
    text = _assignment(s, unit)
    if condition is None:
        unit.out.line(text)
    else:
        unit.out.line(f"if ({condition})")
        unit.out.depth += 1
        unit.out.line(text)
        unit.out.depth -= 1


def _assignment(s: Store, unit: Unit) -> str:
    target = element(s.buffer, s.index, unit)
    match s.value:
        case Binary(op=op, a=Load(buffer=s.buffer, index=s.index, mask=None), b=b) if (
            op in _COMPOUND and _in_place(s.value, unit)
        ):
            if op is Op.ADD and isinstance(b, Const) and b.value < 0:
                return f"{target} -= {scalar(Const(-b.value, b.type), unit)};"
            return f"{target} {op}= {scalar(b, unit)};"
        case _:
            value = scalar(s.value, unit)
            return f"{unit.undeclared.pop(target, '')}{target} = {value};"


def _in_place(value: Binary, unit: Unit) -> bool:
    """Whether `x op= y` says the same: no narrowing, no wrapping, no contraction."""
    t = value.type.element
    product = isinstance(value.b, Binary) and value.b.op is Op.MUL
    if t == BOOL or (t.is_float and t.bits == 16):
        return False
    if t.is_float:
        return not (unit.fused and product and value.op is Op.ADD)
    return t.bits >= 32 and not wraps(value, unit.scope)


def _for(s: For, unit: Unit) -> None:
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    start = scalar(s.start, unit)
    end = _end(s, unit)
    low = nonnegative(s.start, unit.scope)
    parallel = s.kind is LoopKind.PARALLEL and unit.region is None
    unit.scope.push()
    var = unit.scope.declare(s.var, nonnegative=low)
    head = f"for (int64_t {var} = {start}; {var} < {end}; ++{var})"
    if parallel:
        _parallel(s, head, var, unit)
    else:
        with unit.out.braces(head):
            statement(s.body, unit)
    unit.scope.pop()


def _end(s: For, unit: Unit) -> Text:
    match (s.start, s.extent):
        case (Const(value=0), extent):
            end = extent
        case (Const(value=a, type=t), Const(value=b)):
            end = Const(a + b, t)
        case (start, Binary(op=Op.SUB, a=a, b=b)) if b == start:
            end = a
        case (start, extent):
            end = Binary(Op.ADD, start, extent)
    text = scalar(end, unit)
    if isinstance(end, Const) or ("(" not in text.text and "[" not in text.text):
        return text
    name = unit.scope.fresh(f"{s.var}_end")
    unit.out.line(f"const int64_t {name} = {text};")
    return Text(name)


def _parallel(s: For, head: str, var: str, unit: Unit) -> None:
    """Iterations may run on several threads. A failure is noted and the loop runs on, because C
    allows no way out of a parallel region; the function returns after it."""
    unit.parallel = True
    fails = may_fail(s.body)
    unit.out.directive("#pragma omp parallel for")
    unit.regions += 1
    unit.region = f"next_{var}" if unit.regions == 1 else f"next_{var}_{unit.regions}"
    unit.live.append([])
    jumps = unit.jumps
    with unit.out.braces(head):
        statement(s.body, unit)
        if unit.jumps > jumps:
            unit.out.line(f"{unit.region}:;")
    unit.live.pop()
    unit.region = None
    if fails:
        with unit.out.braces("if (status != 0)"):
            _free_live(unit)
            unit.out.line("return status;")


def may_fail(s: Stmt) -> bool:
    """Whether the computing function needs a return code."""
    return any(isinstance(n, Assert) or (isinstance(n, Allocate) and is_heap(n)) for n in nodes(s))


def _if(s: If, unit: Unit) -> None:
    with _block(f"if ({scalar(s.condition, unit)})", unit):
        statement(s.then, unit)
    if s.otherwise is not None:
        unit.out.lines[-1] += " else {"
        unit.scope.push()
        unit.out.depth += 1
        statement(s.otherwise, unit)
        unit.out.depth -= 1
        unit.out.line("}")
        unit.scope.pop()


def _assert(s: Assert, unit: Unit) -> None:
    condition = scalar(s.condition, unit)
    _fail_if(f"!{condition.at(UNARY)}", unit.codes[s.message], unit)


def _fail_if(condition: str, code: str, unit: Unit) -> None:
    """Leaves with an error code, after freeing what is held."""
    if unit.region is None and not any(unit.live):
        unit.out.line(f"if ({condition})")
        unit.out.depth += 1
        unit.out.line(f"return {code};")
        unit.out.depth -= 1
        return
    with unit.out.braces(f"if ({condition})"):
        _free_live(unit)
        if unit.region is None:
            unit.out.line(f"return {code};")
        else:
            unit.jumps += 1
            unit.out.directive("#pragma omp atomic write")
            unit.out.line(f"status = {code};")
            unit.out.line(f"goto {unit.region};")


def _free_live(unit: Unit) -> None:
    """What this thread holds: everything, or in a parallel region what the region allocated."""
    held = unit.live[-1:] if unit.region else unit.live
    for name in reversed([name for level in held for name in level]):
        unit.out.line(f"free({name});")


def is_heap(s: Allocate) -> bool:
    """Whether the buffer needs the heap: told so, too large, or of unknown size."""
    if s.memory is Memory.REGISTER:
        return False
    if s.memory is Memory.HEAP or not isinstance(s.extent, Const):
        return True
    return s.memory is Memory.AUTO and int(s.extent.value) * s.element.bytes > STACK_LIMIT


def _allocate(s: Allocate, unit: Unit) -> None:
    if s.note:
        unit.out.blank()
        unit.out.comment(s.note)
    if s.memory is Memory.REGISTER:
        declare_registers(s, unit)
        statement(s.body, unit)
        return
    t = c_type(s.element)
    if not is_heap(s):
        name = unit.scope.fresh(s.buffer)
        count = max(1, int(s.extent.value)) if isinstance(s.extent, Const) else 1
        unit.out.line(f"_Alignas(64) {t} {name}[{count}];")
        unit.buffers[s.buffer] = Buffer(name, s.element, Memory.STACK)
        statement(s.body, unit)
        return
    extent = scalar(s.extent, unit)
    name = unit.scope.fresh(s.buffer)
    unit.prelude.add("allocate", ALLOCATE)
    unit.out.line(f"{t} *restrict {name} = allocate({extent}, sizeof({t}));")
    _fail_if(f"{name} == NULL", unit.codes["memory"], unit)
    unit.buffers[s.buffer] = Buffer(name, s.element)
    unit.live[-1].append(name)
    statement(s.body, unit)
    unit.live[-1].pop()
    unit.out.line(f"free({name});")
