"""Elements that lie apart, moved in whole registers: what each instruction of the library does, what kernels
compute at sizes with and without tails, and how many instructions it takes.

Memory behind every array faults.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from compiled import lowered
from run_here import runnable

from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.build.soft_vectors import soft_function
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.codegen.x86.known import written_step
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import ARM, TARGETS, X86
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.movement.chain import ANY, Movement, Row, fine
from hbc.ir.movement.library import VBMI, WIDTHS, filled, library_file, read_library
from hbc.ir.movement.move import move
from hbc.ir.movement.moved import Moved

KERNEL = """
size N
input A: {t}[N, 4]
input I: {t}[4, N]
input M: {t}[N, N + 3]
output P4: {t}[4, N]
output P3: {t}[3, N]
output P1: {t}[N]
output J4: {t}[N, 4]
output J3: {t}[N, 3]
output J2: {t}[N, 2]
output R: {t}[N]
output T: {t}[N, N]

P4[c, i] = A[i, c]
P3[c, i] = A[i, c + 1]
P1[i]    = A[i, 2]
J4[i, c] = I[c, i]
J3[i, c] = I[c, i]
J2[i, c] = I[c, i]
R[i]     = I[1, N - 1 - i]
T[i, j]  = M[j, i + 2]

schedule fast for avx512, avx2, arm_dot {{
    P4.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    P3.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    P1.vectorize(i, {lanes})
    J4.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    J3.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    J2.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    R.vectorize(i, {lanes})
    T.tile(i, j, io, jo, ii, ji, {side}, {lanes}).reorder(io, jo, ii, ji).vectorize(ji).unroll(ii)
}}
"""
OUTPUTS = {
    "P4": lambda a, i, m: a.T,
    "P3": lambda a, i, m: a[:, 1:].T,
    "P1": lambda a, i, m: a[:, 2],
    "J4": lambda a, i, m: i.T,
    "J3": lambda a, i, m: i[:3].T,
    "J2": lambda a, i, m: i[:2].T,
    "R": lambda a, i, m: i[1, ::-1],
    "T": lambda a, i, m: m[:, 2 : 2 + len(m)].T,
}


def text_for(element: str, bits: int) -> str:
    """Vectors of so many bits."""
    size = DTYPES[element].bits
    return KERNEL.format(t=element, lanes=bits // size, side=128 // size)


@pytest.mark.parametrize(
    ("element", "target", "bits"),
    [
        ("u8", "avx2", 256), ("u8", "avx512", 512), ("u8", "avx512vbmi", 512), ("i16", "avx512", 512),
        ("f32", "avx2", 256),
        ("f64", "avx512", 512), ("bf16", "avx2", 128), ("u8", "arm_dot", 128), ("i16", "arm_dot", 128),
        ("f32", "arm_dot", 512), ("f64", "arm_dot", 128),
    ],
)  # fmt: skip
def test_kernels(element: str, target: str, bits: int, tmp_path: Path) -> None:
    machine = TARGETS[target]
    runnable(target)
    kernel = lowered(text_for(element, bits), target)
    options = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    library = build_callable(emit_c(kernel, machine), machine, tmp_path, extra=options)
    random = np.random.default_rng(7)
    with Native(library, 1, 60.0) as native:
        for n in (1, bits // DTYPES[element].bits * 2 + 5, 64):
            shapes = {"A": (n, 4), "I": (4, n), "M": (n, n + 3)}
            given = {name: _random(random, element, shape) for name, shape in shapes.items()}
            made = {
                name: (want(*given.values()).shape, DTYPES[element])
                for name, want in OUTPUTS.items()
            }
            got = native.call(kernel.name, [n], given, made, guarded=True).outputs
            for name, want in OUTPUTS.items():
                right = np.ascontiguousarray(want(*given.values()))
                assert got[name].tobytes() == right.tobytes(), (name, n)


def _random(random: np.random.Generator, element: str, shape: tuple[int, ...]) -> Array:
    """Any bits."""
    t = numpy_dtype(DTYPES[element])
    count = int(np.prod(shape)) * t.itemsize
    return random.integers(0, 256, count, dtype=np.uint8).view(t).reshape(shape)


def moved_for(element: str, target: str, bits: int) -> dict[str, tuple[int, int]]:
    """By output: instructions that move, and whole loads or stores, of its full pieces."""
    p = check(parse(Source("k.hb", text_for(element, bits))), {})
    schedule = choose_schedule(p, target, None)
    kernel = lower_to_kernel(p, schedule, TARGETS[target], before="move")
    found: list[Moved] = []
    move(kernel, TARGETS[target], found)
    return {
        f"{m.buffer} {m.vectors}{' stored' if m.stored else ''}": (m.moves, m.whole) for m in found
    }


COUNTS: dict[tuple[str, str, int], dict[str, tuple[int, int]]] = {
    ("u8", "avx2", 256): {
        "A 4": (16, 4), "A 3": (15, 4), "A 1": (7, 4), "J4 4 stored": (12, 4), "J3 3 stored": (12, 3),
        "J2 2 stored": (4, 2), "I 1": (2, 1), "M 16": (64, 32),
    },
    ("u8", "avx512", 512): {
        "A 4": (12, 4), "A 3": (13, 4), "A 1": (5, 4), "J4 4 stored": (12, 4),
        "J3 3 stored": (9, 3), "J2 2 stored": (4, 2), "I 1": (2, 1), "M 16": (64, 64),
    },
    ("u8", "avx512vbmi", 512): {
        "A 4": (8, 4), "A 3": (9, 4), "J4 4 stored": (8, 4), "J3 3 stored": (6, 3),
        "J2 2 stored": (2, 2), "M 16": (64, 64),
    },
    ("f32", "avx2", 256): {
        "A 4": (12, 4), "A 3": (12, 4), "A 1": (4, 4), "J4 4 stored": (12, 4), "J3 3 stored": (9, 3),
        "J2 2 stored": (4, 2), "M 4": (8, 8),
    },
    ("u8", "arm_dot", 128): {
        "A 4": (0, 1), "A 3": (3, 4), "J4 4 stored": (0, 1), "J3 3 stored": (0, 1),
        "J2 2 stored": (0, 1), "M 16": (64, 16),
    },
    ("f32", "arm_dot", 128): {
        "A 4": (0, 1), "A 3": (3, 4), "J4 4 stored": (0, 1), "J3 3 stored": (0, 1),
        "J2 2 stored": (0, 1), "M 4": (8, 4),
    },
    ("f32", "avx512", 512): {
        "A 4": (8, 4), "A 3": (9, 4), "J4 4 stored": (8, 4), "J3 3 stored": (6, 3),
        "J2 2 stored": (2, 2), "M 4": (8, 16),
    },
}  # fmt: skip
"""Instructions, and whole loads or stores, by output and how many vectors."""


@pytest.mark.parametrize(("element", "target", "bits"), COUNTS)
def test_counts(element: str, target: str, bits: int) -> None:
    assert moved_for(element, target, bits) == COUNTS[element, target, bits]


STRUCTURES = """
size N
input A: {t}[N, {k}]
input I: {t}[{k}, N]
output P: {t}[{k}, N]
output J: {t}[N, {k}]
P[c, i] = A[i, c]
J[i, c] = I[c, i]
schedule fast for arm_dot {{
    P.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
    J.split(i, io, ii, {lanes}).reorder(io, c, ii).vectorize(ii).unroll(c)
}}
"""


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("element", ["u8", "bf16", "f32", "i64"])
def test_structures(element: str, k: int, tmp_path: Path) -> None:
    """One instruction of NEON loads or stores all vectors of a structure, and nothing beyond it."""
    machine, lanes = TARGETS["arm_dot"], 256 // DTYPES[element].bits
    kernel = lowered(STRUCTURES.format(t=element, k=k, lanes=lanes), "arm_dot")
    source = emit_c(kernel, machine)
    assert re.findall(r"\b(v(?:ld|st)[234])q", source.text) == 2 * [f"vld{k}"] + 2 * [f"vst{k}"]
    runnable("arm_dot")
    library = build_callable(source, machine, tmp_path, extra=("-O1", "-Wall", "-Werror"))
    random = np.random.default_rng(k)
    with Native(library, 1, 60.0) as native:
        for n in (1, lanes, 2 * lanes + 3):
            given = {"A": _random(random, element, (n, k)), "I": _random(random, element, (k, n))}
            made = {"P": ((k, n), DTYPES[element]), "J": ((n, k), DTYPES[element])}
            got = native.call(kernel.name, [n], given, made, guarded=True).outputs
            assert got["P"].tobytes() == given["A"].T.tobytes()
            assert got["J"].tobytes() == given["I"].T.tobytes()


LIBRARIES = [(machine, width) for machine in (X86, VBMI) for width in WIDTHS[machine]]
STEPS = {
    (machine, width): sorted(
        {
            (step.text, fine(step.row, m.bits // 8))
            for m, chain in read_library(library_file(machine, width).read_text(), str(width))
            for step in chain.steps
        }
    )
    for machine, width in LIBRARIES
}


@pytest.mark.parametrize(("machine", "width"), LIBRARIES)
def test_each_instruction_of_the_library(machine: str, width: int, tmp_path: Path) -> None:
    """Of registers whose bytes have numbers, its result has those that the library says."""
    target = TARGETS["avx512vbmi" if machine == VBMI else "avx512" if width == 512 else "avx2"]
    all_steps = STEPS[machine, width]
    prefix, register = f"_mm{'' if width == 128 else width}", f"__m{width}i"
    lines = []
    for number, (text, row) in enumerate(all_steps):
        value = written_step(text, ["u", "v"])
        lines.append(
            f"{prefix}_storeu_si{width}(({register} *)(out + {number * len(row)}), {value});"
        )
    body = "\n    ".join(lines)
    code = f"""#include <immintrin.h>
