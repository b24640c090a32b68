"""HVX code of sketches, compiled by clang and executed by qemu-hexagon, compared with the goals."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sketch_solver import sample, solve_text

from hbc.cli.sketches.synth_code import movement_code
from hbc.codegen.moves.hvx import emit_hvx, lanes_of_files
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.types import DTYPES, DType
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather
from hbc.ir.moves.goal_check import Combined, GoalCheck, GoalTerm, Symbol, value_of
from hbc.ir.moves.instruction_table import InstructionTable
from hbc.ir.moves.movement import FUNCTIONS, Input, Moved, Movement, Output
from hbc.synth.results.code import movement
from hbc.synth.results.cost import make_pricing
from hbc.synth.results.cost_table import cost_table

BYTES = 128
FLAGS = (
    "--target=hexagon-unknown-linux-musl", "-mv66", "-mhvx", "-mhvx-length=128b", "-O2",
    "-ffreestanding", "-fno-stack-protector", "-fno-builtin", "-G0", "-Wall", "-Wextra", "-Werror",
)  # fmt: skip
# Reads all inputs, calls the function, writes all outputs; without a C library.
DRIVER = """
static long call(long number, long a, long b, long c)
{{
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r6 __asm__("r6") = number;
    __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
    return r0;
}}
void *memset(void *to, int value, unsigned long n)
{{
    for (char *p = to; n--;)
        *p++ = value;
    return to;
}}
void *memcpy(void *to, const void *from, unsigned long n)
{{
    const char *q = from;
    for (char *p = to; n--;)
        *p++ = *q++;
    return to;
}}
static void transfer(int number, int file, char *at, long left)
{{
    for (long done; left > 0 && (done = call(number, file, (long)at, left)) > 0; left -= done)
        at += done;
}}
{arrays}
void _start(void)
{{
{reads}
    {name}({names});
{writes}
    call(94, 0, 0, 0);
}}
"""


@pytest.fixture(autouse=True)
def tools() -> None:
    for tool in ("clang", "ld.lld", "qemu-hexagon"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    probe = subprocess.run(
        ["clang", *FLAGS[:4], "-x", "c", "-fsyntax-only", "-"], input="", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    if probe.returncode != 0:
        pytest.skip("this clang has no HVX")


def run(
    text: str, name: str, inputs: dict[str, NDArray[Any]], sizes: dict[str, int], folder: Path
) -> dict[str, bytes]:
    """The outputs' bytes."""
    aligned = f"__attribute__((aligned({BYTES})))"
    lengths = {**{n: a.nbytes for n, a in inputs.items()}, **sizes}
    rounded = {n: -(-size // BYTES) * BYTES for n, size in lengths.items()}
    driver = DRIVER.format(
        name=name,
        arrays="\n".join(
            f"static char {n}_array[{size}] {aligned};" for n, size in rounded.items()
        ),
        reads="\n".join(f"    transfer(63, 0, {n}_array, {a.nbytes});" for n, a in inputs.items()),
        names=", ".join(f"(void *){n}_array" for n in lengths),
        writes="\n".join(f"    transfer(64, 1, {n}_array, {size});" for n, size in sizes.items()),
    )
    source, program = folder / "kernel.c", folder / "kernel"
    source.write_text(text + driver, encoding="ascii")
    for command in (
        ["clang", *FLAGS, "-c", str(source), "-o", f"{program}.o"],
        ["ld.lld", "-static", "-e", "_start", f"{program}.o", "-o", str(program)],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr + text
    given = b"".join(a.tobytes() for a in inputs.values())
    ran = subprocess.run(
        ["qemu-hexagon", str(program)], input=given, capture_output=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    outputs: dict[str, bytes] = {}
    at = 0
    for n, size in sizes.items():
        outputs[n] = ran.stdout[at : at + size]
        at += size
    return outputs


def check(made: Movement, dtype: np.dtype[Any], folder: Path) -> str:
    """Full-range data; every problem and every element. The code."""
    element = DTYPES[f"{dtype.kind}{8 * dtype.itemsize}"]
    text = movement_code(made, "hvx", element, False, ())
    lanes = lanes_of_files(made)
    problems = BYTES // lanes // dtype.itemsize
    assert made.check is not None
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    values = rng.integers(
        limits.min, limits.max, (made.check.symbols, problems), dtype, endpoint=True
    )
    inputs: dict[str, NDArray[Any]] = {}
    for given in made.inputs:
        symbols = made.check.inputs[given.name]
        held = np.where(symbols[:, None] >= 0, values[np.maximum(symbols, 0)], dtype.type(99))
        if given.shape[-1] != lanes:  # one number for all problems
            values[symbols[symbols >= 0]] = values[symbols[symbols >= 0]][:, :1]
            held = held[:, 0]
        inputs[given.name] = held
    shapes = made.shapes()
    sizes = {
        f"out{number}": int(np.prod(shapes[output.name])) * problems * dtype.itemsize
        for number, output in enumerate(made.outputs)
    }
    outputs = run(text, made.name, inputs, sizes, folder)
    for goal, found in zip(made.check.goals, outputs.values(), strict=True):
        got = np.frombuffer(found, dtype).reshape(-1, problems)
        for place, term in enumerate(goal):
            if term is not None:
                assert (got[place] == value_of(term, values, FUNCTIONS)).all(), place
    return text


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
def test_gaussian(dtype: type[Any], tmp_path: Path) -> None:
    """The paper's filter: two aligns of registers, as the cost says."""
    outcome = sample("hvx_gaussian", bits=8 * np.dtype(dtype).itemsize)
    pricing = make_pricing(outcome.problem, cost_table("hvx"))
    made = movement(outcome, next(iter(outcome.solutions(pricing))))
    text = check(made, np.dtype(dtype), tmp_path)
    assert text.count("Q6_V_valign_VVR(") == 2


@pytest.mark.parametrize("place", ["1 - i, j", "i, (j + 3) % 8", "1 - i, j / 2 * 2 + 1 - j % 2"])
def test_without_a_hole(place: str, tmp_path: Path) -> None:
    """What the sketch itself gives is printed too: its registers are those that come out."""
    outcome = solve_text(
        f"param target = hvx\nparam lane_axes = -1\nx: [2, 8]\n"
        f"y: [2, 8] = \\i, j. x[{place}]\ngoal y == [i in 2, j in 8] x[{place}]\n"
    )
    made = movement(outcome, next(iter(outcome.solutions())))
    check(made, np.dtype(np.uint8), tmp_path)


def test_every_solution_of_the_gaussian(tmp_path: Path) -> None:
    outcome = sample("hvx_gaussian")
    pricing = make_pricing(outcome.problem, cost_table("hvx"))
    solutions = list(islice(outcome.solutions(pricing), 10))
    assert len(solutions) == 4
    for solution in solutions[1:]:
        check(movement(outcome, solution), np.dtype(np.uint8), tmp_path)


def random_moves(lanes: int, seed: int) -> Movement:
    """Registers made of two others in every way that an instruction has, and in ways that none has."""
    rng = np.random.default_rng(seed)
    lane = np.arange(lanes)
    u, v = lane, lane + lanes
    even = lane % 2 == 0
    rows = [
        np.where(lane + 3 < lanes, lane + 3, lane + 3),  # valign
        np.where(lane < lanes - 1, v + 1, 0),
        (lane + 5) % lanes,  # vror
        np.where(even, u, v - 1), np.where(even, u + 1, v), np.where(even, v, u - 1),
        np.where(even, lane // 2, lanes + lane // 2),
        np.where(even, lane // 2, lanes + lane // 2) + lanes // 2,
        2 * lane, 2 * lane + 1, 2 * lane % lanes,
        np.where(lane % 3 == 0, u, v), np.where(lane % 3 == 0, u, ZERO),
        rng.permutation(lanes), rng.integers(0, 2 * lanes, lanes),
        np.where(rng.random(lanes) < 0.4, rng.choice([ZERO, UNDEFINED], lanes), lanes - 1 - lane),
        np.full(lanes, ZERO),
    ]  # fmt: skip
    index = np.concatenate(rows).astype(np.int32)
    shape = (len(rows), lanes)
    gather = Gather(((2, lanes),), shape, index)
    goal = tuple(None if i == UNDEFINED else _term(int(i)) for i in index)
    symbols = {"file": np.arange(2 * lanes, dtype=np.int32)}
    return Movement(
        "moves", (Input("file", (2, lanes)),), (Moved("made", ("file",), gather, True, "a[...]"),),
        (Output("made", index != UNDEFINED),), -1, GoalCheck(2 * lanes, symbols, (goal,)),
    )  # fmt: skip


def _term(number: int) -> GoalTerm:
    return Combined("+", ()) if number == ZERO else Symbol(number)


@pytest.mark.parametrize(
    ("lanes", "dtype"), [(8, np.uint8), (32, np.int32), (128, np.uint8), (64, np.int8)]
)
def test_moves_of_every_kind(lanes: int, dtype: type[Any], tmp_path: Path) -> None:
    text = check(random_moves(lanes, lanes), np.dtype(dtype), tmp_path)
    for instruction in ("valign", "vror", "vshuff", "vdeal", "vmux", "vand_VV", "permuted"):
        assert instruction in text
    # Every second lane of one register twice: both operands are that register.
    assert re.search(r"Q6_W_vdeal_VVR\((\w+), \1, ", text)


def refused(made: Movement, dtype: DType) -> str:
    with pytest.raises(HbcError) as error:
        emit_hvx(made, dtype, InstructionTable("hvx", 8, 128, ()), ())
    return str(error.value)


def test_what_is_refused() -> None:
    moves = random_moves(8, 1)
    threads = Movement("moves", moves.inputs, moves.steps, moves.outputs)
    assert "no sketch of vector registers" in refused(threads, DTYPES["u8"])
    assert "more than a register" in refused(moves, DTYPES["f64"])
    outcome = sample("hvx_gaussian")
    pricing = make_pricing(outcome.problem, cost_table("hvx"))
    made = movement(outcome, next(iter(outcome.solutions(pricing))))
    with pytest.raises(HbcError, match="HVX cannot fold elements of type f32"):
        movement_code(made, "hvx", DTYPES["f32"], False, ())
