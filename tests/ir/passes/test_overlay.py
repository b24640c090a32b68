"""Temporaries that are never alive at once share memory; what they hold stays what it was."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from outlines import agrees, lowered

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import F32, Memory
from hbc.ir.lang.walk import block, nodes, statements
from hbc.ir.passes.overlay import lives

ZERO = ir.const_index(0)
CHAIN = """
size   W
input  I: f32[W + 8]
output O: f32[W]
a[x] = I[x] * 2.0
b[x] = a[x] + a[x + 2]
c[x] = b[x] - b[x + 2]
d[x] = c[x] * c[x + 2]
O[x] = d[x] + d[x + 2]
"""
ROOT = "; ".join(f"{f}.compute_root()" for f in "abcd")
STRIPS = """
size   H, W
input  I: f32[H + 4, W]
output O: f32[H, W]
a[y, x] = I[y, x] * 2.0
b[y, x] = a[y, x] + a[y + 1, x]
c[y, x] = b[y, x] - b[y + 1, x]
O[y, x] = c[y, x] + c[y + 1, x]
"""


def heap(kernel: Kernel) -> list[ir.Allocate]:
    found = [n for n in nodes(kernel.body) if isinstance(n, ir.Allocate)]
    return [a for a in found if a.memory is not Memory.REGISTER]


def held(program: str, schedule: str, target: str = "avx512") -> list[tuple[str, ...]]:
    return [
        a.holds or (a.buffer,) for a in heap(lowered(program, schedule, "hoist", target=target))
    ]


def test_every_other_stage_of_a_chain_shares() -> None:
    assert held(CHAIN, ROOT) == [("a", "c"), ("b", "d")]
    agrees(CHAIN, ROOT, "avx512", "c")


def test_the_larger_size_is_asked_for() -> None:
    body = lowered(CHAIN, ROOT, "hoist")
    before = {a.buffer: a.extent for a in heap(lowered(CHAIN, ROOT, "rotate"))}
    assert [a.extent for a in heap(body)] == [before["a"], before["b"]]


def test_one_name_is_read_and_written() -> None:
    body = lowered(CHAIN, ROOT, "hoist").body
    stored = [s.buffer for s in statements(body) if isinstance(s, ir.Store)]
    assert [n for n in dict.fromkeys(stored) if n != "O"] == ["a_c", "b_d"]


def test_a_name_of_the_program_is_not_taken() -> None:
    text = CHAIN.replace("d[", "a_c[")
    assert held(text, ROOT.replace("d.", "a_c.")) == [("a", "c"), ("b", "a_c")]
    body = lowered(text, ROOT.replace("d.", "a_c."), "hoist")
    assert [a.buffer for a in heap(body)] == ["a_c_2", "b_a_c"]
    agrees(text, ROOT.replace("d.", "a_c."))


def test_what_is_read_again_at_the_end_is_not_overwritten() -> None:
    text = CHAIN.replace("d[x + 2]\n", "d[x + 2] + a[x]\n")
    assert held(text, ROOT) == [("a",), ("b", "d"), ("c",)]
    agrees(text, ROOT)


def test_types_are_kept_apart() -> None:
    text = CHAIN.replace("b[x] - b[x + 2]", "f64(b[x] - b[x + 2])").replace("d[x] +", "f32(d[x]) +")
    assert held(text.replace("+ d[x + 2]", "+ f32(d[x + 2])"), ROOT) == [
        ("a",), ("b",), ("c",), ("d",)
    ]  # fmt: skip


def test_each_thread_shares_in_its_strips() -> None:
    schedule = (
        "O.split(y, yo, yi, 4, tail = guard).parallel(yo); a.compute_at(O, yo)"
        "; b.compute_at(O, yo); c.compute_at(O, yo)"
    )
    kernel = lowered(STRIPS, schedule, "hoist")
    parallel = next(
        n for n in nodes(kernel.body) if isinstance(n, ir.For) and n.kind is ir.LoopKind.PARALLEL
    )
    assert [n.holds for n in statements(parallel.body) if isinstance(n, ir.Allocate)] == [
        ("a", "c"), ()
    ]  # fmt: skip
    agrees(STRIPS, schedule)


def test_what_slides_along_a_loop_lives_as_long_as_that() -> None:
    schedule = (
        "a.store_root().compute_at(O, y); b.store_root().compute_at(O, y)"
        "; c.store_root().compute_at(O, y)"
    )
    assert all(len(names) == 1 for names in held(STRIPS, schedule))
    agrees(STRIPS, schedule)


def test_what_constant_inputs_decide_is_kept_for_many_calls() -> None:
    text = """
    size   W
    input  I: f32[W]
    input  J: f32[W] constant
    output O: f32[W]
    a[x] = J[x] * 2.0
    b[x] = a[x] + I[x]
    c[x] = b[x] * 3.0
    d[x] = J[x] * 4.0
    O[x] = d[x] + c[x]
    """
    names = held(text, ROOT)
    assert ("a",) in names and ("d",) in names


ROWS = """
size   H
input  I: f32[H, 1024]
output O: f32[H, 1024]
a[y, x] = I[y, x] * 2.0
b[y, x] = a[y, x] + a[y, 1023 - x]
c[y, x] = b[y, x] * b[y, 1023 - x]
d[y, x] = c[y, x] - c[y, 1023 - x]
e[y, x] = d[y, x] * d[y, 1023 - x]
O[y, x] = e[y, x] + e[y, 1023 - x]
"""
BY_ROW = "; ".join(f"{f}.compute_at(O, y)" for f in "abcde")


def test_arrays_of_the_stack_share_where_they_are_many() -> None:
    kernel = lowered(ROWS, BY_ROW, "hoist")
    (loop,) = (n for n in nodes(kernel.body) if isinstance(n, ir.For) and n.var.startswith("y"))
    inside = [n.holds for n in statements(loop.body) if isinstance(n, ir.Allocate)]
    assert inside == [("a", "c", "e"), ("b", "d")]
    agrees(ROWS, BY_ROW, "avx512", "c")


def test_few_or_small_arrays_of_the_stack_are_left_alone() -> None:
    few = ROWS.replace("1024", "512").replace("1023", "511")
    small = ROWS.replace("1024", "128").replace("1023", "127")
    for text in (few, small):
        assert held(text, BY_ROW) == [("a",), ("b",), ("c",), ("d",), ("e",)]


def test_memory_of_a_gpu_stays_as_it_is() -> None:
    assert held(CHAIN, ROOT, "cuda") == [("a",), ("b",), ("c",), ("d",)]


def test_maxima_are_taken_of_sizes_that_are_close() -> None:
    text = """
    size   W, H
    input  I: f32[W]
    input  J: f32[H]
    output O: f32[H]
    output P: f32[W]
    a[x] = I[x] * 2.0
    P[x] = a[x] + 1.0
    b[x] = J[x] * 2.0
    O[x] = b[x] + 1.0
    """
    schedule = "a.compute_root(); b.compute_root()"
    (only,) = heap(lowered(text, schedule, "hoist"))
    assert sorted(only.holds) == ["a", "b"]
    assert any(isinstance(n, ir.Binary) and n.op is ir.Op.MAX for n in nodes(only.extent))
    agrees(text, schedule)


def test_lives_are_those_of_statements_run_in_order() -> None:
    """Against a list of all accesses as they happen, each of loop variables' values in its turn."""
    for seed in range(40):
        s = _program(Random(seed))
        found = {n.buffer: lives(s)[id(n)] for n in statements(s) if isinstance(n, ir.Allocate)}
        trace = list(_trace(s))
        for a in found:
            for b in found:
                if a < b and not found[a].meets(found[b]):
                    assert not _interleaved(trace, a, b), f"seed {seed}: {a} and {b}"


