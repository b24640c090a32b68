"""Code asks the processor for its features before it writes anything: an error code or plain loops,
and no signal, on processors from the first x86-64 to one with AMX."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tile_kernels import Product, gemm, read
from tile_machines import AMX, STRICT, TileMachine, compiler, why_not

from hbc.cli.pipeline import features_of
from hbc.codegen.build.amx_emulator import SOFT_FLAGS, build_emulator
from hbc.codegen.build.processor import missing_features, processor_features
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import build, has_openmp
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS, Target

P = Product("tdpbf16ps", 16, 16, 32)
MAIN = """
#include "gemm.h"
#include <stdio.h>
static uint16_t A[32 * 64], B[32 * 32 * 2];
static float C[32 * 32];
int main(void)
{
    for (int i = 0; i < 2048; ++i) {
        A[i] = 0x3f80;
        B[i] = 0x4000;
    }
    for (int i = 0; i < 1024; ++i)
        C[i] = -1;
    const int code = gemm(2, 2, 2, A, B, C);
    float least = C[0], most = C[0];
    for (int i = 0; i < 1024; ++i) {
        least = C[i] < least ? C[i] : least;
        most = C[i] > most ? C[i] : most;
    }
    printf("%g %g %s", least, most, gemm_strerror(code));
    return code != 0;
}
"""
RIGHT = "128 128 no error"
PLAIN = """
kernel gemm
size P
size Q
size S
input A: bf16[P * 16, S * 16 * 2]
input B: bf16[S * 16, Q * 16, 2]
output C: f32[P * 16, Q * 16]
{
    KIND i from 0 count P * 16 {
        for j from 0 count Q * 16 {
            C[i * C_stride0 + j] = 0.0:f32
            for k from 0 count S * 16 {
                for r from 0 count 2 {
                    C[i * C_stride0 + j] = C.f32[i * C_stride0 + j]
                        + f32(A.bf16[i * A_stride0 + k * 2 + r])
                        * f32(B.bf16[k * B_stride0 + j * B_stride1 + r])
                }
            }
        }
    }
}
"""
OLD = ["qemu64", "core2duo", "Nehalem", "Haswell"]


def plain(kind: str = "for") -> Kernel:
    return read(PLAIN.replace("KIND", kind))


def source(fallback: Kernel | None) -> CSource:
    return emit_c(gemm(P), AMX, fallback, features_of(AMX))


def program(made: CSource, name: str, folder: Path, *extra: str, target: Target = AMX) -> Path:
    """The kernel with a main function. Only the kernel's file is compiled with the target's options."""
    if reason := why_not(TileMachine("", name)):
        pytest.skip(reason)
    found = compiler(name)
    assert found is not None
    (folder / "main.c").write_text(MAIN, encoding="ascii")
    (folder / "gemm.h").write_text(made.header, encoding="ascii")
    out, kernel = folder / "main", folder / "gemm.o"
    build(made, target, kernel, "obj", compiler=found, extra=(*STRICT, *extra))
    threads = ["-fopenmp"] if made.parallel and has_openmp(found) else []
    command = [*found.command, str(folder / "main.c"), str(kernel), *threads, "-o", str(out)]
    subprocess.run(command, check=True)
    return out


def program_here(
    made: CSource, name: str, folder: Path, *extra: str, emulate: bool = False
) -> Path:
    """The same for this processor, which may have no AVX-512."""
    code, target = for_this_processor(made, AMX, emulate=emulate)
    return program(code, name, folder, *extra, target=target)


def said(path: Path, *runner: str, **environment: str) -> tuple[int, str]:
    """The exit code, which is negative for a signal, and what was printed."""
    done = subprocess.run(
        [*runner, str(path)],
        capture_output=True, text=True, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def qemu(processor: str) -> tuple[str, ...]:
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("no qemu-x86_64")
    return ("qemu-x86_64", "-cpu", processor)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_amx_is_an_error_code(compiler: str, tmp_path: Path) -> None:
    made = program_here(source(None), compiler, tmp_path)
    if not missing_features(AMX):
        pytest.skip("this processor has AMX")
    code, text = said(made)
    assert code == 1
    assert text == "-1 -1 this processor has no amx_tile, or the system does not permit it"


@pytest.mark.parametrize("processor", OLD)
def test_old_processors_get_an_error_code(processor: str, tmp_path: Path) -> None:
    code, text = said(program(source(None), "gcc", tmp_path), *qemu(processor))
    assert code == 1
    assert text.startswith("-1 -1 this processor has no ")


@pytest.mark.parametrize("processor", OLD)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_old_processors_run_the_fallback(compiler: str, processor: str, tmp_path: Path) -> None:
    assert said(program(source(plain()), compiler, tmp_path), *qemu(processor)) == (0, RIGHT)


def test_threads_of_the_fallback(tmp_path: Path) -> None:
    """What gcc makes of a parallel loop is compiled like the function around it."""
    made = source(plain("parallel"))
    assert made.parallel
    assert said(program(made, "gcc", tmp_path), *qemu("Nehalem")) == (0, RIGHT)


@pytest.mark.parametrize("way", ["trapped", "as it ships"])
def test_an_emulator_decides(way: str, tmp_path: Path) -> None:
    """Of code that ships where the processor has no AMX, of code that traps anywhere."""
    if way != "trapped" and "amx_tile" in processor_features():
        pytest.skip("this processor has AMX, and executes what is not made to trap")
    made = program_here(source(plain()), "gcc", tmp_path, emulate=way == "trapped")
    emulator, counts = str(build_emulator()), tmp_path / "counts.json"
    environment = {"LD_PRELOAD": emulator, "AMX_EMULATOR_COUNTS": str(counts)}
    assert said(made, **environment) == (0, RIGHT)
    assert '"tdpbf16ps": 8' in counts.read_text()


def test_the_soft_header_needs_no_amx(tmp_path: Path) -> None:
    made = program_here(source(None), "gcc", tmp_path, *SOFT_FLAGS)
    assert said(made) == (0, RIGHT)


def test_codes_are_in_the_header() -> None:
    header = source(None).header
    assert "gemm_FEATURE_amx_bf16 = 110" in header
    assert "this processor has no amx_bf16, or the system does not permit it" in header
    assert "FEATURE" not in source(plain()).header


def test_code_without_instructions_asks_nothing() -> None:
    for target in (TARGETS["c"], AMX):
        assert "missing_feature" not in emit_c(plain(), target).text


def test_memory_of_the_fallback() -> None:
    """The plain loops may fail in ways that the others cannot."""
    heap = "allocate room: f32[P * 16] in heap {\nroom[0] = 0.0:f32\nKIND i"
    text = PLAIN.replace("KIND i", heap).replace("KIND", "for").rstrip() + "\n}"
    made = source(read(text)).text
    assert "return gemm_plain(" in made
    assert "return gemm_MEMORY;" in made


@pytest.mark.parametrize("processor", OLD)
def test_instructions_without_permission(processor: str, tmp_path: Path) -> None:
    """Registers that the system always saves: the same question without Linux in it."""
    kernel = read("""
kernel gemm
size P
size Q
size S
input A: bf16[P * 16, S * 32]
input B: bf16[S * 16, Q * 16, 2]
output C: f32[P * 16, Q * 16]
instruction vdpbf16ps_zmm
{
    C[ramp(0, 1, 16)] = instruct<vdpbf16ps_zmm:f32x16>(
        x16(0.0:f32), A.bf16x32[ramp(0, 1, 32)], B.bf16x32[ramp(0, 1, 32)])
}""")
    target = TARGETS["avx512bf16"]
    made = emit_c(kernel, target, plain(), features_of(target))
    assert "arch_prctl" not in made.text.lower()
    path = program(made, "gcc", tmp_path, target=target)
    assert said(path, *qemu(processor)) == (0, RIGHT)
