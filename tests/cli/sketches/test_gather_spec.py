"""`hbc synth --spec "[i in 64] x[...]"`: its words, its JSON, its mistakes, and what it claims is proven."""

from __future__ import annotations

import json
import subprocess
import time
from itertools import product
from pathlib import Path

import compiled_moves as native
import numpy as np
import pytest
from synth_words import synth

from hbc.cli.sketches.shuffles import byte_rows, find_shuffle, shuffle_machine
from hbc.frontend.sketch.gather_text import parse_gather
from hbc.ir.ground.diag import HbcError
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, Locations
from hbc.ir.moves.instruction_table import Fit, Form, InstructionTable, fitting
from hbc.ir.moves.register_program import Op, RegisterProgram, does, executed, made
from hbc.synth.prunings.watch import Stopped
from hbc.synth.shuffles.choices import choosing
from hbc.synth.shuffles.registers import Solver


def run(*words: str, code: int = 0) -> str:
    said = synth(*words, code=code)
    return said.stdout if code == 0 else said.stderr


def test_json() -> None:
    value = json.loads(run("--spec", "[i in 64] x[i%8*8 + i/8]", "--target", "avx512", "--json"))
    assert (value["instructions"], value["minimal"], value["gap"]) == (2, True, 0)
    assert f"void {value['function']}(const uint8_t *restrict x" in value["code"]


def test_a_type_and_a_file(tmp_path: Path) -> None:
    out = tmp_path / "turned.c"
    words = (
        "--spec",
        "[i in 8, j in 8] x[j, i]",
        "--type",
        "f32",
        "--target",
        "avx2",
        "-o",
        str(out),
    )
    said = run(*words).splitlines()
    assert said[0] == "[i in 8, j in 8] x[j, i] of f32: 24 instructions"
    assert said[1] == "no program has fewer"
    assert "24 instructions between loads and stores" in out.read_text(encoding="utf-8")


def test_the_timeout_holds() -> None:
    began = time.process_time()
    said = run("--spec", "[i in 64] x[i]", "--timeout", "0.001")
    assert "shuffle" in said
    assert "no program for this gather was found in the time given" in run(
        "--spec", "[i in 4096] x[i*2731%4096]", "--timeout", "0.001", code=5
    )
    assert time.process_time() - began < 5


