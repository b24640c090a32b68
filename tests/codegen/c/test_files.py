"""The files: a header for C and C++, an object, a static and a shared library that programs link."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from compiled import STRICT, emitted
from compilers import compiler_named

from hbc.codegen.build.toolchain import Output, build
from hbc.codegen.c.source import CSource
from hbc.ir.lang.nodes import MathOp
from hbc.ir.lang.target import TARGETS

TEXT = """
kernel blend
size   N
param  weight: f32 = 0.25
input  A: f32[N]
input  mask: bool[N]
output result: f32[N]
result[x] = select(mask[x], A[x] * weight, exp(A[x]))
"""
PROGRAM = """
#include "blend.h"
#include <stdio.h>

int main(void)
{
    const float a[3] = {4.0f, 0.0f, 8.0f};
    const uint8_t mask[3] = {1, 0, 1};
    float out[3];
    const int code = blend(3, a, mask, out);
    if (code != blend_OK) {
        puts(blend_strerror(code));
        return 1;
    }
    printf("%g %g %g\\n", (double)out[0], (double)out[1], (double)out[2]);
    puts(blend_strerror(blend(-1, a, mask, out)));
    return blend_strided(3, a, mask, NULL) != blend_NULL_result;
}
"""
SAID = "1 1 2\nsize `N` is negative or above 2^40\n"


@pytest.fixture(scope="module")
def blend() -> CSource:
    return emitted(TEXT)


@pytest.mark.parametrize("command", ["gcc", "g++", "clang", "clang++"])
def test_the_header_compiles_by_itself(blend: CSource, command: str, tmp_path: Path) -> None:
    if not shutil.which(command):
        pytest.skip(f"{command} is not installed")
    language, standard = ("c++", "c++11") if command.endswith("++") else ("c", "c11")
    (tmp_path / "blend.h").write_text(blend.header)
    twice = f'#include "{tmp_path}/blend.h"\n' * 2
    subprocess.run(
        [command, "-x", language, f"-std={standard}", *STRICT, "-fsyntax-only", "-"],
        input=twice, text=True, check=True,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["obj", "a", "so"])
@pytest.mark.parametrize("command", ["gcc", "clang"])
def test_a_program_links_it(blend: CSource, command: str, kind: Output, tmp_path: Path) -> None:
    compiler = compiler_named(command)
    library = tmp_path / {"obj": "blend.o", "a": "libblend.a", "so": "libblend.so"}[kind]
    build(blend, TARGETS["c"], library, kind, compiler=compiler, extra=STRICT)
    (tmp_path / "blend.h").write_text(blend.header)
    (tmp_path / "main.c").write_text(PROGRAM)
    linked = [str(library)] if kind == "obj" else [f"-L{tmp_path}", "-lblend"]
    subprocess.run(
        [*compiler.command, "-std=c11", *STRICT, str(tmp_path / "main.c"), "-o",
         str(tmp_path / "main"), *linked, "-lm", f"-Wl,-rpath,{tmp_path}"],
        check=True,
    )  # fmt: skip
    answer = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert answer.stdout == SAID


def test_a_cpp_program_links_it(blend: CSource, tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    library = build(blend, TARGETS["c"], tmp_path / "blend.o", "obj")
    (tmp_path / "blend.h").write_text(blend.header)
    subprocess.run(
        ["g++", "-x", "c++", "-", "-x", "none", str(library), f"-I{tmp_path}", "-o",
         str(tmp_path / "main")],
        input=PROGRAM, text=True, check=True,
    )  # fmt: skip
    answer = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert answer.stdout == SAID


def test_libraries_are_the_same_bytes_each_time(blend: CSource, tmp_path: Path) -> None:
    """Archives hold no dates and no paths."""
    for number in "12":
        (tmp_path / number).mkdir()
        build(blend, TARGETS["c"], tmp_path / number / "k.a", "a")
    assert (tmp_path / "1" / "k.a").read_bytes() == (tmp_path / "2" / "k.a").read_bytes()


@pytest.mark.parametrize("name", [n for n in MathOp if n not in (MathOp.TF32, MathOp.REINTERPRET)])
def test_the_header_is_included_for_one_function(name: MathOp) -> None:
    for t in ("f32", "f64"):
        text = emitted(f"size N\ninput A: {t}[N]\noutput O: {t}[N]\nO[i] = {name}(A[i])").text
        assert "#include <math.h>" in text