#include <stdint.h>
void steps(const uint8_t *in, uint8_t *out);
void steps(const uint8_t *in, uint8_t *out)
{{
    const {register} u = {prefix}_loadu_si{width}((const {register} *)in);
    const {register} v = {prefix}_loadu_si{width}((const {register} *)(in + {width // 8}));
    {body}
}}
""".replace("_mm128", "_mm")
    got = _steps(CSource("steps", code, ""), target.name, len(all_steps) * width // 8, tmp_path)
    for (text, row), made in zip(all_steps, got.reshape(-1, width // 8), strict=True):
        assert _agrees(row, made), text


def _agrees(row: Row, made: Array) -> bool:
    return all(u in (ANY, int(b)) for u, b in zip(row, made, strict=True))


def _steps(source: CSource, target: str, size: int, folder: Path) -> Array:
    import ctypes

    from hbc.codegen.build.processor import can_run

    if not can_run(TARGETS[target]):
        pytest.skip(f"this processor cannot run {target} code")
    library = ctypes.CDLL(
        str(build(source, TARGETS[target], folder / "s.so", extra=("-O1", "-Wno-array-bounds")))
    )
    given, made = np.arange(128, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
    library.steps(ctypes.c_void_p(given.ctypes.data), ctypes.c_void_p(made.ctypes.data))
    return made


def test_instructions_have_functions_where_there_is_no_avx512() -> None:
    names = {
        n
        for own in (X86, VBMI)
        for text, _ in STEPS[own, 512]
        for n in re.findall(r"_mm512_\w+", text)
    }
    assert [n for n in sorted(names) if soft_function(n) is None] == []


def applied(bits: int) -> tuple[Kernel, list[Movement]]:
    """A kernel that does every movement of NEON in units of so many bits, one after the other, of the
    same registers."""
    t, lanes = f"i{bits}", 128 // bits
    text = library_file(ARM, 128).read_text()
    entries = [(m, chain) for m, chain in read_library(text, "128") if m.bits == bits]
    lines, at = [], 0
    for number, (m, chain) in enumerate(entries):
        size = (m.sources + len(chain.steps)) * lanes
        name = f"`m.{number}`"
        lines.append(f"allocate {name}: {t}[{size}] in registers {{")
        lines += [
            f"{name}[ramp({n * lanes}, 1, {lanes})] = A.{t}x{lanes}[ramp({n * lanes}, 1, {lanes})]"
            for n in range(m.sources)
        ]
        for n, step in enumerate(chain.steps, m.sources):
            picks = [step.operands[u // lanes] * lanes + u % lanes for u in filled(step.row)]
            low, end = min(picks), max(picks) + 1
            read = f"gather(ramp({low}, 1, {end - low}), {[p - low for p in picks]})"
            lines.append(f"{name}[ramp({n * lanes}, 1, {lanes})] = {name}.{t}x{lanes}[{read}]")
        for value in chain.outputs:
            lines.append(
                f"C[ramp({at}, 1, {lanes})] = {name}.{t}x{lanes}[ramp({value * lanes}, 1, {lanes})]"
            )
            at += lanes
        lines.append("}")
    head = f"kernel k\nsize N\ninput A: {t}[{16 * lanes}]\noutput C: {t}[{at}]\n"
    return read_kernel(head + "{\n" + "\n".join(lines) + "\n}\n"), [m for m, _ in entries]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_each_chain_of_neon(bits: int, tmp_path: Path) -> None:
    """As it is printed, under an emulator."""
    runnable("arm_dot")
    kernel, movements = applied(bits)
    target = TARGETS["arm_dot"]
    options = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    library = build_callable(emit_c(kernel, target), target, tmp_path, extra=options)
    element, lanes = DTYPES[f"i{bits}"], 128 // bits
    given = np.arange(16 * lanes).astype(numpy_dtype(element))
    rows = [row for m in movements for row in m.rows]
    with Native(library, 1, 60.0) as native:
        shape = (len(rows) * lanes,)
        got = native.call("k", [1], {"A": given}, {"C": (shape, element)}, guarded=True).outputs[
            "C"
        ]
    for row, made in zip(rows, got.reshape(-1, lanes), strict=True):
        assert all(u in (ANY, int(x) % 256) for u, x in zip(row, made, strict=True)), row


BENCH = Path(__file__).parents[3] / "samples" / "bench" / "movement"


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
@pytest.mark.parametrize("kernel", sorted(BENCH.glob("*.hb")), ids=lambda k: k.stem)
def test_what_is_timed_is_right(kernel: Path, target: str) -> None:
    """Beside the oracle, after each pass and natively."""
    if target == "arm_dot":
        runnable(target)
    assert exit_code_of(["verify", str(kernel), "--target", target, "--trials", "1"]) == 0
