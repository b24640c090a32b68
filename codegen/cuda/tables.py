"""Tables in CUDA: in constant memory, or in the device's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hbc.codegen.text.spelling import c_type, initialiser
from hbc.codegen.text.unit import Buffer
from hbc.codegen.text.writer import Writer
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel, Table
from hbc.ir.lang.walk import children, free_variables

MOST_CONSTANT = 48 * 1024  # bytes of a table that fits constant memory, with room for others


def write_tables(kernel: Kernel, tables: Sequence[tuple[Table, Buffer]], out: Writer) -> None:
    """The values of the tables, row by row. Constant memory has one value for all lanes at a time: it
    is for small tables whose indices are the same in all threads of a warp."""
    scattered = set(_scattered(kernel.body, frozenset())) if tables else set[str]()
    for table, buffer in tables:
        values = table.values or (0,)
        row = table.shape[-1] if table.shape and table.values else len(values)
        t = c_type(table.element)
        small = len(values) * table.element.bytes <= MOST_CONSTANT
        space = "__constant__" if small and table.name not in scattered else "__device__ const"
        out.blank()
        with out.braces(f"static {space} __align__(64) {t} {buffer.text}[{len(values)}] ="):
            for start in range(0, len(values), row):
                texts = [initialiser(v, table.element) for v in values[start : start + row]]
                out.line(", ".join(texts) + ",")
        out.lines[-1] += ";"


def _scattered(n: ir.Node, own: frozenset[str]) -> Iterator[str]:
    """The buffers that the threads of a warp read at different indices. `own`: the names that differ
    between threads."""
    match n:
        case ir.Load(buffer=buffer, index=index):
            if index.type.lanes > 1 or not own.isdisjoint(free_variables(index)):
                yield buffer
        case ir.For(kind=ir.LoopKind.THREAD | ir.LoopKind.LANE):
            own = own | {n.var}
        case ir.For(start=start, extent=extent):
            if not own.isdisjoint(free_variables(start) | free_variables(extent)):
                own = own | {n.var}
        case ir.Let(value=value) | ir.LetStmt(value=value):
            if not own.isdisjoint(free_variables(value)):
                own = own | {n.name}
        case _:
            pass
    for c in children(n):
        yield from _scattered(c, own)