def test_registers_are_planned_before_the_timeout() -> None:
    """Where the search finds nothing, time is left for what needs no search; the bound is a true one."""
    machine = shuffle_machine("avx2", False)
    gather = parse_gather("[i in 1024] x[(i*89+7)%1024]", 1, 1 << 14).gather
    rung: list[float] = []

    def check() -> None:
        rung.append(time.monotonic())
        if len(rung) > 5:
            raise Stopped("timeout")

    assert find_shuffle(gather, 1, machine, check) is None
    deadline = time.monotonic() + 300  # 3 s are taken on a quiet machine
    shuffle = find_shuffle(gather, 1, machine, lambda: None, deadline)
    assert shuffle is not None and time.monotonic() < deadline
    # Each register has bytes of more than a few others: so many are brought together.
    rows = byte_rows(gather, 1, 32)
    sources = [np.unique(row // 32).size for row in rows]
    assert min(sources) - 1 + len(rows) - 1 <= shuffle.bound <= shuffle.program.cost


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[3]", "a gather has indices that range"),
        ("[i in 8] x[i] + y[i]", "a gather reads one array, and this `x` and `y`"),
        ("[i in 8] 0", "a gather reads one array, and this no array"),
        ("[i in 8] x[i - 1]", "`x` is read outside for i = 0"),
        ("x: [4] [i in 8] x[i]", "`x` is read outside for i = 4"),
        ("x: [4] [i in 8] x[i, 0]", "`x` has 1 dimension, and is read with 2"),
        ("[i in 1048576] x[i]", "1,048,576 elements are too many"),
        ("[i in 8] x[j]", "there is no index `j`"),
        ("[i in 8] x[i", "expected"),
        ("[i in 8] x[i / (i - 2)]", "this divides by 0 where `i` is 2"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(HbcError) as raised:
        parse_gather(text, 1, 1 << 14)
    assert message in raised.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("text", "shape", "index"),
    [
        ("[i in 4] x[i ^ 1]", (4,), [1, 0, 3, 2]),
        ("[i in 2, j in 3] x[j, i]", (3, 2), [0, 2, 4, 1, 3, 5]),
        ("[i in 4] if i < 2 then x[i] else 0", (4,), [0, 1, ZERO, ZERO]),
        ("[i in 2] if i < 1 then x[5 * i] else _", (4,), [0, UNDEFINED]),
        ("x: [9]\n[i in 2] x[3 * i]", (9,), [0, 3]),
        ("[i in 3] [j in 2] x[2 * i + j]", (8,), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_is_read(text: str, shape: tuple[int, ...], index: list[int]) -> None:
    found = parse_gather(text, 1, 64)
    assert found.gather.inputs == (shape,)
    assert found.gather.index.tolist() == index


def form(spelling: str, arguments: int, per: int, sources: list[list[int]]) -> Form:
    """Of [element][alternative] -> location; with more than one alternative it chooses."""
    lanes = len(sources)
    inverse = np.full((lanes, arguments * lanes + 2), -1, dtype=np.int32)
    for element, alternatives in enumerate(sources):
        for number, location in reversed(list(enumerate(alternatives))):
            inverse[element, location + 2] = number
    count = len(sources[0])
    names = {"j": np.arange(count)} if count > 1 else {}
    return Form(spelling, arguments, {}, 1, per, names, inverse)


# A machine of four lanes in two blocks: unpacking, pairs from anywhere, a blend, elements within blocks.
TOY = InstructionTable(
    "toy", 4, 8,
    (
        form("unpack", 2, 1, [[0], [4], [2], [6]]),
        form("pairs", 1, 2, [[0, 2], [1, 3], [0, 2], [1, 3]]),
        form("blend", 2, 1, [[0, 4], [1, 5], [2, 6], [3, 7]]),
        form("blocks", 1, 1, [[0, 1, ZERO], [0, 1, ZERO], [2, 3, ZERO], [2, 3, ZERO]]),
    ),
)  # fmt: skip


def results(values: list[Locations]) -> list[Locations]:
    """All that one instruction can make of some values."""
    found = {}
    for one in TOY.forms:
        units = 4 // one.per
        count = len(one.names["j"]) if one.names else 1
        for chosen in product(range(count), repeat=units):
            fit = Fit(one, np.array(chosen, dtype=np.int64))
            for operands in product(values, repeat=one.arguments):
                row = made(fit, operands)
                found[row.tobytes()] = row
    return list(found.values())


def test_what_is_proven_agrees_with_trying_everything() -> None:
    """Registers of two sources: where two instructions do, they are found; where not, three are claimed."""
    sources = [np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32)]
    once = results(sources)
    least = {row.tobytes(): 1 for row in once}
    least |= {source.tobytes(): 0 for source in sources}
    for row in once:
        for other in results([*sources, row]):
            least.setdefault(other.tobytes(), 2)
    generator = np.random.default_rng(4)
    machine = choosing(TOY)
    for _ in range(300):
        row = generator.integers(-1, 8, size=4).astype(np.int32)
        solved = Solver(machine, lambda: None, effort=2000).solve(2, row[None])
        known = least.get(row.tobytes(), 3)
        if solved.program is None:
            assert known == 3 and solved.bound <= 3
            continue
        assert (executed(solved.program, 4)[0] == row).all()
        assert solved.bound <= known <= solved.program.cost or known == 3
        if known <= 2:
            assert solved.program.cost == known


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon", "sve256"])
def test_any_gather_is_done(target: str, tmp_path: Path) -> None:
    """Random gathers with zeros and elements that do not matter, executed."""
    from hbc.cli.sketches.gather_spec import NAME
    from hbc.codegen.shuffles.c_file import Buffer, emit_registers
    from hbc.ir.lang.types import DTYPES

    native.require(target)
    machine = shuffle_machine(target, False)
    generator = np.random.default_rng(7)
    for size, kind in ((1, "u8"), (2, "u16"), (4, "f32")):
        read, count = (int(n) for n in generator.integers(5, 90 // size, size=2))
        index = generator.integers(-2, read, size=count).astype(np.int32)
        found = find_shuffle(Gather(((read,),), (count,), index), size, machine, lambda: None)
        assert found is not None
        buffers = [Buffer("x", read)], [Buffer("out", count)]
        code = emit_registers(NAME, found.program, *buffers, DTYPES[kind], target, [])
        for compiler in native.compilers(target):
            loaded = native.library(code, target, tmp_path, compiler.command)
            given = native.random_values(generator, read, f"u{8 * size}")
            out = native.poisoned(given, count)
            native.call(loaded, NAME, [given], [out])
            right = np.where(index >= 0, given[np.maximum(index, 0)], 0)
            assert (out[:count] == right)[index != UNDEFINED].all()
            assert native.intact(out, count)


@pytest.mark.parametrize(
    ("target", "text", "size", "count", "bound"),
    [
        ("neon", "x: [64] [i in 16] if i % 5 == 4 then 0 else x[(7*i + 3) % 64]", 1, 1, 1),
        ("neon", "x: [112] [i in 16] x[111 - 7*i]", 1, 2, 2),
        ("neon", "x: [256] [i in 16] x[17*i]", 1, 5, 5),
        ("neon", "x: [3, 16] [i in 16, c in 3] x[c, i]", 1, 3, 3),
        ("neon", "x: [8, 8] [i in 8, j in 8] x[j, i]", 2, 16, 12),
        ("neon", "x: [4, 4] [i in 4, j in 4] x[j, i]", 4, 4, 4),
        ("neon", "x: [16, 16] [i in 16, j in 16] x[j, i]", 1, 32, 32),
        ("sve256", "x: [32] [i in 32] if i % 5 == 4 then 0 else x[(7*i + 3) % 32]", 1, 1, 1),
        ("sve256", "x: [32] [i in 32] x[31 - i]", 1, 1, 1),
        ("sve256", "x: [64] [i in 32] if i % 3 == 0 then x[i] else x[i + 32]", 1, 1, 1),
        ("sve256", "x: [8, 8] [i in 8, j in 8] x[j, i]", 1, 4, 4),
        ("sve256", "x: [16, 2] [c in 2, i in 16] x[i, c]", 4, 4, 4),
        ("sve256", "x: [8, 8] [i in 8, j in 8] x[j, i]", 4, 24, 24),
    ],
)
def test_arm_takes_so_many(
    target: str, text: str, size: int, count: int, bound: int, tmp_path: Path
) -> None:
    """Instructions, of which a table of NEON reads up to four registers, and no program has fewer than the
    bound; they do it."""
    from hbc.cli.sketches.gather_spec import NAME
    from hbc.codegen.shuffles.c_file import Buffer, emit_registers
    from hbc.ir.lang.types import DTYPES

    asked = parse_gather(text, size, 1 << 14).gather
    found = find_shuffle(asked, size, shuffle_machine(target, False), lambda: None)
    assert found is not None and (found.program.cost, found.bound) == (count, bound)
    native.require(target)
    read, made = int(np.prod(asked.inputs[0])), int(np.prod(asked.output))
    kind = DTYPES[f"u{8 * size}"]
    buffers = [Buffer("x", read)], [Buffer("out", made)]
    code = emit_registers(NAME, found.program, *buffers, kind, target, [])
    loaded = native.library(code, target, tmp_path, native.compilers(target)[0].command)
    given = native.random_values(np.random.default_rng(count), read, f"u{8 * size}")
    out = native.poisoned(given, made)
    native.call(loaded, NAME, [given], [out])
    assert (out[:made] == np.where(asked.index >= 0, given[asked.index], 0)).all()
    assert native.intact(out, made)


def test_registers_of_sve_have_the_length_that_code_was_made_for(tmp_path: Path) -> None:
    native.require("sve256")
    source = tmp_path / "a.c"
    run("--spec", "[i in 32] x[31 - i]", "--target", "sve256", "-o", str(source))
    for compiler in native.compilers("sve256"):
        for length, works in (("128", False), ("256", True), ("512", False)):
            flags = ["-march=armv8.2-a+sve", f"-msve-vector-bits={length}", "-fsyntax-only"]
            done = subprocess.run(
                [*compiler.command, *flags, str(source)], capture_output=True, text=True
            )
            assert (done.returncode == 0) == works
            assert works or "-msve-vector-bits=256" in done.stderr


def test_an_instruction_may_serve_registers_that_share_no_byte() -> None:
    """Three instructions, the first of which brings words of two registers together for both: that each
    takes two by itself does not make four the fewest."""
    text = "x: [128] [i in 128] if i % 16 == 0 then x[i/64*64 + (i + 16) % 64 + 5] else x[i]"
    machine = shuffle_machine("avx512", False)
    asked = parse_gather(text, 1, 1 << 14).gather
    shuffle = find_shuffle(asked, 1, machine, lambda: None)
    assert shuffle is not None
    rows = asked.index.reshape(2, 64)
    # Word 0 of each block from the one register, word 1 from the other.
    moved = np.full(64, UNDEFINED, dtype=np.int32)
    for block in range(4):
        for register in range(2):
            place = 64 * register + (16 * block + 16) % 64 + 4
            moved[16 * block + 4 * register :][:4] = np.arange(place, place + 4)
    part = fitting(machine.table, 2, moved)
    ops = [] if part is None else [Op(part, (0, 1))]
    for register in range(2):
        wanted = np.arange(64, dtype=np.int32)
        wanted[::16] = 64 + np.arange(64)[::16] + 4 * register + 1
        into = fitting(machine.table, 2, wanted)
        assert into is not None
        ops.append(Op(into, (register, 2)))
    program = RegisterProgram(2, tuple(ops), (3, 4))
    assert does(program, rows) and program.cost == 3
    assert shuffle.bound <= 3