def _program(r: Random) -> ir.Stmt:
    """Four buffers around nested loops that store to them at random."""
    s = _loops(r, 3)
    for name in "abcd":
        s = ir.Allocate(name, F32, ir.const_index(8), Memory.HEAP, s)
    return s


def _loops(r: Random, depth: int) -> ir.Stmt:
    parts: list[ir.Stmt] = []
    for n in range(r.randint(1, 4)):
        if depth and r.random() < 0.5:
            body = _loops(r, depth - 1)
            parts.append(ir.For(f"v{depth}{n}", ZERO, ir.const_index(2), ir.LoopKind.SERIAL, body))
        else:
            parts.append(ir.Store(r.choice("abcd"), ZERO, ir.Load(r.choice("abcd"), ZERO, F32)))
    return block(*parts)


def _trace(s: ir.Stmt) -> list[str]:
    match s:
        case ir.Allocate(body=body):
            return _trace(body)
        case ir.Block(body=body):
            return [name for c in body for name in _trace(c)]
        case ir.For(body=body):
            return _trace(body) * 2
        case ir.Store(buffer=buffer, value=value):
            return [*(n.buffer for n in nodes(value) if isinstance(n, ir.Load)), buffer]
    raise AssertionError(s)


def _interleaved(trace: list[str], a: str, b: str) -> bool:
    """Whether one of the two is accessed between accesses of the other."""
    order = [name for name in trace if name in (a, b)]
    return sum(x != y for x, y in pairwise(order)) > 1
