"""Accesses of lanes that lie apart become whole registers and shuffles: the same results, nothing beyond the
arrays, and which accesses stay as they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import ARM, TARGETS, X86
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.verify import verify
from hbc.ir.movement import library
from hbc.ir.movement.chain import ANY, Movement, coarse, fine
from hbc.ir.movement.library import (
    WIDTHS,
    known_chain,
    known_step,
    library_file,
    read_library,
    written,
)
from hbc.ir.movement.move import move
from hbc.ir.movement.moved import Moved
from hbc.ir.movement.windows import Place, adjacent, in_blocks, inverted, separate, spans

HEAD = """
kernel k
size N
input A: f32[{extent}]
input B: f32[8, 8]
output C: f32[64]
"""
STRIDED = "A.f32x8[ramp({at}, {step}, 8)]"


def at(start: int, step: int = 3) -> str:
    return STRIDED.format(at=f"N + {start}", step=step)


def to(row: int, value: str) -> str:
    return f"C[ramp({8 * row}, 1, 8)] = {value}"


def apart(start: int, value: str, step: int = 2) -> str:
    return f"C[ramp({start}, {step}, 8)] = {value}"


def own(start: int) -> str:
    """What is stored elsewhere."""
    return f"C.f32x8[ramp(N + {start}, 2, 8)]"


COLUMN = "B.f32x8[ramp({c}, B_stride0, 8)]"
# How many elements of A there are, statements, and for each group: vectors, instructions, whole accesses.
MOVED = {
    "three channels": (24, [to(c, at(c)) for c in range(3)], [(3, 9, 3)]),
    "the second of three": (23, [to(0, at(1))], [(1, 4, 3)]),
    "two stretches": (48, [to(c, at(c % 3 + c // 3 * 24)) for c in range(6)], [(6, 18, 6)]),
    "in a name": (16, [f"let x = {at(0, 2)} in {{ {to(0, 'x:f32x8')} {to(1, at(1, 2))} }}"], [(2, 4, 2)]),
    "in a loop": (16, [f"for i from 0 count 2 {{ {to(0, at(0, 2))} {to(1, at(1, 2))} }}"], [(2, 4, 2)]),
    "twice the same": (16, [to(0, at(0, 2)), to(1, at(1, 2)), to(2, at(0, 2))], [(2, 4, 2)]),
    "columns": (1, [to(c, COLUMN.format(c=c)) for c in range(8)], [(8, 16, 16)]),
    "four columns": (1, [to(c, COLUMN.format(c=c + 2)) for c in range(4)], [(4, 8, 8)]),
    "two rows joined": (16, [apart(0, at(0, 1)), apart(1, at(8, 1))], [(2, 4, 2)]),
    "taken apart and joined": (
        16, [apart(0, at(1, 2)), apart(1, at(0, 2))], [(2, 4, 2), (2, 4, 2)],
    ),
    "before and after a store": (
        16,
        [to(0, at(0, 1)), to(1, at(8, 1)), to(2, f"{own(0)} + {own(1)}"), "C[3] = 2.0:f32",
         to(3, f"{own(0)} + {own(1)}")],
        [(2, 4, 2), (2, 4, 2)],
    ),
}  # fmt: skip
KEPT = {
    "adjacent": (8, [to(0, at(0, 1))]),
    "far apart": (78, [to(0, at(0, 11))]),
    "under a mask": (24, [to(0, "A.f32x8[ramp(N, 3, 8) if x8(N) < x8(0)]")]),
    "between what is stored": (8, [to(0, at(0, 1)), to(1, at(0, 1)), to(2, own(0))]),
    "half joined": (8, [apart(0, at(0, 1))]),
    "joined twice": (8, [apart(0, at(0, 1)), apart(1, at(0, 1)), apart(0, at(0, 1))]),
    "read before the second": (
        8, [apart(0, at(0, 1)), to(4, "C.f32x8[ramp(0, 1, 8)]"), apart(1, at(0, 1))],
    ),
    "beside another store": (16, [apart(0, at(0, 1)), "C[40] = 1.0:f32", apart(1, at(8, 1))]),
    "where a choice may leave it out": (
        24, [to(0, f"select(x8(N < 0), {at(0)}, x8(0.0:f32))")],
    ),
}  # fmt: skip


def kernel(extent: int, statements: list[str]) -> Kernel:
    return read_kernel(HEAD.format(extent=extent) + "{\n" + "\n".join(statements) + "\n}\n")


def results(k: Kernel, extent: int) -> bytes:
    random = np.random.default_rng(3)
    arrays = {
        "A": random.random(extent, np.float32), "B": random.random((8, 8), np.float32),
        "C": np.zeros(64, np.float32),
    }  # fmt: skip
    run(k, {"N": 0}, arrays)
    return arrays["C"].tobytes()


@pytest.mark.parametrize("name", MOVED)
def test_moved(name: str) -> None:
    extent, statements, expected = MOVED[name]
    k = kernel(extent, statements)
    found: list[Moved] = []
    new = move(k, TARGETS["avx2"], found)
    verify(new, "move")
    assert [(m.vectors, m.moves, m.whole) for m in found] == expected
    assert results(new, extent) == results(k, extent)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    extent, statements = KEPT[name]
    k = kernel(extent, statements)
    assert move(k, TARGETS["avx2"]) is k


@given(
    st.integers(1, 6),
    st.integers(0, 40),
    st.sampled_from([8, 16, 32, 64]),
    st.sampled_from(WIDTHS[X86]),
)
def test_plans_bring_each_lane_its_element(step: int, start: int, bits: int, width: int) -> None:
    lanes = width // bits
    vectors = [[(0, start + c + step * i) for i in range(lanes)] for c in range(step)]
    inside = spans(vectors)
    for plan in (adjacent(vectors, inside), in_blocks(vectors, bits, inside)):
        if plan is None:
            continue
        held = [place for own in plan.sources for place in loaded(own, plan.run)]
        assert all(inside[row][0] <= at <= inside[row][1] for row, at in held)
        assert [[held[u] for u in row] for row in plan.rows] == vectors
        for part in separate(plan, bits):
            for n, row in zip(part.outputs, part.movement.rows, strict=True):
                again = [part.sources[u // lanes] * lanes + u % lanes for u in row]
                assert tuple(again) == plan.rows[n]
    for plan in inverted(vectors, bits):
        written_to = [place for own in plan.sources for place in loaded(own, plan.run)]
        held = [place for vector in vectors for place in vector]
        assert sorted(written_to) == sorted(held)
        assert [held[u] for row in plan.rows for u in row] == written_to


def loaded(starts: tuple[Place, ...], run: int) -> list[Place]:
    return [(row, first + i) for row, first in starts for i in range(run)]


@pytest.mark.parametrize(("machine", "width"), [(m, w) for m in WIDTHS for w in WIDTHS[m]])
def test_library(machine: str, width: int) -> None:
    """Each entry is proven as it is read; units are as long as can be, and text is as it is written."""
    text = library_file(machine, width).read_text("ascii")
    entries = dict(read_library(text, "x"))
    assert written(entries.items()) == text
    assert all(m.bits * m.lanes == width and coarse(m) == m for m in entries)


def test_units_of_twice_the_size() -> None:
    pairs = (2, 3, 0, 1, 6, 7, 4, 5)
    assert coarse(Movement(32, 8, 1, (pairs,))) == Movement(64, 4, 1, ((1, 0, 3, 2),))
    assert fine((1, ANY), 2) == (2, 3, ANY, ANY)
    chain = known_chain(Movement(32, 8, 1, ((6, 7, 4, 5, 2, 3, 0, 1),)), X86)
    assert chain is not None
    assert len(chain.steps[0].row) == 8


def test_each_machine_has_its_own() -> None:
    swapped = Movement(64, 2, 1, ((1, 0),))
    texts = {
        known_chain(swapped, machine).steps[0].text.partition("(")[0] for machine in (X86, ARM)
    }
    assert len(texts) == 2
    assert known_chain(swapped, "riscv64") is None


WRONG = "movement 32 4 1\nwant 3 2 1 0\nstep 0 : 3 2 1 1 : x({u})\nmake 1\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WRONG, "t:1: the steps do not do the movement"),
        (WRONG.replace("step", "stop"), "t:1: no entry of a library: `stop`"),
        (WRONG.replace("1 1", "1"), "t:1: no entry of a library: 3 units of 4"),
        ("\n" + WRONG.replace("make 1", "make 7"), "t:2: no entry of a library: list index out of range"),
    ],
)  # fmt: skip
def test_wrong_entries_are_named(text: str, said: str) -> None:
    with pytest.raises(InternalError, match=said):
        dict(read_library(text, "t"))


def test_wrong_entries_are_named_and_not_used(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the chain nor its instructions; other entries are used as before. Each is named once."""
    kept = (library._text, library._entries, library._steps, library._proven)
    swapped = Movement(64, 2, 1, ((1, 0),))
    text = library_file(X86, 128).read_text("ascii")
    start = text.index("movement 64 2 1\nwant 1 0\n")
    step = text.index("step 0 : 1 0 :", start)
    number = text.count("\n", 0, start) + 1
    damaged = text[:step] + text[step:].replace("step 0 : 1 0 :", "step 0 : 1 1 :", 1)
    for cached in kept:
        cached.cache_clear()
    assert known_chain(swapped, X86) is not None
    for cached in kept:
        cached.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(library, "_text", lambda machine, width: damaged if width == 128 else "")
        assert known_chain(swapped, X86) is None and known_chain(swapped, X86) is None
        others = dict(read_library(text, "x"))
        assert sum(known_chain(m, X86) is not None for m in others) == len(others) - 1
        assert known_step(64, (1, 1), X86) != "_mm_shuffle_epi32({u}, 78)"
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        f"warning: x86_64/128.txt:{number}: the steps do not do the movement; the entry is not used"
    ]
    for cached in kept:
        cached.cache_clear()
    assert known_chain(swapped, X86) is not None
